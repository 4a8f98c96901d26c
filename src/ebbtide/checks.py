"""What any value from outside must pass, whichever door it comes through."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, cast
from zoneinfo import ZoneInfo

import numpy as np

from ebbtide.errors import InvalidInput
from ebbtide.text import shown, shows_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ebbtide.types.caller import Caller

__all__ = [
    "LONGEST_ID",
    "LONGEST_WORD",
    "check_caller",
    "check_composed",
    "check_flag",
    "check_json",
    "check_moment",
    "check_number",
    "check_segment",
    "check_text",
    "check_texts",
    "check_timezone",
    "check_vector",
    "check_whole",
    "check_word",
    "written_json",
]

LONGEST_WORD = 200
LONGEST_ID = 200
MOST_WORDS = 200
# What stands behind the name of a branch where another one of its chat has that name.
BRANCH_MARK = re.compile(r"\.[0-9a-f]{8}\Z")
SEGMENT_FORBIDDEN = frozenset(".*%${}")

Json = TypeVar("Json", list[Any], dict[str, Any])


def check_text(text: Any, field: str, longest: int) -> str:
    """A string PostgreSQL can hold: no NUL, no lone surrogate, not longer than `longest` characters."""
    if not isinstance(text, str):
        raise InvalidInput(f"{field} must be text, not {type(text).__name__}.", field=field, remedy="Give a string.")
    if len(text) > longest:
        raise InvalidInput(
            f"{field} has {len(text):,} characters; at most {longest:,} are kept.",
            field=field,
            remedy="Shorten it, or split it into several.",
        )
    if "\0" in text:
        raise InvalidInput(f"{field} holds a NUL character.", field=field, remedy="Remove U+0000 from the text.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{field} holds a lone surrogate at position {error.start}.",
            field=field,
            remedy="Decode the text properly before giving it.",
        ) from None
    return text


def check_texts(values: Any, field: str) -> tuple[str, ...]:
    """A list of short texts, or one comma-separated string; blanks dropped, order kept, repeats removed.

    A string that is a JSON list is that list: some tools send their arguments so.
    """
    if values is None:
        return ()
    if isinstance(values, str):
        written = written_json(values, list)
        values = values.split(",") if written is None else written
    if not isinstance(values, Sequence) and not isinstance(values, set | frozenset):
        raise InvalidInput(
            f"{field} must be a list of strings.", field=field, remedy='Give a list such as ["a", "b"], or "a, b".'
        )
    texts = [check_text(value, field, LONGEST_WORD).strip() for value in cast("Sequence[Any]", values)]
    unique = tuple(dict.fromkeys(text for text in texts if text))
    if len(unique) > MOST_WORDS:
        raise InvalidInput(
            f"{field} has {len(unique)} entries; at most {MOST_WORDS} are kept.", field=field, remedy="Give fewer."
        )
    return unique


def written_json(text: str, sort: type[Json]) -> Json | None:
    """The JSON list or object that a text is; None where it is anything else."""
    if not text.lstrip().startswith("[" if sort is list else "{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, sort) else None


def check_moment(value: Any, field: str, timezone: str = "UTC") -> datetime | None:
    """A moment in UTC from an aware datetime, an ISO 8601 string with a zone, or a date.

    A date alone means the start of that day in `timezone`. A time without a zone is refused, and so is a bare
    year or month: whatever day it were taken for would be a guess.
    """
    if value is None:
        return None
    moment = _parse_moment(value, field) if isinstance(value, str) else value
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), ZoneInfo(timezone))
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{field} must be a date and time.",
            field=field,
            remedy="Give an aware datetime, or text such as 2026-03-15T09:00:00Z.",
        )
    if moment.utcoffset() is None:
        raise InvalidInput(
            f"{field} has no time zone.",
            field=field,
            remedy="Add one, as in 2026-03-15T09:00:00+01:00, or give the date alone.",
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{field} lies outside the years 1 to 9999.", field=field, remedy="Give a date within them."
        ) from None


def _parse_moment(text: str, field: str) -> datetime | date:
    try:
        if len(text) == len("2026-03-15"):
            return date.fromisoformat(text)
        if len(text) > len("2026-03-15"):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidInput(
        f"{field} is not a full date: {shown(text, 40)}.",
        field=field,
        remedy="Write it as 2026-03-15 or 2026-03-15T09:00:00Z; a year alone is not enough.",
    )


def check_json(value: Any, field: str, depth: int = 0) -> None:
    """Every text within a JSON value is one PostgreSQL can hold, and it nests at most 64 deep."""
    if depth > 64:
        raise InvalidInput(f"{field} nests more than 64 deep.", field=field, remedy="Flatten it.")
    if isinstance(value, str):
        check_text(value, field, 1_000_000)
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[Any, Any]", value).items():
            if not isinstance(key, str):
                raise InvalidInput(
                    f"{field} has the key {shown(key, 40)}, which is no text.", field=field, remedy="Write it as text."
                )
            check_text(key, field, LONGEST_WORD)
            check_json(inner, field, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            check_json(inner, field, depth + 1)


def check_whole(value: Any, field: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        wrong = "is no whole number" if isinstance(value, bool) or not isinstance(value, int) else "is out of range"
        raise InvalidInput(
            f"{field} {wrong}: {shown(value, 40)}.",
            field=field,
            remedy=f"Give a whole number from {least:,} to {most:,}.",
        )
    return value


def check_number(value: Any, field: str, *, least: float, most: float = math.inf, beyond: bool = False) -> float:
    """A finite number from `least` to `most`, not `least` itself where it must lie `beyond`; True is none."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and least <= number <= most) or (beyond and number == least):
        lower = f"above {least:g}" if beyond else f"of at least {least:g}"
        raise InvalidInput(
            f"{field} must be a finite number{f' from {least:g} to {most:g}' if math.isfinite(most) else f' {lower}'}, "
            f"not {shown(value, 40)}.",
            field=field,
            remedy="Give a number in that range.",
        )
    return number


def check_flag(value: Any, field: str) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false.", field=field, remedy="Give a boolean.")
    return value


def check_word(value: Any, field: str, known: Sequence[str], what: str) -> str:
    """A text that is one of those known; `what` says in an error what it is not, such as `a kind of memory`."""
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(f"{shown(value, 40)} is not {what}.", field=field, remedy=f"Use one of {', '.join(known)}.")
    return value


def check_vector(values: Any, dimension: int | None, field: str) -> NDArray[np.float32]:
    """A vector of norm 1 and the store's dimension, from any sequence of finite numbers that is not all zero."""
    if dimension is None:
        raise InvalidInput(
            f"{field} was given, but the store has no model of vectors yet.",
            field=field,
            remedy="Open the store with an embedder first.",
        )
    try:
        # Counted before it is converted: what is far too long, or nested, shall cost nothing.
        count = len(values)
        vector = np.asarray(values, dtype=np.float64) if count == dimension else None
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidInput(
            f"{field} must be a list of numbers.", field=field, remedy=f"Give {dimension} numbers."
        ) from None
    if vector is None or vector.shape != (dimension,):
        raise InvalidInput(
            f"{field} has {count} entries, the store's model gives {dimension} numbers.",
            field=field,
            remedy="Embed with the model the store records.",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(vector))
    if not math.isfinite(norm) or norm == 0.0:
        raise InvalidInput(
            f"{field} must be finite and not all zero.", field=field, remedy="Check the model that produced it."
        )
    return (vector / norm).astype(np.float32)


def check_composed(name: str, field: str) -> str:
    """A name whose accents are part of their letters: written apart they look the same, and would name another.

    Raises:
        InvalidInput: it is not in the Unicode form NFC.
    """
    if not unicodedata.is_normalized("NFC", name):
        raise InvalidInput(
            f"{field} has accents that are characters of their own.",
            field=field,
            remedy="Bring names into the Unicode form NFC: the same name in two forms would name two.",
        )
    return name


def check_caller(caller: Caller) -> Caller:
    """The caller itself, if every name can stand for exactly one party.

    Raises:
        InvalidInput: tenant or agent is empty; or user, chat, branch or session could not be one namespace segment, see
            `check_segment`; a name is not in NFC; or there is a branch without a chat.
    """
    for field in ("tenant", "agent", "task"):
        value = getattr(caller, field)
        if value is None and field == "task":
            continue
        text = check_composed(check_text(value, field, LONGEST_ID), field)
        if not text or any(character.isspace() for character in text) or not shows_all(text) or "*" in text:
            raise InvalidInput(
                f"{field} must be a name without white space, invisible characters or *.",
                field=field,
                remedy=f"Give the {field} a plain name.",
            )
    if caller.branch is not None and caller.chat is None:
        raise InvalidInput("A branch is one of a chat.", field="branch", remedy="Name the chat too.")
    for field in ("user", "chat", "session"):
        if getattr(caller, field) is not None:
            check_segment(getattr(caller, field), field)
    if caller.branch is not None:
        check_segment(BRANCH_MARK.sub("", check_text(caller.branch, "branch", 2 * LONGEST_ID)), "branch")
    check_timezone(caller.timezone)
    return caller


def check_segment(name: Any, field: str) -> str:
    """A name that can be one segment of a namespace and stands for exactly one party.

    Raises:
        InvalidInput: it is empty, too long, not in NFC, or holds `.`, `*`, `%`, `$`, `{`, `}`, white space or what is
            invisible.
    """
    text = check_composed(check_text(name, field, LONGEST_ID), field)
    if not text or any(c in SEGMENT_FORBIDDEN or c.isspace() for c in text) or not shows_all(text):
        raise InvalidInput(
            f"{field} must be one plain segment.",
            field=field,
            remedy="Use an id without white space, invisible characters or any of . * % $ { }, such as a UUID.",
        )
    return text


def check_timezone(timezone: Any) -> str:
    """The name of a time zone.

    Raises:
        InvalidInput: there is no such zone.
    """
    try:
        ZoneInfo(timezone)
    except (KeyError, ValueError, OSError, TypeError, AttributeError):
        raise InvalidInput(
            f"{shown(timezone)} is not a time zone.",
            field="timezone",
            remedy="Use an IANA name such as Europe/Zurich.",
        ) from None
    return timezone
