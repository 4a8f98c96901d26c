"""Every night: near duplicates become one where the setting asks for it, once however many workers there are."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.paths import consolidation
from ebbtide.types.caller import Caller
from tests import stores
from tests.jobs.support import ScriptedEmbedder, all_done, eventually, has_run, statuses, worker
from tests.write.test_relations import direction

TEXTS = ("User prefers dark mode in the editor.", "The user prefers the dark mode in the editor always")
NORTH = direction(1.0)


@pytest.mark.parametrize("on", [True, False])
async def test_each_agent_is_left_with_one_of_two(
    dsn: str, clock: FixedClock, embedder: ScriptedEmbedder, on: bool
) -> None:
    settings = stores.SETTINGS.model_copy(update={"consolidate_nightly": on})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as memory:
        agents = [memory.scoped(agent=name, user="ana") for name in ("one", "two")]
        for agent in agents:
            for text in TEXTS:
                await agent.remember(text, vector=NORTH)
        held = [str(one.id) for one in await agents[1].browse()]
        await agents[1].holds.place(reason="a case", ids=held)
        async with worker(memory), worker(memory), worker(memory):
            await eventually(lambda: has_run(memory, "consolidate_tenant" if on else "consolidate"))
            await eventually(lambda: all_done(memory))
        assert await statuses(memory, "consolidate") == ["succeeded"]
        assert await statuses(memory, "consolidate_tenant") == (["succeeded"] if on else [])
        left = [[one.content for one in await agent.browse()] for agent in agents]
        assert left == [[TEXTS[1]] if on else [TEXTS[1], TEXTS[0]], [TEXTS[1], TEXTS[0]]]


async def test_many_are_merged_a_part_at_a_time(
    dsn: str, clock: FixedClock, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidation, "MERGED_AT_ONCE", 2)
    parts: list[int] = []
    real = consolidation.merge

    async def counted(*given: Any) -> None:
        parts.append(len(given[2].plan))
        await real(*given)

    monkeypatch.setattr(consolidation, "merge", counted)
    async with AsyncEbbtide.open(dsn, clock=clock, settings=stores.SETTINGS, embedder=embedder) as memory:
        for number in range(5):
            for text in TEXTS:
                await memory.remember(text, vector=NORTH, namespace=f"vector.global.{number}")
        engine, caller = await memory.engine(), Caller("default", "default")
        assert await consolidation.consolidate_all(engine, caller) == 5
        assert parts == [2, 2, 1]
        assert {one.content for one in await memory.browse()} == {TEXTS[1]}
        assert await consolidation.consolidate_all(engine, caller) == 0
        assert parts == [2, 2, 1]
