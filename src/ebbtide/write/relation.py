"""What one draft is to another statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.write.validate import Checked

__all__ = ["Known", "Relation", "RelationKind"]

RelationKind = Literal["near_duplicate", "conflict", "supersedes"]


@dataclass(frozen=True, slots=True)
class Known:
    """A statement that a draft is compared with: a live memory, or an earlier draft of the batch by its position."""

    place: UUID | int
    content: str
    subject: str | None
    predicate: str | None
    valid_from: datetime | None
    invalidated_at: datetime | None
    importance: float

    @classmethod
    def of(cls, position: int, draft: Checked) -> Known:
        """An earlier draft of the batch."""
        return cls(position, draft.content, draft.subject, draft.predicate, draft.valid_from, None, draft.importance)


@dataclass(frozen=True, slots=True)
class Relation:
    """What the draft at a position is to a statement: its near duplicate, in conflict with it, or its successor."""

    position: int
    known: Known
    kind: RelationKind
    reason: str
