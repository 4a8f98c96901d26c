"""Every Python example of the README and of docs/ runs, as a newcomer runs it: in an empty folder, and again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tidy.tree import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> Iterator[object]:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for number, block in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")), start=1):
            yield pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("example", list(examples()))
def test_the_example_runs(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EBBTIDE_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("EBBTIDE_EMBEDDER", "fake")
    for _ in range(2):
        exec(compile(example, "example", "exec"), {"__name__": "__main__"})
