"""What belongs to somebody: "my sister Julia", "Ann's favourite colour is blue", "my name is Ann"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ebbtide.write.extract.clauses import SPEAKER, Part, Subject, may_begin, phrase_of
from ebbtide.write.extract.names import Names
from ebbtide.write.extract.relation import PERSONAL, PREFERENCE, Language, Relation
from ebbtide.write.extract.tokens import Sentence, Words

__all__ = ["Belonging", "belonging_at"]

MOST_FAVOURITE_WORDS = 3
RELATIVE_CONFIDENCE = 0.85


@dataclass(frozen=True, slots=True)
class Belonging:
    """What is said to belong to whom, and the relation it is said in."""

    subject: Subject
    relation: Relation
    part: Part
    rule: str


def belonging_at(words: Words, names: Names, sentence: Sentence, language: Language, place: int) -> Iterator[Belonging]:
    """The fact that the word at a place tells of its owner: a relative, a favourite, or a name."""
    word = words.lower[place]
    owner = _owner(words, names, sentence, language, place)
    if owner is None:
        return
    if word in language.relatives:
        yield from _relative(words, names, sentence, language, place, owner)
    elif word in language.favourite:
        yield from _favourite(words, names, sentence, language, place, owner)
    elif word in language.name_words and owner.name == SPEAKER:
        behind = _name_behind(words, names, sentence, place + 1, language.being)
        if behind is not None:
            relation = Relation("has_name", "name", language.called, 0.9, PERSONAL)
            yield Belonging(owner, relation, Part(*behind, behind, "PERSON"), f"my {word}")


def _owner(words: Words, names: Names, sentence: Sentence, language: Language, place: int) -> Subject | None:
    """Whose it is: the speaker's, or that of the name before."""
    before = place - 1
    if before < sentence.first:
        return None
    if words.lower[before] in language.my:
        return Subject(SPEAKER, before, place)
    if words.lower[before] == "'s":
        first = names.ends.get(before)
        if first is not None and first >= sentence.first and may_begin(words, sentence, language, first):
            return Subject(words.piece(first, before), first, before)
    return None


def _relative(
    words: Words, names: Names, sentence: Sentence, language: Language, place: int, owner: Subject
) -> Iterator[Belonging]:
    """A relative by name: "my sister Julia", "Ann's boss is Tom", "my wife's name is Eva"."""
    word = words.lower[place]
    start = place + 1
    if start + 1 < sentence.behind and words.lower[start] == "'s" and words.lower[start + 1] in language.name_words:
        start += 2
        if start >= sentence.behind or words.lower[start] not in language.being:
            return
    elif start < sentence.behind and words.lower[start] == "," and start + 1 in names.runs:
        start += 1
    run = _name_behind(words, names, sentence, start, language.being | language.called_words)
    if run is None:
        return
    says = language.owned.replace("{word}", words.words[place])
    relation = Relation(language.relatives[word], "PERSON", says, RELATIVE_CONFIDENCE, PERSONAL)
    yield Belonging(owner, relation, Part(*run, run, "PERSON"), word)


def _name_behind(
    words: Words, names: Names, sentence: Sentence, start: int, between: frozenset[str]
) -> tuple[int, int] | None:
    """The places of the name that follows, straight away or behind "is" or "is called"."""
    for _ in range(2):
        if start < sentence.behind and words.lower[start] in between:
            start += 1
    behind = names.runs.get(start)
    if (
        behind is None
        or behind > sentence.behind
        or names.types.get(words.piece(start, behind)) not in (None, "PERSON")
    ):
        return None
    if behind < sentence.behind and words.lower[behind] in ("or", "'s", "/"):
        return None
    return start, behind


def _favourite(
    words: Words, names: Names, sentence: Sentence, language: Language, place: int, owner: Subject
) -> Iterator[Belonging]:
    """A favourite of a kind: "my favourite colour is blue"."""
    lower = words.lower
    being = next(
        (
            one
            for one in range(place + 2, min(place + 2 + MOST_FAVOURITE_WORDS, sentence.behind))
            if lower[one] in language.being
        ),
        None,
    )
    if being is None or being + 1 >= sentence.behind:
        return
    kind = words.piece(place + 1, being)
    part = phrase_of(words, names, sentence, language, being + 1)
    if (
        part is None
        or lower[being + 1] in language.denying
        or any(lower[one] in language.pointing or not lower[one][0].isalpha() for one in range(place + 1, being))
    ):
        return
    says = f"{{owner}}'s {words.words[place]} {kind} {lower[being]} {{object}}"
    relation = Relation(f"favourite {kind.lower()}", "anything", says, 0.9, PREFERENCE, kind="preference")
    yield Belonging(owner, relation, part, words.words[place])
