"""Cutting what is too long: at sentences, then at words, then between characters that are seen as two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

__all__ = ["Measure", "gather", "pieces", "safe_cut"]

Measure = Callable[[str], int]
"""How much room a text takes."""

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]»”]*\s+|(?<=[。！？])")
SPACE = re.compile(r"\s+")
JOINERS = "\u200d"
MODIFIERS = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff]")
FLAGS = range(0x1F1E6, 0x1F200)
FARTHEST_BACK = 64


def pieces(text: str, measure: Measure, limit: int) -> Iterator[str]:
    """The text in parts that each take at most `limit`; together they are the text, save white space at the cuts."""
    if measure(text) <= limit:
        yield text
        return
    for part in gather(_cut_at(text, SENTENCE_END), measure, limit):
        if measure(part) <= limit:
            yield part
            continue
        for words in gather(_cut_at(part, SPACE), measure, limit):
            yield from _characters(words, measure, limit)


def gather(parts: Iterable[str], measure: Measure, limit: int, glue: str = "") -> Iterator[str]:
    """Neighbours joined as long as they fit; one that does not fit by itself comes alone."""
    held: list[str] = []
    size = 0
    for part in parts:
        room = measure(part)
        # What a tokenizer makes of two texts in one may be a token more than it makes of each.
        if (
            held
            and size + room + len(held) > limit
            and (size + room > limit or _joined(held, part, measure, glue) > limit)
        ):
            yield glue.join(held).strip("\n") if glue else "".join(held).strip()
            held, size = [], 0
        held.append(part)
        size += room
    if held:
        yield glue.join(held).strip("\n") if glue else "".join(held).strip()


def _joined(held: list[str], part: str, measure: Measure, glue: str) -> int:
    return measure(glue.join([*held, part]))


def _cut_at(text: str, boundary: re.Pattern[str]) -> Iterator[str]:
    """The text cut after every match, white space with what is before it."""
    start = 0
    for found in boundary.finditer(text):
        if found.end() > start:
            yield text[start : found.end()]
            start = found.end()
    if start < len(text):
        yield text[start:]


def _characters(text: str, measure: Measure, limit: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        # The rest may be a million characters: no more of it is measured than a part could have.
        reach = limit
        while start + reach < len(text) and measure(text[start : start + reach]) <= limit:
            reach *= 2
        rest = text[start : start + reach]
        at = len(rest) if measure(rest) <= limit else safe_cut(rest, _longest(rest, measure, limit))
        yield rest[:at]
        start += at


def _longest(text: str, measure: Measure, limit: int) -> int:
    """Of how many characters a beginning of the text fits, to an eighth."""
    low, high = 1, len(text)
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        if measure(text[:middle]) <= limit:
            low = middle
        else:
            high = middle
    return low


def safe_cut(text: str, at: int) -> int:
    """The nearest place at or before `at`, after the start, where no character is torn apart; else `at`.

    Marks stay with their base, emoji with what they are joined to, flags and Hangul syllables whole.
    """
    for place in range(at, max(0, at - FARTHEST_BACK), -1):
        if place >= len(text) or not _belongs(text, place):
            return place
    return at


def _belongs(text: str, place: int) -> bool:
    """Whether the character at a place is seen as one with that before it."""
    this, before = text[place], text[place - 1]
    if before in JOINERS or MODIFIERS.match(this) or unicodedata.category(this)[0] == "M":
        return True
    if before == "\r" and this == "\n":
        return True
    if ord(this) in FLAGS and ord(before) in FLAGS:
        start = place
        while start and ord(text[start - 1]) in FLAGS:
            start -= 1
        return (place - start) % 2 == 1
    return False
