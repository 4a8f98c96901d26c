"""The branches of a conversation: which there are, and what one of them has no part in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import NotFound
from ebbtide.govern.access import is_readable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types import Caller

__all__ = ["FIRST_BRANCH", "branch_of", "known_parent", "read_apart"]

FIRST_BRANCH = "main"
"""The branch that every chat begins with."""


async def branch_of(transaction: Transaction, caller: Caller) -> str:
    """The name of the caller's branch, that of the first one where it names none.

    Raises:
        NotFound: its chat has no such branch that the caller may know of: begun, or gone on with, where it reads.
    """
    branch = caller.branch or FIRST_BRANCH
    of_chat = {"tenant": caller.tenant, "agent": caller.agent, "chat": caller.chat}
    if branch == FIRST_BRANCH:
        return branch
    rows = await transaction.all("episodes.branch_namespaces", **of_chat, branch=branch)
    if not any(is_readable(caller, namespace) for (namespace,) in rows):
        raise NotFound(
            f"The chat {caller.chat!r} has no branch {branch!r}.",
            field="branch",
            remedy="Fork it first, or take one of the branches that the chat has.",
        )
    return branch


def known_parent(row: Any, rows: Sequence[Any], known: Collection[str]) -> tuple[str | None, int | None]:
    """What a branch goes on from as its reader knows it, and after which place: of those between, none is told.

    `rows` are all branches of its chat with name, parent and forked_after; `known` are names, that of the first one or
    not.
    """
    by_name = {one.name: one for one in rows}
    parent, after = row.parent, row.forked_after
    while parent not in (None, FIRST_BRANCH) and parent not in known:
        between = by_name[parent]
        parent, after = between.parent, min(after, between.forked_after)
    return parent, after


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
