"""Every night: near duplicates become one where the setting asks for it, once however many workers there are."""

from __future__ import annotations

import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
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
