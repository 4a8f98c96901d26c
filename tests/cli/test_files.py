"""The commands ingest and documents."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.cli.conftest import Run

GUIDE = "# Guide\n\nThe ferry leaves at seven.\n\n## Setup\n\nInstall it.\n"


def test_ingest_and_documents(ebbtide: Run) -> None:
    Path("guide.md").write_text(GUIDE)
    told = ebbtide("ingest", "guide.md", "--namespace", "vector.files", "--tag", "a", "--json")
    assert told.code == 0
    (file,) = told.json["files"]
    assert (file["status"], file["new"], file["path"]) == ("stored", 2, "guide.md")
    assert ebbtide("recall", "ferry", "--json").json["hits"][0]["kind"] == "chunk"
    (document,) = ebbtide("documents", "list", "--json").json["items"]
    assert (document["id"], document["passages"], document["complete"]) == (file["document"], 2, True)
    assert "contents" not in document
    shown = ebbtide("documents", "get", "guide.md")
    assert "lines 1–3" in shown.out
    assert "Guide > Setup" in shown.out
    assert [one["first"] for one in ebbtide("documents", "get", file["document"], "--json").json["contents"]] == [1, 5]
    first = ebbtide("documents", "get", "guide.md", "--limit", "1", "--json").json["contents"][0]["id"]
    (second,) = ebbtide("documents", "get", "guide.md", "--after", first, "--json").json["contents"]
    assert second["first"] == 5
    assert ebbtide("documents", "list", "--limit", "1", "--after", document["id"], "--json").json["items"] == []
    assert "forgotten  2 memories" in ebbtide("documents", "forget", "guide.md").out
    assert ebbtide("documents", "list", "--json").json["items"] == []
    assert ebbtide("documents", "get", "guide.md", "--json").json["error"]["code"] == "not_found"


def test_a_document_is_named_that_is_nearly_called_so(ebbtide: Run) -> None:
    Path("notes").mkdir()
    Path("notes/guide.md").write_text(GUIDE)
    ebbtide("ingest", "notes")
    for command in ("get", "forget"):
        for name in ("guide.md", "notes/guid.md"):
            assert "notes/guide.md" in ebbtide("documents", command, name, "--json").json["error"]["remedy"]
        assert "notes" not in ebbtide("documents", command, "x", "--json").json["error"]["remedy"]


def test_what_is_unchanged_is_counted_alone_and_a_full_page_says_how_to_go_on(ebbtide: Run) -> None:
    Path("docs").mkdir()
    for name in ("a", "b"):
        Path(f"docs/{name}.md").write_text(f"# {name}\n\nThe ferry of {name} leaves at seven.\n")
    ebbtide("ingest", "docs")
    assert ebbtide("ingest", "docs").out == "2 unchanged.\n"
    assert len(ebbtide("ingest", "docs", "--json").json["files"]) == 2
    first = ebbtide("documents", "list", "--limit", "1", "--json")
    assert first.err == ""
    assert first.json["next"] == first.json["items"][0]["id"]
    assert f"There is more: --after {first.json['next']}" in ebbtide("documents", "list", "--limit", "1").err
    assert ebbtide("documents", "list", "--limit", "2", "--json").json["next"] is None
    assert ebbtide("documents", "list", "--limit", "2").err == ""
    assert ebbtide("documents", "list").err == ""
    assert "--after" in ebbtide("browse", "--limit", "1").err


def test_a_file_that_cannot_be_read_makes_the_exit_code(ebbtide: Run) -> None:
    Path("docs").mkdir()
    Path("docs/guide.md").write_text(GUIDE)
    Path("docs/broken.pdf").write_bytes(b"%PDF-1.4")
    Path("docs/empty.md").touch()
    ran = ebbtide("ingest", "docs")
    assert ran.code == 1
    assert "stored    docs/guide.md  2 new" in ran.out
    assert "failed    docs/broken.pdf" in ran.out
    assert "1 stored, 1 skipped, 1 failed." in ran.out
    assert "Reading docs, in bytes" in ran.err
    Path("docs/broken.pdf").unlink()
    assert ebbtide("ingest", "docs", "--json").code == 0


def test_sync_shows_before_it_forgets(ebbtide: Run) -> None:
    Path("docs").mkdir()
    for name in ("a", "b"):
        Path(f"docs/{name}.md").write_text(name)
    ebbtide("ingest", "docs")
    Path("docs/a.md").unlink()
    assert (
        "1 document has no file any more, or one that goes to another namespace now; see --sync."
        in ebbtide("ingest", "docs").out
    )
    shown = ebbtide("ingest", "docs", "--sync")
    assert "gone      docs/a.md" in shown.out
    token = ebbtide("ingest", "docs", "--sync", "--json").json["token"]
    assert token
    [command] = [line for line in shown.out.splitlines() if "--token" in line]
    program, *typed = shlex.split(command)
    assert (program, typed[:3]) == ("ebbtide", ["ingest", "docs", "--sync"])
    assert "forgotten docs/a.md" in ebbtide(*typed).out
    assert ebbtide("ingest", "docs", "--sync").out == "1 unchanged.\n"
    assert [one["path"] for one in ebbtide("documents", "list", "--json").json["items"]] == ["docs/b.md"]


def test_several_paths_and_a_text(ebbtide: Run) -> None:
    Path("a").mkdir()
    Path("a/README.md").write_text("one")
    Path("README.md").write_text("two")
    told = ebbtide("ingest", "a/README.md", "README.md", "--json").json
    assert [one["path"] for one in told["files"]] == ["a/README.md", "README.md"]
    piped = ebbtide("ingest", "-", "--name", "note.md", "--kind", "note", "--json", stdin="# Berth\n\nNumber 7.\n").json
    assert piped["files"][0]["path"] == "note.md"
    assert ebbtide("recall", "berth", "--json").json["hits"][0]["kind"] == "note"


def test_what_the_command_refuses(ebbtide: Run) -> None:
    for arguments, field in (
        ((), "source"),
        (("a.md", "b.md", "--name", "x"), "name"),
        (("nothing-there.md",), "source"),
        (("-", "--kind", "fact"), "kind"),
        (("-", "--max-tokens", "3"), "max_tokens"),
    ):
        ran = ebbtide("ingest", *arguments, "--json", stdin="text")
        assert (ran.code, ran.json["error"]["field"]) == (2, field)


def test_a_file_is_said_to_be_read_once_where_nobody_watches(ebbtide: Run) -> None:
    Path("a.md").write_text("# Tide\n\nIt turns at noon.\n")
    for _ in range(2):
        assert ebbtide("ingest", "a.md").err.count("Reading a.md") == 1
