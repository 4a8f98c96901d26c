"""The time filter: a query about a time is answered from that time, unless it holds too little."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.read.filters import dated_within

if TYPE_CHECKING:
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.scope import Scope

__all__ = ["enough_of_it", "of_asked_time"]

# With fewer hits than that, or than are asked for, the time is no filter.
FEWEST = 3


def of_asked_time(scope: Scope, profile: Profile, question: Question) -> Scope | None:
    """The scope's memories of the time a query asks about; None where that is no filter.

    It is one under a profile that filters by time, and for a query that asks about nothing but a time.
    """
    if question.window is None or not (profile.time_filter or question.window.alone):
        return None
    spans = [
        (None if span.start is None else span.start.timestamp(), None if span.end is None else span.end.timestamp())
        for span in question.window.spans
    ]
    return replace(scope, where=dated_within(spans, scope.where))


def enough_of_it(hits: int, profile: Profile) -> bool:
    """Whether so many hits of the asked time are an answer: three where the profile filters, or else any."""
    return hits >= (min(FEWEST, profile.limit) if profile.time_filter else 1)
