"""Structured personal data: e-mail, phone, US social security number, credit card, IPv4 address."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address

__all__ = ["holds_personal_data", "personal_data_in"]

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
SOCIAL_SECURITY = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
IPV4 = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)")
# International form, or the North American one with separators; bare runs of digits are order numbers.
PHONE = re.compile(
    r"(?<![\w+])(?:\+\d{1,3}(?:[ .\-]?\(?\d{1,4}\)?){2,6}|\(?[2-9]\d{2}\)?[ .\-]\d{3}[.\-]\d{4})(?![\w-])"
)
FEWEST_PHONE_DIGITS, MOST_PHONE_DIGITS = 8, 15


def personal_data_in(text: str) -> tuple[str, ...]:
    """The kinds of structured personal data a text holds, without their values; of email, phone, ssn, card, ipv4."""
    found = {
        "email": EMAIL.search(text) is not None,
        "phone": any(
            FEWEST_PHONE_DIGITS <= len(_digits(match.group())) <= MOST_PHONE_DIGITS for match in PHONE.finditer(text)
        ),
        "ssn": SOCIAL_SECURITY.search(text) is not None,
        "card": any(_luhn(_digits(match.group())) for match in CARD.finditer(text)),
        "ipv4": any(_is_address(match.group(1)) for match in IPV4.finditer(text)),
    }
    return tuple(kind for kind, present in found.items() if present)


def holds_personal_data(text: str) -> bool:
    """Whether a text holds any structured personal data."""
    return bool(personal_data_in(text))


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _luhn(digits: str) -> bool:
    total = sum(
        int(digit) if place % 2 == 0 else sum(divmod(int(digit) * 2, 10))
        for place, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0 and len(set(digits)) > 1


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
