"""Consolidation: near duplicates become one memory, by rules, or by a chat model that the rules check."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_flag, check_word
from ebbtide.govern.access import READ, WRITE, requires
from ebbtide.govern.confirmation import check_token, end_of_token, make_token, otherwise
from ebbtide.graph.write import lock as lock_graph
from ebbtide.paths.duplicates import CONSOLIDATION, EXCERPT_CHARACTERS, Found, Plan, find, may_go, meant_by, merge
from ebbtide.paths.merging import CHANGED, consolidate_by_model
from ebbtide.read.scope import NARROWED, check_known, make_scope
from ebbtide.read.seen import listed
from ebbtide.types.curation import Consolidation, Merge, Unmerged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller

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
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await find(transaction, scope, now, may_go)
        merges = await _merges(engine, transaction, caller, found)
    if dry_run:
        ends = end_of_token(now)
        token = make_token(CONSOLIDATION, caller, meant_by(by, scope, found), ends)
        return Consolidation(
            dry_run=True, count=len(merges), merges=merges, held=found.held, token=token, expires_at=ends
        )
    check_token(token, CONSOLIDATION, caller, meant_by(by, scope, found), now)
    merged = await _merge_in_parts(engine, caller, found, narrowed)
    if found.plan and not merged:
        raise otherwise(CONSOLIDATION)
    left = [Unmerged(ids=(kept, *ids), reason=CHANGED) for kept, ids in found.plan.items() if kept not in merged]
    merges = tuple(one for one in merges if one.kept in merged)
    return Consolidation(dry_run=False, count=len(merges), merges=merges, held=found.held, unmerged=tuple(left))


@requires(WRITE, READ)
async def consolidate_all(engine: Engine, caller: Caller) -> int:
    """Merge by rules what a dry run would show of an agent's memories; answers with how many were superseded."""
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await find(transaction, make_scope(caller, now), now, may_go)
    return sum(map(len, (await _merge_in_parts(engine, caller, found, {})).values()))


async def _merge_in_parts(engine: Engine, caller: Caller, planned: Found, narrowed: Mapping[str, Any]) -> Plan:
    """Merge what was found, and answer with what was merged: all but what is not as it was any more.

    A hundred merges are a transaction, so that nobody who writes waits for all of them.
    """
    groups = list(planned.plan.items())
    merged: Plan = {}
    for start in range(0, len(groups), MERGED_AT_ONCE):
        part = replace(planned, plan=dict(groups[start : start + MERGED_AT_ONCE]))
        now = engine.clock.now()
        async with engine.database.transaction(caller.tenant) as transaction:
            found = await _locked(transaction, make_scope(caller, now, **narrowed), now, part.touched)
            same = {kept: ids for kept, ids in part.plan.items() if _is_same(kept, ids, found, part)}
            await merge(transaction, caller, replace(found, plan=same), now)
        engine.scopes.forget(caller.tenant)
        engine.reranks.forget(caller.tenant)
        merged |= same
    return merged


def _is_same(kept: UUID, others: Sequence[UUID], found: Found, planned: Found) -> bool:
    """Whether a merge that was planned is found again, of memories that nobody changed since."""
    return found.plan.get(kept) == others and all(
        found.memories[id_].revision == planned.memories[id_].revision for id_ in (kept, *others)
    )


async def _locked(transaction: Transaction, scope: Scope, now: datetime, ids: Sequence[UUID]) -> Found:
    """What of certain memories may become one; locked until the transaction ends."""
    caller = scope.caller
    await transaction.run("forget.lock_shared", tenant=caller.tenant)
    # What the merged ones mention is moved, which no change of an entity may come between.
    await lock_graph(transaction, caller)
    await transaction.run("remember.lock", tenant=caller.tenant, ids=ids)
    return await find(transaction, scope, now, may_go, ids)


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
