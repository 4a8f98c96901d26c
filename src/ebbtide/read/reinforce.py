"""After the answer: what came back is held more firmly, and the read is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.audit import write_reads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from ebbtide.caches import Access, Read
    from ebbtide.engine import Engine

__all__ = ["flush"]


async def flush(engine: Engine) -> None:
    """Write the accesses and the reads since the last flush, a transaction a tenant, without waiting for the disk.

    An access reinforces the memory's forgetting curve, after the decay of the whole days before it.
    """
    accesses, reads = engine.accesses.take(), engine.reads.take()
    for tenant in sorted(accesses.keys() | reads.keys()):
        await _flush_tenant(engine, tenant, accesses.get(tenant, {}), reads.get(tenant, ()))


async def _flush_tenant(engine: Engine, tenant: str, accesses: Mapping[UUID, Access], reads: Sequence[Read]) -> None:
    ids = sorted(accesses)
    moments = [accesses[id_].last for id_ in ids]
    refreshed = engine.settings.expiry_refresh_seconds
    async with engine.database.transaction(tenant, durable=False) as transaction:
        # What is being forgotten at this moment is waited for: nothing of it is written down afterwards.
        await transaction.run("forget.lock_shared", tenant=tenant)
        if ids:
            await transaction.run(
                "fade.reinforce",
                tenant=tenant,
                ids=ids,
                counts=[accesses[id_].count for id_ in ids],
                moments=moments,
            )
        if ids and refreshed:
            await transaction.run("lifecycle.refresh", tenant=tenant, ids=ids, moments=moments, seconds=refreshed)
        if reads:
            await write_reads(transaction, tenant, reads, log=engine.settings.recall_log_days > 0)
