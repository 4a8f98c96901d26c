"""Memories whose vectors are still to be made: those stored while the embedder failed, or while there was none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.db.queue import EMBEDDING_QUEUE, enqueue, lock_of
from ebbtide.db.vectors import as_halfvecs
from ebbtide.errors import ModelUnavailable, StaleRevision
from ebbtide.govern.audit import UPKEEP
from ebbtide.govern.audit import write as write_audit
from ebbtide.text import embedding_text
from ebbtide.types.caller import Caller
from ebbtide.write.context import set_context, with_context
from ebbtide.write.rows import Row, memory_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.memory import Memory

__all__ = ["EMBED_PENDING", "embed_pending", "enqueue_embedding", "enqueue_pending", "store_vectors"]

EMBED_PENDING = "embed_pending"
MEMORIES_A_JOB = 64


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


async def embed_pending(engine: Engine, *, tenant: str) -> None:
    """Embed the tenant's next 64 pending memories, and ask for another job where more remain.

    A vector is stored only where the memory still is at the revision and the content that were embedded; of one that
    is refused the audit warns.

    Raises:
        ModelError: the embedder failed.
    """
    if engine.embedder is None:
        raise ModelUnavailable("This worker has no embedder.", remedy="Run one with the setting `embedder`.")
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        found = await transaction.all("jobs.pending", tenant=tenant, limit=MEMORIES_A_JOB)
    if not found:
        return
    memories = [memory_of(row[:-1]) for row in found]
    vectors = await engine.embedder.embed([embedding_text(memory.content, memory.speaker) for memory in memories])
    rows = [Row(memory, row[-1], vector) for memory, row, vector in zip(memories, found, vectors, strict=True)]
    async with engine.database.transaction(tenant) as transaction:
        late = await store_vectors(transaction, tenant, rows)
        refused = [(id_, {"operation": EMBED_PENDING, "refused": StaleRevision.code}) for id_ in late]
        await write_audit(transaction, Caller(tenant, UPKEEP), "warning", refused, engine.clock.now())
        if (await transaction.one("jobs.has_pending", tenant=tenant))[0]:
            await enqueue_embedding(transaction, tenant)


async def store_vectors(transaction: Transaction, tenant: str, rows: Sequence[Row]) -> list[UUID]:
    """Give memories their vectors, and turns those of their context; answers with those that changed meanwhile."""
    locked = await transaction.all(
        "jobs.fence",
        tenant=tenant,
        ids=[row.memory.id for row in rows],
        revisions=[row.memory.revision for row in rows],
        hashes=[row.content_hash for row in rows],
    )
    unchanged = {row[0] for row in locked}
    done: list[Row] = []
    following: dict[UUID, Any] = {}
    for agent in sorted({row.memory.agent for row in rows}):
        own = [row for row in rows if row.memory.agent == agent and row.memory.id in unchanged]
        # Only what is live has a place in its conversation.
        live = [row for row in own if row.memory.status == "active"]
        done += [row for row in own if row.memory.status != "active"]
        in_context, after = await with_context(transaction, tenant, agent, live)
        done += in_context
        following |= after
    await transaction.run(
        "jobs.set_vectors",
        tenant=tenant,
        ids=[row.memory.id for row in done],
        embeddings=as_halfvecs(row.embedding for row in done),
        context_embeddings=as_halfvecs(row.context_embedding for row in done),
    )
    await set_context(transaction, tenant, following)
    return [row.memory.id for row in rows if row.memory.id not in unchanged]
