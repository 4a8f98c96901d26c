"""The search for tenants that have vectors pending, when a worker starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.db.queue import EMBEDDING_QUEUE, enqueue, lock_of
from ebbtide.govern.tenants import list_tenants
from ebbtide.write.pending import EMBED_PENDING, enqueue_embedding

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from ebbtide.engine import Engine

__all__ = ["RESUME_EMBEDDING", "enqueue_resumption", "resume_embedding"]

RESUME_EMBEDDING = "resume_embedding"


async def enqueue_resumption(connection: AsyncConnection[Any]) -> None:
    """Ask that every tenant's pending memories be looked for."""
    async with connection.transaction():
        await enqueue(
            connection, RESUME_EMBEDDING, queue=EMBEDDING_QUEUE, queueing_lock=RESUME_EMBEDDING, lock=RESUME_EMBEDDING
        )


async def resume_embedding(engine: Engine) -> None:
    """Ask for the vectors of every tenant that has memories pending: those of a time without an embedder among them."""
    for tenant in await list_tenants(engine):
        async with engine.database.transaction(tenant) as transaction:
            lock = lock_of(EMBED_PENDING, tenant)
            if (await transaction.one("jobs.needs_embedding", tenant=tenant, queueing_lock=lock))[0]:
                await enqueue_embedding(transaction, tenant)
