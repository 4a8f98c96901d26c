"""The months a query asks about."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from ebbtide.read.moments import Month, Window, asked_window, asks_for_latest

ASKED_AT = datetime(2025, 7, 5, 9, tzinfo=UTC)


def months(text: str) -> set[tuple[int, int]]:
    window = asked_window(text, ASKED_AT)
    return set() if window is None else {(month.year, month.month) for month in window.months}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which incident did we have in May?", {(2025, 5)}),
        ("What broke in November last year?", {(2024, 11)}),
        ("What broke in November?", {(2024, 11)}),
        ("Who came in July?", {(2025, 7)}),
        ("What is planned next March?", {(2026, 3)}),
        ("What did we ship in March 2023?", {(2023, 3)}),
        ("What happened on March 18?", {(2025, 3)}),
        ("Where did they go last spring?", {(2025, 3), (2025, 4), (2025, 5)}),
        ("Where were we last winter?", {(2024, 12), (2025, 1), (2025, 2)}),
        ("How was the summer of 2022?", {(2022, 6), (2022, 7), (2022, 8)}),
        ("What was decided on 2024-09-12?", {(2024, 9)}),
        ("What did I spend last month?", {(2025, 6)}),
        ("What do I spend this month?", {(2025, 7)}),
        ("May I march into the office?", set()),
        ("Did the leaves fall?", set()),
        ("What was it in 2024-13-01?", set()),
        ("Where does Ana work?", set()),
    ],
)
def test_months_are_found(text: str, expected: set[tuple[int, int]]) -> None:
    assert months(text) == expected


def seconds(*dates: tuple[int, int, int]) -> list[float]:
    return [datetime(*date, tzinfo=UTC).timestamp() for date in dates]


def test_a_window_holds_the_moments_of_its_months() -> None:
    window = Window(frozenset({Month(2025, 5, guessed=False)}))
    moments = np.array([*seconds((2025, 5, 31), (2024, 5, 1), (1969, 5, 1)), np.nan])
    assert window.mask(moments).tolist() == [True, False, False, False]


def test_a_guessed_year_gives_way_when_nothing_lies_in_it() -> None:
    window = asked_window("Who came in May?", ASKED_AT)
    assert window is not None
    assert window.mask(np.array(seconds((2023, 5, 2), (2023, 6, 2)))).tolist() == [True, False]
    assert window.mask(np.array(seconds((2023, 5, 2), (2025, 5, 2)))).tolist() == [False, True]


def test_a_stated_year_does_not_give_way() -> None:
    window = asked_window("Who came in May 2024?", ASKED_AT)
    assert window is not None
    assert not window.mask(np.array(seconds((2023, 5, 2)))).any()


@pytest.mark.parametrize("text", ["What is the latest price?", "Where does she live now?", "Who is currently on call?"])
def test_questions_about_the_present(text: str) -> None:
    assert asks_for_latest(text)
    assert not asks_for_latest("What was it like before?")
