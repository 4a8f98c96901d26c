"""The facts of what runs said are read in the background: once, and never after a forgetting."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput
from ebbtide.models.fake import FakeEmbedder
from ebbtide.paths import extraction
from ebbtide.settings import Settings
from ebbtide.write.wanted import EXTRACT_MEMORIES
from tests.jobs.support import all_done, eventually, has_failed, has_run, statuses, worker
from tests.models.endpoint import Endpoint, Reply, serve

ASKED = "Please remember a few things about me for the next time: I live in Oslo. I work at Acme. Thank you for that."
ANSWERED = "Noted. Ann knows Bob. I live in the cloud."


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder(384)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


@pytest.fixture
async def reading(
    dsn: str, clock: FixedClock, settings: Settings, embedder: FakeEmbedder, endpoint: Endpoint
) -> AsyncIterator[AsyncEbbtide]:
    """A handle on the test's store whose extractor is the scripted server."""
    changed = settings.model_copy(update={"extractor": f"{endpoint.url}#reader", "extractor_timeout_seconds": 5.0})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=changed, embedder=embedder) as handle:
        yield handle


def said(*facts: dict[str, Any]) -> Reply:
    content = json.dumps({"entities": [], "facts": list(facts)})
    return Reply(body=json.dumps({"choices": [{"message": {"content": content}}]}).encode())


KNOWS = {
    "content": "Ann knows Bob.", "evidence": "Ann knows Bob", "subject": "Ann", "predicate": "knows", "object": "Bob",
    "object_type": "PERSON", "kind": "fact", "significance": "casual", "importance": 0.2, "confidence": 0.9,
}  # fmt: skip


async def derived(handle: AsyncEbbtide) -> set[str]:
    return {one.content for one in await handle.browse(limit=100) if "extractor" in one.metadata}


async def test_a_run_is_read_by_a_job(async_memory: AsyncEbbtide) -> None:
    await async_memory.record_run(ASKED, ANSWERED, extract=True)
    assert await derived(async_memory) == set()
    async with worker(async_memory):
        await eventually(lambda: has_run(async_memory, EXTRACT_MEMORIES))

    assert await derived(async_memory) == {"I live in Oslo.", "I work at Acme."}
    for one in await async_memory.browse(limit=100):
        if "extractor" in one.metadata:
            (source,) = (await async_memory.provenance(one.id)).sources
            assert "run_input" in (await async_memory.get(source)).tags


async def test_nothing_is_asked_for_unless_it_is_wanted(async_memory: AsyncEbbtide) -> None:
    await async_memory.record_run(ASKED, ANSWERED)
    await async_memory.record_run(ASKED + " Again.", ANSWERED, extract=False)

    assert await statuses(async_memory, EXTRACT_MEMORIES) == []


async def test_the_same_run_again_is_not_read_again(async_memory: AsyncEbbtide) -> None:
    for _ in range(2):
        await async_memory.record_run(ASKED, ANSWERED, extract=True)

    assert await statuses(async_memory, EXTRACT_MEMORIES) == ["todo"]


async def test_a_flag_that_is_none_is_refused(async_memory: AsyncEbbtide) -> None:
    with pytest.raises(InvalidInput):
        await async_memory.record_run(ASKED, ANSWERED, extract="yes")  # pyright: ignore[reportArgumentType]


async def test_a_forgetting_in_the_session_wins_over_a_late_job(async_memory: AsyncEbbtide) -> None:
    session = async_memory.scoped(session="s")
    other = (await session.remember("Something else of the session.")).memory
    await session.record_run(ASKED, ANSWERED, extract=True)
    await session.forget(other.id, expected_revision=other.revision)
    async with worker(async_memory):
        await eventually(lambda: has_failed(async_memory))

    (job,) = await async_memory.jobs.list("failed")
    assert (job.task, job.attempts) == (EXTRACT_MEMORIES, 1)
    assert "StaleRevision" in str(job.error)
    assert await derived(async_memory) == set()


async def test_what_was_forgotten_is_not_read(async_memory: AsyncEbbtide) -> None:
    for one in await async_memory.record_run(ASKED, ANSWERED, extract=True):
        await async_memory.forget(one.memory.id, expected_revision=one.memory.revision)
    async with worker(async_memory):
        await eventually(lambda: has_failed(async_memory))

    assert "StaleRevision" in str((await async_memory.jobs.list("failed"))[0].error)
    assert await derived(async_memory) == set()


async def test_a_forgetting_while_the_model_reads_wins(
    reading: AsyncEbbtide, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answered,) = await reading.record_run("short", ANSWERED)
    endpoint.script = [said(KNOWS)]
    engine = await reading.engine()
    read = engine.extractor.extract

    async def slow(text: str, **given: Any) -> Any:
        found = await read(text, **given)
        await reading.forget(answered.memory.id, expected_revision=answered.memory.revision)
        return found

    monkeypatch.setattr(engine.extractor, "extract", slow)
    async with worker(reading):
        await eventually(lambda: has_failed(reading))

    assert await derived(reading) == set()


async def test_a_model_that_fails_is_asked_again_later(reading: AsyncEbbtide, endpoint: Endpoint) -> None:
    endpoint.script = [Reply(body=b"{}", status=500), Reply(body=b"{}", status=503), said(KNOWS)]
    await reading.record_run("short", ANSWERED)
    async with worker(reading):
        await eventually(lambda: has_run(reading, EXTRACT_MEMORIES))

    assert await derived(reading) == {"Ann knows Bob."}
    (job,) = [one for one in await reading.jobs.list() if one.task == EXTRACT_MEMORIES]
    assert "status 503" in str(job.error)


async def test_bad_output_is_visible_and_loses_nothing(reading: AsyncEbbtide, endpoint: Endpoint) -> None:
    endpoint.script = [Reply(body=b'{"choices": [{"message": {"content": "no JSON"}}]}')] * 18
    await reading.record_run("short", ANSWERED)
    async with worker(reading):
        await eventually(lambda: has_failed(reading))

    (job,) = await reading.jobs.list("failed")
    assert "ModelInvalid" in str(job.error)
    assert "cloud" not in str(job.error)
    assert {one.content for one in await reading.browse()} == {ANSWERED}


async def test_a_worker_that_dies_between_facts_and_mentions_leaves_nothing_half_done(
    async_memory: AsyncEbbtide, monkeypatch: pytest.MonkeyPatch, owner: Any
) -> None:
    await async_memory.record_run(ASKED + " My sister Julia called.", "Ok.", extract=True)
    whole = extraction.write_graph
    calls = 0

    async def dying(*given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionError
        await whole(*given)

    monkeypatch.setattr(extraction, "write_graph", dying)
    async with worker(async_memory):
        await eventually(lambda: has_run(async_memory, EXTRACT_MEMORIES))

    found = [one.content for one in await async_memory.browse(limit=100) if "extractor" in one.metadata]
    assert sorted(found) == sorted(set(found))
    assert len(found) == 3
    assert calls == 2
    named = {row[0] for row in owner.execute("SELECT name FROM entity").fetchall()}
    assert {"Julia", "Oslo", "Acme"} <= named


async def test_a_worker_without_the_model_leaves_the_job_to_another(
    reading: AsyncEbbtide, async_memory: AsyncEbbtide, endpoint: Endpoint
) -> None:
    endpoint.script = [said(KNOWS)]
    await reading.record_run("short", ANSWERED)
    async with worker(async_memory):
        await eventually(lambda: has_failed(async_memory))
    (job,) = await async_memory.jobs.list("failed")

    assert "has no model" in str(job.error)
    await async_memory.jobs.retry(job.id)
    async with worker(reading):
        await eventually(lambda: has_run(reading, EXTRACT_MEMORIES))
    assert await derived(reading) == {"Ann knows Bob."}
    assert await all_done(reading)
