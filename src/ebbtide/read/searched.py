"""Everything one search came to know; hits, traces and explanations are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from ebbtide.types.recall import Routing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.gates import Selection
    from ebbtide.rank.profile import Profile
    from ebbtide.rank.score import Scored
    from ebbtide.read.candidates import Found
    from ebbtide.read.intent import Purpose
    from ebbtide.read.question import Question
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.read.words import Terms
    from ebbtide.types.graph import EntityType
    from ebbtide.types.memory import Memory

__all__ = ["Chosen", "Routed", "Searched", "TimeFilter"]

TimeFilter = Literal["applied", "too_few"] | None


@dataclass(frozen=True, slots=True)
class Routed:
    """The types that a query is likely to be about, the entities of them that are searched, and what came of it."""

    types: tuple[EntityType, ...]
    entities: tuple[UUID, ...]
    outcome: Literal["restricted", "too_few", "unsure"]

    def told(self) -> Routing:
        """The same as it is told to whoever asked."""
        return Routing(types=self.types, entities=len(self.entities), outcome=self.outcome)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selection that is returned, its memories as they may be shown, and those that a conflict is about.

    `tokens` are the lengths of contents by the store's counter, where it counted them as they are shown.
    `revision` is that of the tenant's policies and rules in the same snapshot.
    `withheld` are the positions of candidates that may not be shown.
    """

    selection: Selection
    memories: Mapping[UUID, Memory]
    disputed: frozenset[UUID]
    tokens: Mapping[UUID, int]
    revision: UUID | None
    withheld: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """Everything one search came to know; hits, traces and explanations are made of it.

    `directions` are the vectors of the question and of its parts as the driver sends them, None for one that cannot be
    made.
    `faded` are memories that had faded when it was made and hold its words, `resurrected` those brought back to life
    for it.
    `time_filter` says what became of the profile's, None where it is none for the query.
    `rerank_scores` are in [0, 1], one a candidate, NaN where it was not reranked; None where nothing was.
    `routed` is what routing by types did, None where the profile has none of it.
    """

    scope: Scope
    profile: Profile
    question: Question
    purpose: Purpose
    terms: Terms
    route: Route
    directions: Sequence[Any]
    found: Found
    scored: Scored
    chosen: Chosen
    rules: RuleBook
    notes: tuple[str, ...]
    milliseconds: Mapping[str, float]
    faded: tuple[UUID, ...] = ()
    resurrected: tuple[UUID, ...] = ()
    rerank_scores: NDArray[np.float64] | None = None
    time_filter: TimeFilter = None
    routed: Routed | None = None

    @property
    def vector(self) -> Any:
        """The vector of the question itself."""
        return self.directions[0]

    @property
    def selection(self) -> Selection:
        """What the gates decided."""
        return self.chosen.selection

    @property
    def memories(self) -> Mapping[UUID, Memory]:
        """The memories that were selected, as they may be shown."""
        return self.chosen.memories
