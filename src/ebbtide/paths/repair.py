"""Repair: what is derived from memories is made right again where it is missing or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_flag
from ebbtide.govern.access import OPERATOR, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.types.curation import Reconciliation
from ebbtide.write.context import in_context, is_same, set_context
from ebbtide.write.pending import embed_pending
from ebbtide.write.tokens import counts_of

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["reconcile"]

PAGE = 500
FIRST = UUID(int=0)


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
            wrong = {
                row.id: right for row in rows if not is_same(_numbers(row.context_embedding), right := _in_light(row))
            }
            if not dry_run:
                await set_context(transaction, tenant, wrong)
        done += len(wrong)
        if len(rows) < PAGE:
            return done
        after = rows[-1].id


def _in_light(row: Any) -> Any:
    """The vector of a turn in the light of the turn before, None for the first."""
    return None if row.previous is None else in_context(row.embedding.to_numpy(), row.previous.to_numpy())


def _numbers(vector: Any) -> Any:
    return None if vector is None else vector.to_numpy()
