"""Recall: who is heard, what is refused, which moment is asked about, and what comes back in which order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import EbbtideError, InvalidInput
from ebbtide.models.fake import FakeEmbedder
from tests.conftest import Opener
from tests.stores import START

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("query", {"query": ""}),
    ("query", {"query": " \u200f\n"}),
    ("query", {"query": "a\0b"}),
    ("query", {"query": "a\ud800"}),
    ("query", {"query": "x" * 10_001}),
    ("query", {"query": None}),
    ("query", {"query": 5}),
    ("profile", {"profile": "unheard-of"}),
    ("profile", {"profile": "a\0"}),
    ("profile", {"profile": "\ud800"}),
    ("profile", {"profile": 5}),
    ("profile", {"profile": ["tide"]}),
    ("namespaces", {"namespaces": []}),
    ("namespaces", {"namespaces": [""]}),
    ("namespaces", {"namespaces": "vector.te*m"}),
    ("namespaces", {"namespaces": "vector..*"}),
    ("namespaces", {"namespaces": ["vector.a b"]}),
    ("namespaces", {"namespaces": ["vector.${user_id}.*"]}),
    ("namespaces", {"namespaces": ["a\ud800"]}),
    ("namespaces", {"namespaces": 5}),
    ("namespaces", {"namespaces": [5]}),
    ("kinds", {"kinds": ["rumour"]}),
    ("kinds", {"kinds": 5}),
    ("labels", {"labels": [5]}),
    ("tags", {"tags": {"some": ["a"]}}),
    ("tags", {"tags": {"any": 5}}),
    ("tags", {"tags": [5]}),
    ("tags", {"tags": 5}),
    ("limit", {"limit": 0}),
    ("limit", {"limit": -1}),
    ("limit", {"limit": 201}),
    ("limit", {"limit": 1.5}),
    ("limit", {"limit": True}),
    ("limit", {"limit": "5"}),
    ("limit", {"limit": 51, "profile": "ibex"}),
    ("min_score", {"min_score": -0.1}),
    ("min_score", {"min_score": float("nan")}),
    ("min_score", {"min_score": "high"}),
    ("min_similarity", {"min_similarity": 1.1}),
    ("min_similarity", {"min_similarity": -0.1}),
    ("min_similarity", {"min_similarity": float("nan")}),
    ("as_of", {"as_of": "2026"}),
    ("as_of", {"as_of": "2026-03-02T09:00:00"}),
    ("as_of", {"as_of": 5}),
    ("valid_at", {"valid_at": "last week"}),
    ("include_superseded", {"include_superseded": "yes"}),
    ("vector", {"vector": [1.0] * 383}),
    ("vector", {"vector": [0.0] * 384}),
    ("vector", {"vector": [float("nan")] * 384}),
    ("vector", {"vector": "x"}),
]


def ask(memory: Any, **arguments: Any) -> Any:
    return memory.recall(**{"query": "ferry", **arguments})


def contents(answer: Any) -> list[str]:
    return [found.content for found in answer]


def test_an_argument_that_is_not_acceptable_is_refused_by_its_name(memory: Ebbtide) -> None:
    memory.remember("The ferry leaves at seven")
    for field, arguments in REFUSED:
        with pytest.raises(InvalidInput) as caught:
            ask(memory, **arguments)
        assert (caught.value.field or "").split(".")[0] == field, arguments
        assert caught.value.remedy, arguments


def test_an_empty_store_answers(memory: Ebbtide) -> None:
    answer = memory.recall("ferry", trace=True)
    assert (len(answer), answer.nothing_relevant) == (0, True)
    assert answer.trace is not None
    assert answer.trace.candidates == ()
    assert memory.context("ferry").text == ""


def test_similarity_is_in_its_interval_and_hits_are_sorted_by_relevance(memory: Ebbtide) -> None:
    memory.remember_many([f"ferry number {number} to Bergen, pier {number % 3}" for number in range(40)])
    answer = memory.recall("When does the ferry to Bergen leave from pier 2?", limit=30)
    assert len(answer) == 30
    assert all(hit.similarity is not None and 0 <= hit.similarity <= 1 for hit in answer)
    assert [hit.relevance for hit in answer] == sorted((hit.relevance for hit in answer), reverse=True)
    assert [hit.id for hit in memory.recall("When does the ferry to Bergen leave from pier 2?", limit=30)] == [
        hit.id for hit in answer
    ]
    for hit in answer:
        assert sum(hit.contributions.values()) == pytest.approx(hit.relevance, abs=1e-9)
        # Accesses are written down in the background, before or after this.
        accesses = {"access_count": hit.memory.access_count, "last_accessed_at": hit.memory.last_accessed_at}
        assert hit.memory == memory.get(hit.id).model_copy(update=accesses)


def test_a_match_by_words_alone_is_found(open_store: Opener) -> None:
    strange = FakeEmbedder(384, vocabulary={"zanzibar": "q1", "timetable": "q2"})
    memory = open_store(embedder=strange)
    vectors = np.eye(384)
    for number in range(120):
        memory.remember(f"filler {number}", vector=(vectors[0] + 0.001 * vectors[number + 2]).tolist())
    wanted = memory.remember("Zanzibar timetable", vector=(-vectors[0]).tolist()).memory
    answer = memory.recall("Zanzibar timetable", vector=vectors[0].tolist(), min_similarity=0.9, limit=5)
    found = next(hit for hit in answer if hit.id == wanted.id)
    assert found.source == "full_text"
    assert found.similarity is None
    assert answer.nothing_relevant is False


def test_a_hit_without_a_vector_shows_no_similarity(open_store: Opener) -> None:
    open_store(embedder=None).remember("The ferry leaves at seven")
    hit = open_store().recall("ferry")[0]
    assert (hit.similarity, hit.source) == (None, "full_text")


def test_nothing_relevant_is_said_and_withholds_nothing(memory: Ebbtide) -> None:
    memory.remember_many(["The ferry leaves at seven", "Ana likes oranges"])
    answer = memory.recall("quarterly tax forms", min_similarity=0.9)
    assert answer.nothing_relevant is True
    again = memory.recall("quarterly tax forms")
    assert len(again) == 2
    assert memory.recall("ferry").nothing_relevant is False


def test_full_text_works_alone_and_says_so(open_store: Opener) -> None:
    memory = open_store(embedder=None)
    memory.remember_many(["The ferry leaves at seven", "Ana likes oranges"])
    answer = memory.recall("ferry", trace=True)
    assert contents(answer) == ["The ferry leaves at seven"]
    assert any("full text alone" in warning for warning in answer.warnings)
    assert answer.trace is not None
    assert answer.trace.notes == answer.warnings
    for profile in ("ontheia", "agentium", "ibex", "eryx"):
        assert contents(memory.recall("ferry", profile=profile)) == ["The ferry leaves at seven"], profile


def test_identical_content_is_folded_across_namespaces(memory: Ebbtide) -> None:
    ids = [
        memory.remember("The ferry leaves at seven", namespace=f"vector.{place}").memory.id for place in ("a", "b", "c")
    ]
    answer = memory.recall("ferry", trace=True)
    assert len(answer) == 1
    assert {answer[0].id, *answer[0].duplicates} == set(ids)
    assert answer.trace is not None
    assert {drop.rule for drop in answer.trace.drops} == {"identical_content"}


def test_a_trace_accounts_for_every_candidate_once(memory: Ebbtide) -> None:
    memory.remember_many([f"ferry {number}" for number in range(30)] + ["Ana likes oranges"])
    old = memory.remember("ferry to Oslo").memory
    memory.remember("ferry to Bergen", supersedes=old.id)
    for profile in ("tide", "ontheia", "agentium", "ibex", "eryx"):
        answer = memory.recall("ferry to Oslo", profile=profile, limit=4, trace=True)
        assert answer.trace is not None
        candidates = [candidate.id for candidate in answer.trace.candidates]
        ends = [hit.id for hit in answer] + [drop.id for drop in answer.trace.drops]
        assert sorted(candidates) == sorted(ends), profile
        assert len(set(candidates)) == len(candidates)
        for candidate in answer.trace.candidates:
            assert sum(candidate.contributions.values()) == pytest.approx(candidate.relevance, abs=1e-9)
        assert (answer.trace.query, answer.trace.profile) == ("ferry to Oslo", profile)


def test_a_dropped_candidate_is_reported_with_its_threshold(memory: Ebbtide) -> None:
    memory.remember_many(["ferry to Bergen", "ferry", "oranges"])
    answer = memory.recall("ferry to Bergen", profile="ontheia", min_score=0.8, trace=True)
    assert contents(answer) == ["ferry to Bergen"]
    assert answer.trace is not None
    drops = [drop for drop in answer.trace.drops if drop.rule == "min_score"]
    assert drops
    assert all(isinstance(drop.value, float) and drop.value < 0.8 == drop.threshold for drop in drops)


def test_what_was_known_then_is_read_exactly(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember("Lives in Oslo").memory
    moments = [clock.now(), clock.advance(timedelta(days=1))]
    second = memory.remember("Lives in Bergen", supersedes=first.id).memory
    moments.append(clock.advance(timedelta(days=1)))
    memory.revise(second.id, "Lives in Bergen, near the harbour")
    known = [("Lives in Oslo", moments[0]), ("Lives in Bergen", moments[1])]
    known += [("Lives in Bergen, near the harbour", moments[2]), ("Lives in Oslo", moments[1] - timedelta(seconds=1))]
    known += [("Lives in Bergen", moments[2] - timedelta(microseconds=1))]
    for content, moment in known:
        assert contents(memory.recall("Where does she live?", as_of=moment)) == [content], moment
        assert contents(memory.browse(as_of=moment)) == [content], moment
        assert memory.recall("Where does she live?", as_of=moment)[0].memory.content == content
    assert contents(memory.recall("Where does she live?", as_of=START - timedelta(seconds=1))) == []
    assert contents(memory.browse(as_of="2020-01-01")) == []


def test_what_was_true_then_is_read_exactly(memory: Ebbtide) -> None:
    old = memory.remember("Works at Northwind", valid_from="2024-03-01", subject="Ana").memory
    memory.remember("Works at Contoso", valid_from="2025-06-01", subject="Ana", supersedes=old.id)
    expected = {
        "2024-02-29T23:59:59Z": [],
        "2024-03-01": ["Works at Northwind"],
        "2024-12-01": ["Works at Northwind"],
        "2025-05-31T23:59:59Z": ["Works at Northwind"],
        "2025-06-01": ["Works at Contoso"],
    }
    for moment, known in expected.items():
        assert contents(memory.recall("Where does Ana work?", valid_at=moment)) == known, moment
        assert contents(memory.browse(valid_at=moment)) == known, moment
    assert contents(memory.recall("Where does Ana work?")) == ["Works at Contoso"]
    both = memory.recall("Where does Ana work?", include_superseded=True)
    assert set(contents(both)) == {"Works at Contoso", "Works at Northwind"}


def test_a_question_in_the_old_words_finds_the_current_answer(memory: Ebbtide) -> None:
    old = memory.remember("Ana's employer is Northwind Traders in Lisbon").memory
    memory.remember_many([f"Ana tasted wine number {number} in Lisbon" for number in range(30)])
    new = memory.remember("It is Contoso now", supersedes=old.id).memory
    answer = memory.recall("Is Northwind Traders in Lisbon Ana's employer?", limit=1)
    assert answer[0].id == new.id


def test_an_end_and_a_beginning_are_kept(memory: Ebbtide, clock: FixedClock) -> None:
    memory.remember("ferry one", ttl_seconds=3600)
    memory.remember("ferry two", expires_at=START + timedelta(hours=2))
    memory.remember("ferry three", valid_from=START + timedelta(hours=1))
    memory.remember("ferry four", expires_at="2020-01-01")
    assert set(contents(memory.recall("ferry"))) == {"ferry one", "ferry two"}
    clock.advance(timedelta(hours=1))
    assert set(contents(memory.recall("ferry"))) == {"ferry two", "ferry three"}
    assert set(contents(memory.browse())) == {"ferry two", "ferry three"}
    clock.advance(timedelta(hours=1))
    assert contents(memory.recall("ferry")) == ["ferry three"]
    assert set(contents(memory.recall("ferry", as_of=START))) == {"ferry one", "ferry two"}


def test_personal_data_is_dropped_by_ibex_alone_and_replaced_by_the_next(memory: Ebbtide) -> None:
    memory.remember_many(["Ana phone +41 44 668 18 00", "Ana phone ana@example.com", "Ana phone is old"])
    for profile in ("tide", "ontheia", "agentium", "eryx"):
        returned = contents(memory.recall("Ana phone", profile=profile, min_similarity=0))
        assert "Ana phone ana@example.com" in returned, profile
    answer = memory.recall("Ana phone", profile="ibex", limit=3, min_similarity=0, trace=True)
    assert contents(answer) == ["Ana phone is old"]
    assert answer.trace is not None
    assert [drop.stage for drop in answer.trace.drops].count("personal_data") == 2


def test_what_is_disputed_is_told_though_another_hit_is_replaced_by_the_next(memory: Ebbtide) -> None:
    memory.remember("The harbour deploy of the night finished", importance=1.0)
    memory.remember("The harbour deploy of the night did not finish", importance=1.0)
    assert memory.conflicts.list()
    memory.remember("The harbour deploy of the night mails ana@example.com", importance=1.0)
    memory.remember("The harbour deploy of the year has a name", importance=0.1)
    answer = memory.recall("harbour deploy of the night", profile="ibex", limit=3)
    assert [hit.disputed for hit in answer] == [True, True, False]


def test_a_vector_given_spares_the_embedder(open_store: Opener) -> None:
    memory = open_store()
    memory.remember("The ferry leaves at seven")
    vector = FakeEmbedder(384)._hashed("ferry")
    asked = open_store(embedder=None)
    answer = asked.recall("boat", vector=vector)
    assert contents(answer) == ["The ferry leaves at seven"]
    assert answer.warnings == ()


def test_an_access_counts_when_a_memory_is_used(open_store: Opener, clock: FixedClock) -> None:
    memory = open_store()
    id_ = memory.remember("The ferry leaves at seven").memory.id
    memory.get(id_)
    memory.browse()
    memory.history(id_)
    memory.explain("ferry", id_)
    memory.recall("ferry", as_of=clock.now())
    clock.advance(timedelta(hours=1))
    memory.recall("ferry")
    memory.context("ferry")
    memory.close()
    found = open_store().get(id_)
    assert (found.access_count, found.last_accessed_at) == (2, clock.now())


def test_errors_say_nothing_of_what_is_stored(memory: Ebbtide) -> None:
    memory.remember("the code is 4711", idempotency_key="k")
    for arguments in ({"as_of": "x"}, {"limit": 0}, {"profile": "none"}):
        with pytest.raises(EbbtideError) as caught:
            ask(memory, query="4711", **arguments)
        assert "4711" not in str(caught.value)


async def test_a_question_asked_before_stands_below_its_answer(async_memory: AsyncEbbtide) -> None:
    chat = async_memory.scoped(chat="home")
    await chat.remember_many(
        [
            {"content": "Where do I moor?", "kind": "message", "seq": 1, "speaker": "Ada"},
            {"content": "I moor at pier 3.", "kind": "message", "seq": 2, "speaker": "Ada"},
        ]
    )
    answer, question = await async_memory.recall("Where do I moor?")
    assert (answer.content, question.content) == ("I moor at pier 3.", "Where do I moor?")
    assert question.contributions["repeated_question"] < 0
