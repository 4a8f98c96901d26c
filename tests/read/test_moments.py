"""The months a query asks about: said, or guessed from when it is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.read.moments import Month, Window, asked_window, asks_for_latest
from tests.stores import START


def months(text: str, asked_at: datetime = START) -> set[tuple[int, int, bool]]:
    window = asked_window(text, asked_at)
    return {(month.year, month.month, month.guessed) for month in window.months} if window else set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened in May 2023?", {(2023, 5, False)}),
        ("What happened on 7 May 2023?", {(2023, 5, False)}),
        ("on 2024-02-29", {(2024, 2, False)}),
        ("Where were we in February?", {(2026, 2, True)}),
        ("Where were we in April?", {(2025, 4, True)}),
        ("What did we do in March?", {(2026, 3, True)}),
        ("last month", {(2026, 2, False)}),
        ("this month", {(2026, 3, False)}),
        ("in summer 2024", {(2024, 6, False), (2024, 7, False), (2024, 8, False)}),
        ("in the winter of 2024", {(2024, 12, False), (2025, 1, False), (2025, 2, False)}),
        ("between January 2025 and February 2025", {(2025, 1, False), (2025, 2, False)}),
        ("You may march on", set()),
        ("She may fall", set()),
        ("a spring in her step", set()),
        ("the marching band", set()),
        ("", set()),
    ],
)
def test_a_month_is_read(text: str, expected: set[tuple[int, int, bool]]) -> None:
    assert months(text) == expected


def seconds(year: int, month: int, day: int = 1) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


def test_a_window_holds_its_months_to_the_second() -> None:
    window = Window(frozenset({Month(2023, 5, guessed=False)}))
    moments = np.array([seconds(2023, 5), seconds(2023, 6) - 1, seconds(2023, 6), seconds(2022, 5), np.nan, -1e10])
    assert window.mask(moments).tolist() == [True, True, False, False, False, False]


def test_a_guessed_year_gives_way_where_it_holds_nothing() -> None:
    window = Window(frozenset({Month(2026, 2, guessed=True)}))
    assert window.mask(np.array([seconds(2024, 2), seconds(2024, 3)])).tolist() == [True, False]
    assert window.mask(np.array([seconds(2024, 2), seconds(2026, 2)])).tolist() == [False, True]
    said = Window(frozenset({Month(2026, 2, guessed=False)}))
    assert said.mask(np.array([seconds(2024, 2)])).tolist() == [False]


@pytest.mark.parametrize("text", ["What is the latest?", "Where does she live now?", "her current job"])
def test_a_question_about_the_present_is_known(text: str) -> None:
    assert asks_for_latest(text)


@pytest.mark.parametrize("text", ["I know her", "snow", "Where did she live?", ""])
def test_a_question_about_the_past_is_known(text: str) -> None:
    assert not asks_for_latest(text)


@given(st.text(alphabet=st.sampled_from("in May 2023-0519,last this.winter of 十万年99999 ")))
def test_any_text_has_months_of_the_calendar(text: str) -> None:
    window = asked_window(text, START)
    assert window is None or all(1 <= month.month <= 12 and 1900 <= month.year < 2101 for month in window.months)
