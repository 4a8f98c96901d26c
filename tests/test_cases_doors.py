"""What tools and other programs send: lists as text, files with a mark, odd numbers; understood, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide, TagFilter
from ebbtide.cli.app import main
from ebbtide.errors import InvalidInput
from ebbtide.models.local import LocalEmbedder
from ebbtide.models.tokens import estimated


def contents(answer: Any) -> list[str]:
    return sorted(found.content for found in answer)


def test_a_list_that_came_as_text_is_the_list(memory: Ebbtide) -> None:
    stored = memory.remember("tea", tags='["a, b", "c"]', labels=' ["factual"]', namespace="vector.team.tea").memory
    memory.remember("coffee", tags="[draft], c", namespace="vector.team.coffee")
    assert (stored.tags, stored.labels) == (("a, b", "c"), ("factual",))
    assert contents(memory.browse(tags='["a, b"]')) == ["tea"]
    assert contents(memory.browse(tags="[draft]")) == ["coffee"]
    assert contents(memory.browse(namespaces='["vector.team.tea", "vector.none"]')) == ["tea"]
    assert contents(memory.browse(kinds='["fact"]', labels='["factual"]')) == ["tea"]
    text: Any = '{"any": ["c"], "none": ["[draft]"]}'
    assert contents(memory.browse(tags=text)) == ["tea"]


@pytest.mark.parametrize("tags", ["[1]", "[[]]", "[null]", '["a\\u0000"]', '["\\ud800"]'])
def test_a_list_as_text_is_checked_like_any(memory: Ebbtide, tags: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.remember("tea", tags=tags)
    assert caught.value.field == "tags"


@pytest.mark.parametrize("number", ["5", 5.0, True, [5], None])
def test_what_is_no_number_is_not_called_out_of_range(memory: Ebbtide, number: Any) -> None:
    for ask in (memory.jobs.list, memory.entities.list):
        with pytest.raises(InvalidInput, match="no whole number") as caught:
            ask(limit=number)
        assert caught.value.field == "limit"


def test_a_key_that_is_no_text_is_shown(memory: Ebbtide) -> None:
    odd: Any = {"a": [{7: "x"}]}
    with pytest.raises(InvalidInput, match="has the key 7") as caught:
        memory.remember("tea", metadata=odd)
    assert caught.value.field == "metadata"


@pytest.mark.parametrize("tags", [{"none": []}, {"all": []}, {"all": [""], "none": " "}, TagFilter(none=())])
def test_no_tags_to_look_for_are_no_filter_to_forget_by(memory: Ebbtide, tags: Any) -> None:
    memory.remember_many(["tea", "coffee"])
    assert len(memory.browse(tags=tags)) == 2
    for refused in (lambda: memory.forget_where(tags=tags), lambda: memory.holds.place(tags=tags, reason="a case")):
        with pytest.raises(InvalidInput, match="filter is empty"):
            refused()
    assert memory.forget_where(tags={"any": []}).count == 0


@pytest.mark.parametrize("first", ['\ufeff{"content": "tea"}', b'\xef\xbb\xbf{"content": "tea"}'])
def test_the_mark_of_a_unicode_file_is_no_part_of_its_first_line(memory: Ebbtide, first: str | bytes) -> None:
    assert memory.import_records([first, '{"content": "coffee"}']).imported == 2
    assert contents(memory.browse()) == ["coffee", "tea"]
    with pytest.raises(InvalidInput, match="Line 2"):
        memory.import_records(['{"content": "milk"}', first])


def test_files_with_a_mark_are_read_by_the_command_line(
    dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, records = tmp_path / "lines.jsonl", tmp_path / "records.jsonl"
    lines.write_text('{"content": "tea"}\n', encoding="utf-8-sig")
    records.write_text('{"content": "coffee"}\r\n\r\n{"content": "milk"}', encoding="utf-8-sig")
    place = ["--store", dsn, "--embedder", "none", "--json"]
    assert main(["remember", "--file", str(lines), *place]) == 0
    assert main(["import", str(records), *place]) == 0
    capsys.readouterr()
    assert main(["browse", *place]) == 0
    listed = json.loads(capsys.readouterr().out)["items"]
    assert sorted(one["content"] for one in listed) == ["coffee", "milk", "tea"]


LONG = {
    "thai": "ประชุมที่กรุงเทพวันจันทร์" * 20,
    "emoji": "🎉👩‍👩‍👧" * 50,
    "ideographs": "龘靐齉" * 100,
    "base64": "QmFzZTY0" * 100,
    "one letter": "a" * 1_000,
    "hangul": "회의가있습니다" * 50,
}


@pytest.mark.parametrize("name", LONG)
def test_a_text_without_spaces_is_not_a_single_token(name: str) -> None:
    text = LONG[name]
    for count in (LocalEmbedder().count_tokens(text), estimated(text)):
        assert len(text.encode()) / 5 < count <= len(text.encode())


@given(st.text(), st.text())
def test_an_estimate_grows_with_its_text(one: str, other: str) -> None:
    assert estimated(one) <= estimated(one + other) <= estimated(one) + estimated(other)


def test_a_budget_holds_for_what_the_vocabulary_does_not_have(real_memory: Ebbtide) -> None:
    memory = real_memory.scoped(tenant="unknown-words")
    memory.remember_many([f"The token is {'QmFzZTY0' * 400}", "The token is kept in the safe"])
    block = memory.context("Where is the token?", budget=120)
    assert "kept in the safe" in block.text
    assert len(block.text) < 1_000


# The accent is a character of its own.
ACUTE = "rene\u0301"


@pytest.mark.parametrize("field", ["tenant", "agent", "user", "task", "chat", "session"])
def test_a_name_in_another_unicode_form_does_not_name_another(memory: Ebbtide, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.scoped(**{field: ACUTE})
    assert refused.value.field == field


def test_a_namespace_in_another_unicode_form_is_not_another(memory: Ebbtide) -> None:
    asked: list[tuple[str, Any]] = [
        ("namespace", lambda: memory.remember("A", namespace=f"vector.{ACUTE}")),
        ("namespaces", lambda: memory.recall("A", namespaces=f"vector.{ACUTE}.*")),
        ("pattern", lambda: memory.rules.add(f"vector.{ACUTE}", bonus=0.1)),
        ("user", lambda: memory.erase_user(ACUTE)),
    ]
    for field, ask in asked:
        with pytest.raises(InvalidInput) as refused:
            ask()
        assert refused.value.field == field
