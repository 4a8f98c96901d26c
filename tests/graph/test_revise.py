"""What a revised memory speaks of: what it says now, and nothing that it said before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.graph.revise import RELATION_DROPPED, lost_names
from ebbtide.identifiers import new_id
from tests.graph.test_entities import person
from tests.stores import START

WORKS = {
    "subject": {"name": "Tom", "type": "person"},
    "predicate": "works_at",
    "object": {"name": "Acme", "type": "company"},
}
PART = {
    "subject": {"name": "Acme", "type": "company"},
    "predicate": "part_of",
    "object": {"name": "Umbrella", "type": "company"},
}


def mentioned(memory: Ebbtide) -> set[str]:
    return {one.name for one in memory.entities.list()}


def said(memory: Ebbtide) -> set[tuple[str, str, str]]:
    return {(one.subject.name, one.predicate, one.object.name) for one in memory.relations.list()}


def dropped(owner: Any, id_: Any) -> list[str]:
    rows = owner.execute(
        "SELECT detail->'dropped' FROM audit WHERE memory_id = %s AND detail->>'operation' = 'update'", [id_]
    ).fetchall()
    return rows[-1][0]


def test_a_new_text_loses_the_relation_and_the_names_that_it_says_no_more(memory: Ebbtide, owner: Any) -> None:
    one = memory.remember("Tom works at Acme", relation=WORKS).memory
    memory.remember("Acme belongs to Umbrella", relation=PART)
    assert one is not None
    assert ("Tom", "works_at", "Umbrella") in said(memory)
    revised = memory.revise(one.id, "Tom works at Initech")
    assert said(memory) == {("Acme", "part_of", "Umbrella")}
    assert dropped(owner, one.id) == [RELATION_DROPPED]
    assert [fact.id for fact in memory.entities.get("Tom").facts] == [one.id]
    assert one.id not in {fact.id for fact in memory.entities.get("Acme").facts}
    assert [version.content for version in memory.history(revised.id)] == ["Tom works at Acme", "Tom works at Initech"]


def test_an_entity_that_nothing_speaks_of_any_more_goes(memory: Ebbtide) -> None:
    one = memory.remember("Tom works at Acme", relation=WORKS).memory
    assert one is not None
    memory.revise(one.id, "Tom is out of work")
    assert mentioned(memory) == {"Tom"}
    with pytest.raises(NotFound):
        memory.entities.get("Acme")


def test_what_is_given_takes_the_place_of_all(memory: Ebbtide, owner: Any) -> None:
    one = memory.remember("Tom works at Acme", relation=WORKS, entities=[person("Ann")]).memory
    assert one is not None
    tom = memory.entities.get("Tom").entity.id
    initech = {**WORKS, "object": {"name": "Initech", "type": "company"}}
    memory.revise(one.id, "Tom works at Initech", relation=initech)
    assert said(memory) == {("Tom", "works_at", "Initech")}
    assert mentioned(memory) == {"Tom", "Initech"}
    assert memory.entities.get("Tom").entity.id == tom
    assert dropped(owner, one.id) == []
    memory.revise(one.id, "Tom works at Initech", entities=[])
    assert mentioned(memory) == set()
    with pytest.raises(InvalidInput, match="entities"):
        memory.revise(one.id, "Tom", entities="Tom")


def test_the_same_text_and_what_it_never_named_stay(memory: Ebbtide, owner: Any) -> None:
    one = memory.remember("Tom works at Acme", relation=WORKS, entities=[person("Ann")]).memory
    assert one is not None
    memory.revise(one.id, "Tom works at Acme", importance=0.9)
    assert said(memory) == {("Tom", "works_at", "Acme")}
    assert dropped(owner, one.id) == []
    memory.revise(one.id, "TOM left ACME")
    assert mentioned(memory) == {"Tom", "Acme", "Ann"}
    assert said(memory) == set()


NAMES = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)


@given(NAMES, NAMES)
def test_only_a_name_that_stood_there_is_lost(name: str, other: str) -> None:
    id_ = new_id(START)
    assert lost_names({id_: name}, f"so {name} says", f"so says {name}!") == set()
    assert lost_names({id_: name}, "nobody 1 2", f"{other} 3") == set()
    assert lost_names({id_: name}, f"so {name} 1", "1 2 3") == {id_}


def test_names_are_whole_words_where_a_script_has_any() -> None:
    one, two = new_id(START), new_id(START)
    assert lost_names({one: "Tom", two: "東京"}, "Tom in 東京に", "Tomorrow 東京へ") == {one}
