"""Entities, mentions, relations and documents, written past the engine."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from ebbtide.graph.names import fold_name, name_hash, rests_of
from tests.stores import START


class Graph:
    """Writes entities, mentions, relations and documents past the engine, as their extraction will."""

    def __init__(self, owner: Any, tenant: str = "default", agent: str = "default") -> None:
        self.owner = owner
        self.tenant = tenant
        self.agent = agent

    def entity(self, name: str, *mentions: Any, type: str = "PERSON", confidence: float = 0.85, **more: Any) -> UUID:  # noqa: A002
        """An entity that memories mention; each of these gets the confidence, of which the entity's is the average."""
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, memory_id, merged_into, created_at,"
            " updated_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [self.tenant, id_, self.agent, type, name, name_hash(name), more.get("page"), more.get("merged_into"),
             START, START],
        )  # fmt: skip
        alias = uuid4()
        self.owner.execute(
            "INSERT INTO entity_alias (tenant_id, id, agent_id, entity_id, alias, folded, alias_hash, given,"
            " created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, true, %s)",
            [self.tenant, alias, self.agent, id_, name, fold_name(name), name_hash(name), START],
        )
        for rest in rests_of(fold_name(name)):
            self.owner.execute(
                "INSERT INTO entity_word VALUES (%s, %s, %s, %s, %s)", [self.tenant, self.agent, rest, id_, alias]
            )
        for memory in mentions:
            self.owner.execute("INSERT INTO mention VALUES (%s, %s, %s)", [self.tenant, memory.id, id_])
            self.owner.execute("INSERT INTO alias_source VALUES (%s, %s, %s)", [self.tenant, memory.id, alias])
            self.owner.execute("UPDATE memory SET confidence = %s WHERE id = %s", [confidence, memory.id])
        return id_

    def relation(self, subject: UUID, predicate: str, object_: UUID, memory: Any) -> UUID:
        """What a memory says holds between two entities, which it mentions therefore, by all their names."""
        for side in (subject, object_):
            self.owner.execute(
                "INSERT INTO mention VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", [self.tenant, memory.id, side]
            )
            self.owner.execute(
                "INSERT INTO alias_source SELECT tenant_id, %s, id FROM entity_alias WHERE tenant_id = %s"
                " AND entity_id = %s ON CONFLICT DO NOTHING",
                [memory.id, self.tenant, side],
            )
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [self.tenant, id_, self.agent, subject, predicate, object_, memory.id, START],
        )
        return id_

    def document(self, path: str) -> UUID:
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO document VALUES (%s, %s, %s, 'vector.files', %s, '', %s, %s)",
            [self.tenant, id_, self.agent, path, START, START],
        )
        return id_
