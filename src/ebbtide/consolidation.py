"""Consolidation: near duplicates become one memory, by rules, or by a chat model that the rules check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_flag, check_word
from ebbtide.curated import Consolidation, Merge
from ebbtide.duplicates import EXCERPT_CHARACTERS, Found, check_token, end_of_token, find, may_go, merge, token_of
from ebbtide.govern.access import READ, WRITE, requires
from ebbtide.graph.write import lock as lock_graph
from ebbtide.merging import consolidate_by_model
from ebbtide.read.scope import NARROWED, check_known, make_scope
from ebbtide.read.seen import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types import Caller

__all__ = ["consolidate", "consolidate_all"]

WAYS = ("rules", "model")
MERGED_AT_ONCE = 100


@requires(WRITE, READ)
async def consolidate(
    engine: Engine,
    caller: Caller,
    *,
    by: str = "rules",
    dry_run: bool = True,
    token: str | None = None,
    **narrowed: Any,
) -> Consolidation:
    """Show which near duplicates would become one, or with the token of that merge just these.

    See `AsyncEbbtide.consolidate`.
    """
    check_flag(dry_run, "dry_run")
    check_word(by, "by", WAYS, "a way to consolidate")
    check_known(narrowed, NARROWED)
    now = engine.clock.now()
    scope = make_scope(caller, now, **narrowed)
    if by == "model":
        return await consolidate_by_model(engine, scope, now, dry_run=dry_run, token=token)
    if dry_run:
        async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
            found = await find(transaction, scope, now, may_go)
            merges = await _merges(engine, transaction, caller, found)
        ends = end_of_token(now)
        token = token_of(found, ends)
        return Consolidation(
            dry_run=True, count=len(merges), merges=merges, held=found.held, token=token, expires_at=ends
        )
    async with engine.database.transaction(caller.tenant) as transaction:
        found = await _locked(transaction, scope, now)
        check_token(token, found, now)
        await merge(transaction, caller, found, now)
        merges = await _merges(engine, transaction, caller, found)
    _forget_cached(engine, caller.tenant)
    return Consolidation(dry_run=False, count=len(merges), merges=merges, held=found.held)


@requires(WRITE, READ)
async def consolidate_all(engine: Engine, caller: Caller) -> int:
    """Merge by rules what a dry run would show of an agent's memories; answers with how many were superseded.

    A hundred merges are a transaction, so that nobody who writes waits for all of them.
    """
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        plan = (await find(transaction, make_scope(caller, now), now, may_go)).plan
    groups = [[kept, *others] for kept, others in plan.items()]
    count = 0
    for start in range(0, len(groups), MERGED_AT_ONCE):
        ids = [id_ for group in groups[start : start + MERGED_AT_ONCE] for id_ in group]
        now = engine.clock.now()
        async with engine.database.transaction(caller.tenant) as transaction:
            found = await _locked(transaction, make_scope(caller, now), now, ids)
            await merge(transaction, caller, found, now)
        _forget_cached(engine, caller.tenant)
        count += len(found.touched) - len(found.plan)
    return count


def _forget_cached(engine: Engine, tenant: str) -> None:
    engine.scopes.forget(tenant)
    engine.reranks.forget(tenant)


async def _locked(transaction: Transaction, scope: Scope, now: datetime, among: Sequence[UUID] | None = None) -> Found:
    """What may become one, of certain memories alone where they are given; locked until the transaction ends."""
    caller = scope.caller
    await transaction.run("forget.lock_shared", tenant=caller.tenant)
    # What the merged ones mention is moved, which no change of an entity may come between.
    await lock_graph(transaction, caller)
    found = await find(transaction, scope, now, may_go, among)
    await transaction.run("remember.lock", tenant=caller.tenant, ids=found.touched)
    return await find(transaction, scope, now, may_go, among)


async def _merges(engine: Engine, transaction: Transaction, caller: Caller, found: Found) -> tuple[Merge, ...]:
    """The merges as the caller may see them: of what the rules withhold, nothing is shown but that it stays."""
    memories = found.memories
    shown = {one.id: one for one in await listed(engine, transaction, caller, [memories[kept] for kept in found.plan])}
    return tuple(
        Merge(
            kept=kept,
            merged=tuple(others),
            namespace=memories[kept].namespace,
            excerpt=shown[kept].content[:EXCERPT_CHARACTERS] if kept in shown else "",
        )
        for kept, others in found.plan.items()
    )
