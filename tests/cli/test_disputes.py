"""The commands on conflicts."""

from __future__ import annotations

from tests.cli.conftest import Run

EMPLOYER = ("--subject", "Ana", "--predicate", "employer")


def test_conflicts_are_listed_and_settled(ebbtide: Run) -> None:
    ebbtide("remember", "Ana works at Northwind", *EMPLOYER)
    answer = ebbtide("remember", "Ana works at Contoso", *EMPLOYER, "--json").json
    assert answer["outcome"] == "conflict"
    assert len(answer["related"]) == 1
    [conflict] = ebbtide("conflicts", "list", "--json").json["items"]
    assert [conflict["older"]["content"], conflict["newer"]["content"]] == [
        "Ana works at Northwind", "Ana works at Contoso",
    ]  # fmt: skip
    told = ebbtide("conflicts", "list")
    assert conflict["id"] in told.out
    assert "Ana works at Northwind" in told.out
    [holding] = ebbtide("conflicts", "resolve", conflict["id"], "keep_new", "--json").json
    assert holding["content"] == "Ana works at Contoso"
    assert ebbtide("conflicts", "list", "--json").json["items"] == []


def test_a_merge_takes_its_text(ebbtide: Run) -> None:
    ebbtide("remember", "Ana works at Northwind", *EMPLOYER)
    ebbtide("remember", "Ana works at Contoso", *EMPLOYER)
    [conflict] = ebbtide("conflicts", "list", "--json").json["items"]
    refused = ebbtide("conflicts", "resolve", conflict["id"], "merge", "--json")
    assert (refused.code, refused.json["error"]["field"]) == (2, "merged")
    merged = ebbtide("conflicts", "resolve", conflict["id"], "merge", "--merged", "Ana left Northwind for Contoso")
    assert "Ana left Northwind for Contoso" in merged.out


def test_what_cannot_be_settled_is_an_error(ebbtide: Run) -> None:
    assert ebbtide("conflicts", "resolve", "0190b5a0-0000-7000-8000-000000000000", "keep_new").code == 1
    assert ebbtide("conflicts", "resolve", "0190b5a0-0000-7000-8000-000000000000", "perhaps").code == 2
    assert ebbtide("conflicts", "list", "--limit", "0").code == 2


def test_a_dropped_draft_has_no_memory_to_show(ebbtide: Run) -> None:
    ebbtide("rules", "add", "vector.*", "--personal-data", "drop")
    dropped = ebbtide("remember", "Write to ana@example.com")
    assert (dropped.code, dropped.out.strip()) == (0, "dropped")
    assert ebbtide("remember", "Write to ana@example.com", "--json").json == {"outcome": "dropped", "memory": None}
