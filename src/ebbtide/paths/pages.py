"""Entity pages: what a namespace says of an entity, summed up in one memory and kept up to date."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.checks import LONGEST_ID, check_text
from ebbtide.errors import Conflict, NotFound, StaleRevision
from ebbtide.govern.access import READ, WRITE, requires, write_namespace
from ebbtide.paths.entities import resolve_entity
from ebbtide.paths.lifecycle import invalidate
from ebbtide.paths.manage import get, memory_seen, rewrite
from ebbtide.read.graph import entities_seen
from ebbtide.read.scope import make_scope
from ebbtide.read.seen import listed
from ebbtide.remember import remember_many
from ebbtide.types.caller import Caller
from ebbtide.types.memory import Draft
from ebbtide.write.origins import Origin
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.graph import Entity
    from ebbtide.types.memory import Memory

__all__ = ["entity_page", "refresh_pages", "refresh_tenant_pages"]

MOST_FACTS = 50
LONGEST_FACT = 500
BATCH = 500
FIRST = UUID(int=0)
TRIES = 3


@requires(READ, WRITE)
async def entity_page(
    engine: Engine, caller: Caller, entity: UUID | str, *, namespace: str | None = None
) -> Memory | None:
    """The page of an entity, made or brought up to date. See `AsyncEntities.page`."""
    place = None if namespace is None else check_text(namespace, "namespace", LONGEST_ID * 3)
    scope = make_scope(caller, engine.clock.now())
    async with engine.database.transaction(caller.tenant) as transaction:
        found = await resolve_entity(engine, transaction, scope, entity)
        row = await transaction.one("graph.page", tenant=caller.tenant, agent=caller.agent, entity=found.id)
        # Of a page where the caller does not read, such as another user's, it is told neither the words nor the place.
        kept = row[1] if row[1] is not None and scope.namespaces.covers(row[1]) else None
        wanted = write_namespace(place or kept, caller, "namespace")
        if row[0] is not None and row[1] is not None and wanted != row[1]:
            raise Conflict(
                "The entity's page is in another namespace.", field="namespace", remedy="Forget that page first."
            )
        await transaction.run(
            "graph.want_page", tenant=caller.tenant, agent=caller.agent, entity=found.id, namespace=wanted
        )
    for _ in range(TRIES - 1):
        # Whoever was faster may not have known the newest fact.
        with suppress(StaleRevision):
            return await _refresh(engine, caller, found.id)
    return await _refresh(engine, caller, found.id)


@requires(WRITE)
async def refresh_pages(engine: Engine, caller: Caller) -> int:
    """Bring the pages of the agent's entities up to date; answers with how many were rewritten."""
    return await _refresh_all(engine, caller.tenant, caller)


async def refresh_tenant_pages(engine: Engine, tenant: str) -> int:
    """Bring all pages of a tenant up to date, whichever agent's; answers with how many were rewritten."""
    return await _refresh_all(engine, tenant, None)


async def _refresh_all(engine: Engine, tenant: str, caller: Caller | None) -> int:
    after, changed = FIRST, 0
    while True:
        async with engine.database.transaction(tenant, snapshot=True) as transaction:
            rows = await transaction.all("graph.paged", tenant=tenant, after=after, limit=BATCH)
        for id_, agent in rows:
            if caller is None or caller.agent == agent:
                changed += await _refresh_one(engine, Caller(tenant, agent) if caller is None else caller, id_)
        if len(rows) < BATCH:
            return changed
        after = rows[-1][0]


async def _refresh_one(engine: Engine, caller: Caller, id_: UUID) -> bool:
    """Whether the page was rewritten; what changes meanwhile is seen to the next time."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        row = await transaction.one("graph.page", tenant=caller.tenant, agent=caller.agent, entity=id_)
    before = None if row is None or row[0] is None else row[0]
    try:
        revision = None if before is None else (await get(engine, caller, before)).revision
        page = await _refresh(engine, caller, id_)
    except (Conflict, NotFound):
        return False
    return page is not None and (page.id, page.revision) != (before, revision)


async def _refresh(engine: Engine, caller: Caller, id_: UUID) -> Memory | None:
    """The page as the facts are now; None where it has none."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        row = await transaction.one("graph.page", tenant=caller.tenant, agent=caller.agent, entity=id_)
        if row is None or row[1] is None:
            return None
        page_id, namespace, merged = row
        page = None if page_id is None else await memory_seen(engine, transaction, caller, page_id)
        scope = make_scope(caller, engine.clock.now(), namespaces=[namespace])
        seen = {} if merged is not None else await entities_seen(engine, transaction, scope, [id_])
        rows = await transaction.all("graph.facts" + scope.suffix, **scope.parameters(), entity=id_, limit=MOST_FACTS)
        facts = await listed(engine, transaction, caller, [memory_of(row) for row in rows])
    if id_ not in seen or not facts:
        if page is not None and page.maturity != "invalidated":
            await invalidate(engine, caller, page.id)
        return None
    content = written(seen[id_], facts)
    origin = Origin({fact.id: fact.revision for fact in facts}, whole=True)
    if page is None:
        return await _make(engine, caller, id_, namespace, content, seen[id_], origin)
    if page.content == content and page.maturity != "invalidated":
        return page
    return await rewrite(
        engine, caller, page.id, content, {"confidence": seen[id_].confidence}, expected_revision=page.revision,
        origin=origin, restored=page.maturity == "invalidated",
    )  # fmt: skip


async def _make(
    engine: Engine, caller: Caller, id_: UUID, namespace: str, content: str, entity: Entity, origin: Origin
) -> Memory | None:
    draft = Draft.model_construct(
        content=content, namespace=namespace, kind="entity", confidence=entity.confidence, subject=None
    )

    async def belong(transaction: Transaction, new: Sequence[Memory]) -> None:
        # In the transaction that writes it: a page that is no entity's would be brought up to date by nobody.
        for memory in new:
            await _set_page(transaction, caller, id_, memory.id)

    answer = (await remember_many(engine, caller, [draft], origins=[origin], follow=belong))[0]
    if answer.memory is not None and answer.outcome == "duplicate":
        async with engine.database.transaction(caller.tenant) as transaction:
            await _set_page(transaction, caller, id_, answer.memory.id)
    return answer.memory


async def _set_page(transaction: Transaction, caller: Caller, entity: UUID, memory: UUID) -> None:
    await transaction.run("graph.set_page", tenant=caller.tenant, agent=caller.agent, entity=entity, memory=memory)


def written(entity: Entity, facts: Sequence[Memory]) -> str:
    """The text of a page: name, type, other names and confidence, then a line for each fact, the newest first."""
    others = f", also called {', '.join(entity.aliases)}" if entity.aliases else ""
    sure = "" if entity.confidence is None else f" Confidence {entity.confidence:.0%}."
    lines = [f"{entity.name} ({entity.type.lower()}){others}.{sure}"]
    for fact in facts:
        text = " ".join(fact.content.split())
        lines.append(f"- {text if len(text) <= LONGEST_FACT else text[: LONGEST_FACT - 1] + '…'}")
    return "\n".join(lines)
