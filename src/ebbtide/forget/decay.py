"""Every night: curves decay, and where a tenant wants it, what has faded is deleted softly."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.forget.holds import held_among
from ebbtide.forget.tombstone import lock
from ebbtide.govern.audit import UPKEEP
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.rules import current_rules
from ebbtide.types.caller import Caller
from ebbtide.write.context import refresh_around

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.engine import Engine
    from ebbtide.settings import Settings

__all__ = ["FADING_KINDS", "IMPORTANT", "NIGHT", "decay", "fading_limits", "fading_page", "next_night", "soft_delete"]

FADING_KINDS = ("fact", "message", "note", "learning", "episode")
"""The kinds of memory that may fade."""

IMPORTANT = 0.8
"""Memories of at least this importance never fade."""

NIGHT = time(3, 37, tzinfo=UTC)
"""When it happens."""

# So many curves decay in a tenth of a second, the longest that the writing of an access waits.
CURVES_A_BATCH = 5_000
MEMORIES_A_BATCH = 500
FIRST = UUID(int=0)


async def decay(engine: Engine, tenant: str) -> int:
    """Write down what whole days took from the tenant's curves, in short transactions; answers with how many changed.

    Once after n missed days is as good as n times, and a second run on the same day changes nothing. Recalls never
    wait for it, nor does it for anyone: a curve that is just being written decays the next time.

    This writes down what reading adds anyway: what any number of whole days takes is known in advance, so a memory is
    worth the same at every moment whether the job ran or not. One that was never accessed has no row, and gets none
    here: reading takes the defaults and the days since its creation, while a row for each of a million memories took
    twice as long to insert as all of them take to decay (`benchmarks/decay.py`).
    """
    now, after, changed = engine.clock.now(), FIRST, 0
    while True:
        async with engine.database.transaction(tenant, durable=False, upkeep=True) as transaction:
            looked, decayed, last = await transaction.one(
                "fade.decay", tenant=tenant, now=now, after=after, limit=CURVES_A_BATCH
            )
        changed += decayed
        if looked < CURVES_A_BATCH:
            return changed
        after = last


def next_night(now: datetime) -> datetime:
    """When it happens next, later than `now`."""
    tonight = datetime.combine(now.astimezone(UTC), NIGHT)
    return tonight if tonight > now else tonight + timedelta(days=1)


def fading_limits(settings: Settings) -> dict[str, Any]:
    """The values of the placeholders that say what has faded."""
    return {
        "kinds": list(FADING_KINDS),
        "important": IMPORTANT,
        "confidence": settings.soft_delete_confidence,
        "idle_days": settings.soft_delete_idle_days,
        "longest_days": settings.soft_delete_after_days,
    }


async def fading_page(engine: Engine, tenant: str, after: UUID, now: datetime) -> Sequence[Any]:
    """The next five hundred memories that have faded, holds aside, in the order of their ids."""
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        return await transaction.named(
            "fade.fading",
            tenant=tenant,
            now=now,
            after=after,
            limit=MEMORIES_A_BATCH,
            **fading_limits(engine.settings),
        )


async def soft_delete(engine: Engine, tenant: str) -> int:
    """Delete softly what has faded, where the tenant's memories may; answers with how many did.

    They are out of every search and can be read by their ids, exported, restored and forgotten; a query for their
    words brings them back to life. Each keeps its last image, and the audit has its change of status.
    """
    if not (await current_rules(engine, tenant)).forgetting:
        return 0
    now, after, deleted = engine.clock.now(), FIRST, 0
    while page := await fading_page(engine, tenant, after, now):
        deleted += await _delete_among(engine, tenant, [row.id for row in page], now)
        after = page[-1].id
    if deleted:
        engine.scopes.forget(tenant)
    return deleted


async def _delete_among(engine: Engine, tenant: str, ids: Sequence[UUID], now: datetime) -> int:
    """Delete softly those of the memories that have faded still and that no hold covers."""
    async with engine.database.transaction(tenant) as transaction:
        await lock(transaction, tenant)
        held = await held_among(transaction, tenant, ids, now)
        rows = await transaction.named(
            "fade.fading_among",
            tenant=tenant,
            now=now,
            ids=[id_ for id_ in ids if id_ not in held],
            **fading_limits(engine.settings),
        )
        going = [row.id for row in rows]
        await transaction.run("remember.keep_version", tenant=tenant, ids=going, now=now)
        await transaction.run("fade.soft_delete", tenant=tenant, ids=going, now=now)
        await refresh_around(transaction, tenant, going)
        entries = [
            (
                row.id,
                {
                    "operation": "fade",
                    "from": row.maturity,
                    "to": "deleted",
                    "idle_days": round(row.idle_days, 1),
                    "effective_confidence": round(row.effective_confidence, 4),
                    "revision": row.revision + 1,
                },
            )
            for row in rows
        ]
        await write_audit(transaction, Caller(tenant, UPKEEP), "status", entries, now)
    return len(going)
