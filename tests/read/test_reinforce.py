"""Accesses: which reads are one, what they make of the forgetting curve, and that none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import astuple
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as checked
from hypothesis import strategies as st

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, InvalidInput, StoreUnavailable
from ebbtide.govern.audit import write_reads
from ebbtide.models.fake import FakeEmbedder
from ebbtide.rank.curve import FRESH, CurveParameters, decayed, reinforced
from ebbtide.read.reinforce import flush
from ebbtide.recall import search
from ebbtide.settings import Settings
from tests.forget.support import Owner
from tests.stores import SETTINGS


@pytest.fixture
def settings() -> Settings:
    """No flush but those that a test asks for."""
    return SETTINGS.model_copy(update={"flush_seconds": 60.0})


async def told(memory: AsyncEbbtide, content: str = "The ferry leaves at nine.") -> Any:
    return (await memory.remember(content)).memory


def stored(owner: Owner, id_: Any) -> Any:
    """The accesses, the half-life, the difficulty and the stability that the store has of a memory."""
    return owner.execute(
        "SELECT access_count, half_life, difficulty, stability FROM strength WHERE memory_id = %s", [id_]
    ).fetchone()


def held(accesses: int, parameters: CurveParameters) -> Any:
    return pytest.approx((accesses, *astuple(parameters)))


async def test_a_recall_reinforces_what_it_returns(async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(hours=5))
    await async_memory.recall("ferry")
    await flush(await async_memory.engine())
    assert stored(owner, memory.id) == held(1, CurveParameters(45.0, 2.4, 1.1))
    row = owner.execute("SELECT last_accessed_at, decayed_at FROM strength").fetchone()
    assert row == (clock.now(), memory.created_at)


async def test_a_context_block_is_a_recall(async_memory: AsyncEbbtide, owner: Owner) -> None:
    memory = await told(async_memory)
    await async_memory.context("ferry")
    await flush(await async_memory.engine())
    assert stored(owner, memory.id) == held(1, reinforced(FRESH, 1))


async def test_days_before_an_access_decay_first_and_then_it_reinforces(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(days=10, hours=7))
    await async_memory.recall("ferry")
    await flush(await async_memory.engine())
    expected = reinforced(decayed(FRESH, 10), 1)
    assert stored(owner, memory.id) == held(1, expected)
    clock.advance(timedelta(days=4, hours=17))
    for _ in range(3):
        await async_memory.recall("ferry")
    await flush(await async_memory.engine())
    assert stored(owner, memory.id) == held(4, reinforced(decayed(expected, 5), 3))
    assert owner.execute("SELECT decayed_at FROM strength").fetchone() == (memory.created_at + timedelta(days=15),)


async def test_a_judged_memory_that_was_never_recalled_decays_from_its_creation(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(days=3))
    await async_memory.feedback(memory.id, "positive")
    clock.advance(timedelta(days=3))
    await async_memory.recall("ferry")
    await flush(await async_memory.engine())
    assert stored(owner, memory.id) == held(1, reinforced(decayed(FRESH, 6), 1))


async def test_closing_writes_down_what_is_pending(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, owner: Owner
) -> None:
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as memory:
        id_ = (await told(memory)).id
        await memory.recall("ferry")
    assert stored(owner, id_) == held(1, reinforced(FRESH, 1))


READS: dict[str, Callable[[AsyncEbbtide, Any], Awaitable[Any]]] = {
    "explain": lambda memory, told: memory.explain("ferry", told.id),
    "browse": lambda memory, _: memory.browse(),
    "get": lambda memory, told: memory.get(told.id),
    "history": lambda memory, told: memory.history(told.id),
    "preview": lambda memory, _: memory.rules.preview({"pattern": "vector.*", "bonus": 0.5}, "ferry"),
    "the past": lambda memory, told: memory.recall("ferry", as_of=told.created_at),
    "a context of the past": lambda memory, told: memory.context("ferry", as_of=told.created_at),
    "export": lambda memory, _: exported(memory),
    "look before forgetting": lambda memory, _: memory.forget_where(query="ferry"),
    "show the curve": lambda memory, told: memory.forgetting.show(told.id),
    "plan": lambda memory, _: memory.forgetting.plan(),
}


async def exported(memory: AsyncEbbtide) -> list[Any]:
    return [record async for record in memory.export_records()]


@pytest.mark.parametrize("read", READS)
async def test_no_other_read_is_an_access(
    read: str, async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(hours=1))
    await READS[read](async_memory, memory)
    await flush(await async_memory.engine())
    assert owner.execute("SELECT count(*) FROM strength").fetchone() == (0,)


async def test_two_programs_that_write_at_once_lose_nothing(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, owner: Owner
) -> None:
    async with (
        AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as one,
        AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as other,
    ):
        ids = [answer.memory.id for answer in await one.remember_many([f"ferry {n}" for n in range(40)])]
        engines = [await one.engine(), await other.engine()]

        async def count(place: int) -> None:
            engine = engines[place]
            for _ in range(20):
                engine.accesses.add("default", tuple(ids if place else reversed(ids)), clock.now())
                await flush(engine)

        await asyncio.gather(count(0), count(1))
    for id_ in ids:
        assert stored(owner, id_) == held(40, reinforced(FRESH, 40))


MOST = 2**31 - 1


async def test_counts_that_an_import_brought_to_their_end_stay_there(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    record = {"content": "The ferry leaves at nine.", "access_count": MOST, "positive": MOST, "negative": MOST}
    await async_memory.import_records([record])
    clock.advance(timedelta(hours=1))
    (hit,) = await async_memory.recall("ferry")
    for signal in ("positive", "negative"):
        await async_memory.feedback(hit.id, signal)
    entries = await async_memory.audit.entries(action="read")
    assert [entry.detail["memories"] for entry in entries] == [[str(hit.id)]]
    row = owner.execute("SELECT access_count, positive, negative, last_accessed_at FROM strength").fetchone()
    assert row == (MOST, MOST, MOST, clock.now())
    (record,) = await exported(async_memory)
    assert record["access_count"] == MOST


@pytest.mark.parametrize("field", ["access_count", "positive", "negative", "revision"])
async def test_an_import_with_a_count_that_no_column_holds_is_refused(async_memory: AsyncEbbtide, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await async_memory.import_records([{"content": "x", field: MOST + 1}])
    assert refusal.value.field == field


async def test_a_revision_that_leaves_no_room_for_changes_is_refused(async_memory: AsyncEbbtide) -> None:
    with pytest.raises(InvalidInput):
        await async_memory.import_records([{"content": "x", "revision": MOST}])


def failing_at(tenant: str, failure: BaseException) -> Callable[..., Awaitable[None]]:
    """Writes reads down, but those of one tenant, once."""
    failures = [failure]

    async def write(transaction: Any, of: str, reads: Any, **how: Any) -> None:
        if of == tenant and failures:
            raise failures.pop()
        await write_reads(transaction, of, reads, **how)

    return write


async def asked_by(handle: AsyncEbbtide, tenants: str) -> dict[str, AsyncEbbtide]:
    """A handle for each of some tenants, each with a memory that was recalled and is to be written down."""
    handles = {tenant: handle.scoped(tenant=tenant) for tenant in tenants}
    for one in handles.values():
        await told(one)
        await one.recall("ferry")
    return handles


async def accesses_of(handle: AsyncEbbtide) -> tuple[int, int]:
    """How often its memory was accessed, and how many reads the audit has of it."""
    (memory,) = await handle.browse(limit=1)
    reads = await handle.audit.entries(action="read")
    return memory.access_count, sum(entry.detail["verb"] == "recall" for entry in reads)


KEPT = [StoreUnavailable("away"), Conflict("at the same moment"), asyncio.CancelledError()]


@pytest.mark.parametrize("failure", KEPT, ids=lambda failure: type(failure).__name__)
async def test_what_could_not_be_written_is_written_the_next_time(
    async_memory: AsyncEbbtide, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    handles = await asked_by(async_memory, "abc")
    monkeypatch.setattr("ebbtide.read.reinforce.write_reads", failing_at("b", failure))
    engine = await async_memory.engine()
    with pytest.raises(type(failure)):
        await flush(engine)
    assert await handles["b"].recall("ferry")
    await flush(engine)
    assert [await accesses_of(handle) for handle in handles.values()] == [(1, 1), (2, 2), (1, 1)]


async def test_what_the_store_refuses_costs_no_other_tenant_anything_and_is_told(
    async_memory: AsyncEbbtide, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handles = await asked_by(async_memory, "abc")
    monkeypatch.setattr("ebbtide.read.reinforce.write_reads", failing_at("a", InvalidInput("too large")))
    engine = await async_memory.engine()
    with pytest.raises(InvalidInput):
        await flush(engine)
    await flush(engine)
    assert [await accesses_of(handle) for handle in handles.values()] == [(0, 0), (1, 1), (1, 1)]
    (told_,) = [record.getMessage() for record in caplog.records if record.name == "ebbtide"]
    assert told_ == "accesses of 1 memories and 1 reads of tenant a were not written and are lost: too large"


STEPS = st.lists(st.tuples(st.floats(0, 400), st.integers(1, 5)), min_size=1, max_size=6)


@checked(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_the_statement_and_the_formulas_agree(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner, steps: list[tuple[float, int]]
) -> None:
    engine = await async_memory.engine()
    memory = await told(async_memory, f"The ferry {uuid4()} leaves.")
    started, expected, total = memory.created_at, FRESH, 0
    for days, accesses in steps:
        clock.advance(timedelta(days=days))
        for _ in range(accesses):
            engine.accesses.add("default", (memory.id,), clock.now())
        await flush(engine)
        whole = (clock.now() - started) // timedelta(days=1)
        started += timedelta(days=whole)
        expected, total = reinforced(decayed(expected, whole), accesses), total + accesses
    assert stored(owner, memory.id) == held(total, expected)


HELD: Any = {
    "name": "held",
    "law": "compound",
    "base": "fused",
    "quality_weighting": True,
    "decompose": True,
}


async def test_effective_confidence_is_weighed_where_a_query_is_taken_apart_and_a_part_finds_nothing(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(days=40))
    expected = (await async_memory.forgetting.show(memory.id)).effective_confidence
    for kinds in (None, ["fact"]):
        answer = await async_memory.recall(
            "When does the ferry leave and what does the kettle cost?", profile=HELD, kinds=kinds
        )
        parts = answer[0].contributions
        assert parts["fused"] * expected == pytest.approx(answer[0].relevance)
        assert parts["quality"] == pytest.approx(parts["fused"] * (expected - 1))


@pytest.mark.parametrize("profile", ["decision"])
async def test_the_strategy_for_decisions_weighs_it(
    async_memory: AsyncEbbtide, clock: FixedClock, profile: str
) -> None:
    memory = await told(async_memory)
    clock.advance(timedelta(days=40))
    shown = await async_memory.forgetting.show(memory.id)
    (hit,) = await async_memory.recall("ferry leaves", profile=profile, min_score=0, min_similarity=0)
    whole = hit.relevance - hit.contributions["quality"]
    assert hit.relevance == pytest.approx(whole * shown.effective_confidence)
    assert hit.contributions["quality"] < 0


async def test_a_profile_that_does_not_read_it_is_not_given_it(async_memory: AsyncEbbtide) -> None:
    engine, caller = await async_memory.engine(), async_memory.caller
    await told(async_memory)
    found = (await search(engine, caller, "ferry", profile="agentium")).found.candidates
    assert found.effective_confidence is None
    found = (await search(engine, caller, "ferry", profile=HELD)).found.candidates
    assert found.effective_confidence.tolist() == pytest.approx([0.7])
