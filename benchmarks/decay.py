"""How long a night takes for a million forgetting curves, and how long recalls take meanwhile."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from statistics import median, quantiles

from psycopg import AsyncConnection

from benchmarks import _stores as stores
from benchmarks._measure import Figure, show
from benchmarks._synthetic import DIMENSION, World
from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock, SystemClock
from ebbtide.db.owner import owner_connection
from ebbtide.forget.decay import decay, soft_delete
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.reinforce import flush

ASKED = 40
PAUSE_SECONDS = 0.02
RECALLED = 600

# Memories of other agents beside those that are asked for, so that a recall costs what it does in a small scope. One in
# twenty was not used for more than a year.
MEMORIES = """
INSERT INTO ebbtide.memory (
    tenant_id, id, agent_id, namespace, kind, content, content_hash, search, importance, confidence, status, maturity,
    revision, created_at, updated_at, current_since)
SELECT %(tenant)s, gen_random_uuid(), 'agent-' || n %% 1000, 'vector.global.memory', 'fact', 'memory ' || n,
       decode(md5(n::text), 'hex'), to_tsvector('simple', 'memory ' || n), 0.5, 0.7, 'active', 'unconfirmed', 1,
       made, made, made
FROM generate_series(1, %(memories)s) n
CROSS JOIN LATERAL (SELECT %(now)s::timestamptz - (n %% 20 = 0)::integer * interval '400 days' AS made) t
"""
STRENGTHS = """
INSERT INTO ebbtide.strength (tenant_id, memory_id, access_count, last_accessed_at, decayed_at)
SELECT m.tenant_id, m.id, 1, m.created_at, m.created_at FROM ebbtide.memory m
WHERE m.tenant_id = %(tenant)s AND m.agent_id LIKE 'agent-%%'
ON CONFLICT DO NOTHING
"""


async def seconds(call: Awaitable[object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    await call
    return time.perf_counter() - started


async def loaded(handle: AsyncEbbtide, statement: str, **values: object) -> float:
    """Run a statement of the benchmark's own as the owner; answers with its wall time in seconds."""
    engine = await handle.engine()
    async with owner_connection(engine.database, {}) as connection:
        return await seconds(_executed(connection, statement, {"tenant": handle.caller.tenant, **values}))


async def _executed(connection: AsyncConnection[object], statement: str, values: dict[str, object]) -> None:
    await connection.execute("SELECT set_config('ebbtide.tenant', %(tenant)s, false)", values)
    await connection.execute(statement.encode(), values)


async def recalls(handle: AsyncEbbtide, until: Callable[[], bool]) -> list[float]:
    """Milliseconds of one recall after the other, each with the writing of its accesses, until told to end."""
    engine = await handle.engine()
    questions = World().questions(ASKED, seed=11)
    spent: list[float] = []
    while not until() or len(spent) < ASKED:
        text, vector = questions[len(spent) % ASKED]
        spent.append(await seconds(handle.recall(text, vector=vector)) * 1_000)
        await flush(engine)
        await asyncio.sleep(PAUSE_SECONDS)
    return spent


async def beside(handle: AsyncEbbtide, work: Awaitable[object]) -> tuple[float, list[float]]:
    """Seconds that a piece of work takes, and the recalls meanwhile."""
    task = asyncio.ensure_future(seconds(work))
    spent = await recalls(handle, task.done)
    return await task, spent


def latencies(spent: list[float], when: str) -> list[Figure]:
    """The median and the slowest of recalls."""
    return [
        Figure(f"    recall {when}, median", median(spent), "ms"),
        Figure(f"    recall {when}, 95 of 100 within", quantiles(spent, n=20)[-1], "ms"),
    ]


async def measure(handle: AsyncEbbtide, memories: int, clock: FixedClock) -> list[Figure]:
    """The figures of one store with that many memories, all of them with a curve that was written down."""
    engine = await handle.engine()
    tenant = handle.caller.tenant
    await stores.fill(handle, RECALLED)
    await loaded(handle, MEMORIES, memories=memories, now=clock.now())
    inserting = await loaded(handle, STRENGTHS)
    await loaded(handle, "ANALYZE ebbtide.memory, ebbtide.strength")
    alone = await recalls(handle, lambda: True)
    clock.advance(timedelta(days=3))
    night, during = await beside(handle, decay(engine, tenant))
    again = await seconds(decay(engine, tenant))
    await handle.forgetting.enable()
    fading, deleting = await beside(handle, soft_delete(engine, tenant))
    return [
        Figure(f"a night of {memories:,} curves", night, "s", 60.0),
        *latencies(during, "meanwhile"),
        *latencies(alone, "at rest"),
        Figure("a second run on the same day", again, "s"),
        Figure(f"finding and deleting softly the {memories // 20:,} of them that have faded", fading, "s"),
        *latencies(deleting, "meanwhile"),
        Figure("looking once more", await seconds(soft_delete(engine, tenant)), "s"),
        Figure(f"inserting a row for each of {memories:,} curves instead", inserting, "s"),
    ]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1_000_000)
    given = parser.parse_args()
    clock = FixedClock(SystemClock().now())
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as location:
        settings = stores.SETTINGS.model_copy(update={"statement_timeout_seconds": 3_600.0})
        embedder = FakeEmbedder(DIMENSION)
        async with AsyncEbbtide.open(location, embedder=embedder, settings=settings, clock=clock) as handle:
            figures = await measure(handle, given.memories, clock)
    show("Nights", figures)


if __name__ == "__main__":
    asyncio.run(main())
