"""Whether a statement is the news of an older one, read from both texts: what changed, and whether of one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ebbtide.write import change_words as lists
from ebbtide.write.wording import DIGITS, NO_NAMES, plain_words, read_wording, stem
from ebbtide.write.words import DAYS_AND_NUMBERS, NEGATIONS, PARTICLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ["DOUBTFUL", "SURE", "Cues", "Statement", "Update", "best_fit", "judge", "may_update", "read_cues"]

Phrases = dict[str, list[tuple[str, ...]]]

# Kinds that state what is so. Episodes and messages tell of single events, each true for ever.
STATES = frozenset({"fact", "preference", "howto", "correction", "learning", "note"})
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
UNSPACED_PAIR = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2}))")
CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+(?:\.\d+)*")
QUANTITY = re.compile(
    r"^\d+(?:st|nd|rd|th|am|pm|h|s|ms|km|kg|g|m|mm|cm|min|k|gb|mb|eur|chf|usd|uhr)\w*$", re.IGNORECASE
)
LABELLED = re.compile(r"([^\W\d_]+)[ -](\d+(?:\.\d+)*|[A-Z])\b")
GAP = 4
REACH = 3
SUBJECT_TOKENS = 5
TEXTS_REMEMBERED = 20_000
SURE = 0.75
"""The confidence from which on an update replaces; `benchmarks/supersession.py` shows what others would find."""
DOUBTFUL = 0.62
"""The confidence from which on it is a conflict."""
# An update fits what it replaces better than anything else by so much of cosine and shared words together.
LEAD = 0.05
# Texts that share nothing but whom they are about may still say the same of him, if they lie as near as this.
NEAR_BY_SUBJECT = 0.65


@dataclass(frozen=True, slots=True)
class Cues:
    """What a text says of itself.

    Attributes:
        changed: that something is no more or became something else: 1 where it says so, 0.5 where it says what holds
            now, 0 where neither.
        added: that it is one thing more.
        uncertain: that it is only thought of, wished for, or asked.
        denied: that a change did not happen.
    """

    changed: float
    added: bool
    uncertain: bool
    denied: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """What is known of a statement besides its vector.

    Attributes:
        at: since when it holds, else when it was observed.
        confirmed: whether a person vouched for it, so that only a person replaces it.
    """

    content: str
    kind: str
    at: datetime | None = None
    speaker: str | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """What a newer statement is to an older one, and how sure that is, in [0, 1]."""

    kind: Literal["supersedes", "conflict"]
    confidence: float


def indexed(phrases: Sequence[tuple[str, ...]]) -> Phrases:
    """The phrases by their first word."""
    found: Phrases = defaultdict(list)
    for phrase in phrases:
        found[phrase[0]].append(phrase)
    return dict(found)


CHANGED, HOLDS_NOW = indexed(lists.CHANGED), indexed(lists.HOLDS_NOW)
ADDED, UNCERTAIN = indexed(lists.ADDED), indexed(lists.UNCERTAIN)
COMMON = frozenset({*NO_NAMES, *PARTICLES})
OPEN_ENDED = re.compile(r"\bas of\b|\bfrom (?:\w+ ){1,4}on(?:wards)?\b")


def hint_of(phrase: Sequence[str]) -> str:
    """The word of a phrase that other texts have least often: no negation, no particle, a long one."""
    return max(
        (word for word in phrase if word != "*"), key=lambda word: (word not in DENIALS, word not in COMMON, len(word))
    )


DENIALS = NEGATIONS | {"n't"}
CUES = frozenset({*CHANGED, *HOLDS_NOW})
TELLING = {hint_of(phrase) for phrase in (*lists.CHANGED, *lists.HOLDS_NOW)}
HINTS = frozenset((TELLING | lists.ANNOUNCED | lists.DATED) - COMMON | {"longer", "anymore", "mehr", "plus", "ya"})
PUNCTUATION = ".,;:!?()[]{}\"'„“”«»–—-/…¡¿，。、：；（）"
UNSPACED_HINTS = (*lists.CHANGED_UNSPACED, *lists.HOLDS_NOW_UNSPACED)
KIN_STEMS = frozenset(map(stem, lists.KIN))


def may_update(content: str, kind: str) -> bool:
    """Whether a text could say that something changed; cheap, and true for more than really do."""
    if kind == "correction":
        return True
    if kind not in STATES:
        return False
    lowered = content.lower()
    words = lowered.split()
    if not HINTS.isdisjoint(words) or any(word.strip(PUNCTUATION) in HINTS for word in words if not word.isalpha()):
        return True
    if (" from " in lowered or "as of" in lowered) and OPEN_ENDED.search(lowered):
        return True
    return not content.isascii() and any(hint in content for hint in UNSPACED_HINTS)


def tokens_of(content: str) -> list[str]:
    """The words of a text in lower case; a negated verb gives `n't` too."""
    words: list[str] = []
    for word in TOKEN.findall(content.lower().replace("’", "'")):
        words.append(word)
        if word.endswith("n't"):
            words.append("n't")
    return words


@lru_cache(TEXTS_REMEMBERED)
def read_cues(content: str) -> Cues:
    """What a text says of itself."""
    words = tokens_of(content)
    spaced = content.isascii()
    strong = places(words, CHANGED)
    denied = any(denied_at(words, start) for start, _ in strong)
    announced = (
        bool(re.match(r"\W*(\w+)(?:\s\w+)?\s*[:–—]", content)) and words[:1] != [] and words[0] in lists.ANNOUNCED
    )
    changed = 1.0 if strong or announced else 0.5 if places(words, HOLDS_NOW) or is_dated(words) else 0.0
    if not spaced and changed < 1.0:
        if any(hint in content for hint in lists.CHANGED_UNSPACED):
            changed = 1.0
        elif any(hint in content for hint in lists.HOLDS_NOW_UNSPACED):
            changed = 0.5
    return Cues(
        changed=changed,
        added=bool(places(words, ADDED)) or (not spaced and any(hint in content for hint in lists.ADDED_UNSPACED)),
        uncertain=bool(places(words, UNCERTAIN))
        or content.rstrip().endswith(("?", "？"))
        or (not spaced and any(hint in content for hint in lists.UNCERTAIN_UNSPACED)),
        denied=denied,
    )


def is_dated(words: Sequence[str]) -> bool:
    """Whether a text says from which day, month or figure on it holds."""
    return any(
        word in lists.DATED and (following in DAYS_AND_NUMBERS or following[:1].isdigit())
        for word, following in pairwise(words)
    )


def places(words: Sequence[str], phrases: Phrases) -> list[tuple[int, int]]:
    """Where phrases stand in a text: the first word of each, and the one after its last."""
    return [
        (start, end)
        for start, word in enumerate(words)
        for phrase in phrases.get(word, ())
        if (end := matched(words, start, phrase)) is not None
    ]


def matched(words: Sequence[str], start: int, phrase: Sequence[str]) -> int | None:
    """The place after a phrase that begins at a word, None where it does not stand there."""
    place, gap = start, 0
    for part in phrase:
        if part == "*":
            gap = GAP
            continue
        reach = words[place : place + gap + 1]
        if part not in reach:
            return None
        place += reach.index(part) + 1
        gap = 0
    return place


def denied_at(words: Sequence[str], start: int) -> bool:
    """Whether a negation stands shortly before a cue, that is not the cue's own."""
    return any(word in NEGATIONS or word == "n't" for word in words[max(0, start - REACH) : start])


@lru_cache(TEXTS_REMEMBERED)
def content_words(content: str) -> frozenset[str]:
    """The stems that carry a text's meaning: without figures, days, and what is grammar; pairs of unspaced letters."""
    wording = read_wording(content)
    words = {
        word
        for word in plain_words(wording)
        if word not in NO_NAMES and word not in DAYS_AND_NUMBERS and ((len(word) > 1 and word.isalpha()) or "'" in word)
    }
    return frozenset(words | set(UNSPACED_PAIR.findall(content)))


@lru_cache(TEXTS_REMEMBERED)
def subject_of(content: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems before a text's first verb, and those of them that are names; none where no verb comes early."""
    raw = TOKEN.findall(content.replace("’", "'"))[: SUBJECT_TOKENS + 1]
    lowered = [token.lower() for token in raw]
    verb = next((place for place, word in enumerate(lowered) if word in lists.VERBS), None)
    if not verb or lowered[0] in lists.OPENERS:
        return frozenset(), frozenset()
    words = [
        (stem(word.removesuffix("'s")), token[0].isupper() and place > 0)
        for place, (word, token) in enumerate(zip(lowered[:verb], raw[:verb], strict=True))
        if word not in COMMON and word not in DAYS_AND_NUMBERS and word not in CUES and not DIGITS.fullmatch(word)
    ]
    return frozenset(word for word, _ in words), frozenset(word for word, named in words if named)


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
        if word in DAYS_AND_NUMBERS or word in NO_NAMES or counted or dated:
            continue
        if word in lists.LABELS or head[0].isupper():
            found[word].setdefault(number, match.start())
    return dict(found)


def properties_of(content: str) -> frozenset[int]:
    """Which single-valued properties the words of a text belong to."""
    words = set(tokens_of(content))
    return frozenset(place for place, known in enumerate(lists.PROPERTIES) if not known.isdisjoint(words))


def best_fit(
    newer: Statement, near: Sequence[tuple[Statement, float]], *, sure: float = SURE
) -> tuple[int, Update] | None:
    """Which of the statements near to a newer one it is news of, by its place, and what it is to it.

    Where it fits another nearly as well it is not known which one it replaces, and that is a conflict.
    """
    if not may_update(newer.content, newer.kind):
        return None
    fitting = sorted(
        (
            (cosine + likeness(older.content, newer.content), place, update)
            for place, (older, cosine) in enumerate(near)
            if (update := judge(older, newer, cosine, sure=sure)) is not None
        ),
        key=lambda one: -one[0],
    )
    if not fitting:
        return None
    fit, place, update = fitting[0]
    if len(fitting) > 1 and fit - fitting[1][0] < LEAD:
        update = replace(update, kind="conflict")
    return place, update


def judge(older: Statement, newer: Statement, cosine: float, *, sure: float = SURE) -> Update | None:
    """What a newer statement is to an older one that lies near: its successor, in conflict with it, or nothing.

    Precision comes first: only what says itself that something changed, of the same thing, replaces, from a confidence
    of `sure` on; what is doubtful is a conflict.
    """
    if older.kind not in STATES or newer.kind not in STATES or spoken_by_two(older, newer) or is_talk(older, newer):
        return None
    if older.at is not None and newer.at is not None and newer.at < older.at:
        return None
    cues = read_cues(newer.content)
    corrects = newer.kind == "correction"
    changed = 1.0 if corrects else cues.changed
    if changed == 0.0 or ((cues.denied or cues.uncertain) and not corrects) or (cues.added and changed < 1.0):
        return None
    labelled = label_between(older.content, newer.content)
    if labelled == "subject" or of_two_things(older.content, newer.content):
        return None
    alike = likeness(older.content, newer.content)
    if cosine < NEAR_BY_SUBJECT and alike_by_subject(older.content, newer.content):
        return None
    confidence = confidence_of(changed, cosine, alike)
    if confidence < DOUBTFUL:
        return None
    doubtful = older.confirmed or cues.added or cues.denied or cues.uncertain or labelled == "value"
    return Update("conflict" if doubtful or confidence < sure else "supersedes", confidence)


def confidence_of(changed: float, cosine: float, alike: float) -> float:
    """How sure an update is: 0.45 for what it says of itself, 0.35 for nearness, 0.2 for shared words."""
    near = min(max((cosine - 0.4) / 0.4, 0.0), 1.0)
    return 0.45 * changed + 0.35 * near + 0.2 * min(alike / 0.5, 1.0)


def spoken_by_two(older: Statement, newer: Statement) -> bool:
    """Whether two people said them: what each says of himself is about himself."""
    return older.speaker is not None and newer.speaker is not None and older.speaker != newer.speaker


def is_talk(older: Statement, newer: Statement) -> bool:
    """Whether one of them asks or exclaims, as people do who talk: what they say then is seldom meant as a record."""
    return any(mark in text for text in (older.content, newer.content) for mark in "?!？！")


def likeness(older: str, newer: str) -> float:
    """The share of the shorter text's content words that the other has too, in [0, 1]."""
    one, other = content_words(older), content_words(newer)
    shared = len(one & other)
    if shared and properties_of(older) & properties_of(newer):
        shared += 1
    return min(shared / max(min(len(one), len(other)), 1), 1.0)


def of_two_things(older: str, newer: str) -> bool:
    """Whether the texts tell that they speak of different people, places or things."""
    one, other = content_words(older), content_words(newer)
    if (one & KIN_STEMS) ^ (other & KIN_STEMS):
        return True
    (old_subject, old_names), (new_subject, new_names) = subject_of(older), subject_of(newer)
    if not old_subject or not new_subject:
        return False
    if not old_subject & other and not new_subject & one:
        return True
    if old_names - other and new_names - one:
        return True
    return bool(old_subject - other and new_subject - one and old_subject & new_subject)


def alike_by_subject(older: str, newer: str) -> bool:
    """Whether two texts share no word but their subject's, and speak of no property in common."""
    shared = content_words(older) & content_words(newer)
    subjects = subject_of(older)[0] & subject_of(newer)[0]
    return bool(subjects) and shared <= subjects and not properties_of(older) & properties_of(newer)


def label_between(older: str, newer: str) -> Literal["subject", "value"] | None:
    """Whether the texts name different ones of many things of one sort: as what they speak of, or as what they say."""
    one, other = labels_of(older), labels_of(newer)
    figures = set(DIGITS.findall(newer))
    for head, places_of in one.items():
        if head in other and not places_of.keys() & (other[head].keys() | figures):
            return "subject" if min(other[head].values()) < first_cue(newer) else "value"
    return None


def first_cue(content: str) -> int:
    """Where a text begins to say what changed, in characters; its end where no word says so."""
    found = min((start for start, _ in places(tokens_of(content), CHANGED)), default=None)
    if found is None:
        return len(content)
    spans = [match.start() for match in TOKEN.finditer(content)]
    return spans[min(found, len(spans) - 1)] if spans else len(content)
