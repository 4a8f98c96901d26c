"""Entities and relations as their reader may see them: as far as readable memories speak of them, and by the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.govern.rules import rules_in
from ebbtide.read.personal import is_withheld, mode_on, name_shown
from ebbtide.types.base import trusted
from ebbtide.types.graph import Entity, Relation, Side

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.read.scope import Scope

__all__ = ["each_once", "entities_seen", "mode_of_names", "relations_seen"]


async def entities_seen(
    engine: Engine,
    transaction: Transaction,
    scope: Scope,
    ids: Sequence[UUID],
    *,
    owner: bool = False,
    profile: Profile | None = None,
) -> dict[UUID, Entity]:
    """Entities by their ids, those that readable memories mention, by the names that those use.

    Its own name is shown where a readable memory uses it, or else the first of its names that one does; what the rules
    on personal data withhold in every namespace of them is left out. `owner` asks for all, and for every name. A
    `profile` may drop personal data where no rule says anything.
    """
    if not ids:
        return {}
    rules = await rules_in(engine, transaction, scope.caller.tenant)
    rows = await transaction.all("graph.portraits" + scope.suffix, **scope.parameters(), ids=list(ids), owner=owner)
    seen: dict[UUID, Entity] = {}
    for id_, type_, name, digest, page, created, facts, confidence, found, names, hashes, places in rows:
        modes = [mode_on(namespace, profile, rules) for namespace in found or ()]
        shown: dict[bytes, str] = {}
        for alias, alias_hash, place in zip(names or (), hashes or (), places or (), strict=True):
            at = modes if place is None else [mode_on(place, profile, rules)]
            made = _freest(alias, at)
            if made is not None:
                shown.setdefault(bytes(alias_hash), made)
        own = shown.pop(bytes(digest), None) or (_freest(name, modes) if owner else None)
        if own is None and not shown:
            continue
        others = list(dict.fromkeys(shown.values()))
        seen[id_] = trusted(
            Entity, id=id_, type=type_, name=own or others[0], aliases=tuple(others if own else others[1:]),
            confidence=confidence, facts=facts, page=page, created_at=created,
        )  # fmt: skip
    return {id_: seen[id_] for id_ in ids if id_ in seen}


async def mode_of_names(engine: Engine, transaction: Transaction, scope: Scope, entity: UUID) -> str | None:
    """What is done with personal data in names that a person gives an entity; None for keeping it.

    It is what the mildest rule does where the entity is mentioned, since that decides what is shown.
    """
    rules = await rules_in(engine, transaction, scope.caller.tenant)
    rows = await transaction.all("graph.portraits", **scope.parameters(), ids=[entity], owner=True)
    modes = [mode_on(namespace, None, rules) for row in rows for namespace in row[8] or ()]
    return next((mode for mode in modes if mode in (None, "allow")), modes[0] if modes else None)


def _freest(name: str, modes: Sequence[str | None]) -> str | None:
    """A name as it is shown by the rule that shows most of it."""
    made = [name_shown(name, mode) for mode in modes or (None,)]
    return name if name in made else next((one for one in made if one is not None), None)


@dataclass(frozen=True, slots=True)
class Saying:
    """What a memory says, where, and since and until when it holds."""

    id: UUID
    namespace: str
    content: str
    subject: str | None
    predicate: str | None
    speaker: str | None
    labels: Sequence[str]
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    confidence: float
    valid_from: datetime | None
    invalidated_at: datetime | None


async def relations_seen(
    engine: Engine, transaction: Transaction, scope: Scope, rows: Sequence[Any], *, profile: Profile | None = None
) -> list[Relation]:
    """Rows of relations as their reader may see them: with both sides, and nothing that a memory of them withholds."""
    if not rows:
        return []
    tenant = scope.caller.tenant
    rules = await rules_in(engine, transaction, tenant)
    sides = list({id_ for row in rows for id_ in (row[1], row[3])})
    entities = await entities_seen(engine, transaction, scope, sides, profile=profile)
    memories = list({id_ for row in rows for id_ in row[5:7] if id_ is not None})
    found = await transaction.all("graph.sayings" + scope.suffix, **scope.parameters(), ids=memories)
    sayings = {row[0]: Saying(*row) for row in found}
    derived = [row[0] for row in rows if row[4]]
    premises: dict[UUID, list[UUID]] = defaultdict(list)
    for id_, premise in await transaction.all("graph.premises", tenant=tenant, ids=derived) if derived else ():
        premises[id_].append(premise)
    seen: list[Relation] = []
    for id_, subject, predicate, other, is_derived, *said_by in rows:
        said = [sayings[memory] for memory in cast("list[UUID | None]", said_by) if memory is not None]
        name = _predicate_shown(predicate, said, rules, profile)
        if subject not in entities or other not in entities or name is None:
            continue
        seen.append(
            trusted(
                Relation, id=id_, subject=_side(entities[subject]), predicate=name, object=_side(entities[other]),
                derived=is_derived, memories=tuple(dict.fromkeys(one.id for one in said)),
                premises=tuple(premises.get(id_, ())), confidence=min(one.confidence for one in said),
                valid_from=max((one.valid_from for one in said if one.valid_from), default=None),
                invalidated_at=min((one.invalidated_at for one in said if one.invalidated_at), default=None),
            )
        )  # fmt: skip
    return seen


def each_once(relations: Sequence[Relation]) -> list[Relation]:
    """Relations, those that are the same at the same time as one: the first, with the memories of all that say it."""
    found: dict[tuple[UUID, str, UUID, bool], list[Relation]] = defaultdict(list)
    order: dict[UUID, Relation] = {}
    kept: dict[UUID, UUID] = {}
    for one in relations:
        same = found[one.subject.id, one.predicate, one.object.id, one.derived]
        place = next((place for place, other in enumerate(same) if _at_one_time(one, other)), None)
        if place is None:
            same.append(one)
            order[one.id] = one
        else:
            kept[one.id] = same[place].id
            same[place] = order[same[place].id] = _said_by_both(same[place], one)
    return [
        one.model_copy(update={"premises": tuple(kept.get(id_, id_) for id_ in one.premises)}) if one.derived else one
        for one in order.values()
    ]


def _at_one_time(one: Relation, other: Relation) -> bool:
    """Whether there is a moment at which both hold."""
    return not any(
        first.invalidated_at is not None and second.valid_from is not None and first.invalidated_at <= second.valid_from
        for first, second in ((one, other), (other, one))
    )


def _said_by_both(one: Relation, other: Relation) -> Relation:
    starts = (one.valid_from, other.valid_from)
    ends = (one.invalidated_at, other.invalidated_at)
    return one.model_copy(
        update={
            "memories": tuple(dict.fromkeys((*one.memories, *other.memories))),
            "confidence": max(one.confidence, other.confidence),
            "valid_from": min((start for start in starts if start is not None), default=None),
            "invalidated_at": None if None in ends else max(end for end in ends if end is not None),
        }
    )


def _predicate_shown(predicate: str, said: Sequence[Saying], rules: RuleBook, profile: Profile | None) -> str | None:
    """The predicate as the rules on the memories' namespaces show it; None where one of them withholds what it says."""
    for one in said:
        mode = mode_on(one.namespace, profile, rules)
        shown = None if is_withheld(one, mode) else name_shown(predicate, mode)
        if shown is None:
            return None
        predicate = shown
    return predicate


def _side(entity: Entity) -> Side:
    return trusted(Side, id=entity.id, type=entity.type, name=entity.name)
