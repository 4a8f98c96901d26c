"""What makes it doubtful that one text is news of another, though it says a change of something alike."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from ebbtide.write import thing_words as things
from ebbtide.write.cues import NO_NAMED, ended_in, given_up_in, read_cues, tokens_of
from ebbtide.write.topics import (
    HAVING,
    PROPERTY_STEMS,
    UNSPACED_PAIR,
    VERB_STEMS,
    content_words,
    first_said,
    owners_of,
    properties_of,
    subject_of,
    topic_of,
    topic_words,
)
from ebbtide.write.wording import TEXTS_REMEMBERED, read_wording, stem

__all__ = ["in_doubt"]

SORT = re.compile(r"(?<!['’])\b([^\W\d_]+)[ -](?=([^\W\d_]+)\b)")
COMPLEMENT = re.compile(
    r"\b([^\W\d_]+) (?:of|for|to|de|di|do|da|du|des|del|della|von|für|para|pour|per|à|a|van|voor)"
    r" (?:(?:the|a|an|la|le|les|el|los|las|il|de|der|die|das|den|dem) )?([^\W\d_]+)",
    re.IGNORECASE,
)
NAMED = re.compile(r"\b([^\W\d_]+)\.? (?=([^\W\d_]+))")
LETTERS = re.compile(r"[^\W\d_]+")
INNER_NAME = re.compile(r"(?<=[\w,] )[^\W\d_a-z][^\W\d_]+")
NO_SORTS = NO_NAMED | things.GRAMMAR | things.VERBS | things.POSSESSIVES | things.UNITS | things.FREQUENCIES
NO_SORT_STEMS = frozenset(map(stem, things.FREQUENCIES | things.GRAMMAR))


def in_doubt(older: str, newer: str) -> bool:
    """Whether a text that says a change may well be news of something else than what the other one says."""
    return (
        read_cues(older).supposed
        or given_up_elsewhere(older, newer)
        or share_only_names(older, newer)
        or is_narrower(older, newer)
        or is_of_its_own(older, newer)
        or is_of_its_owner(older, newer)
        or is_of_another(older, newer)
        or of_two_sorts(older, newer)
        or of_two_names(older, newer)
        or of_alternatives(older, newer)
    )


def given_up_elsewhere(older: str, newer: str) -> bool:
    """Whether a text names what was before, and the other one does not."""
    given_up, known = given_up_in(newer), content_words(older)
    return bool(given_up) and all(known.isdisjoint(one) for one in given_up)


def share_only_names(older: str, newer: str) -> bool:
    """Whether texts have nothing in common but names or verbs, and speak of no property in common.

    A name is what has a capital within a sentence, save in German, where every noun has one; and where words are not
    set apart, what a text begins to speak of.
    """
    shared = topic_words(older) & topic_words(newer)
    if not shared - VERB_STEMS:
        return True
    if topic := topic_of(older):
        return shared <= set(UNSPACED_PAIR.findall(topic))
    if "de" in (read_wording(older).language, read_wording(newer).language):
        return False
    names = {stem(name.lower()) for text in (older, newer) for name in INNER_NAME.findall(text) if name[0].isupper()}
    alike = properties_of(older) & properties_of(newer) or names_as_over(older, newer)
    return shared - VERB_STEMS <= names and not alike


def names_as_over(older: str, newer: str) -> bool:
    """Whether a text names, as what is no more, something that the other one says."""
    known = content_words(older)
    return any(not known.isdisjoint(one) for one in (*ended_in(newer), *given_up_in(newer)))


def is_narrower(older: str, newer: str) -> bool:
    """Whether a text says a change of a part or a sort of what the other one speaks of."""
    old, new = subject_of(older), subject_of(newer)
    if not (old.whole and new.whole and old.words and new.words):
        return False
    more = new.words - content_words(older) - old.words - NO_SORT_STEMS
    alike = properties_of(older) & properties_of(newer)
    more -= {stem(word) for place in alike for word in things.PROPERTIES[place]}
    return bool(old.words & new.words and more)


def is_of_its_own(older: str, newer: str) -> bool:
    """Whether a text says a change of what is its subject's own, whom the other does not name: "Ann moved her desk"."""
    new = subject_of(newer)
    foreign = new.whole and bool(new.words) and new.words.isdisjoint(content_words(older))
    return foreign and any(word in things.POSSESSIVES for word, _ in tokens_of(newer))


def is_of_its_owner(older: str, newer: str) -> bool:
    """Whether a text says a change of somebody of whose thing the other one speaks: "Ann moved", "Ann's desk is"."""
    told_of = owners_of(older) & subject_of(newer).words and not owners_of(newer)
    return bool(told_of) and not properties_of(older) & properties_of(newer)


def is_of_another(older: str, newer: str) -> bool:
    """Whether one text's subject does not occur in the other, whose own is not all named in the first one.

    So it is with "the rate per pallet for zone 3 is" and "storage costs 4.20 per pallet", or "storage in Team: 1 TB"
    and "Pro has 250 GB of storage"; not with "Ann has a lesson" and "the lesson was moved".
    """
    one, other = content_words(older), content_words(newer)
    old, new = subject_of(older), subject_of(newer)
    foreign = bool(new.words) and new.words.isdisjoint(one)
    if foreign and old.names - other:
        return True
    if not (old.whole and new.whole and old.words and new.words) or (HAVING.search(older) and new.words & one):
        return False
    more = new.words - one - PROPERTY_STEMS
    return bool((old.words.isdisjoint(other) and more) or (foreign and old.words - other))


def of_alternatives(older: str, newer: str) -> bool:
    """Whether each text names another of some alternatives, such as staging and production."""
    one, other = ({word for word, _ in tokens_of(text)} for text in (older, newer))
    return any(one & group and other & group and not one & other & group for group in things.ALTERNATIVES)


def of_two_sorts(older: str, newer: str) -> bool:
    """Whether texts name different sorts of a thing, such as test coverage and the coverage of the documentation."""
    one, other = sorts_of(older), sorts_of(newer)
    return any(
        one[thing].isdisjoint(content_words(newer) | other[thing]) and other[thing].isdisjoint(content_words(older))
        for thing in one.keys() & other.keys()
    )


def of_two_names(older: str, newer: str) -> bool:
    """Whether texts speak of two that have a first word in common, as Hotel Marina and Hotel Miramar have."""
    said, named = first_said(older), names_of(newer)
    known, told = set(LETTERS.findall(older)), set(LETTERS.findall(newer))
    return any(
        match.start() < said
        and match[2][0].isupper()
        and match[2] not in told
        and match[1] in named
        and named[match[1]].isdisjoint(known)
        for match in NAMED.finditer(older)
    )


def names_of(content: str) -> dict[str, set[str]]:
    """The names that stand behind each word of a text."""
    found: dict[str, set[str]] = defaultdict(set)
    for first, name in NAMED.findall(content):
        if name[0].isupper():
            found[first].add(name)
    return found


@lru_cache(TEXTS_REMEMBERED)
def sorts_of(content: str) -> dict[str, frozenset[str]]:
    """Which sorts of things a text names, by the thing, as stems: of "test coverage" `test` under `coverag`."""
    found: dict[str, set[str]] = defaultdict(set)
    topics = topic_words(content)
    for match in SORT.finditer(content):
        sort, thing = match[1].lower(), match[2]
        if not thing.islower() or (match.start() > 0 and not match[1].islower()):
            continue
        # Which of several it is tells a thing as long as it is spoken of, and later what is said of it.
        if sort in things.ORDINALS and match.start() < first_said(content):
            found[stem(thing)].add(sort)
        elif sort not in NO_SORTS:
            found[stem(thing)].add(stem(sort))
    for match in COMPLEMENT.finditer(content):
        if match[2].lower() not in NO_SORTS:
            found[stem(match[1].lower())].add(stem(match[2].lower()))
    return {thing: frozenset(sorts) for thing, sorts in found.items() if thing in topics or sorts & things.ORDINALS}
