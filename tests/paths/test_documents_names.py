"""What a document is called: one name for one file from one place, however its path is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide


def test_a_name_for_a_path(memory: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("one")
    monkeypatch.chdir(tmp_path)
    asked: tuple[tuple[Any, dict[str, Any]], ...] = (
        ("./docs//a.md", {}),
        (Path("docs/../docs/a.md"), {}),
        ("docs", {}),
        ("docs", {"name": "handbook"}),
    )
    names = [memory.ingest(given, **more).files[0].path for given, more in asked]
    assert names == ["docs/a.md", "docs/a.md", "docs/a.md", "handbook/a.md"]
    monkeypatch.chdir(tmp_path / "docs")
    assert memory.ingest("../docs/a.md").files[0].path == "a.md"
    assert memory.ingest(".").files[0].path == "a.md"


def test_a_file_is_one_document_however_its_path_is_given(
    memory: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "app"
    (here / "notes" / "deep").mkdir(parents=True)
    (here / "notes" / "a.md").write_text("one")
    (tmp_path / "linked").symlink_to(here)
    monkeypatch.chdir(here)
    first = memory.ingest("notes").files[0]
    assert (first.path, first.status) == ("notes/a.md", "stored")
    for given in (
        "./notes", "notes/", "notes/../notes", "../app/notes", here / "notes", tmp_path / "linked" / "notes",
        "notes/a.md", here / "notes" / "a.md", "../linked/notes/a.md",
    ):  # fmt: skip
        again = [one for one in memory.ingest(given).files if one.status != "skipped"]
        assert [(one.path, one.status, one.document) for one in again] == [("notes/a.md", "unchanged", first.document)]
    monkeypatch.chdir(here / "notes" / "deep")
    outside = memory.ingest("../a.md").files[0]
    assert (outside.path, outside.status) == (f"{here}/notes/a.md", "stored")


def test_a_link_is_a_name_of_its_own(memory: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in ("1", "2"):
        (tmp_path / number).mkdir()
        (tmp_path / number / "a.md").write_text(f"release {number}")
    (tmp_path / "a.md").write_text("none of them")
    link = tmp_path / "current"
    link.symlink_to("1")
    monkeypatch.chdir(tmp_path)
    assert memory.ingest("current").files[0].path == "current/a.md"
    link.unlink()
    link.symlink_to("2")
    assert [(one.path, one.status) for one in memory.ingest("current").files] == [("current/a.md", "updated")]
    # What stands behind it is taken from where it leads to.
    assert memory.ingest("current/../1/a.md").files[0].path == "1/a.md"


def test_documents_of_absolute_paths_stay_known(
    memory: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("one")
    first = memory.ingest(tmp_path / "notes").files[0]
    assert first.path == f"{tmp_path}/notes/a.md"
    monkeypatch.chdir(tmp_path)
    for given in (tmp_path / "notes", "notes", "notes/a.md", f"../{tmp_path.name}/notes"):
        assert [one.document for one in memory.ingest(given).files] == [first.document]
    memory.documents.forget(first.path)
    assert memory.ingest(tmp_path / "notes").files[0].path == "notes/a.md"
