"""The vector index comes in the background, when a scope has outgrown exact search."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np
import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput
from ebbtide.jobs.index import build_vector_index, enqueue_outgrown
from ebbtide.recall import search
from tests import stores
from tests.jobs.support import (
    Owner,
    ScriptedEmbedder,
    all_done,
    eventually,
    nearest,
    worker,
)

GROWN = stores.SETTINGS.model_copy(update={"exact_search_rows": 50})


@pytest.fixture
async def grown(dsn: str, clock: FixedClock, embedder: ScriptedEmbedder) -> AsyncGenerator[AsyncEbbtide]:
    """A store with a scope too large for exact search."""
    async with AsyncEbbtide.open(dsn, clock=clock, settings=GROWN, embedder=embedder) as handle:
        vectors = np.random.default_rng(7).standard_normal((500, stores.DIMENSION))
        await handle.remember_many(
            [{"content": f"Note {number}", "vector": vector} for number, vector in enumerate(vectors)]
        )
        yield handle


async def test_an_outgrown_scope_gets_its_index_in_the_background(grown: AsyncEbbtide) -> None:
    engine = await grown.engine()
    queries = np.random.default_rng(8).standard_normal((20, stores.DIMENSION))
    exact = [(await nearest(grown, "note", vector=query))[:10] for query in queries]
    await enqueue_outgrown(engine)
    await grown.recall("note")
    await enqueue_outgrown(engine)
    assert [job.task for job in await grown.jobs.list(everything=True)] == ["build_vector_index"]
    assert await grown.jobs.list() == []
    async with worker(grown):
        await eventually(lambda: all_done(grown))
    assert (await search(engine, grown.caller, "note")).route.way == "indexed"
    found = [(await nearest(grown, "note", vector=query))[:10] for query in queries]
    shared = [len(set(one) & set(other)) / 10 for one, other in zip(exact, found, strict=True)]
    assert sum(shared) / len(shared) >= 0.95


async def test_a_narrow_filter_in_an_indexed_scope_loses_nothing(
    dsn: str, clock: FixedClock, embedder: ScriptedEmbedder
) -> None:
    settings = GROWN.model_copy(update={"hnsw_scan_rows": 1, "hnsw_ef_search": 40})
    generator = np.random.default_rng(9)
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as handle:
        engine = await handle.engine()
        vectors = generator.standard_normal((3_000, stores.DIMENSION))
        await handle.remember_many(
            [
                {"content": f"Note {number}", "vector": vector, "tags": ["rare"] if number % 300 == 0 else []}
                for number, vector in enumerate(vectors)
            ]
        )
        async with engine.database.transaction("default") as transaction:
            partition = (await transaction.one("recall.partition", tenant="default"))[0]
        await build_vector_index(engine, partition=partition)
        found = await search(
            engine, handle.caller, "unheard", vector=generator.standard_normal(stores.DIMENSION), tags=["rare"]
        )
        assert found.route.way == "indexed"
        assert len(found.selection.kept) == 10


async def test_what_a_killed_build_left_is_replaced(grown: AsyncEbbtide, owner: Owner) -> None:
    engine = await grown.engine()
    async with engine.database.transaction("default") as transaction:
        partition = (await transaction.one("recall.partition", tenant="default"))[0]
    await build_vector_index(engine, partition=partition)
    owner.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [f"{partition}_vectors"])
    assert (await search(engine, grown.caller, "note")).route.way == "exact"
    await build_vector_index(engine, partition=partition)
    assert (await search(engine, grown.caller, "note")).route.way == "indexed"
    with pytest.raises(InvalidInput):
        await build_vector_index(engine, partition="memory")
