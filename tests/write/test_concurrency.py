"""Writers at the same time: no deadlock, one memory, one live head."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, NotFound, StaleRevision
from ebbtide.models.fake import FakeEmbedder
from ebbtide.settings import Settings

TEXTS = [f"Statement number {number}" for number in range(500)]


@pytest.fixture
async def writers(dsn: str, clock: FixedClock, settings: Settings, embedder: FakeEmbedder) -> Any:
    """Two engines on one store, as two processes would have them."""
    async with (
        AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as one,
        AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as two,
    ):
        yield one, two


async def test_two_writers_of_the_same_texts_in_opposite_orders(writers: Any) -> None:
    one, two = writers
    for _ in range(20):
        await asyncio.gather(one.remember_many(TEXTS), two.remember_many(TEXTS[::-1]))
    assert len(await one.browse(limit=1000)) == 500


async def test_batches_that_overlap_and_repeat_end_with_each_text_once(writers: Any) -> None:
    one, two = writers
    batches = [[TEXTS[(start * 7 + step) % 60] for step in range(40)] for start in range(12)]
    answers = await asyncio.gather(*((one if place % 2 else two).remember_many(b) for place, b in enumerate(batches)))
    found = await one.browse(limit=1000)
    assert sorted(memory.content for memory in found) == sorted(set(TEXTS[:60]))
    by_content = {memory.content: memory.id for memory in found}
    for batch, answer in zip(batches, answers, strict=True):
        assert [outcome.memory.id for outcome in answer] == [by_content[text] for text in batch]
    stored = [o for answer in answers for o in answer if o.outcome == "stored"]
    assert len(stored) == 60


async def test_retries_of_one_call_at_once_make_one_memory(writers: Any) -> None:
    calls = [
        writers[place % 2].remember("Pay the rent", idempotency_key="k", namespace="vector.a") for place in range(12)
    ]
    answers = await asyncio.gather(*calls)
    assert len({answer.memory.id for answer in answers}) == 1
    assert len({answer.outcome for answer in answers}) == 1
    assert len(await writers[0].browse()) == 1


async def test_two_corrections_at_once_leave_one_live_head(writers: Any) -> None:
    one, two = writers
    for attempt in range(8):
        old = (await one.remember(f"Lives in Oslo, {attempt}", namespace=f"v.n{attempt}")).memory
        answers = await asyncio.gather(
            *(
                writer.remember(f"Lives in {city}, {attempt}", supersedes=old.id, namespace=f"v.n{attempt}")
                for writer, city in ((one, "Bergen"), (two, "Tromsø"), (one, "Bodø"))
            )
        )
        live = await one.browse(namespaces=f"v.n{attempt}")
        assert len(live) == 1
        assert live[0].id in {answer.memory.id for answer in answers}
        chain = await one.get(old.id)
        while chain.superseded_by is not None:
            chain = await one.get(chain.superseded_by)
        assert chain.id == live[0].id


async def test_of_two_revisions_of_one_state_one_is_refused(writers: Any) -> None:
    one, two = writers
    id_ = (await one.remember("The ferry leaves at seven")).memory.id
    answers = await asyncio.gather(
        one.revise(id_, "at eight", expected_revision=1),
        two.revise(id_, "at nine", expected_revision=1),
        return_exceptions=True,
    )
    assert sorted(isinstance(answer, StaleRevision) for answer in answers) == [False, True]
    assert (await one.get(id_)).revision == 2
    assert len(await one.history(id_)) == 2


async def test_forgetting_and_mentioning_at_once_end_in_a_sound_state(writers: Any, clock: FixedClock) -> None:
    one, two = writers
    for attempt in range(10):
        id_ = (await one.remember(f"secret {attempt}")).memory.id
        clock.advance(timedelta(seconds=1))
        gone, again = await asyncio.gather(
            one.forget(id_, 1), two.remember(f"secret {attempt}", importance=1.0), return_exceptions=True
        )
        assert not isinstance(gone, BaseException)
        assert isinstance(again, Conflict) or not isinstance(again, BaseException)
        live = [memory for memory in await one.browse(limit=1000) if memory.content == f"secret {attempt}"]
        assert id_ not in {memory.id for memory in live}
        with pytest.raises(NotFound):
            await one.get(id_)
        assert len(live) <= 1


async def test_every_verb_at_once_raises_only_what_it_documents(writers: Any) -> None:
    one, two = writers
    ids = [answer.memory.id for answer in await one.remember_many([f"ferry {number}" for number in range(10)])]

    async def noise(writer: AsyncEbbtide, place: int) -> None:
        id_ = ids[place % len(ids)]
        for verb in (
            lambda: writer.recall("ferry", trace=True),
            lambda: writer.revise(id_, f"ferry {place} revised"),
            lambda: writer.remember(f"ferry {place} corrected", supersedes=id_),
            lambda: writer.explain("ferry", id_),
            lambda: writer.context("ferry", budget=100),
            lambda: writer.forget(id_, 1 + place % 3),
            lambda: writer.browse(),
        ):
            with suppress(Conflict, NotFound):
                await verb()

    await asyncio.gather(*(noise((one, two)[place % 2], place) for place in range(16)))


def test_batches_that_repeat_and_supersede_crosswise_do_not_wait_for_each_other(memory: Ebbtide) -> None:
    """Each repeats what the other supersedes; one goes first, and the other takes things as it finds them."""
    for round_ in range(5):
        one, other = (memory.remember(f"{text} {round_}").memory for text in ("alpha", "beta"))
        assert one is not None
        assert other is not None
        batches = [
            [{"content": one.content}, {"content": f"gamma {round_}", "supersedes": other.id}],
            [{"content": other.content}, {"content": f"delta {round_}", "supersedes": one.id}],
        ]
        with ThreadPoolExecutor(2) as pool:
            answers = [*pool.map(memory.remember_many, batches)]
        assert all(len(answer) == 2 for answer in answers)
