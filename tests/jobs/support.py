"""What the tests of jobs share: an embedder that fails, a worker, and patience."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from ebbtide import AsyncEbbtide
from ebbtide.errors import ModelUnavailable
from ebbtide.jobs import Pace, run_worker
from ebbtide.models.fake import FakeEmbedder
from ebbtide.recall import search
from tests import stores

QUICK = Pace(poll=0.05, heartbeat=0.2, stalled=1.0, grace=0.3, first_retry=0.02, restart=0.1)
PATIENCE_SECONDS = 30.0


Owner = psycopg.Connection[Any]


class ScriptedEmbedder(FakeEmbedder):
    """Fails as often as it is told to, with an error that quotes what it was given."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__(stores.DIMENSION)
        self.failures = failures
        self.calls = 0
        self.error: Exception = ModelUnavailable("The endpoint is down.", remedy="Start it.")

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        if self.failures > 0:
            self.failures -= 1
            raise self.error
        return await super().embed(texts)


async def never(texts: Sequence[str]) -> NDArray[np.float32]:
    """An embedding that takes for ever."""
    await asyncio.sleep(1_000)
    raise AssertionError(texts)


@asynccontextmanager
async def worker(handle: AsyncEbbtide, pace: Pace = QUICK) -> AsyncGenerator[None]:
    """A worker on the handle's engine until the end of the block."""
    working = asyncio.create_task(run_worker(await handle.engine(), pace=pace))
    try:
        yield
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await condition():  # noqa: ASYNC110 - the database tells of nothing
            await asyncio.sleep(0.02)


async def statuses(handle: AsyncEbbtide, task: str) -> list[str]:
    return [job.status for job in await handle.jobs.list(everything=True, limit=1_000) if job.task == task]


async def all_done(handle: AsyncEbbtide) -> bool:
    return not {job.status for job in await handle.jobs.list(everything=True, limit=1_000)} & {"todo", "doing"}


async def is_running(handle: AsyncEbbtide, task: str) -> bool:
    return "doing" in await statuses(handle, task)


async def has_run(handle: AsyncEbbtide, task: str) -> bool:
    return "succeeded" in await statuses(handle, task)


async def has_failed(handle: AsyncEbbtide) -> bool:
    return bool(await handle.jobs.list("failed"))


async def remember_pending(handle: AsyncEbbtide, embedder: ScriptedEmbedder, content: str, **fields: Any) -> Any:
    """Remember a text while the embedder fails."""
    embedder.failures = 1
    remembered = await handle.remember(content, allow_pending=True, **fields)
    embedder.failures = 0
    assert remembered.memory.embedding_pending
    return remembered.memory.id


async def nearest(handle: AsyncEbbtide, query: str, **asked: Any) -> list[Any]:
    """The ids of the best by vector alone."""
    searched = await search(await handle.engine(), handle.caller, query, **asked)
    candidates = searched.found.candidates
    order = sorted(range(len(candidates.ids)), key=lambda place: -candidates.similarity[place])
    return [candidates.ids[place] for place in order if not np.isnan(candidates.similarity[place])]
