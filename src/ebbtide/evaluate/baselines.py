"""What a profile is measured against: each arm alone, and both fused by rank."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ebbtide.errors import InvalidInput, ModelUnavailable
from ebbtide.rank.fusion import reciprocal_rank_fusion
from ebbtide.rank.parts import FullText, Gates, LexicalNeighbours, Similarity, TideParameters
from ebbtide.rank.profile import MAXIMUM_LIMIT, Profile
from ebbtide.rank.strategies import BUILT_IN, STRATEGIES
from ebbtide.read.intent import AUTOMATIC, classify
from ebbtide.read.report import hits_of
from ebbtide.read.rerank import NOT_RERANKED
from ebbtide.recall import search
from ebbtide.text import shown

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.recall import Hit

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
        repeated_question_penalty=1.0,
        asked_time_boost=1.0,
        latest_boost=0.0,
        namespace_bonuses=False,
        lend_superseded_score=False,
        superseded_penalty=1.0,
        outdated_penalty=1.0,
    ),
)

FUSED = "rrf"

SWITCH = re.compile(r"([+-])(decompose|time_filter|rerank|graph|routing)")
WORDS = {"time_filter": ("off", "always"), "graph": ("off", "on"), "routing": ("off", "on")}
SWITCHES = re.compile(rf"(?:{SWITCH.pattern})+$")


def ranker_of(profile: str | Profile) -> tuple[str, Ranker]:
    """A name for the report, and what ranks.

    That is a profile, the name of a built-in one, `auto` for the strategy of each question's intent, or one of the
    baselines `vector`, `fulltext` and `rrf`. A name may be followed by what is switched on or off of it, such as
    `eryx-decompose` or `tide+graph`; `+time_filter` is for all queries that name a time. What ranks raises
    `ModelUnavailable` where the reranker fails, since the figures would be those of another ranking, and `InvalidInput`
    where one is switched on and there is none.

    Raises:
        InvalidInput: there is no ranking of that name.
    """
    if profile == FUSED:
        return FUSED, fused
    if isinstance(profile, Profile):
        return profile.name, _ranker(lambda _question: profile)
    known = {**BUILT_IN, VECTOR.name: VECTOR, FULL_TEXT.name: FULL_TEXT}
    switches = SWITCHES.search(profile)
    name, switched = (profile[: switches.start()], _switched(switches[0])) if switches else (profile, {})
    if name == AUTOMATIC:
        return profile, _ranker(lambda question: _changed(STRATEGIES[classify(question).intent], switched), switched)
    if name not in known:
        raise InvalidInput(
            f"There is no profile {shown(profile)}.",
            field="profile",
            remedy=f"Use {', '.join([*known, FUSED, AUTOMATIC])}.",
        )
    chosen = _changed(known[name], switched)
    return profile, _ranker(lambda _question: chosen, switched)


def _switched(text: str) -> dict[str, bool]:
    return {found[2]: found[1] == "+" for found in SWITCH.finditer(text)}


def _fields(switched: Mapping[str, bool]) -> dict[str, bool | str]:
    """The fields of a profile that are switched, with their values."""
    return {name: WORDS[name][on] if name in WORDS else on for name, on in switched.items()}


def _changed(profile: Profile, switched: Mapping[str, bool]) -> Profile:
    return Profile.model_validate(profile.model_dump() | _fields(switched)) if switched else profile


def _ranker(profile_of: Callable[[str], Profile], switched: Mapping[str, bool] = MappingProxyType({})) -> Ranker:
    rerank = switched.get("rerank")

    async def rank(
        engine: Engine, caller: Caller, question: str, limit: int, asked_at: datetime | None
    ) -> Sequence[Hit]:
        searched = await search(
            engine, caller, question, profile=profile_of(question), limit=limit, asked_at=asked_at, rerank=rerank
        )
        failure = next((note for note in searched.notes if note.startswith(NOT_RERANKED)), None)
        if failure is not None:
            raise ModelUnavailable(
                f"A question was {failure}", remedy="Correct EBBTIDE_RERANKER, or raise its timeout."
            )
        return hits_of(searched)

    return rank


async def fused(engine: Engine, caller: Caller, question: str, limit: int, asked_at: datetime | None) -> Sequence[Hit]:
    """Reciprocal rank fusion of both arms, k = 60; each is a search of its own, and both count in the latency."""
    searches = [await search(engine, caller, question, profile=arm, asked_at=asked_at) for arm in (VECTOR, FULL_TEXT)]
    rankings = [hits_of(searched) for searched in searches]
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    order = reciprocal_rank_fusion([[hit.id for hit in ranking] for ranking in rankings])
    return [hits[id_] for id_, _ in order[:limit]]
