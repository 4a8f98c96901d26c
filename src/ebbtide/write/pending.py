"""Memories whose vectors are still to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.queue import enqueue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types import Caller, Memory

__all__ = ["EMBED_PENDING", "enqueue_pending"]

EMBED_PENDING = "embed_pending"


async def enqueue_pending(transaction: Transaction, caller: Caller, memories: Sequence[Memory]) -> None:
    """Ask for the vectors of memories that were stored without, once for all of a tenant's."""
    if memories:
        await enqueue(
            transaction.connection, EMBED_PENDING, lock=f"{EMBED_PENDING}:{caller.tenant}", tenant=caller.tenant
        )
