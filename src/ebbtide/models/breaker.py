"""A circuit breaker: what fails several times in a row is left alone for a while, then tried once."""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["CircuitBreaker"]

# One failure may be chance and two bad luck; after three every further recall would wait for its deadline in vain.
FAILURES = 3
# Long enough to spare a server that restarts, and short enough that nobody has to close it by hand.
PAUSE = timedelta(seconds=30)


class CircuitBreaker:
    """Closed, it admits everything; after three failures in a row it is open for 30 s; then it admits one probe.

    A probe that succeeds closes it, one that fails opens it for another 30 s. Ask `admits`, and then say what came of
    it with exactly one of `succeeded`, `failed` and `abandoned`.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._opened_at: datetime | None = None
        self._probing = False

    def opens_at(self, now: datetime) -> datetime | None:
        """Until when nothing is admitted, None where something is."""
        if self._opened_at is None or not self._opened_at <= now < self._opened_at + PAUSE:
            return None
        return self._opened_at + PAUSE

    def admits(self, now: datetime) -> bool:
        """Whether to ask. After the pause only the first who wants to may."""
        if self._opened_at is None:
            return True
        if self._probing or self.opens_at(now) is not None:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The answer was good."""
        self._failures, self._opened_at, self._probing = 0, None, False

    def failed(self, now: datetime) -> None:
        """There was none, or no good one."""
        self._failures += 1
        if self._probing or self._failures >= FAILURES:
            self._opened_at, self._probing = now, False

    def abandoned(self) -> None:
        """Whoever asked went away before the answer; nothing is known of it."""
        self._probing = False
