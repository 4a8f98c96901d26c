"""ARCHITECTURE.md explains every folder of the source."""

from __future__ import annotations

import re

from tests.tidy.tree import ROOT, SOURCE, assert_none


def headings(page: str) -> set[str]:
    """The folders that a page's headings name, such as `rank` for "## `rank/`: every formula"."""
    return {word for line in re.findall(r"^#+ (.+)$", page, re.MULTILINE) for word in re.findall(r"\b(\w+)/", line)}


def test_every_folder_has_a_heading() -> None:
    folders = {path.parent.relative_to(SOURCE).parts[0] for path in SOURCE.glob("*/**/*.py")}
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert_none(sorted(folders - headings(page)))


def test_headings_are_read() -> None:
    page = "# The house\n\n## `rank/`: formulas\n\nread/ is elsewhere\n\n### src/ebbtide/db/\n"
    assert headings(page) == {"rank", "src", "ebbtide", "db"}
