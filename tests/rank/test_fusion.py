"""Reciprocal rank fusion gives the corrected sums of the published example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput
from ebbtide.rank.candidates import Candidates
from ebbtide.rank.fusion import fused_scores, highest_fused_score, ranking_of, reciprocal_rank_fusion
from ebbtide.rank.parts import FullText
from ebbtide.rank.presets import ERYX
from ebbtide.rank.score import full_text_hits
from tests.rank.builders import arbitrary_candidates, candidates

LISTS = [list("ABCDE"), list("BFAGH"), list("ACBIJ")]
rankings = st.lists(st.lists(st.sampled_from("ABCDEFGH"), unique=True), max_size=5)


def test_the_published_lists() -> None:
    fused = reciprocal_rank_fusion(LISTS)
    scores = {item: round(value, 5) for item, value in fused}
    assert (scores["A"], scores["B"], scores["C"]) == (0.04866, 0.04840, 0.03200)
    assert [item for item, _ in fused][:4] == ["A", "B", "C", "F"]


def test_equal_scores_keep_the_order_of_first_appearance() -> None:
    assert [item for item, _ in reciprocal_rank_fusion(LISTS)] == list("ABCFDGIEHJ")


def test_a_repeated_item_counts_by_its_best_rank() -> None:
    assert reciprocal_rank_fusion([["A", "B", "A"], ["A"]], k=1) == [("A", 1.0), ("B", 1 / 3)]


def test_nothing_to_fuse() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []


@pytest.mark.parametrize("k", [0, -1, math.nan, math.inf, True, None, "60", b"60", 2**5000])
def test_a_k_that_is_not_positive_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reciprocal_rank_fusion(LISTS, k=k)
    assert refusal.value.field == "k"
    with pytest.raises(InvalidInput):
        highest_fused_score(3, k=k)


@pytest.mark.parametrize("lists", [None, 1, "ab", [1], [None], ["ab"], [b"ab"], [[[]]], [["a"], [{}]], {"a": ["b"]}])
def test_what_are_no_lists_of_items_is_refused(lists: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reciprocal_rank_fusion(lists)
    assert refusal.value.field == "lists"


@given(rankings, st.floats(0.5, 1000))
def test_scores_are_positive_sorted_and_at_most_the_highest(lists: list[list[str]], k: float) -> None:
    fused = reciprocal_rank_fusion(lists, k)
    values = [value for _, value in fused]
    assert {item for item, _ in fused} == {item for ranking in lists for item in ranking}
    assert values == sorted(values, reverse=True)
    assert all(0 < value <= highest_fused_score(len(lists), k) * (1 + 1e-12) for value in values)


@given(rankings, st.randoms())
def test_the_order_of_the_lists_changes_no_score(lists: list[list[str]], random) -> None:
    shuffled = random.sample(lists, len(lists))
    before, after = dict(reciprocal_rank_fusion(lists)), dict(reciprocal_rank_fusion(shuffled))
    assert after == pytest.approx(before)


def test_who_leads_every_list_gets_the_highest_score() -> None:
    (leader, value), *_ = reciprocal_rank_fusion([["A", "B"], ["A", "C"], ["A"]])
    assert (leader, value) == ("A", pytest.approx(highest_fused_score(3)))


def test_the_published_lists_as_ranks_over_their_maximum() -> None:
    ids = "ABCDEFGHIJ"
    ranks = np.array([[one.index(id_) + 1 if id_ in one else 0 for id_ in ids] for one in LISTS])
    fused = dict(zip(ids, fused_scores(ranks).tolist(), strict=True))
    assert fused == pytest.approx({id_: score / (3 / 61) for id_, score in reciprocal_rank_fusion(LISTS)})
    assert fused["A"] == pytest.approx((1 / 61 + 1 / 63 + 1 / 61) / (3 / 61))


@given(rankings.filter(bool))
def test_fused_scores_are_the_fusion_over_its_maximum(lists: list[list[str]]) -> None:
    ids = "ABCDEFGH"
    ranks = np.array([[one.index(id_) + 1 if id_ in one else 0 for id_ in ids] for one in lists])
    fused = fused_scores(ranks)
    known = dict(reciprocal_rank_fusion(lists))
    assert fused.tolist() == pytest.approx([known.get(id_, 0) / highest_fused_score(len(lists)) for id_ in ids])
    assert ((fused >= 0) & (fused <= 1)).all()


def test_what_leads_every_list_is_worth_one_and_what_is_in_none_nothing() -> None:
    assert fused_scores(np.array([[1, 0], [1, 0], [1, 0]])).tolist() == [1.0, 0.0]


def test_a_search_offers_what_passes_its_floor_by_similarity_then_what_it_found_by_words() -> None:
    found = candidates(
        ids=["far", "near", "nearer", "words", "word", "both", "same"],
        similarity=[0.69, 0.7, 0.9, None, None, 0.2, 0.7],
        text_rank=[None, None, None, 0.5, 0.1, 0.3, None],
        created_at=[0, 0, 0, 0, 0, 0, 1],
    )
    order = [found.ids[place] for place in ranking_of(ERYX, found).tolist()]
    assert order == ["nearer", "same", "near", "words", "both", "word"]
    vectors_only = ERYX.model_copy(update={"full_text": FullText(search="off")})
    order = [found.ids[place] for place in ranking_of(vectors_only, found).tolist()]
    assert order == ["nearer", "same", "near", "words", "word"]


@given(arbitrary_candidates())
def test_a_ranking_offers_each_candidate_at_most_once_and_nothing_below_the_floor(found: Candidates) -> None:
    order = ranking_of(ERYX, found).tolist()
    assert len(set(order)) == len(order)
    by_text = full_text_hits(ERYX, found)
    near = [place for place in order if not by_text[place]]
    assert order[: len(near)] == near
    assert found.similarity[near].tolist() == sorted(found.similarity[near].tolist(), reverse=True)
    assert all(found.similarity[place] >= 0.7 - 1e-6 for place in near)
    assert set(np.flatnonzero(by_text).tolist()) <= set(order)
