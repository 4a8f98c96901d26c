"""The grammar of phrases of time: what stretch of days some tokens name, as seen from a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from ebbtide.read.calendar_days import LOOKED_BACK, Unit, latest, next_to, nth, rolling, shifted, unit_around, unit_away
from ebbtide.read.time_tokens import Token
from ebbtide.read.windows import Days, OpenDays, day_days, month_days

__all__ = ["Phrases"]

# The month in which each season begins; a winter runs into the next year.
SEASONS = (3, 6, 9, 12)
# Month, day and length in days: Christmas, the last day of the year, Halloween.
HOLIDAYS = ((12, 24, 3), (12, 31, 1), (10, 31, 1))
RELATIONS = {"last": -1, "past": -1, "this": 0, "next": 1}
# What makes a date of a word that may also be another one; and of a bare number that may be a year.
YEAR_LEADS = frozenset({"in", "since", "before", "until", "after", "between", "and", "early", "mid", "late", "half"})
LEADS = YEAR_LEADS | RELATIONS.keys() | {"at", "every"}
NUMBERED = (Unit.DAY, Unit.WEEK, Unit.QUARTER)
# How often "the end of the first week of …" is followed.
DEEPEST = 3
FEW, COUPLE = (2, 5), (2, 3)


# What a phrase may begin with.
STARTS = frozenset({"between", "since", "before", "until", "after", "day", "night", "early", "mid", "late", "half",
                    "ordinal", "last", "past", "this", "next", "number", "day_number", "few", "couple", "unit", "one",
                    "back", "weekday", "month", "season", "holiday", "quarter", "year", "decade"})  # fmt: skip
OPENING = ("since", "before", "until", "after")
Read = tuple[Days, int] | None
"""The days that a phrase names, and the place behind it; None where there is no such phrase."""


def joined(first: Days, last: Days) -> Days:
    """From the beginning of the one to the end of the other; a year that one of them leaves out is the other's.

    Raises:
        ValueError: the one ends before the other begins.
    """
    if first.guessed and not last.guessed:
        first = first.in_year(last.until.year - first.first.year)
    elif last.guessed and not first.guessed:
        last = last.in_year(first.first.year - last.first.year)
        last = last if first.first < last.until else last.in_year(1)
    if first.first >= last.until:
        if not first.guessed:
            raise ValueError("a range that ends before it begins")
        first = first.in_year(-1)
    precision = first.precision if first.precision == last.precision else "open"
    return Days(first.first, last.until, precision, first.guessed and last.guessed)


def open_to(kind: str, days: Days) -> OpenDays:
    """What lies before or after some days, with them or without."""
    return OpenDays(
        {"since": days.first, "after": days.until}.get(kind), {"before": days.first, "until": days.until}.get(kind)
    )


class Phrases:
    """The phrases among some tokens, each read at a place.

    What the calendar does not have raises ValueError, what lies beyond it OverflowError or ValueError.
    """

    def __init__(self, tokens: Sequence[Token], today: date, language: str) -> None:
        self.tokens = tokens
        self.today = today
        self.language = language

    def value(self, place: int, kind: str) -> int | None:
        """The value of the token at a place as a word of a kind, None where it is none."""
        return self.tokens[place].kinds.get(kind) if 0 <= place < len(self.tokens) else None

    def has(self, place: int, *kinds: str) -> bool:
        """Whether the token at a place is a word of one of the kinds."""
        if 0 <= place < len(self.tokens):
            known = self.tokens[place].kinds
            for kind in kinds:
                if kind in known:
                    return True
        return False

    def starts(self, place: int) -> bool:
        """Whether a phrase may begin at a place."""
        return self.tokens[place].days is not None or not STARTS.isdisjoint(self.tokens[place].kinds)

    def behind(self, place: int, *kinds: str) -> int:
        """The place behind up to two articles, or words of these kinds."""
        for _ in range(2):
            if self.has(place, "the", *kinds):
                place += 1
        return place

    def words(self, text: str, place: int, behind: int) -> str:
        """The piece of the text from a place up to the one behind."""
        return text[self.tokens[place].start : self.tokens[behind - 1].end]

    def beyond(self, place: int) -> int:
        """The place behind all the words of time that stand together, where they make no date of the calendar."""
        place += 1
        while place < len(self.tokens) and (
            self.tokens[place].days or (self.tokens[place].kinds and not self.has(place, "word"))
        ):
            place += 1
        return place

    def relation(self, place: int) -> int | None:
        """-1 for a word such as "last", 0 for "this", 1 for "next"; None for others."""
        return next((shift for kind, shift in RELATIONS.items() if self.has(place, kind)), None)

    def dated(self, place: int) -> bool:
        """Whether what stands before a place, articles aside, makes it a date."""
        for before in (place - 1, place - 2, place - 3):
            if self.has(before, *LEADS):
                return True
            if not self.has(before, "the"):
                return False
        return False

    def led(self, place: int) -> bool:
        """Whether the word before a place, articles aside, is one that only a time follows, or joins it to a time."""
        while self.has(place - 1, "the"):
            place -= 1
        return self.has(place - 1, "in", "and", *RELATIONS)

    def expression(self, place: int) -> tuple[Days | OpenDays, int] | None:
        """The longest phrase that begins at a place: a range, an open stretch, or a date."""
        found = self.bounded(place) or self.opened(place)
        if found is not None:
            return found
        found = self.date(place)
        return None if found is None else self.opened_behind(*found)

    def bounded(self, place: int) -> Read:
        """Between … and …; from … to …; a range of days within one month."""
        between = self.has(place, "between")
        start = self.behind(place + 1) if between else place
        joint = ("to", "and") if between else ("to",)
        day = self.value(start, "day_number")
        if day is not None and self.has(start + 1, *joint):
            last = self.date(self.behind(start + 2), bare=True)
            if last is not None and last[0].precision == "day":
                return joined(replace(last[0], first=last[0].first.replace(day=day)), last[0]), last[1]
        first = self.date(start, bare=between)
        if first is None or not self.has(first[1], *joint):
            return None
        last = self.date(self.behind(first[1] + 1), bare=True)
        return self.numbered(*first) if last is None else (joined(first[0], last[0]), last[1])

    def numbered(self, first: Days, joint: int) -> Read:
        """March 3-5, 2024: the end is a number alone, and the year stands behind both."""
        day = self.value(joint + 1, "day_number")
        if day is None or first.precision != "day":
            return None
        days = joined(first, replace(first, until=first.first.replace(day=day) + timedelta(1)))
        said = self.year_at(joint + 2) if first.guessed else None
        if said is None:
            return days, joint + 2
        return replace(days.in_year(said[0] - first.first.year), guessed=False), said[1]

    def opened(self, place: int) -> tuple[Days | OpenDays, int] | None:
        """Since …, before …, until …, after …."""
        kind = next((kind for kind in OPENING if self.has(place, kind)), None)
        if kind is None:
            return None
        start = self.behind(place + 1)
        found = self.date(start, bare=True)
        if found is not None:
            return open_to(kind, found[0]), found[1]
        number, unit = self.value(start, "number"), self.value(start + 1, "unit")
        if kind == "since" and number and unit is not None:
            return OpenDays(rolling(self.today, unit, number).first, None), start + 2
        return None

    def opened_behind(self, days: Days, place: int) -> tuple[Days | OpenDays, int]:
        """The same where the word comes behind, as in Japanese."""
        kind = next((kind for kind in OPENING if self.has(place, f"{kind}_it")), None)
        return (days, place) if kind is None else (open_to(kind, days), place + 1)

    def date(self, place: int, *, bare: bool = False, depth: int = 0) -> Read:
        """A stretch of whole days; `bare` where what stands before has made clear that a date comes."""
        if place >= len(self.tokens) or depth > DEEPEST:
            return None
        days = self.tokens[place].days
        if days is not None:
            return (days, place + 1) if not self.has(place, "decade") or self.has(place - 1, "the") else None
        found = self.edge(place, depth) or self.offset(place, depth)
        if found is None:
            found = self.day(place) or self.related(place) or self.ago(place)
            if found is not None:
                return replace(found[0], relative=True), found[1]
        return found or self.named(place, bare=bare) or self.year(place, bare=bare)

    def day(self, place: int) -> Read:
        """Yesterday and its like, and last night."""
        if self.has(place, "night"):
            night = unit_away(self.today, Unit.NIGHT, -1)
            return night, place + 1
        offset = self.value(place, "day")
        # "La mañana" and "der Morgen" are mornings.
        if offset is None or (offset == 1 and self.has(place - 1, "the")):
            return None
        return day_days(self.today + timedelta(offset)), place + (2 if self.value(place + 1, "day") == 1 else 1)

    def edge(self, place: int, depth: int) -> Read:
        """Early 2023, the end of May, the first week of May, the second half of 2023."""
        number = self.value(place, "ordinal") or (-1 if self.has(place, "last") else None)
        unit = self.value(place + 1, "unit")
        if number is not None and unit is not None and unit in NUMBERED and self.has(place + 2, "the", "in"):
            whole = self.date(self.behind(place + 2, "in"), bare=True, depth=depth + 1)
            return None if whole is None else (nth(whole[0], unit, number), whole[1])
        part = next((kind for kind in ("early", "mid", "late", "half") if self.has(place, kind)), None)
        if part is None:
            return None
        start = place + 2 if self.has(place + 1, "dash") else place + 1
        whole = self.date(self.behind(start, "in"), bare=True, depth=depth + 1)
        if whole is None:
            return None
        first, length = whole[0].first, (whole[0].until - whole[0].first).days
        if length < (6 if part == "half" else 7):
            return None
        pieces, which = (
            (2, self.value(place, "half") or 0) if part == "half" else (3, ("early", "mid", "late").index(part))
        )
        return replace(
            whole[0],
            first=first + timedelta(length * which // pieces),
            until=first + timedelta(length * (which + 1) // pieces),
        ), whole[1]

    def offset(self, place: int, depth: int) -> Read:
        """The week of …; two days before …; the Sunday after …."""
        number = self.value(place, "number")
        start = place if number is None else place + 1
        unit, weekday = self.value(start, "unit"), self.value(start, "weekday")
        before = self.has(start + 1, "before")
        if unit == Unit.WEEK and number is None and self.has(start + 1, "the") and not self.has(start + 1, "in"):
            found = self.date(self.behind(start + 1), bare=True, depth=depth + 1)
            if found is not None and found[0].precision == "day":
                return unit_around(Unit.WEEK, found[0].first), found[1]
            return None
        if (unit is None and weekday is None) or not (before or self.has(start + 1, "after")):
            return None
        found = self.date(self.behind(start + 2), bare=True, depth=depth + 1)
        if found is None:
            return None
        anchor = found[0].first if before else found[0].until - timedelta(1)
        if weekday is not None:
            ahead = (weekday - anchor.weekday()) % 7
            return day_days(anchor + timedelta(ahead - 7 if before else ahead or 7)), found[1]
        return next_to(anchor, unit or Unit.DAY, number, -1 if before else 1), found[1]

    def related(self, place: int) -> Read:
        """Last week, the past three months, next Friday, the Monday of last week, last year in May."""
        shift = self.relation(place)
        if shift is not None:
            counted = self.rolled(place + 1, shift)
            if counted is not None:
                return counted
            unit = self.value(place + 1, "unit")
            if unit is None:
                return self.named(place + 1, shift=shift, bare=True)
            if self.has(place, "past") and unit not in (Unit.WEEKEND, Unit.NIGHT):
                return rolling(self.today, unit, 1), place + 2
            return self.within(unit_away(self.today, unit, shift), unit, place + 2)
        unit, number = self.value(place, "unit"), self.value(place, "number")
        shift = self.relation(place + 1)
        if unit is not None and shift is not None:
            return self.within(unit_away(self.today, unit, shift), unit, place + 2)
        if number and shift is not None and (unit := self.value(place + 2, "unit")) is not None and shift:
            return rolling(self.today, unit, number * -shift), place + 3
        return None

    def rolled(self, place: int, shift: int) -> Read:
        """The number and the unit of "the last three months"."""
        number, unit = self.value(place, "number"), self.value(place + 1, "unit")
        if self.has(place, "few", "couple"):
            number = (FEW if self.has(place, "few") else COUPLE)[1]
        if not number or unit is None or not shift or (self.value(place, "number") == 1 and self.has(place, "the")):
            return None
        return rolling(self.today, unit, number * -shift), place + 2

    def within(self, whole: Days, unit: int, place: int) -> Read:
        """A day of that week, or a month, season or day of that year, where one is named behind."""
        start = self.behind(place, "in", "comma")
        if unit == Unit.WEEK:
            weekday = self.value(start, "weekday")
            if weekday is not None:
                return day_days(whole.first + timedelta(weekday)), start + 1
        if unit == Unit.MONTH and self.has(start, "day_number") and not self.has(start, "number"):
            return day_days(whole.first.replace(day=self.value(start, "day_number") or 1)), start + 1
        named = self.named(start, year=whole.first.year, bare=True) if unit == Unit.YEAR else None
        return named or (whole, place)

    def ago(self, place: int) -> Read:
        """Three days ago, in the forms that put the word before or behind."""
        back = self.has(place, "back")
        start = place + 1 if back else place
        unit = self.value(start, "one")
        if unit is not None and self.has(start + 1, "ago") and not self.has(start - 1, "word", "number"):
            return unit_around(unit, shifted(self.today, unit, -1)), start + 2
        counted = FEW if self.has(start, "few") else COUPLE if self.has(start, "couple") else None
        number, unit = self.value(start, "number"), self.value(start + 1, "unit")
        behind = self.has(start + 2, "ago")
        if unit is None or not (back or behind) or not (counted or number) or unit > Unit.DECADE:
            return None
        following = start + 3 if behind else start + 2
        if unit == Unit.WEEKEND:
            return unit_away(self.today, unit, -(number or FEW[0])), following
        nearest, farthest = counted or (number or 0, number or 0)
        first = unit_around(unit, shifted(self.today, unit, -farthest))
        return replace(first, until=unit_around(unit, shifted(self.today, unit, -nearest)).until), following

    def named(self, place: int, *, shift: int | None = None, year: int | None = None, bare: bool = False) -> Read:
        """A day, month, season, quarter, weekday or holiday by its name, with the year where one is said."""
        return (
            self.month(place, shift, year, bare=bare)
            or self.season(place, shift, year, bare=bare)
            or self.holiday(place, shift, year, bare=bare)
            or (self.weekday(place, shift, bare=bare) if year is None else None)
        )

    def month(self, place: int, shift: int | None, year: int | None, *, bare: bool) -> Read:
        """March, 18 March, March 18th, 2024, Q3 2025; or a day of the month alone."""
        quarter = self.value(place, "quarter")
        if quarter is not None:
            return self.of_year(lambda y: month_days(y, 3 * quarter - 2, 3), place + 1, shift, year)
        day, start = self.value(place, "day_number"), place
        if day is not None:
            start = self.behind(place + 2 if self.has(place + 1, "full_stop") else place + 1)
        month = self.value(start, "month")
        if month is None:
            return None if day is None or year is not None else self.day_alone(place, day)
        following = start + 1
        if day is None:
            second = following + 1 if self.has(following, "full_stop") else following
            day = self.value(second, "day_number")
            if day is not None and not self.has(second + 1, "unit", "month"):
                following = second + 1
            else:
                day = None
        token = self.tokens[start]
        dated = bare or day is not None or self.dated(place) or self.relation(following) is not None
        if not dated:
            dated = "said" in token.kinds or self.year_at(following) is not None
        if not (dated if token.weak else dated or token.capital) or (
            token.weak and self.language == "en" and not token.capital
        ):
            return None
        if day is None:
            return self.of_year(lambda y: month_days(y, month), following, shift, year)
        return self.of_year(lambda y: day_days(date(y, month, day)), following, shift, year)

    def day_alone(self, place: int, day: int) -> Read:
        """ "On the 18th": of this month, or of the latest one whose 18th has come."""
        written = self.has(place, "number")
        if written or (self.has(place, "ordinal") and not self.ends_date(place)):
            return None
        for back in range(LOOKED_BACK):
            first = month_days(self.today.year, self.today.month - back).first
            if (first + timedelta(day - 1)).month == first.month and first + timedelta(day - 1) <= self.today:
                return day_days(first + timedelta(day - 1)), place + 1
        return None

    def ends_date(self, place: int) -> bool:
        """Whether an ordinal stands as in "on the 18th.", with nothing behind that it could count."""
        last = place + 1 >= len(self.tokens) or not self.has(place + 1, "word", "unit", "ordinal", "number", "half")
        return last and self.has(place - 1, "the") and self.has(place - 2, "in", "since", "before", "until", "after")

    def season(self, place: int, shift: int | None, year: int | None, *, bare: bool) -> Read:
        """Summer, the summer of 2024, 2024 summer."""
        stated = self.value(place, "year") if self.has(place + 1, "season") else None
        start = place if stated is None else place + 1
        season = self.value(start, "season")
        if season is None:
            return None
        weak = self.tokens[start].weak and "said" not in self.tokens[start].kinds
        behind = self.relation(start + 1) is not None or self.year_at(start + 1) is not None
        if weak and not (bare or stated or year or behind or self.dated(start)):
            return None
        return self.of_year(lambda y: month_days(y, SEASONS[season], 3), start + 1, shift, stated or year)

    def holiday(self, place: int, shift: int | None, year: int | None, *, bare: bool) -> Read:
        """Christmas and its like."""
        holiday = self.value(place, "holiday")
        if holiday is None or (self.tokens[place].weak and not (bare or self.dated(place))):
            return None
        month, day, length = HOLIDAYS[holiday]

        def days_of(of_year: int) -> Days:
            first = date(of_year, month, day)
            return Days(first, first + timedelta(length), "day")

        return self.of_year(days_of, place + 1, shift, year)

    def weekday(self, place: int, shift: int | None, *, bare: bool) -> Read:
        """On Monday: the latest one; last Monday: one before today; this Friday: of this week; next Friday."""
        weekday = self.value(place, "weekday")
        if weekday is None or self.has(place - 1, "every"):
            return None
        following = place + 1
        if shift is None and self.relation(following) is not None and not self.has(following + 1, "unit", "month"):
            shift, following = self.relation(following), following + 1
        # "Monday, 18 March" is that day; "Monday of last week" is in that week.
        start = self.behind(following, "comma")
        of_week = self.relation(start), self.value(start + 1, "unit")
        if of_week[0] is not None and of_week[1] == Unit.WEEK:
            monday = unit_away(self.today, Unit.WEEK, of_week[0]).first
            return day_days(monday + timedelta(weekday)), start + 2
        if start < len(self.tokens) and (self.tokens[start].days or self.has(start, "month", "day_number")):
            return None
        if shift is None and not (bare or self.dated(place) or self.has(place, "said")):
            return None
        away = (weekday - self.today.weekday()) % 7
        if shift == 0:
            away = weekday - self.today.weekday()
        elif shift == 1:
            away = away or 7
        elif away or shift == -1:
            away -= 7
        return replace(day_days(self.today + timedelta(away)), relative=True), following

    def year(self, place: int, *, bare: bool) -> Read:
        """In 2023, the year 2023; a number alone is no year."""
        year = self.value(place, "year")
        if year is None:
            return self.year(place + 1, bare=True) if self.value(place, "unit") == Unit.YEAR else None
        if self.has(place, "said"):
            named = self.named(place + 1, year=year, bare=True)
            if named is not None:
                return named
        unit = self.value(place + 1, "unit")
        if unit not in (None, Unit.YEAR) or not (bare or self.has(place, "said") or self.has(place - 1, *YEAR_LEADS)):
            return None
        return month_days(year, 1, 12), place + (2 if unit == Unit.YEAR else 1)

    def of_year(
        self, days_of: Callable[[int], Days], place: int, shift: int | None, year: int | None
    ) -> tuple[Days, int]:
        """The days in the year said before or behind them, else in the year that is guessed."""
        if year is not None:
            return days_of(year), place
        if shift is None:
            said = self.year_at(place)
            if said is not None:
                return days_of(said[0]), said[1]
            if self.relation(place) is not None and not self.has(place + 1, "unit", "month", "weekday", "season"):
                shift, place = self.relation(place), place + 1
        return replace(latest(self.today, days_of, shift), guessed=True), place

    def year_at(self, place: int) -> tuple[int, int] | None:
        """The year said at a place, in figures or as "last year", and the place behind it."""
        start = self.behind(place, "comma", "in")
        said = self.value(start, "year")
        if said is not None:
            return said, start + 1
        for relation, unit in ((start, start + 1), (start + 1, start)):
            shift = self.relation(relation)
            if shift is not None and self.value(unit, "unit") == Unit.YEAR:
                return self.today.year + shift, start + 2
        return None
