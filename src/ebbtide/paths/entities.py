"""Entities: found, shown, and put right by hand."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.checks import check_texts, check_whole
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.govern.access import ADMIN, READ, WRITE, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.personal import check_kept
from ebbtide.graph import change
from ebbtide.graph.check import check_name, check_type
from ebbtide.graph.lookup import find
from ebbtide.graph.names import LONGEST_REST, fold_name
from ebbtide.graph.write import lock
from ebbtide.identifiers import parse_id
from ebbtide.paths.manage import note_read
from ebbtide.read.graph import each_once, entities_seen, mode_of_names, relations_seen
from ebbtide.read.scope import SCOPED, check_known, make_scope
from ebbtide.read.seen import hidden_among, listed
from ebbtide.text import shown
from ebbtide.types.base import Page, page_of, trusted
from ebbtide.types.graph import EntityChange, EntityPage
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller
    from ebbtide.types.graph import Entity

__all__ = [
    "add_entity_alias", "entity_changes", "get_entity", "list_entities", "merge_entities", "remove_entity_alias",
    "resolve_entity", "split_entity", "undo_entity_change",
]  # fmt: skip

MOST_LISTED = 1_000
MOST_SPLIT = 10_000
FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)
LAST_CHARACTER = chr(sys.maxunicode)
# Where more names begin so, going through the entities finds enough of them sooner than reading all those names.
MOST_LOOKED_UP = 3_000


@requires(READ)
async def list_entities(
    engine: Engine,
    caller: Caller,
    *,
    types: Sequence[str] | str | None = None,
    text: str | None = None,
    limit: int = 50,
    after: UUID | str | None = None,
    **narrowed: Any,
) -> Page[Entity]:
    """The entities that readable memories mention, the first known ones first. See `AsyncEntities.list`."""
    check_known(narrowed, SCOPED)
    check_whole(limit, "limit", 1, MOST_LISTED)
    listed_types = [check_type(one, "types") for one in check_texts(types, "types")] or None
    wanted = None if text is None else fold_name(check_name(text, "text"))
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    last = FIRST if after is None else parse_id(after, "after")
    seen: list[Entity] = []
    statement = ("graph.entities" if wanted is None else "graph.entities_called") + scope.suffix
    asked = {**scope.parameters(), "types": listed_types, **({} if wanted is None else _beginning(wanted))}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        while (lacking := limit + 1 - len(seen)) > 0:
            rows = await transaction.all(statement, **asked, after=last, limit=lacking)
            found = await entities_seen(engine, transaction, scope, [row[0] for row in rows])
            # What was found by a name that its reader may not see is not found.
            seen += [one for one in found.values() if wanted is None or _goes_by(one, wanted)]
            if len(rows) < lacking:
                break
            last = rows[-1][0]
    return page_of(seen, limit, lambda one: one.id)


def _beginning(text: str) -> dict[str, Any]:
    """The stretch in which names lie of which a word begins so, in the order of their bytes."""
    first = text[:LONGEST_REST]
    return {"text": text, "first": first, "beyond": first + LAST_CHARACTER, "most": MOST_LOOKED_UP}


def _goes_by(entity: Entity, text: str) -> bool:
    return any(f" {text}" in f" {fold_name(name)}" for name in (entity.name, *entity.aliases))


@requires(READ)
async def get_entity(
    engine: Engine,
    caller: Caller,
    entity: UUID | str,
    *,
    type: str | None = None,  # noqa: A002 - the public name
    limit: int = 50,
    **narrowed: Any,
) -> EntityPage:
    """One entity with its facts and relations. See `AsyncEntities.get`."""
    check_known(narrowed, SCOPED)
    check_whole(limit, "limit", 1, MOST_LISTED)
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await resolve_entity(engine, transaction, scope, entity, type_=type)
        parameters = scope.parameters()
        rows = await transaction.all("graph.facts" + scope.suffix, **parameters, entity=found.id, limit=limit)
        facts = await listed(engine, transaction, caller, [memory_of(row) for row in rows])
        said = await transaction.all(
            "graph.relations_of" + scope.suffix, **parameters, entity=found.id, predicate=None, derived=True,
            after=FIRST, limit=limit,
        )  # fmt: skip
        relations = each_once(await relations_seen(engine, transaction, scope, said))
    note_read(engine, caller, "entities.get", tuple(one.id for one in facts))
    return trusted(EntityPage, entity=found, facts=tuple(facts), relations=tuple(relations))


async def resolve_entity(
    engine: Engine,
    transaction: Transaction,
    scope: Scope,
    entity: UUID | str,
    *,
    type_: str | None = None,
    field: str = "entity",
) -> Entity:
    """The one entity of an id or a name that the reader may see.

    Raises:
        NotFound: there is none.
        Conflict: several have that name; the error names their ids.
    """
    # The owner can put right whatever there is; who is policed, or a user, sees what readable memories mention.
    owner = _is_owner(scope.caller)
    id_ = _as_id(entity)
    if id_ is not None:
        seen = await entities_seen(engine, transaction, scope, [id_], owner=owner)
        if id_ in seen:
            return seen[id_]
        raise NotFound(f"There is no entity {id_}.", field=field, remedy="List the entities to see those there are.")
    name = check_name(entity, field)
    wanted = None if type_ is None else check_type(type_, "type")
    found = [one for one in await find(transaction, scope.caller, [name]) if wanted is None or one.type == wanted]
    seen = await entities_seen(engine, transaction, scope, [one.id for one in found], owner=owner)
    called = [one for one in seen.values() if fold_name(name) in map(fold_name, (one.name, *one.aliases))]
    own = [one for one in called if fold_name(one.name) == fold_name(name)] or called
    if len(own) == 1:
        return own[0]
    if not own:
        raise NotFound(
            f"There is no entity called {shown(name)}.", field=field, remedy="List the entities to see those there are."
        )
    raise Conflict(
        f"{len(own)} entities are called {shown(name)}: {', '.join(f'{one.id} ({one.type})' for one in own[:5])}.",
        field=field,
        remedy="Give the id of the one you mean.",
    )


def _check_list(values: Any, field: str, of: str) -> Sequence[Any]:
    several = cast("Sequence[Any]", values)
    if isinstance(values, str | bytes) or not isinstance(values, Sequence) or len(several) > MOST_SPLIT:
        raise InvalidInput(f"{field} must be a list of at most {MOST_SPLIT:,} {of}.", field=field, remedy=f"Give {of}.")
    return several


def _is_owner(caller: Caller) -> bool:
    return caller.access is None and caller.user is None


def _check_names(entity: Entity, names: Sequence[str], field: str) -> None:
    """Whether an entity has these names as far as the caller may see them."""
    seen = {fold_name(name) for name in (entity.name, *entity.aliases)}
    if not {fold_name(name) for name in names} <= seen:
        raise NotFound("The entity has no such name.", field=field, remedy="Show the entity to see the names it has.")


def _as_id(entity: Any) -> UUID | None:
    if isinstance(entity, UUID):
        return entity
    try:
        return UUID(entity) if isinstance(entity, str) else None
    except ValueError:
        return None


@requires(WRITE, ADMIN)
async def merge_entities(engine: Engine, caller: Caller, entity: UUID | str, other: UUID | str) -> EntityChange:
    """Make two entities one. See `AsyncEntities.merge`."""

    async def work(transaction: Transaction, scope: Scope, now: datetime) -> EntityChange:
        kept = await resolve_entity(engine, transaction, scope, entity)
        gone = await resolve_entity(engine, transaction, scope, other, field="other")
        return await change.merge(transaction, caller, kept.id, gone.id, now)

    return await _change(engine, caller, work)


@requires(WRITE, ADMIN)
async def split_entity(
    engine: Engine,
    caller: Caller,
    entity: UUID | str,
    *,
    memories: Sequence[UUID | str] = (),
    aliases: Sequence[str] | str = (),
    name: str | None = None,
) -> EntityChange:
    """Make a part of an entity one of its own. See `AsyncEntities.split`."""
    ids = [parse_id(one, "memories") for one in _check_list(memories, "memories", "ids")]
    several = [aliases] if isinstance(aliases, str) else aliases
    names = [check_name(one, "aliases") for one in _check_list(several, "aliases", "names")]
    called = None if name is None else check_name(name, "name")

    async def work(transaction: Transaction, scope: Scope, now: datetime) -> EntityChange:
        found = await resolve_entity(engine, transaction, scope, entity)
        _check_names(found, names, "aliases")
        strange = min(await hidden_among(transaction, caller, ids), default=None)
        if strange is not None:
            raise change.not_mentioned(strange)
        if called is not None:
            check_kept(called, "name", await mode_of_names(engine, transaction, scope, found.id))
        return await change.split(transaction, caller, found.id, ids, names, called, now)

    return await _change(engine, caller, work)


@requires(WRITE, ADMIN)
async def add_entity_alias(engine: Engine, caller: Caller, entity: UUID | str, alias: str) -> EntityChange:
    """Give an entity another name. See `AsyncEntities.add_alias`."""
    name = check_name(alias, "alias")

    async def work(transaction: Transaction, scope: Scope, now: datetime) -> EntityChange:
        found = await resolve_entity(engine, transaction, scope, entity)
        check_kept(name, "alias", await mode_of_names(engine, transaction, scope, found.id))
        same = [one.id for one in await find(transaction, caller, [name])]
        seen = await entities_seen(engine, transaction, scope, same, owner=_is_owner(caller))
        called = [one.id for one in seen.values() if fold_name(one.name) == fold_name(name)]
        return await change.add_alias(transaction, caller, found.id, name, now, called)

    return await _change(engine, caller, work)


@requires(WRITE, ADMIN)
async def remove_entity_alias(engine: Engine, caller: Caller, entity: UUID | str, alias: str) -> EntityChange:
    """Take a name from an entity. See `AsyncEntities.remove_alias`."""
    name = check_name(alias, "alias")

    async def work(transaction: Transaction, scope: Scope, now: datetime) -> EntityChange:
        found = await resolve_entity(engine, transaction, scope, entity)
        _check_names(found, [name], "alias")
        return await change.remove_alias(transaction, caller, found.id, name, now)

    return await _change(engine, caller, work)


@requires(WRITE, ADMIN)
async def undo_entity_change(engine: Engine, caller: Caller, change_id: UUID | str) -> EntityChange:
    """Put back what a change did. See `AsyncEntities.undo`."""
    id_ = parse_id(change_id, "change_id")

    async def work(transaction: Transaction, scope: Scope, now: datetime) -> EntityChange:
        rows = await transaction.named("graph.changes_named", tenant=caller.tenant, agent=caller.agent, ids=[id_])
        if not await _changes_seen(engine, transaction, scope, rows):
            raise change.no_change(id_)
        return await change.undo(transaction, caller, id_, now)

    return await _change(engine, caller, work)


async def _change(
    engine: Engine, caller: Caller, work: Callable[[Transaction, Scope, datetime], Awaitable[EntityChange]]
) -> EntityChange:
    """Change entities in one transaction, alone with them, and write down what was done, without any name."""
    now = engine.clock.now()
    scope = make_scope(caller, now)
    async with engine.database.transaction(caller.tenant) as transaction:
        await lock(transaction, caller)
        done = await work(transaction, scope, now)
        detail = {
            "operation": f"entity {'undo ' if done.undone_at else ''}{done.operation}",
            "change": str(done.id),
            "entity": str(done.entity),
        }
        if done.counterpart is not None:
            detail["counterpart"] = str(done.counterpart)
        await write_audit(transaction, caller, "update", [(None, detail)], now)
    return done


@requires(READ, ADMIN)
async def entity_changes(
    engine: Engine,
    caller: Caller,
    *,
    entity: UUID | str | None = None,
    limit: int = 50,
    after: UUID | str | None = None,
) -> Page[EntityChange]:
    """What was done to entities by hand. See `AsyncEntities.changes`."""
    check_whole(limit, "limit", 1, MOST_LISTED)
    id_ = None if entity is None else parse_id(entity, "entity")
    last = LAST if after is None else parse_id(after, "after")
    statement, found = "graph.changes" if id_ is None else "graph.changes_of", list[EntityChange]()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        scope = make_scope(caller, engine.clock.now())
        while (lacking := limit + 1 - len(found)) > 0:
            rows = await transaction.named(
                statement, tenant=caller.tenant, agent=caller.agent, entity=id_, after=last, limit=lacking
            )
            found += await _changes_seen(engine, transaction, scope, rows, of=id_)
            if len(rows) < lacking:
                break
            last = rows[-1].id
    return page_of(found, limit, lambda one: one.id)


async def _changes_seen(
    engine: Engine, transaction: Transaction, scope: Scope, rows: Sequence[Any], *, of: UUID | None = None
) -> list[EntityChange]:
    """Changes, or those `of` an entity, as their reader may see them: of what it may see, with no other one's id."""
    if _is_owner(scope.caller):
        return [trusted(EntityChange, **row._asdict()) for row in rows]
    sides = {id_ for row in rows for id_ in (row.entity, row.counterpart) if id_ is not None}
    seen = await entities_seen(engine, transaction, scope, list(sides))
    return [
        trusted(EntityChange, **{**row._asdict(), "counterpart": row.counterpart if row.counterpart in seen else None})
        for row in rows
        if row.entity in seen and of in (None, *seen)
    ]
