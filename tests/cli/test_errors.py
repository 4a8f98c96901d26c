"""Every error leaves in one shape, with an exit code that says whose fault it was, and without a traceback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError
from ebbtide.handle import AsyncEbbtide
from tests.cli.conftest import Ran, Run

USAGE = [
    (["recal", "x"], None, "recal"),
    (["recall", "x", "--limit", "many"], "limit", "many"),
    (["recall", "x", "--colour", "red"], "colour", "colour"),
    (["forget", "x"], "expected_revision", "expected-revision"),
    (["explain", "x"], "memory_id", "ID"),
    (["recall", "x", "y"], None, "y"),
    (["recall", "x", "--where", "{"], "where", "JSON"),
    (["remember", "x", "--metadata", "[" * 100_000], "metadata", "deep"),
    (["remember", "--file", "absent.jsonl"], "file", "absent.jsonl"),
    (["profiles", "unheard"], None, "unheard"),
]
ENGINE = [
    (["recall", "x", "--limit", "0"], "limit"),
    (["recall", "x", "--kind", "opinion"], "kinds"),
    (["recall", "x", "--profile", "unheard"], "profile"),
    (["recall", "x", "--as-of", "2026"], "as_of"),
    (["remember", "x", "--importance", "2"], "importance"),
    (["remember", "x", "--tenant", ""], "tenant"),
    (["remember", "x", "--timezone", "Mars/Olympus"], "timezone"),
    (["remember", ""], "content"),
    (["get", "not-an-id"], "memory_id"),
    (["browse", "--limit", "100000"], "limit"),
    (["recall", "x", "--embedder", "unheard"], "embedder"),
]


def error_of(ran: Ran) -> dict[str, Any]:
    assert set(ran.json) == {"error"}
    assert set(ran.json["error"]) == {"code", "message", "field", "remedy"}
    assert "Traceback" not in ran.out + ran.err
    return ran.json["error"]


@pytest.mark.parametrize(("arguments", "field", "named"), USAGE)
def test_a_wrong_command_line_is_invalid_input(run: Run, arguments: list[str], field: str | None, named: str) -> None:
    ran = run(*arguments, "--json")
    error = error_of(ran)
    assert (ran.code, error["code"], error["field"]) == (2, "invalid_input", field)
    assert named in error["message"]
    assert error["remedy"]


@pytest.mark.parametrize(("arguments", "field"), ENGINE)
def test_a_wrong_value_is_invalid_input(ebbtide: Run, arguments: list[str], field: str) -> None:
    ran = ebbtide(*arguments, "--json")
    error = error_of(ran)
    assert (ran.code, error["code"], error["field"]) == (2, "invalid_input", field)


def test_people_get_the_message_and_the_remedy_on_standard_error(ebbtide: Run) -> None:
    ran = ebbtide("recall", "x", "--limit", "0")
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 2


def test_the_words_of_a_query_are_no_options(ebbtide: Run) -> None:
    ran = ebbtide("recall", "--", "--json")
    assert (ran.code, ran.out) == (0, "Nothing relevant.\n")


def test_a_store_that_does_not_answer(run: Run) -> None:
    ran = run("recall", "x", "--store", "postgresql://nobody@127.0.0.1:1/none", "--json")
    assert (ran.code, error_of(ran)["code"]) == (1, "store_unavailable")


def test_another_model_is_refused(ebbtide: Run) -> None:
    ran = ebbtide("recall", "x", "--embedder", "fake:64", "--json")
    assert (ran.code, error_of(ran)["code"]) == (1, "model_mismatch")


def test_input_that_is_not_utf_8(ebbtide: Run) -> None:
    assert error_of(ebbtide("remember", "--json", stdin=b"\xff\xfe"))["field"] == "content"


def test_a_defect_is_told_as_one(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(AsyncEbbtide, "recall", broken)
    ran = ebbtide("recall", "x", "--json")
    assert (ran.code, error_of(ran)["code"]) == (1, "ebbtide_error")
    assert "ZeroDivisionError" in error_of(ran)["message"]
    debugged = ebbtide("recall", "x", "--json", "--debug")
    assert "in broken" in debugged.err
    assert debugged.json == ran.json


async def interrupted(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_an_interruption_says_that_nothing_was_stored(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsyncEbbtide, "remember", interrupted)
    ran = ebbtide("remember", "x", "--json")
    assert (ran.code, error_of(ran)["code"], ran.err) == (130, "interrupted", "")
    ran = ebbtide("remember", "x")
    assert (ran.code, ran.out, ran.err) == (130, "", "Interrupted; nothing was stored.\n")


def test_an_interruption_says_what_was_stored(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def one_batch(*_: Any, progress: Callable[[int], None], **__: Any) -> None:
        progress(1_000)
        raise KeyboardInterrupt

    monkeypatch.setattr(AsyncEbbtide, "import_records", one_batch)
    ran = ebbtide("import", stdin="{}")
    assert (ran.code, "1,000 lines were stored" in ran.err) == (130, True)
    monkeypatch.setattr(AsyncEbbtide, "ingest", interrupted)
    assert "files read until then are stored" in ebbtide("ingest", ".").err
    assert "nothing was stored" in ebbtide("ingest", ".", "--dry-run").err
    monkeypatch.setattr(AsyncEbbtide, "erase_user", interrupted)
    assert "what was done until then stays" in ebbtide("erase", "user", "ada", "--confirm", "ada").err


@pytest.mark.parametrize("wanted", [(), ("--json",)])
def test_an_interruption_while_the_program_is_loaded_shows_no_traceback(wanted: tuple[str, ...]) -> None:
    program = """
import builtins, sys
from ebbtide.cli import main
load = builtins.__import__
def interrupted(name, *given, **more):
    if name == "click":
        raise KeyboardInterrupt
    return load(name, *given, **more)
builtins.__import__ = interrupted
sys.exit(main())
"""
    answer = subprocess.run([sys.executable, "-c", program, *wanted], capture_output=True, text=True, check=False)
    ran = Ran(answer.returncode, answer.stdout, answer.stderr)
    assert ran.code == 130
    assert "nothing was stored" in (error_of(ran)["message"] if wanted else ran.err)
    assert "Traceback" not in ran.err


def test_a_forgetting_without_a_revision_says_where_to_read_it(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "The tide turns at noon.", "--json").json["memory"]["id"]
    assert "ebbtide get ID" in error_of(ebbtide("forget", id_, "--json"))["remedy"]
    assert ebbtide("forget", id_, "--revision", "1").code == 0


READING = (
    ("recall", "x"), ("context", "x"), ("explain", "x", "0197a3c0-0000-7000-8000-000000000000"), ("browse",),
    ("get", "0197a3c0-0000-7000-8000-000000000000"), ("history", "0197a3c0-0000-7000-8000-000000000000"), ("export",),
    ("jobs", "list"), ("profiles", "list"), ("eval", "absent.json"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", READING)
def test_where_there_is_no_store_none_is_made(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, "--store", tmp_path / "store", "--json")
    assert (ran.code, error_of(ran)["code"], error_of(ran)["field"]) == (1, "not_found", "location")
    assert "There is no store at" in error_of(ran)["message"]
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_minds_no_store_unless_one_was_named(run: Run) -> None:
    ran = run("doctor")
    assert ran.code == 0
    assert "none yet at" in ran.out


def test_a_file_is_no_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("x")
    for command in ("recall", "remember"):
        for place in ("afile", "afile/below"):
            error = error_of(run(command, "x", "--store", tmp_path / place, "--json"))
            assert error["code"] == "store_unsuitable"
            assert error["message"] == f"{tmp_path / 'afile'} is a file, not a folder."


def test_a_folder_that_cannot_be_looked_into_is_told_of(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exists = Path.exists

    def locked(path: Path) -> bool:
        if tmp_path in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path)

    monkeypatch.setattr(Path, "exists", locked)
    for command in ("recall", "remember"):
        error = error_of(run(command, "x", "--store", tmp_path / "store", "--json"))
        assert error["code"] == "store_unavailable"
        assert "Permission denied" in error["message"]
        assert "permissions" in error["remedy"]


def test_the_doctor_says_that_there_is_no_store(run: Run, tmp_path: Path) -> None:
    ran = run("doctor", "--store", tmp_path / "store")
    assert ran.code == 1
    assert "There is no store at" in ran.out
    assert list(tmp_path.iterdir()) == []


def test_a_bad_line_of_drafts_is_named_once(ebbtide: Run, tmp_path: Path) -> None:
    file = tmp_path / "drafts.jsonl"
    file.write_text('{"content": "Fine."}\n{"content": }\n')
    error = error_of(ebbtide("remember", "--file", file, "--json"))
    assert error["message"] == "Line 2 of the file is not JSON: Expecting value, column 13."
    assert error["field"] == "file"
    assert "content" in error["remedy"]


def test_a_profile_that_is_none_is_told_which_are(ebbtide: Run) -> None:
    assert "ibex" in error_of(ebbtide("profiles", "get", "ibeks", "--json"))["remedy"]


def test_a_bad_profile_is_told_how_to_be(ebbtide: Run) -> None:
    error = error_of(ebbtide("profiles", "save", "--json", stdin="{"))
    assert "profiles get" in error["remedy"]
    assert error["message"].count("column") == 1


def test_a_text_without_quotation_marks(run: Run) -> None:
    assert "quotation marks" in error_of(run("remember", "two", "words", "--json"))["remedy"]


def test_a_ranking_that_is_none_is_refused_before_anything_is_loaded(run: Run, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    data = tmp_path / "data.json"
    data.write_text(page.partition("```json\n")[2].partition("```")[0], encoding="utf-8")
    ran = run("eval", data, "--profile", "unheard", "--json")
    assert (ran.code, error_of(ran)["field"]) == (2, "profile")
    assert ran.err == ""


def test_a_server_that_is_gone_is_told_of_once(run: Run) -> None:
    ran = run("recall", "x", "--store", "postgresql://nobody@127.0.0.1:1/none")
    assert (ran.code, len(ran.err.splitlines())) == (1, 2)
    assert "127.0.0.1:1" in ran.err


NAMED = [
    (["get", "x"], "ID is not an id: 'x'.", "memory_id"),
    (["forget", "x", "--revision", "1"], "ID is not an id: 'x'.", "memory_id"),
    (["invalidate", "x", "--revision", "0"], "ID is not an id: 'x'.", "memory_id"),
    (["browse", "--after", "x"], "--after is not an id: 'x'.", "after"),
    (
        ["remember", "x", "--ttl-seconds", "1", "--expires-at", "2027-01-01"],
        "--ttl-seconds or --expires-at",
        "ttl_seconds",
    ),
    (["remember", "x", "--metadata", "[]"], "--metadata must be an object.", "metadata"),
    (["forget-where", "--where", '{"a": {"$b": 1}}'], "$b", "where"),
    (["relations", "path", "a", "b", "--max-hops", "9"], "--max-hops is out of range: 9.", "max_hops"),
]


@pytest.mark.parametrize(("arguments", "said", "field"), NAMED)
def test_the_words_of_an_error_speak_the_command_lines_language_and_its_field_that_of_programs(
    ebbtide: Run, arguments: list[str], said: str, field: str
) -> None:
    error = error_of(ebbtide(*arguments, "--json"))
    assert said in error["message"]
    assert error["field"] == field


IN_FILES = [
    ({"content": "Rain.", "observed_at": "soon"}, "observed_at"),
    ({"content": "Rain.", "importance": 2}, "importance"),
    ({"content": "Rain.", "colour": "red"}, "colour"),
    ({"content": "Rain.", "valid_from": 7}, "valid_from"),
    ({"content": ""}, "content"),
]


@pytest.mark.parametrize(("wrong", "field"), IN_FILES)
@pytest.mark.parametrize("before", ["\n", '{"content": "Sun."}\n'])
def test_what_stands_in_a_file_keeps_its_name_and_its_line(
    ebbtide: Run, tmp_path: Path, wrong: dict[str, Any], field: str, before: str
) -> None:
    file = tmp_path / "drafts.jsonl"
    file.write_text(before + json.dumps(wrong) + "\n")
    for command in (("remember", "--file", file), ("import", file)):
        error = error_of(ebbtide(*command, "--json"))
        assert (error["field"], error["message"].startswith("Line 2: ")) == (field, True), error
        assert not re.search(r"--[a-z]|drafts\[", error["message"] + error["remedy"]), error
    assert ebbtide("browse", "--json").json["items"] == []


def test_a_draft_that_the_store_refuses_is_told_as_the_files(ebbtide: Run, tmp_path: Path) -> None:
    file = tmp_path / "drafts.jsonl"
    lost = {"content": "Rain.", "supersedes": "0197a3c0-0000-7000-8000-000000000000"}
    file.write_text('{"content": "Sun."}\n' + json.dumps(lost) + "\n")
    error = error_of(ebbtide("remember", "--file", file, "--json"))
    assert error["field"] == "supersedes"
    assert error["message"].startswith("A draft of the file: ")
    assert "--supersedes" not in error["message"] + error["remedy"]


def test_every_door_names_the_same_field(ebbtide: Run, memory: Ebbtide) -> None:
    for arguments, ask in (
        (("recall", "x", "--limit", "0"), lambda: memory.recall("x", limit=0)),
        (("remember", "x", "--observed-at", "soon"), lambda: memory.remember("x", observed_at="soon")),
        (("get", "x"), lambda: memory.get("x")),
        (("forget-where", "--namespace", "*"), lambda: memory.forget_where(namespaces="*")),
        (("hold", "place", "--reason", "r", "--of-user", " "), lambda: memory.holds.place(user=" ", reason="r")),
        (("ingest", "absent.md"), lambda: memory.ingest("absent.md")),
        (("record-run", "a\0", "b"), lambda: memory.record_run("a\0", "b")),
    ):
        with pytest.raises(EbbtideError) as refused:
            ask()
        assert error_of(ebbtide(*arguments, "--json"))["field"] == refused.value.field, arguments
