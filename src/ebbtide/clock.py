"""The one place that reads the wall clock; everything else is told what time it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

from ebbtide.errors import InvalidInput

__all__ = ["Clock", "FixedClock", "SystemClock"]


class Clock(Protocol):
    """What tells the engine the time."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        ...


class SystemClock:
    """The computer's own clock."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is advanced, so that a test or an evaluation can be repeated exactly.

    Args:
        moment: the time it shows first; aware, in any zone.

    Raises:
        InvalidInput: `moment` has no time zone.
    """

    def __init__(self, moment: datetime) -> None:
        if moment.utcoffset() is None:
            raise InvalidInput(
                "A clock cannot be set to a time without a zone.", field="moment", remedy="Give it a zone, such as UTC."
            )
        self._moment = moment.astimezone(UTC)

    def now(self) -> datetime:
        """The moment the clock was set or advanced to, aware and in UTC."""
        return self._moment

    def advance(self, interval: timedelta) -> datetime:
        """Move the clock forward by `interval` and return the new moment.

        Raises:
            InvalidInput: `interval` is negative; time does not run backwards.
        """
        if interval < timedelta(0):
            raise InvalidInput(
                "A clock cannot be turned back.",
                field="interval",
                remedy="Make a new FixedClock at the earlier moment.",
            )
        self._moment += interval
        return self._moment
