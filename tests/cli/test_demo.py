"""The demo tells its story, on a store that is thrown away and on one that is kept."""

from __future__ import annotations

from ebbtide.demo.script import load_script
from tests.cli.conftest import Run

SCENES = ["remembered", "answers", "supersession", "profiles", "why_not", "context", "timings"]


def test_the_whole_story_as_json(ebbtide: Run, dsn: str) -> None:
    ran = ebbtide("demo", "--store", dsn, "--json")
    assert ran.code == 0, ran.out
    script, told = load_script(), ran.json
    assert list(told) == SCENES
    assert told["remembered"]["memories"] == len(script.memories)
    assert [answer["question"] for answer in told["answers"]] == [question["text"] for question in script.questions]
    assert all(len(answer["recall"]["hits"]) <= 3 for answer in told["answers"])
    assert told["supersession"]["old"]["superseded_by"] == told["supersession"]["new"]["id"]
    assert [version["maturity"] for version in told["supersession"]["history"]] == ["unconfirmed", "superseded"]
    assert set(told["profiles"]) == set(script.scenes["profiles"]["profiles"])
    assert told["why_not"]["explanation"]["returned"] is False
    assert told["context"]["tokens"] <= script.scenes["context"]["max_tokens"]
    assert "Remembering: 365 of 365" in ran.err


def test_a_store_that_holds_memories_is_left_alone(ebbtide: Run, dsn: str) -> None:
    ebbtide("remember", "Mine.")
    ran = ebbtide("demo", "--store", dsn, "--json")
    assert (ran.code, ran.json["error"]["field"]) == (2, "store")
    assert len(ebbtide("browse", "--json").json["items"]) == 1


def test_people_read_it_in_lines_that_fit_in_a_throwaway_store(ebbtide: Run) -> None:
    ran = ebbtide("demo")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 100
    titles = ("Remember", "Recall", "Supersede", "Rank", "Explain", "Context", "Use it")
    assert [title for title in titles if f"\n{title} ─" not in ran.out] == []
    assert ebbtide("browse", "--json").json["items"] == []
