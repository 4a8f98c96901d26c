"""Rules for every text file: the project speaks of itself alone, and of nobody's computer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.tidy.tree import Finding

# Written so that no pattern matches its own text.
FOREIGN_PATH = re.compile(r"(?<![\w.:/])(?:/(?:home|Users|root|work|mnt)/\w|C:\\Users\\|/tmp/[t]eam\b|\.\./[s]hared\b)")
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
# Domains reserved for examples (RFC 2606) may be used freely.
EXAMPLE_DOMAIN = re.compile(r"[@.](?:example\.(?:com|net|org)|example|invalid|test|localhost)$", re.IGNORECASE)
DENIED = re.compile(
    r"\b(?:C[E]O|issue [0-9]+|(?i:sub-?age[n]t|co-authored-b[y]"
    r"|generated (?:by|with) (?:an? )?(?:AI|LLM|Cla[u]de|Chat[G]PT|Cop[i]lot)))\b"
)

MAINTAINERS: frozenset[str] = frozenset()
"""Addresses of people who answer for the project; none is public yet."""


def names_no_foreign_path(text: str) -> Iterator[Finding]:
    yield from _findings(FOREIGN_PATH, text, "a path of somebody's computer")


def names_no_address(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), start=1):
        for address in ADDRESS.findall(line):
            if address not in MAINTAINERS and not EXAMPLE_DOMAIN.search(address):
                yield number, f"an e-mail address outside the domains for examples: {address}"


def names_nothing_denied(text: str) -> Iterator[Finding]:
    yield from _findings(DENIED, text, "words that are not about the project")


def _findings(pattern: re.Pattern[str], text: str, what: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), start=1):
        if found := pattern.search(line):
            yield number, f"{what}: {found.group()}"
