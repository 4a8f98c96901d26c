"""Turns: messages of a chat become turns of one of its branches as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.govern.branches import branch_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types import Caller

__all__ = ["Said", "note_turns"]

Said = tuple[UUID, str | None, int | None]
"""A message, its chat, and its sequence there."""


async def note_turns(transaction: Transaction, caller: Caller, said: Sequence[Said]) -> None:
    """Make messages turns of the caller's branch, or of the first one; those of no chat are left alone.

    Raises:
        NotFound: the chat has no such branch.
    """
    turns = [one for one in said if one[1] is not None]
    if turns:
        await transaction.run(
            "episodes.note_turns",
            tenant=caller.tenant,
            agent=caller.agent,
            branch=await branch_of(transaction, caller),
            ids=[id_ for id_, _, _ in turns],
            chats=[chat for _, chat, _ in turns],
            sequences=[sequence for _, _, sequence in turns],
        )
