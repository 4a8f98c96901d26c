"""When a query asks about: the stretches of time its words name, seen from the moment and the zone it is asked in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from ebbtide.read.calendar_days import Unit
from ebbtide.read.calendar_words import fold_word, saying_nothing
from ebbtide.read.time_phrases import Phrases
from ebbtide.read.time_tokens import may_hold_time, tokens_of
from ebbtide.read.windows import Span, Window, span_of

__all__ = ["asked_window", "asks_for_latest"]

LATEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|now|nowadays|today|these days|at the moment|last time)\b",
    re.IGNORECASE,
)
NAMES = ("month", "weekday", "season", "holiday")
UNITS = {Unit.HOUR: timedelta(hours=1), Unit.MINUTE: timedelta(minutes=1)}
# More than any question asks about, so that a long text of dates stays cheap.
MOST_SPANS = 20


def asks_for_latest(text: str) -> bool:
    """Whether a query is about the present rather than the past."""
    return LATEST.search(text) is not None


def asked_window(text: str, asked_at: datetime, timezone: str = "UTC") -> Window | None:
    """When a query asks about, None where it does not say; a date that does not exist is none, and never an error.

    Days are those of `timezone`, and weeks begin on Monday. A year that is not said is the latest in which the day,
    month or season has begun by `asked_at`; with "last", the latest in which it has ended.
    """
    if not may_hold_time(text):
        return None
    zone = ZoneInfo(timezone)
    try:
        today = asked_at.astimezone(zone).date()
    except OverflowError:
        return None
    text, tokens, language = tokens_of(text)
    phrases = Phrases(tokens, today, language)
    found = list(islice(_spans(phrases, asked_at, zone, text), MOST_SPANS))
    if not found:
        return None
    alone = _says_nothing_else(phrases, text, [places for _, places in found])
    return Window(tuple(dict.fromkeys(span for span, _ in found)), timezone, alone)


def _says_nothing_else(phrases: Phrases, text: str, dates: Sequence[range]) -> bool:
    """Whether a text says nothing beside its dates, and each of them could be nothing else.

    The name of a month, a weekday, a season or a holiday is one of a person too, unless a word such as "in" leads it.
    """
    if any(len(places) == 1 and phrases.has(places[0], *NAMES) and not phrases.led(places[0]) for places in dates):
        return False
    dated = {place for places in dates for place in places}
    beside = [text[token.start : token.end] for place, token in enumerate(phrases.tokens) if place not in dated]
    nothing = saying_nothing(phrases.language)
    return all(fold_word(piece) in nothing for piece in beside if any(map(str.isalnum, piece)))


def _spans(phrases: Phrases, asked_at: datetime, zone: ZoneInfo, text: str) -> Iterator[tuple[Span, range]]:
    """The stretches of time in a text from left to right, each with the places of its tokens."""
    place = 0
    while place < len(phrases.tokens):
        span, following = None, place + 1
        if not phrases.starts(place):
            place = following
            continue
        try:
            elapsed = hours(phrases, place)
            found = None if elapsed is not None else phrases.expression(place)
            if elapsed is not None:
                following = elapsed[2]
                span = Span(asked_at - elapsed[0], asked_at - elapsed[1], phrases.words(text, place, following), "hour")
            elif found is not None:
                following = found[1]
                span = span_of(found[0], zone, phrases.words(text, place, following))
        except (ValueError, OverflowError):
            # What the calendar does not have, or what lies beyond it, is no date.
            following = phrases.beyond(place)
        if span is not None:
            yield span, range(place, following)
        place = following


def hours(phrases: Phrases, place: int) -> tuple[timedelta, timedelta, int] | None:
    """Of "the last two hours" and "an hour ago": how long ago they began and ended, and the place behind the words.

    So many hours ago is one hour, half of it before and half of it after.
    """
    past = phrases.has(place, "last", "past")
    start = place + 1 if past or phrases.has(place, "back") else place
    number = phrases.value(start, "number")
    unit = UNITS.get(Unit(phrases.value(start + (number is not None), "unit") or 0))
    behind = start + (1 if number is None else 2)
    if unit is None or number == 0:
        return None
    if past:
        return (number or 1) * unit, timedelta(0), behind
    ago = phrases.has(behind, "ago")
    if number is None or not (ago or phrases.has(place, "back")):
        return None
    return number * unit + unit / 2, number * unit - unit / 2, behind + ago
