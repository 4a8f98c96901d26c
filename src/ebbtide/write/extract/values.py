"""What the rules find in a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

__all__ = ["NAME_TYPES", "Extraction", "FoundFact", "Name", "NameType"]

NameType = Literal["PERSON", "COMPANY", "PROJECT", "SKILL", "EVENT", "PLACE", "PRODUCT", "TOPIC"]
NAME_TYPES: tuple[NameType, ...] = get_args(NameType)


@dataclass(frozen=True, slots=True)
class Name:
    """A name and where in the text it stands: from character `start` up to and without `end`.

    `type` is None where nothing in the text tells it. Of a speaker who says "I", both places are those of that word.
    """

    text: str
    type: NameType | None
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
        confidence: how sure the rule is, in [0, 1].
        importance: in [0, 1], by what kind of statement it is.
        rule: the words that made the rule see it.
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


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts of a text and the names in it, each name once, both in their order."""

    facts: tuple[FoundFact, ...] = ()
    names: tuple[Name, ...] = ()
