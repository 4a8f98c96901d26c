"""The processor time of a recall in a small scope and in a large one, and what the vector index costs in recall."""

from __future__ import annotations

import argparse
import asyncio
import time
from statistics import median

from benchmarks import _demo
from benchmarks import _stores as stores
from benchmarks._measure import Figure, Processor, cost_of, show
from benchmarks._synthetic import World
from ebbtide import AsyncEbbtide
from ebbtide.evaluate.baselines import VECTOR

WARM_UP = 30
TARGETS = {stores.SMALL: 2.5, stores.LARGE: 11.0}
QUESTION_SEED = 11


async def recall_cost(memories: int, questions: int) -> list[Figure]:
    """The processor time of recalls whose vectors are given, in a scope of so many made-up memories."""
    async with stores.synthetic(memories) as handle:
        asked = World().questions(WARM_UP + questions, seed=QUESTION_SEED)
        for text, vector in asked[:WARM_UP]:
            await handle.recall(text, vector=vector)
        processor = await Processor.of(handle)
        cost = await cost_of(
            [lambda text=text, vector=vector: handle.recall(text, vector=vector) for text, vector in asked[WARM_UP:]],
            processor,
            rounds=3,
        )
    name = f"recall without embedding, {memories:,} memories"
    return [
        Figure(f"{name}: CPU, best of three rounds", cost.both, "ms", TARGETS.get(memories)),
        Figure("    of it in the client", cost.client, "ms"),
        Figure("    of it in the server", cost.server, "ms"),
        Figure("    wall time", cost.wall, "ms"),
    ]


async def index_recall(memories: int, questions: int) -> Figure:
    """The share of the ten nearest memories that the vector arm finds through its index."""
    asked = World().questions(questions, seed=QUESTION_SEED + 1)
    async with stores.synthetic(memories) as handle:
        approximate = [await nearest(handle, text, vector) for text, vector in asked]
    async with stores.synthetic(memories, exact_search_rows=10**9) as handle:
        exact = [await nearest(handle, text, vector) for text, vector in asked]
    shares = [len(found & wanted) / len(wanted) for found, wanted in zip(approximate, exact, strict=True)]
    return Figure(f"vector arm, {memories:,} memories: recall@10", sum(shares) / len(shares), "", 0.95, higher=True)


async def nearest(handle: AsyncEbbtide, text: str, vector: object) -> set[object]:
    """The ten memories nearest to a vector."""
    return {hit.id for hit in await handle.recall(text, vector=vector, profile=VECTOR, limit=10)}


async def whole_recall(questions: int) -> list[Figure]:
    """Recalls with the local embedder beside the embedder alone, interleaved, by wall time."""
    async with stores.told() as handle:
        engine = await handle.engine()
        embedder = engine.embedder
        assert embedder is not None
        asked = _demo.questions(questions)
        await handle.recall(asked[0])
        whole: list[float] = []
        alone: list[float] = []
        for question in asked:
            started = time.perf_counter()
            await embedder.embed([question])
            embedded = time.perf_counter()
            await handle.recall(question)
            whole.append((time.perf_counter() - embedded) * 1_000)
            alone.append((embedded - started) * 1_000)
    times = median(whole) / median(alone)
    return [
        Figure(f"whole recall, {stores.SMALL:,} memories: wall time", median(whole), "ms"),
        Figure("    of the embedder alone", median(alone), "ms"),
        Figure("    as a multiple of the embedder's", times, "×", 2.0),
    ]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="also in a scope of 100,000 memories, built once in minutes"
    )
    full = parser.parse_args().full
    figures = await recall_cost(stores.SMALL, 300)
    figures += await whole_recall(150)
    if full:
        figures += await recall_cost(stores.LARGE, 300)
        figures.append(await index_recall(stores.LARGE, 100))
    show("Recall", figures)


if __name__ == "__main__":
    asyncio.run(main())
