"""How long it takes to forget one memory, to erase a user, and to verify a receipt and a long audit."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable
from statistics import median
from uuid import UUID

from benchmarks import _stores as stores
from benchmarks._measure import Figure, show
from benchmarks._synthetic import DIMENSION, World
from ebbtide import AsyncEbbtide, Draft
from ebbtide.caches import Read
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.reinforce import flush

BATCH = 1_000
HITS = 10


async def fill(handle: AsyncEbbtide, world: World, count: int) -> list[UUID]:
    """Remember conversations of that many turns together; answers with the ids."""
    ids: list[UUID] = []
    for number, chat in enumerate(world.chats(count)):
        turns = [
            Draft.model_construct(
                content=turn.text, kind="message", speaker=turn.speaker, seq=turn.sequence, vector=turn.vector
            )
            for turn in chat
        ]
        answers = await handle.scoped(chat=f"chat-{number}").remember_many(turns)
        ids += [answer.memory.id for answer in answers if answer.memory is not None]
    return ids


async def analyse(handle: AsyncEbbtide) -> None:
    """What the server does by itself within a minute: plans made before know nothing of what was just loaded."""
    engine = await handle.engine()
    async with engine.database.connection() as connection:
        await connection.execute("RESET ROLE")
        await connection.execute("ANALYZE")
        await connection.execute("SET ROLE ebbtide_app")


async def log_recalls(handle: AsyncEbbtide, ids: list[UUID], count: int) -> None:
    """Have so many recalls of ten hits each written down, over all the memories."""
    engine = await handle.engine()
    caller = handle.caller
    for start in range(0, count, BATCH):
        for number in range(start, min(start + BATCH, count)):
            hits = tuple(ids[(number * HITS + place * 37) % len(ids)] for place in range(HITS))
            distinct = tuple(dict.fromkeys(hits))
            read = Read(
                caller.agent, caller.user, engine.clock.now(), "recall", distinct, "tide", (0.5,) * len(distinct)
            )
            engine.reads.add(caller.tenant, read)
        await flush(engine)


async def timed(call: Awaitable[object]) -> float:
    """Seconds of wall time."""
    started = time.perf_counter()
    await call
    return time.perf_counter() - started


async def measure(handle: AsyncEbbtide, memories: int, rows: int, singles: int) -> list[Figure]:
    """The figures of one store with that many memories of a user, and an audit of that many rows."""
    user = handle.scoped(user="ana")
    ids = await fill(user, World(seed=5), memories)
    await log_recalls(user, ids, rows - memories)
    await analyse(handle)
    forgetting: list[float] = []
    verifying: list[float] = []
    for id_ in ids[:: max(1, len(ids) // singles)][:singles]:
        revision = (await user.get(id_)).revision
        started = time.perf_counter()
        receipt = await user.forget(id_, revision)
        forgotten = time.perf_counter()
        check = await user.verify_receipt(receipt)
        verifying.append((time.perf_counter() - forgotten) * 1_000)
        forgetting.append((forgotten - started) * 1_000)
        assert check.valid, check.problems
    sealing = await timed(handle.audit.seal())
    check = await handle.audit.verify()
    assert check.valid, check.problems
    chain = await timed(handle.audit.verify())
    erasing = await timed(handle.erase_user("ana"))
    proof = (await handle.receipts.list(limit=1))[0]
    assert (await handle.verify_receipt(proof)).valid
    return [
        Figure(f"forget one of {memories:,} memories, with its receipt", median(forgetting), "ms", 15.0),
        Figure("    verify that receipt", median(verifying), "ms"),
        Figure(f"erase a user with {memories - len(forgetting):,} memories", erasing, "s", 5.0),
        Figure("    verify that erasure", await timed(handle.verify_receipt(proof)), "s"),
        Figure(f"verify an audit of {check.rows:,} rows", chain, "s", 10.0),
        Figure("    seal what of it waits", sealing, "s"),
    ]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the audit")
    parser.add_argument("--singles", type=int, default=100, help="memories to forget one by one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as location:
        embedder = FakeEmbedder(DIMENSION)
        async with AsyncEbbtide.open(location, embedder=embedder, settings=stores.SETTINGS) as handle:
            figures = await measure(handle, given.memories, given.rows, given.singles)
    show("Forgetting and the audit", figures)


if __name__ == "__main__":
    asyncio.run(main())
