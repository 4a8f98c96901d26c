"""Structured personal data: each kind is recognised, and what only looks like it is not."""

from __future__ import annotations

import pytest

from ebbtide.govern.personal import holds_personal_data, personal_data_in

HOLDS = {
    "email": ["write to ana.b+c@mail.example.org.", "ANA@EXAMPLE.COM", "<ana@sub.example.com>", "üser@example.com"],
    "phone": ["+41 44 668 18 00", "call +1-202-555-0143 now", "(202) 555-0143", "202-555-0143", "+4915112345678"],
    "ssn": ["078-05-1120", "ssn: 219-09-9999."],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"],
    "ipv4": ["192.168.0.1", "at 10.0.0.255.", "(8.8.8.8)"],
}
HOLDS_NOT = [
    "version 1.2.3",
    "1.2.3.4.5",
    "300.1.2.3",
    "order 4111 1111 1111 1112",
    "0000 0000 0000 0000",
    "000-12-3456",
    "666-12-3456",
    "2026-03-02",
    "at 09:00-10:00",
    "12345678",
    "a @ b",
    "user@localhost",
    "3.14159265358979",
    "",
    "Meet @ana at 5",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in HOLDS.items() for text in texts])
def test_a_kind_is_found(kind: str, text: str) -> None:
    assert kind in personal_data_in(text)
    assert holds_personal_data(f"Remember: {text}")


@pytest.mark.parametrize("text", HOLDS_NOT)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert personal_data_in(text) == ()


def test_long_texts_take_no_time() -> None:
    for text in ("1" * 100_000, "a@" * 50_000, "+1 " * 30_000, "1." * 50_000, "(202) " * 15_000):
        holds_personal_data(text)
