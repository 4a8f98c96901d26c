"""Entities, mentions, relations and documents, written past the engine."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from tests.stores import START


class Graph:
    """Writes entities, mentions, relations and documents past the engine, as their extraction will."""

    def __init__(self, owner: Any, tenant: str = "default", agent: str = "default") -> None:
        self.owner = owner
        self.tenant = tenant
        self.agent = agent

    def entity(self, name: str, *mentions: Any, type: str = "PERSON", confidence: float = 0.85, **more: Any) -> UUID:  # noqa: A002
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, base_confidence, memory_id,"
            " merged_into, created_at, updated_at) VALUES (%s, %s, %s, %s, %s, '', %s, %s, %s, %s, %s)",
            [
                self.tenant,
                id_,
                self.agent,
                type,
                name,
                confidence,
                more.get("page"),
                more.get("merged_into"),
                START,
                START,
            ],
        )
        for memory in mentions:
            self.owner.execute("INSERT INTO mention VALUES (%s, %s, %s)", [self.tenant, memory.id, id_])
        return id_

    def relation(self, subject: UUID, predicate: str, object_: UUID, memory: Any, **dates: Any) -> UUID:
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, valid_from,"
            " invalidated_at, created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [self.tenant, id_, self.agent, subject, predicate, object_, memory.id, dates.get("valid_from"),
             dates.get("invalidated_at"), START],
        )  # fmt: skip
        return id_

    def document(self, path: str) -> UUID:
        id_ = uuid4()
        self.owner.execute(
            "INSERT INTO document VALUES (%s, %s, %s, 'vector.files', %s, '', %s, %s)",
            [self.tenant, id_, self.agent, path, START, START],
        )
        return id_
