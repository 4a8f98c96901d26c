"""Workers: each job once, tried again when it fails, taken up when its worker is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import ebbtide
from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.db.queue import enqueue
from ebbtide.engine import Engine
from ebbtide.errors import Conflict, ModelUnavailable
from ebbtide.jobs.worker import TASKS, Task
from ebbtide.remember import remember_many
from ebbtide.types.caller import Caller
from ebbtide.write.fence import read_session_revision
from tests import stores
from tests.jobs.support import (
    PATIENCE_SECONDS,
    Owner,
    ScriptedEmbedder,
    all_done,
    eventually,
    has_failed,
    has_run,
    is_running,
    never,
    remember_pending,
    statuses,
    worker,
)

KILLED = """
import asyncio, sys
from ebbtide import AsyncEbbtide
from ebbtide.jobs import Pace, run_worker
from ebbtide.models.fake import FakeEmbedder
from ebbtide.settings import Settings

class Stuck(FakeEmbedder):
    async def embed(self, texts):
        print("running", flush=True)
        await asyncio.sleep(1000)

async def main():
    settings = Settings(in_process_worker=False)
    async with AsyncEbbtide.open(sys.argv[1], settings=settings, embedder=Stuck(384)) as handle:
        await run_worker(await handle.engine(), pace=Pace(heartbeat=0.2, stalled=1.0), install_signal_handlers=True)

asyncio.run(main())
print("ended")
"""


@asynccontextmanager
async def stuck_worker(dsn: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker in a process of its own, in the middle of a job that never ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        KILLED,
        dsn,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.fspath(Path(ebbtide.__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS) == b"running\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_failing_job_is_tried_again(async_memory: AsyncEbbtide, embedder: ScriptedEmbedder) -> None:
    id_ = await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    embedder.failures, embedder.calls = 2, 0
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
    job = next(job for job in await async_memory.jobs.list() if job.task == "embed_pending")
    assert (job.status, job.attempts, embedder.calls) == ("succeeded", 3, 3)
    assert not (await async_memory.get(id_)).embedding_pending


async def test_a_job_that_fails_for_good_is_told_of_and_can_be_tried_again(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "My safe opens with 4711."
    id_ = await remember_pending(async_memory, embedder, secret)
    embedder.failures, embedder.error = 1_000, ValueError(f"cannot embed {secret}")
    async with worker(async_memory):
        await eventually(lambda: has_failed(async_memory))
        [job] = await async_memory.jobs.list("failed")
        assert (job.task, job.tenant, job.attempts) == ("embed_pending", "default", 6)
        assert (job.error, job.failed_at) == ("ValueError", clock.now())
        assert secret not in caplog.text
        embedder.failures = 0
        await async_memory.jobs.retry(job.id)
        await eventually(lambda: all_done(async_memory))
    assert await async_memory.jobs.list("failed") == []
    assert not (await async_memory.get(id_)).embedding_pending


async def test_a_job_whose_session_moved_on_is_refused_visibly_and_once(
    async_memory: AsyncEbbtide, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = async_memory.scoped(session="s")
    told = (await session.remember("The safe opens with 4471.")).memory
    assert told is not None
    runs: list[int] = []

    async def summarise(engine: Engine, *, tenant: str, session: str, session_revision: int) -> None:
        runs.append(session_revision)
        caller = Caller(tenant, "default", session=session)
        await remember_many(engine, caller, ["A safe's code was told."], session_revision=session_revision)

    monkeypatch.setitem(TASKS, "summarise", Task(summarise))
    engine = await async_memory.engine()
    for late in (False, True):
        async with engine.database.transaction("default") as transaction:
            captured = await read_session_revision(transaction, session.caller)
            await enqueue(transaction.connection, "summarise", tenant="default", session="s", session_revision=captured)
        if late:
            await session.forget(told.id, 1)
        async with worker(async_memory):
            await eventually(lambda: all_done(async_memory))
    assert sorted(await statuses(async_memory, "summarise")) == ["failed", "succeeded"]
    [job] = await async_memory.jobs.list("failed")
    assert job.attempts == 1
    assert job.error is not None
    assert job.error.startswith("StaleRevision: The session is at revision 2, not 1")
    assert runs == [1, 1]


async def test_a_job_that_fails_while_another_waits_makes_way_for_it(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember_pending(async_memory, embedder, "The first.")
    embed = embedder.embed

    async def fail_after_another_write(texts: Sequence[str]) -> NDArray[np.float32]:
        monkeypatch.setattr(embedder, "embed", embed)
        await remember_pending(async_memory, embedder, "The second.")
        raise ModelUnavailable("The endpoint is down.")

    monkeypatch.setattr(embedder, "embed", fail_after_another_write)
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
    assert sorted(await statuses(async_memory, "embed_pending")) == ["aborted", "succeeded"]
    assert not any(memory.embedding_pending for memory in await async_memory.browse())


async def test_a_running_job_is_cancelled(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    monkeypatch.setattr(embedder, "embed", never)
    async with worker(async_memory):
        await eventually(lambda: is_running(async_memory, "embed_pending"))
        [job] = await async_memory.jobs.list("doing")
        with pytest.raises(Conflict):
            await async_memory.jobs.retry(job.id)
        await async_memory.jobs.cancel(job.id)
        await eventually(lambda: all_done(async_memory))
    assert (await async_memory.jobs.list("aborted"))[0].id == job.id


async def test_a_worker_that_stops_leaves_its_job_to_the_next(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed", never)
        async with worker(async_memory):
            await eventually(lambda: is_running(async_memory, "embed_pending"))
            started = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - started < 3
    assert await statuses(async_memory, "embed_pending") == ["todo"]
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
    assert not (await async_memory.get(id_)).embedding_pending


async def test_a_worker_survives_the_loss_of_its_connections(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, owner: Owner
) -> None:
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
        owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ebbtide worker'"
        )
        id_ = await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
        await eventually(lambda: all_done(async_memory))
    assert not (await async_memory.get(id_)).embedding_pending


async def test_a_schedule_runs_once_however_many_workers_there_are(async_memory: AsyncEbbtide) -> None:
    await async_memory.remember("So that there is a tenant.")
    async with worker(async_memory), worker(async_memory), worker(async_memory):
        await eventually(lambda: has_run(async_memory, "tidy_tenant"))
        await eventually(lambda: all_done(async_memory))
    assert await statuses(async_memory, "tidy") == ["succeeded"]
    assert await statuses(async_memory, "tidy_tenant") == ["succeeded"]


async def test_the_job_of_a_killed_worker_is_taken_up_once(
    dsn: str, async_memory: AsyncEbbtide, embedder: ScriptedEmbedder
) -> None:
    id_ = await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    embedder.calls = 0
    async with stuck_worker(dsn) as process:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        assert await is_running(async_memory, "embed_pending")
        async with worker(async_memory), worker(async_memory):
            await eventually(lambda: all_done(async_memory))
    [job] = [job for job in await async_memory.jobs.list() if job.task == "embed_pending"]
    assert (job.status, job.attempts, embedder.calls) == ("succeeded", 2, 1)
    assert job.error == "Its worker ended in the middle."
    assert not (await async_memory.get(id_)).embedding_pending


async def test_a_worker_told_to_end_does_so_in_order(
    dsn: str, async_memory: AsyncEbbtide, embedder: ScriptedEmbedder
) -> None:
    await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    async with stuck_worker(dsn) as process:
        process.send_signal(signal.SIGTERM)
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
        assert (process.returncode, output) == (0, b"ended\n")
    assert await statuses(async_memory, "embed_pending") == ["todo"]


async def test_an_open_store_runs_its_jobs_itself(
    dsn: str, clock: FixedClock, embedder: ScriptedEmbedder, owner: Owner
) -> None:
    settings = stores.SETTINGS.model_copy(update={"in_process_worker": True})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as handle:
        id_ = await remember_pending(handle, embedder, "The harbour closes at dusk.")
        await eventually(lambda: has_run(handle, "embed_pending"))
        assert not (await handle.get(id_)).embedding_pending
        started = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started < 3
    assert owner.execute("SELECT count(*) FROM procrastinate_workers").fetchone() == (0,)
