"""Structured personal data: each kind is recognised, what only looks like it is not, and redaction leaves nothing."""

from __future__ import annotations

import time
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.govern import personal
from ebbtide.govern.personal import (
    Finding,
    find_personal_data,
    holds_personal_data,
    kinds_of,
    personal_data_in,
    redact,
    redactions,
)
from ebbtide.types.memory import Memory

HOLDS = {
    "email": [
        "write to ana.b+c@mail.example.org.", "ANA@EXAMPLE.COM", "<ana@sub.example.com>", "üser@example.com",
        "mailto:ana@example.com?subject=x", "ana_b@example.com, bob@example.net", "(o'neil@example.org)",
    ],
    "phone": [
        "+41 44 668 18 00", "call +1-202-555-0143 now", "(202) 555-0143", "202-555-0143", "+4915112345678",
        "+1 555 123 4567", "555-123-4567", "+44 20 7946 0958", "+33 1 23 45 67 89", "+81 3-1234-5678",
        "+91 98765 43210", "0041 44 668 18 00", "1-800-555-0199", "202.555.0143", "+49 (0)30 901820",
        "Tel. 044 668 18 00", "phone number: 07700 900123", "mobile 06 12 34 56 78", "call me at 5551234567",
        "WhatsApp: +55 11 91234-5678", "+61 2 5550 1234",
    ],
    "ssn": [
        "078-05-1120", "ssn: 219-09-9999.", "SSN 219099999", "social security number is 219 09 9999", "(078-05-1120)",
    ],
    "card": [
        "4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "6011111111111117", "3530111333300000",
        "paid on 2026-03-02 4111 1111 1111 1111", "card 4111111111111111, exp 12/27", "30569309025904",
        "2223003122003222", "3782 822463 10005",
    ],
    "ipv4": ["192.168.0.1", "at 10.0.0.255.", "(8.8.8.8)", "http://172.16.0.9:8080/x", "10.0.0.0/8"],
}  # fmt: skip
HOLDS_NOT = [
    "version 1.2.3", "1.2.3.4.5", "300.1.2.3", "order 4111 1111 1111 1112", "0000 0000 0000 0000", "000-12-3456",
    "666-12-3456", "2026-03-02", "at 09:00-10:00", "12345678", "a @ b", "user@localhost", "3.14159265358979", "",
    "Meet @ana at 5", "version 1.2.3.4", "firmware 10.0.0.1", "v1.2.3.4", "Release: 2.0.0.1", "Chrome/120.0.0.0",
    "section 4.1.2.3", "react@18.2.0", "npm install @scope/pkg@1.2.3", "git@example.com:ana/tools.git",
    "order 123-45-6789", "Order no. 202-555-0143", "invoice #2025550143", "ticket 20255501", "PO 4500123456",
    "tracking number 1234 5678 9012 3456", "2026-03-02T09:00:00+01:00", "UTC+02:00", "1700000000000", "1700000000",
    "+5 points", "+1500 m", "C++ 20", "a + 12345678", "4006381333931", "978-3-16-148410-0", "356938035643809",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "commit 4111111", "0x4111111111111111", "0.4111111111111111", "$1,234,567.89", "10.5.2026", "01.02.2026",
    "ISO 9001:2015", "SKU 4411-2233-11", "Room 101-102-1033", "chapters 200 300 4000", "49.99.00", "00012345678",
    "0012345678901", "GMT+0100 2026", "1-2-3-4-5-6-7-8-9", "+0 123 456 789", "ext. 4711", "7/24/365",
    "size 12 x 34 x 5678", "between 2019-2024", "AS 64512, 64513", "the number 123456789",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in HOLDS.items() for text in texts])
def test_a_kind_is_found_and_redacted(kind: str, text: str) -> None:
    assert personal_data_in(text) == (kind,)
    assert holds_personal_data(f"Remember: {text}")
    assert f"[{kind.upper()}]" in redact(text)
    assert personal_data_in(redact(text)) == ()


@pytest.mark.parametrize("text", HOLDS_NOT)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert personal_data_in(text) == ()
    assert redact(text) == text


def test_the_placeholder_takes_the_place_of_the_value_alone() -> None:
    text = "Ana (ana@example.com, +41 44 668 18 00) paid with 4111 1111 1111 1111 from 10.0.0.7; SSN 078-05-1120."
    assert redact(text) == "Ana ([EMAIL], [PHONE]) paid with [CARD] from [IPV4]; SSN [SSN]."
    assert [one.kind for one in find_personal_data(text)] == ["email", "phone", "card", "ipv4", "ssn"]


def test_values_within_values_are_redacted() -> None:
    said = Memory.model_construct(
        content="hello", subject="ana@example.com", predicate=None, speaker=None, labels=(), tags=("10.0.0.7",),
        metadata={"to": ["bob@example.com", 7, None], "10.0.0.7": {"phone": "+41 44 668 18 00"}},
    )  # fmt: skip
    assert kinds_of(said) == ("email", "phone", "ipv4")
    redacted = said.model_copy(update=redactions(said))
    assert redacted.subject == "[EMAIL]"
    assert redacted.tags == ("[IPV4]",)
    assert redacted.metadata == {"to": ["[EMAIL]", 7, None], "[IPV4]": {"phone": "[PHONE]"}}
    assert kinds_of(redacted) == ()


SAMPLES = st.sampled_from([text for texts in HOLDS.values() for text in texts] + HOLDS_NOT)
GLUE = st.sampled_from(["", " ", "-", ".", ",", "@", "+", "(", "1", "x", "\n", "é", ": ", "00", "#", "tel ", "["])
TEXTS = st.lists(st.tuples(GLUE, SAMPLES), max_size=4).map(
    lambda parts: "".join(f"{glue}{text}" for glue, text in parts)
)
DIGITS = st.text(alphabet="0123456789+-. ()@a", max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXTS, DIGITS, st.text()))
def test_redaction_leaves_nothing_and_is_done_once(text: str) -> None:
    redacted = redact(text)
    assert find_personal_data(redacted) == []
    assert redact(redacted) == redacted
    assert holds_personal_data(text) == (redacted != text)


SPREAD = st.lists(st.tuples(SAMPLES, st.integers(0, 120)), max_size=5).map(
    lambda parts: "".join(text + " and" * (gap // 4) + " " * (gap % 4) for text, gap in parts)
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(TEXTS, DIGITS, SPREAD, st.text()))
def test_looking_where_digits_are_finds_what_looking_everywhere_does(text: str) -> None:
    with patch.object(personal, "windows_of", lambda given: [(0, len(given))]):
        everywhere = find_personal_data(text)
    assert find_personal_data(text) == everywhere


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab@.-+git_é ", max_size=40))
def test_addresses_are_found_from_their_signs_as_from_the_start(text: str) -> None:
    assert find_personal_data(text) == [Finding("email", *match.span()) for match in personal.EMAIL.finditer(text)]


def test_long_texts_take_no_time() -> None:
    started = time.perf_counter()
    for text in ("1" * 100_000, "a@" * 50_000, "+1 " * 30_000, "1." * 50_000, "(202) " * 15_000, "1 2 " * 25_000):
        redact(text)
    assert time.perf_counter() - started < 10
