"""Whom and what texts speak of, and whether two speak of different things."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ebbtide.write import change_words as lists
from ebbtide.write import thing_words as things
from ebbtide.write.cues import (
    COMMON,
    CUES,
    TOKEN,
    first_change,
    tokens_of,
)
from ebbtide.write.wording import DIGITS, NO_NAMES, TEXTS_REMEMBERED, plain_words, read_wording, stem
from ebbtide.write.words import DAYS, DAYS_AND_NUMBERS

__all__ = [
    "HAVING",
    "PROPERTY_STEMS",
    "UNSPACED_PAIR",
    "VERB_STEMS",
    "alike_by_subject",
    "content_words",
    "first_said",
    "label_between",
    "likeness",
    "of_two_things",
    "owners_of",
    "properties_of",
    "share_subject",
    "subject_of",
    "topic_of",
    "topic_words",
]

UNSPACED_PAIR = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2}))")
# Each begins where a word does and looks no further than a code is long, so that the time is that of the text's length.
CODE = re.compile(r"\b(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Za-z])[\w-]+(?:\.\d+)*")
QUANTITY = re.compile(
    r"^\d+(?:st|nd|rd|th|am|pm|h|s|ms|km|kg|g|m|mm|cm|min|k|gb|mb|eur|chf|usd|uhr)\w*$", re.IGNORECASE
)
LABELLED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[ -](\d+(?:\.\d+)*|[A-Z])\b")
OWNER = re.compile(r"\b([^\W\d_]+)['’]s\b(?! (?:been|not|no|now)\b)")
OWNED = re.compile(r"\b[^\W\d_]+['’]s ([^\W\d_]+)")
HAVING = re.compile(r"\b(?:has|have|had|gets|takes|is on|is out with|hat|haben|tiene|heeft)\b")
# "Check-in" and "check-out" are two words by their ends alone.
PARTICLE = re.compile(r"(\w)-(in|out|on|off|up|down)\b")
# What a text is about, before a colon.
HEAD = re.compile(r"[^:.;,!?]{3,60}:(?=\s)")
# What is shorter before a full stop is an abbreviation.
SENTENCE_END = re.compile(r"(?<=\w{4})[.;!?]\s")
SUBJECT_TOKENS = 7
# What stands behind one of these is no verb: "my work phone".
OWNING = (["my"], ["our"], ["your"], ["his"], ["her"], ["their"])
HANGUL, KANA = re.compile(r"[\uac00-\ud7a3]"), re.compile(r"[\u3040-\u30ff]")
KOREAN_TOPIC = re.compile(r"((?:\S+ ){0,2}?\S+?)(?:은|는|이|가)\s")
JAPANESE_TOPIC = re.compile(r"([^、。はが\s]{1,12})[はが]")
CHINESE_TOPIC = re.compile(
    r"([\u4e00-\u9fff]{1,8}?)[每喝吃学學教工在搬改住是从從已不现現将將有用换換调調开開喜去到推提被由也都目正叫为為属屬要会會]"
)
NO_LABELS = NO_NAMES | things.GRAMMAR
NO_SUBJECTS = COMMON | CUES | lists.ANNOUNCED | (DAYS_AND_NUMBERS - DAYS)
KIN_STEMS = frozenset(map(stem, things.KIN))
PROPERTY_STEMS = frozenset(stem(word) for words in things.PROPERTIES for word in words)
VERB_STEMS = frozenset(map(stem, things.VERBS))
# Their plurals too: "on Mondays".
NO_TOPICS = frozenset(
    map(stem, CUES | things.UNITS | things.TITLES | things.GRAMMAR | DAYS | {f"{day}s" for day in DAYS})
)


@lru_cache(TEXTS_REMEMBERED)
def content_words(content: str) -> frozenset[str]:
    """The stems that carry a text's meaning: without figures, days, and what is grammar; pairs of unspaced letters."""
    wording = read_wording(content)
    # A name may have the stem of a month, as Julie has.
    counted = {stem(word) for word in wording.numbers}
    words = {
        word
        for word in plain_words(wording)
        if word not in NO_NAMES and word not in counted and ((len(word) > 1 and word.isalpha()) or "'" in word)
    }
    return frozenset(words | set(UNSPACED_PAIR.findall(content)))


@dataclass(frozen=True, slots=True)
class Subject:
    """What stands before a text's verb, as stems; `names` are those that are names.

    `whole` tells that the verb is known; else it is only what the text begins with.
    """

    words: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    whole: bool = False


@lru_cache(TEXTS_REMEMBERED)
def subject_of(content: str) -> Subject:
    """What a text begins to speak of; nothing where that does not show."""
    said = PARTICLE.sub(r"\1\2", content.replace("’", "'"))
    sentence = SENTENCE_END.split(said, maxsplit=1)[0]
    tokens = list(TOKEN.finditer(sentence))[: SUBJECT_TOKENS + 1]
    raw = [match[0] for match in tokens]
    lowered = [token.lower() for token in raw]
    if not lowered or lowered[0] in things.OPENERS:
        return Subject()
    change = first_change(said)
    verb = next(
        (
            place
            for place, (word, match) in enumerate(zip(lowered, tokens, strict=True))
            if (word in things.VERBS and lowered[place - 1 : place] not in OWNING) or match.start() >= change
        ),
        None,
    )
    # Behind a comma comes what is said of something else, or by the way.
    whole = verb is not None and lowered[verb] in things.VERBS and "," not in said[: tokens[verb].start()]
    head = HEAD.match(said)
    if head is not None and (verb is None or head.end() <= tokens[verb].start()):
        verb, whole = sum(match.end() <= head.end() for match in tokens), False
    elif verb is None and ":" not in content:
        start = int(lowered[0] in COMMON)
        verb = start + 1 if raw[start + 1 : start + 2] and raw[start + 1].islower() else None
    words = [
        (stem(word.removesuffix("'s")), token[0].isupper() and place > 0)
        for place, (word, token) in enumerate(zip(lowered[: verb or 0], raw[: verb or 0], strict=True))
        if len(word) > 1 and word not in NO_SUBJECTS and not DIGITS.match(word)
    ]
    return Subject(frozenset(word for word, _ in words), frozenset(word for word, named in words if named), whole)


@lru_cache(TEXTS_REMEMBERED)
def topic_of(content: str) -> str:
    """What a text without words set apart begins to speak of: in Chinese what stands before the first verb, else what a
    particle marks; empty where nothing tells.
    """
    if content.isascii():
        return ""
    topic = (
        KOREAN_TOPIC if HANGUL.search(content) else JAPANESE_TOPIC if KANA.search(content) else CHINESE_TOPIC
    ).match(content)
    return topic[1] if topic else ""


@lru_cache(TEXTS_REMEMBERED)
def owners_of(content: str) -> frozenset[str]:
    """Whose things a text names, as stems: of "Noor's passport" `noor`."""
    owners = (match[1].lower() for match in OWNER.finditer(content))
    return frozenset(stem(owner) for owner in owners if owner not in COMMON and owner not in DAYS and owner != "let")


@lru_cache(TEXTS_REMEMBERED)
def labels_of(content: str) -> dict[str, dict[str, int]]:
    """Which ones of many things a text names, and where: codes such as `E4107`, and numbers after a label or a name."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for code in CODE.finditer(content):
        if not QUANTITY.match(code[0]):
            found[re.sub(r"\d+", "#", code[0].lower())].setdefault(code[0].lower(), code.start())
    for match in LABELLED.finditer(content):
        head, number = match.groups()
        word, following = head.lower(), TOKEN.match(content, match.end() + 1)
        counted = content[match.end() : match.end() + 2].lstrip()[:1] in (":", "%", "€", "$", "°")
        dated = following is not None and following[0].lower() in DAYS_AND_NUMBERS
        if word in DAYS_AND_NUMBERS or word in NO_LABELS or counted or dated:
            continue
        if word in things.LABELS or head[0].isupper() or match.start() < first_said(content):
            found[word].setdefault(number, match.start())
    return dict(found)


def properties_of(content: str) -> frozenset[int]:
    """Which single-valued properties the words of a text belong to."""
    words = {word for word, _ in tokens_of(content)}
    return frozenset(place for place, known in enumerate(things.PROPERTIES) if not known.isdisjoint(words))


@lru_cache(TEXTS_REMEMBERED)
def topic_words(content: str) -> frozenset[str]:
    """The content words of a text without those that tell of any change, and without units and days."""
    return content_words(content) - NO_TOPICS


def likeness(older: str, newer: str) -> float:
    """The share of the shorter text's words, as `topic_words` has them, that the other has too, in [0, 1]."""
    one, other = topic_words(older), topic_words(newer)
    shared = len(one & other)
    if shared and properties_of(older) & properties_of(newer):
        shared += 1
    return min(shared / max(min(len(one), len(other)), 1), 1.0)


def of_two_things(older: str, newer: str) -> bool:
    """Whether the texts tell that they speak of different people, places or things."""
    one, other = content_words(older) | owners_of(older), content_words(newer) | owners_of(newer)
    if (one & KIN_STEMS) ^ (other & KIN_STEMS):
        return True
    old_topic, new_topic = topic_of(older), topic_of(newer)
    if old_topic and new_topic and old_topic not in newer and new_topic not in older:
        return True
    return of_two_subjects(older, newer)


def of_two_subjects(older: str, newer: str) -> bool:
    """Whether what two texts begin to speak of is not the same."""
    old, new = subject_of(older), subject_of(newer)
    one, other = content_words(older) | old.words, content_words(newer) | new.words
    old_owners, new_owners = owners_of(older) - other, owners_of(newer) - one
    if new_owners and (old_owners or (old.words and not old.words & other)):
        return True
    if old_owners and new.words and not new.words & one:
        return True
    if not old.words or not new.words:
        return False
    told_of = owners_of(newer) & old.words and not owners_of(older) and not has_owned(older, newer)
    if told_of and not properties_of(older) & properties_of(newer):
        return True
    if (not old.words & other and not new.words & one) or (old.names - other and new.names - one):
        return True
    return bool(old.words & new.words and old.words - other and new.words - one)


def has_owned(older: str, newer: str) -> bool:
    """Whether a text says of somebody that he has what the other one speaks of as his: "has a check", "his check"."""
    owned = {stem(match[1].lower()) for match in OWNED.finditer(newer)}
    return not owned.isdisjoint(content_words(older)) and HAVING.search(older) is not None


def share_subject(older: str, newer: str) -> bool:
    """Whether texts say by a verb what they speak of, and that is the same."""
    old, new = subject_of(older), subject_of(newer)
    return old.whole and new.whole and bool(old.words & new.words)


def alike_by_subject(older: str, newer: str) -> bool:
    """Whether two texts share no word but a subject's, and speak of no property in common."""
    one, other = content_words(older), content_words(newer)
    old, new = subject_of(older).words, subject_of(newer).words
    if not old or (old & other and not old <= other):
        return False
    subjects = old & new if old & other else new
    return bool(subjects) and one & other <= subjects and not properties_of(older) & properties_of(newer)


def label_between(older: str, newer: str) -> Literal["subject", "value"] | None:
    """Whether the texts name different ones of many things of one sort: as what they speak of, or as what they say."""
    one, other = labels_of(older), labels_of(newer)
    figures = set(DIGITS.findall(newer))
    for head, places_of in one.items():
        if head in other and not places_of.keys() & (other[head].keys() | figures):
            return "subject" if min(other[head].values()) < first_said(newer) else "value"
        first = min(other[head], key=other[head].__getitem__) if head in other else None
        if first is not None and first not in places_of and other[head][first] < first_said(newer):
            return "subject"
    return None


@lru_cache(TEXTS_REMEMBERED)
def first_said(content: str) -> int:
    """Where a text begins to say something of its subject, in characters."""
    verb = next((start for word, start in tokens_of(content) if word in things.VERBS), len(content))
    return min(verb, first_change(content))
