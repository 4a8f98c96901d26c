"""The strategies: for each intent of a query the profile that answers it, in the form of `eryx`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ebbtide.rank.parts import AskedTime, EFoldingRecency, FullText, Gates, KeywordShare, Linked
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.profile import Profile
from ebbtide.types.memory import Kind

__all__ = ["ANYWHERE", "BUILT_IN", "FACTS", "STRATEGIES"]

FACTS: tuple[Kind, ...] = (
    "fact", "preference", "howto", "correction", "learning", "message", "entity", "relation",
)  # fmt: skip
"""What states something; in a store of plain conversations the turns do."""

# A question of which nothing else is known may be answered anywhere: with facts alone, half of those whose answer
# stood in a note or an episode went without.
ANYWHERE: tuple[Kind, ...] = (*FACTS, "chunk", "note", "episode")


def _strategy(
    name: str,
    kinds: tuple[Kind, ...],
    *,
    min_similarity: float,
    limit: int,
    recency: float = 0.3,
    quality_weighting: bool = False,
    time_filter: Literal["off", "always"] = "off",
    rerank: bool = True,
    walks: bool = False,
) -> Profile:
    return Profile(
        name=name,
        law="compound",
        base="fused",
        factors=(
            EFoldingRecency(weight=recency, days=30.0, dates=("created_at",)),
            EFoldingRecency(weight=0.1, days=90.0, dates=("updated_at",), name="freshness"),
            KeywordShare(weight=0.1),
            AskedTime(weight=0.3),
            *((Linked(weight=0.1),) if walks else ()),
        ),
        cap=1.0,
        quality_weighting=quality_weighting,
        gates=Gates(min_similarity=min_similarity),
        full_text=FullText(search="fallback"),
        limit=limit,
        kinds=kinds,
        decompose=True,
        time_filter=time_filter,
        rerank=rerank,
        graph="on" if walks else "off",
    )


# Source: Eryx 3.3 for decision, temporal and exploratory. It only describes the other three, so their numbers are ours:
# two things asked about need twice the room of one, and what is related to something is worded less like the query.
# The boost of the asked time is ours too; `eryx` itself has none.
STRATEGIES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            _strategy("decision", FACTS, min_similarity=0.2, limit=5, quality_weighting=True),
            _strategy("comparative", ANYWHERE, min_similarity=0.15, limit=20),
            _strategy("relationship", ANYWHERE, min_similarity=0.15, limit=10, walks=True),
            _strategy(
                "temporal", (*FACTS, "chunk", "note"),
                min_similarity=0.15, limit=10, recency=0.8, time_filter="always", rerank=False,
            ),
            _strategy("exploratory", (*FACTS, "chunk", "note"), min_similarity=0.1, limit=20),
            _strategy("factual", ANYWHERE, min_similarity=0.2, limit=10),
        )
    }
)  # fmt: skip

BUILT_IN: Mapping[str, Profile] = MappingProxyType({**PRESETS, **STRATEGIES})
"""The presets and the strategies, by name."""
