"""The forgetting curve: every printed number, the corrected ones, bounds, and that days and accesses add up."""

from __future__ import annotations

from dataclasses import astuple
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ebbtide
from ebbtide.errors import InvalidInput
from ebbtide.rank.curve import (
    FRESH,
    CurveParameters,
    course,
    decayed,
    effective_confidence,
    recall_probabilities,
    recall_probability,
    reinforced,
)

PARAMETERS = st.builds(
    CurveParameters, half_life=st.floats(7, 365), difficulty=st.floats(1, 4), stability=st.floats(0.5, 2)
)
DAYS = st.floats(0, 10_000)


def test_a_fresh_memory_after_ten_days_is_held_with_09565_and_not_with_the_printed_0893() -> None:
    assert ebbtide.recall_probability(10) == pytest.approx(0.9565, abs=5e-5)


def test_a_confidence_of_08_is_then_worth_07652_and_not_the_printed_0714() -> None:
    assert effective_confidence(0.8, 10) == pytest.approx(0.7652, abs=5e-5)


def test_the_start_is_a_half_life_of_30_days_a_difficulty_of_25_and_a_stability_of_1() -> None:
    assert CurveParameters(30, 2.5, 1) == FRESH
    assert recall_probability(10) == recall_probability(10, half_life=30, difficulty=2.5, stability=1)


def test_after_one_half_life_half_of_the_stability_is_left() -> None:
    assert recall_probability(30) == 0.5
    for difficulty in (1.0, 2.5, 4.0):
        assert recall_probability(90, half_life=90, difficulty=difficulty, stability=0.5) == 0.25


def test_a_stability_of_a_half_starts_at_a_half_and_one_of_two_at_the_whole_for_longer() -> None:
    assert recall_probability(0, stability=0.5) == 0.5
    assert recall_probability(0, stability=1.0) == 1.0
    assert recall_probability(0, stability=2.0) == recall_probability(30, stability=2.0) == 1.0


def test_a_half_life_of_7_days_drops_quickly_and_one_of_90_slowly() -> None:
    week, month, quarter = (recall_probability(14, half_life=days) for days in (7, 30, 90))
    assert week < 0.02 < 0.88 < month < 0.99 < quarter


def test_a_higher_difficulty_is_flatter_before_the_half_life_and_steeper_behind_it() -> None:
    gentle, steep = ({"difficulty": difficulty} for difficulty in (1.0, 4.0))
    assert recall_probability(15, **gentle) < recall_probability(15, **steep)
    assert recall_probability(60, **gentle) > recall_probability(60, **steep)


def test_an_access_makes_the_half_life_half_as_long_again_and_moves_the_others_by_a_tenth() -> None:
    assert astuple(reinforced(FRESH, 1)) == pytest.approx((45.0, 2.4, 1.1))


def test_reinforcement_ends_at_365_days_a_difficulty_of_1_and_a_stability_of_2() -> None:
    assert reinforced(FRESH, 100) == CurveParameters(365.0, 1.0, 2.0)
    assert reinforced(FRESH, 2**31 - 1) == CurveParameters(365.0, 1.0, 2.0)
    assert reinforced(FRESH, 7).half_life == 365.0 > reinforced(FRESH, 6).half_life


def test_thirty_days_leave_086_of_everything() -> None:
    later = decayed(FRESH, 30)
    assert later.stability == pytest.approx(0.86, abs=0.005)
    assert later.difficulty / 2.5 == pytest.approx(0.86, abs=0.005)
    assert later.half_life / 30 == pytest.approx(0.86, abs=0.005)
    assert decayed(FRESH, 1) == CurveParameters(29.85, 2.4875, 0.995)


def test_decay_ends_at_7_days_a_difficulty_of_1_and_a_stability_of_a_half() -> None:
    assert decayed(FRESH, 2_000) == decayed(FRESH, 1e9) == CurveParameters(7.0, 1.0, 0.5)


def test_a_part_of_a_day_takes_nothing() -> None:
    assert decayed(FRESH, 0.999) == FRESH
    assert decayed(FRESH, 1.999) == decayed(FRESH, 1)


def test_a_difficulty_is_never_above_4() -> None:
    assert decayed(CurveParameters(difficulty=9.0), 1).difficulty == 4.0


@given(DAYS, PARAMETERS)
def test_it_is_a_probability(days: float, parameters: CurveParameters) -> None:
    assert 0.0 <= probability(days, parameters) <= 1.0


@given(DAYS, DAYS, PARAMETERS)
def test_it_never_rises_with_the_days(one: float, other: float, parameters: CurveParameters) -> None:
    assert probability(max(one, other), parameters) <= probability(min(one, other), parameters)


@given(DAYS, PARAMETERS, st.floats(0, 1))
def test_effective_confidence_never_exceeds_the_confidence(
    days: float, parameters: CurveParameters, confidence: float
) -> None:
    assert 0.0 <= effective_confidence(confidence, days, parameters) <= confidence


@given(PARAMETERS, st.integers(0, 60))
def test_n_accesses_at_once_are_n_times_one(parameters: CurveParameters, accesses: int) -> None:
    one_by_one = reduce(lambda held, _: reinforced(held, 1), range(accesses), parameters)
    assert alike(reinforced(parameters, accesses), one_by_one)


@given(PARAMETERS, st.integers(0, 800))
def test_n_days_at_once_are_n_times_one(parameters: CurveParameters, days: int) -> None:
    assert alike(decayed(parameters, days), reduce(lambda held, _: decayed(held, 1), range(days), parameters))


@given(PARAMETERS, st.integers(0, 5_000), st.integers(0, 5_000))
def test_days_add_up(parameters: CurveParameters, first: int, second: int) -> None:
    assert alike(decayed(decayed(parameters, first), second), decayed(parameters, first + second))


@given(PARAMETERS, st.integers(0, 5_000), st.integers(0, 100))
def test_every_parameter_stays_in_its_bounds(parameters: CurveParameters, days: int, accesses: int) -> None:
    for held in (decayed(parameters, days), reinforced(parameters, accesses)):
        assert 7 <= held.half_life <= 365
        assert 1 <= held.difficulty <= 4
        assert 0.5 <= held.stability <= 2


@given(st.lists(st.tuples(DAYS, PARAMETERS), min_size=1, max_size=20))
def test_an_array_says_of_each_what_the_scalar_says(rows: list[tuple[float, CurveParameters]]) -> None:
    columns = [[getattr(held, name) for _, held in rows] for name in ("half_life", "difficulty", "stability")]
    together = recall_probabilities(np.array([days for days, _ in rows]), *map(np.array, columns))
    assert together.tolist() == pytest.approx([probability(days, held) for days, held in rows], rel=1e-12)


def test_looking_back_undoes_the_days() -> None:
    half_lives, difficulties, stabilities = course(decayed(FRESH, 20), np.array([-20.0, 0.0, 10.0]))
    assert half_lives.tolist() == pytest.approx([30, 30 * 0.995**20, 30 * 0.995**30])
    assert difficulties[0] == pytest.approx(2.5)
    assert stabilities[0] == pytest.approx(1.0)


def test_what_was_accessed_in_the_future_counts_as_accessed_now() -> None:
    assert recall_probabilities(np.array([-5.0]), 30.0, 2.5, 1.0).tolist() == [1.0]


@pytest.mark.parametrize("days", [Fraction(10), np.float64(10), np.int64(10)])
def test_any_real_number_is_one(days: Any) -> None:
    assert recall_probability(days) == recall_probability(10)
    assert type(recall_probability(days)) is float


@pytest.mark.parametrize(
    "extreme",
    [
        {"days": 1e308, "half_life": 5e-324, "difficulty": 1e308},
        {"days": 0, "half_life": 1e-300, "difficulty": 1e300, "stability": 1e308},
        {"days": 5e-324, "half_life": 1e308, "difficulty": 5e-324},
    ],
)
def test_no_number_is_too_extreme(extreme: dict[str, float]) -> None:
    assert 0.0 <= recall_probability(**extreme) <= 1.0


BAD = [None, "10", b"10", True, float("nan"), float("inf"), -1, 10**400, [10], object(), "\udc00", 1 + 2j]


@pytest.mark.parametrize("value", BAD, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("field", ["days", "half_life", "difficulty", "stability"])
def test_what_is_no_number_in_range_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        recall_probability(**{"days": 10, field: value})
    assert refusal.value.field == field
    assert refusal.value.remedy


@pytest.mark.parametrize("field", ["half_life", "difficulty"])
def test_a_curve_without_a_half_life_or_difficulty_is_refused(field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        recall_probability(10, **{field: 0})
    assert refusal.value.field == field


@pytest.mark.parametrize("value", [*BAD, 1.5])
def test_what_is_no_count_or_confidence_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reinforced(FRESH, value)
    assert refusal.value.field == "accesses"
    with pytest.raises(InvalidInput) as refusal:
        effective_confidence(value, 10)
    assert refusal.value.field == "confidence"


def probability(days: float, held: CurveParameters) -> float:
    return recall_probability(days, half_life=held.half_life, difficulty=held.difficulty, stability=held.stability)


def alike(one: CurveParameters, other: CurveParameters) -> bool:
    return astuple(one) == pytest.approx(astuple(other), rel=1e-9)
