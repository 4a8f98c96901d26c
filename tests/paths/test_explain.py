"""Why a memory did, or did not, come back: every reason with its stage, its value and its threshold."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from ebbtide import Ebbtide, Explanation
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput, NotFound
from tests.conftest import Opener
from tests.stores import START


def told(explanation: Explanation) -> tuple[bool, str, str]:
    """What every explanation must be able to say, and where the decision fell."""
    assert explanation.reason.endswith(".")
    assert "None" not in explanation.reason
    assert "{" not in explanation.reason
    return explanation.returned, explanation.stage, explanation.rule


def test_a_hit_is_explained_as_it_was_returned(memory: Ebbtide) -> None:
    memory.remember_many([f"ferry {number} to Bergen" for number in range(5)])
    answer = memory.recall("ferry to Bergen")
    for rank, hit in enumerate(answer, start=1):
        explanation = memory.explain("ferry to Bergen", hit.id)
        assert told(explanation) == (True, "returned", "returned")
        assert (explanation.rank, explanation.relevance) == (rank, hit.relevance)
        assert explanation.similarity == hit.similarity
        assert explanation.contributions == hit.contributions


def test_beyond_the_limit(memory: Ebbtide) -> None:
    ids = [memory.remember(f"ferry {'very ' * number}late").memory.id for number in range(4)]
    explanation = memory.explain("ferry late", ids[3], limit=2)
    assert told(explanation) == (False, "limit", "limit")
    assert (explanation.value, explanation.threshold) == (explanation.rank, 2)
    assert explanation.rank is not None
    assert explanation.rank > 2


def test_below_a_floor_on_similarity(memory: Ebbtide) -> None:
    id_ = memory.remember("oranges and pears").memory.id
    explanation = memory.explain("ferry", id_, min_similarity=0.5)
    assert told(explanation) == (False, "similarity", "min_similarity")
    assert explanation.value == explanation.similarity
    assert explanation.threshold == 0.5


def test_below_a_minimum_of_relevance(memory: Ebbtide) -> None:
    id_ = memory.remember("oranges and pears").memory.id
    memory.remember("ferry")
    explanation = memory.explain("ferry", id_, profile="ontheia")
    assert told(explanation) == (False, "minimum", "min_score")
    assert (explanation.value, explanation.threshold) == (explanation.relevance, 0.4)


def test_cut_off_from_the_best(memory: Ebbtide) -> None:
    memory.remember("ferry to Bergen")
    id_ = memory.remember("ferry to Bergen by way of Haugesund and Stavanger").memory.id
    best = memory.recall("ferry to Bergen", profile="ontheia")[0].relevance
    explanation = memory.explain("ferry to Bergen", id_, profile="ontheia")
    assert told(explanation) == (False, "relative_cutoff", "relative_cutoff")
    assert explanation.threshold == pytest.approx(0.7 * best)
    assert isinstance(explanation.value, float)
    assert 0.4 <= explanation.value < 0.7 * best


def test_folded_into_a_duplicate(memory: Ebbtide) -> None:
    ids = [memory.remember("ferry", namespace=f"vector.{place}").memory.id for place in "ab"]
    winner = memory.recall("ferry")[0].id
    folded = next(id_ for id_ in ids if id_ != winner)
    explanation = memory.explain("ferry", folded)
    assert told(explanation) == (False, "duplicate", "identical_content")
    assert explanation.threshold == str(winner)
    assert str(winner) in explanation.reason


def test_personal_data(memory: Ebbtide) -> None:
    id_ = memory.remember("ferry office ana@example.com").memory.id
    explanation = memory.explain("ferry office", id_, profile="ibex", min_similarity=0)
    assert told(explanation) == (False, "personal_data", "personal_data")
    assert "ana@example.com" not in explanation.reason


def test_another_namespace(memory: Ebbtide) -> None:
    id_ = memory.remember("ferry", namespace="vector.a").memory.id
    explanation = memory.explain("ferry", id_, namespaces=["vector.b", "vector.c.*"])
    assert told(explanation) == (False, "scope", "namespace")
    assert explanation.value == "vector.a"


def test_expired_or_not_true_yet(memory: Ebbtide, clock: FixedClock) -> None:
    ended = memory.remember("ferry one", ttl_seconds=60).memory.id
    future = memory.remember("ferry two", valid_from="2027-01-01").memory.id
    clock.advance(timedelta(minutes=1))
    explanation = memory.explain("ferry", ended)
    assert told(explanation) == (False, "scope", "expired")
    assert explanation.value == (START + timedelta(minutes=1)).isoformat()
    assert told(memory.explain("ferry", future)) == (False, "scope", "not_yet_valid")
    assert told(memory.explain("ferry", future, valid_at="2027-01-01"))[0] is True


def test_superseded(memory: Ebbtide) -> None:
    old = memory.remember("The ferry leaves at seven").memory.id
    new = memory.remember("The ferry leaves at eight", supersedes=old).memory.id
    for profile in ("tide", "agentium"):
        explanation = memory.explain("When does the ferry leave?", old, profile=profile)
        assert explanation.returned is False
        assert "supersed" in explanation.reason
        assert explanation.rule in ("superseded", "include_superseded")
    assert str(new) in memory.explain("ferry", old, profile="agentium").reason
    assert memory.explain("ferry", old, include_superseded=True).returned is True


def test_archived(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("ferry", ttl_seconds=60).memory.id
    clock.advance(timedelta(minutes=2))
    memory.remember("ferry")
    explanation = memory.explain("ferry", old)
    assert told(explanation) == (False, "scope", "status")
    assert explanation.value == "archived"


@pytest.mark.parametrize(
    "narrowed", [{"kinds": ["howto"]}, {"labels": ["factual"]}, {"tags": ["a"]}, {"where": {"importance": {"gt": 0.9}}}]
)
def test_left_out_by_a_filter(memory: Ebbtide, narrowed: dict[str, Any]) -> None:
    id_ = memory.remember("ferry").memory.id
    assert told(memory.explain("ferry", id_, **narrowed)) == (False, "scope", "filter")


def test_unknown_at_that_moment(memory: Ebbtide, clock: FixedClock) -> None:
    clock.advance(timedelta(days=1))
    id_ = memory.remember("ferry").memory.id
    explanation = memory.explain("ferry", id_, as_of=START)
    assert told(explanation) == (False, "scope", "unknown_then")
    assert memory.explain("ferry", id_, as_of=clock.now()).returned is True


def test_not_a_candidate(open_store: Opener) -> None:
    memory = open_store()
    axes = np.eye(384)
    memory.remember_many(
        [{"content": f"item {number}", "vector": axes[0] + 0.01 * axes[number + 1]} for number in range(150)]
    )
    id_ = memory.remember("quince", vector=axes[383]).memory.id
    explanation = memory.explain("ferry", id_, vector=axes[0])
    assert told(explanation) == (False, "candidates", "not_a_candidate")
    assert explanation.similarity == pytest.approx(0, abs=1e-3)
    assert isinstance(explanation.threshold, float)
    assert explanation.threshold > 0.9


def test_no_vector_and_no_word(open_store: Opener) -> None:
    id_ = open_store(embedder=None).remember("quince").memory.id
    assert told(open_store().explain("ferry", id_)) == (False, "candidates", "no_vector")
    assert told(open_store(embedder=None).explain("ferry", id_)) == (False, "candidates", "no_vector")


def test_a_vector_without_an_embedder_is_not_compared(open_store: Opener) -> None:
    id_ = open_store().remember("quince").memory.id
    assert told(open_store(embedder=None).explain("ferry", id_)) == (False, "candidates", "no_word")


def test_what_cannot_be_explained_is_refused(memory: Ebbtide) -> None:
    with pytest.raises(NotFound) as caught:
        memory.explain("ferry", uuid4())
    assert caught.value.field == "memory_id"
    id_ = memory.remember("ferry").memory.id
    refusals: list[dict[str, Any]] = [{"limit": 0}, {"profile": "none"}, {"namespaces": []}, {"as_of": "2026"}]
    for arguments in refusals:
        with pytest.raises(InvalidInput) as refused:
            memory.explain("ferry", id_, **arguments)
        assert refused.value.field == next(iter(arguments))


@pytest.mark.parametrize("profile", ["tide", "ontheia", "agentium", "ibex", "eryx"])
def test_explaining_agrees_with_recalling(memory: Ebbtide, clock: FixedClock, profile: str) -> None:
    ids = [
        memory.remember(f"ferry {'late ' * number}to Bergen", namespace=f"v.n{number % 3}").memory.id
        for number in range(8)
    ]
    ids.append(memory.remember("oranges").memory.id)
    ids.append(memory.remember("ferry to Oslo", supersedes=ids[0]).memory.id)
    clock.advance(timedelta(days=10))
    arguments: dict[str, Any] = {"profile": profile, "namespaces": ["v.n0", "v.n1", "vector.*"], "limit": 3}
    returned = [hit.id for hit in memory.recall("ferry to Bergen", **arguments)]
    for id_ in ids:
        explanation = memory.explain("ferry to Bergen", id_, **arguments)
        told(explanation)
        assert explanation.returned == (id_ in returned)
        if explanation.returned:
            assert explanation.rank == returned.index(id_) + 1
