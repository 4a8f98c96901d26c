"""Reading a data set's file: its text, its shape, and errors that name the place and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ebbtide.errors import InvalidInput

__all__ = ["parse", "refusal", "refuse_repeats", "spell"]

REMEDIES = {
    "extra_forbidden": "Correct its spelling, or take it out; free data belongs in `metadata`.",
    "json_invalid": "Correct the JSON at that place.",
    "missing": "Add it.",
    "timezone_aware": "Give the time zone, such as 2026-03-01T09:00:00Z.",
}
OTHER_REMEDY = "Correct that value."

Shape = TypeVar("Shape")


def parse(path: Path, shape: type[Shape]) -> Shape:
    """The JSON of a file as `shape`. Raises `InvalidInput` for a file that cannot be read or has another form."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise refusal(path, "", f"cannot be read: {error.strerror}", "Check the path and its permissions.") from error
    except UnicodeDecodeError:
        raise refusal(path, "", "is not UTF-8 text", "Save it as UTF-8.") from None
    try:
        return TypeAdapter(shape).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        remedy = REMEDIES.get(first["type"], OTHER_REMEDY)
        raise refusal(path, spell(first["loc"]), first["msg"], remedy) from None


def refusal(path: Path, place: str, what: str, remedy: str) -> InvalidInput:
    """The error for a place in a file, such as `memories[3].observed_at`; an empty place is the file itself."""
    where = f"{path}: {place}" if place else f"{path}"
    return InvalidInput(f"{where}: {what.rstrip('.')}.", field=place or "file", remedy=remedy)


def refuse_repeats(path: Path, place: str, ids: Iterable[str]) -> None:
    """Raises `InvalidInput` that names the first id to occur twice; `place` is where the ids are."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise refusal(path, place, f"the id {name!r} occurs twice", "Give each its own id.")
        seen.add(name)


def spell(location: Iterable[int | str]) -> str:
    """A place as one would write it in code: `memories[3].observed_at`. Positions count from 0."""
    spelled = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return spelled.removeprefix(".")
