"""remember, get, browse, history, revise and forget, as JSON and for people."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from ebbtide import Ebbtide
from ebbtide.cli.memories import show_list
from ebbtide.types.memory import Memory
from tests.cli.conftest import Run

NOBODY = "00000000-0000-7000-8000-000000000000"


NOTHING = (
    ("episodes", "show", "--chat", "nope"), ("episodes", "list"), ("browse",), ("rules", "list"), ("conflicts", "list"),
    ("hold", "list"), ("documents", "list"), ("entities", "list"), ("relations", "list"), ("jobs", "list"),
)  # fmt: skip


def test_an_empty_list_is_said_to_be_one(ebbtide: Run) -> None:
    for command in NOTHING:
        ran = ebbtide(*command)
        assert (ran.code, ran.out, ran.err) == (0, "", "none\n"), command
        ran = ebbtide(*command, "--json")
        help_ = ebbtide(*command, "--help").out
        paged = "--after" in help_ or "--before" in help_
        assert (ran.json, ran.err) == ({"items": [], "next": None} if paged else [], ""), command


def test_a_namespace_that_holds_nothing_itself_is_told_how_to_read_below(ebbtide: Run) -> None:
    ebbtide("remember", "The shed is green.", "--namespace", "vector.garden")
    hint = ebbtide("recall", "shed", "--namespace", "vector")
    assert "vector.*" in hint.err
    assert ebbtide("recall", "shed", "--namespace", "vector", "--json").err == ""
    assert ebbtide("recall", "shed", "--namespace", "absent").err == ""
    assert ebbtide("recall", "shed", "--namespace", "vector.*").err == ""


def test_remember_answers_with_the_outcome_and_the_memory(ebbtide: Run) -> None:
    ran = ebbtide("remember", "The lamp oil is in the shed.", "--json")
    assert ran.code == 0
    assert set(ran.json) == {"outcome", "memory"}
    assert ran.json["outcome"] == "stored"
    assert set(ran.json["memory"]) == set(Memory.model_fields)
    assert ran.err == ""


def test_remember_takes_every_field(ebbtide: Run) -> None:
    given = {
        "--namespace": "vector.team.howto",
        "--kind": "howto",
        "--label": "procedural",
        "--importance": 0.9,
        "--confidence": 0.8,
        "--subject": "lamp",
        "--predicate": "oil",
        "--observed-at": "2026-01-02",
        "--valid-from": "2026-01-03T10:00:00+01:00",
        "--expires-at": "2030-01-01",
        "--tag": "a",
        "--metadata": '{"shelf": [1, 2]}',
        "--speaker": "Ada",
        "--seq": 3,
        "--user": "ada",
        "--chat": "c1",
        "--session": "s1",
        "--task": "t1",
        "--idempotency-key": "k",
    }
    options = [part for option in given.items() for part in option]
    more = ("--label", "factual", "--tag", "b", "--json")
    memory = ebbtide("remember", "Fill it to the line.", *options, *more).json["memory"]
    expected = {
        "namespace": "vector.team.howto", "kind": "howto", "labels": ["procedural", "factual"], "importance": 0.9,
        "confidence": 0.8, "subject": "lamp", "predicate": "oil", "observed_at": "2026-01-02T00:00:00Z",
        "valid_from": "2026-01-03T09:00:00Z", "expires_at": "2030-01-01T00:00:00Z", "tags": ["a", "b"],
        "metadata": {"shelf": [1, 2]}, "speaker": "Ada", "seq": 3,
        "user": "ada", "chat": "c1", "session": "s1", "task": "t1",
    }  # fmt: skip
    assert {name: memory[name] for name in expected} == expected


def test_remember_reads_standard_input(ebbtide: Run) -> None:
    assert ebbtide("remember", "--json", stdin="Piped in: é 日本\n").json["memory"]["content"] == "Piped in: é 日本"
    assert ebbtide("remember", "-", "--json", stdin="Dashed").json["memory"]["content"] == "Dashed"


def test_warnings_are_told_where_there_are_any(ebbtide: Run) -> None:
    ran = ebbtide("remember", "Reserved keys go.", "--metadata", '{"tenant_id": "x"}', "--json")
    assert ran.code == 0
    assert set(ran.json) - {"warnings"} == {"outcome", "memory"}


def test_a_file_of_drafts_is_written_whole_or_not_at_all(ebbtide: Run, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text('{"content": "One.", "kind": "note"}\n\n{"content": "Two."}\n', encoding="utf-8")
    ran = ebbtide("remember", "--file", drafts, "--json")
    assert [one["outcome"] for one in ran.json] == ["stored", "stored"]
    assert ran.json[0]["memory"]["kind"] == "note"
    refused = ebbtide("remember", "--file", "-", "--json", stdin='{"content": "Three."}\n{"content": 4}\n')
    assert (refused.code, refused.json["error"]["field"]) == (2, "content")
    assert len(ebbtide("browse", "--json").json["items"]) == 2


def test_a_file_of_drafts_stands_alone(ebbtide: Run) -> None:
    ran = ebbtide("remember", "--file", "-", "--kind", "note", "--json", stdin='{"content": "One."}')
    assert (ran.code, ran.json["error"]["field"]) == (2, "kind")


def test_one_memory_through_its_life(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "The gate code is 11.", "--json").json["memory"]["id"]
    assert ebbtide("get", id_, "--json").json["content"] == "The gate code is 11."
    revised = ebbtide("revise", id_, "The gate code is 12.", "--expected-revision", 1, "--tag", "gate", "--json").json
    assert (revised["revision"], revised["tags"]) == (2, ["gate"])
    assert [version["content"] for version in ebbtide("history", id_, "--json").json] == [
        "The gate code is 11.",
        "The gate code is 12.",
    ]
    stale = ebbtide("forget", id_, "--expected-revision", 1, "--json")
    assert (stale.code, stale.json["error"]["code"]) == (1, "stale_revision")
    forgotten = ebbtide("forget", id_, "--expected-revision", 2, "--json")
    assert (forgotten.code, forgotten.json["id"], forgotten.json["revision"]) == (0, id_, 3)
    assert ebbtide("get", id_, "--json").json["error"]["code"] == "not_found"


def test_browse_pages_and_narrows(ebbtide: Run) -> None:
    ids = [ebbtide("remember", f"Number {n}.", "--tag", f"t{n}", "--json").json["memory"]["id"] for n in range(3)]
    assert [one["id"] for one in ebbtide("browse", "--limit", 2, "--json").json["items"]] == ids[:0:-1]
    assert [one["id"] for one in ebbtide("browse", "--after", ids[1], "--json").json["items"]] == ids[:1]
    assert [
        one["id"] for one in ebbtide("browse", "--tag-any", "t0", "--tag-any", "t2", "--json").json["items"]
    ] == ids[::-2]
    assert [
        one["id"] for one in ebbtide("browse", "--tag-none", "t0", "--tag-none", "t1", "--json").json["items"]
    ] == ids[2:]


def test_people_read_lines(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "A line\nand another.", "--metadata", '{"a": 1}', "--json").json["memory"]["id"]
    assert ebbtide("browse").out.endswith("A line and another.\n")
    shown = ebbtide("get", id_).out
    assert shown.startswith("A line\nand another.\n")
    assert '{"a": 1}' in shown
    assert "unconfirmed" in ebbtide("history", id_).out
    assert ebbtide("revise", id_, "-", stdin="Revised.\n").out == f"revision 2  {id_}  Revised.\n"
    assert ebbtide("forget", id_, "--expected-revision", 2).out == f"forgotten  {id_}  at revision 3\n"


def test_what_is_remembered_cannot_steer_a_terminal(ebbtide: Run) -> None:
    ran = ebbtide("remember", "\x1b[31mred\x07 \u202eturned [bold]kept[/]")
    assert "�[31mred� �turned [bold]kept[/]" in ran.out
    assert json.loads(ebbtide("browse", "--json").out)["items"][0]["content"].startswith("\x1b[31m")


def test_a_memory_that_is_not_there(ebbtide: Run) -> None:
    for command in (("get",), ("history",), ("revise",), ("forget", "--expected-revision", "1")):
        ran = ebbtide(*command, NOBODY, *(["new"] if command == ("revise",) else []), "--json")
        assert (ran.code, ran.json["error"]["code"], ran.json["error"]["field"]) == (1, "not_found", "memory_id")


@pytest.mark.parametrize("width", [80, 119, 120, 200])
def test_a_list_shows_what_memories_say_on_a_terminal_of_any_width(memory: Ebbtide, width: int) -> None:
    said = "The ferry leaves at seven in summer."
    memory.remember(said, namespace="vector.team.a")
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, color_system=None)
    show_list(console, memory.browse())
    lines = screen.getvalue().splitlines()
    assert (len(lines), lines[-1].endswith(said)) == (2 if width < 120 else 1, True)
