"""The form in which a language says what its phrases mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ebbtide.types.graph import EntityType

__all__ = [
    "CASUAL",
    "CRITICAL",
    "PERSONAL",
    "PREFERENCE",
    "PROFESSIONAL",
    "Language",
    "Phrase",
    "Relation",
    "belongings_of",
    "phrases_of",
    "verbs_of",
]

CRITICAL, PROFESSIONAL, PERSONAL, PREFERENCE, CASUAL = 0.9, 0.7, 0.5, 0.5, 0.3
"""Importance by what kind of statement it is, each from the middle of its range."""

Object = EntityType | Literal["name", "thing", "anything", "date", "language"]
"""A name of that type; a name of whatever type its words tell; a thing with its article; any phrase; a date; a
language."""

Person = Literal["first", "third", "plural", "either"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What some phrases say, the words of each by space, alternatives by `|`.

    Attributes:
        predicate: what it is called.
        object: what must follow.
        says: how a sentence about a third person says it.
        first, third, plural: the phrases behind "I", behind a name, and behind several.
        either: those behind any of them, and behind "have" or "has".
        subject: what the subject is where nothing else tells; None where the phrase does not say.
        tense: `now` where it holds still, `began` where it tells how it came to hold, `over` where it holds no longer.
        destination: what a second object is, which holds now in place of the first.
        joint: the word before that second object.
        lasting: words of which one must follow the object for it to be so, as "since" does.
        needs_cue: whether something else in the text must tell that the object is what it must be.
    """

    predicate: str
    object: Object
    says: str
    confidence: float
    importance: float
    first: str = ""
    third: str = ""
    plural: str = ""
    either: str = ""
    subject: EntityType | None = "PERSON"
    tense: Literal["now", "began", "over", "always"] = "now"
    kind: Literal["fact", "preference"] = "fact"
    destination: Relation | None = None
    joint: str = ""
    needs_cue: bool = False
    lasting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of one phrase of a relation, of one language, and who may stand before it."""

    words: tuple[str, ...]
    person: Person
    relation: Relation
    language: Language


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The words by which a language is read.

    Attributes:
        i, we: the words a speaker uses for themselves, alone and with others.
        my: the words for "my", for favourites and relatives.
        adverbs: what may stand between a subject and its verb and changes nothing.
        having: the auxiliaries of the perfect.
        doubting: words that leave it open whether what their sentence says is so.
        leading: words that do where they stand before it.
        denying: words that do where they stand before it in its clause.
        asking: words that begin a question.
        articles: what may stand before a name.
        joining: "and".
        ending: words at which the phrase of an object ends.
        pointing: words that begin a phrase which only its neighbours explain.
        auxiliaries: verbs that turn what follows them into a question, or go on with another clause.
        opening: what may stand before a subject beside the beginning of a clause; behind a noun it would tell of that.
        relatives: what a relative is called, and the predicate each of them is.
        reminding: words that ask to keep in mind what follows, straight away or behind `that`.
        favourite: the words for a favourite.
        name_words: the words for a name.
        being, owned: what stands between these and what they are, and how a sentence tells that.
        called_words, called: the same for being called.
        drops_i: whether the verb alone may say "I".
        capital_nouns: whether every noun is written as a name.
        both: the words for two who were named before, who may have parted.
        splitting: words by which a bond between two people ends.
        leaving: words by which what began with a company, a project or a place ends.
        moving: words by which it does because another one takes its place.
    """

    code: str
    i: frozenset[str]
    we: frozenset[str]
    my: frozenset[str]
    adverbs: frozenset[str]
    having: frozenset[str]
    doubting: frozenset[str]
    leading: frozenset[str]
    denying: frozenset[str]
    asking: frozenset[str]
    articles: frozenset[str]
    joining: frozenset[str]
    ending: frozenset[str]
    pointing: frozenset[str]
    auxiliaries: frozenset[str]
    relations: Sequence[Relation]
    opening: frozenset[str]
    relatives: Mapping[str, str]
    reminding: frozenset[str] = frozenset()
    that: frozenset[str] = frozenset()
    favourite: frozenset[str] = frozenset()
    name_words: frozenset[str] = frozenset()
    being: frozenset[str] = frozenset()
    owned: str = "{owner}'s {word} is {object}"
    called_words: frozenset[str] = frozenset()
    called: str = "is called"
    drops_i: bool = False
    capital_nouns: bool = False
    both: frozenset[str] = frozenset()
    splitting: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    moving: frozenset[str] = frozenset()

    @property
    def belonging_words(self) -> frozenset[str]:
        """The words that tell of something which belongs to somebody."""
        return self.favourite | self.name_words | frozenset(self.relatives)


def phrases_of(languages: Sequence[Language]) -> Mapping[str, tuple[Phrase, ...]]:
    """The phrases of some languages by their first word, the longer ones first."""
    found: dict[str, list[Phrase]] = defaultdict(list)
    for language in languages:
        for relation in language.relations:
            for person in ("first", "third", "plural", "either"):
                for words in getattr(relation, person).split("|"):
                    if words.strip():
                        phrase = Phrase(tuple(words.split()), person, relation, language)
                        found[phrase.words[0]].append(phrase)
    return {first: tuple(sorted(ones, key=lambda one: -len(one.words))) for first, ones in found.items()}


@lru_cache
def verbs_of(language: Language) -> frozenset[str]:
    """The verbs of a language's phrases on somebody else, which look less like nouns than those on "I"."""
    first = (words.split()[0] for one in language.relations for words in one.third.split("|") if words.strip())
    return frozenset(word for word in first if word not in language.auxiliaries)


def belongings_of(languages: Sequence[Language]) -> Mapping[str, tuple[Language, ...]]:
    """The words of some languages that tell of what belongs to somebody, and the languages each is of."""
    words = {word for language in languages for word in language.belonging_words}
    return {word: tuple(language for language in languages if word in language.belonging_words) for word in words}
