"""Each formula gives the published numbers, stays in its range and moves in the right direction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.rank import factors
from tests.rank.builders import DAY, NOW, days_ago

ages = st.lists(st.floats(0, 40_000), min_size=2, max_size=20).map(lambda values: np.array(sorted(values)))


@pytest.mark.parametrize(("distance", "similarity"), [(0.0, 1.0), (0.3, 0.7), (1.0, 0.0), (1.4, 0.0), (-1e-9, 1.0)])
def test_similarity_is_one_minus_distance_within_its_range(distance: float, similarity: float) -> None:
    assert factors.cosine_similarity(np.array([distance]))[0] == pytest.approx(similarity)


def test_similarity_without_a_vector_stays_unknown() -> None:
    assert np.isnan(factors.cosine_similarity(np.array([np.nan]))[0])


def test_age_is_fractional_and_never_negative() -> None:
    moments = np.array([days_ago(18.5), days_ago(-3), NOW, np.nan])
    assert factors.age_in_days(moments, NOW)[:3].tolist() == [18.5, 0.0, 0.0]
    assert np.isnan(factors.age_in_days(moments, NOW)[3])
    assert factors.age_in_days(np.array([NOW - DAY / 4]), NOW)[0] == 0.25


@pytest.mark.parametrize(("age", "share"), [(0, 0.05), (1, 0.025), (7, 0.00625), (30, 0.00161)])
def test_ontheia_recency_shares(age: float, share: float) -> None:
    assert round(float(factors.recency_share(np.array([float(age)]), 0.05)[0]), 5) == share


@pytest.mark.parametrize(("age", "recency"), [(0, 1.0), (14, 0.5), (28, 0.25), (56, 0.0625)])
def test_agentium_recency_halves_every_fourteen_days(age: float, recency: float) -> None:
    assert factors.half_life_recency(np.array([float(age)]), 14.0)[0] == recency


@pytest.mark.parametrize(
    ("labels", "days"),
    [
        (("factual",), 180),
        (("procedural",), 120),
        (("preference",), 45),
        (("behavioral",), 30),
        (("episodic",), 14),
        (("factual", "preference"), 45),
        (("factual", "unheard-of"), 180),
        (("unheard-of",), 14),
        ((), 14),
    ],
)
def test_ibex_half_life_is_the_shortest_of_the_labels(labels: tuple[str, ...], days: float) -> None:
    half_lives = {"factual": 180.0, "procedural": 120.0, "preference": 45.0, "behavioral": 30.0, "episodic": 14.0}
    assert factors.shortest_half_life([labels], half_lives, 14.0).tolist() == [days]


@pytest.mark.parametrize(("age", "freshness"), [(0, 1.00), (30, 0.72), (90, 0.37), (180, 0.14), (270, 0.05)])
def test_eryx_freshness(age: float, freshness: float) -> None:
    assert round(float(factors.e_folding_recency(np.array([float(age)]), 90.0)[0]), 2) == freshness


def test_eryx_recency_is_an_e_folding_and_not_a_half_life() -> None:
    assert factors.e_folding_recency(np.array([30.0]), 30.0)[0] == pytest.approx(math.exp(-1))


def test_laplace_usefulness() -> None:
    positive, negative = np.array([0.0, 1.0, 0.0, 3.0, 98.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
    assert factors.laplace_usefulness(positive, negative).tolist() == [0.5, 2 / 3, 1 / 3, 4 / 6, 99 / 100]


def test_access_frequency_saturates_at_ten() -> None:
    assert factors.access_frequency(np.array([0.0, 1.0, 5.0, 10.0, 11.0, 1e9]), 10.0).tolist() == [0, 0.1, 0.5, 1, 1, 1]


def test_unit_interval_clamps_and_keeps_the_unknown() -> None:
    clamped = factors.unit_interval(np.array([-0.1, 0.3, 1.2, np.nan]))
    assert clamped[:3].tolist() == [0.0, 0.3, 1.0]
    assert np.isnan(clamped[3])


@given(ages, st.floats(0.1, 10_000), st.floats(0, 10))
def test_every_recency_falls_with_age_within_its_range(age: np.ndarray, days: float, decay: float) -> None:
    for values, highest in (
        (factors.recency_share(age, decay), decay),
        (factors.half_life_recency(age, days), 1.0),
        (factors.e_folding_recency(age, days), 1.0),
    ):
        assert np.all(np.diff(values) <= 0)
        assert values.min() >= 0
        assert values.max() <= highest


@given(st.floats(0, 40_000), st.floats(0.1, 10_000))
def test_one_more_half_life_halves_recency(age: float, half_life: float) -> None:
    now, later = factors.half_life_recency(np.array([age, age + half_life]), half_life)
    assert later == pytest.approx(now / 2, rel=1e-6, abs=1e-300)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_usefulness_rises_with_praise_and_falls_with_blame(positive: int, negative: int) -> None:
    def usefulness(praise: int, blame: int) -> float:
        return float(factors.laplace_usefulness(np.array([float(praise)]), np.array([float(blame)]))[0])

    assert 0 < usefulness(positive, negative) < 1
    assert usefulness(positive + 1, negative) > usefulness(positive, negative)
    assert usefulness(positive, negative + 1) < usefulness(positive, negative)
    assert usefulness(positive, negative) + usefulness(negative, positive) == pytest.approx(1.0)


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=20), st.floats(1, 1000))
def test_access_frequency_rises_within_its_range(counts: list[int], saturation: float) -> None:
    values = factors.access_frequency(np.array(sorted(counts), dtype=float), saturation)
    assert np.all(np.diff(values) >= 0)
    assert values.min() >= 0
    assert values.max() <= 1


@given(st.lists(st.floats(-0.1, 2.1), min_size=2, max_size=20))
def test_similarity_falls_with_distance_within_its_range(distances: list[float]) -> None:
    values = factors.cosine_similarity(np.array(sorted(distances)))
    assert np.all(np.diff(values) <= 0)
    assert values.min() >= 0
    assert values.max() <= 1


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.floats(1, 400), st.floats(1, 400))
def test_another_label_never_lengthens_a_known_half_life(labels: list[str], of_a: float, of_b: float) -> None:
    half_lives = {"a": of_a, "b": of_b}
    for label in ("a", "b"):
        before = factors.shortest_half_life([(label,)], half_lives, 14.0)[0]
        assert factors.shortest_half_life([(label, *labels)], half_lives, 14.0)[0] <= before


@given(ages, st.floats(0.1, 1_000))
def test_an_asked_time_counts_whole_within_and_less_from_day_to_day(days_after: np.ndarray, fade_days: float) -> None:
    shares = factors.asked_time_share(days_after, fade_days)
    assert np.all(np.diff(shares) <= 0)
    assert shares.min() >= 0
    assert shares.max() <= 1
    assert factors.asked_time_share(np.array([0.0, fade_days, math.inf]), fade_days).tolist() == [1.0, 0.0, 0.0]
    assert factors.asked_time_share(np.array([0.0, 1e-6, math.inf]), 0).tolist() == [1.0, 0.0, 0.0]
