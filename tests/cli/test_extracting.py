"""extract, as JSON and for people."""

from __future__ import annotations

from tests.cli.conftest import Run


def test_a_text_is_read(ebbtide: Run) -> None:
    ran = ebbtide("extract", "Ann works at Acme.", "--json")
    (fact,) = ran.json["texts"][0]["facts"]

    assert (ran.code, ran.json["extractor"], ran.json["read"]) == (0, "rules/1", 1)
    assert (fact["content"], fact["outcome"], fact["start"], fact["end"]) == ("Ann works at Acme.", "stored", 0, 17)
    assert ebbtide("get", fact["memory_id"], "--json").json["predicate"] == "works_at"


def test_memories_are_read_again_without_doubling(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "Lunch. Ann works at Acme.", "--json").json["memory"]["id"]
    assert ebbtide("extract", "--id", id_).out.startswith(
        "stored  works_at  0.90  Ann works at Acme.\n1 fact in 1 text"
    )
    ran = ebbtide("extract", "--namespace", "vector.*", "--json")
    assert [fact["outcome"] for text in ran.json["texts"] for fact in text["facts"]] == ["duplicate"]


def test_a_dry_run_only_tells(ebbtide: Run) -> None:
    ran = ebbtide("extract", "-", "--dry-run", "--speaker", "Eva", stdin="I prefer tea.\n")
    assert ran.out.startswith("found  prefers  0.85  Eva prefers tea.")
    assert ebbtide("browse", "--json").json["items"] == []


def test_one_thing_is_to_be_read(ebbtide: Run) -> None:
    refused = ebbtide("extract", "--json")
    assert (refused.code, refused.json["error"]["field"]) == (2, "text")
