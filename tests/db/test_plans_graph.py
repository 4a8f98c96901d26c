"""The plans of the graph, in the role of every handle, on a tenant of thousands: none reads more than it has to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from ebbtide.db.database import SESSION
from ebbtide.graph.names import keys_of, name_hash, words_of
from ebbtide.read.scope import make_scope
from ebbtide.types.caller import Caller
from tests.plans import filled, made, nodes, prepared
from tests.stores import START, connected

MOST_READ = 400
"""Rows of tables that a statement about one entity or memory may look at; a tenth of the smallest table here."""


@pytest.fixture(scope="module")
def filled_dsn(server: str, template: str) -> Iterator[str]:
    with filled(server, template) as dsn:
        yield dsn


@pytest.fixture
def reader(filled_dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A session as the engine configures it, within the tenant `default`."""
    with connected(filled_dsn) as connection:
        connection.execute(SESSION.encode())
        connection.execute("SET ROLE ebbtide_app; SET ebbtide.tenant = 'default'")
        yield connection


ENTITY, OTHER, MEMORY = made(21, "e"), made(22, "e"), made(10, "m")
NOW = {"now": START}
SCOPED = make_scope(Caller("default", "default"), START).parameters()
PAST = make_scope(Caller("default", "default"), START, as_of=START).parameters()
PAIR = {"origin": ENTITY, "target": OTHER, "every": True, "ids": []}
CALLED = {"types": None, "after": UUID(int=0), "text": "e77", "first": "e77", "beyond": "e77\U0010ffff", "most": 3_000}
LIST = {**CALLED, "limit": 50}
ALL = {"types": None, "after": UUID(int=0), "limit": 50}
HOLDING = {"after": UUID(int=0), "limit": 50, "predicate": None, "derived": True}
RULES = {"first": ["part_of"], "second": ["part_of"], "conclusions": ["part_of"]}
STATEMENTS: list[tuple[str, dict[str, Any]]] = [
    ("graph.candidates", {"hashes": [name_hash("name e21")], "limit": 50, "sizes": [2],
                          "keys": keys_of("PERSON", words_of("name e21"))}),
    ("graph.find", {"hashes": [name_hash("name e21")]}),
    ("graph.spoken_of", {"memory": MEMORY}),
    ("graph.unsay", {"memory": MEMORY, "entities": [ENTITY], "aliases": [made(42, "a")]}),
    ("graph.lock_entities", {"ids": [ENTITY]}),
    ("graph.aliases_of", {"entity": ENTITY}),
    ("graph.move_mentions", PAIR),
    ("graph.move_aliases", PAIR),
    ("graph.move_subjects", PAIR),
    ("graph.move_objects", PAIR),
    ("graph.relations_said_by", {"memories": [MEMORY], "entity": ENTITY}),
    ("graph.users_of_names", {"aliases": [made(42, "a")], "entity": ENTITY}),
    ("graph.names_used_by", {"entity": ENTITY, "memories": [MEMORY]}),
    ("graph.mentioning", {"entity": ENTITY}),
    ("graph.set_alias", {"alias": made(42, "a"), "given": True, "added": True, "removed": False}),
    ("graph.drop_alias", {"alias": made(42, "a")}),
    ("graph.drop_entity", {"entity": ENTITY}),
    ("graph.change", {"id": made(21, "c")}),
    ("graph.later_change", {"id": made(3_990, "c"), "entities": [ENTITY]}),
    ("graph.set_undone", {"id": made(21, "c"), **NOW}),
    ("graph.consequences", {**RULES, "ids": [made(10, "r")], "limit": 100}),
    ("graph.drop_derived", {"entities": [ENTITY]}),
    ("graph.said_of", {"entities": [ENTITY]}),
    ("graph.entities", {**SCOPED, **ALL}),
    ("graph.entities_past", {**PAST, **ALL}),
    ("graph.entities_called", {**SCOPED, **LIST}),
    ("graph.entities_called_past", {**PAST, **LIST}),
    ("graph.entities_called", {**SCOPED, **LIST, "text": "name e", "first": "name e", "beyond": "name f", "most": 20}),
    ("graph.portraits", {**SCOPED, "ids": [ENTITY, OTHER], "owner": False}),
    ("graph.portraits_past", {**PAST, "ids": [ENTITY, OTHER], "owner": True}),
    ("graph.facts", {**SCOPED, "entity": ENTITY, "limit": 50}),
    ("graph.relations", {**SCOPED, **HOLDING}),
    ("graph.relations_of", {**SCOPED, **HOLDING, "entity": ENTITY}),
    ("graph.relations_of_past", {**PAST, **HOLDING, "entity": ENTITY}),
    ("graph.around", {**SCOPED, "entities": [ENTITY], "limit": 2_000}),
    ("graph.premises", {"ids": [made(10, "d")]}),
    ("graph.sayings", {**SCOPED, "ids": [MEMORY]}),
    ("graph.export_names", {"ids": [MEMORY]}),
    ("graph.export_relations", {"ids": [MEMORY]}),
    ("graph.import_entities", {"ids": [ENTITY]}),
    ("graph.page", {"entity": ENTITY}),
    (
        "serendipity.others",
        {
            **SCOPED,
            "ids": [MEMORY],
            "chat": "c1",
            "turns": 20,
            "told": ["fact"],
            "least": 0.7,
            "limit": 20,
            "start": bytes(32),
            "entities": 30,
            "mentions": 3,
            "window": 5,
            "share": 0.5,
            "lot": 7,
        },
    ),
    ("graph.pages_made_from", {"ids": [made(49, "m")]}),
    ("graph.paged", {"after": UUID(int=0), "limit": 100}),
    ("graph.changes", {"entity": None, "after": UUID(int=2**128 - 1), "limit": 50}),
    ("graph.changes_of", {"entity": ENTITY, "after": UUID(int=2**128 - 1), "limit": 50}),
    ("context.mentions", {"ids": [MEMORY], "before": START}),
    ("context.relations", {**SCOPED, "entities": [ENTITY], "ids": [MEMORY], "limit": 50}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), STATEMENTS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_about_one_entity_or_memory_reads_little_else(
    reader: psycopg.Connection[Any], name: str, values: dict[str, Any]
) -> None:
    given = {"tenant": "default", "agent": "default", **values}
    prepare, explain = prepared(name, given, "ANALYZE, FORMAT JSON")
    with reader.transaction(force_rollback=True):
        reader.execute(prepare)
        row = reader.execute(explain).fetchone()
    reader.execute("DEALLOCATE planned")
    assert row is not None
    plan = row[0][0]
    read: Counter[str] = Counter()
    for node in nodes(plan["Plan"]):
        rows = (
            node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        )
        read[node.get("Relation Name", "")] += round(node["Actual Loops"] * rows)
    del read[""]
    assert max(read.values()) <= MOST_READ, read
