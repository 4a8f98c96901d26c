"""The command that tells how a query is read, without a store."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from ebbtide.checks import check_timezone
from ebbtide.cli.help import command
from ebbtide.cli.options import text_of, with_place
from ebbtide.cli.output import line, paragraph
from ebbtide.clock import SystemClock
from ebbtide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from rich.console import Console

    from ebbtide.cli.options import Place
    from ebbtide.cli.output import Output
    from ebbtide.types.recall import TimeWindow

__all__ = ["understand"]


@command(short_help="Tell how a query is read: its intent, its parts, its times.")
@click.argument("query", required=False)
@with_place
async def understand(place: Place, out: Output, query: str | None) -> None:
    """Tell what QUERY is taken to want, what is searched in its place, and which times it names. No store is opened."""
    from ebbtide.read.decompose import decompose
    from ebbtide.read.intent import classify
    from ebbtide.read.question import read_question

    settings, zone = Settings.from_environment(), ZoneInfo(check_timezone(place.timezone))
    question = read_question(
        text_of(query, "query"), (), longest=settings.max_query_characters, timezone=place.timezone,
        asked_characters=settings.asked_query_characters, asked_at=SystemClock().now(),
    )  # fmt: skip
    intent, confidence = classify(question.asked)
    told = {
        "asked": question.asked,
        "intent": intent,
        "intent_confidence": confidence,
        "queries": decompose(question.asked),
        "asked_time": [span.told() for span in question.window.spans] if question.window is not None else [],
    }
    out.answer(told, lambda console: show(console, told, zone))


def show(console: Console, told: Mapping[str, Any], zone: ZoneInfo) -> None:
    """The intent, and a line for each query and each time."""
    line(console, ("intent  ", "dim"), (told["intent"], "bold"), f"  {told['intent_confidence']:.2f}")
    for query in told["queries"]:
        paragraph(console, ("query   ", "dim"), query)
    for window in told["asked_time"]:
        paragraph(console, ("time    ", "dim"), (window.text, "cyan"), f"  {stretch(window, zone)}")


def stretch(window: TimeWindow, zone: ZoneInfo) -> str:
    """From when to when a window goes, in the zone of who asks."""
    ends = [("from", window.start), ("to", window.end)]
    told = " ".join(f"{word} {moment_in(zone, at)}" for word, at in ends if at is not None)
    return f"{told} ({window.precision}{', the year is guessed' if window.guessed else ''})"


def moment_in(zone: ZoneInfo, at: datetime) -> str:
    """A moment to the minute, as the clocks of the zone show it."""
    try:
        shown = at.astimezone(zone)
    except OverflowError:
        shown = at
    return f"{shown:%Y-%m-%d %H:%M}"
