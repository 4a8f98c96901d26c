"""The audit: what was done, by whom and to which memory, never what it says; sealed into a chain."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import LONGEST_ID, check_moment, check_text, check_whole, check_word
from ebbtide.db.arrays import plain_array
from ebbtide.identifiers import new_id, parse_id
from ebbtide.types.base import Page, page_of
from ebbtide.types.evidence import AUDIT_ACTIONS, AuditCheck, AuditEntry

if TYPE_CHECKING:
    from ebbtide.caches import Read
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["UPKEEP", "export_pages", "list_entries", "seal", "seal_written", "verify", "warn", "write", "write_reads"]

UPKEEP = "ebbtide"
"""The agent that the audit names for what the store does by itself."""

ROWS_A_SEAL = 1_000
MOST_LISTED = 1_000
MOST_PROBLEMS = 100
LAST_NUMBER = 2**62
GENESIS = bytes(32)


async def write(
    transaction: Transaction,
    caller: Caller,
    action: str,
    entries: Sequence[tuple[UUID | None, Mapping[str, Any]]],
    now: datetime,
) -> list[UUID]:
    """Note what was done to which memories, never what they say; answers with the ids of the audit's rows."""
    ids = [new_id(now) for _ in entries]
    if entries:
        await transaction.run(
            "audit.write",
            tenant=caller.tenant,
            agent=caller.agent,
            user=caller.user,
            action=action,
            now=now,
            audit_ids=ids,
            ids=[id_ for id_, _ in entries],
            details=[json.dumps(detail) for _, detail in entries],
        )
    return ids


async def warn(engine: Engine, caller: Caller, memory_id: UUID | None, detail: Mapping[str, Any]) -> None:
    """Note a refusal, in a transaction of its own: the one that was refused leaves nothing."""
    async with engine.database.transaction(caller.tenant) as transaction:
        await write(transaction, caller, "warning", [(memory_id, detail)], engine.clock.now())


async def write_reads(transaction: Transaction, tenant: str, reads: Sequence[Read]) -> None:
    """Note reads by the ids of what came back; those that have an entry in the log of recalls also there."""
    audited = [
        {
            "id": str(new_id(read.at)),
            "at": read.at.isoformat(),
            "agent_id": read.agent,
            "user_id": read.user,
            "detail": {"verb": read.verb, "memories": [str(id_) for id_ in read.ids]},
        }
        for read in reads
    ]
    await transaction.run("audit.write_reads", tenant=tenant, rows=json.dumps(audited))
    if logged := [read for read in reads if read.id is not None]:
        await _log(transaction, tenant, logged)


async def _log(transaction: Transaction, tenant: str, reads: Sequence[Read]) -> None:
    learnt = [(None, [None] * len(read.ids)) if read.readings is None else read.readings() for read in reads]
    rows = [
        {
            "id": str(read.id),
            "at": read.at.isoformat(),
            "agent_id": read.agent,
            "user_id": read.user,
            "profile": read.profile,
            "signature": None if signature is None else signature.hex(),
        }
        for read, (signature, _) in zip(reads, learnt, strict=True)
    ]
    await transaction.run("audit.write_recalls", tenant=tenant, rows=json.dumps(rows))
    hits = [
        (read.id, id_, place, relevance, None if weighed is None else plain_array(weighed))
        for read, (_, readings) in zip(reads, learnt, strict=True)
        for place, (id_, relevance, weighed) in enumerate(zip(read.ids, read.relevance, readings, strict=True))
    ]
    await transaction.run(
        "audit.write_hits",
        tenant=tenant,
        recall_ids=[hit[0] for hit in hits],
        ids=[hit[1] for hit in hits],
        places=[hit[2] for hit in hits],
        relevances=[hit[3] for hit in hits],
        readings=[hit[4] for hit in hits],
    )


async def seal(engine: Engine, tenant: str, *, wait: bool = True) -> int:
    """Seal what the tenant's audit holds beyond its last seal, a thousand rows each; answers with the number of rows.

    Without `wait`, nothing is sealed while somebody writes: a later call does.
    """
    sealed = 0
    async with engine.database.transaction(tenant, upkeep=True) as transaction:
        if wait:
            await transaction.run("audit.lock", tenant=tenant)
        elif not (await transaction.one("audit.try_lock", tenant=tenant))[0]:
            engine.database.written.add(tenant)
            return 0
        last = await transaction.one("audit.last_seal", tenant=tenant)
        number, after, digest = last if last is not None else (0, 0, GENESIS)
        while True:
            number += 1
            made = await transaction.one(
                "audit.seal",
                tenant=tenant,
                number=number,
                after_number=after,
                previous_digest=digest,
                limit=ROWS_A_SEAL,
                now=engine.clock.now(),
            )
            if made is None:
                return sealed
            after, digest, rows = made
            sealed += rows
            if rows < ROWS_A_SEAL:
                return sealed


async def seal_written(engine: Engine, *, wait: bool = False) -> None:
    """Seal the audits of the tenants that this engine wrote to since the last time."""
    waiting, engine.database.written = engine.database.written, set()
    for tenant in sorted(waiting):
        await seal(engine, tenant, wait=wait)


async def list_entries(
    engine: Engine,
    caller: Caller,
    *,
    action: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    memory_id: UUID | str | None = None,
    since: Any = None,
    until: Any = None,
    before: int | None = None,
    limit: int = 50,
) -> Page[AuditEntry]:
    """Rows of the tenant's audit, the newest first. See `AsyncAudit.entries`.

    Raises:
        InvalidInput: an argument is not acceptable; the error names it.
    """
    if action is not None:
        check_word(action, "action", AUDIT_ACTIONS, "an action of the audit")
    check_whole(limit, "limit", 1, MOST_LISTED)
    if before is not None:
        check_whole(before, "before", 1, LAST_NUMBER)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named(
            "audit.entries",
            tenant=caller.tenant,
            action=action,
            agent=None if agent is None else check_text(agent, "agent", LONGEST_ID),
            user=None if user is None else check_text(user, "user", LONGEST_ID),
            memory=None if memory_id is None else parse_id(memory_id, "memory_id"),
            since=check_moment(since, "since", caller.timezone),
            until=check_moment(until, "until", caller.timezone),
            before=before,
            limit=limit + 1,
        )
    return page_of([AuditEntry(**row._asdict()) for row in rows], limit, lambda one: one.number)


async def verify(engine: Engine, caller: Caller) -> AuditCheck:
    """Whether every row is as it was written, and every seal follows from its rows and from the seal before."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        unlike = await transaction.all("audit.unlike", tenant=caller.tenant, limit=MOST_PROBLEMS)
        seals = await transaction.named("audit.seals", tenant=caller.tenant)
        last = seals[-1].last_number if seals else 0
        rows, unsealed = await transaction.one("audit.count", tenant=caller.tenant, sealed=last)
    problems = [f"row {number} ({id_}) was edited, or not written by Ebbtide" for number, id_ in unlike]
    problems += problems_of(seals)
    return AuditCheck(
        valid=not problems,
        rows=rows,
        seals=len(seals),
        unsealed=unsealed,
        head=seals[-1].digest.hex() if seals else None,
        problems=tuple(problems[:MOST_PROBLEMS]),
    )


def problems_of(seals: Sequence[Any]) -> list[str]:
    """What is wrong with a chain of seals, in order."""
    problems: list[str] = []
    if seals and (seals[0].number != 1 or seals[0].previous_digest != GENESIS or seals[0].after_number != 0):
        problems.append("the first seals are missing")
    for before, after in pairwise(seals):
        linked = after.previous_digest == before.digest and after.after_number == before.last_number
        if after.number != before.number + 1 or not linked:
            problems.append(f"seal {after.number} does not follow from seal {before.number}")
    for found in seals:
        rows = f"rows {found.after_number + 1} to {found.last_number}"
        if found.present < found.row_count:
            problems.append(f"{found.row_count - found.present} of the {found.row_count} rows among {rows} are gone")
        elif found.present > found.row_count:
            problems.append(f"{found.present - found.row_count} rows among {rows} were put in later")
        elif found.recomputed != found.digest:
            problems.append(f"seal {found.number} does not fit {rows}: one of them, or the seal, was edited")
    return problems


async def export_pages(engine: Engine, caller: Caller) -> AsyncGenerator[list[dict[str, Any]]]:
    """The whole audit as JSON values, page by page: rows as `{"entry": {…}}` in order, then `{"seal": {…}}`s."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        after = 0
        while rows := await transaction.named("audit.page", tenant=caller.tenant, after=after, limit=MOST_LISTED):
            yield [{"entry": _plain(row)} for row in rows]
            after = rows[-1].number
        seals = await transaction.named("audit.seal_page", tenant=caller.tenant)
        yield [{"seal": _plain(row)} for row in seals]


def _plain(row: Any) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, UUID) else value.isoformat() if isinstance(value, datetime) else value
        for name, value in row._asdict().items()
    }
