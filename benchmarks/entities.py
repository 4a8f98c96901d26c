"""How long it takes to know an entity again among a hundred thousand, by any of its names, and to list some."""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from benchmarks import _stores as stores
from benchmarks._measure import Cost, Figure, Processor, cost_of, show
from benchmarks._synthetic import DIMENSION
from ebbtide import AsyncEbbtide, Named
from ebbtide.graph.lookup import find
from ebbtide.graph.resolve import Book, Known
from ebbtide.graph.write import Writing, candidates, learn, store_writing
from ebbtide.identifiers import new_id
from ebbtide.models.fake import FakeEmbedder

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

ENTITIES = 100_000
BATCH = 5_000
TARGET = 2.0
LIST_TARGET = 5.0
WARMING = 20
# The first ways to ask find the one that is meant, the last find nobody.
FOUND_BY, NOBODYS = 3, 4
SYLLABLES = [f"{consonant}{vowel}" for consonant in "bdklmnr" for vowel in "aeiou"]


def word(chance: random.Random, syllables: int) -> str:
    """A made-up word."""
    return "".join(chance.choice(SYLLABLES) for _ in range(syllables)).capitalize()


def people(count: int) -> list[Named]:
    """Persons of 400 first names and 8,000 last ones, so that each first name is that of hundreds."""
    chance = random.Random(11)
    first = sorted({word(chance, 2) for _ in range(800)})[:400]
    last = sorted({word(chance, 4) for _ in range(12_000)})[:8_000]
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{chance.choice(first)} {word(chance, 3)} {chance.choice(last)}"] = None
    return [Named(name=name, type="PERSON", aliases=(word(chance, 6),)) for name in names]


async def fill(handle: AsyncEbbtide, named: Sequence[Named]) -> None:
    """Store the entities with their names and keys, all mentioned by one memory."""
    stored = await handle.remember("Everybody is here")
    assert stored.memory is not None
    engine, caller = await handle.engine(), handle.caller
    now = engine.clock.now()
    for start in range(0, len(named), BATCH):
        writing = Writing()
        for one in named[start : start + BATCH]:
            known = Known(new_id(now), one.type, one.name)
            writing.entities.append(known)
            names = [(one.name, True), *((alias, True) for alias in one.aliases)]
            learn(Book(), known, names, writing, stored.memory.id, now)
        async with engine.database.transaction(caller.tenant) as transaction:
            await store_writing(transaction, caller, writing, now)
    async with engine.database.connection() as connection:
        await connection.execute("RESET ROLE")
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("SET ROLE ebbtide_app")


async def known_again(
    transaction: Transaction, caller: Caller, asked: Sequence[Named], processor: Processor
) -> tuple[Cost, list[UUID | None]]:
    """The cost of a look-up of a write, candidates from the store and the decision; and what each found."""
    found: list[UUID | None] = []

    async def look_up(one: Named) -> None:
        entity = Book(await candidates(transaction, caller, [one])).find(one)
        found.append(None if entity is None else entity.id)

    for one in asked[:WARMING]:
        await look_up(one)
    found.clear()
    cost = await cost_of([partial(look_up, one) for one in asked], processor)
    return cost, found


async def read(transaction: Transaction, caller: Caller, names: Sequence[str], processor: Processor) -> Cost:
    """The cost of a look-up of a read."""
    for name in names[:WARMING]:
        assert await find(transaction, caller, [name])
    return await cost_of([partial(find, transaction, caller, [name]) for name in names], processor)


async def measure(handle: AsyncEbbtide, named: Sequence[Named], rounds: int) -> list[Figure]:
    """The figures of a store with these entities.

    What counts is the processor time of client and server together: on an idle machine a look-up takes that long.
    """
    chosen = random.Random(3).sample(list(named), rounds)
    ways = {
        "by its name": [Named(name=one.name.upper(), type="PERSON") for one in chosen],
        "by an alias": [Named(name=one.aliases[0], type="PERSON") for one in chosen],
        "by a similar name": [Named(name=f"Dr {one.name}", type="PERSON") for one in chosen],
        "by two of its three names": [Named(name=" ".join(one.name.split()[1:]), type="PERSON") for one in chosen],
        "a first name, which is hundreds'": [Named(name=one.name.split()[0], type="PERSON") for one in chosen],
        "a name that nobody has": [Named(name=f"Xy{place} Qq{place}", type="PERSON") for place in range(rounds)],
    }
    figures: list[Figure] = []
    engine, caller = await handle.engine(), handle.caller
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        processor = await Processor.of(handle)
        for place, (name, asked) in enumerate(ways.items()):
            cost, found = await known_again(transaction, caller, asked, processor)
            assert place >= FOUND_BY or None not in found, name
            assert place < NOBODYS or set(found) == {None}, name
            figures.append(Figure(f"a write: {name}", cost.both, "ms", TARGET))
            figures.append(Figure("    as long as it took here", cost.wall, "ms"))
        for name, names in {
            "by its name": [one.name for one in chosen],
            "by an alias": [one.aliases[0] for one in chosen],
        }.items():
            cost = await read(transaction, caller, names, processor)
            figures.append(Figure(f"a read: {name}", cost.both, "ms", TARGET))
            figures.append(Figure("    as long as it took here", cost.wall, "ms"))
    return figures


async def measure_verbs(handle: AsyncEbbtide, named: Sequence[Named], rounds: int) -> list[Figure]:
    """What a list by the beginning of a word costs, from one that a person has to one that many have, and a page."""
    chosen = random.Random(5).sample(list(named), rounds)
    entities = handle.entities
    calls: dict[str, list[Callable[[], Awaitable[object]]]] = {
        "a list: a whole name": [partial(entities.list, text=one.name) for one in chosen],
        "a list: six letters of a last name": [partial(entities.list, text=one.name.split()[2][:6]) for one in chosen],
        "a list: two letters, 50 of thousands": [partial(entities.list, text=one.name[:2]) for one in chosen],
        "a list: one letter, 50 of a sixth": [partial(entities.list, text=one.name[:1]) for one in chosen],
        "a list: 50 of all": [entities.list for _ in chosen],
        "one with its facts": [partial(entities.get, one.name) for one in chosen],
    }
    processor = await Processor.of(handle)
    figures: list[Figure] = []
    for name, asked in calls.items():
        for call in asked[:WARMING]:
            assert await call()
        cost = await cost_of(asked, processor)
        figures.append(Figure(name, cost.both, "ms", LIST_TARGET))
        figures.append(Figure("    as long as it took here", cost.wall, "ms"))
    return figures


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="two thousand look-ups of each sort instead of four hundred"
    )
    parser.add_argument("--entities", type=int, default=ENTITIES, help="how many there are")
    given = parser.parse_args()
    rounds = 2_000 if given.full else 400
    named = people(given.entities)
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as folder:
        async with AsyncEbbtide.open(folder, embedder=FakeEmbedder(DIMENSION), settings=stores.SETTINGS) as handle:
            started = time.perf_counter()
            await fill(handle, named)
            print(f"{given.entities:,} entities stored in {time.perf_counter() - started:.0f} s", flush=True)
            figures = await measure(handle, named, rounds)
            figures += await measure_verbs(handle, named, rounds // 8)
    show(f"Entities, among {given.entities:,}", figures)


if __name__ == "__main__":
    asyncio.run(main())
