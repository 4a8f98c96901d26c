"""consolidate, reconcile and export-markdown on the command line, as JSON and for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_near_duplicates_are_shown_and_then_merged(ebbtide: Run) -> None:
    for text in ("User prefers the dark mode in the editor", "User prefers the dark mode in the editor!"):
        ebbtide("remember", text)
    planned = ebbtide("consolidate", "--json").json
    assert (planned["dry_run"], planned["count"]) == (True, 1)
    shown = ebbtide("consolidate").out
    assert "1 to merge" in shown
    assert "--token" in shown
    done = ebbtide("consolidate", "--token", planned["token"])
    assert "1 merged" in done.out
    assert len(ebbtide("browse", "--json").json["items"]) == 1
    assert ebbtide("consolidate", "--token", "x").code != 0


def test_repairs_are_counted_and_done(ebbtide: Run) -> None:
    ebbtide("remember", "The gate code is 4711")
    assert ebbtide("reconcile", "--dry-run", "--json").json["dry_run"] is True
    assert ebbtide("reconcile").out == "0 repaired\n"


def test_memories_are_written_as_markdown(ebbtide: Run, tmp_path: Path) -> None:
    ebbtide("remember", "The gate code is 4711", "--namespace", "vector.house")
    written = ebbtide("export-markdown", tmp_path / "out", "--json").json
    assert (written["files"], written["memories"]) == (["vector.house.md"], 1)
    assert "1 exported" in ebbtide("export-markdown", tmp_path / "out").out
    assert "> The gate code is 4711\n" in (tmp_path / "out" / "vector.house.md").read_text()


def test_an_update_is_taken_back(ebbtide: Run) -> None:
    old = ebbtide("remember", "Tea is at four", "--json").json["memory"]["id"]
    ebbtide("supersede", old, "Tea is at five")
    assert ebbtide("separate", old).out == f"unconfirmed  {old}  revision 3  Tea is at four\n"
    assert len(ebbtide("browse", "--json").json["items"]) == 2


def test_a_model_makes_one_text_of_two(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBTIDE_CONSOLIDATOR", "fake")
    told = "User likes the {} dark theme in the editor of the small office on the old desk"
    for word in ("calm", "blue"):
        ebbtide("remember", told.format(word))
    planned = ebbtide("consolidate", "--by", "model", "--json").json
    assert [one["kept"] for one in planned["merges"]] == [None]
    [repeat] = [line for line in ebbtide("consolidate", "--by", "model").out.splitlines() if "--token" in line]
    assert repeat.startswith("  ebbtide consolidate --by model --token ")
    shown = ebbtide("consolidate", "--by", "model", "--token", "-", stdin=f"{repeat.split()[-1]}\n").out
    assert "2 in one" in shown
    assert planned["merges"][0]["text"] in shown.replace("\n", " ")
    assert ebbtide("consolidate", "--by", "magic").code != 0
