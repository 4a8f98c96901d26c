"""Memories that facts are to be extracted from in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ebbtide.db.queue import enqueue

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = ["EXTRACT_MEMORIES", "Follow", "extraction_of"]

EXTRACT_MEMORIES = "extract_memories"

Follow = Callable[["Transaction", Sequence["Memory"]], Awaitable[None]]
"""What a write does last in its transaction with the memories that are new."""


def extraction_of(caller: Caller, *, by_model: bool, session_revision: int | None) -> Follow:
    """Asks, in the transaction of a write, for the facts of what is new in it.

    The job knows the session's revision from before the write, and so comes too late if something of it is forgotten.
    """

    async def ask(transaction: Transaction, memories: Sequence[Memory]) -> None:
        if memories:
            await enqueue(
                transaction.connection,
                EXTRACT_MEMORIES,
                tenant=caller.tenant,
                agent=caller.agent,
                ids=[str(one.id) for one in memories],
                by_model=by_model,
                session_revision=session_revision,
            )

    return ask
