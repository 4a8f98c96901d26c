"""How long a context block of a hundred candidates takes to pack, and to write and measure."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import median
from uuid import UUID

from benchmarks import _demo
from benchmarks._measure import Figure, show
from ebbtide.models.local import LocalEmbedder
from ebbtide.read.block import Entry, Layout
from ebbtide.read.fill import fill
from ebbtide.read.pack import Item, pack
from ebbtide.read.shares import WINDOWS, shares_of

CANDIDATES = 100
ROUNDS = 30


def milliseconds(call: Callable[[], object]) -> float:
    """The median time of a call."""
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1_000)
    return median(times)


def items(count: int) -> tuple[list[Item], dict[str, int]]:
    """Candidates of 20 to 200 tokens, under ten instructions, and what these cost."""
    chance = random.Random(1)
    made = [
        Item(chance.random(), chance.randint(20, 200), ("title", f"instruction {chance.randrange(10)}"))
        for _ in range(count)
    ]
    return made, {"title": 5} | {f"instruction {number}": 15 for number in range(10)}


def entries(count: int, measure: Callable[[str], int]) -> list[Entry]:
    """Entries of the demo's texts, their tokens counted already."""
    chance, texts = random.Random(2), _demo.texts()
    header = "--- MEMORY ENTRY (Stored on 3/2/2026, Namespace: vector.global.memory) ---\n"
    bodies = [f"{chance.choice(texts)} {chance.choice(texts)}" for _ in range(count)]
    return [
        Entry(UUID(int=number), "facts", header, body, chance.random(), tokens=measure(body))
        for number, body in enumerate(bodies)
    ]


def main() -> None:
    """Measure and print."""
    made, heads = items(CANDIDATES)
    more, _ = items(2 * CANDIDATES)
    measure = LocalEmbedder().count_tokens
    written, layout = entries(CANDIDATES, measure), Layout("0123abcd", WINDOWS["factual"].order)
    shares = shares_of(WINDOWS["factual"], ["memory"], 1_500)
    show(
        "Packing",
        [
            Figure("pack 100 candidates into 1,500 tokens", milliseconds(lambda: pack(made, 1_500, heads)), "ms", 5),
            Figure("    into 4,000 tokens", milliseconds(lambda: pack(made, 4_000, heads)), "ms", 5),
            Figure("    200 candidates into 4,000 tokens", milliseconds(lambda: pack(more, 4_000, heads)), "ms"),
            Figure(
                "pack, write and measure a block of 1,500 tokens from 100",
                milliseconds(lambda: fill(written, layout, shares, measure)),
                "ms",
            ),
        ],
    )


if __name__ == "__main__":
    main()
