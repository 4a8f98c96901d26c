"""The project's files, and how a broken rule is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "ebbtide"
STATEMENTS = SOURCE / "db" / "sql"

Finding = tuple[int, str]
"""A line number, counted from 1, and what is wrong there."""

Rule = Callable[[str], Iterable[Finding]]
"""Takes the text of a file and yields what is wrong with it."""


def python_files(*folders: str) -> list[Path]:
    """Every Python file below `folders`, which are relative to the project; all code where none is named."""
    roots = [ROOT / folder for folder in folders or ("src", "tests", "benchmarks")]
    return sorted(path for root in roots for path in root.rglob("*.py"))


def project_files() -> list[Path]:
    """Every file that the project consists of, found without git, since an unpacked archive has none."""
    folders = (".ci", ".github", "benchmarks", "docs", "examples", "src", "tests")
    below = [path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    # In a linked working tree, `.git` is a file that says where the repository is.
    return sorted(path for path in [*ROOT.iterdir(), *below] if path.is_file() and path.name != ".git")


def broken(rule: Rule, paths: Iterable[Path]) -> list[str]:
    """Every finding of `rule` in `paths`, as `path:line: what is wrong`."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in paths
        for line, what in rule(path.read_text(encoding="utf-8"))
    ]


def assert_none(findings: Sequence[str]) -> None:
    """Fail with every finding on a line of its own; an assertion about a list would show only the first."""
    assert not findings, "\n".join(["", *findings])
