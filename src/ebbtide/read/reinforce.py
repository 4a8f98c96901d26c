"""After the answer: what came back is held more firmly, and the read is written down."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ebbtide.errors import Conflict, EbbtideError, StoreUnavailable
from ebbtide.govern.audit import write_reads
from ebbtide.read.routing import learn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from ebbtide.caches import Access, Read
    from ebbtide.engine import Engine

__all__ = ["flush"]

log = logging.getLogger("ebbtide")


async def flush(engine: Engine, tenant: str | None = None) -> None:
    """Write the accesses and the reads since the last flush, of one tenant or of all, without waiting for the disk.

    An access reinforces the memory's forgetting curve, after the decay of the whole days before it. Each tenant has a
    transaction of its own, and one that fails costs no other anything. What failed is kept for the next flush where
    that may succeed, and is lost where the store refuses it; the log tells of both.

    Raises:
        EbbtideError: the first failure, once every tenant had its turn.
    """
    failures: list[EbbtideError] = []
    for one in [tenant] if tenant is not None else sorted(engine.accesses.tenants() | engine.reads.tenants()):
        # Whoever flushes wants to see what was noted before, and somebody else may be about to write it.
        async with engine.reads.writing(one):
            try:
                await _flush_taken(engine, one)
            except EbbtideError as error:
                failures.append(error)
    if failures:
        raise failures[0]


async def _flush_taken(engine: Engine, tenant: str) -> None:
    accesses, reads = engine.accesses.take(tenant), engine.reads.take(tenant)
    try:
        await _flush_tenant(engine, tenant, accesses, reads)
    except EbbtideError as error:
        passing = isinstance(error, StoreUnavailable | Conflict)
        if passing:
            _put_back(engine, tenant, accesses, reads)
        log.warning(
            "accesses of %d memories and %d reads of tenant %s were not written and are %s: %s",
            len(accesses), len(reads), tenant, "kept for the next time" if passing else "lost", error,
        )  # fmt: skip
        raise
    except BaseException:
        _put_back(engine, tenant, accesses, reads)
        raise


def _put_back(engine: Engine, tenant: str, accesses: Mapping[UUID, Access], reads: Sequence[Read]) -> None:
    engine.accesses.put_back(tenant, accesses)
    engine.reads.put_back(tenant, reads)


async def _flush_tenant(engine: Engine, tenant: str, accesses: Mapping[UUID, Access], reads: Sequence[Read]) -> None:
    if not accesses and not reads:
        return
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
            await write_reads(transaction, tenant, reads)
            await learn(transaction, tenant, reads)
