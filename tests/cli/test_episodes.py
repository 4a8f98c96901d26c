"""The commands on conversations."""

from __future__ import annotations

from tests.cli.conftest import Run

CHAT = ("--chat", "c1")


def test_a_conversation_with_two_endings(ebbtide: Run) -> None:
    asked = ebbtide("episodes", "add", "Which ferry shall we take?", *CHAT, "--json").json
    assert ebbtide("episodes", "add", "The ferry at seven", "--role", "assistant", *CHAT).code == 0
    made = ebbtide("episodes", "fork", "--at", asked["memory"]["id"], "--name", "later", *CHAT, "--json").json
    assert (made["name"], made["parent"], made["forked_after"]) == ("later", "main", 0)
    other = (*CHAT, "--branch", "later")
    assert ebbtide("episodes", "add", "The ferry at nine", "--role", "assistant", *other).code == 0
    turns = ebbtide("episodes", "show", *other, "--json").json
    assert [turn["content"] for turn in turns] == ["Which ferry shall we take?", "The ferry at nine"]
    told = ebbtide("episodes", "show", *CHAT)
    assert "assistant" in told.out
    assert "The ferry at seven" in told.out
    assert "nine" not in told.out
    assert "later  1 turn of its own  goes on from main after place 0" in ebbtide("episodes", "branches", *CHAT).out
    assert [one["name"] for one in ebbtide("episodes", "branches", *CHAT, "--json").json] == ["main", "later"]
    assert [(one["chat"], one["turns"]) for one in ebbtide("episodes", "list", "--json").json["items"]] == [("c1", 3)]
    assert "c1  3 turns  2 branches" in ebbtide("episodes", "list").out
    recalled = ebbtide("recall", "ferry", *other, "--json").json
    assert {hit["content"] for hit in recalled["hits"]} == {"Which ferry shall we take?", "The ferry at nine"}


def test_a_summary_is_made_and_gone_on_with(ebbtide: Run) -> None:
    ebbtide("episodes", "add", "The ferry leaves at seven.", *CHAT)
    first = ebbtide("episodes", "summarise", *CHAT, "--json").json
    assert (first["outcome"], first["by"], first["memory"]["content"]) == (
        "stored", "extract", "The ferry leaves at seven.",
    )  # fmt: skip
    ebbtide("episodes", "add", "The ferry is full at seven.", *CHAT)
    told = ebbtide("episodes", "summarise", *CHAT).out
    assert "revised  2 turns, 1 of them new" in told
    assert "Topics: ferry" in told
    assert ebbtide("episodes", "summarise", "--anew", *CHAT, "--json").json["new_turns"] == 2


def test_what_is_not_there_is_an_error(ebbtide: Run) -> None:
    ebbtide("episodes", "add", "Hello", *CHAT)
    assert ebbtide("episodes", "show").code == 2
    assert ebbtide("episodes", "show", *CHAT, "--branch", "none").code == 1
    assert ebbtide("episodes", "add", "x", "--role", "robot", *CHAT).code == 2
    assert ebbtide("episodes", "fork", "--at", "0190b5a0-0000-7000-8000-000000000000", *CHAT).code == 1
