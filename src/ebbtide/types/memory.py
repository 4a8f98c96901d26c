"""The values of memories: what is written, what is stored, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from pydantic import Field

from ebbtide.types.base import Given, Spoken, Value

__all__ = [
    "KINDS",
    "OUTCOMES",
    "RESOLUTIONS",
    "Dispute",
    "Draft",
    "Imported",
    "Kind",
    "Memory",
    "Outcome",
    "Remembered",
    "Resolution",
    "Version",
]

Kind = Literal[
    "fact", "preference", "howto", "correction", "learning", "note", "message", "episode", "chunk", "entity", "relation"
]


KINDS: tuple[str, ...] = get_args(Kind)


Outcome = Literal["stored", "duplicate", "near_duplicate", "superseded", "conflict", "quarantined", "dropped", "echo"]


OUTCOMES: tuple[str, ...] = get_args(Outcome)


Resolution = Literal["keep_new", "keep_old", "keep_both", "merge"]


RESOLUTIONS: tuple[str, ...] = get_args(Resolution)


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
