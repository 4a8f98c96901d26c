"""What goes by itself: memories older than their rule, and the emptied rows of what was forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import NotFound, Tombstoned
from ebbtide.jobs.upkeep import tidy_tenant
from tests.forget.support import Owner, contents


async def test_each_namespace_is_kept_as_long_as_its_rule_says(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.rules.add("vector.log.*", retention_days=7)
    await async_memory.rules.add("vector.log.audit.*", retention_days=30)
    for namespace in ("vector.log.a", "vector.log.audit.b", "vector.team.c"):
        await async_memory.remember(f"in {namespace}", namespace=namespace)
    engine = await async_memory.engine()
    clock.advance(timedelta(days=6))
    await tidy_tenant(engine, tenant="default")
    assert len(await async_memory.browse()) == 3
    clock.advance(timedelta(days=2))
    await tidy_tenant(engine, tenant="default")
    assert contents(await async_memory.browse()) == ["in vector.log.audit.b", "in vector.team.c"]
    clock.advance(timedelta(days=30))
    await tidy_tenant(engine, tenant="default")
    assert contents(await async_memory.browse()) == ["in vector.team.c"]
    receipts = await async_memory.receipts.list()
    assert len(receipts) == 2
    assert all([(await async_memory.verify_receipt(receipt)).valid for receipt in receipts])
    entry = (await async_memory.audit.entries(action="delete"))[0]
    assert (entry.agent, entry.detail["operation"]) == ("ebbtide", "retention")


async def test_after_the_grace_period_the_row_goes_and_the_id_stays_refused(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    told = (await async_memory.remember("a secret")).memory
    exported = [record async for record in async_memory.export_records()]
    receipt = await async_memory.forget(told.id, 1)
    engine = await async_memory.engine()
    clock.advance(timedelta(days=29))
    await tidy_tenant(engine, tenant="default")
    assert owner.execute("SELECT count(*) FROM memory").fetchone() == (1,)
    clock.advance(timedelta(days=2))
    await tidy_tenant(engine, tenant="default")
    assert owner.execute("SELECT count(*) FROM memory").fetchone() == (0,)
    assert owner.execute("SELECT id, revision FROM tombstone").fetchall() == [(told.id, 2)]
    assert (await async_memory.verify_receipt(receipt)).valid
    with pytest.raises(Tombstoned):
        await async_memory.import_records(exported)
    with pytest.raises(NotFound):
        await async_memory.get(told.id)
    assert (await async_memory.remember("a secret")).outcome == "stored"


async def test_the_night_seals_the_audit(async_memory: AsyncEbbtide) -> None:
    await async_memory.remember("x")
    await tidy_tenant(await async_memory.engine(), tenant="default")
    check = await async_memory.audit.verify()
    assert (check.valid, check.unsealed) == (True, 0)
