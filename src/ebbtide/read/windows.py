"""Stretches of time that a query asks about: calendar days in the asker's zone, and how moments lie to them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from ebbtide.types.recall import TimeWindow

__all__ = ["Days", "OpenDays", "Precision", "Span", "Window", "day_days", "day_start", "month_days", "span_of"]

Precision = Literal["hour", "day", "week", "month", "season", "year", "open"]

SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Days:
    """Calendar days from `first` up to and without `until`.

    The year is `guessed` where the query does not say it. `opens` and `closes` are hours of the clock: when the first
    day begins to count, and how far it goes on into the day after the last. `relative` ones are named from today.
    """

    first: date
    until: date
    precision: Precision
    guessed: bool = False
    relative: bool = False
    opens: int = 0
    closes: int = 0

    def in_year(self, years: int) -> Days:
        """The same days so many years on.

        Raises:
            ValueError: that year has none of them, as the 29th of February, or lies beyond the calendar.
            OverflowError: they end with the last day of the calendar.
        """
        first = self.first.replace(year=self.first.year + years)
        if self.precision == "day":
            last = self.until - timedelta(1)
            return replace(self, first=first, until=last.replace(year=last.year + years) + timedelta(1))
        # What ends with February ends with it in any year, and the day after the 28th may be the 1st of March.
        until = self.until.replace(year=self.until.year + years, day=1) + timedelta(self.until.day - 1)
        return replace(self, first=first, until=until)


@dataclass(frozen=True, slots=True)
class OpenDays:
    """All days from `first` on, or up to and without `until`; the other one is None."""

    first: date | None
    until: date | None


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of time, in UTC: from `start` up to and without `end`, None where that end is open.

    `text` is the words of the query that say it, `days` the calendar days it consists of, None for hours.
    """

    start: datetime | None
    end: datetime | None
    text: str
    precision: Precision
    days: Days | None = None

    @property
    def guessed(self) -> bool:
        """Whether the query did not say the year."""
        return self.days is not None and self.days.guessed

    def told(self) -> TimeWindow:
        """The stretch as it is told."""
        return TimeWindow(
            start=self.start, end=self.end, text=self.text, precision=self.precision, guessed=self.guessed
        )

    def days_after(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many days after it each moment lies, in seconds since 1970 UTC: 0 within it, infinity before it.

        Infinity too after all but a named day or week: of a month one does not tell in the next, and what is named from
        today, such as yesterday, has only just passed.
        """
        start = -np.inf if self.start is None else self.start.timestamp()
        end = np.inf if self.end is None else self.end.timestamp()
        told = (moments - end) / SECONDS_A_DAY if self.told_later else np.inf
        return np.where(moments < start, np.inf, np.where(moments < end, 0.0, told))

    @property
    def told_later(self) -> bool:
        """Whether what happened then is told of in the days after it."""
        return self.precision in ("day", "week") and self.days is not None and not self.days.relative


@dataclass(frozen=True, slots=True)
class Window:
    """The stretches of time a query asks about, in the order they are named, and the zone their days are of.

    `alone` says that it asks about nothing else, as "what did we do yesterday" does.
    """

    spans: tuple[Span, ...]
    timezone: str
    alone: bool = False

    def __str__(self) -> str:
        return ", ".join(f"{span.text} ({_shown(span.start)} to {_shown(span.end)})" for span in self.spans)

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies in the window as it is asked about."""
        return any(
            (span.start is None or span.start <= moment) and (span.end is None or moment < span.end)
            for span in self.spans
        )

    def days_after(self, dated: NDArray[np.float64], created: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many days after the window each memory lies, by the moments they are dated and were written, shape (n,).

        Moments are in seconds since 1970 UTC; see `Span.days_after`. A memory without a date, NaN, counts by when it
        was written, unless the window would then hold all such memories: an import writes everything at once, and says
        nothing by that. Where nothing lies in the window and a year was only guessed, the same days of any year count.
        """
        undated = np.isnan(dated)
        moments = np.where(undated, created, dated)
        after = _telling(_nearest(self.spans, moments), undated)
        if (after == 0).any() or not any(span.guessed for span in self.spans):
            return after
        known = moments[~np.isnan(moments)]
        years = np.unique(known.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64)) + 1970
        return np.minimum(after, _telling(_nearest(self.in_years(years.tolist()), moments), undated))

    def in_years(self, years: Sequence[int]) -> list[Span]:
        """The stretches whose year was guessed, in each of these years instead."""
        zone = ZoneInfo(self.timezone)
        others: list[Span] = []
        for span in self.spans:
            if span.days is None or not span.guessed:
                continue
            # A winter begins in one year and ends in the next; and a year ends at another moment in another zone.
            for year in {year + more for year in years for more in (-1, 0, 1)}:
                with suppress(ValueError, OverflowError):
                    moved = span_of(span.days.in_year(year - span.days.first.year), zone, span.text)
                    others += [] if moved is None else [moved]
        return others


def _shown(moment: datetime | None) -> str:
    return "any time" if moment is None else moment.isoformat()


def _nearest(spans: Sequence[Span], moments: NDArray[np.float64]) -> NDArray[np.float64]:
    after = np.full(len(moments), np.inf)
    for span in spans:
        after = np.minimum(after, span.days_after(moments))
    return after


def _telling(after: NDArray[np.float64], undated: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The same without the memories that have no date, where they are all near."""
    return np.where(undated, np.inf, after) if np.isfinite(after[undated]).all() else after


def span_of(days: Days | OpenDays, zone: ZoneInfo, text: str) -> Span | None:
    """The stretch of time that calendar days are in a zone; None where it is empty or beyond the calendar."""
    opens, closes = (days.opens, days.closes) if isinstance(days, Days) else (0, 0)
    try:
        start = None if days.first is None else day_start(days.first, zone, opens)
        end = None if days.until is None else day_start(days.until, zone, closes)
    except OverflowError:
        return None
    if start is not None and end is not None and start >= end:
        return None
    if isinstance(days, Days):
        return Span(start, end, text, days.precision, days)
    return Span(start, end, text, "open")


def day_start(day: date, zone: ZoneInfo, hour: int = 0) -> datetime:
    """The moment in UTC at which a day begins in a zone, or an hour of it.

    Where clocks skip midnight, that is the moment at which they do; a day that they skip whole begins with the next.

    Raises:
        OverflowError: the moment lies outside the years 1 to 9999.
    """
    # The earlier offset is the one before a change: a midnight that does not exist becomes the moment of the change.
    return datetime.combine(day, time(hour), zone).astimezone(UTC)


def day_days(day: date, *, guessed: bool = False) -> Days:
    """One day.

    Raises:
        OverflowError: it is the last of the calendar.
    """
    return Days(day, day + timedelta(days=1), "day", guessed)


def month_days(year: int, month: int, count: int = 1, *, guessed: bool = False) -> Days:
    """So many whole months, from a month on that may lie outside 1 to 12.

    Raises:
        ValueError: they lie outside the years 1 to 9999.
    """
    first, until = year * 12 + month - 1, year * 12 + month - 1 + count
    precision: Precision = "year" if count >= 12 else "season" if count == 3 else "month"
    return Days(date(first // 12, first % 12 + 1, 1), date(until // 12, until % 12 + 1, 1), precision, guessed)
