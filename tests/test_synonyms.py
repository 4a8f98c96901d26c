"""A memory that says in other words what a query asks: found, explained, and of no other scope's making."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.rank.presets import TIDE
from tests.conftest import Opener

assert TIDE.tide is not None
ALONE = TIDE.model_copy(update={"name": "alone", "tide": TIDE.tide.model_copy(update={"synonym_weight": 0.0})})
SEEN = "The physician said to rest"
OTHERS = ["Oranges are in the kitchen", "The ferry leaves at nine"]


def test_without_vectors_a_memory_is_found_by_what_means_the_same(open_store: Opener) -> None:
    worded = open_store(embedder=None)
    worded.remember_many([SEEN, *OTHERS])
    (hit,) = worded.recall("doctor")
    assert (hit.content, hit.source) == (SEEN, "full_text")
    assert hit.contributions["lexical"] == 0
    assert hit.contributions["synonyms"] == hit.relevance > 0
    assert not worded.recall("doctor", profile=ALONE)


def test_the_word_itself_counts_more(open_store: Opener) -> None:
    worded = open_store(embedder=None)
    worded.remember_many([SEEN, "The doctor said to rest", *OTHERS])
    first, second = worded.recall("doctor")
    assert (first.content, second.content) == ("The doctor said to rest", SEEN)
    assert first.contributions["synonyms"] == 0
    assert second.relevance <= 0.25 * first.relevance


def test_with_vectors_it_gains_and_the_parts_still_sum(memory: Ebbtide) -> None:
    memory.remember_many([SEEN, *OTHERS])
    with_synonyms = {hit.content: hit for hit in memory.recall("What did the doctor say?")}
    alone = {hit.content: hit for hit in memory.recall("What did the doctor say?", profile=ALONE)}
    hit = with_synonyms[SEEN]
    assert hit.contributions["synonyms"] > 0
    assert sum(hit.contributions.values()) == pytest.approx(hit.relevance, abs=1e-9)
    assert hit.relevance - alone[SEEN].relevance == pytest.approx(hit.contributions["synonyms"], abs=1e-9)
    for other in OTHERS:
        assert with_synonyms[other].relevance == alone[other].relevance


def test_explain_and_trace_tell_of_them(memory: Ebbtide) -> None:
    id_ = memory.remember(SEEN).memory.id
    memory.remember_many(OTHERS)
    explanation = memory.explain("doctor", id_)
    assert explanation.contributions is not None
    assert explanation.contributions["synonyms"] > 0
    trace = memory.recall("doctor", trace=True).trace
    assert trace is not None
    assert "physician" in trace.synonyms["doctor"]
    for profile in (ALONE, "ibex"):
        trace = memory.recall("doctor", profile=profile, trace=True).trace
        assert trace is not None
        assert trace.synonyms == {}


def test_the_trace_tells_nothing_of_what_the_scope_holds(open_store: Opener) -> None:
    here, there = open_store(agent="here"), open_store(agent="there")
    here.remember_many([SEEN, *OTHERS])
    there.remember_many(OTHERS)
    traces = [handle.recall("doctor", trace=True).trace for handle in (here, there)]
    assert traces[0] is not None
    assert traces[1] is not None
    assert traces[0].synonyms == traces[1].synonyms


@pytest.mark.parametrize("wall", ["tenant", "agent"])
def test_no_word_behind_a_wall_counts(open_store: Opener, wall: str) -> None:
    mine, theirs = open_store(**{wall: "mine"}), open_store(**{wall: "theirs"})
    mine.remember_many([SEEN, *OTHERS])
    before = mine.recall("doctor")
    theirs.remember_many([f"The surgeon operates on day {number}" for number in range(20)])
    after = mine.recall("doctor")
    assert [(hit.id, hit.relevance) for hit in after] == [(hit.id, hit.relevance) for hit in before]


def test_no_word_of_another_namespace_counts(memory: Ebbtide) -> None:
    memory.remember_many([{"content": content, "namespace": "vector.mine"} for content in (SEEN, *OTHERS)])
    before = memory.recall("doctor", namespaces="vector.mine")
    theirs = [f"The surgeon operates on day {number}" for number in range(20)]
    memory.remember_many([{"content": content, "namespace": "vector.theirs"} for content in theirs])
    after = memory.recall("doctor", namespaces="vector.mine")
    assert [(hit.id, hit.relevance) for hit in after] == [(hit.id, hit.relevance) for hit in before]


def test_what_was_forgotten_is_found_by_no_other_word(open_store: Opener, clock: FixedClock) -> None:
    worded = open_store(embedder=None)
    worded.remember_many(OTHERS)
    seen = worded.remember(SEEN).memory
    then = clock.now()
    clock.advance(timedelta(days=1))
    assert [hit.id for hit in worded.recall("doctor", as_of=then)] == [seen.id]
    worded.forget(seen.id, expected_revision=seen.revision)
    assert not worded.recall("doctor")
    assert not worded.recall("doctor", as_of=then)
