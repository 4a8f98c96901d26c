"""Profiles are data: they survive JSON, refuse what cannot be computed, and say what to do about it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput, InvalidProfile
from ebbtide.rank.parts import Gates, Importance, Similarity
from ebbtide.rank.presets import DEFAULT_PROFILE, IBEX, ONTHEIA, PRESETS, TIDE
from ebbtide.rank.profile import Profile, narrow, parse_profile, review
from ebbtide.rank.strategies import BUILT_IN

SUM: dict[str, Any] = {"name": "mine", "law": "sum", "factors": [{"factor": "similarity", "weight": 1}]}


def refused(changes: dict[str, Any]) -> InvalidProfile:
    with pytest.raises(InvalidProfile) as refusal:
        parse_profile(SUM | changes)
    assert refusal.value.remedy
    return refusal.value


@pytest.mark.parametrize("profile", BUILT_IN.values(), ids=BUILT_IN)
def test_presets_survive_json_exactly(profile: Profile) -> None:
    assert parse_profile(json.loads(profile.model_dump_json())) == profile
    assert Profile.model_validate_json(profile.model_dump_json()) == profile
    assert review(profile) == []


def test_presets_keep_the_limits_and_gates_of_their_designs() -> None:
    assert {name: (profile.limit, profile.max_limit) for name, profile in PRESETS.items()} == {
        "ontheia": (5, 200),
        "agentium": (20, 200),
        "ibex": (10, 50),
        "eryx": (10, 200),
        "tide": (10, 200),
    }
    assert PRESETS["ontheia"].gates == Gates(min_score=0.4, relative_cutoff=0.7)
    assert PRESETS["agentium"].gates == Gates(min_score=0.1)
    assert PRESETS["ibex"].gates == Gates(min_similarity=0.7, relevance_floor=0.15)
    assert PRESETS["eryx"].gates == Gates(min_similarity=0.7)
    assert PRESETS[DEFAULT_PROFILE].gates == Gates()
    assert [name for name, profile in PRESETS.items() if profile.drop_personal_data] == ["ibex"]


def test_ibex_weights_and_half_lives() -> None:
    assert [factor.weight for factor in IBEX.factors] == [0.40, 0.25, 0.20, 0.10, 0.05]
    assert IBEX.model_dump()["factors"][1]["half_lives"] == {
        "factual": 180,
        "procedural": 120,
        "preference": 45,
        "behavioral": 30,
        "episodic": 14,
    }


def test_tide_defaults() -> None:
    assert TIDE.tide is not None
    assert TIDE.tide.model_dump() == {
        "dense_weight": 0.5,
        "context_weight": 1.0,
        "strip_names": True,
        "lexical_weight": 0.5,
        "lexical_cap": 2.0,
        "neighbours": {"previous": 0.5, "next": 0.2, "two_before": 0.2, "answered_question": 0.3},
        "named_speaker_boost": 1.5,
        "question_penalty": 0.85,
        "repeated_question_penalty": 0.2,
        "asked_time_boost": 1.4,
        "asked_time_fade_days": 14.0,
        "latest_boost": 0.1,
        "graph_weight": 0.5,
        "graph_place": 5,
        "namespace_bonuses": True,
        "lend_superseded_score": True,
        "superseded_penalty": 0.5,
        "outdated_penalty": 0.5,
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " padded"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"law": "product"}, "law"),
        ({"surprise": 1}, "surprise"),
        ({"gates": {"min_scores": 0.1}}, "gates.min_scores"),
        ({"gates": {"min_similarity": 1.5}}, "gates.min_similarity"),
        ({"gates": {"min_score": math.nan}}, "gates.min_score"),
        ({"gates": {"min_score": "0.4"}}, "gates.min_score"),
        ({"gates": {"relative_cutoff": True}}, "gates.relative_cutoff"),
        ({"gates": {"relevance_floor": 0.5}}, "gates.relevance_floor"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": 20, "max_limit": 10}, "limit"),
        ({"base": "similarity"}, "base"),
        ({"law": "boost"}, "base"),
        ({"law": "listwise"}, "factors"),
        ({"law": "listwise", "factors": [], "decompose": True}, "decompose"),
        ({"cap": 1.0}, "cap"),
        ({"quality_weighting": True}, "quality_weighting"),
        ({"tide": {}}, "tide"),
        ({"factors": []}, "factors"),
        ({"factors": [{"factor": "charm", "weight": 1}]}, "factors.0"),
        ({"factors": [{"factor": "importance"}]}, "factors.0.weight"),
        ({"factors": [{"factor": "importance", "weight": -0.1}]}, "factors.0.weight"),
        ({"factors": [{"factor": "importance", "weight": math.inf}]}, "factors.0.weight"),
        ({"factors": [{"factor": "importance", "weight": 0}, {"factor": "confidence", "weight": 0}]}, "factors"),
        ({"factors": [{"factor": "importance", "weight": 1}] * 2}, "factors.1.name"),
        ({"factors": [{"factor": "half_life_recency", "weight": 1, "half_life_days": 0}]}, "factors.0.half_life_days"),
        ({"factors": [{"factor": "half_life_recency", "weight": 1, "dates": []}]}, "factors.0.dates"),
        ({"factors": [{"factor": "half_life_recency", "weight": 1, "dates": ["born"]}]}, "factors.0.dates.0"),
        ({"factors": [{"factor": "label_recency", "weight": 1, "half_lives": {"a": 0}}]}, "factors.0.half_lives.a"),
        ({"law": "boost", "base": "similarity"} | {"factors": [SUM["factors"][0] | {"name": "cap"}]}, "factors.0.name"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    assert refused(changes).field == field


def test_a_missing_law_is_named() -> None:
    with pytest.raises(InvalidProfile, match="lacks `law`") as refusal:
        parse_profile({"name": "mine"})
    assert refusal.value.field == "law"


@pytest.mark.parametrize("data", [None, [], "tide", 3])
def test_a_profile_is_a_mapping(data: object) -> None:
    with pytest.raises(InvalidProfile):
        parse_profile(data)


def test_the_constructor_refuses_in_the_same_words() -> None:
    with pytest.raises(InvalidProfile) as refusal:
        Profile(name="mine", law="sum", factors=(Similarity(weight=1), Importance(weight=1)), weights="exact")
    assert refusal.value.field == "factors"
    assert "sum to 2.0" in refusal.value.message


def test_ibex_weights_must_sum_to_one_within_a_billionth() -> None:
    data = IBEX.model_dump()
    data["factors"][0]["weight"] = 0.4 + 9e-10
    assert parse_profile(data)
    data["factors"][0]["weight"] = 0.4 + 2e-9
    with pytest.raises(InvalidProfile, match="must sum to 1"):
        parse_profile(data)


@pytest.mark.parametrize("floor", [0.5, 0.6, 1.0])
def test_ibex_relevance_floor_must_stay_below_what_full_text_counts_for(floor: float) -> None:
    data = IBEX.model_dump()
    data["gates"]["relevance_floor"] = floor
    with pytest.raises(InvalidProfile, match="drops every full-text hit") as refusal:
        parse_profile(data)
    assert refusal.value.field == "gates.relevance_floor"
    data["gates"]["relevance_floor"] = 0.499
    assert parse_profile(data)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=2).filter(lambda weights: sum(weights) > 1e-6))
def test_normalised_weights_sum_to_one_in_the_same_proportions(weights: list[float]) -> None:
    factors = tuple(kind(weight=weight) for kind, weight in zip((Similarity, Importance), weights, strict=False))
    normalised = Profile(name="any", law="sum", factors=factors).normalised_weights
    assert math.fsum(normalised) == pytest.approx(1.0, abs=1e-9)
    assert [weight * math.fsum(weights) for weight in normalised] == pytest.approx(weights, rel=1e-8)


def test_a_risky_cutoff_is_accepted_with_a_warning() -> None:
    (warning,) = review(ONTHEIA.model_copy(update={"gates": Gates(relative_cutoff=0.8)}))
    assert "relative_cutoff" in warning
    assert review(ONTHEIA.model_copy(update={"gates": Gates(relative_cutoff=0.79)})) == []


@pytest.mark.parametrize("nest", [False, True])
def test_leftover_priorities_are_ignored_and_converted_in_a_warning(nest: bool) -> None:
    priorities = {"vector.agent.*.howto": 1.09, "vector.global.*": 1.2, "vector.temp": 0.9}
    leftover = {"ranking": {"priorities": priorities}} if nest else {"priorities": priorities}
    data = SUM | leftover
    assert parse_profile(data) == parse_profile(SUM)
    (warning,) = review(data)
    assert "bonus = priority - 1" in warning
    for conversion in (
        "vector.agent.*.howto: 1.09 becomes a bonus of 0.09",
        "vector.global.*: 1.2 becomes a bonus of 0.2",
        "vector.temp: 0.9 becomes a bonus of -0.1",
    ):
        assert conversion in warning


def test_other_leftovers_under_ranking_are_refused() -> None:
    assert refused({"ranking": {"priorities": {}, "decay": 0.05}}).field == "ranking"


def test_narrowing_changes_what_is_asked_and_nothing_else() -> None:
    assert narrow(IBEX) is IBEX
    narrowed = narrow(IBEX, limit=50, min_similarity=0.5, min_confidence=0.2, min_score=1.5, relative_cutoff=0)
    assert narrowed.limit == 50
    assert narrowed.gates == Gates(min_similarity=0.5, min_confidence=0.2, relevance_floor=0.15, min_score=1.5)
    assert narrowed.factors == IBEX.factors


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": 51}, "limit"),
        ({"limit": 2.5}, "limit"),
        ({"limit": True}, "limit"),
        ({"min_score": -0.1}, "min_score"),
        ({"min_score": math.nan}, "min_score"),
        ({"min_similarity": 1.1}, "min_similarity"),
        ({"min_confidence": -0.1}, "min_confidence"),
        ({"relative_cutoff": math.inf}, "relative_cutoff"),
    ],
)
def test_narrowing_out_of_range_names_the_field(asked: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        narrow(IBEX, **asked)
    assert refusal.value.field == field
    assert refusal.value.remedy
