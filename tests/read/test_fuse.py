"""Sub-queries in a recall: searched on one snapshot, fused by rank, and told by trace and explanation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.models.fake import FakeEmbedder
from ebbtide.rank.parts import FullText
from ebbtide.rank.presets import ERYX
from ebbtide.types.recall import Trace
from tests.conftest import Opener
from tests.stores import DIMENSION

TWO = "tell me about Anthropic and OpenAI"
OPEN = ERYX.model_copy(update={"name": "open", "gates": ERYX.gates.model_copy(update={"min_similarity": 0.0})})
WHOLE = OPEN.model_copy(update={"name": "whole", "decompose": False})


class Counting(FakeEmbedder):
    """A fake that remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return await super().embed(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def told(memory: Ebbtide) -> Ebbtide:
    """Two companies, of each what names it and little else, among thirty other memories."""
    memory.remember_many(["Anthropic makes Claude", "OpenAI makes GPT", "Anthropic and OpenAI both train models"])
    memory.remember_many([f"tell me the ferry number {number}" for number in range(30)])
    return memory


def trace_of(memory: Ebbtide, query: str, **asked: Any) -> Trace:
    trace = memory.recall(query, trace=True, **asked).trace
    assert trace is not None
    return trace


def test_the_fused_score_is_the_base_and_ranks_say_where_it_comes_from(told: Ebbtide) -> None:
    answer = told.recall(TWO, profile=OPEN, trace=True)
    assert answer.trace is not None
    assert answer.trace.queries == (TWO, "Anthropic", "OpenAI")
    assert answer.hits[0].content == "Anthropic and OpenAI both train models"
    for candidate in answer.trace.candidates:
        assert len(candidate.ranks) == 3
        fused = sum(1 / (60 + rank) for rank in candidate.ranks if rank) / (3 / 61)
        assert candidate.contributions["fused"] == pytest.approx(fused)
        assert "similarity" not in candidate.contributions
        assert sum(candidate.contributions.values()) == pytest.approx(candidate.relevance)
    for ranks in zip(*(candidate.ranks for candidate in answer.trace.candidates), strict=True):
        known = sorted(rank for rank in ranks if rank)
        assert known == list(range(1, len(known) + 1))


def test_each_candidate_is_there_once_with_its_best_similarity(told: Ebbtide) -> None:
    fused = {one.id: one.similarity for one in trace_of(told, TWO, profile=OPEN).candidates}
    assert len(fused) == len(told.browse())
    singles: list[dict[Any, float | None]] = [
        {one.id: one.similarity for one in trace_of(told, query, profile=WHOLE).candidates}
        for query in (TWO, "Anthropic", "OpenAI")
    ]
    for id_, similarity in fused.items():
        assert similarity == pytest.approx(max(single[id_] or 0 for single in singles if id_ in single), abs=1e-6)


def test_the_rank_in_each_list_is_that_of_a_search_for_it_alone(told: Ebbtide) -> None:
    trace = trace_of(told, TWO, profile=OPEN)
    for place, query in enumerate(trace.queries):
        alone = [one for one in trace_of(told, query, profile=WHOLE).candidates if one.source != "full_text"]
        similarity = {one.id: one.similarity or 0 for one in alone}
        ranked = sorted((one for one in trace.candidates if one.ranks[place]), key=lambda one: one.ranks[place] or 0)
        values = [similarity[one.id] for one in ranked if one.id in similarity]
        assert values == pytest.approx(sorted(values, reverse=True), abs=1e-6)


def test_thresholds_are_on_similarity_and_hold_for_each_list(told: Ebbtide) -> None:
    trace = trace_of(
        told, TWO, profile=OPEN.model_copy(update={"full_text": FullText(search="off")}), min_similarity=0.45
    )
    drops = {drop.id: drop for drop in trace.drops if drop.stage == "similarity"}
    assert drops
    for candidate in trace.candidates:
        if candidate.id in drops:
            assert candidate.ranks == (None, None, None)
            assert candidate.contributions["fused"] == 0
            assert drops[candidate.id].value == candidate.similarity
        else:
            assert any(candidate.ranks)
            assert (candidate.similarity or 0) >= 0.45 - 1e-6


def test_all_queries_are_embedded_in_one_batch(told: Ebbtide, embedder: Counting) -> None:
    embedder.asked.clear()
    told.recall(TWO, profile="eryx")
    assert embedder.asked == [[TWO, "Anthropic", "OpenAI"]]
    told.recall("the ferry to Bergen", profile="eryx")
    assert embedder.asked[1:] == [["the ferry to Bergen"]]


def test_a_callers_vector_goes_with_the_question_alone(told: Ebbtide, embedder: Counting) -> None:
    embedder.asked.clear()
    vector = [1.0] + [0.0] * (DIMENSION - 1)
    with_vector = trace_of(told, TWO, profile=OPEN, vector=vector)
    assert embedder.asked == [["Anthropic", "OpenAI"]]
    without = {one.id: one.ranks for one in trace_of(told, TWO, profile=OPEN).candidates}
    assert all(one.ranks[1:] == without[one.id][1:] for one in with_vector.candidates)
    assert any(one.ranks[0] != without[one.id][0] for one in with_vector.candidates)
    embedder.asked.clear()
    told.recall("the ferry to Bergen", profile=OPEN, vector=vector)
    assert embedder.asked == []


def test_without_an_embedder_the_words_of_each_query_are_searched(told: Ebbtide, open_store: Opener) -> None:
    wordy = open_store(embedder=None)
    answer = wordy.recall(TWO, profile=OPEN, trace=True)
    assert answer.trace is not None
    assert answer.trace.queries == (TWO, "Anthropic", "OpenAI")
    assert {hit.content for hit in answer.hits[:3]} >= {"Anthropic makes Claude", "OpenAI makes GPT"}


def test_keywords_are_those_of_the_question(told: Ebbtide) -> None:
    by_content = {memory.id: memory.content for memory in told.browse()}
    shares = {
        by_content[one.id]: parts["keywords"] / (parts["fused"] + parts["recency"] + parts["freshness"])
        for one in trace_of(told, TWO, profile=OPEN).candidates
        for parts in [one.contributions]
    }
    assert shares["Anthropic and OpenAI both train models"] == pytest.approx(0.1 * 2 / 3)
    assert [shares["Anthropic makes Claude"], shares["OpenAI makes GPT"]] == pytest.approx([0.1 / 3, 0.1 / 3])


def test_explain_agrees_with_the_recall(told: Ebbtide) -> None:
    answer = told.recall(TWO, profile=OPEN, limit=3)
    for rank, hit in enumerate(answer, start=1):
        explained = told.explain(TWO, hit.id, profile=OPEN, limit=3)
        assert (explained.returned, explained.rank) == (True, rank)
        assert explained.relevance == hit.relevance
        assert explained.contributions == hit.contributions
    others = {memory.id for memory in told.browse()} - {hit.id for hit in answer}
    explained = told.explain(TWO, others.pop(), profile=OPEN, limit=3)
    assert (explained.returned, explained.rule) == (False, "limit")


def test_a_query_for_one_thing_is_as_it_was(told: Ebbtide) -> None:
    trace = trace_of(told, "the ferry to Bergen", profile=OPEN)
    assert trace.queries == ()
    assert all(one.ranks == () and "similarity" in one.contributions for one in trace.candidates)
    assert set(trace.model_dump(mode="json")).isdisjoint({"queries"})


def test_no_profile_decomposes_unless_it_says_so(told: Ebbtide) -> None:
    for profile in ("tide", "ontheia", "agentium", "ibex", WHOLE):
        assert trace_of(told, TWO, profile=profile).queries == ()
    for profile in ("eryx", "exploratory", "decision", "comparative", "relationship", "temporal", "factual"):
        assert trace_of(told, TWO, profile=profile).queries == (TWO, "Anthropic", "OpenAI")


@pytest.mark.parametrize("law", ["sum", "boost"])
def test_other_laws_read_the_best_similarity(told: Ebbtide, law: str) -> None:
    profile = {
        "name": "mine", "law": law, "decompose": True,
        "factors": [{"factor": "similarity", "weight": 1.0, "name": "near"}],
        **({"base": "similarity"} if law == "boost" else {}),
    }  # fmt: skip
    trace = trace_of(told, TWO, profile=profile)
    assert trace.queries == (TWO, "Anthropic", "OpenAI")
    for one in trace.candidates:
        assert one.contributions["near" if law == "sum" else "similarity"] == pytest.approx(one.similarity)


def test_the_past_is_fused_as_the_present(told: Ebbtide, clock: FixedClock) -> None:
    then = clock.now()
    before = {hit.content for hit in told.recall(TWO, profile=OPEN, limit=3)}
    clock.advance(timedelta(days=1))
    told.remember("Anthropic and OpenAI met")
    assert {hit.content for hit in told.recall(TWO, profile=OPEN, limit=3, as_of=then)} == before
    assert told.recall(TWO, profile=OPEN)[0].content == "Anthropic and OpenAI met"


def test_an_agent_finds_by_its_parts_only_what_it_may_read(told: Ebbtide) -> None:
    other = told.scoped(agent="other")
    other.remember("OpenAI is elsewhere")
    assert {hit.content for hit in other.recall(TWO, profile=OPEN)} == {"OpenAI is elsewhere"}
    assert "OpenAI is elsewhere" not in {hit.content for hit in told.recall(TWO, profile=OPEN, limit=100)}
    assert len(told.recall(TWO, profile=OPEN, kinds="note")) == 0
