"""Named SQL statements, read from the .sql files beside this module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, LiteralString, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Compiled", "compiled", "schema_text", "statement", "statements"]

HEADING = re.compile(r"^-- (name|fragment): ([a-z_]+)\s*$", re.MULTILINE)
NAMED_VALUE = re.compile(r"%\(([a-z_]+)\)s")
PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


def _read(name: str) -> str:
    return resources.files("ebbtide.db").joinpath("sql", name).read_text(encoding="utf-8")


def _sections(text: str) -> dict[tuple[str, str], str]:
    """`(name|fragment, identifier) → body` for each section of one file."""
    parts = HEADING.split(text)
    return {(parts[i], parts[i + 1]): parts[i + 2].strip().rstrip(";") for i in range(1, len(parts), 3)}


def _expand(body: str, fragments: Mapping[str, str]) -> str:
    while PLACEHOLDER.search(body):
        body = PLACEHOLDER.sub(lambda found: fragments[found.group(1)], body)
    return body


def _variants(name: str, body: str, fragments: Mapping[str, str]) -> dict[str, str]:
    """A statement, its twin that reads the store as it was, and its twin for a scope that nothing narrows."""
    made = {
        suffix: _expand(body, {**fragments, "source": fragments[source], "narrowing": narrowing})
        for suffix, source, narrowing in (
            ("", "present", fragments["narrowed"]),
            ("_past", "past", fragments["narrowed"]),
            ("_whole", "present", ""),
        )
    }
    return {f"{name}{suffix}": text for suffix, text in made.items() if not suffix or text != made[""]}


@cache
def statements() -> Mapping[str, LiteralString]:
    """Every named statement of every file, with its `{{fragment}}`s put in.

    A statement's name is `<file>.<name>`. Fragments are shared by all files. A statement that reads from
    `{{source}}` comes twice: as it is, from the live rows, and as `<file>.<name>_past`, from the rows as of a moment.
    One that reads what is `{{searched}}` has a twin too, `<file>.<name>_whole`, for a scope that nothing narrows: the
    conditions that all hold there are a tenth of its work.
    """
    folder = resources.files("ebbtide.db").joinpath("sql")
    files = {
        entry.name.removesuffix(".sql"): _sections(_read(entry.name))
        for entry in folder.iterdir()
        if entry.name.endswith(".sql")
    }
    fragments = {
        name: body for sections in files.values() for (sort, name), body in sections.items() if sort == "fragment"
    }
    expanded: dict[str, str] = {}
    for file, sections in files.items():
        for (sort, name), body in sections.items():
            if sort == "name":
                expanded |= _variants(f"{file}.{name}", body, fragments)
    return MappingProxyType({name: cast("LiteralString", body) for name, body in expanded.items()})


def statement(name: str) -> LiteralString:
    """The text of the statement `<file>.<name>`."""
    return statements()[name]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement with numbered placeholders, and the name of the value that each number stands for."""

    query: bytes
    names: tuple[str, ...]


@cache
def compiled(name: str) -> Compiled:
    """The statement `<file>.<name>` as the server takes it.

    Done once here, since the driver converts a long statement with many placeholders anew at every execution.
    """
    numbers: dict[str, int] = {}
    text = NAMED_VALUE.sub(lambda found: f"${numbers.setdefault(found.group(1), len(numbers) + 1)}", statement(name))
    return Compiled(text.replace("%%", "%").encode(), tuple(numbers))


def schema_text(name: str = "schema.sql") -> LiteralString:
    """The text of `schema.sql`, or of one file in `migrations/`."""
    return cast("LiteralString", _read(name))
