"""Rules for the files of named statements; each takes a file's text and yields the lines that break it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from tests.tidy.tree import Finding

HEADING = re.compile(r"-- (name|fragment): ([a-z_]+)\s*")
COMMENT = re.compile(r"^--.*$", re.MULTILINE)
TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)^\)", re.DOTALL | re.MULTILINE)
VIEW = re.compile(r"CREATE VIEW (\w+) AS\s+SELECT tenant_id\b")
USE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|COPY|USING)\s+(?:ONLY\s+|LATERAL\s+)?(?:ebbtide\.)?(\w+)", re.IGNORECASE)
CLOCK_READS = re.compile(
    r"\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(|\b(?:current_timestamp|current_date|localtimestamp)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """One named statement or fragment: where its heading is, its comment, and its SQL without comments."""

    line: int
    sort: str
    name: str
    comment: str
    body: str


def sections(text: str) -> list[Section]:
    """The sections of a file of named statements, in order."""
    lines = text.splitlines()
    found = [(number, heading) for number, line in enumerate(lines) if (heading := HEADING.fullmatch(line))]
    bounds = [*(number for number, _ in found), len(lines)]
    return [
        _section(start, heading, lines[start + 1 : end])
        for (start, heading), end in zip(found, bounds[1:], strict=True)
    ]


def _section(number: int, heading: re.Match[str], lines: list[str]) -> Section:
    first = next((index for index, line in enumerate(lines) if not line.startswith("--")), len(lines))
    comment = " ".join(line.removeprefix("--").strip() for line in lines[:first])
    body = COMMENT.sub("", "\n".join(lines[first:])).strip()
    return Section(number + 1, heading[1], heading[2], comment, body)


def tenant_tables(schema: str) -> set[str]:
    """The tables and views of a schema that have a column `tenant_id`."""
    tables = {name for name, columns in TABLE.findall(schema) if re.search(r"^\s*tenant_id\b", columns, re.MULTILINE)}
    return tables | set(VIEW.findall(schema))


def opens_with_a_heading(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), start=1):
        if HEADING.fullmatch(line):
            return
        if line and not line.startswith("--"):
            yield number, "SQL that no `-- name: ...` heads"
            return
    yield 1, "the file has no statement"


def sections_are_explained(text: str) -> Iterator[Finding]:
    for section in sections(text):
        if section.sort == "name" and not re.match(r"[A-Z\"`].*[.:;]$", section.comment):
            yield section.line, f"{section.name} has no sentence under its heading that says what it is for"
        if not section.body:
            yield section.line, f"{section.name} has no SQL"


def names_are_unique(text: str) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for section in sections(text):
        if (section.sort, section.name) in seen:
            yield section.line, f"{section.name} is defined twice"
        seen.add((section.sort, section.name))


def reads_no_clock(text: str) -> Iterator[Finding]:
    for section in sections(text):
        if found := CLOCK_READS.search(section.body):
            yield section.line, f"{section.name} reads the clock with {found.group()}; bind the time as a value"


def without_tenant(name: str, body: str, tables: Set[str]) -> list[str]:
    """Which tenant tables a statement touches without naming `tenant_id`."""
    if re.search(r"\btenant_id\b", body):
        return []
    return [f"{name} touches {table} and never says tenant_id" for table in sorted(set(USE.findall(body)) & tables)]


def unused(names: Set[str], python: str) -> list[str]:
    """Which statements no string of the Python source names, whole or as `f"file.{name}"` and the bare name."""
    return sorted(name for name in names if not _is_named(name, python))


def _is_named(statement: str, python: str) -> bool:
    file, _, name = statement.partition(".")
    return f'"{statement}"' in python or (f'f"{file}.{{' in python and f'"{name}"' in python)
