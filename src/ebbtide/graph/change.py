"""What is done to entities by hand, each noted with what is needed to put it back."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.graph.derive import derive_anew
from ebbtide.graph.names import name_hash
from ebbtide.graph.resolve import Alias, Known
from ebbtide.graph.write import insert_aliases, insert_keys, keys_of_alias
from ebbtide.identifiers import new_id
from ebbtide.types.graph import EntityChange

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["add_alias", "bring_name", "merge", "not_mentioned", "remove_alias", "split", "undo"]

# The rows that move from one entity to another, and the statement that moves them.
MOVES = {
    "mention": "graph.move_mentions",
    "alias": "graph.move_aliases",
    "subject": "graph.move_subjects",
    "object": "graph.move_objects",
}


@dataclass(frozen=True, slots=True)
class Row:
    """An entity as it is stored."""

    id: UUID
    type: str
    name: str
    name_hash: bytes
    merged_into: UUID | None


@dataclass(frozen=True, slots=True)
class Name:
    """A name of an entity as it is stored."""

    id: UUID
    alias: str
    hash: bytes
    given: bool
    added: bool
    removed: bool


async def read_rows(transaction: Transaction, caller: Caller, *ids: UUID) -> list[Row]:
    """Entities that are there and not merged into others, in the order of their ids given.

    Raises:
        NotFound: one is not.
    """
    rows = await transaction.all("graph.lock_entities", tenant=caller.tenant, agent=caller.agent, ids=list(ids))
    found = {row[0]: Row(*row) for row in rows}
    for id_ in ids:
        if id_ not in found or found[id_].merged_into is not None:
            raise NotFound(
                f"There is no entity {id_}.", field="entity", remedy="List the entities to see those there are."
            )
    return [found[id_] for id_ in ids]


async def merge(transaction: Transaction, caller: Caller, kept_id: UUID, other_id: UUID, now: datetime) -> EntityChange:
    """Make two entities one. The caller holds the lock on the agent's entities, for this and all below.

    Raises:
        NotFound: there is no such entity.
        InvalidInput: both are the same, or of different types.
    """
    kept, other = await read_rows(transaction, caller, kept_id, other_id)
    if kept.id == other.id or kept.type != other.type:
        raise InvalidInput(
            "An entity cannot be merged with itself." if kept.id == other.id else
            f"A {kept.type} and a {other.type} cannot be one entity.",
            field="other",
            remedy="Give two entities of one type.",
        )  # fmt: skip
    moved = await _move(transaction, caller, other.id, kept.id, None)
    await transaction.run("graph.set_merged", tenant=caller.tenant, entity=other.id, target=kept.id)
    await derive_anew(transaction, caller, [kept.id, other.id])
    return await _note(transaction, caller, "merge", kept.id, other.id, moved, {}, now)


async def split(
    transaction: Transaction,
    caller: Caller,
    entity_id: UUID,
    memories: Sequence[UUID],
    aliases: Sequence[str],
    name: str | None,
    now: datetime,
) -> EntityChange:
    """Make what some memories mention, or what some names mean, an entity of its own.

    Raises:
        NotFound: there is no such entity, it has no such name, or no such memory mentions it.
        InvalidInput: nothing was given, nothing would be left, or the new entity lacks a name.
    """
    (entity,) = await read_rows(transaction, caller, entity_id)
    names = await _names(transaction, caller, entity.id)
    going = [_of_name(names, alias) for alias in aliases]
    if any(one.hash == entity.name_hash for one in going):
        raise InvalidInput(
            "The entity keeps its own name.", field="aliases", remedy="Split off the memories that mean another."
        )
    place = {"tenant": caller.tenant, "entity": entity.id}
    mentioning = {row[0] for row in await transaction.all("graph.mentioning", **place)}
    strange = next((id_ for id_ in memories if id_ not in mentioning), None)
    if strange is not None:
        raise not_mentioned(strange)
    rows = await transaction.all("graph.users_of_names", **place, aliases=[one.id for one in going])
    leaving = {*memories, *(row[0] for row in rows)} & mentioning
    if not leaving or leaving == mentioning:
        raise InvalidInput(
            "Both entities need a memory that mentions them.", field="memories", remedy="Give some of its memories."
        )
    if name is None and not going:
        raise InvalidInput("The new entity needs a name.", field="name", remedy="Give it one.")
    used = await transaction.all("graph.names_used_by", **place, memories=sorted(leaving))
    moving = {one.id for one in going} | {row[0] for row in used}
    kept_names = {one.id for one in names if one.hash == entity.name_hash}
    new = Known(new_id(now), entity.type, name or going[0].alias)
    await transaction.run(
        "graph.insert_entities", tenant=caller.tenant, agent=caller.agent, now=now, ids=[new.id], types=[new.type],
        names=[new.name], hashes=[name_hash(new.name)],
    )  # fmt: skip
    said = await transaction.all("graph.relations_said_by", **place, memories=sorted(leaving))
    relations = [row[0] for row in said]
    only = {"mention": sorted(leaving), "alias": sorted(moving - kept_names), "subject": relations, "object": relations}
    moved = await _move(transaction, caller, entity.id, new.id, only)
    if name is not None:
        await _give(transaction, caller, new, name, now)
    await derive_anew(transaction, caller, [entity.id, new.id])
    return await _note(transaction, caller, "split", entity.id, new.id, moved, {}, now)


def not_mentioned(memory_id: UUID) -> NotFound:
    """What is said of a memory that does not mention an entity, or that the caller may not see."""
    return NotFound(
        f"The memory {memory_id} does not mention it.", field="memories", remedy="Show the entity to see its facts."
    )


async def add_alias(
    transaction: Transaction, caller: Caller, entity_id: UUID, alias: str, now: datetime, known_to_be: Collection[UUID]
) -> EntityChange:
    """Give an entity another name; `known_to_be` are those whose own name it is as far as the caller may know.

    Raises:
        NotFound: there is no such entity.
        Conflict: it has that name already, or it is another entity's own.
    """
    (entity,) = await read_rows(transaction, caller, entity_id)
    digest = name_hash(alias)
    rows = await transaction.all("graph.find", tenant=caller.tenant, agent=caller.agent, hashes=[digest])
    owner = next((id_ for _, id_, type_, _, own in rows if own and type_ == entity.type and id_ in known_to_be), None)
    if owner is not None:
        itself = owner == entity.id
        raise Conflict(
            "That is its own name." if itself else f"That is the own name of the entity {owner}.",
            field="alias",
            remedy="Nothing is left to do." if itself else "Merge the two if they are one.",
        )
    known = next((one for one in await _names(transaction, caller, entity.id) if one.hash == digest), None)
    if known is not None and known.added and not known.removed:
        raise Conflict("It has that name already.", field="alias", remedy="Nothing is left to do.")
    if known is None:
        id_ = await _give(transaction, caller, Known(entity.id, entity.type, entity.name), alias, now)
        return await _note(transaction, caller, "add_alias", entity.id, None, {"alias": [id_]}, {}, now)
    before = {"given": known.given, "added": known.added, "removed": known.removed}
    await _give_known(transaction, caller, Known(entity.id, entity.type, entity.name), alias, known.id)
    return await _note(transaction, caller, "add_alias", entity.id, None, {"alias": [known.id]}, before, now)


async def remove_alias(
    transaction: Transaction, caller: Caller, entity_id: UUID, alias: str, now: datetime
) -> EntityChange:
    """Take a name from an entity; it is not learnt again.

    Raises:
        NotFound: there is no such entity, or it has no such name.
        InvalidInput: it is the entity's own.
    """
    (entity,) = await read_rows(transaction, caller, entity_id)
    names = await _names(transaction, caller, entity.id)
    digest = _of_name(names, alias).hash
    if digest == entity.name_hash:
        raise InvalidInput("That is its own name.", field="alias", remedy="Split off what means another.")
    # A merge may have brought the same name twice.
    ids = [one.id for one in names if one.hash == digest and not one.removed]
    await transaction.run("graph.set_removed", tenant=caller.tenant, aliases=ids, removed=True)
    return await _note(transaction, caller, "remove_alias", entity.id, None, {"alias": ids}, {}, now)


async def bring_name(
    transaction: Transaction, caller: Caller, known: Known, name: str, now: datetime, *, removed: bool
) -> None:
    """A name that a person gave an entity, or took from it, in the store that an import comes from.

    What a person did here about that name stands, and the entity keeps its own name.
    """
    digest = name_hash(name)
    here = [one for one in await _names(transaction, caller, known.id) if one.hash == digest]
    if digest == name_hash(known.name) or any(one.added or one.removed for one in here):
        return
    ids = [one.id for one in here]
    if not ids:
        ids = [await _give(transaction, caller, Known(known.id, known.type, known.name), name, now)]
    elif not removed:
        await _give_known(transaction, caller, Known(known.id, known.type, known.name), name, ids[0])
    if removed:
        await transaction.run("graph.set_removed", tenant=caller.tenant, aliases=ids, removed=True)


def no_change(change_id: UUID) -> NotFound:
    """What is said of a change that is not there, or that the caller may not see."""
    return NotFound(
        f"There is no change {change_id}.",
        field="change_id",
        remedy="List the changes of entities to see which there are.",
    )


async def undo(transaction: Transaction, caller: Caller, change_id: UUID, now: datetime) -> EntityChange:
    """Put back what a change did, as it was.

    Raises:
        NotFound: there is no such change.
        Conflict: it was undone, something later stands in the way, or an entity or a name of it is forgotten.
    """
    row = await transaction.one("graph.change", tenant=caller.tenant, agent=caller.agent, id=change_id)
    if row is None:
        raise no_change(change_id)
    id_, operation, entity, counterpart, before, created, undone, items = row
    if undone is not None:
        raise Conflict("The change was undone already.", field="change_id", remedy="Nothing is left to do.")
    sides = [side for side in (entity, counterpart) if side is not None]
    later = await transaction.one("graph.later_change", tenant=caller.tenant, id=id_, entities=sides)
    if later is not None:
        raise Conflict(
            f"The change {later[0]} came later and has to do with the same entity.",
            field="change_id",
            remedy="Undo that one first.",
        )
    there = {row[0] for row in await transaction.all(
        "graph.lock_entities", tenant=caller.tenant, agent=caller.agent, ids=sides
    )}  # fmt: skip
    if there != set(sides):
        raise Conflict("An entity of the change is forgotten.", field="change_id", remedy="Nothing can bring it back.")
    moved: dict[str, list[UUID]] = defaultdict(list)
    for item in items:
        kind, _, item_id = item.partition(" ")
        moved[kind].append(UUID(item_id))
    if operation == "merge":
        await _move(transaction, caller, entity, counterpart, moved)
        await transaction.run("graph.set_merged", tenant=caller.tenant, entity=counterpart, target=None)
    elif operation == "split":
        await _undo_split(transaction, caller, entity, counterpart, moved)
    elif operation == "remove_alias":
        await transaction.run("graph.set_removed", tenant=caller.tenant, aliases=moved["alias"], removed=False)
    else:
        await _undo_alias(transaction, caller, entity, moved["alias"], before)
    if counterpart is not None:
        await derive_anew(transaction, caller, sides)
    await transaction.run("graph.set_undone", tenant=caller.tenant, id=id_, now=now)
    return EntityChange(
        id=id_, operation=operation, entity=entity, counterpart=counterpart, created_at=created, undone_at=now
    )


async def _undo_split(
    transaction: Transaction, caller: Caller, entity: UUID, new: UUID, moved: Mapping[str, Sequence[UUID]]
) -> None:
    mentioning = {row[0] for row in await transaction.all("graph.mentioning", tenant=caller.tenant, entity=new)}
    if not mentioning <= set(moved.get("mention", ())):
        raise Conflict(
            "Other memories mention the entity that was split off since.",
            field="change_id",
            remedy="Merge the two entities instead.",
        )
    await _move(transaction, caller, new, entity, moved)
    await transaction.run("graph.drop_entity", tenant=caller.tenant, entity=new)


async def _undo_alias(
    transaction: Transaction, caller: Caller, entity: UUID, aliases: Sequence[UUID], before: Mapping[str, bool]
) -> None:
    """A name is what it was before it was added; where the memories that used it are forgotten since, it goes."""
    for alias in aliases:
        if before:
            await transaction.run("graph.set_alias", tenant=caller.tenant, alias=alias, **before)
            await transaction.run("graph.drop_unused_alias", tenant=caller.tenant, alias=alias)
        else:
            await transaction.run("graph.drop_alias", tenant=caller.tenant, alias=alias)
    await transaction.run("forget.rename_entities", tenant=caller.tenant, entities=[entity])


async def _move(
    transaction: Transaction,
    caller: Caller,
    origin: UUID,
    target: UUID,
    only: Mapping[str, Sequence[UUID]] | None,
) -> dict[str, list[UUID]]:
    """Move rows from one entity to another, all of them unless told which; answers with those that moved, by kind."""
    moved: dict[str, list[UUID]] = {}
    for kind, statement in MOVES.items():
        rows = await transaction.all(
            statement,
            tenant=caller.tenant,
            origin=origin,
            target=target,
            every=only is None,
            ids=[] if only is None else list(only.get(kind, ())),
        )
        moved[kind] = [row[0] for row in rows]
    return moved


async def _names(transaction: Transaction, caller: Caller, entity: UUID) -> list[Name]:
    return [Name(*row) for row in await transaction.all("graph.aliases_of", tenant=caller.tenant, entity=entity)]


def _of_name(names: Sequence[Name], alias: str) -> Name:
    digest = name_hash(alias)
    for name in names:
        if name.hash == digest and not name.removed:
            return name
    raise NotFound("The entity has no such name.", field="alias", remedy="Show the entity to see the names it has.")


async def _give(transaction: Transaction, caller: Caller, known: Known, name: str, now: datetime) -> UUID:
    """Give an entity a name that stays whatever memories say; answers with its id."""
    alias = known.aliases[name_hash(name)] = Alias(name, given=True, id=(id_ := new_id(now)))
    await insert_aliases(transaction, caller, [(known.id, name_hash(name), alias)], now, added=True)
    await insert_keys(transaction, caller, keys_of_alias(known, alias))
    return id_


async def _give_known(transaction: Transaction, caller: Caller, known: Known, name: str, id_: UUID) -> None:
    """Let a name that an entity has already stay whatever memories say."""
    await transaction.run("graph.set_alias", tenant=caller.tenant, alias=id_, given=True, added=True, removed=False)
    alias = known.aliases[name_hash(name)] = Alias(name, given=True, id=id_)
    await insert_keys(transaction, caller, keys_of_alias(known, alias))


async def _note(
    transaction: Transaction,
    caller: Caller,
    operation: Any,
    entity: UUID,
    counterpart: UUID | None,
    moved: Mapping[str, Sequence[UUID]],
    before: Mapping[str, bool],
    now: datetime,
) -> EntityChange:
    items = [(kind, item) for kind, ids in moved.items() for item in ids]
    id_ = new_id(now)
    await transaction.run(
        "graph.note_change",
        tenant=caller.tenant,
        agent=caller.agent,
        id=id_,
        operation=operation,
        entity=entity,
        counterpart=counterpart,
        before=json.dumps(before),
        now=now,
        kinds=[kind for kind, _ in items],
        items=[item for _, item in items],
    )
    return EntityChange(id=id_, operation=operation, entity=entity, counterpart=counterpart, created_at=now)
