"""What a context block shows beside the hits: entities that they mention, and what holds between those."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.read.personal import is_withheld, mode_on, name_shown

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.read.scope import Scope
    from ebbtide.types import Hit

__all__ = ["Entity", "Links", "Relation", "place_of", "read_links", "read_places"]

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
class Said:
    """What the memory of a relation says, and where."""

    namespace: str
    content: str
    subject: str | None
    predicate: str | None
    speaker: str | None
    labels: Sequence[str]
    tags: Sequence[str]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """What memories are about: one entity for each that mentions any, and the relations of all that they mention.

    `mentioned` are the entities of each memory, of which `about` has the one that most of the memories mention.
    """

    about: Mapping[UUID, Entity] = field(default_factory=dict[UUID, Entity])
    mentioned: Mapping[UUID, Sequence[Entity]] = field(default_factory=dict[UUID, "list[Entity]"])
    relations: Sequence[Relation] = ()


async def read_links(
    transaction: Transaction, scope: Scope, hits: Sequence[Hit], profile: Profile, rules: RuleBook
) -> Links:
    """The entities that hits mention, or are the pages of, and what holds between these and others.

    A relation is read where the memory that says it is, and where it holds at the moment asked about. Names are as the
    rules on personal data let them be seen in the namespace of the hit, or of the memory that says the relation; what
    has one that is withheld there is left out.
    """
    ids = [hit.id for hit in hits]
    rows = await transaction.all("context.mentions" + scope.suffix, **scope.parameters(), ids=ids)
    modes = {hit.id: mode_on(hit.namespace, profile, rules) for hit in hits}
    mentioned: dict[UUID, list[Entity]] = {}
    for memory_id, *columns in rows:
        entity = Entity(*columns)
        name = name_shown(entity.name, modes[memory_id])
        if name is not None:
            mentioned.setdefault(memory_id, []).append(replace(entity, name=name))
    entities = {entity.id for several in mentioned.values() for entity in several}
    if not entities:
        return Links()
    found = await transaction.all(
        "context.relations" + scope.suffix,
        **scope.parameters(),
        ids=ids,
        entities=sorted(entities),
        limit=MOST_RELATIONS,
    )
    often = Counter(entity.id for several in mentioned.values() for entity in several)
    about = {
        id_: min(several, key=lambda entity: (-often[entity.id], entity.name, entity.id))
        for id_, several in mentioned.items()
    }
    made = [_relation_shown(Relation(*row[:7]), Said(*row[7:]), profile, rules) for row in found]
    return Links(about, mentioned, [relation for relation in made if relation is not None])


def _relation_shown(relation: Relation, said: Said, profile: Profile, rules: RuleBook) -> Relation | None:
    """The relation as the rules on its memory's namespace let it be seen; None where that or a name is withheld."""
    mode = mode_on(said.namespace, profile, rules)
    subject, predicate, other = (
        name_shown(text, mode) for text in (relation.subject, relation.predicate, relation.object)
    )
    if is_withheld(said, mode) or subject is None or predicate is None or other is None:
        return None
    return replace(relation, subject=subject, predicate=predicate, object=other)


async def read_places(
    transaction: Transaction, scope: Scope, passages: Mapping[UUID, UUID], profile: Profile, rules: RuleBook
) -> Mapping[UUID, str]:
    """Where passages stand, by their ids, as one cites it: `handbook/setup.md, lines 12–40`, or `…, page 3`.

    Names of files are as the rules on personal data let them be seen. `passages` are the documents of memories.
    """
    if not passages:
        return {}
    rows = await transaction.named(
        "context.documents",
        tenant=scope.caller.tenant,
        agent=scope.caller.agent,
        ids=list(passages),
        documents=sorted(set(passages.values())),
    )
    cited: dict[UUID, str] = {}
    for row in rows:
        path = name_shown(row.path, mode_on(row.namespace, profile, rules))
        if path is not None:
            cited[row.id] = path if row.first is None else f"{path}, {place_of(row.media, row.first, row.last)}"
    return cited


def place_of(media: str, first: int, last: int) -> str:
    """Some lines or pages: `line 7`, `pages 3–4`."""
    unit = "page" if media == "pdf" else "line"
    return f"{unit} {first}" if first == last else f"{unit}s {first}–{last}"
