"""handle.forgetting: what fades by itself when nobody uses it."""

from __future__ import annotations

from uuid import UUID

from ebbtide.govern.rules import set_forgetting
from ebbtide.groups.base import Group
from ebbtide.paths.fading import plan, run, show
from ebbtide.types.evidence import Curve, FadingPlan, FadingRun

__all__ = ["AsyncFading"]


class AsyncFading(Group):
    """Forgetting by itself: curves, what a nightly run would change, and whether memories of the tenant may fade."""

    async def enable(self) -> None:
        """Let the tenant's memories fade: from the next night on, what has faded is deleted softly.

        That is in no search and no listing. It can be read by its id, exported, restored and forgotten; and a recall
        that few live memories answer brings back to life what its words match. Look at `plan()` first.
        """
        await set_forgetting(await self.engine(), self.caller, True)

    async def disable(self) -> None:
        """Let nothing fade any more, nor come back to life by itself. What was deleted softly stays so."""
        await set_forgetting(await self.engine(), self.caller, False)

    async def show(self, memory_id: UUID | str) -> Curve:
        """Where a memory is on its forgetting curve, past and future, and when it will have faded; that is no access.

        Raises:
            NotFound: the agent has no such memory, it was forgotten, or the rules withhold it as `get` does.
        """
        return await show(await self.engine(), self.caller, memory_id)

    async def plan(self, *, limit: int = 100) -> FadingPlan:
        """What the next nightly run will change if nothing is used until then; nothing is changed now.

        It is at 03:37 UTC, the plan's `at`; idle days and effective confidence are those of that moment.
        At most `limit` of the memories that will have faded are listed.

        Raises:
            InvalidInput: the limit is not from 0 to 1,000.
        """
        return await plan(await self.engine(), self.caller, limit=limit)

    async def run(self) -> FadingRun:
        """Do now what the night does; a second time on the same day changes nothing."""
        return await run(await self.engine(), self.caller)
