"""Values that callers make themselves: what is wrong with one is an error like any other."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbtide import Draft, Ebbtide, Named, Policy, Rule, Settings, TagFilter
from ebbtide.errors import EbbtideError, InvalidInput

REFUSED: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: Draft(content=5), "content", "Correct content."),  # type: ignore[arg-type]
    (lambda: Draft(contnt="a"), "contnt", "content, namespace"),  # type: ignore[call-arg]
    (lambda: Draft(), "content", "Give content."),  # type: ignore[call-arg]
    (lambda: Draft(content="a", metadata=[1]), "metadata", "Correct metadata."),  # type: ignore[arg-type]
    (lambda: Draft(content="a", labels=[["b"]]), "labels.0", "Correct labels.0."),  # type: ignore[list-item]
    (lambda: Draft.model_validate(["a"]), "draft", "Correct draft."),
    (lambda: TagFilter(any=[1]), "any.0", "Correct any.0."),  # type: ignore[list-item]
    (lambda: TagFilter(some=["a"]), "some", "any, all, none, exact"),  # type: ignore[call-arg]
    (lambda: Rule(pattern="*", bonus="much"), "bonus", "Correct bonus."),  # type: ignore[arg-type]
    (lambda: Rule(pattern="*", default_kind="poem"), "default_kind", "Correct default_kind."),  # type: ignore[arg-type]
    (lambda: Named(name="Ann", type="PLANET"), "type", "Correct type."),  # type: ignore[arg-type]
    (lambda: Policy(reed=["*"]), "reed", "read"),  # type: ignore[call-arg]
    (lambda: Settings(candidate_rows=0), "candidate_rows", "EBBTIDE_CANDIDATE_ROWS"),
    (lambda: Settings(kandidates=3), "kandidates", "candidate_rows"),  # type: ignore[call-arg]
]


@pytest.mark.parametrize(("make", "field", "remedy"), REFUSED)
def test_a_value_that_cannot_be_is_refused_by_name(make: Callable[[], Any], field: str, remedy: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.field == field
    assert refused.value.remedy is not None
    assert remedy in refused.value.remedy
    assert "pydantic" not in str(refused.value)


def test_nothing_of_a_refused_value_is_repeated() -> None:
    with pytest.raises(InvalidInput) as refused:
        Draft(content={"iban": "DE89 3704 0044 0532 0130 00"})  # type: ignore[arg-type]
    assert "DE89" not in str(refused.value)


SECRET = "4111-1111-1111-1111"
LINE = json.dumps({"content": "told", "importance": SECRET})
TELLING: list[Callable[[Ebbtide], Any]] = [
    lambda _: Draft(content={"card": SECRET}),  # type: ignore[arg-type]
    lambda _: Named(name=[SECRET], type="person"),  # type: ignore[arg-type]
    lambda _: Rule(pattern="*", bonus=SECRET),  # type: ignore[arg-type]
    lambda _: Ebbtide.open(f"postgresql://ana:{SECRET}@localhost:port/x"),
    lambda memory: memory.remember("told", vector=[SECRET] * 384),
    lambda memory: memory.remember("told", metadata={"card": SECRET, "of": object()}),
    lambda memory: memory.remember("told", metadata={"card": f"{SECRET}\ud800"}),
    lambda memory: memory.recall("told", profile={"name": "mine", "law": {"card": SECRET}}),
    lambda memory: memory.import_records([LINE]),
    lambda memory: memory.import_records([LINE[:-1]]),
    lambda memory: memory.import_records([SECRET.encode() + b"\xff"]),
    lambda memory: memory.import_records([{"content": "told", "metadata": {SECRET: object()}}]),
    lambda memory: memory.verify_receipt({"id": SECRET}),
    lambda memory: memory.consolidate(by="model", dry_run=False, token=SECRET),
]


@pytest.mark.parametrize("refused", TELLING)
def test_a_log_of_a_refusal_repeats_nothing_that_was_said(memory: Ebbtide, refused: Callable[[Ebbtide], Any]) -> None:
    with pytest.raises(EbbtideError) as caught:
        refused(memory)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_what_can_be_is_as_it_was_given() -> None:
    draft = Draft(content="a", observed_at=datetime(2026, 1, 1, tzinfo=UTC), tags=["x"])
    assert Draft.model_validate(draft.model_dump()) == draft
    assert draft.model_copy(update={"content": "b"}).content == "b"


def test_a_value_of_the_engine_has_all_of_its_fields_and_shares_none_with_its_copies(memory: Ebbtide) -> None:
    relation = {
        "subject": {"name": "Ann", "type": "person"},
        "predicate": "works at",
        "object": {"name": "Acme", "type": "company"},
    }
    remembered = memory.remember("Ann works at Acme.", relation=relation)
    answer = memory.recall("Ann", trace=True)
    page = memory.entities.get("Acme")
    path = memory.relations.path("Ann", "Acme")
    around = memory.entities.neighbourhood("Acme")
    values: list[Any] = [
        remembered, remembered.memory, answer, answer[0], page, page.entity, *page.relations, path, around,
        *memory.entities.list(), *memory.relations.list(), memory.browse()[0],
    ]  # fmt: skip
    for value in values:
        assert value.__dict__.keys() == type(value).model_fields.keys() == value.model_fields_set, type(value)
    changed = remembered.memory.model_copy(update={"content": "other", "more": 1})
    assert "more" in changed.model_fields_set
    assert "more" not in remembered.memory.model_fields_set
