"""Every error leaves in one shape, with an exit code that says whose fault it was, and without a traceback."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide.handle import AsyncEbbtide
from tests.cli.conftest import Ran, Run

USAGE = [
    (["recal", "x"], None, "recal"),
    (["recall", "x", "--limit", "many"], "limit", "many"),
    (["recall", "x", "--colour", "red"], "--colour", "colour"),
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


def test_an_interruption_ends_quietly(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AsyncEbbtide, "recall", interrupted)
    ran = ebbtide("recall", "x", "--json")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "")
