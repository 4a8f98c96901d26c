"""The strategies: the numbers of Eryx, our own in the same form, and nothing but what a tenant could write as JSON."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from ebbtide import relevance
from ebbtide.rank.parts import AskedTime, Gates, Linked
from ebbtide.rank.presets import ERYX, PRESETS
from ebbtide.rank.profile import Profile
from ebbtide.rank.strategies import ANYWHERE, BUILT_IN, FACTS, STRATEGIES
from ebbtide.types.recall import INTENTS

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WRITTEN = {*FACTS, "chunk", "note"}


def test_there_is_one_strategy_an_intent_in_the_order_of_ties() -> None:
    assert INTENTS == ("decision", "comparative", "relationship", "temporal", "exploratory", "factual")
    assert tuple(STRATEGIES) == INTENTS
    assert list(BUILT_IN) == [*PRESETS, *INTENTS]


def test_what_nothing_else_is_known_of_is_sought_in_episodes_too() -> None:
    assert set(ANYWHERE) == {*FACTS, "chunk", "note", "episode"}


def test_facts_are_what_states_something() -> None:
    assert set(FACTS) == {
        "fact", "preference", "howto", "correction", "learning", "message", "entity", "relation",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("intent", "kinds", "threshold", "limit", "quality", "time", "rerank", "recency"),
    [
        ("decision", set(FACTS), 0.2, 5, True, "off", True, 0.3),
        ("exploratory", WRITTEN, 0.1, 20, False, "off", True, 0.3),
        ("temporal", WRITTEN, 0.15, 10, False, "always", False, 0.8),
        ("comparative", set(ANYWHERE), 0.15, 20, False, "off", True, 0.3),
        ("relationship", set(ANYWHERE), 0.15, 10, False, "off", True, 0.3),
        ("factual", set(ANYWHERE), 0.2, 10, False, "off", True, 0.3),
    ],
)
def test_what_a_strategy_searches_and_how_it_ranks(
    intent: str, kinds: set[str], threshold: float, limit: int, quality: bool, time: str, rerank: bool, recency: float
) -> None:
    strategy = STRATEGIES[intent]
    assert strategy.name == intent
    assert set(strategy.kinds or ()) == kinds
    assert strategy.gates == Gates(min_similarity=threshold)
    assert strategy.limit == limit
    assert (strategy.quality_weighting, strategy.time_filter, strategy.rerank) == (quality, time, rerank)
    walks = intent == "relationship"
    assert strategy.graph == ("on" if walks else "off")
    assert [factor.weight for factor in strategy.factors] == [recency, 0.1, 0.1, 0.3, *([0.1] if walks else [])]
    assert strategy.decompose


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_a_strategy_has_the_form_of_eryx_and_a_boost_of_the_asked_time(strategy: Profile) -> None:
    same = ("law", "base", "cap", "full_text", "weights", "decompose")
    assert strategy.model_dump(include=set(same)) == ERYX.model_dump(include=set(same))
    *factors, asked_time = strategy.factors[:4]
    assert asked_time == AskedTime(weight=0.3)
    assert strategy.factors[4:] == ((Linked(weight=0.1),) if strategy.name == "relationship" else ())
    assert [type(factor) for factor in factors] == [type(factor) for factor in ERYX.factors]
    if strategy.name != "temporal":
        assert factors == list(ERYX.factors)


def test_no_preset_but_eryx_decomposes_and_none_but_tide_filters_by_time() -> None:
    assert [name for name, profile in PRESETS.items() if profile.decompose] == ["eryx"]
    assert {name: profile.time_filter for name, profile in PRESETS.items() if profile.time_filter != "off"} == {
        "tide": "alone"
    }
    assert not any(profile.kinds or profile.rerank for profile in PRESETS.values())


def test_a_strategy_scores_a_single_item() -> None:
    alone = relevance(
        "decision", similarity=0.5, confidence=0.6, created_at=NOW, updated_at=NOW - timedelta(days=90), now=NOW
    )
    freshness = 1 + 0.1 * math.exp(-1)
    assert alone.value == pytest.approx(0.5 * 1.3 * freshness * 0.6)
