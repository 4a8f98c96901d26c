"""The nightly decay: catch-up safe, once a day, in batches; and effective confidence in SQL as in the formulas."""

from __future__ import annotations

from dataclasses import astuple
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.forget import decay as decays
from ebbtide.forget.decay import decay
from ebbtide.jobs.fading import fade_tenant
from ebbtide.rank.curve import FRESH, CurveParameters, decayed, effective_confidence, reinforced
from ebbtide.read.reinforce import flush
from tests.forget.support import Owner


async def recalled(memory: AsyncEbbtide, count: int = 1) -> list[Any]:
    """The ids of so many memories that were recalled once."""
    answers = await memory.remember_many([f"The ferry {number} leaves at nine." for number in range(count)])
    engine = await memory.engine()
    ids = [answer.memory.id for answer in answers]
    engine.accesses.add("default", tuple(ids), engine.clock.now())
    await flush(engine)
    return ids


def curves(owner: Owner, tenant: str = "default") -> list[tuple[float, ...]]:
    return owner.execute(
        "SELECT half_life, difficulty, stability FROM strength WHERE tenant_id = %s ORDER BY memory_id", [tenant]
    ).fetchall()


async def test_once_after_n_missed_days_is_n_nightly_runs(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    engine = await async_memory.engine()
    await recalled(async_memory)
    other = async_memory.scoped(tenant="other")
    answer = (await other.remember("The ferry 0 leaves at nine.")).memory
    engine.accesses.add("other", (answer.id,), clock.now())
    await flush(engine)
    for hours in (30, 20, 26, 24, 20) * 20:
        clock.advance(timedelta(hours=hours))
        await decay(engine, "default")
    await decay(engine, "other")
    expected = decayed(reinforced(FRESH, 1), 100)
    assert curves(owner) == [pytest.approx(astuple(expected))]
    assert curves(owner, "other") == [pytest.approx(astuple(expected))]


async def test_a_second_run_on_the_same_day_changes_nothing(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    engine = await async_memory.engine()
    await recalled(async_memory, 3)
    clock.advance(timedelta(days=2, hours=3))
    assert await decay(engine, "default") == 3
    once = curves(owner)
    assert await decay(engine, "default") == 0
    clock.advance(timedelta(hours=20))
    assert await decay(engine, "default") == 0
    assert curves(owner) == once
    clock.advance(timedelta(hours=1))
    assert await decay(engine, "default") == 3


async def test_batches_meet_every_curve_once(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decays, "CURVES_A_BATCH", 7)
    await recalled(async_memory, 50)
    clock.advance(timedelta(days=1))
    assert await decay(await async_memory.engine(), "default") == 50
    assert curves(owner) == [pytest.approx(astuple(decayed(reinforced(FRESH, 1), 1)))] * 50


async def test_a_curve_that_is_just_being_written_is_not_waited_for_and_decays_later(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    engine = await async_memory.engine()
    ids = await recalled(async_memory, 2)
    clock.advance(timedelta(days=1))
    with owner.transaction():
        owner.execute("SELECT FROM strength WHERE memory_id = %s FOR UPDATE", [ids[0]])
        assert await decay(engine, "default") == 1
    clock.advance(timedelta(days=1))
    assert await decay(engine, "default") == 2
    assert curves(owner) == [pytest.approx(astuple(decayed(reinforced(FRESH, 1), 2)))] * 2


async def test_what_was_never_accessed_gets_no_row(async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner) -> None:
    memory = (await async_memory.remember("The ferry leaves at nine.")).memory
    clock.advance(timedelta(days=30))
    await fade_tenant(await async_memory.engine(), tenant="default")
    assert curves(owner) == []
    shown = await async_memory.forgetting.show(memory.id)
    assert (shown.half_life, shown.difficulty, shown.stability) == pytest.approx(astuple(decayed(FRESH, 30)))


async def test_whether_the_night_ran_makes_no_difference_to_what_is_read(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    (id_,) = await recalled(async_memory)
    clock.advance(timedelta(days=12, hours=7))
    before = await async_memory.forgetting.show(id_)
    await fade_tenant(await async_memory.engine(), tenant="default")
    after = await async_memory.forgetting.show(id_)
    assert after.effective_confidence == pytest.approx(before.effective_confidence)
    assert after.points[0].recall_probability == pytest.approx(before.points[0].recall_probability)


ROWS = st.tuples(
    st.floats(0, 1),
    st.builds(
        CurveParameters,
        half_life=st.floats(0.001, 1e9),
        difficulty=st.floats(1e-3, 1e9),
        stability=st.floats(1e-3, 1e9),
    ),
    st.floats(0, 20_000),
    st.floats(0, 20_000),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=ROWS)
async def test_the_statements_and_the_formulas_agree(
    async_memory: AsyncEbbtide,
    clock: FixedClock,
    owner: Owner,
    row: tuple[float, CurveParameters, float, float],
) -> None:
    confidence, stored, idle, undecayed = row
    memory = (await async_memory.remember(f"The ferry {uuid4()} leaves.", confidence=confidence)).memory
    now = clock.advance(timedelta(days=20_000))
    used, written = now - timedelta(days=idle), now - timedelta(days=undecayed)
    owner.execute("UPDATE memory SET updated_at = created_at WHERE id = %s", [memory.id])
    owner.execute(
        "INSERT INTO strength (tenant_id, memory_id, last_accessed_at, decayed_at, half_life, difficulty, stability)"
        " VALUES ('default', %s, %s, %s, %s, %s, %s)",
        [memory.id, used, written, *astuple(stored)],
    )
    parameters = decayed(stored, (now - written) // timedelta(days=1))
    expected = effective_confidence(confidence, (now - used) / timedelta(days=1), parameters)
    answer = await async_memory.recall("ferry", profile=WEIGHED, where={"confidence": {"gte": 0}}, limit=200)
    assert next(hit.relevance for hit in answer if hit.id == memory.id) == pytest.approx(expected, abs=1e-9)
    shown = await async_memory.forgetting.show(memory.id)
    assert shown.effective_confidence == pytest.approx(expected, abs=1e-9)
    owner.execute("UPDATE memory SET status = 'archived' WHERE id = %s", [memory.id])


WEIGHED = {"name": "held", "law": "sum", "factors": [{"factor": "effective_confidence", "weight": 1}]}
