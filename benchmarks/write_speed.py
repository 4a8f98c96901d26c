"""How many memories a second go in: with vectors given, with a vector index too, and through the local embedder."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from statistics import median

from benchmarks import _demo
from benchmarks import _stores as stores
from benchmarks._measure import Figure, show
from benchmarks._synthetic import DIMENSION, World
from ebbtide import AsyncEbbtide, Draft
from ebbtide.jobs.index import build_vector_index
from ebbtide.models.fake import FakeEmbedder

BATCH = 1_000
EMBEDDED_BATCH = 100


def drafts(world: World, count: int) -> list[Draft]:
    """Memories with their vectors, as conversations say them, outside of any."""
    turns = [turn for chat in world.chats(count) for turn in chat]
    return [Draft.model_construct(content=turn.text, vector=turn.vector) for turn in turns]


async def rate(handle: AsyncEbbtide, world: World, batches: int) -> float:
    """Memories a second, at the median of so many batches of a thousand."""
    rates: list[float] = []
    for _ in range(batches):
        batch = drafts(world, BATCH)
        started = time.perf_counter()
        await handle.remember_many(batch)
        rates.append(BATCH / (time.perf_counter() - started))
    return median(rates)


async def given_vectors(location: str, present: int, batches: int) -> list[Figure]:
    """The rates into a partition of so many memories, before its vector index is there and after."""
    world = World(seed=3)
    async with AsyncEbbtide.open(location, embedder=FakeEmbedder(DIMENSION), settings=stores.SETTINGS) as handle:
        await handle.remember_many(drafts(world, BATCH))
        without = await rate(handle, world, batches)
        for _ in range(max(0, present // BATCH - batches - 1)):
            await handle.remember_many(drafts(world, BATCH))
        await build_vector_index(await handle.engine(), partition=await stores.partition_of(handle))
        indexed = await rate(handle, world, max(2, batches // 2))
    return [
        Figure("remember_many, vectors given, no vector index", without, "/s", 3_000, higher=True),
        Figure(f"    with a vector index over {present:,} memories", indexed, "/s", 300, higher=True),
    ]


async def embedded(location: str, rounds: int) -> list[Figure]:
    """The rate through the local embedder beside the embedder's own, on the same texts, interleaved."""
    texts = _demo.texts()
    ratios: list[float] = []
    rates: list[float] = []
    async with AsyncEbbtide.open(location, embedder="local", settings=stores.SETTINGS) as handle:
        embedder = (await handle.engine()).embedder
        assert embedder is not None
        await embedder.embed(texts[:8])
        for number in range(rounds):
            batch = texts[number * EMBEDDED_BATCH :][:EMBEDDED_BATCH]
            started = time.perf_counter()
            await embedder.embed(batch)
            embedding = time.perf_counter() - started
            started = time.perf_counter()
            await handle.remember_many(batch)
            remembering = time.perf_counter() - started
            rates.append(len(batch) / remembering)
            ratios.append(embedding / remembering)
    return [
        Figure("remember_many through the local embedder", median(rates), "/s"),
        Figure("    as a share of the embedder's own rate", median(ratios), "×", 0.85, higher=True),
    ]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="a vector index over 50,000 memories instead of 10,000")
    full = parser.parse_args().full
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as folder:
        figures = await given_vectors(f"{folder}/given", 50_000 if full else 10_000, 6)
        figures += await embedded(f"{folder}/embedded", 5)
    show("Writing", figures)


if __name__ == "__main__":
    asyncio.run(main())
