"""What a profile is measured against: each arm alone, and both fused by rank."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ebbtide.errors import InvalidInput
from ebbtide.rank.fusion import reciprocal_rank_fusion
from ebbtide.rank.parts import FullText, Gates, LexicalNeighbours, Similarity, TideParameters
from ebbtide.rank.profile import MAXIMUM_LIMIT, Profile
from ebbtide.rank.strategies import BUILT_IN
from ebbtide.read.report import hits_of
from ebbtide.recall import search
from ebbtide.text import shown

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.engine import Engine
    from ebbtide.types import Caller, Hit

__all__ = ["FULL_TEXT", "VECTOR", "Ranker", "ranker_of"]

Ranker = Callable[["Engine", "Caller", str, int, "datetime | None"], Awaitable[Sequence["Hit"]]]
"""The hits of an engine for a caller's question, at most so many, best first."""

VECTOR = Profile(
    name="vector", law="sum", factors=(Similarity(weight=1.0),), full_text=FullText(search="off"), limit=MAXIMUM_LIMIT
)

FULL_TEXT = Profile(
    name="fulltext",
    law="listwise",
    # A row that holds none of the words came from the vector search, and would not be here without it.
    gates=Gates(min_score=1e-9),
    limit=MAXIMUM_LIMIT,
    tide=TideParameters(
        dense_weight=0.0,
        context_weight=0.0,
        strip_names=False,
        neighbours=LexicalNeighbours(previous=0.0, next=0.0, two_before=0.0, answered_question=0.0),
        named_speaker_boost=1.0,
        question_penalty=1.0,
        asked_time_boost=1.0,
        latest_boost=0.0,
        namespace_bonuses=False,
        lend_superseded_score=False,
        superseded_penalty=1.0,
    ),
)

FUSED = "rrf"


def ranker_of(profile: str | Profile) -> tuple[str, Ranker]:
    """A name for the report, and what ranks: a profile, the name of a built-in one, or `vector`, `fulltext` or `rrf`.

    Raises:
        InvalidInput: there is no ranking of that name.
    """
    if profile == FUSED:
        return FUSED, fused
    known = {**BUILT_IN, VECTOR.name: VECTOR, FULL_TEXT.name: FULL_TEXT}
    chosen = profile if isinstance(profile, Profile) else known.get(profile)
    if chosen is None:
        raise InvalidInput(
            f"There is no profile {shown(profile)}.", field="profile", remedy=f"Use {', '.join([*known, FUSED])}."
        )

    async def rank(
        engine: Engine, caller: Caller, question: str, limit: int, asked_at: datetime | None
    ) -> Sequence[Hit]:
        return hits_of(await search(engine, caller, question, profile=chosen, limit=limit, asked_at=asked_at))

    return chosen.name if isinstance(chosen, Profile) else chosen, rank


async def fused(engine: Engine, caller: Caller, question: str, limit: int, asked_at: datetime | None) -> Sequence[Hit]:
    """Reciprocal rank fusion of both arms, k = 60; each is a search of its own, and both count in the latency."""
    searches = [await search(engine, caller, question, profile=arm, asked_at=asked_at) for arm in (VECTOR, FULL_TEXT)]
    rankings = [hits_of(searched) for searched in searches]
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    order = reciprocal_rank_fusion([[hit.id for hit in ranking] for ranking in rankings])
    return [hits[id_] for id_, _ in order[:limit]]
