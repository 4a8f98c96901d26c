"""What a record of an export says of entities, and names that a rule on personal data does not keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from ebbtide.errors import InvalidInput
from ebbtide.govern.personal import holds_personal_data
from ebbtide.graph.check import check_name, check_named, check_predicate
from ebbtide.graph.records import Mentioned, Naming
from ebbtide.text import shown
from ebbtide.types.graph import Named, Related

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction

__all__ = ["EntityRecord", "RelationRecord", "exported", "naming_kept", "naming_of", "without_personal_data"]

MOST_NAMED = 1_000


class EntityRecord(BaseModel):
    """Whom or what a memory mentions: by which names, which of them were only learnt, and whether `name` is its own.

    `added` and `removed` are names that a person gave it or took from it, whatever memories say.
    """

    model_config = ConfigDict(extra="forbid")

    id: UUID | None = None
    type: str
    name: str
    own: bool = True
    aliases: list[str] = []
    learnt: list[str] = []
    added: list[str] = []
    removed: list[str] = []


class RelationRecord(BaseModel):
    """What a memory says holds between two of its entities, each by its id or its name."""

    model_config = ConfigDict(extra="forbid")

    subject: str
    predicate: str
    object: str


def naming_of(entities: Sequence[EntityRecord], relations: Sequence[RelationRecord]) -> Naming:
    """What a record says of entities, checked.

    Raises:
        InvalidInput: a value is not acceptable, or a relation is between what the record does not mention.
    """
    if max(len(entities), len(relations), *(len(one.added) + len(one.removed) for one in entities), 0) > MOST_NAMED:
        raise InvalidInput("The record names too much.", field="entities", remedy=f"At most {MOST_NAMED:,} are kept.")
    mentioned: list[Mentioned] = []
    places: dict[str, int] = {}
    for place, one in enumerate(entities):
        field = f"entities[{place}]"
        names = check_named({"name": one.name, "type": one.type, "aliases": [*one.aliases, *one.learnt]}, field)
        given = check_named({"name": one.name, "type": one.type, "aliases": one.aliases}, field)
        learnt = tuple(name for name in names.aliases if name not in given.aliases)
        by_hand = [
            tuple(check_name(name, f"{field}.{part}") for name in several)
            for part, several in (("added", one.added), ("removed", one.removed))
        ]
        mentioned.append(Mentioned(one.id, given, one.own, learnt, *by_hand))
        for key in (one.name, names.name, str(one.id)):
            places.setdefault(key, place)
    found: list[tuple[int, str, int]] = []
    for place, relation in enumerate(relations):
        sides = [places.get(side) for side in (relation.subject, relation.object)]
        if sides[0] is None or sides[1] is None:
            unknown = relation.subject if sides[0] is None else relation.object
            raise InvalidInput(
                f"The record does not mention {shown(unknown)}.",
                field=f"relations[{place}]",
                remedy="Name the ids or names of its entities.",
            )
        found.append((sides[0], check_predicate(relation.predicate, f"relations[{place}].predicate"), sides[1]))
    return Naming(tuple(mentioned), tuple(found))


async def exported(
    transaction: Transaction, tenant: str, ids: Sequence[UUID]
) -> tuple[dict[UUID, list[dict[str, Any]]], dict[UUID, list[dict[str, Any]]]]:
    """What memories mention by which names, and what they say holds, as records, by the memories' ids."""
    entities: dict[UUID, dict[UUID, dict[str, Any]]] = defaultdict(dict)
    for memory, id_, type_, alias, given, own in await transaction.all("graph.export_names", tenant=tenant, ids=ids):
        known = entities[memory].get(id_)
        if known is None:
            entities[memory][id_] = {"id": str(id_), "type": type_, "name": alias, "own": own}
        else:
            known.setdefault("aliases" if given else "learnt", []).append(alias)
    for entity, alias, removed in await _by_hand(transaction, tenant, entities.values()):
        for ones in entities.values():
            if entity in ones:
                ones[entity].setdefault("removed" if removed else "added", []).append(alias)
    relations: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for memory, subject, predicate, other in await transaction.all("graph.export_relations", tenant=tenant, ids=ids):
        relations[memory].append({"subject": str(subject), "predicate": predicate, "object": str(other)})
    return {memory: list(ones.values()) for memory, ones in entities.items()}, relations


async def _by_hand(
    transaction: Transaction, tenant: str, entities: Iterable[Mapping[UUID, Any]]
) -> Sequence[tuple[UUID, str, bool]]:
    ids = sorted({id_ for ones in entities for id_ in ones})
    return await transaction.all("graph.export_by_hand", tenant=tenant, entities=ids) if ids else ()


def without_personal_data(
    entities: Sequence[Named], relation: Related | None
) -> tuple[tuple[Named, ...], Related | None]:
    """The names without those that hold personal data; a relation with one of them goes whole."""
    kept = tuple(made for one in entities if (made := _clean(one)) is not None)
    if relation is None:
        return kept, None
    subject, other = _clean(relation.subject), _clean(relation.object)
    if subject is None or other is None or holds_personal_data(relation.predicate):
        return kept, None
    return kept, relation.model_copy(update={"subject": subject, "object": other})


def naming_kept(naming: Naming, mode: str | None) -> Naming:
    """What a record mentions as the rule on its namespace keeps it: without names that hold personal data."""
    if mode in (None, "allow"):
        return naming
    kept: dict[int, Mentioned] = {}
    for place, one in enumerate(naming.entities):
        named = _clean(one.named)
        if named is not None:
            lists = {
                part: tuple(name for name in getattr(one, part) if not holds_personal_data(name))
                for part in ("learnt", "added", "removed")
            }
            kept[place] = replace(one, named=named, **lists)
    places = {place: number for number, place in enumerate(kept)}
    relations = (
        (places[subject], predicate, places[other])
        for subject, predicate, other in naming.relations
        if subject in places and other in places
    )
    return Naming(tuple(kept.values()), tuple(relations))


def _clean(named: Named) -> Named | None:
    if holds_personal_data(named.name):
        return None
    return named.model_copy(update={"aliases": tuple(one for one in named.aliases if not holds_personal_data(one))})
