"""What a context block shows beside the hits: entities that they mention, and what holds between those."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.read.graph import each_once, entities_seen, relations_seen
from ebbtide.read.personal import mode_on, name_shown

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.read.scope import Scope
    from ebbtide.types.graph import Entity, Relation
    from ebbtide.types.recall import Hit

__all__ = ["Links", "place_of", "read_links", "read_places"]

MOST_RELATIONS = 50


@dataclass(frozen=True, slots=True)
class Links:
    """What memories are about: one entity for each that mentions any, and the relations of all that they mention.

    `mentioned` are the entities of each memory, of which `about` has the one that most of the memories mention.
    """

    about: Mapping[UUID, Entity] = field(default_factory=dict[UUID, "Entity"])
    mentioned: Mapping[UUID, Sequence[Entity]] = field(default_factory=dict[UUID, "list[Entity]"])
    relations: Sequence[Relation] = ()


async def read_links(
    engine: Engine, transaction: Transaction, scope: Scope, hits: Sequence[Hit], profile: Profile, rules: RuleBook
) -> Links:
    """The entities that hits mention, or are the pages of, and what holds between these and others.

    Both are as `entities` and `relations` show them: by the names that readable memories use, derived relations too,
    as far as all that they rest on is readable. The rules on personal data in the namespace of a hit count as well.
    """
    ids = [hit.id for hit in hits]
    pairs = await transaction.all(
        "context.mentions", tenant=scope.caller.tenant, ids=ids, before=scope.parameters()["now"]
    )
    known = await entities_seen(engine, transaction, scope, list({entity for _, entity in pairs}), profile=profile)
    modes = {hit.id: mode_on(hit.namespace, profile, rules) for hit in hits}
    mentioned: dict[UUID, list[Entity]] = {}
    for memory_id, entity_id in pairs:
        entity = known.get(entity_id)
        name = None if entity is None else name_shown(entity.name, modes[memory_id])
        if entity is not None and name is not None:
            shown = entity if name == entity.name else entity.model_copy(update={"name": name})
            mentioned.setdefault(memory_id, []).append(shown)
    entities = {entity.id for several in mentioned.values() for entity in several}
    if not entities:
        return Links()
    rows = await transaction.all(
        "context.relations" + scope.suffix, **scope.parameters(), ids=ids, entities=sorted(entities),
        limit=MOST_RELATIONS,
    )  # fmt: skip
    often = Counter(entity.id for several in mentioned.values() for entity in several)
    about = {
        id_: min(several, key=lambda entity: (-often[entity.id], entity.name, entity.id))
        for id_, several in mentioned.items()
    }
    shown = await relations_seen(engine, transaction, scope, rows, profile=profile)
    return Links(about, mentioned, each_once(shown))


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
