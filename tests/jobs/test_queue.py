"""Jobs are part of the transaction that asks for them, and can be seen, tried again and cancelled."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.db.queue import enqueue, lock_of
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.jobs.embedding import resume_embedding
from ebbtide.jobs.upkeep import tidy, tidy_tenant
from tests.jobs.support import (
    Owner,
    ScriptedEmbedder,
    all_done,
    eventually,
    is_running,
    remember_pending,
    worker,
)


async def test_a_rolled_back_transaction_leaves_no_job(async_memory: AsyncEbbtide) -> None:
    engine = await async_memory.engine()

    async def enqueue_and_fail() -> None:
        async with engine.database.transaction("default") as transaction:
            assert await enqueue(transaction.connection, "tidy_tenant", queueing_lock="t", tenant="default")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await enqueue_and_fail()
    assert await async_memory.jobs.list() == []


async def test_the_second_job_under_a_lock_is_not_added_and_undoes_nothing(async_memory: AsyncEbbtide) -> None:
    engine = await async_memory.engine()
    async with engine.database.transaction("default") as transaction:
        assert await enqueue(transaction.connection, "tidy_tenant", queueing_lock="t", tenant="default")
        assert not await enqueue(transaction.connection, "tidy_tenant", queueing_lock="t", tenant="default")
        assert await enqueue(transaction.connection, "tidy_tenant", queueing_lock="u", tenant="other")
    assert len(await async_memory.jobs.list(everything=True)) == 2
    assert [job.tenant for job in await async_memory.jobs.list()] == ["default"]


async def test_the_application_role_cannot_read_or_change_jobs(dsn: str, application: Owner) -> None:
    for statement in (
        "SELECT args FROM procrastinate_jobs",
        "UPDATE procrastinate_jobs SET status = 'todo'",
        "DELETE FROM procrastinate_jobs",
        "SELECT * FROM job_failure",
        "INSERT INTO job_failure VALUES (1, '', '2026-01-01')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute(statement)


async def test_a_job_sees_what_a_transaction_wrote_that_leaned_on_it(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder
) -> None:
    engine = await async_memory.engine()
    await remember_pending(async_memory, embedder, "The first.")
    late = await async_memory.remember("The second.", vector=(await embedder.embed(["x"]))[0])
    async with engine.database.transaction("default") as transaction:
        await transaction.connection.execute(
            "UPDATE memory SET embedding = NULL, embedding_pending = true WHERE tenant_id = 'default' AND id = %s",
            [late.memory.id],
        )
        lock = lock_of("embed_pending", "default")
        assert not await enqueue(transaction.connection, "embed_pending", queueing_lock=lock, tenant="default")
        async with worker(async_memory):
            await eventually(lambda: is_running(async_memory, "embed_pending"))
            await asyncio.sleep(0.2)
            await transaction.connection.execute("COMMIT")
            await eventually(lambda: all_done(async_memory))
            await transaction.connection.execute("BEGIN")
    assert not (await async_memory.get(late.memory.id)).embedding_pending


async def test_jobs_are_cancelled_and_their_ends_respected(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder
) -> None:
    await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    [job] = await async_memory.jobs.list("todo")
    other = async_memory.scoped(tenant="other")
    for attempt in (other.jobs.cancel(job.id), other.jobs.retry(job.id), async_memory.jobs.cancel(job.id + 1)):
        with pytest.raises(NotFound):
            await attempt
    await async_memory.jobs.cancel(job.id)
    with pytest.raises(Conflict):
        await async_memory.jobs.cancel(job.id)
    await async_memory.jobs.retry(job.id)
    assert [job.status for job in await async_memory.jobs.list()] == ["todo"]
    await async_memory.jobs.cancel(job.id)
    await remember_pending(async_memory, embedder, "Another one.")
    with pytest.raises(Conflict):
        await async_memory.jobs.retry(job.id)


async def test_listing_refuses_what_does_not_exist(async_memory: AsyncEbbtide) -> None:
    asked: Any
    for asked in ({"status": "sleeping"}, {"limit": 0}, {"limit": 1_001}, {"limit": True}):
        with pytest.raises(InvalidInput):
            await async_memory.jobs.list(**asked)


async def test_tidying_removes_what_was_kept_long_enough(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    engine = await async_memory.engine()
    await async_memory.remember("Once.", idempotency_key="k")
    clock.advance(timedelta(days=6))
    await async_memory.remember("Twice.", idempotency_key="l")
    clock.advance(timedelta(days=2))
    await tidy_tenant(engine, tenant="default")
    assert owner.execute("SELECT key FROM idempotency").fetchall() == [("l",)]
    # The queue keeps the server's time, which is later than the clock of this test.
    clock.advance(timedelta(days=10_000))
    await tidy(engine)
    [job] = await async_memory.jobs.list("todo")
    await async_memory.jobs.cancel(job.id)
    owner.execute("INSERT INTO job_failure VALUES (%s, 'known', '2026-01-01'), (0, 'lost', '2026-01-01')", [job.id])
    await tidy(engine)
    assert [kept.id for kept in await async_memory.jobs.list()] == [job.id + 1]
    assert owner.execute("SELECT error FROM job_failure").fetchall() == []


async def test_every_tenant_is_known_once(async_memory: AsyncEbbtide, embedder: ScriptedEmbedder) -> None:
    engine = await async_memory.engine()
    for tenant in ("b", "a", "b"):
        await remember_pending(async_memory.scoped(tenant=tenant), embedder, f"Of {tenant}")
    for job in await async_memory.jobs.list("todo", everything=True):
        await async_memory.jobs.cancel(job.id, everything=True)
    await resume_embedding(engine)
    assert [job.tenant for job in await async_memory.jobs.list("todo", everything=True)] == ["b", "a"]


def test_the_blocking_handle_has_the_same_verbs(memory: Ebbtide, embedder: ScriptedEmbedder) -> None:
    embedder.failures = 1
    memory.remember("The harbour closes at dusk.", allow_pending=True)
    [job] = memory.jobs.list()
    memory.jobs.cancel(job.id)
    memory.jobs.retry(job.id)
    assert [found.id for found in memory.jobs.list("todo")] == [job.id]
