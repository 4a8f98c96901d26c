"""The months and seasons a query asks about, and whether it asks about the present."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ebbtide.text import month_names

__all__ = ["Month", "Window", "asked_window", "asks_for_latest"]

MONTHS = tuple(name.casefold() for name in month_names)
SEASONS = {
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "autumn": (9, 10, 11),
    "fall": (9, 10, 11),
    # A winter runs into the next year.
    "winter": (12, 1, 2),
}
# These are also other words, and count as dates only in the company of one.
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan"})
AMBIGUOUS_SEASONS = frozenset({"fall", "spring"})

YEAR = r"(?:19|20)\d\d"
NAME = "|".join([*MONTHS, *(month[:3] for month in MONTHS if month != "may"), "sept"])
LEAD = (
    "in|of|during|since|until|till|by|from|for|on|last|this|next|early|mid|late|end of|before|after|around|every|"
    r"between|and|or|\d(?:st|nd|rd|th)?"
)
MONTH = re.compile(
    rf"(?:\b(?P<lead>{LEAD})[ -]+)?\b(?P<month>{NAME})\b\.?(?P<day> \d{{1,2}}(?:st|nd|rd|th)?\b(?! *%))?"
    rf"(?:,? *(?:of )?(?P<year>{YEAR})\b)?(?P<past> last year| this year)?",
    re.IGNORECASE,
)
SEASON = re.compile(
    r"\b(?:(?P<lead>last|this|past|next|in|during|of|since)(?: the)? +)?"
    rf"(?:(?P<before>{YEAR}) +)?(?P<season>{'|'.join(SEASONS)})\b(?: of)?(?: *(?P<year>{YEAR})\b)?"
    r"(?P<past> last year| this year)?",
    re.IGNORECASE,
)
NUMERIC = re.compile(rf"\b({YEAR})-(0[1-9]|1[0-2])(?:-\d\d)?\b")
RELATIVE_MONTH = re.compile(r"\b(last|this|previous|past) month\b", re.IGNORECASE)
LATEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|now|nowadays|today|these days|at the moment|last time)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month of a year; the year is `guessed` where the query does not say it."""

    year: int
    month: int
    guessed: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The months a query asks about."""

    months: frozenset[Month]

    def mask(self, moments: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which moments, in seconds since 1970 UTC and NaN for none, lie in the window.

        Where nothing lies in it and a year was only guessed, that month of any year counts.
        """
        known = ~np.isnan(moments)
        months = np.where(known, moments, 0.0).astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
        asked = np.array([(month.year - 1970) * 12 + month.month - 1 for month in self.months], dtype=np.int64)
        inside = known & np.isin(months, asked)
        guessed = [month.month - 1 for month in self.months if month.guessed]
        if inside.any() or not guessed:
            return inside
        return known & np.isin(months % 12, guessed)


def asks_for_latest(text: str) -> bool:
    """Whether a query is about the present rather than the past."""
    return LATEST.search(text) is not None


def asked_window(text: str, asked_at: datetime) -> Window | None:
    """The months a query names, None where it names none; English names.

    A year that is not said is the latest in which the month or season has begun by `asked_at`; with "last", the latest
    in which it has ended. A day counts as its month.
    """
    months = _numeric_months(text) | _named_months(text, asked_at) | _season_months(text, asked_at)
    relative = RELATIVE_MONTH.search(text)
    if relative is not None:
        index = asked_at.year * 12 + asked_at.month - 1 - (relative[1].casefold() != "this")
        months.add(Month(index // 12, index % 12 + 1, guessed=False))
    return Window(frozenset(months)) if months else None


def _numeric_months(text: str) -> set[Month]:
    return {Month(int(found[1]), int(found[2]), guessed=False) for found in NUMERIC.finditer(text)}


def _named_months(text: str, asked_at: datetime) -> set[Month]:
    months: set[Month] = set()
    for found in MONTH.finditer(text):
        lead, name = (found["lead"] or "").casefold(), found["month"]
        capital, dated = name[0].isupper(), bool(found["day"] or found["year"] or lead)
        if not (capital and dated if name.casefold() in AMBIGUOUS_MONTHS else capital or dated):
            continue
        month = next(number for number, full in enumerate(MONTHS, 1) if full.startswith(name.casefold()[:3]))
        year = int(found["year"]) if found["year"] else _year(month, month, lead, found["past"], asked_at)
        months.add(Month(year, month, guessed=not found["year"]))
    return months


def _season_months(text: str, asked_at: datetime) -> set[Month]:
    months: set[Month] = set()
    for found in SEASON.finditer(text):
        season, lead = SEASONS[found["season"].casefold()], (found["lead"] or "").casefold()
        stated = found["year"] or found["before"]
        if found["season"].casefold() in AMBIGUOUS_SEASONS and not (lead or stated):
            continue
        year = int(stated) if stated else _year(season[0], season[-1], lead, found["past"], asked_at)
        months |= {Month(year + (month < season[0]), month, guessed=not stated) for month in season}
    return months


def _year(start: int, end: int, lead: str, past: str | None, asked_at: datetime) -> int:
    """The year of a period from month `start` to month `end` that is named without one."""
    if past:
        return asked_at.year - ("last" in past.casefold())
    if lead == "this":
        return asked_at.year
    if lead == "next":
        return asked_at.year + (start <= asked_at.month)
    if lead == "last":
        return asked_at.year - (not start <= end < asked_at.month)
    return asked_at.year - (start > asked_at.month)
