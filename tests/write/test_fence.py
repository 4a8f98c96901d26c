"""Sessions fence late work: what was derived before something of a session was forgotten is not written afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Forbidden, InvalidInput, NotFound, StaleRevision
from ebbtide.forget.retention import forget_outlived
from ebbtide.models.fake import FakeEmbedder
from ebbtide.settings import Settings

Write = Callable[[Ebbtide, Any, int], Any]

WRITES: dict[str, Write] = {
    "remember": lambda memory, _, at: memory.remember("The safe is empty.", session_revision=at),
    "remember_many": lambda memory, _, at: memory.remember_many(["One.", "Two."], session_revision=at),
    "supersede": lambda memory, id_, at: memory.supersede(id_, "The ferry left.", session_revision=at),
    "revise": lambda memory, id_, at: memory.revise(id_, "The ferry left.", session_revision=at),
    "record_run": lambda memory, _, at: memory.record_run("Which code?", "It was changed.", session_revision=at),
}


@pytest.fixture
def session(memory: Ebbtide) -> Ebbtide:
    return memory.scoped(session="s", user="ana")


def lose_one(session: Ebbtide, text: str = "The safe opens with 4471.") -> None:
    told = session.remember(text).memory
    assert told is not None
    session.forget(told.id, told.revision)


def test_each_forgetting_raises_the_revision_of_its_session_alone(memory: Ebbtide, session: Ebbtide) -> None:
    others = [
        memory.scoped(session="s", agent="other"),
        memory.scoped(session="t"),
        memory.scoped(session="s", tenant="other"),
    ]
    for other in others:
        other.remember("The safe opens with 4471.")
    assert session.session_revision() == 1
    session.remember("The ferry is late.")
    assert session.session_revision() == 1
    for number in range(2, 5):
        lose_one(session)
        assert session.session_revision() == number
    assert [other.session_revision() for other in others] == [1, 1, 1]
    lose_one(others[0], "The key is under the mat.")
    assert (session.session_revision(), others[0].session_revision()) == (4, 2)


def test_every_way_of_forgetting_raises_it(memory: Ebbtide, session: Ebbtide, clock: FixedClock) -> None:
    revisions = [session.session_revision()]

    def seen() -> None:
        revisions.append(session.session_revision())

    session.remember("By a filter.", tags=["gone"])
    token = session.forget_where(tags=["gone"]).token
    session.forget_where(tags=["gone"], dry_run=False, token=token)
    seen()
    session.remember("With its user.")
    memory.erase_user("ana")
    seen()
    memory.rules.add("vector.agent.ana", retention_days=1)
    session.remember("For a day.")
    clock.advance(timedelta(days=2))
    memory.wait_for(lambda: outlive(memory))
    seen()
    session.remember("With its tenant.")
    memory.erase_tenant(confirm="default")
    seen()
    assert revisions == sorted(set(revisions))


async def outlive(memory: Ebbtide) -> None:
    await forget_outlived(await memory.inner.engine(), "default")


def test_erasing_a_tenant_fences_the_sessions_of_which_nothing_is_kept(memory: Ebbtide, session: Ebbtide) -> None:
    quiet = memory.scoped(session="quiet")
    lose_one(session)
    lose_one(session)
    captured = [one.session_revision() for one in (session, quiet)]
    assert captured == [3, 1]
    memory.erase_tenant(confirm="default")
    for one, at in zip((session, quiet), captured, strict=True):
        with pytest.raises(StaleRevision):
            one.remember("Derived from what is gone.", session_revision=at)
        assert one.remember("Anew.", session_revision=one.session_revision()).memory is not None
    lose_one(quiet)
    memory.erase_tenant(confirm="default")
    assert quiet.session_revision() > 4


@pytest.mark.parametrize("verb", list(WRITES))
def test_late_work_is_turned_away_and_the_audit_tells(memory: Ebbtide, session: Ebbtide, verb: str) -> None:
    kept = session.remember("The ferry leaves at seven.").memory
    assert kept is not None
    captured = session.session_revision()
    lose_one(session)
    before = list(memory.export_records())
    for wrong in (captured, captured + 5):
        with pytest.raises(StaleRevision) as caught:
            WRITES[verb](session, kept.id, wrong)
        assert caught.value.field == "session_revision"
        assert f"is at revision 2, not {wrong}" in caught.value.message
        assert caught.value.remedy
    assert list(memory.export_records()) == before
    warnings = memory.audit.entries(action="warning")
    assert [one.detail["refused"] for one in warnings] == ["stale_revision"] * 2
    assert {one.user for one in warnings} == {"ana"}
    assert WRITES[verb](session, kept.id, 2)
    assert list(memory.export_records()) != before


def test_work_that_is_late_while_it_embeds_is_turned_away(
    session: Ebbtide, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = session.remember("The safe opens with 4471.").memory
    assert source is not None
    embed = embedder.embed

    async def embed_after_a_forgetting(texts: Sequence[str]) -> NDArray[np.float32]:
        monkeypatch.setattr(embedder, "embed", embed)
        await session.inner.forget(source.id, 1)
        return await embed(texts)

    captured = session.session_revision()
    monkeypatch.setattr(embedder, "embed", embed_after_a_forgetting)
    with pytest.raises(StaleRevision):
        session.remember("A safe's code was told.", session_revision=captured)
    assert session.browse() == []


def test_a_retry_gets_the_first_answer_whatever_was_forgotten_since(session: Ebbtide) -> None:
    captured = session.session_revision()
    first = session.remember("The ferry is late.", session_revision=captured, idempotency_key="k")
    lose_one(session)
    again = session.remember("The ferry is late.", session_revision=captured, idempotency_key="k")
    assert again.memory == first.memory
    with pytest.raises(StaleRevision):
        session.remember("The ferry is late.", session_revision=captured)


@pytest.mark.parametrize("wrong", [0, -1, True, "1", 1.0, float("nan"), 2**31, 2**70, None.__class__, b"1", [1]])
def test_what_is_no_revision_is_refused(session: Ebbtide, wrong: Any) -> None:
    id_ = session.remember("The ferry is late.").memory.id
    for write in WRITES.values():
        with pytest.raises(InvalidInput) as caught:
            write(session, id_, wrong)
        assert caught.value.field == "session_revision"


def test_a_handle_without_a_session_has_no_revision_of_one(memory: Ebbtide) -> None:
    id_ = memory.remember("The ferry is late.").memory.id
    asking: list[Callable[[], Any]] = [memory.session_revision]
    asking += [lambda write=write: write(memory, id_, 1) for write in WRITES.values()]
    for ask in asking:
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert caught.value.field == "session"


def test_a_policed_handle_is_fenced_by_its_own_session(memory: Ebbtide, session: Ebbtide) -> None:
    memory.policies.set("default", {"write": "vector.team", "read": ["vector.team"], "allow_write": True})
    writer = memory.as_agent("default", ["memory:write"], session="s")
    reader = memory.as_agent("default", ["memory:read"], session="s")
    captured = writer.session_revision()
    lose_one(session)
    assert writer.session_revision() == 2
    with pytest.raises(StaleRevision):
        writer.remember("Late.", session_revision=captured)
    with pytest.raises(Forbidden):
        reader.session_revision()


async def test_nothing_is_derived_from_what_is_forgotten_however_they_race(
    dsn: str, clock: FixedClock, settings: Settings, embedder: FakeEmbedder
) -> None:
    async with (
        AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder, session="s") as one,
        AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder, session="s") as two,
    ):
        sources = [(await one.remember(f"source {number}")).memory.id for number in range(16)]
        outcomes: Counter[str] = Counter()
        at_the_forgetting: dict[int, int] = {}
        wrote = asyncio.Event()

        async def derived(number: int) -> int:
            return len(await one.browse(tags=[f"from{number}"], limit=1000))

        async def derive(writer: AsyncEbbtide, name: int) -> None:
            for turn in range(1_000):
                number = (turn * 7 + name) % len(sources)
                captured = await writer.session_revision()
                try:
                    await writer.get(sources[number])
                    await writer.remember(f"{name} {turn}", tags=[f"from{number}"], session_revision=captured)
                    outcomes["written"] += 1
                    wrote.set()
                except StaleRevision:
                    outcomes["late"] += 1
                except NotFound:
                    outcomes["gone"] += 1
                if len(at_the_forgetting) == len(sources):
                    return

        async def forget() -> None:
            for number, id_ in enumerate(sources):
                wrote.clear()
                await wrote.wait()
                await two.forget(id_, 1)
                at_the_forgetting[number] = await derived(number)

        await asyncio.gather(forget(), *(derive(one if name % 2 else two, name) for name in range(6)))
        assert {number: await derived(number) for number in range(len(sources))} == at_the_forgetting
        assert await one.session_revision() == 1 + len(sources)
        assert outcomes["written"] > 0
        assert outcomes["late"] > 0
