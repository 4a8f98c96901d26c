"""The presets: four published designs reproduced to the last digit, and `tide`, the default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ebbtide.rank.parts import (
    AccessFrequency,
    Confidence,
    EFoldingRecency,
    FullText,
    Gates,
    HalfLifeRecency,
    Importance,
    KeywordShare,
    LabelRecency,
    NamespaceBonus,
    RecencyShare,
    Similarity,
    TideParameters,
    Usefulness,
)
from ebbtide.rank.profile import Profile

__all__ = ["AGENTIUM", "DEFAULT_PROFILE", "ERYX", "IBEX", "ONTHEIA", "PRESETS", "TIDE"]

ONTHEIA = Profile(
    name="ontheia",
    law="boost",
    base="similarity",
    factors=(NamespaceBonus(weight=1.0), RecencyShare(weight=1.0, decay=0.05, dates=("updated_at",))),
    gates=Gates(min_score=0.4, relative_cutoff=0.7),
    full_text=FullText(search="fallback"),
    limit=5,
)

AGENTIUM = Profile(
    name="agentium",
    law="sum",
    factors=(Similarity(weight=0.4), HalfLifeRecency(weight=0.3, half_life_days=14.0), Importance(weight=0.3)),
    gates=Gates(min_score=0.1),
    full_text=FullText(search="fallback"),
    limit=20,
)

IBEX = Profile(
    name="ibex",
    law="sum",
    factors=(
        Similarity(weight=0.40, name="relevance"),
        LabelRecency(
            weight=0.25,
            half_lives={
                "factual": 180.0,
                "procedural": 120.0,
                "preference": 45.0,
                "behavioral": 30.0,
                "episodic": 14.0,
            },
            default_days=14.0,
            dates=("valid_from",),
        ),
        Usefulness(weight=0.20),
        Confidence(weight=0.10),
        AccessFrequency(weight=0.05, saturation=10.0),
    ),
    weights="exact",
    gates=Gates(min_similarity=0.70, relevance_floor=0.15),
    full_text=FullText(search="fallback", relevance=0.5, replaces_similarity=True, reports_rank=True),
    drop_personal_data=True,
    limit=10,
    max_limit=50,
)

ERYX = Profile(
    name="eryx",
    law="compound",
    base="fused",
    factors=(
        EFoldingRecency(weight=0.3, days=30.0, dates=("created_at",)),
        EFoldingRecency(weight=0.1, days=90.0, dates=("updated_at",), name="freshness"),
        KeywordShare(weight=0.1),
    ),
    cap=1.0,
    gates=Gates(min_similarity=0.7),
    full_text=FullText(search="fallback"),
    limit=10,
    decompose=True,
)

TIDE = Profile(name="tide", law="listwise", tide=TideParameters(), limit=10, time_filter="alone")

DEFAULT_PROFILE = TIDE.name

PRESETS: Mapping[str, Profile] = MappingProxyType(
    {profile.name: profile for profile in (AGENTIUM, ERYX, IBEX, ONTHEIA, TIDE)}
)
