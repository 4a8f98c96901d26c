"""What an extraction finds in texts, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ebbtide.types.base import Value
from ebbtide.types.graph import EntityType
from ebbtide.types.memory import Outcome

__all__ = [
    "Extracted",
    "Extraction",
    "Findings",
    "Found",
    "FoundFact",
    "Mentioned",
    "Name",
    "Rejected",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A name and where in the text it stands: from character `start` up to and without `end`.

    `type` is None where nothing in the text tells it. Of a speaker who says "I", both places are those of that word.
    """

    text: str
    type: EntityType | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundFact:
    """One fact, and where in the text it is said: from character `start` up to and without `end`.

    Attributes:
        content: it as a sentence of the text's own words, such as "Ann works at Acme."
        subject: whom or what it is about; None where an unknown speaker speaks of themselves.
        predicate: such as `works_at`; `worked_at` where it is over.
        object: what is said of the subject, as the text has it.
        object_name: the object where it is a name.
        kind: `fact` or `preference`.
        confidence: how sure the rule or the model is, in [0, 1].
        importance: in [0, 1], by what kind of statement it is.
        rule: the words that made a rule see it; `model` where a model did.
        valid_from: since when it holds, None where the text does not say.
        valid_until: until when it held, None where the text does not say or it holds still.
    """

    content: str
    start: int
    end: int
    subject: Name | None
    predicate: str
    object: str
    object_name: Name | None
    kind: Literal["fact", "preference"]
    confidence: float
    importance: float
    rule: str
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def related(self) -> bool:
        """Whether both sides are names of known types."""
        return (
            self.subject is not None
            and self.subject.type is not None
            and self.object_name is not None
            and self.object_name.type is not None
        )


class Rejected(Value):
    """What a model said and was not taken: its first 200 characters, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Findings:
    """The facts of a text and the names in it, each name once, both in their order; and what a model said wrongly."""

    facts: tuple[FoundFact, ...] = ()
    names: tuple[Name, ...] = ()
    rejected: tuple[Rejected, ...] = ()


class Mentioned(Value):
    """A name in a text, from character `start` up to and without `end`; `type` is None where nothing tells it."""

    name: str
    type: EntityType | None
    start: int
    end: int


class Found(Value):
    """One fact that a text states, and what became of it.

    `start` and `end` are the characters of the text that say it, `evidence` is what they are. `subject` is None where
    an unknown speaker speaks of themselves. `valid_until` is known of what is over. `outcome` is that of the write
    path; `noted` where the source says just that itself and so no other memory is made; None where nothing was written.
    `memory_id` is the memory that says it.
    """

    content: str
    start: int
    end: int
    evidence: str
    subject: str | None
    predicate: str
    object: str
    kind: Literal["fact", "preference"]
    confidence: float
    importance: float
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    outcome: Outcome | Literal["noted"] | None = None
    memory_id: UUID | None = None


class Extracted(Value):
    """What was found in one text.

    `source` is the memory it is the text of, None for one that was given. `rejected` is what a model said and the text
    does not. `error` says why nothing could be found, where the model failed.
    """

    source: UUID | None
    facts: tuple[Found, ...] = ()
    names: tuple[Mentioned, ...] = ()
    rejected: tuple[Rejected, ...] = Field((), exclude_if=lambda value: not value)
    error: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Extraction(Value):
    """The answer to `extract`: who read, how many texts, and what was found in those in which anything was.

    `failed` of them could not be read, since the model failed; each says why.
    """

    extractor: str
    read: int
    texts: tuple[Extracted, ...]
    failed: int = 0

    @property
    def facts(self) -> tuple[Found, ...]:
        """The facts of all texts."""
        return tuple(fact for text in self.texts for fact in text.facts)

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """What a model said and the texts do not, of all texts."""
        return tuple(one for text in self.texts for one in text.rejected)
