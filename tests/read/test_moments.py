"""When a query asks about: in twelve languages, in any zone, said or guessed."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.read.moments import asked_window, asks_for_latest
from ebbtide.read.time_phrases import Phrases
from ebbtide.read.time_tokens import tokens_of
from ebbtide.read.windows import Days, Window
from tests.read.time_phrases import NO_TIME, PHRASES, TODAY, YESTERDAY, Stretch, day

# A Thursday; in Tokyo it is Thursday evening.
NOW = datetime(2026, 3, 12, 9, 30, tzinfo=UTC)


def stretches(text: str, asked_at: datetime = NOW, timezone: str = "UTC") -> list[Stretch]:
    """The local days on which each stretch begins and ends; a stretch always begins with a day."""
    window = asked_window(text, asked_at, timezone)
    zone = ZoneInfo(timezone)
    found: list[Stretch] = []
    for span in window.spans if window else ():
        ends: list[str | None] = []
        for moment in (span.start, span.end):
            local = None if moment is None else moment.astimezone(zone)
            assert local is None or (local.hour, local.minute) == (0, 0)
            ends.append(None if local is None else local.date().isoformat())
        found.append((ends[0], ends[1]))
    return found


@pytest.mark.parametrize(("text", "expected"), PHRASES)
def test_a_phrase_is_read(text: str, expected: list[Stretch]) -> None:
    for timezone in ("UTC", "Europe/Zurich", "America/New_York", "Asia/Tokyo"):
        assert stretches(text, timezone=timezone) == expected


@pytest.mark.parametrize("text", NO_TIME)
def test_what_is_no_date_is_none(text: str) -> None:
    assert stretches(text) == []


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in the last 2 hours", "07:30:00", "09:30:00"),
        ("an hour ago", "08:00:00", "09:00:00"),
        ("vor drei Stunden", "06:00:00", "07:00:00"),
        ("30 minutes ago", "08:59:30", "09:00:30"),
    ],
)
def test_hours_are_counted_from_the_moment_of_asking(text: str, start: str, end: str) -> None:
    window = asked_window(text, NOW)
    assert window is not None
    assert [(f"{span.start:%H:%M:%S}", f"{span.end:%H:%M:%S}") for span in window.spans] == [(start, end)]


def test_last_night_goes_from_evening_to_morning() -> None:
    for text in ("last night", "gestern Nacht? letzte Nacht!", "anoche", "昨夜"):
        window = asked_window(text, NOW, "Asia/Tokyo")
        assert window is not None
        assert window.spans[-1].start == datetime(2026, 3, 11, 9, tzinfo=UTC)
        assert window.spans[-1].end == datetime(2026, 3, 11, 21, tzinfo=UTC)


def test_yesterday_is_the_day_of_the_zone() -> None:
    late = datetime(2026, 3, 12, 20, tzinfo=UTC)
    assert stretches("yesterday", late, "UTC") == [YESTERDAY]
    assert stretches("yesterday", late, "Asia/Tokyo") == [TODAY]
    assert stretches("yesterday", datetime(2026, 3, 12, 3, tzinfo=UTC), "America/New_York") == [day("2026-03-10")]


@pytest.mark.parametrize(
    ("zone", "local", "hours"),
    [
        ("Europe/Zurich", date(2026, 3, 29), 23),
        ("Europe/Zurich", date(2026, 10, 25), 25),
        ("Australia/Lord_Howe", date(2026, 4, 5), 24.5),
        # The clocks skip midnight.
        ("America/Havana", date(2026, 3, 8), 23),
        ("Asia/Beirut", date(2026, 3, 29), 23),
        ("UTC", date(2026, 3, 29), 24),
    ],
)
def test_a_day_has_the_hours_its_zone_gives_it(zone: str, local: date, hours: float) -> None:
    following = datetime.combine(local + timedelta(1), datetime.min.time(), ZoneInfo(zone)) + timedelta(hours=12)
    window = asked_window("yesterday", following, zone)
    assert window is not None
    [span] = window.spans
    assert span.start is not None
    assert span.end is not None
    assert span.end - span.start == timedelta(hours=hours)


def test_a_day_that_a_zone_skipped_is_none() -> None:
    # Samoa went from the 29th to the 31st of December 2011.
    assert stretches("on 2011-12-30", NOW, "Pacific/Apia") == []
    assert asked_window("on 2011-12-31", NOW, "Pacific/Apia") is not None


ZONES = [
    "UTC",
    "Europe/Zurich",
    "America/New_York",
    "America/Havana",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Africa/Casablanca",
]
MOMENTS = st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@given(MOMENTS, st.sampled_from(ZONES))
def test_yesterday_ends_as_today_begins_and_today_holds_now(now: datetime, zone: str) -> None:
    days = [asked_window(text, now, zone) for text in ("the day before yesterday", "yesterday", "today", "tomorrow")]
    spans = [window.spans[0] for window in days if window is not None]
    # A day that the zone skipped is missing among them.
    assert len(spans) >= 3
    assert all(one.end == other.start for one, other in pairwise(spans))
    today = next(span for span in spans if span.text == "today")
    assert today.start is not None
    assert today.end is not None
    assert today.start <= now < today.end


PIECES = [
    *{word for text, _ in PHRASES for word in text.split()},
    *NO_TIME,
    "99999",
    "0",
    "-",
    "/",
    "’",
    "٣",
    "²",
    "三",
    "百万",
    "last",
    "the",
    "of",
    "before",
    "between",
    "and",
    "1",
    "31",
    "2024",
    "9999-12-31",
    "0001-01-01",
    "年",
    "月",
    "日",
    "前",
]
EXTREMES = [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), NOW]


@given(
    st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)),
    st.sampled_from(EXTREMES),
    st.sampled_from(ZONES),
)
def test_any_text_at_any_time_is_read_without_error(text: str, now: datetime, zone: str) -> None:
    window = asked_window(text, now, zone)
    for span in window.spans if window else ():
        assert span.start is not None or span.end is not None
        assert span.start is None or span.end is None or span.start < span.end
        assert span.text in unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "piece",
    [
        "last ",
        "the end of ",
        "first week of ",
        "3月",
        "一",
        "12/",
        "2024-",
        "1,",
        "between ",
        "two weeks before ",
        "of the ",
        "March ",
        "昨日",
        "99999 ",
        "' ",
        "the day before ",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """Each token is looked at a bounded number of times: no count of phrases grows with the text around it."""
    looked: list[int] = []
    for length in (1_000, 2_000):
        _, tokens, language = tokens_of((piece * length)[:length])
        phrases = Counting(tokens, NOW.date(), language)
        place = 0
        while place < len(tokens):
            with suppress(ValueError, OverflowError):
                phrases.expression(place)
            place += 1
        looked.append(phrases.looks)
    assert looked[1] <= 2.5 * looked[0] + 100


class Counting(Phrases):
    """Phrases that count how often a token is looked at."""

    looks = 0

    def value(self, place: int, kind: str) -> int | None:
        self.looks += 1
        return super().value(place, kind)


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def days_after(window: Window | None, dated: list[float], created: list[float] | None = None) -> list[float]:
    assert window is not None
    written = np.array(created or [seconds("2026-03-12")] * len(dated))
    return window.days_after(np.array(dated), written).tolist()


def test_a_window_holds_its_days_to_the_second() -> None:
    window = asked_window("in May 2023", NOW)
    moments = [seconds("2023-05-01"), seconds("2023-06-01") - 1, seconds("2023-06-01"), seconds("2022-05-01"), -1e10]
    assert days_after(window, moments) == [0, 0, np.inf, np.inf, np.inf]
    assert days_after(asked_window("since May 2023", NOW), moments) == [0, 0, 0, np.inf, np.inf]
    assert days_after(asked_window("before May 2023", NOW), moments) == [np.inf, np.inf, np.inf, 0, 0]


def test_what_happened_on_a_named_day_is_told_later() -> None:
    moments = [seconds("2023-05-03"), seconds("2023-05-04"), seconds("2023-05-11"), seconds("2023-05-02")]
    assert days_after(asked_window("on May 3, 2023", NOW), moments) == [0, 0, 7, np.inf]
    assert days_after(asked_window("the first week of May 2023", NOW), moments) == [0, 0, 3, 0]
    yesterday = [seconds("2026-03-11T12:00"), seconds("2026-03-12T00:30")]
    assert days_after(asked_window("yesterday", NOW), yesterday) == [0, np.inf]


def test_a_guessed_year_gives_way_where_it_holds_nothing() -> None:
    window = asked_window("in February", NOW)
    assert days_after(window, [seconds("2024-02-01"), seconds("2024-03-01")]) == [0, np.inf]
    assert days_after(window, [seconds("2024-02-01"), seconds("2026-02-01")]) == [np.inf, 0]
    assert days_after(asked_window("in February 2026", NOW), [seconds("2024-02-01")]) == [np.inf]
    leap = asked_window("on February 29", NOW)
    assert days_after(leap, [seconds("2020-02-29T10:00"), seconds("2023-03-01")]) == [0, 1095]
    winter = asked_window("last winter", NOW)
    assert days_after(winter, [seconds("2022-01-15"), seconds("2022-03-15")]) == [0, np.inf]


def test_the_28th_of_february_moves_between_years_with_and_without_a_29th() -> None:
    leap = datetime(2028, 3, 12, tzinfo=UTC)
    assert stretches("from February 28 to March 2, 2025", leap) == [("2025-02-28", "2025-03-03")]
    assert days_after(asked_window("on February 28", leap), [seconds("2025-02-28T12:00")]) == [0]
    # Asked where there is no 29th, about a year that has one.
    assert stretches("from February 28 to March 2, 2024") == [("2024-02-28", "2024-03-03")]
    other = [seconds("2024-02-28T12:00"), seconds("2024-02-29T12:00")]
    assert days_after(asked_window("on February 28", NOW), other) == [0, 0.5]
    # A month ends with its own last day, in any year.
    ends = [seconds("2024-02-29T12:00"), seconds("2023-02-28T12:00")]
    assert days_after(asked_window("in February", NOW), ends) == [0, 0]
    later = [seconds("2027-02-28T12:00"), seconds("2027-03-01")]
    assert days_after(asked_window("in February", leap), later) == [0, np.inf]
    assert days_after(asked_window("in late February", leap), [seconds("2027-02-28T12:00")]) == [0]


@given(st.dates(date(1904, 1, 1), date(2100, 12, 1)), st.integers(1, 40), st.integers(-3, 3))
def test_days_in_another_year_begin_and_end_with_the_same_days(first: date, length: int, years: int) -> None:
    days = Days(first, first + timedelta(length), "day")
    try:
        moved = days.in_year(years)
    except ValueError:
        assert (2, 29) in {(first.month, first.day), (days.until - timedelta(1)).timetuple()[1:3]}
        return
    ends = (days.until - timedelta(1), moved.until - timedelta(1))
    assert [(one.month, one.day) for one in (first, ends[0])] == [
        (one.month, one.day) for one in (moved.first, ends[1])
    ]


def test_a_memory_without_a_date_counts_by_when_it_was_written() -> None:
    window, none = asked_window("yesterday", NOW), float("nan")
    written = [seconds("2026-03-11T12:00"), seconds("2026-03-12T08:00")]
    assert days_after(window, [none, none], written) == [0, np.inf]
    # An import wrote all of them at once.
    assert days_after(window, [none, none], [written[0]] * 2) == [np.inf, np.inf]
    assert days_after(window, [none, written[0]], written[::-1]) == [np.inf, 0]


@pytest.mark.parametrize("text", ["What is the latest?", "Where does she live now?", "her current job"])
def test_a_question_about_the_present_is_known(text: str) -> None:
    assert asks_for_latest(text)


@pytest.mark.parametrize("text", ["I know her", "snow", "Where did she live?", ""])
def test_a_question_about_the_past_is_known(text: str) -> None:
    assert not asks_for_latest(text)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("What did we do yesterday?", True),
        ("What happened last week?", True),
        ("Was haben wir gestern gemacht?", True),
        ("Qu'avons-nous fait hier ?", True),
        ("between March and May 2024", True),
        ("What did we paint yesterday?", False),
        ("last week the ferry", False),
        ("Wer hat gestern gestrichen?", False),
        ("昨天我们做了什么", False),
        ("What happened in May and June?", True),
        ("What did we talk about on Monday?", True),
        ("Was geschah im Mai?", True),
        ("What was that, on May 5, 2025?", True),
        ("What does June do?", False),
        ("Who is April?", False),
        ("What about August?", False),
        ("Who are April and June?", False),
        ("Christmas?", False),
        ("What was 4471 in May 2025?", False),
        ("What was B2 in May 2025?", False),
        ("What was at 5.5 % in May 2025?", False),
        ("What happened every night in May 2025?", False),
        ("Who is coming, in May 2025?", False),
    ],
)
def test_a_question_about_nothing_but_a_time_is_known(text: str, alone: bool) -> None:
    window = asked_window(text, NOW)
    assert window is not None
    assert window.alone == alone
