"""What memories mention becomes entities: resolved, learnt, kept apart by agent, safe under two writers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.errors import InvalidInput
from ebbtide.types.graph import Named, Related

SARAH = {"name": "Dr. Sarah Chen", "type": "person"}
ANTHROPIC = {"name": "Anthropic", "type": "company"}


def entities(owner: Any) -> list[tuple[str, str]]:
    return owner.execute("SELECT type, name FROM entity ORDER BY id").fetchall()


def aliases(owner: Any) -> list[tuple[str, bool]]:
    return owner.execute("SELECT alias, given FROM entity_alias ORDER BY id").fetchall()


def test_a_memory_names_entities_and_what_holds_between_them(memory: Ebbtide, owner: Any) -> None:
    stored = memory.remember(
        "Sarah Chen works at Anthropic",
        entities=[{"name": "Claude", "type": "Product"}],
        relation={"subject": SARAH, "predicate": "works at", "object": ANTHROPIC},
    ).memory
    assert entities(owner) == [("PRODUCT", "Claude"), ("PERSON", "Dr. Sarah Chen"), ("COMPANY", "Anthropic")]
    rows = owner.execute(
        "SELECT a.name, r.predicate, b.name, r.memory_id FROM relation r JOIN entity a ON a.id = r.subject_id"
        " JOIN entity b ON b.id = r.object_id"
    ).fetchall()
    assert rows == [("Dr. Sarah Chen", "works_at", "Anthropic", stored.id)]
    assert owner.execute("SELECT count(*) FROM mention WHERE memory_id = %s", [stored.id]).fetchone() == (3,)


def test_a_similar_name_is_learnt_and_known_from_then_on(memory: Ebbtide, owner: Any) -> None:
    memory.remember("The doctor is in", entities=[SARAH])
    memory.remember_many(
        [
            {"content": "Sarah Chen likes tea", "entities": [{"name": "Sarah Chen", "type": "PERSON"}]},
            {"content": "sarah chen left", "entities": [Named(name="SARAH CHEN", type="PERSON", aliases=("Sazza",))]},
            {"content": "Sazza is back", "entities": [{"name": "sazza", "type": "person"}]},
        ]
    )
    assert entities(owner) == [("PERSON", "Dr. Sarah Chen")]
    assert aliases(owner) == [("Dr. Sarah Chen", True), ("Sarah Chen", False), ("Sazza", True)]
    assert owner.execute("SELECT count(*) FROM mention").fetchone() == (4,)


def test_numbers_and_types_keep_apart(memory: Ebbtide, owner: Any) -> None:
    drafts = [("Room 101", "place"), ("Room 102", "place"), ("Apple", "company"), ("Apple", "product")]
    memory.remember_many(
        [{"content": f"{name} as a {type_}", "entities": [{"name": name, "type": type_}]} for name, type_ in drafts]
    )
    assert len(entities(owner)) == 4


def test_a_duplicate_adds_what_it_mentions(memory: Ebbtide, owner: Any) -> None:
    first = memory.remember("Sarah works at Anthropic")
    again = memory.remember("Sarah works at Anthropic", entities=[SARAH, ANTHROPIC])
    third = memory.remember(
        "Sarah works at Anthropic", relation={"subject": SARAH, "predicate": "works_at", "object": ANTHROPIC}
    )
    memory.remember(
        "Sarah works at Anthropic", relation={"subject": SARAH, "predicate": "works_at", "object": ANTHROPIC}
    )
    assert (again.outcome, third.outcome) == ("duplicate", "duplicate")
    assert owner.execute("SELECT DISTINCT memory_id FROM mention").fetchall() == [(first.memory.id,)]
    assert owner.execute("SELECT count(*) FROM relation").fetchone() == (1,)


def test_agents_and_tenants_have_entities_of_their_own(memory: Ebbtide, owner: Any) -> None:
    for handle in (memory, memory.scoped(agent="other"), memory.scoped(tenant="other")):
        handle.remember("Sarah is in", entities=[SARAH])
    assert owner.execute("SELECT tenant_id, agent_id FROM entity ORDER BY id").fetchall() == [
        ("default", "default"), ("default", "other"), ("other", "default"),
    ]  # fmt: skip


async def test_two_writers_make_one_entity_of_one_name(async_memory: AsyncEbbtide, owner: Any) -> None:
    names = ["Sarah Chen", "Dr. Sarah Chen", "sarah chen", "Chen, Sarah"]
    await asyncio.gather(
        *(
            async_memory.remember(f"Statement {number}", entities=[{"name": names[number % 4], "type": "person"}])
            for number in range(12)
        )
    )
    assert len(entities(owner)) == 1
    assert owner.execute("SELECT count(*) FROM mention").fetchone() == (12,)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"entities": "Sarah"}, "entities"),
        ({"entities": [SARAH, {"name": "X", "type": "animal"}]}, "entities[1].type"),
        ({"entities": [{"name": " \u200b", "type": "person"}]}, "entities[0].name"),
        ({"entities": [{"name": "a\x07b", "type": "person"}]}, "entities[0].name"),
        ({"entities": [{"name": "x" * 201, "type": "person"}]}, "entities[0].name"),
        ({"entities": [{"type": "person"}]}, "entities[0].name"),
        ({"entities": [{**SARAH, "aliases": ["ok", 3]}]}, "entities[0].aliases[1]"),
        ({"entities": [{**SARAH, "aliases": "Sazza"}]}, "entities[0].aliases"),
        ({"entities": [{**SARAH, "age": 3}]}, "entities[0]"),
        ({"entities": [7]}, "entities[0]"),
        ({"entities": [SARAH] * 101}, "entities"),
        ({"relation": "works at"}, "relation"),
        ({"relation": {"subject": SARAH, "predicate": " – ", "object": ANTHROPIC}}, "relation.predicate"),
        ({"relation": {"subject": SARAH, "predicate": "x"}}, "relation.object"),
    ],
)
def test_what_is_not_acceptable_is_named(memory: Ebbtide, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.remember("Something", **fields)
    assert caught.value.field == field
    assert caught.value.remedy
    with pytest.raises(InvalidInput) as caught:
        memory.remember_many(["Fine", {"content": "Something", **fields}])
    assert caught.value.field == f"drafts[1].{field}"


def test_a_draft_takes_models_too(memory: Ebbtide, owner: Any) -> None:
    sarah, anthropic = Named(name="Sarah", type="PERSON"), Named(name="Anthropic", type="COMPANY")
    memory.remember(
        "Sarah works there", entities=[sarah], relation=Related(subject=sarah, predicate="works_at", object=anthropic)
    )
    assert entities(owner) == [("PERSON", "Sarah"), ("COMPANY", "Anthropic")]
