"""Saved profiles: kept, listed, used, refused; and presets that score through the store as they do outside it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide, Profile, relevance
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput, InvalidProfile, NotFound

MINE: dict[str, Any] = {
    "name": "mine",
    "law": "sum",
    "factors": [
        {"factor": "similarity", "weight": 1},
        {"factor": "importance", "weight": 3},
    ],
    "limit": 3,
}


def test_a_profile_is_kept_listed_and_used(memory: Ebbtide) -> None:
    assert memory.profiles.save(MINE) == ()
    kept = memory.profiles.get("mine")
    assert kept == Profile.model_validate(MINE)
    assert [profile.name for profile in memory.profiles.list()] == [
        "agentium",
        "eryx",
        "ibex",
        "ontheia",
        "tide",
        "decision",
        "comparative",
        "relationship",
        "temporal",
        "exploratory",
        "factual",
        "mine",
    ]
    memory.remember_many([{"content": f"ferry {number}", "importance": number / 10} for number in range(6)])
    hits = memory.recall("ferry", profile="mine")
    assert [hit.memory.importance for hit in hits] == [0.5, 0.4, 0.3]
    for hit in hits:
        assert hit.similarity is not None
        assert hit.relevance == pytest.approx((hit.similarity + 3 * hit.memory.importance) / 4)
    given = memory.recall("ferry", profile=MINE)
    assert (
        [hit.id for hit in given]
        == [hit.id for hit in memory.recall("ferry", profile=kept)]
        == [hit.id for hit in hits]
    )


def test_saving_again_replaces(memory: Ebbtide, clock: FixedClock) -> None:
    memory.profiles.save(MINE)
    memory.profiles.save({**MINE, "limit": 5})
    assert memory.profiles.get("mine").limit == 5
    assert [profile.name for profile in memory.profiles.list()].count("mine") == 1


def test_a_warning_comes_back(memory: Ebbtide) -> None:
    warnings = memory.profiles.save({**MINE, "gates": {"relative_cutoff": 0.9}, "priorities": {"vector.a": 1.09}})
    assert len(warnings) == 2
    assert any("0.09" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("name", {"name": "tide"}),
        ("name", {"name": ""}),
        ("name", {"name": "a\0b"}),
        ("name", {"name": "x" * 65}),
        ("law", {"law": "magic"}),
        ("factors", {"factors": [{"factor": "similarity", "weight": 0}]}),
        ("factors.0.weight", {"factors": [{"factor": "similarity", "weight": -1}]}),
        ("limit", {"limit": 0}),
        ("kinds", {"kinds": []}),
        ("kinds.0", {"kinds": ["song"]}),
        ("decompose", {"decompose": 1}),
        ("time_filter", {"time_filter": "yes"}),
        ("time_filter", {"time_filter": True}),
        ("rerank", {"rerank": None}),
        ("colour", {"colour": "red"}),
    ],
)
def test_a_profile_that_cannot_be_computed_is_refused(memory: Ebbtide, field: str, change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.profiles.save({**MINE, **change})
    assert (caught.value.field or "").startswith(field)
    assert caught.value.remedy
    assert len(memory.profiles.list()) == 11


def test_a_profile_with_an_intents_name_takes_the_place_of_its_strategy(memory: Ebbtide) -> None:
    assert memory.profiles.get("decision").limit == 5
    memory.profiles.save({**MINE, "name": "decision"})
    assert memory.profiles.get("decision") == Profile.model_validate({**MINE, "name": "decision"})
    names = [profile.name for profile in memory.profiles.list()]
    assert names.count("decision") == 1
    assert names.index("decision") < names.index("factual")
    assert memory.scoped(tenant="another").profiles.get("decision").limit == 5


def test_a_profiles_kinds_are_searched_where_the_caller_names_none(memory: Ebbtide) -> None:
    kept = {kind: memory.remember(f"the ferry is a {kind}", kind=kind).memory for kind in ("fact", "note", "chunk")}
    mine = {**MINE, "kinds": ["fact", "note"]}
    assert {hit.kind for hit in memory.recall("ferry", profile=mine)} == {"fact", "note"}
    assert {hit.kind for hit in memory.recall("ferry", profile=mine, kinds="chunk")} == {"chunk"}
    assert kept["chunk"] is not None
    explained = memory.explain("ferry", kept["chunk"].id, profile=mine)
    assert (explained.rule, "kinds" in explained.reason) == ("filter", True)


def test_an_unknown_profile_is_refused(memory: Ebbtide) -> None:
    with pytest.raises(NotFound) as caught:
        memory.profiles.get("unheard-of")
    assert caught.value.field == "profile"
    with pytest.raises(InvalidInput) as refused:
        memory.recall("x", profile="unheard-of")
    assert "tide" in (refused.value.remedy or "")
    with pytest.raises(InvalidProfile):
        memory.recall("x", profile={"name": "x"})


@pytest.fixture
def varied(memory: Ebbtide, clock: FixedClock, owner: Any) -> Ebbtide:
    """Memories that differ in everything a preset weighs, some time after they were written."""
    labels: list[list[str]] = [[], ["factual"], ["episodic", "procedural"], ["preference"], ["unheard-of"]]
    for number in range(20):
        memory.remember(
            f"ferry {'late ' * (number % 4)}{'Bergen ' * (number % 3)}{number}",
            importance=number / 20,
            confidence=1 - number / 40,
            labels=labels[number % 5],
            valid_from=None if number % 3 else clock.now() - timedelta(days=number),
            observed_at=None if number % 4 else clock.now() - timedelta(days=2 * number),
        )
        clock.advance(timedelta(days=number))
    memory.remember_many([f"ferry {'late ' * (number % 4)}{'Bergen ' * (number % 3)}{number}" for number in (3, 7)])
    rows = owner.execute("SELECT id FROM memory ORDER BY created_at").fetchall()
    for number, (id_,) in enumerate(rows):
        owner.execute(
            """INSERT INTO strength (tenant_id, memory_id, access_count, positive, negative)
               VALUES ('default', %s, %s, %s, %s)""",
            [id_, number, number % 5, number % 3],
        )
    clock.advance(timedelta(days=3))
    return memory


@pytest.mark.parametrize("profile", ["ontheia", "agentium", "ibex", "eryx"])
def test_a_preset_scores_a_hit_as_it_scores_the_item_alone(varied: Ebbtide, clock: FixedClock, profile: str) -> None:
    answer = varied.recall("ferry Bergen", profile=profile, min_score=0, min_similarity=0, trace=True)
    assert len(answer) >= 5
    for hit in answer:
        found = hit.memory
        alone = relevance(
            profile,
            similarity=hit.similarity,
            importance=found.importance,
            labels=found.labels,
            usefulness=found.usefulness,
            confidence=found.confidence,
            access_count=found.access_count,
            created_at=found.created_at,
            updated_at=found.updated_at,
            valid_from=found.valid_from or (found.observed_at if profile == "agentium" else found.created_at),
            last_mentioned_at=found.last_mentioned_at,
            now=clock.now(),
        )
        contributions = dict(hit.contributions)
        if profile == "eryx":
            # What of the query a memory holds is known to a search alone, and may bring the cap into play.
            words, cap = contributions.pop("keywords", 0.0), contributions.pop("cap", 0.0)
            assert 0 <= words <= 0.1 * sum(contributions.values()) + 1e-9
            known = {name: value for name, value in alone.contributions.items() if name in contributions}
            assert contributions == pytest.approx(known, abs=1e-6)
            assert hit.relevance == pytest.approx(sum(contributions.values()) + words + cap)
            continue
        assert hit.relevance == pytest.approx(alone.value, abs=1e-6)
        assert contributions == pytest.approx(alone.contributions, abs=1e-6)
