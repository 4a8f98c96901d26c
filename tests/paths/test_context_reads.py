"""What a context block does to what it returns: each memory in it is read once, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbtide import AsyncEbbtide, Memory
from ebbtide.caches import VectorCache
from ebbtide.clock import FixedClock
from ebbtide.jobs.fading import fade_tenant
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.reinforce import flush
from tests.forget.support import Owner
from tests.graph_rows import Graph
from tests.stores import DIMENSION, SETTINGS


async def told(memory: AsyncEbbtide, content: str, **more: Any) -> Memory:
    kept = (await memory.remember(content, **more)).memory
    assert kept is not None
    return kept


async def written(memory: AsyncEbbtide, owner: Owner) -> tuple[dict[Any, int], list[list[Any]]]:
    """The accesses of each memory that has any, and the memories of each recall that the log has, in their order."""
    await flush(await memory.engine())
    accesses = owner.execute("SELECT memory_id, access_count FROM strength WHERE access_count > 0").fetchall()
    logged = owner.execute(
        "SELECT array_agg(h.memory_id ORDER BY h.place) FILTER (WHERE h.memory_id IS NOT NULL) FROM recall_log r"
        " LEFT JOIN recall_hit h ON h.recall_id = r.id GROUP BY r.id ORDER BY r.id"
    ).fetchall()
    return dict(accesses), [row[0] or [] for row in logged]


async def read_by_id(owner: Owner) -> list[Any]:
    rows = owner.execute("SELECT detail FROM audit WHERE action = 'read' AND detail ->> 'verb' = 'get'").fetchall()
    return [detail["memories"] for (detail,) in rows]


async def test_a_block_with_a_project_is_one_recall(async_memory: AsyncEbbtide, owner: Owner) -> None:
    ferry = await told(async_memory, "The ferry leaves at seven")
    plans = await told(async_memory, "The plans of the ferry", namespace="project.boat")
    block = await async_memory.context("ferry", project="project.boat")
    assert set(block.ids) == {ferry.id, plans.id}
    assert await written(async_memory, owner) == ({ferry.id: 1, plans.id: 1}, [list(block.ids)])


async def test_what_the_budget_leaves_out_is_not_held_more_firmly(async_memory: AsyncEbbtide, owner: Owner) -> None:
    await told(async_memory, "ferry " + "word " * 200)
    small = await told(async_memory, "The ferry leaves at seven")
    block = await async_memory.context("ferry", budget=100)
    assert (block.ids, len(block.omitted)) == ((small.id,), 1)
    assert await written(async_memory, owner) == ({small.id: 1}, [[small.id]])
    assert (await async_memory.context("ferry", budget=0)).ids == ()
    assert await written(async_memory, owner) == ({small.id: 1}, [[small.id], []])


async def test_what_was_selected_is_read_by_its_id_where_it_is_in_the_block(
    async_memory: AsyncEbbtide, owner: Owner
) -> None:
    oranges = await told(async_memory, "Ana likes oranges")
    long = await told(async_memory, "word " * 2_000)
    ferry = await told(async_memory, "The ferry leaves at seven")
    block = await async_memory.context("ferry", limit=1, selected=[oranges.id, long.id])
    assert block.ids == (oranges.id, ferry.id)
    assert await written(async_memory, owner) == ({oranges.id: 1, ferry.id: 1}, [[ferry.id]])
    assert await read_by_id(owner) == [[str(oranges.id)]]


async def test_the_memory_of_a_relation_is_returned_once(async_memory: AsyncEbbtide, owner: Owner) -> None:
    works = await told(async_memory, "Sarah works at the ferry")
    stated = await told(async_memory, "Her brother lives in Bergen")
    graph = Graph(owner)
    sarah, bob = graph.entity("Sarah", works), graph.entity("Bob")
    for predicate in ("is sister of", "visits"):
        graph.relation(sarah, predicate, bob, stated)
    block = await async_memory.context("Sarah works", limit=1)
    assert block.ids == (works.id, stated.id)
    assert await written(async_memory, owner) == ({works.id: 1, stated.id: 1}, [[works.id, stated.id]])


async def test_a_block_of_the_past_holds_nothing_more_firmly(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    ferry = await told(async_memory, "The ferry leaves at seven")
    oranges = await told(async_memory, "Ana likes oranges")
    clock.advance(timedelta(days=1))
    block = await async_memory.context("ferry", as_of=clock.now(), limit=1, selected=[oranges.id])
    assert block.ids == (oranges.id, ferry.id)
    assert await written(async_memory, owner) == ({}, [[ferry.id]])
    assert await read_by_id(owner) == [[str(oranges.id)]]


class Counting(FakeEmbedder):
    """Keeps the texts of each batch."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.batches: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return await super().embed(texts)


@pytest.mark.parametrize("intent", [None, "comparative"])
async def test_a_query_is_embedded_once_for_a_block(dsn: str, clock: FixedClock, intent: str | None) -> None:
    query = "Which is faster, the ferry or the train?"
    embedder = Counting()
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as memory:
        await told(memory, "The ferry leaves at seven")
        plans = await told(memory, "The ferry plans", namespace="project.boat")
        embedder.batches.clear()
        block = await memory.context(query, project="project.boat", intent=intent)
    assert plans.id in block.ids
    assert [batch[0] for batch in embedder.batches] == [query]


async def test_what_comes_back_to_life_costs_no_second_embedding(dsn: str, clock: FixedClock) -> None:
    embedder = Counting()
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as memory:
        await memory.forgetting.enable()
        ferry = await told(memory, "The ferry leaves at seven")
        clock.advance(timedelta(days=366))
        await fade_tenant(await memory.engine(), tenant="default")
        embedder.batches.clear()
        answer = await memory.recall("ferry", trace=True)
    assert answer.trace is not None
    assert (answer.trace.resurrected, embedder.batches) == ((ferry.id,), [["ferry"]])


async def test_a_vector_that_is_given_is_that_of_both_searches(dsn: str, clock: FixedClock) -> None:
    embedder = Counting()
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as memory:
        plans = await told(memory, "The ferry plans", namespace="project.boat")
        (vector,) = await embedder.embed(["ferry"])
        embedder.batches.clear()
        block = await memory.context("boat", project="project.boat", vector=vector.tolist())
    assert (block.ids, embedder.batches) == ((plans.id,), [])


async def test_a_query_asked_again_soon_is_not_embedded_again_but_for_another_tenant(
    dsn: str, clock: FixedClock
) -> None:
    embedder = Counting()
    async with AsyncEbbtide.open(dsn, clock=clock, settings=SETTINGS, embedder=embedder) as memory:
        ferry = await told(memory, "The ferry leaves at seven")
        embedder.batches.clear()
        first = await memory.recall("When does the ferry leave?")
        again = await memory.recall("When does the ferry leave?")
        await memory.context("When does the ferry leave?")
        await memory.explain("When does the ferry leave?", ferry.id)
        assert [hit.relevance for hit in first] == [hit.relevance for hit in again]
        assert embedder.batches == [["When does the ferry leave?"]]
        await memory.scoped(tenant="other").recall("When does the ferry leave?")
        assert len(embedder.batches) == 2


def test_vectors_of_queries_are_kept_for_five_minutes_and_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("ebbtide.caches.time.monotonic", lambda: now)
    vectors = VectorCache()
    for number in range(501):
        vectors.put("a", f"query {number}", number)
    assert (vectors.get("a", "query 0"), vectors.get("a", "query 1"), vectors.get("b", "query 1")) == (None, 1, None)
    now += 299.0
    assert vectors.get("a", "query 500") == 500
    now += 1.0
    assert vectors.get("a", "query 500") is None
