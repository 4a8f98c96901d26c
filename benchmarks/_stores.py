"""Stores to measure on, built once and kept in the system's folder for temporary files."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks import _demo
from benchmarks._synthetic import DIMENSION, World
from ebbtide import AsyncEbbtide, Draft, Settings
from ebbtide.db.statements import schema_text
from ebbtide.jobs.index import build_vector_index
from ebbtide.models.fake import FakeEmbedder

# What is written in the background is put off, so that one connection does all the work that is measured.
SETTINGS = Settings.from_environment({}, in_process_worker=False, scope_cache_seconds=3_600, flush_seconds=60)
SMALL, LARGE = 600, 100_000


def folder() -> Path:
    """Where the stores are: `EBBTIDE_BENCHMARK_FOLDER`, or a folder among the temporary files."""
    root = Path(os.environ.get("EBBTIDE_BENCHMARK_FOLDER") or Path(tempfile.gettempdir()) / "ebbtide-benchmarks")
    version = hashlib.sha256(schema_text().encode()).hexdigest()[:12]
    return root / version


@asynccontextmanager
async def synthetic(memories: int, **settings: Any) -> AsyncGenerator[AsyncEbbtide]:
    """A handle on a store of that many made-up memories in one scope; a large one has its vector index."""
    location = folder() / f"{memories}"
    built = location.with_suffix(".built")
    embedder = FakeEmbedder(DIMENSION)
    chosen = SETTINGS.model_copy(update=settings)
    async with AsyncEbbtide.open(location, embedder=embedder, settings=chosen) as handle:
        if not built.exists():
            await fill(handle, memories)
            built.touch()
        yield handle


@asynccontextmanager
async def told() -> AsyncGenerator[AsyncEbbtide]:
    """A handle on a store of the demo's memories and their sentences, embedded by the local model: 600 in all."""
    location = folder() / "told"
    built = location.with_suffix(".built")
    async with AsyncEbbtide.open(location, embedder="local", settings=SETTINGS) as handle:
        if not built.exists():
            await handle.remember_many(_demo.texts()[:SMALL])
            built.touch()
        yield handle


async def fill(handle: AsyncEbbtide, memories: int) -> None:
    """Remember the conversations, and build the vector index where the scope is too large for exact search."""
    print(f"building a store of {memories:,} memories, once ...", flush=True)
    started = time.perf_counter()
    for number, turns in enumerate(World().chats(memories)):
        drafts = [
            Draft.model_construct(
                content=turn.text, kind="message", speaker=turn.speaker, seq=turn.sequence, vector=turn.vector
            )
            for turn in turns
        ]
        await handle.scoped(chat=f"chat-{number}").remember_many(drafts)
    engine = await handle.engine()
    if memories > engine.settings.exact_search_rows:
        await build_vector_index(engine, partition=await partition_of(handle))
    async with engine.database.connection() as connection:
        await connection.execute("RESET ROLE")
        await connection.execute("VACUUM ANALYZE ebbtide.memory")
        await connection.execute("SET ROLE ebbtide_app")
    print(f"built in {time.perf_counter() - started:.0f} s", flush=True)


async def partition_of(handle: AsyncEbbtide) -> str:
    """The partition that holds the handle's tenant."""
    engine = await handle.engine()
    async with engine.database.transaction(handle.caller.tenant, snapshot=True) as transaction:
        found = await transaction.one("recall.partition", tenant=handle.caller.tenant)
    return found[0].rsplit(".", 1)[-1]
