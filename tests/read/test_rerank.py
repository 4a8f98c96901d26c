"""Recalls with a reranker: who is asked what and when, what comes of the answer, and what where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, Profile
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput, ModelUnavailable
from ebbtide.models.fake import FakeEmbedder, FakeReranker
from ebbtide.rank.presets import ERYX, PRESETS
from ebbtide.types.recall import Recall
from tests.conftest import Opener
from tests.models.endpoint import Endpoint, Reply, rerank_answer, serve
from tests.stores import SETTINGS

QUERY = "Which ferry leaves at seven"
FACTS = [
    "The ferry to Hydra leaves at seven",
    "A ferry is a boat",
    "Seven people asked for the ferry",
    "The train leaves at noon",
    "Ana likes oranges",
]


class Judge:
    """A reranker that notes what it is asked, and answers with what it is told to."""

    name = "judge"

    def __init__(self, score: Callable[[str], float] = lambda document: 1 / (1 + len(document))) -> None:
        self.score = score
        self.asked: list[tuple[str, list[str]]] = []
        self.failure: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.arrived = asyncio.Semaphore(0)

    @property
    def documents(self) -> list[str]:
        """All that it ever read."""
        return [document for _, documents in self.asked for document in documents]

    async def rerank(self, query: str, documents: Sequence[str]) -> Any:
        self.asked.append((query, list(documents)))
        self.arrived.release()
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return [self.score(document) for document in documents]

    async def close(self) -> None:
        raise AssertionError("the caller's reranker is the caller's to close")


@pytest.fixture
def judge() -> Judge:
    """The shorter a document, the more relevant."""
    return Judge()


@pytest.fixture
def memory(open_store: Opener, judge: Judge) -> Ebbtide:
    handle = open_store(reranker=judge)
    handle.remember_many(FACTS)
    return handle


def contents(recalled: Recall) -> list[str]:
    return [hit.content for hit in recalled]


def check_sums(recalled: Recall) -> None:
    """Of every hit and candidate the contributions sum to the relevance, and the hits are sorted by it."""
    assert recalled.trace is not None
    for one in [*recalled, *recalled.trace.candidates]:
        assert sum(one.contributions.values()) == pytest.approx(one.relevance, abs=1e-9)
    values = [hit.relevance for hit in recalled]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("profile", sorted(PRESETS))
def test_the_hits_are_the_same_in_the_reranker_s_order(memory: Ebbtide, judge: Judge, profile: str) -> None:
    plain = memory.recall(QUERY, profile=profile, min_similarity=0.0, rerank=False)
    assert judge.asked == []
    recalled = memory.recall(QUERY, profile=profile, min_similarity=0.0, rerank=True, trace=True)
    assert sorted(contents(recalled)) == sorted(contents(plain))
    assert {hit.id: hit.similarity for hit in recalled} == {hit.id: hit.similarity for hit in plain}
    check_sums(recalled)
    if profile != "eryx":
        assert contents(recalled) == sorted(contents(plain), key=len)
        assert sorted(hit.relevance for hit in recalled) == sorted(hit.relevance for hit in plain)
    assert all(hit.rerank == pytest.approx(1 / (1 + len(hit.content))) for hit in recalled)


def test_a_reranked_recall_explains_itself(memory: Ebbtide) -> None:
    recalled = memory.recall(QUERY, rerank=True, trace=True, limit=2)
    by_id = {candidate.id: candidate for candidate in recalled.trace.candidates}
    assert all(candidate.rerank is not None for candidate in by_id.values())
    assert "rerank" in recalled.trace.milliseconds
    for id_, candidate in by_id.items():
        explained = memory.explain(QUERY, id_, rerank=True, limit=2)
        assert (explained.rerank, explained.relevance) == (candidate.rerank, candidate.relevance)
        assert explained.contributions == candidate.contributions
        assert explained.returned == (id_ in {hit.id for hit in recalled})
    [rank_three] = [drop for drop in recalled.trace.drops if drop.rule == "limit" and drop.value == 3]
    assert memory.explain(QUERY, rank_three.id, rerank=True, limit=2).rank == 3


def test_nothing_shows_where_nothing_is_reranked(memory: Ebbtide, judge: Judge) -> None:
    recalled = memory.recall(QUERY, trace=True)
    assert judge.asked == []
    assert "rerank" not in recalled.model_dump_json()


def test_the_profile_decides_where_the_recall_does_not(memory: Ebbtide, judge: Judge, open_store: Opener) -> None:
    profile = ERYX.model_copy(update={"rerank": True})
    memory.recall(QUERY, profile=profile, rerank=False)
    assert judge.asked == []
    memory.recall(QUERY, profile=profile)
    assert len(judge.asked) == 1
    # A store without a reranker answers as if the profile did not ask for one.
    recalled = open_store().recall(QUERY, profile=profile)
    assert recalled.warnings == ()
    assert [hit.rerank for hit in recalled] == [None] * len(recalled)


def test_a_recall_that_asks_for_a_reranker_needs_one(open_store: Opener) -> None:
    memory = open_store()
    for call in (memory.recall, memory.context, lambda query, **asked: memory.explain(query, "0" * 32, **asked)):
        with pytest.raises(InvalidInput) as caught:
            call(QUERY, rerank=True)
        assert caught.value.field == "rerank"
        assert caught.value.remedy is not None
    assert len(memory.recall(QUERY, rerank=False)) == 0


@pytest.mark.parametrize("odd", [1, 0, "yes", "", b"x", float("nan"), [], object(), 10**400, "\ud800"])
def test_what_is_neither_yes_nor_no_is_refused(memory: Ebbtide, odd: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.recall(QUERY, rerank=odd)
    assert caught.value.field == "rerank"


@pytest.mark.parametrize("odd", ["unheard-of", object(), 3, b"fake", "http://localhost", FakeEmbedder(16)])
def test_what_is_no_reranker_is_refused_at_opening(odd: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ebbtide.open("postgresql://nowhere.invalid/x", embedder=None, reranker=odd)
    assert caught.value.field == "reranker"


def test_the_setting_names_the_reranker_and_an_argument_takes_its_place(open_store: Opener) -> None:
    settings = SETTINGS.model_copy(update={"reranker": "fake"})
    memory = open_store(settings=settings)
    memory.remember_many(FACTS)
    assert memory.recall(QUERY, rerank=True)[0].rerank == 0.8
    for none in (None, " "):
        with pytest.raises(InvalidInput):
            open_store(settings=settings, reranker=none).recall(QUERY, rerank=True)
    assert open_store(reranker=FakeReranker()).recall(QUERY, rerank=True)[0].rerank == 0.8


def test_only_the_best_rows_are_sent_and_the_rest_stays_behind(open_store: Opener, judge: Judge) -> None:
    memory = open_store(reranker=judge, settings=SETTINGS.model_copy(update={"rerank_rows": 3}))
    memory.remember_many([f"The ferry {'calls ' * number}" for number in range(8)])
    plain = contents(memory.recall("The ferry", rerank=False))
    recalled = memory.recall("The ferry", rerank=True, trace=True)
    [(query, documents)] = judge.asked
    assert (query, documents) == ("The ferry", plain[:3])
    assert contents(recalled) == [*sorted(plain[:3], key=len), *plain[3:]]
    assert [hit.rerank is None for hit in recalled] == [False] * 3 + [True] * 5
    check_sums(recalled)


def test_no_row_below_a_threshold_is_sent(memory: Ebbtide, judge: Judge) -> None:
    plain = memory.recall(QUERY, rerank=False)
    floor = plain[1].relevance
    memory.recall(QUERY, rerank=True, min_score=floor)
    assert sorted(judge.documents) == sorted(contents(plain)[:2])


def test_personal_data_is_redacted_or_kept_before_anything_is_sent(open_store: Opener, judge: Judge) -> None:
    memory = open_store(reranker=judge)
    for namespace, mode in (("vector.a", "redact"), ("vector.b", "drop"), ("vector.c", "allow")):
        memory.remember(f"The ferry office of {namespace} is at ferry@example.org", namespace=namespace)
        memory.rules.add(namespace, personal_data=mode)
    recalled = memory.recall("ferry office", rerank=True, trace=True)
    assert len(recalled) == len(judge.documents) == 2
    assert [("vector.c" in document) == ("ferry@example.org" in document) for document in judge.documents] == [True] * 2
    assert not any("vector.b" in document for document in judge.documents)
    assert [drop.rule for drop in recalled.trace.drops] == ["personal_data"]
    judge.asked.clear()
    memory.scoped(user="ana").recall("ferry office", rerank=True, profile="ibex", min_similarity=0)
    assert len(judge.documents) == 2


def test_a_memory_that_is_withheld_makes_room_for_the_next(open_store: Opener, judge: Judge) -> None:
    memory = open_store(reranker=judge, settings=SETTINGS.model_copy(update={"rerank_rows": 2}))
    memory.remember("ferry ferry ferry, ferry@example.org", namespace="vector.b")
    memory.remember_many(
        ["ferry ferry", "ferry to Hydra"],
    )
    memory.rules.add("vector.b", personal_data="drop")
    assert len(memory.recall("ferry", rerank=True)) == 2
    assert sorted(judge.documents) == ["ferry ferry", "ferry to Hydra"]


def test_identical_memories_are_asked_about_once(open_store: Opener, judge: Judge) -> None:
    memory = open_store(reranker=judge)
    for namespace in ("vector.a", "vector.b"):
        memory.remember("The ferry leaves", namespace=namespace)
    recalled = memory.recall("ferry", rerank=True, trace=True)
    assert judge.documents == ["The ferry leaves"]
    assert [len(hit.duplicates) for hit in recalled] == [1]
    assert {candidate.rerank for candidate in recalled.trace.candidates} == {recalled[0].rerank}
    check_sums(recalled)


def test_a_successor_that_was_lent_its_score_still_comes_back(memory: Ebbtide, judge: Judge) -> None:
    old = memory.remember("The harbour opens at five").memory
    new = memory.remember("Since spring: six", supersedes=old.id).memory
    recalled = memory.recall("When does the harbour open", rerank=True, trace=True)
    assert new.id in {hit.id for hit in recalled}
    assert old.content not in judge.documents
    kept = memory.recall("When does the harbour open", rerank=True, include_superseded=True, trace=True)
    assert {old.id, new.id} <= {hit.id for hit in kept}
    check_sums(kept)


def test_the_speaker_is_read_with_what_was_said(open_store: Opener, judge: Judge) -> None:
    memory = open_store(reranker=judge).scoped(chat="c")
    memory.remember("I like oranges", speaker="Ana", seq=0)
    memory.recall("Who likes oranges", rerank=True)
    assert judge.documents == ["Ana: I like oranges"]


def test_scores_are_remembered_for_sixty_seconds(memory: Ebbtide, judge: Judge, clock: FixedClock) -> None:
    first = memory.recall(QUERY, rerank=True, trace=True)
    assert memory.recall(QUERY, rerank=True).hits == first.hits
    clock.advance(timedelta(seconds=59))
    memory.recall(QUERY, rerank=True, profile="agentium")
    memory.explain(QUERY, first[0].id, rerank=True)
    assert len(judge.asked) == 1
    clock.advance(timedelta(seconds=1))
    memory.recall(QUERY, rerank=True)
    assert len(judge.asked) == 2


def test_no_two_users_tenants_or_queries_share_a_score(memory: Ebbtide, judge: Judge) -> None:
    other = memory.scoped(tenant="other")
    other.remember_many(FACTS)
    handles = [memory, memory.scoped(user="ana"), memory.scoped(user="ben"), other, other.scoped(user="ana")]
    for number, handle in enumerate(handles, start=1):
        handle.recall(QUERY, rerank=True)
        assert len(judge.asked) == number
    memory.recall(QUERY + "?", rerank=True)
    assert len(judge.asked) == len(handles) + 1
    for handle in handles:
        handle.recall(QUERY, rerank=True)
    assert len(judge.asked) == len(handles) + 1


def test_what_was_revised_or_is_new_is_asked_about_alone(memory: Ebbtide, judge: Judge) -> None:
    first = memory.recall(QUERY, rerank=True)
    memory.revise(first[0].id, "The ferry leaves at eight")
    memory.remember("The ferry is blue")
    judge.asked.clear()
    recalled = memory.recall(QUERY, rerank=True)
    assert sorted(judge.documents) == ["The ferry is blue", "The ferry leaves at eight"]
    scores = {hit.content: hit.rerank for hit in recalled}
    assert scores["The ferry leaves at eight"] == pytest.approx(1 / 26)


async def test_forgetting_drops_what_is_remembered_of_the_tenant(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, judge: Judge
) -> None:
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder, reranker=judge) as memory:
        cache = (await memory.engine()).reranks
        ana, other = memory.scoped(user="ana"), memory.scoped(tenant="other")

        async def remembered() -> int:
            for handle in (memory, ana, other):
                await handle.remember_many(FACTS)
                await handle.recall(QUERY, rerank=True)
            return len(cache)

        assert await remembered() == 3
        [hit, *_] = await memory.recall(QUERY, rerank=True, limit=1)
        await memory.forget(hit.id, expected_revision=hit.memory.revision)
        assert len(cache) == 1
        assert hit.id not in {one.id for one in await memory.recall(QUERY, rerank=True)}
        assert await remembered() == 3
        await memory.erase_user("ana")
        assert len(cache) == 1
        assert await remembered() == 3
        found = await memory.forget_where({"kind": "fact"}, kinds=["fact"])
        await memory.forget_where({"kind": "fact"}, kinds=["fact"], dry_run=False, token=found.token)
        assert len(cache) == 1
        assert await remembered() == 3
        await memory.erase_tenant(confirm="default")
        assert len(cache) == 1


@pytest.mark.parametrize("failure", [ModelUnavailable("It is down."), ValueError("secret"), TimeoutError()])
def test_a_reranker_that_fails_costs_the_order_and_nothing_else(
    memory: Ebbtide, judge: Judge, failure: Exception
) -> None:
    plain = memory.recall(QUERY, trace=True)
    judge.failure = failure
    recalled = memory.recall(QUERY, rerank=True, trace=True)
    assert [hit.model_dump() for hit in recalled] == [hit.model_dump() for hit in plain]
    [note] = recalled.warnings
    assert note.startswith("not reranked: ")
    assert "secret" not in note
    assert note in recalled.trace.notes
    assert recalled.trace.candidates == plain.trace.candidates
    assert memory.context(QUERY, rerank=True).ids == memory.context(QUERY).ids


def test_three_failures_spare_the_reranker_for_thirty_seconds(memory: Ebbtide, judge: Judge, clock: FixedClock) -> None:
    judge.failure = ModelUnavailable("It is down.")
    for _ in range(3):
        assert memory.recall(QUERY, rerank=True).warnings == ("not reranked: It is down.",)
    [note] = memory.recall(QUERY, rerank=True).warnings
    assert "09:00:30 UTC" in note
    assert len(judge.asked) == 3
    clock.advance(timedelta(seconds=30))
    memory.recall(QUERY, rerank=True)
    memory.recall(QUERY, rerank=True)
    assert len(judge.asked) == 4
    clock.advance(timedelta(seconds=30))
    judge.failure = None
    assert memory.recall(QUERY, rerank=True).warnings == ()
    judge.asked.clear()
    for number in range(3):
        memory.recall(f"ferry {number}", rerank=True)
    assert len(judge.asked) == 3


def test_what_is_remembered_serves_while_the_reranker_is_down(memory: Ebbtide, judge: Judge) -> None:
    first = memory.recall(QUERY, rerank=True)
    judge.failure = ModelUnavailable("It is down.")
    for _ in range(4):
        memory.recall("ferry", rerank=True)
    assert memory.recall(QUERY, rerank=True).hits == first.hits


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


FAILURES = {
    "late": Reply(delay_seconds=3.0),
    "overloaded": Reply(status=429),
    "broken": Reply(status=500),
    "unauthorised": Reply(status=401),
    "garbage": Reply(body=b"<html>"),
    "indices": Reply(body=b'{"results": [{"index": 9, "relevance_score": 0.5}]}'),
    "not a number": Reply(body=rerank_answer([float("nan")] * 5)),
    "huge": Reply(body=rerank_answer([1e308] * 5)),
    "breaks off": Reply(headers={"Content-Length": "9999"}),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_an_endpoint_answers_the_recall_is_answered(
    open_store: Opener, endpoint: Endpoint, failure: str
) -> None:
    changed = {"reranker": f"{endpoint.url}#m", "reranker_api_key": "k", "reranker_timeout_seconds": 1.0}
    memory = open_store(settings=SETTINGS.model_copy(update=changed))
    memory.remember_many(FACTS)
    plain = memory.recall(QUERY)
    endpoint.script.append(FAILURES[failure])
    recalled = memory.recall(QUERY, rerank=True)
    assert contents(recalled) == contents(plain)
    assert len(recalled.warnings) == 1
    again = memory.recall(QUERY, rerank=True)
    assert again.warnings == ()
    assert again[0].rerank == pytest.approx(0.8)
    assert endpoint.authorizations == ["Bearer k"] * 2


def test_an_endpoint_that_is_not_there_costs_the_order_alone(open_store: Opener) -> None:
    memory = open_store(reranker="http://127.0.0.1:1#m")
    memory.remember_many(FACTS)
    recalled = memory.recall(QUERY, rerank=True)
    assert len(recalled) == 5
    assert "cannot be reached" in recalled.warnings[0]


async def test_no_connection_is_held_while_the_reranker_thinks(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, judge: Judge
) -> None:
    settings = SETTINGS.model_copy(update={"pool_connections": 2})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder, reranker=judge) as memory:
        await memory.remember_many(FACTS)
        judge.gate = asyncio.Event()
        waiting = [asyncio.create_task(memory.recall(f"{QUERY} {number}", rerank=True)) for number in range(5)]
        for _ in waiting:
            await judge.arrived.acquire()
        [victim, *_] = await memory.recall(QUERY)
        await memory.forget(victim.id, expected_revision=victim.memory.revision)
        judge.gate.set()
        assert [len(recalled) for recalled in await asyncio.gather(*waiting)] == [5] * 5
        # What was under way when the tenant forgot something is not remembered.
        assert len((await memory.engine()).reranks) == 0


async def test_a_cancelled_recall_leaves_no_trace_and_no_probe(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, judge: Judge
) -> None:
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder, reranker=judge) as memory:
        await memory.remember_many(FACTS)
        judge.failure = ModelUnavailable("It is down.")
        for _ in range(3):
            await memory.recall(QUERY, rerank=True)
        clock.advance(timedelta(seconds=30))
        judge.failure, judge.gate, judge.arrived = None, asyncio.Event(), asyncio.Semaphore(0)
        task = asyncio.create_task(memory.recall(QUERY, rerank=True))
        await judge.arrived.acquire()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        judge.gate.set()
        assert (await memory.recall(QUERY, rerank=True)).warnings == ()


async def test_the_deadline_holds_for_a_reranker_of_one_s_own(
    dsn: str, clock: FixedClock, embedder: FakeEmbedder, judge: Judge
) -> None:
    settings = SETTINGS.model_copy(update={"reranker_timeout_seconds": 0.05})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder, reranker=judge) as memory:
        await memory.remember_many(FACTS)
        judge.gate = asyncio.Event()
        recalled = await memory.recall(QUERY, rerank=True)
        assert recalled.warnings == ("not reranked: The reranker gave no answer within 0.05 s.",)
        assert len(recalled) == 5


def test_a_look_into_the_past_reranks_what_was_said_then(memory: Ebbtide, judge: Judge, clock: FixedClock) -> None:
    then = clock.now()
    clock.advance(timedelta(hours=1))
    [first, *_] = memory.recall(QUERY)
    memory.revise(first.id, "The ferry leaves at eight")
    recalled = memory.recall(QUERY, rerank=True, as_of=then)
    assert sorted(judge.documents) == sorted(FACTS)
    assert sorted(contents(recalled)) == sorted(FACTS)


def test_a_policed_agent_sees_no_more_by_it(memory: Ebbtide, judge: Judge) -> None:
    memory.remember("The ferry of others", namespace="vector.secret")
    memory.policies.set("default", {"read": ["vector.global.memory"], "top_k": 2, "min_score": 0.3})
    policed = memory.as_agent("default", ["memory:read"])
    plain = policed.recall(QUERY, rerank=False)
    recalled = policed.recall(QUERY, rerank=True)
    assert "The ferry of others" not in judge.documents
    assert len(recalled) == len(plain) == 2
    assert all(hit.relevance >= 0.3 for hit in recalled)


def test_a_context_block_is_in_the_reranker_s_order(memory: Ebbtide) -> None:
    recalled = memory.recall(QUERY, rerank=True)
    assert set(memory.context(QUERY, rerank=True).ids) == {hit.id for hit in recalled}
    assert contents(recalled) == sorted(FACTS, key=len)


def test_a_saved_profile_may_ask_for_it(memory: Ebbtide, judge: Judge) -> None:
    memory.profiles.save(Profile(name="mine", law="listwise", rerank=True))
    memory.recall(QUERY, profile="mine")
    assert len(judge.asked) == 1


def test_an_empty_store_asks_nobody(open_store: Opener, judge: Judge) -> None:
    recalled = open_store(reranker=judge).recall(QUERY, rerank=True, trace=True)
    assert (len(recalled), judge.asked, recalled.warnings) == (0, [], ())


def test_the_strategy_of_an_intent_brings_its_reranking_along(memory: Ebbtide, judge: Judge) -> None:
    query = "Should I take the ferry or the train?"
    plain = memory.recall(query, intent="decision", rerank=False, trace=True)
    assert (plain.trace.profile, judge.asked) == ("decision", [])
    recalled = memory.recall(query, intent="decision", trace=True)
    assert {asked for asked, _ in judge.asked} == {query}
    assert {hit.id for hit in recalled} == {hit.id for hit in plain}
    assert [hit.contributions["fused"] for hit in recalled] == [hit.rerank for hit in recalled]
    check_sums(recalled)
    memory.recall("What happened with the ferry last week?", intent="temporal")
    assert len(judge.asked) == 1
