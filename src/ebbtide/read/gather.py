"""What a context block shows beside the hits: entities that they mention, and what holds between those."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.read.scope import Scope

__all__ = ["Entity", "Links", "Relation", "read_links", "read_paths"]

MOST_RELATIONS = 50


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that memories mention. `confidence` lies in [0, 1]."""

    id: UUID
    name: str
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Relation:
    """What holds between two entities, and the memory that says so."""

    id: UUID
    memory_id: UUID
    subject_id: UUID
    subject: str
    predicate: str
    object_id: UUID
    object: str


@dataclass(frozen=True, slots=True)
class Links:
    """What memories are about: one entity for each that mentions any, and the relations of all that they mention.

    `mentioned` are the entities of each memory, of which `about` has the one that most of the memories mention.
    """

    about: Mapping[UUID, Entity] = field(default_factory=dict[UUID, Entity])
    mentioned: Mapping[UUID, Sequence[Entity]] = field(default_factory=dict[UUID, "list[Entity]"])
    relations: Sequence[Relation] = ()


async def read_links(transaction: Transaction, scope: Scope, ids: Sequence[UUID]) -> Links:
    """The entities that memories mention, or are the pages of, and what holds between these and others.

    A relation is read where the memory that says it is, and where it holds at the moment asked about.
    """
    rows = await transaction.all("context.mentions", **scope.parameters(), ids=list(ids))
    mentioned: dict[UUID, list[Entity]] = {}
    for memory_id, *columns in rows:
        mentioned.setdefault(memory_id, []).append(Entity(*columns))
    entities = {entity.id for several in mentioned.values() for entity in several}
    if not entities:
        return Links()
    found = await transaction.all(
        "context.relations" + scope.suffix,
        **scope.parameters(),
        ids=list(ids),
        entities=sorted(entities),
        limit=MOST_RELATIONS,
    )
    often = Counter(entity.id for several in mentioned.values() for entity in several)
    about = {
        id_: min(several, key=lambda entity: (-often[entity.id], entity.name, entity.id))
        for id_, several in mentioned.items()
    }
    return Links(about, mentioned, [Relation(*row) for row in found])


async def read_paths(transaction: Transaction, scope: Scope, sources: Sequence[UUID]) -> Mapping[str, str]:
    """The paths of documents, by their ids as text."""
    rows: Sequence[Any] = await transaction.all(
        "context.documents", tenant=scope.caller.tenant, agent=scope.caller.agent, ids=list(sources)
    )
    return {str(id_): path for id_, path in rows}
