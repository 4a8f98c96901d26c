"""import and export: everything a memory has, there and back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_an_export_is_imported_exactly(ebbtide: Run, tmp_path: Path, empty_dsn: str) -> None:
    old = ebbtide("remember", "The code is 1.", "--metadata", '{"a": [1]}', "--tag", "t", "--json").json["memory"]["id"]
    new = ebbtide("remember", "The code is 2. é 日本", "--supersedes", old, "--json").json["memory"]["id"]
    ebbtide("revise", new, "The code is 3. é 日本", "--importance", "0.9")
    file = tmp_path / "memories.jsonl"
    exported = ebbtide("export", file, "--json")
    assert exported.json == {"file": str(file), "memories": 2, "replaced": False}
    assert [path.name for path in tmp_path.iterdir()] == ["memories.jsonl"]
    imported = ebbtide("import", file, "--store", empty_dsn, "--json")
    assert (imported.code, imported.json["imported"]) == (0, 2)
    piped = ebbtide("export", "--store", empty_dsn)
    assert piped.out == file.read_text(encoding="utf-8")
    again = ebbtide("import", "--store", empty_dsn, "--json", stdin=piped.out)
    assert (again.code, again.json["imported"]) == (0, 0)
    assert len(ebbtide("history", new, "--store", empty_dsn, "--json").json) == 2


def test_an_export_can_be_narrowed(ebbtide: Run) -> None:
    ebbtide("remember", "One.", "--tag", "a", "--kind", "note")
    ebbtide("remember", "Two.", "--tag", "b")
    for options in (["--tag", "a"], ["--kind", "note"], ["--tag-none", "b"]):
        assert [json.loads(one)["content"] for one in ebbtide("export", *options).out.splitlines()] == ["One."]


def test_people_are_told_the_counts(ebbtide: Run, tmp_path: Path) -> None:
    assert ebbtide("import", stdin='{"content": "Only this."}\n').out == "1 imported, 1 reembedded\n"
    assert ebbtide("export", tmp_path / "x").out == f"1 exported  to {tmp_path / 'x'}\n"


def test_a_bad_line_is_named(ebbtide: Run) -> None:
    ran = ebbtide("import", "--json", stdin='{"content": "Fine."}\n{"content": 7}\n')
    assert (ran.code, ran.json["error"]["code"]) == (2, "invalid_input")
    assert "2" in ran.json["error"]["message"] + str(ran.json["error"]["field"])
    assert ebbtide("browse", "--json").json["items"] == []


def test_files_that_cannot_be_opened(ebbtide: Run, tmp_path: Path) -> None:
    for command in (("import", tmp_path / "absent"), ("export", tmp_path / "absent" / "x"), ("export", tmp_path)):
        ran = ebbtide(*command, "--json")
        assert (ran.code, ran.json["error"]["field"]) == (2, "file")


def test_an_export_replaces_what_a_link_leads_to(ebbtide: Run, tmp_path: Path) -> None:
    ebbtide("remember", "One.")
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("")
    target.chmod(0o640)
    link.symlink_to(target)
    assert ebbtide("export", link).code == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["content"] == "One."
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.jsonl", "target.jsonl"]


def test_an_export_into_a_pipe_is_written_into_it(ebbtide: Run, tmp_path: Path) -> None:
    ebbtide("remember", "One.")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert ebbtide("export", pipe).code == 0
        assert json.loads(reader.communicate(timeout=20)[0])["content"] == "One."
    assert pipe.is_fifo()


def test_an_export_that_fails_leaves_the_old_file(ebbtide: Run, tmp_path: Path) -> None:
    ebbtide("remember", "One.")
    file = tmp_path / "old.jsonl"
    assert ebbtide("export", file).code == 0
    before = file.read_text()
    assert ebbtide("export", file, "--kind", "opinion").code == 2
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.jsonl", before)]


def test_an_export_replaces_an_earlier_one_and_says_so(ebbtide: Run, tmp_path: Path) -> None:
    for command in (("export",), ("audit", "export")):
        file = tmp_path / command[0]
        for text, replaced in (("One.", False), ("Two.", True)):
            ebbtide("remember", text)
            assert ebbtide(*command, file, "--json").json["replaced"] is replaced
    assert len((tmp_path / "export").read_text().splitlines()) == 2
    assert "in place of an earlier export" in ebbtide("export", tmp_path / "export").out


@pytest.mark.parametrize(
    "text", ["before", '{"content": "A draft."}\n', "[]\n", '{"id": 1}\n', "\n", "\xff", "[" * 9_999]
)
def test_an_export_replaces_nothing_else(ebbtide: Run, tmp_path: Path, text: str) -> None:
    ebbtide("remember", "One.")
    file = tmp_path / "mine"
    file.write_bytes(text.encode("latin-1"))
    for command in (("export",), ("audit", "export")):
        refused = ebbtide(*command, file, "--json")
        assert (refused.code, refused.json["error"]["field"]) == (2, "file")
        assert "something else" in refused.json["error"]["message"]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [text.encode("latin-1")]
