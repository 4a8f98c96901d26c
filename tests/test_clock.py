"""The clocks: aware, in UTC, and never running backwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ebbtide.clock import FixedClock, SystemClock
from ebbtide.errors import InvalidInput

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_system_clock_is_in_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_a_fixed_clock_stands_still_until_it_is_advanced() -> None:
    clock = FixedClock(NOON)
    assert clock.now() == clock.now() == NOON
    assert clock.advance(timedelta(days=1)) == clock.now() == datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_fixed_clock_shows_utc_whatever_zone_it_was_set_in() -> None:
    clock = FixedClock(NOON.astimezone(timezone(timedelta(hours=9))))
    assert clock.now() == NOON
    assert clock.now().tzinfo is UTC


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="zone"):
        FixedClock(NOON.replace(tzinfo=None))


def test_a_clock_cannot_be_turned_back() -> None:
    with pytest.raises(InvalidInput, match="turned back"):
        FixedClock(NOON).advance(timedelta(seconds=-1))
