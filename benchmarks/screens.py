"""What the screens of a write cost: near duplicates, conflicts and personal data; and personal data on a read."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from statistics import median
from uuid import UUID

from benchmarks import _stores as stores
from benchmarks._measure import Figure, show
from benchmarks._synthetic import DIMENSION, World
from ebbtide import AsyncEbbtide, Draft
from ebbtide.govern.personal import holds_personal_data
from ebbtide.govern.rules import RuleBook
from ebbtide.models.fake import FakeEmbedder
from ebbtide.rank.presets import PRESETS
from ebbtide.read.personal import shown
from ebbtide.types.memory import Memory

BATCH = 1_000
SCOPE = 10_000
HITS = 10
EVERY = 50


def drafts(world: World, count: int) -> list[Draft]:
    """Memories with vectors, some of them with a subject, some with personal data."""
    turns = [turn for chat in world.chats(count) for turn in chat]
    return [
        Draft.model_construct(
            content=turn.text + (f" call +41 44 668 {place % 90 + 10} 00" if place % EVERY == 0 else ""),
            vector=turn.vector,
            subject=f"subject {place}" if place % EVERY == 1 else None,
            predicate="state" if place % EVERY == 1 else None,
        )
        for place, turn in enumerate(turns)
    ]


async def writing(location: str, rounds: int) -> list[Figure]:
    """The rate of `remember_many` into a namespace of ten thousand, and the time of one `remember`."""
    world = World(seed=3)
    async with AsyncEbbtide.open(location, embedder=FakeEmbedder(DIMENSION), settings=stores.SETTINGS) as handle:
        await handle.rules.add("vector.global.*", personal_data="redact")
        for _ in range(SCOPE // BATCH):
            await handle.remember_many(drafts(world, BATCH))
        rates: list[float] = []
        for _ in range(rounds):
            batch = drafts(world, BATCH)
            started = time.perf_counter()
            await handle.remember_many(batch)
            rates.append(BATCH / (time.perf_counter() - started))
        singles: list[float] = []
        for draft in drafts(world, 100):
            started = time.perf_counter()
            await handle.remember(draft.content, vector=draft.vector)
            singles.append((time.perf_counter() - started) * 1_000)
    return [
        Figure(f"remember_many with every screen, into {SCOPE:,}", median(rates), "/s", 1_000, higher=True),
        Figure("    one remember, the same", median(singles), "ms"),
    ]


def reading() -> list[Figure]:
    """The time of the check of ten final hits, and of their redaction, each way in turn."""
    world = World(seed=5)
    plain = [turn.text for turn in world.chat(HITS)]
    holding = [f"{text} (ana@example.com, 202-555-0143, 10.0.0.7)" for text in plain]
    rules = RuleBook(personal_data="redact")
    ways: dict[str, Callable[[], object]] = {
        "checking ten hits, plain text": lambda: [holds_personal_data(text) for text in plain],
        "checking ten hits, personal data in each": lambda: [holds_personal_data(text) for text in holding],
        "redacting ten hits, plain text": _screening(plain, rules),
        "redacting ten hits, personal data in each": _screening(holding, rules),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(300):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - started) * 1_000)
    return [Figure(name, median(taken), "ms", 0.5) for name, taken in times.items()]


def _screening(texts: Sequence[str], rules: RuleBook) -> Callable[[], object]:
    """What a recall does with its final hits where a rule redacts."""
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    memories = [
        Memory(
            id=UUID(int=place), content=text, namespace="vector.global.memory", kind="fact", agent="a", importance=0.5,
            confidence=0.7, status="active", maturity="unconfirmed", revision=1, created_at=moment, updated_at=moment,
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip
    return lambda: [shown(memory, PRESETS["tide"], rules) for memory in memories]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="twenty batches instead of five")
    full = parser.parse_args().full
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as folder:
        figures = await writing(folder, 20 if full else 5)
    show("Screens", [*figures, *reading()])


if __name__ == "__main__":
    asyncio.run(main())
