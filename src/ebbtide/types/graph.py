"""The values of the graph: who and what memories speak of, and what they say holds between those."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import BeforeValidator

from ebbtide.types.base import Given, Value
from ebbtide.types.memory import Memory

__all__ = [
    "ENTITY_TYPES",
    "Entity",
    "EntityChange",
    "EntityPage",
    "EntityType",
    "GraphPath",
    "Named",
    "Neighbourhood",
    "Related",
    "Relation",
    "Side",
]


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


EntityType = Literal["PERSON", "COMPANY", "PROJECT", "SKILL", "EVENT", "PLACE", "PRODUCT", "TOPIC"]
ENTITY_TYPES: tuple[str, ...] = get_args(EntityType)


class Named(Given):
    """Somebody or something that a text names: the name it uses, what sort of thing that is, and its other names.

    A name has 1 to 200 characters. `aliases` are names that the text itself says, or its writer knows, mean the same;
    at most 20.
    """

    name: str
    type: Annotated[EntityType, BeforeValidator(_upper)]
    aliases: tuple[str, ...] = ()


class Related(Given):
    """What a text says holds between two: subject, predicate, object, such as Sarah, `works_at`, Anthropic.

    It holds as long as the memory that says it does. A predicate is kept in lower case, its words joined by `_`.
    """

    subject: Named
    predicate: str
    object: Named


class Entity(Value):
    """Somebody or something that memories mention, as far as its reader may see it.

    `aliases` are its other names. `confidence` is the average over its live facts, in [0, 1], None where it has none;
    `facts` counts them. `page` is the memory that sums them up.
    """

    id: UUID
    type: EntityType
    name: str
    aliases: tuple[str, ...] = ()
    confidence: float | None = None
    facts: int = 0
    page: UUID | None = None
    created_at: datetime

    def __str__(self) -> str:
        return f"{self.name} ({self.type}), {self.facts:,} facts"


class Side(Value):
    """One of the two between which a relation holds."""

    id: UUID
    type: EntityType
    name: str


class Relation(Value):
    """What holds between two entities, since and until when the memories that say so hold.

    Where several memories say the same at the same time it is one, and `memories` are all of them. A `derived` one
    follows from two others, its `premises`, and `memories` are then those of both. `confidence` is that of the memory,
    the lower of the two that one follows from, and the highest where several say the same.
    """

    id: UUID
    subject: Side
    predicate: str
    object: Side
    derived: bool = False
    memories: tuple[UUID, ...]
    premises: tuple[UUID, ...] = ()
    confidence: float
    valid_from: datetime | None = None
    invalidated_at: datetime | None = None


class EntityPage(Value):
    """An entity with the newest of its facts and what holds between it and others."""

    entity: Entity
    facts: tuple[Memory, ...]
    relations: tuple[Relation, ...]


class GraphPath(Value):
    """The shortest way between two entities: those along it, and the relation between each and the next."""

    entities: tuple[Side, ...]
    relations: tuple[Relation, ...]


class Neighbourhood(Value):
    """An entity with what is around it: `rings` are the entities at one hop, at two, and `relations` those between all.

    `cut` says that there was more than was asked for.
    """

    entity: Entity
    rings: tuple[tuple[Side, ...], ...]
    relations: tuple[Relation, ...]
    cut: bool = False


class EntityChange(Value):
    """What was done to an entity by hand. `counterpart` is what was merged into it, or what was split off it."""

    id: UUID
    operation: Literal["merge", "split", "add_alias", "remove_alias"]
    entity: UUID
    counterpart: UUID | None = None
    created_at: datetime
    undone_at: datetime | None = None
