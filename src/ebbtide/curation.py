"""Curation: near duplicates become one memory, and what is derived from memories is repaired."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from ebbtide.checks import check_flag
from ebbtide.curated import Consolidation, Merge, Reconciliation
from ebbtide.errors import Conflict, InvalidInput
from ebbtide.forget.holds import held_among
from ebbtide.forget.selection import TOKEN_LIFE
from ebbtide.govern.access import OPERATOR, READ, WRITE, check_changeable, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.graph.write import lock as lock_graph
from ebbtide.jobs.embedding import embed_pending
from ebbtide.manage import missing
from ebbtide.read.scope import NARROWED, check_known, make_scope
from ebbtide.read.seen import listed
from ebbtide.types import Caller
from ebbtide.write.context import in_context, set_context
from ebbtide.write.rows import memory_of
from ebbtide.write.stale import hide_pages
from ebbtide.write.supersede import Successor, supersede
from ebbtide.write.tokens import counts_of
from ebbtide.write.wording import differ, plain_words, read_wording

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types import Memory

__all__ = ["consolidate", "reconcile"]

EXCERPT_CHARACTERS = 200
PAGE = 500
# Vectors are kept with half precision.
LARGEST_ROUNDING = 2e-3
FIRST = UUID(int=0)

Plan = dict[UUID, list[UUID]]
"""The memories that stay, and those that each takes the place of."""


@requires(WRITE, READ)
async def consolidate(
    engine: Engine, caller: Caller, *, dry_run: bool = True, token: str | None = None, **narrowed: Any
) -> Consolidation:
    """Show which near duplicates would become one, or with the token of that merge just these.

    See `AsyncEbbtide.consolidate`.
    """
    check_flag(dry_run, "dry_run")
    check_known(narrowed, NARROWED)
    now = engine.clock.now()
    scope = make_scope(caller, now, **narrowed)
    if dry_run:
        async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
            plan, memories, held = await _planned(transaction, scope, now)
            merges = await _merges(engine, transaction, caller, plan, memories)
        ends = (now + TOKEN_LIFE).replace(microsecond=0)
        token = _token(plan, memories, ends)
        return Consolidation(dry_run=True, count=len(merges), merges=merges, held=held, token=token, expires_at=ends)
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("forget.lock_shared", tenant=caller.tenant)
        # What the merged ones mention is moved, which no change of an entity may come between.
        await lock_graph(transaction, caller)
        plan, _, _ = await _planned(transaction, scope, now)
        touched = [*plan, *(id_ for ids in plan.values() for id_ in ids)]
        await transaction.run("remember.lock", tenant=caller.tenant, ids=touched)
        plan, memories, held = await _planned(transaction, scope, now)
        _check_token(token, plan, memories, now)
        await _merge(transaction, caller, plan, memories, now)
        merges = await _merges(engine, transaction, caller, plan, memories)
    engine.scopes.forget(caller.tenant)
    engine.reranks.forget(caller.tenant)
    return Consolidation(dry_run=False, count=len(merges), merges=merges, held=held)


async def _planned(
    transaction: Transaction, scope: Scope, now: datetime
) -> tuple[Plan, dict[UUID, Memory], tuple[UUID, ...]]:
    """What would become one, the memories meant, and those that a legal hold leaves out."""
    caller = scope.caller
    pairs = await transaction.all("curate.near_duplicates", **scope.parameters())
    ids = sorted({id_ for pair in pairs for id_ in pair})
    rows = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids)
    memories = {row[0]: memory_of(row) for row in rows}
    for memory in memories.values():
        check_changeable(caller, memory.namespace, missing(memory.id))
    held = await held_among(transaction, caller.tenant, ids, now)
    free = [(one, other) for one, other in pairs if one not in held and other not in held]
    return plan_of(free, memories), memories, tuple(sorted(held))


def plan_of(pairs: Sequence[tuple[UUID, UUID]], memories: Mapping[UUID, Memory]) -> Plan:
    """Which memories stay, and which each takes the place of: the fullest one of those that are linked to it.

    Each is in one merge at most, and is compared word by word with the one that stays: where they differ in a number, a
    name or a negation, both stay. What lives longer is never given up for what expires.
    """
    linked: dict[UUID, set[UUID]] = defaultdict(set)
    for one, other in pairs:
        linked[one].add(other)
        linked[other].add(one)
    plan: Plan = {}
    taken: set[UUID] = set()
    fuller: set[UUID] = set()
    for id_ in sorted(linked, key=lambda id_: fullness(memories[id_])):
        if id_ in taken:
            continue
        going = [other for other in sorted(linked[id_] - taken - fuller) if may_go(memories[other], memories[id_])]
        fuller.add(id_)
        if going:
            plan[id_] = going
            taken.update((id_, *going))
    return plan


def fullness(memory: Memory) -> tuple[Any, ...]:
    """What sorts the fuller statement first: confirmed by a person, more words that mean something, longer, older."""
    wording = read_wording(memory.content)
    words = len(plain_words(wording)) + wording.numbers.total()
    return memory.maturity != "confirmed", -words, -len(memory.content), memory.created_at, memory.id


def may_go(memory: Memory, kept: Memory) -> bool:
    """Whether a memory says nothing that the one that stays does not say, for as long."""
    outlived = kept.expires_at is not None and (memory.expires_at is None or memory.expires_at > kept.expires_at)
    return not outlived and not differ(read_wording(memory.content), read_wording(kept.content))


async def _merge(
    transaction: Transaction, caller: Caller, plan: Plan, memories: Mapping[UUID, Memory], now: datetime
) -> None:
    """Give what stays the marks of the others, and let it supersede them."""
    if not plan:
        return
    tenant = caller.tenant
    pairs = [(kept, other) for kept, others in plan.items() for other in others]
    asked = {"kept_ids": [kept for kept, _ in pairs], "other_ids": [other for _, other in pairs]}
    await transaction.run("remember.keep_version", tenant=tenant, ids=list(plan), now=now)
    await transaction.run("curate.gather", tenant=tenant, now=now, **asked)
    await transaction.run("curate.gather_mentions", tenant=tenant, **asked)
    await transaction.run("curate.gather_origins", tenant=tenant, now=now, **asked)
    await transaction.run("curate.stand_alone", tenant=tenant, **asked)
    await supersede(transaction, tenant, [Successor(other, kept, now) for kept, other in pairs], now)
    gone = [(other, {"to": "superseded", "by": str(kept), "operation": "consolidate"}) for kept, other in pairs]
    await write_audit(transaction, caller, "status", gone, now)
    stayed = [
        (kept, {"operation": "consolidate", "merged": list(map(str, others)), "revision": memories[kept].revision + 1})
        for kept, others in plan.items()
    ]
    await write_audit(transaction, caller, "update", stayed, now)
    await hide_pages(transaction, caller, [other for _, other in pairs], now)


async def _merges(
    engine: Engine, transaction: Transaction, caller: Caller, plan: Plan, memories: Mapping[UUID, Memory]
) -> tuple[Merge, ...]:
    """The merges as the caller may see them: of what the rules withhold, nothing is shown but that it stays."""
    shown = {one.id: one for one in await listed(engine, transaction, caller, [memories[kept] for kept in plan])}
    return tuple(
        Merge(
            kept=kept,
            merged=tuple(others),
            namespace=memories[kept].namespace,
            excerpt=shown[kept].content[:EXCERPT_CHARACTERS] if kept in shown else "",
        )
        for kept, others in plan.items()
    )


def _token(plan: Plan, memories: Mapping[UUID, Memory], ends: datetime) -> str:
    """What confirms that just these memories, at the revisions they had, are meant."""
    seconds = int(ends.timestamp())
    meant = [
        [str(kept), memories[kept].revision, [[str(id_), memories[id_].revision] for id_ in others]]
        for kept, others in plan.items()
    ]
    return f"{seconds}-{hashlib.sha256(json.dumps([seconds, meant]).encode()).hexdigest()}"


def _check_token(token: Any, plan: Plan, memories: Mapping[UUID, Memory], now: datetime) -> None:
    """Accept the token of a dry run that saw what there is now.

    Raises:
        InvalidInput: it is no token.
        Conflict: it has expired, or there is something else to merge now.
    """
    seconds = token.partition("-")[0] if isinstance(token, str) else ""
    if not isinstance(token, str) or not (seconds.isascii() and seconds.isdigit()) or len(seconds) > len("99999999999"):
        raise InvalidInput(
            "A consolidation needs the token of a dry run.",
            field="token",
            remedy="Call with dry_run=True, look at what would be merged, and repeat with its token.",
        )
    ends = now + timedelta(seconds=int(seconds) - now.timestamp())
    if ends <= now:
        raise Conflict("The token has expired.", field="token", remedy="Look again with dry_run=True.")
    if not hmac.compare_digest(_token(plan, memories, ends).encode(), token.encode(errors="replace")):
        raise Conflict(
            "There is something else to merge than the dry run saw.",
            field="token",
            remedy="Look again with dry_run=True; nothing was merged.",
        )


@requires(OPERATOR)
async def reconcile(engine: Engine, caller: Caller, *, dry_run: bool = True) -> Reconciliation:
    """Repair what is derived from the tenant's memories, or count what would be. See `AsyncEbbtide.reconcile`."""
    check_flag(dry_run, "dry_run")
    tenant = caller.tenant
    counts = await _repair_rows(engine, tenant, dry_run=dry_run)
    vectors, pending = await _repair_vectors(engine, tenant, dry_run=dry_run)
    report = Reconciliation(
        dry_run=dry_run,
        vectors=vectors,
        pending=pending,
        tokens=await _repair_tokens(engine, tenant, dry_run=dry_run),
        context_vectors=await _repair_context(engine, tenant, dry_run=dry_run),
        **counts,
    )
    if not dry_run and report.repaired:
        detail = {"operation": "reconcile", **report.model_dump(exclude={"dry_run"})}
        async with engine.database.transaction(tenant) as transaction:
            await write_audit(transaction, caller, "update", [(None, detail)], engine.clock.now())
        engine.scopes.forget(tenant)
    return report


class _Undone(Exception):
    """Leaves a transaction without its changes."""


async def _repair_rows(engine: Engine, tenant: str, *, dry_run: bool) -> dict[str, int]:
    """What statements alone repair; a dry run does it and undoes it, so that it counts the same."""
    counts: dict[str, int] = {}
    try:
        async with engine.database.transaction(tenant) as transaction:
            await transaction.run("forget.lock_shared", tenant=tenant)
            counts["leftovers"] = (await transaction.one("curate.drop_leftovers", tenant=tenant))[0]
            counts["derived_relations"] = (await transaction.one("curate.drop_underived", tenant=tenant))[0]
            counts["update_links"] = (await transaction.one("curate.drop_update_links", tenant=tenant))[0]
            if dry_run:
                raise _Undone
    except _Undone:
        pass
    return counts


async def _repair_vectors(engine: Engine, tenant: str, *, dry_run: bool) -> tuple[int, int]:
    """How many memories lacked a vector, and how many still do."""
    lacking = await _without_vectors(engine, tenant)
    if dry_run or engine.embedder is None or not lacking:
        return (0 if engine.embedder is None else lacking), lacking
    async with engine.database.transaction(tenant) as transaction:
        await transaction.one("curate.mark_pending", tenant=tenant)
    left = lacking
    while left:
        await embed_pending(engine, tenant=tenant)
        before, left = left, await _without_vectors(engine, tenant)
        if left >= before:
            break
    return lacking - left, left


async def _without_vectors(engine: Engine, tenant: str) -> int:
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        return (await transaction.one("curate.without_vectors", tenant=tenant))[0]


async def _repair_tokens(engine: Engine, tenant: str, *, dry_run: bool) -> int:
    """How many memories had no count of tokens by the counter in use."""
    after, done, counter = FIRST, 0, engine.counter.name
    while True:
        async with engine.database.transaction(tenant, snapshot=True) as transaction:
            rows = await transaction.all("curate.uncounted", tenant=tenant, counter=counter, after=after, limit=PAGE)
        if not rows:
            return done
        after, contents = rows[-1][0], [row[1] for row in rows]
        if dry_run:
            done += len(rows)
            continue
        counts = await counts_of(engine, contents)
        counted = [(row[0], row[1], count) for row, count in zip(rows, counts, strict=True) if count is not None]
        async with engine.database.transaction(tenant) as transaction:
            await transaction.run(
                "curate.set_tokens",
                tenant=tenant,
                counter=counter,
                ids=[id_ for id_, _, _ in counted],
                contents=[content for _, content, _ in counted],
                counts=[count for _, _, count in counted],
            )
        done += len(counted)


async def _repair_context(engine: Engine, tenant: str, *, dry_run: bool) -> int:
    """How many turns had no vector in the light of the turn before, or another one."""
    after, done = FIRST, 0
    while True:
        async with engine.database.transaction(tenant) as transaction:
            rows = await transaction.named("curate.turns", tenant=tenant, after=after, limit=PAGE)
            wrong = {row.id: right for row in rows if not _same(row.context_embedding, right := _in_light(row))}
            if not dry_run:
                await set_context(transaction, tenant, wrong)
        done += len(wrong)
        if len(rows) < PAGE:
            return done
        after = rows[-1].id


def _in_light(row: Any) -> Any:
    """The vector of a turn in the light of the turn before, None for the first."""
    return None if row.previous is None else in_context(row.embedding.to_numpy(), row.previous.to_numpy())


def _same(stored: Any, right: Any) -> bool:
    if stored is None or right is None:
        return stored is None and right is None
    return bool(np.allclose(stored.to_numpy(), right, atol=LARGEST_ROUNDING))
