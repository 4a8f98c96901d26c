"""What is measured: scopes of memories and the questions asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from ebbtide.errors import InvalidInput

__all__ = ["UNANSWERABLE", "EvaluationScope", "Item", "Question", "merge"]

UNANSWERABLE = frozenset({"none", "adversarial"})
"""Types of question that nothing answers; they are asked, and left out of the figures."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory of a data set. `id` is unique in its scope, and `supersedes` is the id of another item of it.

    `importance` and `confidence` lie in [0, 1]; `None` leaves them to the store. Times are aware.
    """

    id: str
    text: str
    kind: str
    namespace: str
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    speaker: str | None = None
    chat: str | None = None
    sequence: int | None = None
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    importance: float | None = None
    confidence: float | None = None
    subject: str | None = None
    predicate: str | None = None
    supersedes: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the items that answer it, and the name of the scope it was written for."""

    id: str
    text: str
    evidence: tuple[str, ...]
    type: str
    scope: str
    asked_at: datetime | None = None

    @property
    def measurable(self) -> bool:
        """Whether the question counts in the figures: something answers it, and we know what."""
        return bool(self.evidence) and self.type not in UNANSWERABLE


@dataclass(frozen=True, slots=True)
class EvaluationScope:
    """Memories that share a store, in the order in which they are remembered, and the questions asked of them."""

    name: str
    description: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


def merge(scopes: Sequence[EvaluationScope]) -> EvaluationScope:
    """All scopes as one, named "merged"; ids and chats become `scope/id`, questions keep the name of their scope.

    Namespaces stay as they are. Raises `InvalidInput` when two scopes have one name.
    """
    names = [scope.name for scope in scopes]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"Two scopes have the same name: {', '.join(sorted(names))}.",
            field="scopes",
            remedy="Give each scope a name of its own.",
        )
    return EvaluationScope(
        name="merged",
        description=f"{len(scopes)} scopes in one: {', '.join(names)}",
        items=tuple(_prefixed_item(scope.name, item) for scope in scopes for item in scope.items),
        questions=tuple(_prefixed_question(scope.name, question) for scope in scopes for question in scope.questions),
    )


def _prefixed_item(scope: str, item: Item) -> Item:
    return replace(
        item,
        id=f"{scope}/{item.id}",
        chat=None if item.chat is None else f"{scope}/{item.chat}",
        supersedes=None if item.supersedes is None else f"{scope}/{item.supersedes}",
    )


def _prefixed_question(scope: str, question: Question) -> Question:
    return replace(
        question,
        id=f"{scope}/{question.id}",
        evidence=tuple(f"{scope}/{item}" for item in question.evidence),
    )
