"""The months a query asks about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

__all__ = ["Window", "asked_window"]

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug", "september sept sep",
         "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11), "winter": (12, 1, 2)}
WORD = re.compile(r"[A-Za-z]+|\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Window:
    """Calendar months, of one year or of any."""

    months: frozenset[int]
    year: int | None

    def mask(self, moments: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which moments, in seconds since 1970 UTC and NaN for none, lie in the window."""
        return np.array(
            [not np.isnan(moment) and self.holds(datetime.fromtimestamp(moment, UTC)) for moment in moments],
            dtype=np.bool_,
        )

    def holds(self, date: datetime) -> bool:
        """Whether a date lies in the window."""
        return date.month in self.months and (self.year is None or date.year == self.year)


def asked_window(text: str) -> Window | None:
    """The months that a text names, None where it names none."""
    months: set[int] = set()
    for found in WORD.finditer(text):
        word = found.group()
        if word.casefold() in MONTHS and word[0].isupper():
            months.add(MONTHS[word.casefold()])
        elif word.casefold() in SEASONS:
            months.update(SEASONS[word.casefold()])
    years = {int(year) for year in re.findall(r"\b((?:19|20)\d\d)\b", text)}
    return Window(frozenset(months), years.pop() if len(years) == 1 else None) if months else None
