"""Metrics: examples computed by hand, and what must hold for every ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput
from ebbtide.evaluate.metrics import (
    QuestionResult,
    figures,
    figures_by_category,
    hit_at,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank,
)

RANKED = ("a", "b", "c", "d", "e", "f")

ids = st.sampled_from([f"m{number}" for number in range(30)])
rankings = st.lists(ids, unique=True, max_size=25)
evidences = st.sets(ids, min_size=1, max_size=15)
depths = st.integers(min_value=1, max_value=25)


def test_recall_is_the_share_of_the_evidence_that_came_back() -> None:
    assert recall_at(5, RANKED, {"b", "f"}) == 0.5
    assert recall_at(10, RANKED, {"b", "f"}) == 1.0
    assert recall_at(10, RANKED, {"b", "missing", "gone"}) == pytest.approx(1 / 3)
    assert recall_at(10, (), {"b"}) == 0.0


def test_recall_has_the_whole_evidence_below_the_line_even_where_it_cannot_fit() -> None:
    assert recall_at(2, RANKED, {"a", "b", "c", "d"}) == 0.5


def test_a_hit_is_any_of_the_evidence() -> None:
    assert hit_at(1, RANKED, {"b", "f"}) == 0.0
    assert hit_at(2, RANKED, {"b", "f"}) == 1.0


def test_reciprocal_rank_is_that_of_the_first_evidence() -> None:
    assert reciprocal_rank(RANKED, {"d", "f"}) == 0.25
    assert reciprocal_rank(RANKED, {"missing"}) == 0.0


def test_gain_is_discounted_by_rank() -> None:
    # (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3)) = 1.5 / 1.63093
    assert ndcg_at(10, RANKED, {"a", "c"}) == pytest.approx(0.919721, abs=1e-6)
    # 1/log2(3) over 1
    assert ndcg_at(10, RANKED, {"b"}) == pytest.approx(0.630930, abs=1e-6)
    assert ndcg_at(1, RANKED, {"b"}) == 0.0


def test_the_ideal_gain_holds_no_more_than_the_depth() -> None:
    evidence = [f"m{number}" for number in range(15)]
    assert ndcg_at(10, evidence, set(evidence)) == pytest.approx(1.0)


def test_an_id_that_comes_back_twice_counts_once() -> None:
    assert ndcg_at(10, ("a", "a", "a"), {"a"}) == 1.0
    assert recall_at(5, ("a", "a"), ["a", "a"]) == 1.0


@given(rankings, evidences, depths)
def test_every_measure_is_a_share(ranked: list[str], evidence: set[str], depth: int) -> None:
    values = [measure(depth, ranked, evidence) for measure in (recall_at, hit_at, ndcg_at)]
    assert all(0 <= value <= 1 + 1e-12 for value in [*values, reciprocal_rank(ranked, evidence)])


@given(rankings, evidences, depths)
def test_looking_deeper_never_finds_less(ranked: list[str], evidence: set[str], depth: int) -> None:
    assert recall_at(depth + 1, ranked, evidence) >= recall_at(depth, ranked, evidence)
    assert hit_at(depth + 1, ranked, evidence) >= hit_at(depth, ranked, evidence)


@given(rankings, evidences, depths)
def test_the_measures_agree_on_whether_anything_was_found(ranked: list[str], evidence: set[str], depth: int) -> None:
    found = hit_at(depth, ranked, evidence) == 1
    assert found == (recall_at(depth, ranked, evidence) > 0)
    assert found == (ndcg_at(depth, ranked, evidence) > 0)
    assert found == (reciprocal_rank(ranked[:depth], evidence) > 0)


@given(rankings, evidences, st.data())
def test_moving_evidence_up_never_lowers_the_gain(ranked: list[str], evidence: set[str], data: st.DataObject) -> None:
    found = [position for position, name in enumerate(ranked) if name in evidence and position > 0]
    if not found:
        return
    position = data.draw(st.sampled_from(found))
    better = [*ranked]
    better[position - 1], better[position] = better[position], better[position - 1]
    assert ndcg_at(10, better, evidence) >= ndcg_at(10, ranked, evidence) - 1e-12
    assert reciprocal_rank(better, evidence) >= reciprocal_rank(ranked, evidence)


@given(evidences)
def test_evidence_first_is_perfect(evidence: set[str]) -> None:
    ranked = [*sorted(evidence), "other"]
    assert ndcg_at(10, ranked, evidence) == pytest.approx(1.0)
    assert reciprocal_rank(ranked, evidence) == 1.0
    assert recall_at(15, ranked, evidence) == 1.0


def test_no_evidence_cannot_be_measured() -> None:
    with pytest.raises(InvalidInput, match="without evidence"):
        recall_at(5, RANKED, ())


def test_percentiles_are_interpolated_between_neighbours() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2.5
    assert percentile(range(1, 101), 0.95) == pytest.approx(95.05)
    assert percentile([7], 0.95) == 7
    assert (percentile([1, 2], 0), percentile([1, 2], 1)) == (1, 2)


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_lies_among_its_values(values: list[float], share: float) -> None:
    assert min(values) - 1e-6 <= percentile(values, share) <= max(values) + 1e-6


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 1.5), ([1.0], -0.1), ([1.0], math.nan)])
def test_a_percentile_of_nothing_is_refused(values: list[float], share: float) -> None:
    with pytest.raises(InvalidInput, match="no percentile"):
        percentile(values, share)


RESULTS = (
    QuestionResult("temporal", ("a", "b"), ("a", "c", "b"), latency_ms=3),
    QuestionResult("update", ("z",), ("y", "z"), latency_ms=5),
    QuestionResult("update", ("z",), ("y",), latency_ms=5),
    QuestionResult("none", (), ("a",), latency_ms=9, measurable=False),
)


def test_the_figures_are_means_over_the_measurable_questions() -> None:
    measured = figures(RESULTS)
    assert measured.questions == 3
    assert measured.recall_at == {5: pytest.approx(2 / 3), 10: pytest.approx(2 / 3), 20: pytest.approx(2 / 3)}
    assert measured.hit_at == {10: pytest.approx(2 / 3)}
    assert measured.mrr == pytest.approx(0.5)
    assert measured.ndcg_at_10 == pytest.approx((0.919721 + 0.630930 + 0) / 3, abs=1e-6)


def test_the_figures_by_category_leave_out_what_cannot_be_measured() -> None:
    by_category = figures_by_category(RESULTS)
    assert [(name, shown.questions, shown.mrr) for name, shown in by_category.items()] == [
        ("temporal", 1, 1.0),
        ("update", 2, 0.25),
    ]


def test_nothing_measurable_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(InvalidInput, match="No question can be measured"):
        figures(RESULTS[3:])
