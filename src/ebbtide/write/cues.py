"""What a text says of itself: that something changed, was added, is only thought of, or did not happen."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ebbtide.write import change_words as lists
from ebbtide.write.wording import NO_NAMES, TEXTS_REMEMBERED, read_wording, stem
from ebbtide.write.words import DAYS_AND_NUMBERS, NEGATIONS, PARTICLES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "COMMON",
    "CUES",
    "TOKEN",
    "Cues",
    "ended_in",
    "first_change",
    "given_up_in",
    "may_say_update",
    "read_cues",
    "tokens_of",
]

Phrases = dict[str, list[tuple[str, ...]]]

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
ANNOUNCEMENT = re.compile(r"\W*(\w+)(?:\s\w+)?\s*[:–—]")
CLAUSE_END = re.compile(r"[,;.:!?–—(](?:\s|$)")
GAP = 4
REACH = 3
MOST_GIVEN_UP = 3
# A clause has no more words; a text may be a hundred thousand characters of one.
MOST_OF_CLAUSE = 40


@dataclass(frozen=True, slots=True)
class Cues:
    """What a text says of itself.

    Attributes:
        changed: that something is no more or became something else: 1 where it says so, 0.5 where it says what holds
            now, 0 where neither.
        added: that it is one thing more.
        uncertain: that it is only thought of, wished for, or asked.
        denied: that a change did not happen.
        partly: that it changed but for a while, or by how much and not to what; or also what was so before.
        supposed: that it may be so, and is not known to be.
        past: that it says what was so once, and nothing of what is so now.
    """

    changed: float
    added: bool
    uncertain: bool
    denied: bool
    partly: bool
    supposed: bool
    past: bool


def indexed(phrases: Sequence[tuple[str, ...]]) -> Phrases:
    """The phrases by their first word."""
    found: Phrases = defaultdict(list)
    for phrase in phrases:
        found[phrase[0]].append(phrase)
    return dict(found)


CHANGED, HOLDS_NOW = indexed(lists.CHANGED), indexed(lists.HOLDS_NOW)
ENDED, GIVEN_UP, FOR_A_WHILE = indexed(lists.ENDED), indexed(lists.GIVEN_UP), indexed(lists.FOR_A_WHILE)
ADDED, UNCERTAIN = indexed(lists.ADDED), indexed(lists.UNCERTAIN)
SO_FAR, SUPPOSED, UNCHANGED = indexed(lists.SO_FAR), indexed(lists.SUPPOSED), indexed(lists.UNCHANGED)
COMMON = frozenset({*NO_NAMES, *PARTICLES})
OPEN_ENDED = re.compile(r"\bas of\b|\bfrom (?:\w+ ){1,4}on(?:wards)?\b")


def hint_of(phrase: Sequence[str]) -> str:
    """The word of a phrase that other texts have least often: no negation, no particle, a long one."""
    return max(
        (word for word in phrase if word != "*"), key=lambda word: (word not in DENIALS, word not in COMMON, len(word))
    )


DENIALS = NEGATIONS | {"n't"}
CUES = frozenset({*CHANGED, *HOLDS_NOW})
NO_NAMED = COMMON | CUES | DAYS_AND_NUMBERS | {word for phrase in lists.ENDED for word in phrase}
TELLING = {hint_of(phrase) for phrase in (*lists.CHANGED, *lists.HOLDS_NOW)}
HINTS = frozenset(
    (TELLING | lists.ANNOUNCED | lists.DATED | lists.STOPPING) - COMMON | {"longer", "anymore", "mehr", "plus", "ya"}
)
PUNCTUATION = ".,;:!?()[]{}\"'„“”«»–—-/…¡¿，。、：；（）"
UNSPACED_HINTS = (*lists.CHANGED_UNSPACED, *lists.HOLDS_NOW_UNSPACED)


def may_say_update(content: str) -> bool:
    """Whether a text could say that something changed; cheap, and true for more than really do."""
    lowered = content.lower()
    words = lowered.split()
    if not HINTS.isdisjoint(words) or any(word.strip(PUNCTUATION) in HINTS for word in words if not word.isalpha()):
        return True
    if (" from " in lowered or "as of" in lowered) and OPEN_ENDED.search(lowered):
        return True
    return not content.isascii() and any(hint in content for hint in UNSPACED_HINTS)


def tokens_of(content: str) -> list[tuple[str, int]]:
    """The words of a text in lower case, each with where it begins; the negation in a word is one of its own."""
    words: list[tuple[str, int]] = []
    for match in TOKEN.finditer(content):
        word, start = match[0].lower().replace("’", "'"), match.start()
        if word.startswith("n'"):
            words += [("ne", start), (word[2:], start + 2)]
        elif word.endswith("n't"):
            words += [(word, start), ("n't", match.end() - 3)]
        else:
            words.append((word, start))
    return words


@lru_cache(TEXTS_REMEMBERED)
def read_cues(content: str) -> Cues:
    """What a text says of itself."""
    words = [word for word, _ in tokens_of(content)]
    strong = places(words, CHANGED)
    own = {place for start, end in strong for place in range(start, end)}
    stopped = any(word in lists.STOPPING and after.endswith("ing") for word, after in pairwise(words))
    changed = 1.0 if strong or stopped or is_announced(content) else 0.0
    changed = changed or (0.5 if places(words, HOLDS_NOW) else 0.0)
    if not content.isascii():
        changed = max(changed, unspaced_change(content))
    former = read_wording(content).former
    past = former and not changed
    if not past and not changed and is_dated(words):
        changed = 0.5
    return Cues(
        changed=changed,
        added=any(lists.AGAIN.isdisjoint(words[end : end + 1]) for _, end in places(words, ADDED))
        or holds_any(content, lists.ADDED_UNSPACED),
        uncertain=bool(places(words, UNCERTAIN))
        or content.rstrip().endswith(("?", "？"))
        or holds_any(content, lists.UNCERTAIN_UNSPACED),
        denied=any(denied_at(words, start, own) for start, _ in strong),
        partly=bool(places(words, FOR_A_WHILE))
        or holds_any(content, lists.FOR_A_WHILE_UNSPACED)
        or any(is_amount(words, end) for _, end in strong)
        or (not strong and (former or tells_of_before(words))),
        supposed=bool(places(words, SUPPOSED)),
        past=past,
    )


def tells_of_before(words: Sequence[str]) -> bool:
    """Whether a text says what was so until now, and not only that it is so still: "bisher", but not "wie bisher"."""
    still = {place for start, end in places(words, UNCHANGED) for place in range(start, end)}
    return any(start not in still for start, _ in places(words, SO_FAR))


def is_announced(content: str) -> bool:
    """Whether a text begins with a word such as "Correction:"."""
    match = ANNOUNCEMENT.match(content)
    return match is not None and match[1].lower() in lists.ANNOUNCED


def unspaced_change(content: str) -> float:
    """What a text whose words are not set apart says of a change."""
    return 1.0 if holds_any(content, lists.CHANGED_UNSPACED) else 0.5 * holds_any(content, lists.HOLDS_NOW_UNSPACED)


def holds_any(content: str, parts: Sequence[str]) -> bool:
    """Whether one of some parts of words stands in a text that is not plain ASCII."""
    return not content.isascii() and any(part in content for part in parts)


def is_amount(words: Sequence[str], place: int) -> bool:
    """Whether "by" and an amount follow, as in "postponed by an hour": only with what was before it tells what is."""
    return words[place : place + 1] == ["by"] and any(
        word in ("a", "an") or word in DAYS_AND_NUMBERS or word[:1].isdigit() for word in words[place + 1 : place + 2]
    )


def first_change(content: str) -> int:
    """Where a text begins to say what changed, in characters; its end where no word says so."""
    words = tokens_of(content)
    return min((words[start][1] for start, _ in places([word for word, _ in words], CHANGED)), default=len(content))


@lru_cache(TEXTS_REMEMBERED)
def ended_in(content: str) -> tuple[tuple[str, ...], ...]:
    """What each clause says to be over, as stems: of "no longer lives in Ghent" `ghent`; none for a verb alone."""
    tokens = tokens_of(content)
    words = [word for word, _ in tokens]
    found: list[tuple[str, ...]] = []
    for start, end in places(words, ENDED):
        named = _clause(content, tokens, start, end)
        alone = words[start] in lists.NO_ONE
        found.append(tuple(named if alone else named[1:]))
    found += [
        tuple(_clause(content, tokens, place + 1, place + 1)[1:])
        for place, (word, after) in enumerate(pairwise(words))
        if word in lists.STOPPING and after.endswith("ing")
    ]
    return tuple(one for one in found if one)


@lru_cache(TEXTS_REMEMBERED)
def given_up_in(content: str) -> tuple[tuple[str, ...], ...]:
    """What stood before, as stems: of "instead of the old printer" `old` and `printer`."""
    tokens = tokens_of(content)
    ends = [end for _, end in places([word for word, _ in tokens], GIVEN_UP)]
    found = [tuple(_clause(content, tokens, end, end, lists.TOWARDS)[:MOST_GIVEN_UP]) for end in ends]
    return tuple(one for one in found if one)


def _clause(
    content: str, words: Sequence[tuple[str, int]], start: int, end: int, closing: frozenset[str] = frozenset()
) -> list[str]:
    """The stems that carry meaning from a word of a text on up to where its clause ends, which is not before `end`."""
    found: list[str] = []
    for place in range(start, min(start + MOST_OF_CLAUSE, len(words))):
        word, first = words[place]
        before = content[words[place - 1][1] : first] if place > start else ""
        if place >= end and (CLAUSE_END.search(before) or word in lists.CLAUSE_WORDS or word in closing):
            break
        if word.isalpha() and len(word) > 1 and word not in NO_NAMED:
            found.append(stem(word))
    return found


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


def denied_at(words: Sequence[str], start: int, own: Collection[int]) -> bool:
    """Whether a negation stands shortly before a cue that is not a cue's own, as that of "no longer" is."""
    return any(
        place not in own and (words[place] in NEGATIONS or words[place] == "n't")
        for place in range(max(0, start - REACH), start)
    )
