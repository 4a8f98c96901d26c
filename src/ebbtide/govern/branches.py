"""The branches of a conversation: which there are, and what one of them has no part in."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import NotFound

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.types import Caller

__all__ = ["FIRST_BRANCH", "branch_of", "read_apart"]

FIRST_BRANCH = "main"
"""The branch that every chat begins with."""


async def branch_of(transaction: Transaction, caller: Caller) -> str:
    """The name of the caller's branch, that of the first one where it names none.

    Raises:
        NotFound: its chat has no such branch.
    """
    branch = caller.branch or FIRST_BRANCH
    of_chat = {"tenant": caller.tenant, "agent": caller.agent, "chat": caller.chat}
    if branch != FIRST_BRANCH and await transaction.one("episodes.branch", **of_chat, branch=branch) is None:
        raise NotFound(
            f"The chat {caller.chat!r} has no branch {branch!r}.",
            field="branch",
            remedy="Make it with episodes.fork, or take one that episodes.branches lists.",
        )
    return branch


async def read_apart(transaction: Transaction, caller: Caller) -> tuple[UUID, ...]:
    """The memories of the caller's chat that its branch does not share.

    Raises:
        NotFound: its chat has no such branch.
    """
    branch = await branch_of(transaction, caller)
    rows = await transaction.all(
        "episodes.apart", tenant=caller.tenant, agent=caller.agent, chat=caller.chat, branch=branch
    )
    return tuple(row[0] for row in rows)
