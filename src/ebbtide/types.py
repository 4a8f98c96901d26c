"""The values Ebbtide takes and gives: pydantic models at the surface, frozen dataclasses inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, get_args
from uuid import UUID

from pydantic import BaseModel, Field

from ebbtide.routed import Routing
from ebbtide.values import Given, Listed, Spoken, Value

__all__ = [
    "INTENTS",
    "JOB_STATUSES",
    "KINDS",
    "OUTCOMES",
    "PERSONAL_DATA_MODES",
    "RESOLUTIONS",
    "Access",
    "Caller",
    "Dispute",
    "Draft",
    "Drop",
    "Explanation",
    "Grant",
    "Hit",
    "Imported",
    "Intent",
    "Job",
    "Kind",
    "Memory",
    "Outcome",
    "PersonalDataMode",
    "Recall",
    "Remembered",
    "Resolution",
    "Rule",
    "RulePreview",
    "RuledHit",
    "Source",
    "TagFilter",
    "TimeWindow",
    "Trace",
    "TraceCandidate",
    "Version",
    "trusted",
]

Kind = Literal[
    "fact", "preference", "howto", "correction", "learning", "note", "message", "episode", "chunk", "entity", "relation"
]
KINDS: tuple[str, ...] = get_args(Kind)

Intent = Literal["decision", "comparative", "relationship", "temporal", "exploratory", "factual"]
INTENTS: tuple[Intent, ...] = get_args(Intent)
"""The intents, the more specific one first: where two fit a query equally well, the one that stands first wins."""

Outcome = Literal["stored", "duplicate", "near_duplicate", "superseded", "conflict", "quarantined", "dropped", "echo"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)

Resolution = Literal["keep_new", "keep_old", "keep_both", "merge"]
RESOLUTIONS: tuple[str, ...] = get_args(Resolution)

PersonalDataMode = Literal["allow", "redact", "drop", "quarantine"]
PERSONAL_DATA_MODES: tuple[str, ...] = get_args(PersonalDataMode)

Source = Literal["vector", "full_text", "both", "graph"]

JobStatus = Literal["todo", "doing", "succeeded", "failed", "cancelled", "aborted"]
JOB_STATUSES: tuple[str, ...] = get_args(JobStatus)


Model = TypeVar("Model", bound=BaseModel)


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    """The names of all its fields; instances share the set, since pydantic copies it before it adds to one."""
    return set(model.model_fields)


def trusted(model: type[Model], /, **values: Any) -> Model:
    """An instance of a public model from values of our own making, all fields given, without validating them again.

    A recall makes twenty of them; validation, or pydantic's own `model_construct`, would cost as much as the ranking.
    """
    instance = model.__new__(model)
    object.__setattr__(instance, "__dict__", values)
    object.__setattr__(instance, "__pydantic_fields_set__", _all_fields(model))
    object.__setattr__(instance, "__pydantic_extra__", None)
    object.__setattr__(instance, "__pydantic_private__", None)
    return instance


@dataclass(frozen=True, slots=True)
class Grant:
    """What an agent's policy grants one caller, its templates filled in; the fields are those of `Policy`.

    `lacking` names the placeholder for which the caller gave no value, where `write` is None for that. `top_k` is None
    where no policy says it. `revision` is the tenant's when the policy was read.
    """

    read: tuple[str, ...] = ()
    tool_read: tuple[str, ...] = ()
    write: str | None = None
    allowed_write: tuple[str, ...] = ()
    lacking: str | None = None
    top_k: int | None = None
    min_score: float | None = None
    relative_cutoff: float | None = None
    profile: str | None = None
    allow_write: bool = False
    allow_tool_write: bool = False
    allow_tool_delete: bool = False
    revision: UUID | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a policed caller may do: its scopes, whether a tool asks for it, and what its policy grants once looked up.

    Without a grant nothing is readable and nothing writable.
    """

    scopes: frozenset[str]
    tool: bool = False
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the tenant is the wall, the agent owns the memories, the rest says on whose behalf and where.

    `access` polices the caller; without it, it is the owner's and may do everything. `branch` is one of the chat's.
    """

    tenant: str
    agent: str
    user: str | None = None
    task: str | None = None
    chat: str | None = None
    session: str | None = None
    timezone: str = "UTC"
    access: Access | None = None
    branch: str | None = None


class Draft(Given):
    """A memory to be written. Only `content` is needed. Without a `kind`, the rule on the namespace says it, or `fact`.

    Times are aware datetimes, ISO 8601 strings with a zone, or plain dates (the start of that day in the
    handle's time zone). `importance` and `confidence` lie in [0, 1]. `vector` has the store's dimension. `entities`
    are `Named` or mappings of its fields, `relation` is a `Related` or a mapping.
    """

    content: str
    namespace: str | None = None
    kind: str | None = None
    labels: Sequence[str] | str = ()
    importance: float | None = None
    confidence: float | None = None
    subject: str | None = None
    predicate: str | None = None
    observed_at: Any = None
    valid_from: Any = None
    expires_at: Any = None
    ttl_seconds: float | None = None
    supersedes: UUID | str | None = None
    tags: Sequence[str] | str = ()
    metadata: dict[str, Any] | None = None
    speaker: str | None = None
    seq: int | None = None
    vector: Any = None
    idempotency_key: str | None = None
    entities: Sequence[Any] = ()
    relation: Any = None


class Memory(Spoken):
    """One remembered statement with everything the store knows of it. Times are UTC."""

    id: UUID
    content: str
    namespace: str
    kind: str
    agent: str
    user: str | None = None
    task: str | None = None
    chat: str | None = None
    session: str | None = None
    seq: int | None = None
    speaker: str | None = None
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    source: str | None = None
    subject: str | None = None
    predicate: str | None = None
    importance: float
    confidence: float
    usefulness: float = 0.5
    status: str
    maturity: str
    confirmed_at: datetime | None = None
    revision: int
    superseded_by: UUID | None = None
    created_at: datetime
    updated_at: datetime
    last_mentioned_at: datetime | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    invalidated_at: datetime | None = None
    expires_at: datetime | None = None
    access_count: int = 0
    last_accessed_at: datetime | None = None
    embedding_pending: bool = False


class Remembered(Value):
    """What became of one draft: the outcome, the memory it led to, and warnings of what was left out or is personal.

    `memory` is None where the draft was dropped for the personal data in it, for an echo of what is not there, and for
    a duplicate of what a policed handle may not read.
    `related` are the memories that a near duplicate nearly repeats, that a conflict is with, or that were superseded
    because they hold from an earlier date.
    """

    outcome: Outcome
    memory: Memory | None
    warnings: tuple[str, ...] = ()
    related: tuple[UUID, ...] = ()


class Dispute(Value):
    """An open conflict: two memories of which one says what the other denies, and why it was not settled by itself."""

    id: UUID
    older: Memory
    newer: Memory
    reason: str
    created_at: datetime


class Version(Value):
    """One image of a memory and the interval [`since`, `until`) of system time in which it was current."""

    revision: int
    content: str
    status: str
    maturity: str
    superseded_by: UUID | None = None
    since: datetime
    until: datetime | None = None


class Imported(Value):
    """What became of the records of an import.

    `imported` were stored; `duplicates` say what a live memory of the namespace says already; `skipped` were there
    under their own ids; `dropped` were not stored for the personal data in them. Of those that were stored `reembedded`
    got a vector of this store's model, `redacted` lost personal data, in what they say or in their history, and
    `quarantined` are kept, or earlier images of them, where no recall finds them.
    """

    imported: int = 0
    duplicates: int = 0
    skipped: int = 0
    reembedded: int = 0
    redacted: int = 0
    quarantined: int = 0
    dropped: int = 0


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
    folded into this one. `disputed` says that an open conflict is about it. `rerank` is the reranker's score, in
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


class Rule(Given):
    """What is laid down for the namespaces that `pattern` covers, and for all below them.

    In a pattern `${…}` is exactly one segment and `*` any remainder. `bonus`, from -1 to 10, is a share of the
    relevance: 0.1 adds a tenth; those of all matching rules add up. Of the others the longest pattern that sets one
    decides: `instruction` heads the memories in a context block (`{{content}}` stands for them), `default_kind` is the
    kind of a memory written without one, `personal_data` what is done with e-mail addresses, phone numbers and the
    like, `retention_days` for how long a memory is kept. `id` is None until the rule is saved.
    """

    pattern: str
    bonus: float = 0.0
    instruction: str | None = None
    default_kind: Kind | None = None
    personal_data: PersonalDataMode | None = None
    retention_days: int | None = None
    id: UUID | None = None
    created_at: datetime | None = None


class RuledHit(Value):
    """One memory under the rules as they are, and as they would be.

    Ranks count from 1 and are None where it does not come back; so is a relevance where it is no candidate.
    """

    id: UUID
    content: str
    namespace: str
    covered: bool
    rank_before: int | None
    rank_after: int | None
    relevance_before: float | None
    relevance_after: float | None
    instruction_before: str | None
    instruction_after: str | None


class RulePreview(Value):
    """What a rule would change for a query: every memory that comes back without it or with it, best first with it."""

    rule: Rule
    query: str
    hits: tuple[RuledHit, ...]

    @property
    def changed(self) -> tuple[RuledHit, ...]:
        """The hits that the rule moves, brings in, drops or puts under another instruction."""
        return tuple(
            hit
            for hit in self.hits
            if hit.rank_before != hit.rank_after
            or hit.relevance_before != hit.relevance_after
            or hit.instruction_before != hit.instruction_after
        )


class Job(Value):
    """One piece of background work.

    `status` is `todo`, `doing`, `succeeded`, `failed`, `cancelled` or `aborted`; `scheduled_at` is when a waiting job
    runs at the earliest, None for at once; `error` and `failed_at` tell of its last failed attempt. Times are UTC.
    """

    id: int
    task: str
    status: JobStatus
    attempts: int
    scheduled_at: datetime | None = None
    tenant: str | None = None
    error: str | None = None
    failed_at: datetime | None = None
