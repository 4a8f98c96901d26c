"""Memories whose vectors are still to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.queue import EMBEDDING_QUEUE, enqueue, lock_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types import Memory

__all__ = ["EMBED_PENDING", "enqueue_embedding", "enqueue_pending"]

EMBED_PENDING = "embed_pending"


async def enqueue_pending(engine: Engine, transaction: Transaction, tenant: str, memories: Sequence[Memory]) -> None:
    """Ask for the vectors of memories that were stored without, once for all of a tenant's.

    A store without an embedder asks nobody; a worker that has one asks for everything pending when it starts.
    """
    if memories and engine.embedder is not None:
        await enqueue_embedding(transaction, tenant)


async def enqueue_embedding(transaction: Transaction, tenant: str) -> None:
    """Ask for the vectors of everything a tenant has pending; the last thing to do in a transaction."""
    lock = lock_of(EMBED_PENDING, tenant)
    await enqueue(
        transaction.connection, EMBED_PENDING, queue=EMBEDDING_QUEUE, queueing_lock=lock, lock=lock, tenant=tenant
    )
