"""handle.relations: each follows its memory, derived ones follow both; paths, and who sees what."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, InvalidInput
from ebbtide.graph.derive import RULES
from tests.graph.test_entities import company, person, says


def place(name: str) -> dict[str, Any]:
    return {"name": name, "type": "place"}


def held(memory: Ebbtide, **asked: Any) -> list[tuple[str, str, str, bool]]:
    found = memory.relations.list(**asked)
    return sorted((one.subject.name, one.predicate, one.object.name, one.derived) for one in found)


LIVES = ("Ann", "lives_in", "Oslo", False)
WITHIN = ("Oslo", "located_in", "Norway", False)
BOTH = ("Ann", "lives_in", "Norway", True)


def test_a_derived_relation_holds_while_both_premises_do(memory: Ebbtide, clock: FixedClock) -> None:
    lives = says(memory, "Ann lives in Oslo", person("Ann"), "lives in", place("Oslo"), valid_from="2026-01-05")
    within = says(memory, "Oslo lies in Norway", place("Oslo"), "located in", place("Norway"), confidence=0.4)
    assert held(memory) == sorted([LIVES, WITHIN, BOTH])
    (derived,) = [one for one in memory.relations.list() if one.derived]
    assert set(derived.memories) == {lives.id, within.id}
    assert set(derived.premises) == {one.id for one in memory.relations.list(derived=False)}
    assert derived.confidence == pytest.approx(0.4)
    assert derived.valid_from == lives.valid_from
    memory.invalidate(within.id)
    assert held(memory) == [LIVES]
    memory.restore(within.id)
    assert held(memory) == sorted([LIVES, WITHIN, BOTH])
    clock.advance(timedelta(days=1))
    moved = says(
        memory, "Ann lives in Bergen", person("Ann"), "lives in", place("Bergen"), supersedes=lives.id,
        valid_from="2026-03-03",
    )  # fmt: skip
    assert held(memory, entity="Ann") == [("Ann", "lives_in", "Bergen", False)]
    assert held(memory, valid_at="2026-02-01", entity="Ann") == sorted([LIVES, BOTH])
    assert held(memory, valid_at="2026-01-01", entity="Oslo") == [WITHIN]
    memory.forget(moved.id, 1)
    memory.restore(lives.id)
    assert held(memory) == sorted([LIVES, WITHIN, BOTH])
    memory.forget(within.id, memory.get(within.id).revision)
    assert held(memory) == [LIVES]
    says(memory, "Oslo is in Norway", place("Oslo"), "located in", place("Norway"))
    assert held(memory) == sorted([LIVES, WITHIN, BOTH])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.first}-{rule.second}")
def test_every_rule_gives_its_conclusion_and_says_its_source(memory: Ebbtide, rule: Any) -> None:
    says(memory, "One", person("A"), rule.first, place("B"))
    says(memory, "Two", place("B"), rule.second, place("C"))
    assert ("A", rule.conclusion, "C", True) in held(memory)
    assert len(rule.source) > 20


def test_nothing_is_derived_of_what_is_derived_nor_in_a_circle(memory: Ebbtide) -> None:
    for one, other in ("AB", "BC", "CD", "DA"):
        says(memory, f"{one} in {other}", place(f"Place {one}"), "located in", place(f"Place {other}"))
    derived = [one for one in memory.relations.list() if one.derived]
    assert sorted((one.subject.name[-1], one.object.name[-1]) for one in derived) == [
        ("A", "C"), ("B", "D"), ("C", "A"), ("D", "B"),
    ]  # fmt: skip


def test_a_reader_sees_a_relation_only_with_all_its_memories(memory: Ebbtide) -> None:
    says(memory, "Ann lives in Oslo", person("Ann"), "lives in", place("Oslo"), namespace="vector.open")
    says(memory, "Oslo is in Norway", place("Oslo"), "located in", place("Norway"), namespace="vector.secret")
    memory.policies.set("default", Policy(read=("vector.open",)))
    reader = memory.as_agent("default", "memory:read")
    assert held(reader) == [LIVES]
    assert held(reader, entity="Oslo") == [LIVES]
    assert len(held(memory)) == 3


def test_the_shortest_path_along_what_holds(memory: Ebbtide) -> None:
    met = says(memory, "Ann met Bob", person("Ann"), "knows", person("Bob"))
    says(memory, "Bob works at Acme", person("Bob"), "works at", company("Acme"))
    says(memory, "Cid works at Acme", person("Cid"), "works at", company("Acme"))
    says(memory, "Cid knows Dot", person("Cid"), "knows", person("Dot"))
    says(memory, "Eve knows Fay", person("Eve"), "knows", person("Fay"))
    path = memory.relations.path("Ann", "Dot")
    assert path is not None
    assert [one.name for one in path.entities] == ["Ann", "Bob", "Acme", "Cid", "Dot"]
    assert [one.predicate for one in path.relations] == ["knows", "works_at", "works_at", "knows"]
    assert memory.relations.path("Ann", "Dot", max_hops=3) is None
    assert memory.relations.path("Ann", "Eve", max_hops=6) is None
    assert memory.relations.path("Ann", "Ann") is not None
    says(memory, "Ann knows Cid", person("Ann"), "knows", person("Cid"), valid_from="2026-05-01")
    shorter = memory.relations.path("Ann", "Dot", valid_at="2026-06-01")
    assert shorter is not None
    assert [one.name for one in shorter.entities] == ["Ann", "Cid", "Dot"]
    memory.invalidate(met.id)
    assert memory.relations.path("Ann", "Dot") is None
    with pytest.raises(InvalidInput):
        memory.relations.path("Ann", "Dot", max_hops=7)


def test_relations_are_paged_and_asked_for_by_predicate(memory: Ebbtide) -> None:
    for number in range(5):
        says(memory, f"Ann knows {number}", person("Ann"), "knows", person(f"Person {number}"))
    says(memory, "Ann likes tea", person("Ann"), "likes", {"name": "tea", "type": "topic"})
    first = memory.relations.list(limit=3)
    assert len(first) == 3
    assert len(memory.relations.list(limit=3, after=first[-1].id)) == 3
    assert held(memory, predicate="Likes") == [("Ann", "likes", "tea", False)]


def test_whatever_happens_every_derived_relation_has_both_premises(memory: Ebbtide, owner: Any) -> None:
    chance = random.Random(5)
    names = [place(f"Town {letter}") for letter in "ABCDE"]
    live: list[Any] = []
    merges: list[Any] = []
    for step in range(30):
        what = chance.choice(["say", "say", "say", "forget", "invalidate", "merge", "undo"])
        if what == "say" or not live:
            one, other = chance.sample(names, 2)
            live.append(says(memory, f"Statement {step}", one, chance.choice(["located in", "part of"]), other))
        elif what == "forget":
            gone = live.pop(chance.randrange(len(live)))
            memory.forget(gone.id, memory.get(gone.id).revision)
        elif what == "invalidate":
            memory.invalidate(chance.choice(live).id)
        elif what == "merge":
            known = memory.entities.list()
            if len(known) > 1:
                merges.append(memory.entities.merge(*(one.id for one in chance.sample(known, 2))))
        elif merges:
            # What it was about may be forgotten.
            with suppress(Conflict):
                memory.entities.undo(merges.pop().id)
        rows = owner.execute(
            "SELECT r.id, count(p.id), bool_and(NOT p.derived), array_agg(DISTINCT p.memory_id),"
            " array_agg(DISTINCT x) FROM relation r LEFT JOIN derivation d ON d.relation_id = r.id"
            " LEFT JOIN relation p ON p.id = d.premise_id, unnest(ARRAY[r.memory_id, r.other_memory_id]) x"
            " WHERE r.derived GROUP BY r.id"
        ).fetchall()
        for _, premises, said, by, memories in rows:
            assert premises == 4  # each of the two once for each of its two memories
            assert said
            assert set(by) == set(memories)
        seen = memory.relations.list(limit=1000)
        known_ids = {one.id for one in seen}
        assert all(set(one.premises) <= known_ids and len(one.premises) == 2 for one in seen if one.derived)


def test_what_two_memories_say_alike_is_one_relation(memory: Ebbtide) -> None:
    first = says(memory, "Ann works at Acme.", person("Ann"), "works_at", company("Acme"))
    second = says(memory, "Acme employs Ann.", person("Ann"), "works_at", company("Acme"))

    listed = memory.relations.list()
    assert [one.memories for one in listed] == [(first.id, second.id)]
    assert [one.id for one in memory.entities.get("Ann").relations] == [listed[0].id]
