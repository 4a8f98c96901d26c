"""Arithmetic of the calendar: the units around a day, counted on and back, and years that are guessed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from enum import IntEnum

from ebbtide.read.windows import Days, Precision, day_days, month_days

__all__ = ["LOOKED_BACK", "Unit", "latest", "next_to", "nth", "rolling", "shifted", "unit_around", "unit_away"]

# A leap day is found in the eight years before, whichever century it is.
LOOKED_BACK = 9
EVENING, MORNING = 18, 6


class Unit(IntEnum):
    """The units of time that have a word, in the order in which the lexicon lists them."""

    DAY = 0
    WEEK = 1
    MONTH = 2
    YEAR = 3
    WEEKEND = 4
    QUARTER = 5
    DECADE = 6
    HOUR = 7
    MINUTE = 8
    NIGHT = 9


MONTHS_OF = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12, Unit.DECADE: 120}


def unit_around(unit: int, day: date) -> Days:
    """The day, week, month, quarter, year or decade that a day lies in; weeks begin on Monday.

    Raises:
        ValueError: there is no such unit of whole days, or it lies beyond the calendar.
    """
    if unit == Unit.DAY:
        return day_days(day)
    if unit == Unit.WEEK:
        return _week(day - timedelta(day.weekday()))
    if unit == Unit.WEEKEND:
        return _weekend(day)
    count = _months_of(unit)
    month = day.year * 12 + day.month - 1
    return month_days(0, month - month % count + 1, count)


def shifted(day: date, unit: int, number: int) -> date:
    """A day so many units on; where the month is shorter, its last day.

    Raises:
        ValueError, OverflowError: there is no such unit of whole days, or the day lies beyond the calendar.
    """
    if unit in (Unit.DAY, Unit.WEEK, Unit.WEEKEND):
        return day + timedelta(number * (1 if unit == Unit.DAY else 7))
    month = month_days(day.year, day.month + number * _months_of(unit))
    return month.first.replace(day=min(day.day, (month.until - month.first).days))


def unit_away(today: date, unit: int, shift: int) -> Days:
    """The calendar unit before, around or after today: last week, this weekend, next year, last night.

    Raises:
        ValueError: it is no unit of days; "the last day" is the final one of something.
    """
    if unit == Unit.NIGHT:
        first = today + timedelta(shift)
        return Days(first, first + timedelta(1), "day", opens=EVENING, closes=MORNING)
    if unit == Unit.DAY and shift:
        raise ValueError("the last day of something")
    return unit_around(unit, shifted(today, unit, shift))


def rolling(today: date, unit: int, number: int) -> Days:
    """So many units up to today, and today; below 0, that many from today on.

    Raises:
        ValueError, OverflowError: there is no such unit of whole days, or they go beyond the calendar.
    """
    other = shifted(today, unit, -number)
    return Days(min(other, today), max(other, today) + timedelta(1), unit_around(unit, today).precision)


def next_to(anchor: date, unit: int, number: int | None, sign: int) -> Days:
    """The day, week, month or year so many before (`sign` -1) or after a day; without a number the one that touches it.

    Raises:
        ValueError, OverflowError: there is no such unit of whole days, or it lies beyond the calendar.
    """
    if number is None and unit != Unit.DAY:
        edge = anchor + timedelta(max(sign, 0))
        other = shifted(edge, unit, sign)
        return Days(min(edge, other), max(edge, other), unit_around(unit, anchor).precision)
    return unit_around(unit, shifted(anchor, unit, sign * (1 if number is None else number)))


def nth(whole: Days, unit: int, number: int) -> Days:
    """The day, week or quarter of that number within some days, counted from the first; -1 for the last.

    Raises:
        ValueError, OverflowError: there is none.
    """
    if unit == Unit.QUARTER:
        quarter = 4 if number < 0 else number
        part = month_days(whole.first.year, whole.first.month + 3 * (quarter - 1), 3, guessed=whole.guessed)
    else:
        length = timedelta(7 if unit == Unit.WEEK else 1)
        first = whole.until - length if number < 0 else whole.first + (number - 1) * length
        precision: Precision = "week" if unit == Unit.WEEK else "day"
        part = Days(first, min(first + length, whole.until), precision, whole.guessed)
    if not whole.first <= part.first < whole.until:
        raise ValueError("beyond the whole")
    return part


def latest(today: date, days_of: Callable[[int], Days], shift: int | None) -> Days:
    """Days of a year that is not said: of the latest year in which they have begun.

    With `shift` -1 ("last") of the latest in which they have ended, with 1 ("next") of the first in which they have not
    begun, with 0 ("this") of the one in which they hold today, else of today's.

    Raises:
        ValueError: in none of the years around there are such days.
    """
    for away in range(LOOKED_BACK):
        try:
            days = days_of(today.year + (away if shift == 1 else -away))
        except ValueError:
            continue
        if _fits(days.first, days.until, today, shift):
            return days
    if shift == 0:
        return days_of(today.year)
    raise ValueError("in none of the years around")


def _fits(first: date, until: date, today: date, shift: int | None) -> bool:
    match shift:
        case 1:
            return first > today
        case -1:
            return until <= today
        case 0:
            return first <= today < until
        case _:
            return first <= today


def _week(monday: date) -> Days:
    return Days(monday, monday + timedelta(7), "week")


def _weekend(day: date) -> Days:
    saturday = day + timedelta(5 - day.weekday())
    return Days(saturday, saturday + timedelta(2), "day")


def _months_of(unit: int) -> int:
    months = MONTHS_OF.get(Unit(unit))
    if months is None:
        raise ValueError("no unit of whole days")
    return months
