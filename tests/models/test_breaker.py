"""The circuit breaker: three failures in a row open it for 30 seconds, and then one probe decides."""

from __future__ import annotations

from datetime import timedelta

from ebbtide.models.breaker import CircuitBreaker
from tests.stores import START

SECOND = timedelta(seconds=1)


def failed(times: int) -> CircuitBreaker:
    breaker = CircuitBreaker()
    for _ in range(times):
        assert breaker.admits(START)
        breaker.failed(START)
    return breaker


def test_two_failures_leave_it_closed_and_the_third_opens_it() -> None:
    assert failed(2).admits(START)
    breaker = failed(3)
    assert not breaker.admits(START)
    assert breaker.opens_at(START) == START + 30 * SECOND


def test_a_success_starts_the_count_anew() -> None:
    breaker = failed(2)
    breaker.succeeded()
    breaker.failed(START)
    breaker.failed(START)
    assert breaker.admits(START)


def test_after_thirty_seconds_one_probe_is_admitted() -> None:
    breaker = failed(3)
    assert not breaker.admits(START + 29 * SECOND)
    assert breaker.admits(START + 30 * SECOND)
    assert not breaker.admits(START + 31 * SECOND)
    breaker.succeeded()
    assert breaker.admits(START + 31 * SECOND)
    assert breaker.admits(START + 31 * SECOND)


def test_a_probe_that_fails_opens_it_again() -> None:
    breaker = failed(3)
    assert breaker.admits(START + 30 * SECOND)
    breaker.failed(START + 32 * SECOND)
    assert not breaker.admits(START + 61 * SECOND)
    assert breaker.admits(START + 62 * SECOND)


def test_a_probe_that_is_abandoned_lets_the_next_one_in() -> None:
    breaker = failed(3)
    assert breaker.admits(START + 30 * SECOND)
    breaker.abandoned()
    assert breaker.admits(START + 30 * SECOND)


def test_a_clock_turned_back_does_not_keep_it_open() -> None:
    assert failed(3).admits(START - 3600 * SECOND)
