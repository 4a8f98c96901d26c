"""Resurrection: a recall that few live memories answer brings back what faded and holds its words, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.db.database import Transaction
from ebbtide.jobs.fading import fade_tenant
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.reinforce import flush
from ebbtide.recall import Stopwatch
from tests.forget.support import Owner, contents
from tests.stores import SETTINGS

DAY = timedelta(days=1)
FERRY = "The ferry leaves at nine."


async def night(memory: AsyncEbbtide) -> None:
    await fade_tenant(await memory.engine(), tenant=memory.caller.tenant)


async def faded(memory: AsyncEbbtide, clock: FixedClock, *texts: str, **fields: Any) -> list[Any]:
    """Memories that the night deleted softly, in the order of the texts, in a tenant where forgetting is on."""
    await memory.forgetting.enable()
    answers = await memory.remember_many([{"content": text, **fields} for text in texts or (FERRY,)])
    clock.advance(366 * DAY)
    await night(memory)
    told = [answer.memory for answer in answers]
    for one in told:
        assert (await memory.get(one.id)).status == "deleted"
    return told


async def status(memory: AsyncEbbtide, one: Any) -> str:
    return (await memory.get(one.id)).status


async def test_what_faded_comes_back_in_the_very_recall_that_asks_for_it(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    (told,) = await faded(async_memory, clock)
    answer = await async_memory.recall("When does the ferry leave?", trace=True)
    assert [hit.id for hit in answer] == [told.id]
    assert answer.trace.resurrected == (told.id,)
    assert told.id in {candidate.id for candidate in answer.trace.candidates}
    assert answer[0].memory.status == "active"
    assert sum(answer[0].contributions.values()) == pytest.approx(answer[0].relevance)
    again = await async_memory.recall("When does the ferry leave?", trace=True)
    assert (contents(again), again.trace.resurrected) == ([FERRY], ())


async def test_the_words_of_a_time_are_none_of_what_is_asked(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    pump, other = await faded(async_memory, clock, "The pump was sealed", "The roof was new in May 2026")
    for number in range(3):
        await async_memory.remember(f"Notes of May 2026, number {number}", observed_at=f"2026-05-0{number + 1}")
    # A query about nothing but a time asks for no words.
    for query, revived in (
        ("What happened in May 2026?", ()),
        ("What happened with the pump in May 2026?", (pump.id,)),
    ):
        answer = await async_memory.recall(query, trace=True)
        assert answer.trace.resurrected == revived
    assert pump.id in {hit.id for hit in answer}
    assert await status(async_memory, other) == "deleted"
    for number in range(3):
        await async_memory.remember(f"The pump hums, number {number}")
    again = await async_memory.recall("What of the pump and the roof in May 2026?", trace=True)
    assert again.trace.resurrected == ()


@pytest.mark.parametrize(("asked", "steps"), [({}, 4), ({"rerank": True}, 5)])
async def test_the_trace_has_the_time_of_both_searches_and_of_the_way_back(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch, asked: Any, steps: int
) -> None:
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder, reranker="fake") as memory:
        await faded(memory, clock)
        # Each look at it is a second later.
        monkeypatch.setattr("ebbtide.recall.time", SimpleNamespace(perf_counter=count(1).__next__))
        monkeypatch.setattr("ebbtide.recall.Stopwatch", partial(Stopwatch, started=0))
        answer = await memory.recall("ferry", trace=True, **asked)
    names = ["understand", "embed", "candidates", "rank", "rerank"][:steps]
    assert answer.trace.milliseconds == dict.fromkeys([*names, "resurrect"], 2000.0)


@pytest.mark.parametrize("profile", ["tide", "ontheia", "agentium", "ibex", "eryx", "decision", "exploratory"])
async def test_under_every_profile(async_memory: AsyncEbbtide, clock: FixedClock, profile: str) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.recall("ferry", profile=profile)
    assert await status(async_memory, told) == "active"


async def test_it_keeps_its_version_and_the_audit_says_who_asked(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    (told,) = await faded(async_memory, clock)
    clock.advance(DAY)
    await async_memory.recall("ferry")
    versions = await async_memory.history(told.id)
    assert [(version.revision, version.status) for version in versions] == [
        (1, "active"),
        (2, "deleted"),
        (3, "active"),
    ]
    entry = (await async_memory.audit.entries(action="status", memory_id=told.id))[0]
    assert entry.detail == {"operation": "resurrect", "from": "deleted", "to": "active", "revision": 3}
    assert entry.agent == "default"
    assert owner.execute("SELECT deleted_at FROM memory").fetchone() == (None,)


async def test_it_counts_as_used_and_does_not_fade_the_next_night(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    texts = [f"The ferry number {n} leaves." for n in range(3)]
    told = await faded(async_memory, clock, *texts)
    assert len(await async_memory.recall("ferry number", limit=1)) == 1
    back = [one for one in told if await status(async_memory, one) == "active"]
    assert len(back) == 1
    clock.advance(DAY)
    await night(async_memory)
    assert await status(async_memory, back[0]) == "active"
    await flush(await async_memory.engine())
    assert (await async_memory.get(back[0].id)).access_count == 1


@pytest.mark.parametrize(("live", "limit", "comes"), [(2, 10, True), (3, 10, False), (1, 1, False), (1, 2, True)])
async def test_the_test_is_fewer_than_three_or_the_limit_of_live_hits_with_a_keyword(
    async_memory: AsyncEbbtide, clock: FixedClock, live: int, limit: int, comes: bool
) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.remember_many([f"The ferry of pier {n} is new." for n in range(live)])
    await async_memory.remember_many([f"A kettle boils {n} times." for n in range(5)])
    await async_memory.recall("ferry", limit=limit)
    assert (await status(async_memory, told) == "active") is comes


async def test_live_hits_without_a_keyword_do_not_count(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.remember_many([f"A kettle boils {n} times." for n in range(5)])
    answer = await async_memory.recall("ferry", limit=10)
    assert told.id in {hit.id for hit in answer}


async def test_a_profile_without_full_text_counts_keywords_too(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.remember_many([f"The ferry of pier {n} is new." for n in range(3)])
    profile = {
        "name": "dense",
        "law": "sum",
        "factors": [{"factor": "similarity", "weight": 1}],
        "full_text": {"search": "off"},
    }
    assert len(await async_memory.recall("ferry", profile=profile)) == 3
    assert await status(async_memory, told) == "deleted"


async def test_no_other_word_brings_it_back(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    for query in ("kettle", "the at", "?!"):
        await async_memory.recall(query)
    assert await status(async_memory, told) == "deleted"


async def test_the_most_telling_come_first_and_at_most_as_many_as_the_limit(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    texts = [*(f"The ferry {n} leaves." for n in range(20)), "The ferry of the kettle museum."]
    told = await faded(async_memory, clock, *texts)
    answer = await async_memory.recall("ferry kettle museum", limit=4, trace=True)
    assert len(answer.trace.resurrected) == 4
    assert answer.trace.resurrected[0] == told[-1].id
    assert len(await async_memory.browse()) == 4


async def test_only_where_forgetting_is_on(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.forgetting.disable()
    assert len(await async_memory.recall("ferry")) == 0
    assert await status(async_memory, told) == "deleted"


async def test_where_it_is_off_a_recall_takes_no_further_statement(
    async_memory: AsyncEbbtide, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    run = Transaction.run

    def counted(self: Transaction, name: str, /, **values: Any) -> Any:
        asked.append(name)
        return run(self, name, **values)

    monkeypatch.setattr(Transaction, "run", counted)
    await async_memory.recall("ferry")
    assert not [name for name in asked if name.startswith("fade.")]
    await async_memory.forgetting.enable()
    await async_memory.recall("ferry")
    assert [name for name in asked if name.startswith("fade.")] == ["fade.remembered"]


READS: dict[str, Callable[[AsyncEbbtide, Any], Awaitable[Any]]] = {
    "explain": lambda memory, told: memory.explain("ferry", told.id),
    "browse": lambda memory, _: memory.browse(),
    "get": lambda memory, told: memory.get(told.id),
    "preview": lambda memory, _: memory.rules.preview({"pattern": "vector.*", "bonus": 0.5}, "ferry"),
    "look before forgetting": lambda memory, _: memory.forget_where(query="ferry"),
    "the past": lambda memory, told: memory.recall("ferry", as_of=told.created_at + 366 * DAY),
    "a context of the past": lambda memory, told: memory.context("ferry", as_of=told.created_at + 366 * DAY),
}


@pytest.mark.parametrize("read", READS)
async def test_no_other_read_brings_anything_back(read: str, async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    clock.advance(DAY)
    await READS[read](async_memory, told)
    assert await status(async_memory, told) == "deleted"


async def test_a_context_block_brings_it_back(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    assert (await async_memory.context("ferry")).ids == (told.id,)


async def test_what_was_forgotten_stays_forgotten(async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner) -> None:
    told, other = await faded(async_memory, clock, FERRY, "The ferry is blue.")
    await async_memory.forget(told.id, 2)
    answer = await async_memory.recall("ferry leaves nine", trace=True)
    assert answer.trace.resurrected == (other.id,)
    assert owner.execute("SELECT status FROM memory WHERE id = %s", [told.id]).fetchone() == ("tombstoned",)


async def test_what_was_superseded_meanwhile_stays_deleted(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.supersede(told.id, "It leaves at ten.")
    await async_memory.recall("ferry")
    assert await status(async_memory, told) == "deleted"


async def test_what_was_found_wrong_meanwhile_stays_deleted(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.invalidate(told.id)
    await async_memory.recall("ferry")
    assert await status(async_memory, told) == "deleted"


async def test_what_is_no_longer_true_stays_deleted(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    await async_memory.invalidate(told.id, at=clock.now() - DAY)
    await async_memory.recall("ferry")
    assert await status(async_memory, told) == "deleted"


async def test_what_has_expired_stays_deleted(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock, expires_at=clock.now() + 367 * DAY)
    clock.advance(2 * DAY)
    await async_memory.recall("ferry")
    assert await status(async_memory, told) == "deleted"


@pytest.mark.parametrize(
    "narrowed",
    [
        {"namespaces": ["vector.other"]},
        {"kinds": ["note"]},
        {"tags": ["new"]},
        {"labels": ["factual"]},
        {"where": {"customer": 8}},
    ],
)
async def test_a_narrower_recall_brings_back_what_is_in_its_scope_alone(
    async_memory: AsyncEbbtide, clock: FixedClock, narrowed: dict[str, Any]
) -> None:
    (told,) = await faded(async_memory, clock, namespace="vector.team", tags=["old"], metadata={"customer": 7})
    await async_memory.recall("ferry", **narrowed)
    assert await status(async_memory, told) == "deleted"
    await async_memory.recall("ferry", namespaces="vector.*", kinds=["fact"], tags=["old"], where={"customer": 7})
    assert await status(async_memory, told) == "active"


async def test_it_crosses_no_agent_and_no_tenant(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (told,) = await faded(async_memory, clock)
    for changed in ({"agent": "other"}, {"tenant": "other"}):
        handle = async_memory.scoped(**changed)
        await handle.forgetting.enable()
        assert len(await handle.recall("ferry")) == 0
    assert await status(async_memory, told) == "deleted"


async def test_it_crosses_no_policy(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    hidden, shown = await faded(async_memory, clock, FERRY, "The ferry is blue.")
    await async_memory.forgetting.disable()
    told = (await async_memory.remember(FERRY, namespace="vector.secret")).memory
    beside = (await async_memory.remember(FERRY, namespace="vector.open.a")).memory
    clock.advance(366 * DAY)
    await async_memory.forgetting.enable()
    await night(async_memory)
    await async_memory.policies.set("default", Policy(read=("vector.open.*",)))
    reader = async_memory.as_agent("default", ["memory:read"])
    answer = await reader.recall("ferry", trace=True)
    assert answer.trace.resurrected == (beside.id,)
    assert {hit.id for hit in answer} == {beside.id}
    # That the handle may only read does not keep it from coming back.
    assert await status(async_memory, beside) == "active"
    for one in (hidden, shown, told):
        assert await status(async_memory, one) == "deleted"


async def test_where_the_same_lives_already_no_second_copy_comes(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    told, other = await faded(async_memory, clock, FERRY, "The ferry is blue.")
    said = (await async_memory.remember(FERRY)).memory
    answer = await async_memory.recall("ferry", trace=True)
    assert answer.trace.resurrected == (other.id,)
    assert {hit.id for hit in answer} == {said.id, other.id}
    assert await status(async_memory, told) == "deleted"


async def test_of_two_that_faded_and_say_the_same_one_comes(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    (first,) = await faded(async_memory, clock)
    (second,) = await faded(async_memory, clock)
    answer = await async_memory.recall("ferry", trace=True)
    assert answer.trace.resurrected == (second.id,)
    assert await status(async_memory, first) == "deleted"


async def test_many_recalls_at_once_bring_it_back_once_and_all_return_it(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, owner: Owner
) -> None:
    async with (
        AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as one,
        AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as other,
    ):
        (told,) = await faded(one, clock)
        answers = await asyncio.gather(*(handle.recall("ferry") for handle in (one, other) * 4))
        assert {tuple(hit.id for hit in answer) for answer in answers} == {(told.id,)}
    assert owner.execute("SELECT revision FROM memory").fetchall() == [(3,)]
    assert owner.execute("SELECT count(*) FROM memory_version").fetchone() == (2,)


async def test_recalls_and_writes_of_the_same_text_at_once_leave_one_live_copy(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    for round_ in range(5):
        text = f"The ferry of round {round_} leaves."
        await faded(async_memory, clock, text)
        await asyncio.gather(
            *(async_memory.recall(f"ferry of round {round_}") for _ in range(3)),
            *(async_memory.remember(text) for _ in range(3)),
        )
        live = owner.execute("SELECT count(*) FROM memory WHERE status = 'active' AND content = %s", [text]).fetchone()
        assert live == (1,)


async def test_large_scopes_are_searched_for_what_faded_too(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder
) -> None:
    settings = SETTINGS.model_copy(update={"exact_search_rows": 5})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as memory:
        (told,) = await faded(memory, clock)
        await memory.remember_many([f"A kettle boils {n} times." for n in range(20)])
        assert told.id in {hit.id for hit in await memory.recall("ferry")}
