"""Relations: what holds between entities, and the way from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_flag, check_whole
from ebbtide.govern.access import READ, requires
from ebbtide.graph.check import check_predicate
from ebbtide.identifiers import parse_id
from ebbtide.paths.entities import resolve_entity
from ebbtide.paths.manage import note_read
from ebbtide.read.graph import each_once, relations_seen
from ebbtide.read.scope import SCOPED, check_known, make_scope
from ebbtide.types.base import Page, page_of, trusted
from ebbtide.types.graph import GraphPath, Neighbourhood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller
    from ebbtide.types.graph import Relation, Side

__all__ = ["find_neighbourhood", "find_path", "list_relations", "relations_around"]

MOST_LISTED = 1_000
MOST_HOPS = 6
MOST_ROWS_A_HOP = 2_000
MOST_RINGS = 2
MOST_AROUND = 200
FIRST = UUID(int=0)


@requires(READ)
async def list_relations(
    engine: Engine,
    caller: Caller,
    *,
    entity: UUID | str | None = None,
    predicate: str | None = None,
    derived: bool = True,
    limit: int = 50,
    after: UUID | str | None = None,
    **narrowed: Any,
) -> Page[Relation]:
    """What holds between entities, as far as readable memories say. See `AsyncRelations.list`."""
    check_known(narrowed, SCOPED)
    check_whole(limit, "limit", 1, MOST_LISTED)
    check_flag(derived, "derived")
    asked = None if predicate is None else check_predicate(predicate, "predicate")
    last = FIRST if after is None else parse_id(after, "after")
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    seen: list[Relation] = []
    statement = ("graph.relations" if entity is None else "graph.relations_of") + scope.suffix
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = None if entity is None else (await resolve_entity(engine, transaction, scope, entity)).id
        while (lacking := limit + 1 - len(each_once(seen))) > 0:
            rows = await transaction.all(
                statement, **scope.parameters(), entity=found, predicate=asked, derived=derived, after=last,
                limit=lacking,
            )  # fmt: skip
            seen += await relations_seen(engine, transaction, scope, rows)
            if len(rows) < lacking:
                break
            last = rows[-1][0]
    page = page_of(each_once(seen), limit, lambda one: one.id)
    note_read(engine, caller, "relations.list", tuple({id_ for one in page for id_ in one.memories}))
    return page


@requires(READ)
async def find_path(
    engine: Engine, caller: Caller, start: UUID | str, end: UUID | str, *, max_hops: int = 4, **narrowed: Any
) -> GraphPath | None:
    """The shortest way between two entities along what was said. See `AsyncRelations.path`."""
    check_known(narrowed, SCOPED)
    check_whole(max_hops, "max_hops", 1, MOST_HOPS)
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        first = await resolve_entity(engine, transaction, scope, start, field="start")
        last = await resolve_entity(engine, transaction, scope, end, field="end")
        came_by: dict[UUID, Relation | None] = {first.id: None}
        frontier = [first.id]
        for _ in range(max_hops):
            if not frontier or last.id in came_by:
                break
            frontier = _step(await relations_around(engine, transaction, scope, frontier), came_by)
    if last.id not in came_by:
        return None
    path = _traced(came_by, last.id)
    note_read(engine, caller, "relations.path", tuple(id_ for one in path for id_ in one.memories))
    sides: dict[UUID, Side] = {side.id: side for one in path for side in (one.subject, one.object)}
    ids = [first.id]
    for one in path:
        ids.append(one.object.id if one.subject.id == ids[-1] else one.subject.id)
    if not path:
        return trusted(GraphPath, entities=(), relations=())
    return trusted(GraphPath, entities=tuple(sides[id_] for id_ in ids), relations=tuple(path))


@requires(READ)
async def find_neighbourhood(
    engine: Engine,
    caller: Caller,
    entity: UUID | str,
    *,
    type: str | None = None,  # noqa: A002 - the public name
    hops: int = 2,
    limit: int = 40,
    **narrowed: Any,
) -> Neighbourhood:
    """An entity with what is around it. See `AsyncEntities.neighbourhood`."""
    check_known(narrowed, SCOPED)
    check_whole(hops, "hops", 1, MOST_RINGS)
    check_whole(limit, "limit", 1, MOST_AROUND)
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        middle = await resolve_entity(engine, transaction, scope, entity, type_=type)
        came_by: dict[UUID, Relation | None] = {middle.id: None}
        found: dict[UUID, Relation] = {}
        sides: dict[UUID, Side] = {}
        rings: list[tuple[Side, ...]] = []
        frontier, cut = [middle.id], False
        for _ in range(hops):
            around = await relations_around(engine, transaction, scope, frontier)
            sides |= {side.id: side for one in around for side in (one.subject, one.object)}
            reached = _step(around, came_by)
            room = limit - sum(map(len, rings))
            cut = cut or len(reached) > room or len(around) == MOST_ROWS_A_HOP
            frontier = reached[:room]
            found |= {one.id: one for one in around}
            if not frontier:
                break
            rings.append(tuple(sides[id_] for id_ in frontier))
        shown = {middle.id, *(side.id for ring in rings for side in ring)}
        ordered = sorted(found.values(), key=lambda one: one.id)
        kept = [one for one in ordered if one.subject.id in shown and one.object.id in shown]
    note_read(engine, caller, "entities.neighbourhood", tuple({id_ for one in kept for id_ in one.memories}))
    return trusted(Neighbourhood, entity=middle, rings=tuple(rings), relations=tuple(kept), cut=cut)


async def relations_around(
    engine: Engine, transaction: Transaction, scope: Scope, entities: Sequence[UUID], *, limit: int = MOST_ROWS_A_HOP
) -> list[Relation]:
    """What was said to hold between certain entities and others; the oldest first, where there is too much."""
    rows = await transaction.all(
        "graph.around" + scope.suffix, **scope.parameters(), entities=list(entities), limit=limit
    )
    return each_once(await relations_seen(engine, transaction, scope, rows))


def _step(relations: Sequence[Relation], came_by: dict[UUID, Relation | None]) -> list[UUID]:
    """The entities that relations lead to for the first time; `came_by` learns by which."""
    known = set(came_by)
    reached: list[UUID] = []
    for one in relations:
        for here, there in ((one.subject.id, one.object.id), (one.object.id, one.subject.id)):
            if here in known and there not in came_by:
                came_by[there] = one
                reached.append(there)
    return reached


def _traced(came_by: dict[UUID, Relation | None], end: UUID) -> list[Relation]:
    """The relations from the start, which nothing led to, to the end."""
    path: list[Relation] = []
    here = end
    while (one := came_by[here]) is not None:
        path.append(one)
        here = one.subject.id if one.object.id == here else one.object.id
    return path[::-1]
