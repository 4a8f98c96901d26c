"""A change that a statement on a named subject tells itself, where no dates are known."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide
from tests.write.test_update import memory

__all__ = ["memory"]

LIVES: dict[str, Any] = {"subject": "Ann", "predicate": "lives_in"}


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ({}, {"content": "Ann moved to Oslo."}, "superseded"),
        ({}, {"content": "Ann lives in Oslo."}, "conflict"),
        ({}, {"content": "Ann moved to Oslo.", "valid_from": "2025-01-01"}, "superseded"),
        ({"valid_from": "2025-01-01"}, {"content": "Ann moved to Oslo.", "valid_from": "2025-01-01"}, "conflict"),
    ],
)
def test_a_stated_change_decides_where_a_date_is_not_known(
    memory: Ebbtide, old: dict[str, Any], new: dict[str, Any], outcome: str
) -> None:
    first = memory.remember("Ann lives in Berlin.", **LIVES, **old).memory
    answer = memory.remember(**new, **LIVES)
    assert answer.outcome == outcome
    assert answer.related == (first.id,)


def test_an_extracted_move_replaces_where_somebody_lived(memory: Ebbtide) -> None:
    memory.extract("Ann lives in Berlin.")
    (fact,) = memory.extract("Ann moved to Oslo.").facts
    assert fact.outcome == "superseded"


def outcomes(memory: Ebbtide, *texts: str) -> list[list[str | None]]:
    return [[fact.outcome for fact in memory.extract(text).facts] for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "Ann works at Acme. Ann moved from Berlin to Oslo in March 2023.",
        "Bob moved from Paris to Rome.",
        "Anna ist von Berlin nach Hamburg gezogen.",
        "Ann left Acme Inc. for Globex Ltd. in May.",
    ],
)
def test_a_text_is_no_news_of_itself_and_read_again_says_nothing_new(memory: Ebbtide, text: str) -> None:
    first, again = outcomes(memory, text, text)
    assert first == ["stored"] * len(first)
    assert again == ["duplicate"] * len(first)
    assert len(memory.browse()) == len(first)
    assert memory.conflicts.list() == []


def test_two_facts_of_one_text_are_compared_by_dates_alone(memory: Ebbtide) -> None:
    text = "Ann lives in Berlin. Ann moved to Oslo."
    assert outcomes(memory, text, text) == [["stored", "conflict"], ["duplicate", "duplicate"]]


def test_a_fact_is_no_news_of_the_memory_it_was_read_from(memory: Ebbtide) -> None:
    note = memory.remember("Ann was fired from Acme after nine years.").memory
    (fact,) = memory.extract(ids=note.id).facts
    assert fact.content == "Ann no longer works at Acme."
    assert fact.outcome in ("stored", "near_duplicate")


def test_what_is_read_late_is_no_news_of_what_was_told_since(memory: Ebbtide) -> None:
    early = memory.remember("We had lunch; Ann moved from Berlin to Oslo.").memory
    late = memory.remember("Later on Ann moved to Rome, she said nothing else.").memory
    assert "superseded" not in {fact.outcome for fact in memory.extract(ids=[early.id]).facts}
    assert late.content in {one.content for one in memory.browse()}


def test_the_move_of_the_readme_is_three_relations_however_often_it_is_read(memory: Ebbtide) -> None:
    for _ in range(2):
        memory.extract("Ann works at Acme. Ann moved from Berlin to Oslo in March 2023.")
        assert sorted((one.predicate, one.object.name) for one in memory.entities.get("Ann").relations) == [
            ("lived_in", "Berlin"),
            ("lives_in", "Oslo"),
            ("works_at", "Acme"),
        ]


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        (["Ann moved from Berlin to Oslo.", "Ann relocated from Berlin to Oslo."], ["duplicate", "duplicate"]),
        (["Ann lives in Oslo.", "Ann moved to Oslo."], ["near_duplicate"]),
        (["Ann moved to Oslo in 2020.", "Ann lives in Oslo."], ["near_duplicate"]),
        (["Ann lives in Oslo.", "Ann used to live in Berlin."], ["stored"]),
        (["Ann used to live in Berlin.", "Ann moved to Oslo."], ["stored"]),
        (["Ann lives in Berlin.", "Ann no longer lives in Berlin."], ["superseded"]),
        (["Ann works at Acme.", "Ann was fired from Acme."], ["superseded"]),
        (["Ann is married to Tom.", "Ann divorced Tom."], ["superseded"]),
    ],
)
def test_what_was_is_apart_from_what_is(memory: Ebbtide, texts: list[str], last: list[str]) -> None:
    assert outcomes(memory, *texts)[-1] == last


def test_what_is_read_again_does_not_hold_again_and_what_is_said_again_does(memory: Ebbtide) -> None:
    said = outcomes(memory, "Ann moved to Oslo.", "Ann moved to Rome.", "Ann moved to Oslo.", "Ann moved to Rome.")
    assert said == [["stored"], ["superseded"], ["duplicate"], ["duplicate"]]
    assert [one.content for one in memory.browse()] == ["Ann moved to Rome."]
    assert memory.extract("Ann moved to Oslo.", observed_at="2027-01-01").facts[0].outcome == "superseded"
