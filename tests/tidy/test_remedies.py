"""What an error advises can be done at every door: remedies of what all doors reach speak no Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.tidy.tree import ROOT, assert_none

PYTHON = re.compile(
    r"\w=(?:True|False|…)|\b(?:documents|entities|episodes|policies)\.[a-z]|scoped\(|dry_run|erase_user|Policy\.[a-z]"
    r"|remember returned|a handle with"
)


def remedies(source: str) -> Iterator[str]:
    """What the keyword `remedy` says in calls."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "remedy":
            yield ast.unparse(node.value)


def test_no_remedy_speaks_python() -> None:
    package = ROOT / "src" / "ebbtide"
    assert_none(
        [
            f"{path.relative_to(package)}: {remedy}"
            for path in sorted(package.rglob("*.py"))
            for remedy in remedies(path.read_text(encoding="utf-8"))
            if PYTHON.search(remedy)
        ]
    )


def test_a_remedy_that_speaks_python_is_found() -> None:
    found = list(remedies('raise Conflict("It moved.", remedy="Look again with dry_run=True.")'))
    assert [bool(PYTHON.search(remedy)) for remedy in found] == [True]
