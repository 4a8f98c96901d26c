"""Structured personal data: e-mail, phone, US social security number, credit card, IPv4 address; found and redacted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ebbtide.errors import InvalidInput

__all__ = [
    "KINDS",
    "Finding",
    "Statement",
    "check_kept",
    "find_personal_data",
    "holds_personal_data",
    "kinds_of",
    "personal_data_in",
    "redact",
    "redactions",
    "refused",
]

KINDS = ("email", "phone", "ssn", "card", "ipv4")

# The last label is letters alone: what follows the @ of a package is its version. git@ leads to a repository.
EMAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]+@(?:[\w-]+\.)+(?:[^\W\d_]{2,}|xn--[\w-]+)(?![\w-])")
SOCIAL_SECURITY = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
NAMED_SOCIAL_SECURITY = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?)?)(?: is)?[\s:#=]{0,3}"
    r"((?!000|666|9)\d{3}[ -]?\d{2}[ -]?\d{4})(?![\w-])",
    re.IGNORECASE,
)
# Whatever is looked for has at least four digits, each at most three characters behind the one before.
DIGITS = re.compile(r"\d(?:\D{0,3}\d){3,}")
# So far before them may the words stand that name them, and so far behind them what they must not be followed by.
LONGEST_NAME, FOLLOWING = 80, 3
LOCAL_PART = re.compile(r"[\w.+-]")
DIGIT_GROUPS = re.compile(r"(?<![\w-])(?<!\d[.,])\d+(?:[ -]\d+)*(?![\w-])(?![.,]\d)")
# Visa, Mastercard, American Express, Discover, JCB and Diners Club, by their first digits and length.
CARD = re.compile(
    r"4\d{15}(?:\d{3})?|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12,14}|3[47]\d{13}"
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)
SHORTEST_CARD, LONGEST_CARD = 14, 19
FIRST_OF_A_CARD = "23456"
IPV4 = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)")
# The North American form, with separators; bare runs of digits are order numbers.
NORTH_AMERICAN = re.compile(
    r"(?<![\w+.-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?\d{3}[ .-]|[2-9]\d{2}([.-])\d{3}\1|[2-9]\d{2} \d{3}-)"
    r"\d{4}(?![\w-])(?!\.\d)"
)
# A number in any national form, where a word says that it is one.
NAMED_PHONE = re.compile(
    r"\b(?:tele(?:ph|f)on[oe]?|t[ée]l[ée]phone|phone|tel|mobile?|m[óo]vil|cell|handy|fax|whatsapp"
    r"|call (?:me|us|him|her|them))\b"
    r"(?:[\s.:#=]|\b(?:number|no|nr|is|at|on|under|unter|ist|est|es|al|au)\b){0,8}"
    r"(\(?\d(?:[ ()./-]{0,2}\d){6,14})(?![\w-])",
    re.IGNORECASE,
)
INTERNATIONAL = re.compile(r"\+[ (]{0,2}\d(?:[^\d\n]{0,3}\d){6}")
DIALLED_INTERNATIONAL = re.compile(r"(?<![\w.,-])00[1-9]\d{0,2}[ .-](?:[^\w\n]{0,2}\d){6}")
# Words before a number that say it is none of these.
COUNTED = re.compile(
    r"\b(?:order|invoice|ticket|tracking|parcel|shipment|part|serial|reference|ref|item|sku|case|rma|article|batch|lot)\b"
    r"(?: (?:number|code|id))?[\s.:#=]*(?:no|nr)?[\s.:#=]*$",
    re.IGNORECASE,
)
VERSIONED = re.compile(
    r"(?:\b(?:version|ver|release|build|firmware|driver|kernel|sdk|section|chapter|clause|paragraph|revision|rev|chrome|oid)"
    r"|§)[\s.:#=/]*v?$",
    re.IGNORECASE,
)
CONTEXT_CHARACTERS = 32
LARGEST_OCTET = 255

Window = tuple[int, int]
"""A part of a text, from its start to its end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of personal data: its kind, of email, phone, ssn, card and ipv4, and its place in the text."""

    kind: str
    start: int
    end: int


class Statement(Protocol):
    """What a memory and a draft have in common: the fields that say something."""

    @property
    def content(self) -> str: ...
    @property
    def subject(self) -> str | None: ...
    @property
    def predicate(self) -> str | None: ...
    @property
    def speaker(self) -> str | None: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


def find_personal_data(text: str) -> list[Finding]:
    """Every piece of structured personal data in a text, in order and without overlaps; the longer one counts."""
    found = list(_findings(text))
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Finding] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def personal_data_in(text: str) -> tuple[str, ...]:
    """The kinds of structured personal data a text holds, without their values; of email, phone, ssn, card, ipv4."""
    kinds = {one.kind for one in find_personal_data(text)}
    return tuple(kind for kind in KINDS if kind in kinds)


def holds_personal_data(text: str) -> bool:
    """Whether a text holds any structured personal data."""
    return next(_findings(text), None) is not None


def check_kept(name: str, field: str, mode: str | None) -> str:
    """A name that is stored as it is given or not at all, where the rule on its namespace lets it be stored.

    Raises:
        InvalidInput: it holds personal data, and the rule is to redact, drop or quarantine that.
    """
    if mode not in (None, "allow") and (kinds := personal_data_in(name)):
        raise refused(kinds, field)
    return name


def refused(kinds: Sequence[str], field: str) -> InvalidInput:
    """The error that says that a text holds personal data of some kinds that may not be stored; nothing of it."""
    return InvalidInput(
        f"The text holds {', '.join(kinds)}, which its namespace does not keep.",
        field=field,
        remedy="Leave the personal data out.",
    )


def redact(text: str) -> str:
    """The text with a placeholder such as `[EMAIL]` in place of each value; nothing that can be found is left."""
    while found := find_personal_data(text):
        pieces: list[str] = []
        end = 0
        for one in found:
            pieces += [text[end : one.start], f"[{one.kind.upper()}]"]
            end = one.end
        text = "".join([*pieces, text[end:]])
    return text


def kinds_of(statement: Statement) -> tuple[str, ...]:
    """The kinds of personal data in everything that a memory or a draft says."""
    beside = [text for text in (statement.subject, statement.predicate, statement.speaker) if text]
    texts = [statement.content, *beside, *statement.labels, *statement.tags, *_texts_in(statement.metadata)]
    if len(texts) == 1:
        return personal_data_in(texts[0])
    kinds = {kind for text in texts for kind in personal_data_in(text)}
    return tuple(kind for kind in KINDS if kind in kinds)


def redactions(statement: Statement) -> dict[str, Any]:
    """Everything that a memory or a draft says, by field, with placeholders in place of personal data."""
    return {
        "content": redact(statement.content),
        "subject": _redact_value(statement.subject),
        "predicate": _redact_value(statement.predicate),
        "speaker": _redact_value(statement.speaker),
        "labels": tuple(map(redact, statement.labels)),
        "tags": tuple(map(redact, statement.tags)),
        "metadata": _redact_value(statement.metadata),
    }


def _redact_value(value: Any) -> Any:
    """A JSON value with every text in it redacted, keys too."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _redact_value(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return [_redact_value(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield key
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts_in(inner)


def _findings(text: str) -> Iterator[Finding]:
    if "@" in text:
        yield from _emails(text)
    windows = list(windows_of(text))
    for window in windows:
        yield from _social_security(text, window)
        yield from _cards(text, window)
        yield from _addresses(text, window)
        yield from _phones(text, window)
    # The library weighs much and knows every country's numbers: it is asked only where one may be written.
    if any(INTERNATIONAL.search(text, *window) for window in windows):
        yield from _international(text, None)
    if "00" in text and any(DIALLED_INTERNATIONAL.search(text, *window) for window in windows):
        yield from _international(text, "DE")


def windows_of(text: str) -> Iterator[Window]:
    """The parts of a text where digits stand as close together as in anything that is looked for.

    Most texts have none, and a pattern that need not be tried on the rest of one costs a tenth.
    """
    start = end = -1
    for digits in DIGITS.finditer(text):
        opening = max(0, digits.start() - LONGEST_NAME)
        if start >= 0 and opening > end:
            yield start, end
            start = -1
        start, end = (opening if start < 0 else start), digits.end() + FOLLOWING
    if start >= 0:
        yield start, end


def _emails(text: str) -> Iterator[Finding]:
    end, at = 0, text.find("@")
    while at >= 0:
        start = at
        while start > end and LOCAL_PART.match(text, start - 1) is not None:
            start -= 1
        found = EMAIL.match(text, start)
        if found is not None:
            yield Finding("email", *found.span())
            end = found.end()
        at = text.find("@", max(at + 1, end))


def _social_security(text: str, window: Window) -> Iterator[Finding]:
    for found in SOCIAL_SECURITY.finditer(text, *window):
        if not _follows(COUNTED, text, found.start()):
            yield Finding("ssn", *found.span())
    yield from (Finding("ssn", *found.span(1)) for found in NAMED_SOCIAL_SECURITY.finditer(text, *window))


def _cards(text: str, window: Window) -> Iterator[Finding]:
    """Cards among runs of digits, whole groups at a time: a date before a card does not hide it."""
    for run in DIGIT_GROUPS.finditer(text, *window):
        if run.end() - run.start() < SHORTEST_CARD:
            continue
        groups = [found.span() for found in re.finditer(r"\d+", text[run.start() : run.end()])]
        for first, (start, _) in enumerate(groups):
            digits = ""
            for group_start, end in groups[first : first + LONGEST_CARD]:
                digits += text[run.start() + group_start : run.start() + end]
                if len(digits) > LONGEST_CARD or digits[0] not in FIRST_OF_A_CARD:
                    break
                if len(digits) >= SHORTEST_CARD and CARD.fullmatch(digits) and _luhn(digits):
                    yield Finding("card", run.start() + start, run.start() + end)


def _addresses(text: str, window: Window) -> Iterator[Finding]:
    for found in IPV4.finditer(text, *window):
        if _is_address(found.group(1)) and not _follows(VERSIONED, text, found.start()):
            yield Finding("ipv4", *found.span(1))


def _phones(text: str, window: Window) -> Iterator[Finding]:
    for found in NORTH_AMERICAN.finditer(text, *window):
        if not _follows(COUNTED, text, found.start()):
            yield Finding("phone", *found.span())
    yield from (Finding("phone", *found.span(1)) for found in NAMED_PHONE.finditer(text, *window))


def _international(text: str, region: str | None) -> Iterator[Finding]:
    """Numbers with a country's code, after a + or, seen from a region, after 00; there only valid ones."""
    from phonenumbers import (
        Leniency,
        PhoneNumberMatcher,
        ValidationResult,
        is_possible_number_with_reason,
    )

    leniency = Leniency.POSSIBLE if region is None else Leniency.VALID
    for match in PhoneNumberMatcher(text, region, leniency=leniency):
        possible = is_possible_number_with_reason(match.number) == ValidationResult.IS_POSSIBLE
        written = match.raw_string.startswith(("+", "(+") if region is None else "00")
        if possible and written:
            yield Finding("phone", match.start, match.end)


def _follows(words: re.Pattern[str], text: str, place: int) -> bool:
    before = text[max(0, place - CONTEXT_CHARACTERS) : place]
    last = before.rstrip(" \t\r\n.:#=/")[-1:]
    # Only a word can say what a number is, and most numbers follow some other sign.
    return (last.isalnum() or last == "§") and words.search(before) is not None


def _luhn(digits: str) -> bool:
    total = sum(
        int(digit) if place % 2 == 0 else sum(divmod(int(digit) * 2, 10))
        for place, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0 and len(set(digits)) > 1


def _is_address(text: str) -> bool:
    return text.isascii() and all(
        int(octet) <= LARGEST_OCTET and (octet == "0" or octet[0] != "0") for octet in text.split(".")
    )
