"""The public pure function: the same numbers as a recall, and errors that name what is wrong or missing."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput, InvalidProfile, MissingInput
from ebbtide.rank.parts import HalfLifeRecency, Importance, Similarity
from ebbtide.rank.presets import AGENTIUM, ERYX, IBEX
from ebbtide.rank.profile import Profile
from ebbtide.rank.relevance import Relevance, relevance

NOW = datetime(2026, 4, 2, 12, tzinfo=UTC)
PRESET_NAMES = ["ontheia", "agentium", "ibex", "eryx"]
EVERYTHING: dict[str, Any] = {
    "similarity": 0.8,
    "importance": 0.6,
    "labels": ["factual"],
    "usefulness": 0.5,
    "confidence": 0.7,
    "access_count": 3,
    "created_at": NOW - timedelta(days=30),
    "updated_at": NOW - timedelta(days=7),
    "valid_from": NOW - timedelta(days=90),
    "last_mentioned_at": NOW - timedelta(days=1),
    "bonuses": [0.1],
    "now": NOW,
}


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    return EVERYTHING | changes


def test_agentium_worked_example() -> None:
    scored = relevance("agentium", similarity=0.85, valid_from=NOW - timedelta(days=18.5), importance=0.7, now=NOW)
    assert round(scored.value, 2) == 0.67
    assert scored.value == pytest.approx(0.34 + 0.3 * 0.5 ** (18.5 / 14) + 0.21, abs=1e-12)
    assert {name: round(share, 2) for name, share in scored.contributions.items()} == {
        "semantic": 0.34,
        "recency": 0.12,
        "importance": 0.21,
    }
    assert scored.similarity == 0.85


def test_ontheia_bonuses_are_one_number_or_several() -> None:
    base: dict[str, Any] = {"similarity": 0.5, "updated_at": NOW, "now": NOW}
    assert relevance("ontheia", **base).value == pytest.approx(0.525)
    assert relevance("ontheia", **base, bonuses=0.1).value == pytest.approx(0.575)
    assert relevance("ontheia", **base, bonuses=[0.04, 0.06]).value == pytest.approx(0.575)
    assert relevance("ontheia", **base, bonuses=[]).value == pytest.approx(0.525)


def test_ibex_labels_are_one_or_several_or_none() -> None:
    inputs: dict[str, Any] = EVERYTHING | {"valid_from": NOW - timedelta(days=45)}

    def recency(labels: Any) -> float:
        inputs["labels"] = labels
        return relevance("ibex", **inputs).contributions["recency"]

    assert recency("preference") == pytest.approx(0.125)
    assert recency(["factual", "preference"]) == pytest.approx(0.125)
    assert recency(None) == recency([]) == recency(("unheard-of",)) == pytest.approx(0.25 * 0.5 ** (45 / 14))


def test_eryx_caps_at_one() -> None:
    scored = relevance("eryx", similarity=0.9, created_at=NOW, updated_at=NOW, now=NOW)
    assert scored.value == 1.0
    assert math.fsum(scored.contributions.values()) == pytest.approx(1.0)


def test_a_profile_of_ones_own() -> None:
    profile = Profile(name="mine", law="sum", factors=(Similarity(weight=3), Importance(weight=1)))
    assert relevance(profile, similarity=0.8, importance=0.4).value == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("profile", "needed"),
    [
        ("ontheia", ["similarity", "updated_at", "now"]),
        ("agentium", ["similarity", "importance", "now"]),
        ("ibex", ["similarity", "valid_from", "usefulness", "confidence", "access_count", "now"]),
        ("eryx", ["similarity", "created_at", "updated_at", "now"]),
    ],
)
def test_what_is_needed_and_lacking_is_named_and_the_rest_may_be_left_out(profile: str, needed: list[str]) -> None:
    dates = ["created_at"] if profile == "agentium" else []
    enough = {field: EVERYTHING[field] for field in [*needed, *dates]}
    assert relevance(profile, **enough).value > 0
    for field in needed:
        with pytest.raises(MissingInput, match=f"`{field}`") as refusal:
            relevance(profile, **{other: value for other, value in enough.items() if other != field})
        assert refusal.value.field == field


def test_agentium_needs_one_of_its_dates() -> None:
    with pytest.raises(MissingInput, match="`last_mentioned_at` or `valid_from` or `created_at`"):
        relevance("agentium", similarity=0.5, importance=0.5, now=NOW)
    dates = {"last_mentioned_at": 14, "valid_from": 28, "created_at": 56}
    given_dates: dict[str, Any] = {field: NOW - timedelta(days=days) for field, days in dates.items()}
    for expected in (0.15, 0.075, 0.01875):
        scored = relevance("agentium", similarity=0.5, importance=0.5, now=NOW, **given_dates)
        assert scored.contributions["recency"] == pytest.approx(expected)
        del given_dates[next(iter(given_dates))]


def test_quality_weighting_needs_confidence() -> None:
    weighted = ERYX.model_copy(update={"quality_weighting": True})
    inputs: dict[str, Any] = {"similarity": 0.9, "created_at": NOW, "updated_at": NOW, "now": NOW}
    assert relevance(weighted, **inputs, confidence=0.7652).value == pytest.approx(0.7652)
    with pytest.raises(MissingInput) as refusal:
        relevance(weighted, **inputs)
    assert refusal.value.field == "confidence"


def test_a_factor_of_no_weight_needs_nothing() -> None:
    profile = Profile(name="plain", law="sum", factors=(Similarity(weight=1), HalfLifeRecency(weight=0)))
    assert relevance(profile, similarity=0.3).value == 0.3


@pytest.mark.parametrize("field", ["similarity", "importance", "usefulness", "confidence", "access_count", "bonuses"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "0.5", True])
def test_what_is_no_number_is_refused_even_where_unused(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refusal:
        relevance("agentium", **changed({field: value}))
    assert refusal.value.field == field
    assert not isinstance(refusal.value, MissingInput)


@pytest.mark.parametrize("field", ["similarity", "importance", "usefulness", "confidence"])
@pytest.mark.parametrize("value", [-0.01, 1.01, 50])
def test_shares_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1") as refusal:
        relevance("ibex", **changed({field: value}))
    assert refusal.value.field == field


@pytest.mark.parametrize("value", [-1, 2.5])
def test_an_access_count_is_a_count(value: float) -> None:
    with pytest.raises(InvalidInput) as refusal:
        relevance("ibex", **changed({"access_count": value}))
    assert refusal.value.field == "access_count"


@pytest.mark.parametrize("labels", [3, ["factual", 3], [None]])
def test_labels_are_text(labels: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        relevance("ibex", **changed({"labels": labels}))
    assert refusal.value.field == "labels"


@pytest.mark.parametrize("field", ["created_at", "updated_at", "valid_from", "last_mentioned_at", "now"])
def test_dates_need_a_time_zone(field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        relevance("ontheia", **changed({field: NOW.replace(tzinfo=None)}))
    assert refusal.value.field == field
    assert "time zone" in str(refusal.value.remedy)
    for value in (date(2026, 4, 2), "2026-04-02T12:00:00Z", 0):
        with pytest.raises(InvalidInput) as refusal:
            relevance("ontheia", **changed({field: value}))
        assert refusal.value.field == field


def test_a_time_zone_changes_the_spelling_and_not_the_moment() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    there, here = changed({"updated_at": elsewhere}), changed({"updated_at": NOW})
    assert relevance("ontheia", **there) == relevance("ontheia", **here)


@pytest.mark.parametrize("profile", PRESET_NAMES)
def test_a_date_in_the_future_counts_as_now(profile: str) -> None:
    dates = ("created_at", "updated_at", "valid_from", "last_mentioned_at")
    future = relevance(profile, **changed(dict.fromkeys(dates, NOW + timedelta(days=400))))
    assert future == relevance(profile, **changed(dict.fromkeys(dates, NOW)))


def test_dates_are_not_checked_against_each_other() -> None:
    assert relevance("eryx", **changed({"created_at": NOW, "updated_at": NOW - timedelta(days=900)})).value > 0


def test_tide_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidInput, match="depends on the whole candidate list") as refusal:
        relevance("tide", **EVERYTHING)
    assert refusal.value.field == "profile"


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="ontheia") as refusal:
        relevance("ontheja", **EVERYTHING)
    assert refusal.value.field == "profile"
    assert not isinstance(refusal.value, InvalidProfile)


def test_rounding_of_a_cosine_is_forgiven() -> None:
    scored = relevance("agentium", **changed({"similarity": 1.0000000000000002}))
    assert scored.similarity == 1.0


def test_numbers_of_numpy_are_numbers() -> None:
    by_numpy: dict[str, Any] = EVERYTHING | {"similarity": np.float64(0.8), "access_count": np.int64(3)}
    assert relevance("ibex", **by_numpy) == relevance("ibex", **EVERYTHING)


@given(
    st.sampled_from(["ontheia", "agentium", "ibex", "eryx"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 100),
    st.timedeltas(timedelta(0), timedelta(days=4000)),
)
def test_contributions_sum_to_the_value(
    profile: str, similarity: float, share: float, count: int, age: timedelta
) -> None:
    scored = relevance(
        profile,
        similarity=similarity,
        importance=share,
        usefulness=share,
        confidence=share,
        access_count=count,
        created_at=NOW - age,
        updated_at=NOW - age,
        valid_from=NOW - age,
        now=NOW,
    )
    assert math.fsum(scored.contributions.values()) == pytest.approx(scored.value, abs=1e-9)
    assert scored.similarity == similarity
    assert Relevance.model_validate_json(scored.model_dump_json()) == scored


@pytest.mark.parametrize("profile", [AGENTIUM, IBEX, ERYX], ids=lambda profile: profile.name)
def test_a_preset_by_name_and_by_value_is_the_same(profile: Profile) -> None:
    assert relevance(profile, **EVERYTHING) == relevance(profile.name, **EVERYTHING)


def test_effective_confidence_is_a_factor_of_its_own() -> None:
    profile = {
        "name": "held",
        "law": "sum",
        "factors": [
            {"factor": "confidence", "weight": 0.5},
            {"factor": "effective_confidence", "weight": 0.5},
        ],
    }
    both = relevance(profile, confidence=0.8, effective_confidence=0.7652)
    assert both.contributions == pytest.approx({"confidence": 0.4, "effective_confidence": 0.3826})
    assert relevance(profile, confidence=0.8).value == pytest.approx(0.8)
    only = {**profile, "factors": profile["factors"][1:]}
    assert relevance(only, effective_confidence=0.7652).value == pytest.approx(0.7652)
    with pytest.raises(MissingInput) as refusal:
        relevance(only)
    assert refusal.value.field == "confidence"
    with pytest.raises(InvalidInput) as refusal:
        relevance(only, effective_confidence=1.5)
    assert refusal.value.field == "effective_confidence"
