"""understand, as JSON and for people, without any store."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import classify, decompose
from ebbtide.clock import FixedClock
from tests.cli.conftest import Run

QUERY = "What did we decide about the ferry last week?"


@pytest.fixture
def clocked(run: Run, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program at 9 o'clock on Monday, 2 March 2026, UTC, where no store is configured."""
    monkeypatch.setattr("ebbtide.cli.understanding.SystemClock", lambda: clock)
    return run


def test_a_query_is_told_as_the_functions_and_a_recall_read_it(clocked: Run) -> None:
    told = clocked("understand", QUERY, "--timezone", "Europe/Zurich", "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json == {
        "asked": QUERY,
        "intent": "decision",
        "intent_confidence": classify(QUERY).confidence,
        "queries": decompose(QUERY),
        "asked_time": [
            {
                "start": "2026-02-22T23:00:00Z",
                "end": "2026-03-01T23:00:00Z",
                "text": "last week",
                "precision": "week",
                "guessed": False,
            }
        ],
    }


def test_people_read_the_times_in_their_zone(clocked: Run) -> None:
    shown = clocked("understand", QUERY, "--timezone", "Europe/Zurich").out.splitlines()
    assert shown[0] == f"intent  decision  {classify(QUERY).confidence:.2f}"
    assert shown[1:-1] == [f"query   {part}" for part in decompose(QUERY)]
    assert shown[-1] == "time    last week  from 2026-02-23 00:00 to 2026-03-02 00:00 (week)"


def test_an_open_end_and_a_guessed_year_are_told(clocked: Run) -> None:
    assert clocked("understand", "since 2024").out.endswith("from 2024-01-01 00:00 (open)\n")
    assert (
        "from 2025-05-01 00:00 to 2025-06-01 00:00 (month, the year is guessed)" in clocked("understand", "in May").out
    )


def test_a_query_that_says_little_is_factual_with_no_confidence(clocked: Run) -> None:
    assert clocked("understand", "ferry").out == "intent  factual  0.00\nquery   ferry\n"
    assert clocked("understand", "-", stdin="ferry").out == "intent  factual  0.00\nquery   ferry\n"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((" ",), "query"),
        (("x\0",), "query"),
        (("x" * 10_001,), "query"),
        (("x", "--timezone", "Mars/Olympus"), "timezone"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(clocked: Run, arguments: Any, field: str) -> None:
    ran = clocked("understand", *arguments, "--json")
    assert (ran.code, ran.json["error"]["field"]) == (2, field)
