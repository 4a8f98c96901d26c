"""Reading the pause a server asks for."""

from __future__ import annotations

import pytest
from httpx import Headers

from ebbtide.models.answers import seconds_to_wait

NOON = "Tue, 03 Mar 2026 12:00:00 GMT"
HALF_A_MINUTE_LATER = "Tue, 03 Mar 2026 12:00:30 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": HALF_A_MINUTE_LATER}, None),
        ({"Retry-After": HALF_A_MINUTE_LATER, "Date": NOON}, 30.0),
        ({"Retry-After": NOON, "Date": HALF_A_MINUTE_LATER}, 0.0),
        ({"Retry-After": NOON, "Date": "Tue, 03 Mar 2026 12:00:00 -0000"}, None),
    ],
)
def test_the_pause_is_read_from_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(Headers(headers)) == seconds
