"""Memories that were stored without their vectors get them, in the background and once."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import NotFound
from ebbtide.jobs.upkeep import TIDY
from ebbtide.settings import Settings
from ebbtide.write.context import in_context
from ebbtide.write.pending import embed_pending
from tests.jobs.support import (
    Owner,
    ScriptedEmbedder,
    all_done,
    eventually,
    has_run,
    nearest,
    remember_pending,
    statuses,
    worker,
)


async def test_a_pending_memory_gets_its_vector_and_is_found_by_it(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder
) -> None:
    id_ = await remember_pending(async_memory, embedder, "The harbour closes at dusk.")
    assert await nearest(async_memory, "harbour dusk") == []
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
    assert not (await async_memory.get(id_)).embedding_pending
    assert await nearest(async_memory, "harbour dusk") == [id_]


async def test_many_pending_memories_take_several_jobs(async_memory: AsyncEbbtide, embedder: ScriptedEmbedder) -> None:
    embedder.failures = 1
    await async_memory.remember_many([f"Note {number}" for number in range(150)], allow_pending=True)
    async with worker(async_memory):
        await eventually(lambda: all_done(async_memory))
    assert await statuses(async_memory, "embed_pending") == ["succeeded"] * 3
    assert not any(memory.embedding_pending for memory in await async_memory.browse(limit=200))


async def test_a_turn_embedded_late_is_seen_in_context_and_gives_it(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, owner: Owner
) -> None:
    chat = async_memory.scoped(chat="c")
    texts = ["Where is the key?", "Under the mat.", "Thank you."]
    await chat.remember(texts[0], kind="message", seq=0)
    await remember_pending(chat, embedder, texts[1], kind="message", seq=1)
    await chat.remember(texts[2], kind="message", seq=2)
    await embed_pending(await async_memory.engine(), tenant="default")
    rows = owner.execute("SELECT context_embedding::text FROM memory ORDER BY sequence").fetchall()
    stored = [np.array(json.loads(row[0])) for row in rows[1:]]
    vectors = await embedder.embed(texts)
    for found, expected in zip(
        stored, [in_context(vectors[1], vectors[0]), in_context(vectors[2], vectors[1])], strict=True
    ):
        assert float(found @ expected) == pytest.approx(1, abs=1e-3)


async def test_a_vector_is_not_stored_over_what_changed_meanwhile(
    async_memory: AsyncEbbtide, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    revised = await remember_pending(async_memory, embedder, "The old text.")
    forgotten = await remember_pending(async_memory, embedder, "To be forgotten.")
    embed = embedder.embed

    async def slow(texts: Sequence[str]) -> NDArray[np.float32]:
        monkeypatch.setattr(embedder, "embed", embed)
        await remember_pending_again()
        return await embed(texts)

    async def remember_pending_again() -> None:
        vector = (await embed(["The new text."]))[0]
        await async_memory.revise(revised, "The new text.", vector=vector)
        await async_memory.forget(forgotten, 1)

    monkeypatch.setattr(embedder, "embed", slow)
    await embed_pending(await async_memory.engine(), tenant="default")
    assert (await nearest(async_memory, "The new text.", min_similarity=0.99)) == [revised]
    with pytest.raises(NotFound):
        await async_memory.get(forgotten)
    warnings = await async_memory.audit.entries(action="warning")
    assert {one.memory_id for one in warnings} == {revised, forgotten}
    assert all(one.detail == {"operation": "embed_pending", "refused": "stale_revision"} for one in warnings)


async def test_what_was_pending_is_embedded_once_there_is_an_embedder(
    dsn: str, clock: FixedClock, settings: Settings, embedder: ScriptedEmbedder
) -> None:
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=None) as handle:
        id_ = (await handle.remember("The harbour closes at dusk.")).memory.id
        async with worker(handle):
            await eventually(lambda: has_run(handle, TIDY))
            assert await statuses(handle, "embed_pending") == []
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as handle, worker(handle):
        await eventually(lambda: has_run(handle, "embed_pending"))
        assert not (await handle.get(id_)).embedding_pending
