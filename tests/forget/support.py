"""What the tests of forgetting share."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql

from ebbtide import Ebbtide

Owner = psycopg.Connection[Any]

# Places where an id may stay: what is left on purpose, and who did what to it.
REFERENCES = {"tombstone", "receipt", "audit"}


def tables(owner: Owner) -> list[str]:
    rows = owner.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'ebbtide' AND tablename NOT LIKE 'procrastinate%'"
    ).fetchall()
    return [name for (name,) in rows if not name.startswith("memory_") or name in ("memory_version", "memory_link")]


def holding(owner: Owner, text: str) -> set[str]:
    """The tables in which a text occurs anywhere in a row."""
    found: set[str] = set()
    for table in tables(owner):
        rows = owner.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))).fetchall()
        if any(text in row for (row,) in rows):
            found.add(table)
    return found


def give_graph(owner: Owner, id_: UUID, other: UUID) -> None:
    """Rows of the graph and of conversations that rest on a memory, as later parts of the engine write them."""
    zebra, horse = uuid4(), uuid4()
    told, derived = uuid4(), uuid4()
    for entity, name in ((zebra, "zebra"), (horse, "horse")):
        owner.execute(
            "INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, created_at,"
            " updated_at) VALUES ('default', %s, 'default', 'animal', %s, %s, '2026-01-01Z', '2026-01-01Z')",
            [entity, name, name.encode()],
        )
        owner.execute(
            "INSERT INTO entity_alias (tenant_id, id, agent_id, entity_id, alias, folded, alias_hash, given,"
            " created_at) VALUES ('default', %s, 'default', %s, %s, %s, %s, true, '2026-01-01Z')",
            [entity, entity, name, name, name.encode()],
        )
    owner.execute(
        "INSERT INTO mention (tenant_id, memory_id, entity_id)"
        " VALUES ('default', %s, %s), ('default', %s, %s), ('default', %s, %s)",
        [id_, zebra, id_, horse, other, horse],
    )
    owner.execute("INSERT INTO alias_source (tenant_id, memory_id, alias_id) SELECT * FROM mention")
    for relation, memory in ((told, id_), (derived, other)):
        owner.execute(
            "INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, created_at)"
            " VALUES ('default', %s, 'default', %s, 'is', %s, %s, '2026-01-01Z')",
            [relation, zebra, horse, memory],
        )
    owner.execute(
        "INSERT INTO derivation (tenant_id, relation_id, premise_id) VALUES ('default', %s, %s)", [derived, told]
    )
    owner.execute(
        "INSERT INTO conflict (tenant_id, id, agent_id, older_id, newer_id, reason, created_at)"
        " VALUES ('default', %s, 'default', %s, %s, 'x', '2026-01-01Z')",
        [uuid4(), other, id_],
    )
    owner.execute(
        "INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, created_at)"
        " SELECT 'default', one, two, 'near_duplicate', '2026-01-01Z' FROM (VALUES (%s, %s), (%s, %s)) AS l(one, two)",
        [id_, other, other, id_],
    )
    owner.execute(
        "INSERT INTO turn (tenant_id, agent_id, chat_id, branch, place, memory_id)"
        " VALUES ('default', 'default', 'c', 'main', 0, %s)",
        [id_],
    )


def contents(answer: Any) -> list[str]:
    return sorted(found.content for found in answer)


def fill(memory: Ebbtide, *texts: str, **fields: Any) -> list[UUID]:
    return [one.memory.id for one in memory.remember_many([{"content": text, **fields} for text in texts])]
