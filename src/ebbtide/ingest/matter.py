"""The front matter of Markdown: title, tags and date, and nothing else that it may say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ebbtide.checks import LONGEST_WORD, check_moment, check_texts
from ebbtide.errors import InvalidInput

__all__ = ["MOST_LINES", "Matter", "read_matter"]

MOST_LINES = 200
FIELD = re.compile(r"^(title|tags|date)\s*:\s*(.*)$", re.IGNORECASE)
ITEM = re.compile(r"^\s*-\s+(.*)$")


@dataclass(frozen=True, slots=True)
class Matter:
    """What the front matter says: `lines` is how many it takes, 0 where there is none."""

    title: str | None = None
    tags: tuple[str, ...] = ()
    observed_at: datetime | None = None
    lines: int = 0
    warnings: tuple[str, ...] = ()


def read_matter(lines: Sequence[str], timezone: str) -> Matter:
    """The front matter that a file begins with, between two lines of `---`; a value that is not valid is a warning.

    It is read line by line and not as YAML: three plain fields need no language that can build anything.
    """
    if not lines or lines[0].rstrip() != "---":
        return Matter()
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return Matter()
    values = fields(lines[1:end])
    warnings: list[str] = []
    tags: tuple[str, ...] = ()
    moment: datetime | None = None
    try:
        tags = check_texts(values.get("tags", []), "tags")
    except InvalidInput as error:
        warnings.append(f"tags of the front matter were left out: {error.message}")
    date = " ".join(values.get("date", []))
    try:
        moment = check_moment(re.sub(r"^(\d{4}-\d\d-\d\d)\s+(\d)", r"\1T\2", date), "date", timezone) if date else None
    except InvalidInput as error:
        warnings.append(f"the date of the front matter was left out: {error.message}")
    title = " ".join(" ".join(values.get("title", [])).split())[:LONGEST_WORD]
    return Matter(title or None, tags, moment, end + 1, tuple(warnings))


def fields(lines: Sequence[str]) -> dict[str, list[str]]:
    """The values of title, tags and date: one on the line of the name, or one on each line of a list below it."""
    values: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if found := FIELD.match(line):
            name = found[1].lower()
            values[name] = listed(found[2], several=name == "tags")
        elif name and (item := ITEM.match(line)):
            values[name].append(unquoted(item[1]))
        elif line[:1].strip():
            name = ""
    return values


def listed(text: str, *, several: bool) -> list[str]:
    """What stands behind a name: `a`, and where there may be several `[a, b]` or `a, b`."""
    text = text.strip()
    if not several:
        return [unquoted(text)] if text else []
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [made for part in inner.split(",") if (made := unquoted(part))]


def unquoted(text: str) -> str:
    """A value without its quotation marks."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
