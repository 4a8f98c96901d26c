"""What one draft is to another statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from ebbtide.graph.names import fold_name
from ebbtide.write.validate import DEFAULT_KIND

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from ebbtide.write.validate import Checked

__all__ = ["Known", "Relation", "RelationKind"]

RelationKind = Literal["near_duplicate", "conflict", "supersedes", "precedes"]


@dataclass(frozen=True, slots=True)
class Known:
    """A statement that a draft is compared with: a live memory, or an earlier draft of the batch by its position.

    `told_by` is the latest memory that it was made from, and `objects` are the names, as they are compared, of what
    it relates its subject to.
    """

    place: UUID | int
    content: str
    subject: str | None
    predicate: str | None
    valid_from: datetime | None
    invalidated_at: datetime | None
    importance: float
    kind: str
    user: str | None
    speaker: str | None
    observed_at: datetime | None
    confirmed: bool = False
    turn: bool = False
    told_by: UUID | None = None
    objects: Collection[str] = ()

    @classmethod
    def of(cls, position: int, draft: Checked, user: str | None) -> Known:
        """An earlier draft of the batch, which has the user of its caller."""
        related = draft.relation
        objects = () if related is None else (related.object.name, *related.object.aliases)
        return cls(
            position, draft.content, draft.subject, draft.predicate, draft.valid_from, None, draft.importance,
            draft.kind or DEFAULT_KIND, user, draft.speaker, draft.observed_at, objects=tuple(map(fold_name, objects)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """What a draft, by its position, is to a statement: a near duplicate, in conflict with it, its successor or past.

    `confidence` is how sure a supersession is that was found by the texts, None for every other relation.
    """

    position: int
    known: Known
    kind: RelationKind
    reason: str
    confidence: float | None = None
