"""Folders: which files are read, and which namespace each has."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.govern.namespaces import check_namespace
from ebbtide.ingest.folder import Entry, readable, segments_of, walk


def files(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")


def found(root: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> dict[str, Entry]:
    return {one.name: one for one in walk(root, "n", include, exclude)}


def test_sub_folders_are_sub_namespaces(tmp_path: Path) -> None:
    files(tmp_path, "a.md", "how to/b.md", "how to/deep/c.txt")
    got = found(tmp_path)
    assert {name: one.namespace for name, one in got.items()} == {
        "a.md": "n", "how to/b.md": "n.how-to", "how to/deep/c.txt": "n.how-to.deep",
    }  # fmt: skip
    assert {one.reason for one in got.values()} == {None}


def test_names_that_would_be_one_are_kept_apart() -> None:
    made = segments_of(["a b", "a.b", "a-b", "A-B", "..", "é"])
    assert made["a-b"] == "a-b"
    assert made["é"] == "é"
    assert len({one.casefold() for one in made.values()} - {"a-b"}) == 4
    assert segments_of(["a.b", "a-b"])["a.b"] == made["a.b"] != "a-b"


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=8))
def test_every_folder_has_a_segment_of_its_own(names: list[str]) -> None:
    made = segments_of(names)
    assert len(set(made.values())) == len(names)
    for one in made.values():
        assert check_namespace(f"vector.{one}").count(".") == 1
    assert segments_of(list(reversed(names))) == made


def test_what_is_left_alone_and_why(tmp_path: Path) -> None:
    files(tmp_path, "a.md", ".hidden.md", ".git/x.md", "b.png", "c.md", "drafts/d.md")
    (tmp_path / "link.md").symlink_to("/etc/hostname")
    (tmp_path / "round").symlink_to(tmp_path, target_is_directory=True)
    got = {name: one.reason for name, one in found(tmp_path, exclude=("drafts", "c.*")).items()}
    assert got == {
        "a.md": None, ".hidden.md": "hidden", ".git": "hidden", "b.png": "no document", "c.md": "excluded",
        "drafts": "excluded", "link.md": "link", "round": "link",
    }  # fmt: skip


def test_patterns(tmp_path: Path) -> None:
    files(tmp_path, "a.md", "b.rst", "x/c.rst", "x/y/d.rst", "x/e.md")

    def read(*include: str) -> set[str]:
        return {name for name, one in found(tmp_path, include).items() if one.reason is None}

    assert read() == {"a.md", "x/e.md"}
    assert read("*.rst") == {"b.rst", "x/c.rst", "x/y/d.rst"}
    assert read("x/*.rst") == {"x/c.rst", "x/y/d.rst"}
    assert read("**/d.rst") == {"x/y/d.rst"}
    assert read("x") == {"x/c.rst", "x/y/d.rst", "x/e.md"}


def test_what_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: object) -> None:
    (tmp_path / "gone").mkdir()
    entries = walk(tmp_path, "n", (), ())
    (tmp_path / "gone").rmdir()
    (tmp_path / "a.md").write_text("x")
    assert {one.name for one in entries} == {"a.md"}
    assert [one.reason for one in walk(tmp_path / "nowhere", "n", (), ())] == ["unreadable"]


def test_names_that_cannot_be_shown(tmp_path: Path) -> None:
    assert readable("a\u202eb\n\udcff") == "a\\u202eb\\u000a\\udcff"
    odd = os.fsencode(tmp_path) + b"/\xff.md"
    with open(odd, "w") as stream:  # noqa: PTH123 - a path of bytes
        stream.write("x")
    assert list(found(tmp_path)) == ["\\udcff.md"]
