"""The values of recalls: hits, what happened to every candidate, and why one is or is not among them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from ebbtide.types.base import Given, Listed, Spoken, Value
from ebbtide.types.memory import Memory

__all__ = [
    "INTENTS",
    "Drop",
    "Explanation",
    "Hit",
    "Intent",
    "Recall",
    "Routing",
    "Source",
    "TagFilter",
    "TimeWindow",
    "Trace",
    "TraceCandidate",
]

Intent = Literal["decision", "comparative", "relationship", "temporal", "exploratory", "factual"]


INTENTS: tuple[Intent, ...] = get_args(Intent)
"""The intents, the more specific one first: where two fit a query equally well, the one that stands first wins."""


Source = Literal["vector", "full_text", "both", "graph"]


class Routing(BaseModel):
    """What routing by types did in one search.

    `types` are those that the query was taken to be about, the likeliest first, and `entities` how many of these types
    the search was restricted to, at most 500. `outcome` is `restricted` where that gave the answer, `too_few` where it
    found too little and everything was searched after all, and `unsure` where no type was likelier than the others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: tuple[str, ...]
    entities: int
    outcome: Literal["restricted", "too_few", "unsure"]


class TagFilter(Given):
    """Which tags a memory must carry: any of, all of, none of, or exactly a set."""

    any: tuple[str, ...] | None = None
    all: tuple[str, ...] | None = None
    none: tuple[str, ...] | None = None
    exact: tuple[str, ...] | None = None


class Hit(Spoken):
    """One memory that came back.

    `similarity` is what the vector search measured, in [0, 1], None for a row without a vector, and for one that only
    its words speak for, whose vector has nothing in common with the query's. `relevance` is what ranking sorted on and
    may pass 1. `contributions` add up to `relevance`. `duplicates` are ids of memories of the same content that were
    folded into this one. `disputed` says that an open conflict is about it, `outdated` that of the
    facts read in it none holds any more. `rerank` is the reranker's score, in
    [0, 1], None where there is none.
    """

    id: UUID
    content: str
    namespace: str
    kind: str
    similarity: float | None
    relevance: float
    source: Source
    contributions: dict[str, float]
    duplicates: tuple[UUID, ...] = ()
    disputed: bool = Field(False, exclude_if=lambda value: not value)
    outdated: bool = Field(False, exclude_if=lambda value: not value)
    rerank: float | None = Field(default=None, exclude_if=lambda value: value is None)
    memory: Memory = Field(repr=False, exclude=True)


class Drop(Value):
    """One candidate that was left out: at which stage, by which rule, and the value that met the threshold."""

    id: UUID
    stage: str
    rule: str
    value: float | str | None = None
    threshold: float | str | None = None


class TraceCandidate(Value):
    """What each stage saw of one candidate.

    `ranks` are its ranks for each of the trace's `queries`, None for one that did not find it; `similarity` is then the
    best that any of them measured.
    """

    id: UUID
    source: Source
    similarity: float | None
    lexical: float | None
    relevance: float
    contributions: dict[str, float]
    ranks: tuple[int | None, ...] = Field((), exclude_if=lambda value: not value)
    rerank: float | None = Field(default=None, exclude_if=lambda value: value is None)


class TimeWindow(Value):
    """A stretch of time that a text names: from `start` up to and without `end`, in UTC, None where that end is open.

    `text` are the words that name it, `precision` is what they name, and `guessed` that they leave out the year.
    """

    start: datetime | None
    end: datetime | None
    text: str
    precision: Literal["hour", "day", "week", "month", "season", "year", "open"]
    guessed: bool


class Trace(Value):
    """What happened inside one recall: what was asked, how it was searched, every candidate, every drop.

    `intent` is what the query wants, `intent_by` who said so, and `intent_confidence` how sure that is: 1 where the
    caller did, 0.4 where a model did, and what `classify` says where phrases did, which is 0 where none was found.
    `queries` are the query and its parts where it was taken apart.
    `resurrected` are memories that had faded and that this recall brought back to life.
    `asked_time` is the time the query names. `time_filter` is `applied` where only memories of that time were searched,
    `too_few` where they did not suffice and all were searched after all. `routing` is what routing by types did.
    """

    query: str
    asked: str
    words: tuple[str, ...]
    profile: str
    intent: Intent
    intent_confidence: float
    intent_by: Literal["caller", "patterns", "model"]
    route: str
    scope_rows: int
    candidates: tuple[TraceCandidate, ...]
    drops: tuple[Drop, ...]
    queries: tuple[str, ...] = Field((), exclude_if=lambda value: not value)
    notes: tuple[str, ...] = ()
    resurrected: tuple[UUID, ...] = Field((), exclude_if=lambda value: not value)
    asked_time: tuple[TimeWindow, ...] = Field((), exclude_if=lambda value: not value)
    time_filter: Literal["applied", "too_few"] | None = Field(default=None, exclude_if=lambda value: value is None)
    routing: Routing | None = Field(default=None, exclude_if=lambda value: value is None)
    milliseconds: dict[str, float] = Field(default_factory=dict)


class Recall(Listed):
    """The answer to a recall; iterates over its hits, best first.

    `intent` is what the query was understood to want; as JSON, only the trace tells it. `recall_id` names the recall in
    `feedback`, None where no log is kept.
    """

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    intent: Intent = Field("factual", exclude=True)
    trace: Trace | None = None
    warnings: tuple[str, ...] = Field((), exclude_if=lambda value: not value)
    recall_id: UUID | None = None

    def __iter__(self) -> Iterator[Hit]:  # type: ignore[override]
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]


class Explanation(Value):
    """Why one memory did, or did not, come back for a query.

    `stage` and `rule` name the place of the decision, `value` and `threshold` the numbers it was made on.
    """

    memory_id: UUID
    returned: bool
    rank: int | None = None
    stage: str
    rule: str
    value: float | str | None = None
    threshold: float | str | None = None
    similarity: float | None = None
    relevance: float | None = None
    contributions: dict[str, float] = Field(default_factory=dict)
    rerank: float | None = Field(default=None, exclude_if=lambda value: value is None)
    routing: Routing | None = Field(default=None, exclude_if=lambda value: value is None)
    reason: str
