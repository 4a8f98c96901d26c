"""Folders: each file has its outcome and its namespace, and what is gone is told before it is forgotten."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Conflict, Forbidden, InvalidInput
from tests.ingest.pdfs import pdf_from, pdf_of
from tests.ingest.test_pdf import encrypted

ROOT = "vector.team.handbook"


@pytest.fixture
def handbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of every sort, and the current folder beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "handbook"
    (folder / "How To" / "deep").mkdir(parents=True)
    (folder / "start.md").write_text("# Start\n\nBegin here.")
    (folder / "How To" / "page.html").write_text("<!doctype html><h1>Page</h1><p>Berths are north.")
    (folder / "How To" / "deep" / "paper.pdf").write_bytes(pdf_of([["Tides are high."]]))
    (folder / "latin.txt").write_bytes("Zürich\nBasel".encode("cp1252"))
    return folder


def outcomes(found: Any) -> dict[str, tuple[str, str | None]]:
    return {one.path: (one.status, one.reason) for one in found.files}


def test_a_folder(memory: Ebbtide, handbook: Path) -> None:
    heard: list[tuple[int, int]] = []
    found = memory.ingest(
        "handbook", namespace=ROOT, tags="team", progress=lambda done, total: heard.append((done, total))
    )
    assert {one.path: (one.status, one.namespace) for one in found.files} == {
        "handbook/start.md": ("stored", ROOT), "handbook/latin.txt": ("stored", ROOT),
        "handbook/How To/page.html": ("stored", f"{ROOT}.How-To"),
        "handbook/How To/deep/paper.pdf": ("stored", f"{ROOT}.How-To.deep"),
    }  # fmt: skip
    assert next(one for one in found.files if one.path.endswith("latin.txt")).warnings == (
        "it is not UTF-8; read as Latin-1 (Windows-1252)",
    )
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1] == sum(one.stat().st_size for one in handbook.rglob("*") if one.is_file())
    assert memory.recall("tides", namespaces=f"{ROOT}.How-To.*")[0].memory.metadata["path"].endswith("paper.pdf")
    assert {status for status, _ in outcomes(memory.ingest("handbook", namespace=ROOT, tags="team")).values()} == {
        "unchanged"
    }


def test_one_bad_file_stops_nothing(memory: Ebbtide, handbook: Path) -> None:
    (handbook / "a-empty.md").touch()
    (handbook / "b-binary.md").write_bytes(b"\0\1\2\3" * 99)
    (handbook / "c-locked.pdf").write_bytes(encrypted(pdf_of([["secret"]]), "password"))
    (handbook / "d-scanned.pdf").write_bytes(pdf_of([[], []]))
    (handbook / "e-broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (handbook / "f-wrong.pdf").write_text("I am text")
    (handbook / "g-bomb.pdf").write_bytes(pdf_from([b"BT " + b" " * 90_000_000 + b"(x) Tj ET"], compress=True))
    (handbook / "h-link.md").symlink_to("/etc/hostname")
    (handbook / "i-round").symlink_to(handbook, target_is_directory=True)
    (handbook / ".hidden.md").write_text("x")
    (handbook / "j.png").write_bytes(b"\x89PNG")
    (handbook / "k-nested.html").write_text("<div>" * 100_000 + "Deep down.")
    os.mkfifo(handbook / "l-pipe.md")
    (handbook / "m-image.md").write_text(f"![x](data:image/png;base64,{'A' * 100_000}) An image.")
    found = memory.ingest(handbook, name="h", namespace=ROOT)
    told = {path.removeprefix("h/"): outcome for path, outcome in outcomes(found).items()}
    assert told == {
        "a-empty.md": ("skipped", "empty"), "b-binary.md": ("skipped", "binary"),
        "c-locked.pdf": ("failed", "encrypted"), "d-scanned.pdf": ("failed", "no text"),
        "e-broken.pdf": ("failed", "damaged"), "f-wrong.pdf": ("failed", "wrong type"),
        "g-bomb.pdf": ("failed", told["g-bomb.pdf"][1]), "h-link.md": ("skipped", "link"),
        "i-round": ("skipped", "link"), ".hidden.md": ("skipped", "hidden"), "j.png": ("skipped", "no document"),
        "k-nested.html": ("stored", None), "l-pipe.md": ("skipped", "no file"), "m-image.md": ("stored", None),
        "start.md": ("stored", None), "latin.txt": ("stored", None), "How To/page.html": ("stored", None),
        "How To/deep/paper.pdf": ("stored", None),
    }  # fmt: skip
    assert all(one.message for one in found.files if one.reason)
    assert len(found.failed) == 5


def test_include_and_exclude(memory: Ebbtide, handbook: Path) -> None:
    found = memory.ingest("handbook", namespace=ROOT, include="*.md,*.html", exclude=["How To/*"])
    assert {path for path, (status, _) in outcomes(found).items() if status == "stored"} == {"handbook/start.md"}


def test_what_is_gone_is_told_and_forgotten_only_when_it_was_seen(memory: Ebbtide, handbook: Path) -> None:
    memory.ingest("handbook", namespace=ROOT)
    memory.ingest(text="Not of the folder.", name="handbook.md", namespace=ROOT)
    (handbook / "start.md").unlink()
    found = memory.ingest("handbook", namespace=ROOT)
    assert ([one.path for one in found.gone], found.token, found.forgotten) == (["handbook/start.md"], None, ())
    seen = memory.ingest("handbook", namespace=ROOT, sync=True)
    assert (len(seen.gone), seen.forgotten, len(memory.documents.list())) == (1, (), 5)
    (handbook / "latin.txt").unlink()
    with pytest.raises(Conflict):
        memory.ingest("handbook", namespace=ROOT, sync=True, token=seen.token)
    with pytest.raises(InvalidInput):
        memory.ingest("handbook", namespace=ROOT, sync=True, token="no token")
    assert len(memory.documents.list()) == 5
    seen = memory.ingest("handbook", namespace=ROOT, sync=True)
    done = memory.ingest("handbook", namespace=ROOT, sync=True, token=seen.token)
    assert set(done.forgotten) == {one.id for one in done.gone}
    assert {one.path for one in memory.documents.list()} == {
        "handbook.md", "handbook/How To/page.html", "handbook/How To/deep/paper.pdf",
    }  # fmt: skip
    assert memory.ingest("handbook", namespace=ROOT, sync=True).gone == ()


def test_a_text_is_no_file_that_could_be_gone(memory: Ebbtide, handbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(handbook)
    memory.ingest(text="A text by its name.", name="note.md", namespace=ROOT)
    memory.ingest("latin.txt", name="named.txt", namespace=ROOT)
    memory.ingest("start.md", namespace=ROOT)
    (handbook / "start.md").unlink()
    assert [one.path for one in memory.ingest(".", namespace=ROOT).gone] == ["start.md"]
    # Once it lies there as a file, it is one.
    (handbook / "note.md").write_text("A text by its name.")
    assert outcomes(memory.ingest(".", namespace=ROOT))["note.md"] == ("updated", None)
    (handbook / "note.md").unlink()
    assert [one.path for one in memory.ingest(".", namespace=ROOT).gone] == ["note.md", "start.md"]


def test_a_file_whose_name_cannot_be_shown_is_not_gone(memory: Ebbtide, tmp_path: Path) -> None:
    names = ["two\nlines.md", "bell\x07.md", *([os.fsdecode(b"latin\xff.md")] if sys.platform == "linux" else [])]
    for name in names:
        (tmp_path / name).write_text(f"The ferry leaves at {len(name)}.")
    memory.ingest(str(tmp_path))
    assert memory.ingest(str(tmp_path)).gone == ()
    looked = memory.ingest(str(tmp_path), sync=True)
    assert looked.gone == ()
    memory.ingest(str(tmp_path), sync=True, token=looked.token)
    assert len(memory.documents.list()) == len(names)
    (tmp_path / names[0]).unlink()
    assert [one.path.split("/")[-1] for one in memory.ingest(str(tmp_path)).gone] == ["two\\u000alines.md"]


def test_what_is_only_left_out_is_not_gone(memory: Ebbtide, handbook: Path) -> None:
    memory.ingest("handbook", namespace=ROOT)
    (handbook / "How To").rename(handbook / ".How To")
    found = memory.ingest("handbook", namespace=ROOT, exclude="start.md")
    assert sorted(one.path for one in found.gone) == ["handbook/How To/deep/paper.pdf", "handbook/How To/page.html"]


def test_a_folder_whose_name_is_put_beside_its_like_moves(memory: Ebbtide, handbook: Path) -> None:
    memory.ingest("handbook", namespace=ROOT)
    (handbook / "How.To").mkdir()
    found = memory.ingest("handbook", namespace=ROOT)
    assert {one.status for one in found.files if "How To" in one.path} == {"stored"}
    assert {one.namespace for one in found.gone} == {f"{ROOT}.How-To", f"{ROOT}.How-To.deep"}


def test_a_policy_holds_for_each_file(memory: Ebbtide, handbook: Path) -> None:
    memory.policies.set("clerk", Policy(read=[f"{ROOT}.*"], write=ROOT, allow_write=True))
    clerk = memory.as_agent("clerk", ["memory:read", "memory:write"])
    told = outcomes(clerk.ingest("handbook", namespace=ROOT))
    assert told["handbook/start.md"] == ("stored", None)
    assert told["handbook/How To/page.html"] == ("failed", "forbidden")
    with pytest.raises(Forbidden):
        memory.as_agent("clerk", ["memory:read"]).ingest("handbook")


def test_a_dry_run_of_a_folder(memory: Ebbtide, handbook: Path) -> None:
    found = memory.ingest("handbook", namespace=ROOT, dry_run=True)
    assert (found.dry_run, {status for status, _ in outcomes(found).values()}) == (True, {"stored"})
    assert memory.documents.list() == []
