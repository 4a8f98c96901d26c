"""Entities and relations on the way out of one store and into another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import InvalidInput, NotFound
from tests.graph.test_entities import company, person, says


def shape(memory: Ebbtide) -> Any:
    """What of the graph does not depend on ids and times."""
    pages = [memory.entities.get(one.id) for one in memory.entities.list(limit=1000)]
    return sorted(
        (
            page.entity.type, page.entity.name, sorted(page.entity.aliases), sorted(one.content for one in page.facts),
            sorted((one.subject.name, one.predicate, one.object.name, one.derived) for one in page.relations),
        )
        for page in pages
    )  # fmt: skip


def test_a_round_trip_keeps_entities_names_and_relations(memory: Ebbtide) -> None:
    says(memory, "Sarah works at DeepMind", person("Dr. Sarah Chen", "Sazza"), "works at", company("DeepMind"))
    says(memory, "DeepMind belongs to Alphabet", company("DeepMind"), "part of", company("Alphabet"))
    memory.remember("Sarah Chen plays chess", entities=[person("Sarah Chen")])
    memory.remember("Bobby is Bob", entities=[person("Robert Li")])
    memory.entities.merge("Dr. Sarah Chen", "Robert Li")
    records = list(memory.export_records())
    assert records[0]["relations"][0]["predicate"] == "works_at"
    other = memory.scoped(tenant="other")
    other.import_records([json.dumps(one) for one in records])
    assert shape(other) == shape(memory)
    assert [one["entities"] for one in other.export_records()] == [one["entities"] for one in records]
    other.import_records(records)
    assert shape(other) == shape(memory)
    other.remember("Chess again", entities=[person("sarah chen")])
    assert other.entities.get("Sazza").entity.facts == 4


def test_an_import_into_a_store_that_knows_them_joins_them(memory: Ebbtide) -> None:
    memory.remember("Sarah Chen plays chess", entities=[person("Sarah Chen"), person("Bob")])
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    known = other.remember("Sarah Chen sings", entities=[person("sarah chen")]).memory
    other.import_records(records)
    sarah = other.entities.get("Sarah Chen")
    assert sarah.entity.facts == 2
    assert known.id in {one.id for one in sarah.facts}
    assert other.entities.get("Bob").entity.id == memory.entities.get("Bob").entity.id


def test_lines_written_by_hand_name_entities_too(memory: Ebbtide) -> None:
    line = {
        "content": "Ann works at Acme",
        "entities": [{"type": "person", "name": "Ann"}, {"type": "company", "name": "Acme", "aliases": ["ACME Corp"]}],
        "relations": [{"subject": "Ann", "predicate": "works at", "object": "Acme"}],
    }
    memory.import_records([json.dumps(line)])
    (relation,) = memory.relations.list(entity="acme corp")
    assert (relation.subject.name, relation.predicate, relation.object.name) == ("Ann", "works_at", "Acme")
    for wrong, field in (
        ({"entities": [{"type": "animal", "name": "Rex"}]}, "entities[0].type"),
        ({"relations": [{"subject": "Ann", "predicate": "x", "object": "Acme"}]}, "relations[0]"),
    ):
        with pytest.raises(InvalidInput) as caught:
            memory.import_records([json.dumps({"content": "Something", **wrong})])
        assert caught.value.field == field


def test_names_that_hold_personal_data_are_kept_where_the_rule_allows_it(memory: Ebbtide, owner: Any) -> None:
    mail = person("x@y.example")
    memory.remember("A private address", entities=[mail], namespace="vector.open")
    records = list(memory.export_records())
    memory.rules.add("vector.closed", personal_data="redact")
    memory.remember("Another address", entities=[person("Ann", "q@z.example"), mail], namespace="vector.closed")
    says(memory, "Ann has it", person("Ann"), "has", mail, namespace="vector.closed")
    assert owner.execute("SELECT count(*) FROM entity_alias WHERE alias = 'q@z.example'").fetchone() == (0,)
    assert memory.relations.list() == []
    assert memory.entities.get("x@y.example").entity.facts == 1
    other = memory.scoped(tenant="other")
    other.rules.add("vector.open", personal_data="redact")
    other.import_records(records)
    assert other.entities.list() == []


def test_names_that_a_person_added_or_removed_stay_so(memory: Ebbtide) -> None:
    says(memory, "Sarah works at DeepMind", person("Dr. Sarah Chen", "Sazza"), "works at", company("DeepMind"))
    memory.entities.add_alias("DeepMind", "GDM")
    memory.entities.add_alias("Dr. Sarah Chen", "Sally")
    memory.entities.remove_alias("Dr. Sarah Chen", "Sazza")
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    other.import_records([json.dumps(one) for one in records])
    assert list(other.export_records()) == records
    assert shape(other) == shape(memory)
    assert other.entities.get("GDM").entity.aliases == ("GDM",)
    assert other.entities.get("Sally").entity.aliases == ("Sally",)
    with pytest.raises(NotFound):
        other.entities.get("Sazza")
    other.remember("Sally is here", entities=[person("Sally")])
    assert other.entities.get("Dr. Sarah Chen").entity.facts == 2
    other.import_records(records)
    assert next(iter(other.export_records()))["entities"] == records[0]["entities"]


def test_what_a_person_did_here_stands_against_an_import(memory: Ebbtide) -> None:
    memory.remember("Sarah is here", entities=[person("Sarah Chen", "Sazza")])
    memory.entities.remove_alias("Sarah Chen", "Sazza")
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    other.remember("Sarah sings", entities=[person("Sarah Chen")])
    other.entities.add_alias("Sarah Chen", "Sazza")
    other.import_records(records)
    assert other.entities.get("Sazza").entity.name == "Sarah Chen"


def test_a_policed_export_tells_of_no_name_that_was_taken_away(memory: Ebbtide) -> None:
    memory.remember("Sarah is here", entities=[person("Sarah Chen", "Sazza")], namespace="vector.a")
    memory.entities.remove_alias("Sarah Chen", "Sazza")
    memory.policies.set("default", Policy(read=("vector.a",)))
    (record,) = memory.as_agent("default", "memory:read").export_records()
    assert "Sazza" not in json.dumps(record)
