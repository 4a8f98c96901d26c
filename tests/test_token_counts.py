"""The tokens of contents: counted on every write, by a counter that can be another one."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput, ModelInvalid
from ebbtide.models.fake import FakeEmbedder
from ebbtide.models.tokens import create_counter
from tests.conftest import Opener
from tests.stores import DIMENSION


def kept(owner: Any, id_: Any, tenant: str = "default") -> tuple[int | None, str | None]:
    return owner.execute(
        "SELECT tokens, counted_by FROM memory WHERE id = %s AND tenant_id = %s", [id_, tenant]
    ).fetchone()


def characters(text: str) -> int:
    return len(text)


def test_what_is_remembered_is_counted_by_the_embedders_tokenizer(memory: Ebbtide, owner: Any) -> None:
    one = memory.remember("The ferry leaves at seven").memory
    two, three = (answer.memory for answer in memory.remember_many(["two words", "and three words"]))
    assert [kept(owner, each.id) for each in (one, two, three)] == [(5, "fake"), (2, "fake"), (3, "fake")]


def test_without_an_embedder_four_characters_are_a_token(open_store: Opener, owner: Any) -> None:
    stored = open_store(embedder=None).remember("nine char").memory
    assert kept(owner, stored.id) == (3, "characters")


def test_a_revision_is_counted_anew_and_its_image_keeps_its_count(memory: Ebbtide, owner: Any) -> None:
    stored = memory.remember("one two three").memory
    memory.revise(stored.id, "one two three four five")
    assert kept(owner, stored.id) == (5, "fake")
    assert owner.execute("SELECT tokens, counted_by FROM memory_version").fetchall() == [(3, "fake")]


def test_what_is_imported_is_counted_with_its_versions(memory: Ebbtide, open_store: Opener, owner: Any) -> None:
    stored = memory.remember("one two three").memory
    memory.revise(stored.id, "one two three four five")
    records = list(memory.export_records())
    assert "tokens" not in records[0]
    elsewhere = open_store(tenant="elsewhere", tokenizer=characters)
    elsewhere.import_records(records)
    tokens, name = kept(owner, stored.id, "elsewhere")
    version = owner.execute("SELECT tokens FROM memory_version WHERE tenant_id = 'elsewhere'").fetchone()
    assert (tokens, version) == (23, (13,))
    assert name.startswith("characters/")


def test_a_merge_is_counted(memory: Ebbtide, owner: Any) -> None:
    for answer in ("seven", "eight"):
        memory.remember(f"The ferry leaves at {answer}", subject="ferry", predicate="leaves")
    dispute = memory.conflicts.list()[0]
    memory.conflicts.resolve(dispute.id, "merge", merged="The ferry leaves at seven or eight")
    merged = next(found for found in memory.browse() if found.content.endswith("or eight"))
    assert kept(owner, merged.id) == (7, "fake")


def test_a_forgotten_memory_keeps_no_count(memory: Ebbtide, owner: Any) -> None:
    stored = memory.remember("one two three").memory
    memory.forget(stored.id, 1)
    assert kept(owner, stored.id) in (None, (None, None))


def test_a_counter_that_fails_costs_no_write(open_store: Opener, owner: Any) -> None:
    def fussy(text: str) -> int:
        if "ferry" in text and "pier" not in text:
            raise RuntimeError("no ferries")
        return len(text)

    memory = open_store(tokenizer=fussy)
    stored = memory.remember("The ferry").memory
    assert kept(owner, stored.id)[0] is None
    with pytest.raises(ModelInvalid) as caught:
        memory.context("ferry", budget=50)
    assert caught.value.field == "tokenizer"


def gives(answer: Any) -> Any:
    return lambda _: answer


@pytest.mark.parametrize(
    "odd", [5, "cl100k_base", b"x", object(), lambda: 1, gives("5"), gives(-1), gives(True), gives(2.0), gives(None)]
)
def test_a_tokenizer_is_a_function_from_text_to_a_number(odd: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ebbtide.open("postgresql://nowhere.invalid/x", embedder=None, tokenizer=odd)
    assert (caught.value.field, bool(caught.value.remedy)) == ("tokenizer", True)


def test_counters_are_told_apart_by_what_they_count() -> None:
    halves = [create_counter(None, None, lambda text, by=by: len(text) // by) for by in (2, 3)]
    assert halves[0].name != halves[1].name
    assert halves[0].name == create_counter(None, None, lambda text, by=2: len(text) // by).name
    assert create_counter(FakeEmbedder(DIMENSION), "fake").name == "fake"


def test_the_callers_tokenizer_measures_the_block(open_store: Opener) -> None:
    memory = open_store(tokenizer=characters)
    memory.remember("The ferry leaves at seven")
    block = memory.context("ferry")
    assert block.tokens == len(block.text)
    assert len(memory.context("ferry", budget=250).text) <= 250


async def test_many_texts_are_counted_elsewhere_in_the_same_order() -> None:
    counter = create_counter(None, None, characters)
    texts = ["x" * number for number in range(200)]
    assert await counter.count_each(texts) == list(range(200))
    assert await counter.count_each(["ab"]) == [2]
