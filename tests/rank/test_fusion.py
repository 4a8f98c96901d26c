"""Reciprocal rank fusion gives the corrected sums of the published example."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput
from ebbtide.rank.fusion import highest_fused_score, reciprocal_rank_fusion

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


@pytest.mark.parametrize("k", [0, -1, math.nan, math.inf])
def test_a_k_that_is_not_positive_is_refused(k: float) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reciprocal_rank_fusion(LISTS, k=k)
    assert refusal.value.field == "k"
    with pytest.raises(InvalidInput):
        highest_fused_score(3, k=k)


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
