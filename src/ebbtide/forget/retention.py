"""What goes by itself: memories that were kept long enough, and what their tombstones still hold."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.forget.along import going_along, roots
from ebbtide.forget.deed import forget_all
from ebbtide.forget.holds import held_among
from ebbtide.forget.tombstone import lock
from ebbtide.govern.audit import UPKEEP
from ebbtide.govern.rules import current_rules
from ebbtide.types.caller import Caller

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine

__all__ = ["forget_outlived", "purge", "spared_by_holds"]

BATCH = 1_000


async def forget_outlived(engine: Engine, tenant: str) -> int:
    """Forget memories that are older than their namespace's rule keeps them; answers with how many.

    Their age counts from when the store learned them. What a legal hold covers stays.
    """
    now = engine.clock.now()
    book = await current_rules(engine, tenant)
    if all(rule.retention_days is None for rule in book.rules):
        return 0
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        namespaces = [row[0] for row in await transaction.all("forget.namespaces", tenant=tenant)]
    forgotten = 0
    for namespace in sorted(namespaces):
        days = book.on(namespace).retention_days
        if days is not None:
            forgotten += await _forget_before(engine, tenant, namespace, now - timedelta(days=days), now)
    if forgotten:
        engine.scopes.forget(tenant)
        engine.reranks.forget(tenant)
    return forgotten


async def _forget_before(engine: Engine, tenant: str, namespace: str, before: datetime, now: datetime) -> int:
    spared: list[UUID] = []
    forgotten = 0
    while True:
        async with engine.database.transaction(tenant) as transaction:
            await lock(transaction, tenant)
            rows = await transaction.all(
                "forget.outlived", tenant=tenant, namespace=namespace, before=before, spared=spared, limit=BATCH
            )
            ids = [row[0] for row in rows]
            held = await spared_by_holds(transaction, tenant, ids, now)
            going = [id_ for id_ in ids if id_ not in held]
            await forget_all(transaction, Caller(tenant, UPKEEP), going, now, operation="retention")
        spared += held
        forgotten += len(going)
        if len(ids) < BATCH:
            return forgotten


async def spared_by_holds(transaction: Transaction, tenant: str, ids: Sequence[UUID], now: datetime) -> set[UUID]:
    """Which memories stay for a legal hold: those that it covers, and those that one it covers would go with."""
    spared: set[UUID] = set()
    while True:
        going = [id_ for id_ in ids if id_ not in spared]
        along = await going_along(transaction, tenant, going)
        held = await held_among(transaction, tenant, [*going, *along], now)
        if not held:
            return spared
        spared.update(roots(along, held).values())


async def purge(engine: Engine, tenant: str) -> int:
    """Remove the rows of memories that were forgotten longer ago than the grace period; answers with how many.

    Their ids are refused for ever: the tombstones stay.
    """
    now = engine.clock.now()
    before = now - timedelta(days=engine.settings.purge_after_days)
    purged = 0
    while True:
        async with engine.database.transaction(tenant) as transaction:
            await lock(transaction, tenant)
            ids = [
                row[0] for row in await transaction.all("forget.purgeable", tenant=tenant, before=before, limit=BATCH)
            ]
            await transaction.run("forget.remove", tenant=tenant, ids=ids, now=now)
        purged += len(ids)
        if len(ids) < BATCH:
            return purged
