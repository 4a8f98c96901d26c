"""handle.holds: what may not be forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_flag
from ebbtide.forget.holds import covers_of, keep_hold, list_holds, release_hold
from ebbtide.forget.tombstone import lock
from ebbtide.govern import audit
from ebbtide.govern.access import ADMIN, authorise
from ebbtide.groups.base import Group
from ebbtide.read.where import Filter
from ebbtide.types.evidence import Hold
from ebbtide.types.recall import TagFilter

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["AsyncHolds"]


class AsyncHolds(Group):
    """Legal holds: what they cover cannot be forgotten, erased or outlived until they are released."""

    async def _admitted(self) -> Engine:
        engine = await self.engine()
        await authorise(engine, self.caller, ADMIN, verb="holds")
        return engine

    async def place(
        self,
        where: Filter | Mapping[str, Any] | None = None,
        *,
        reason: str,
        ids: Sequence[UUID | str] | None = None,
        user: str | None = None,
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
    ) -> Hold:
        """Begin a hold on memories by their ids, on all of a user, or on all of the agent that meet a filter.

        What meets the filter later is covered too. `namespaces`, `kinds`, `labels`, `tags` and `where` are `recall`'s.

        Raises:
            InvalidInput: nothing, or more than one of the three was given, or there is no reason.
            NotFound: an id is of no memory.
        """
        engine = await self._admitted()
        now = engine.clock.now()
        given_tags = tags.model_dump(exclude_none=True) if isinstance(tags, TagFilter) else tags
        narrowed = {"namespaces": namespaces, "kinds": kinds, "labels": labels, "tags": given_tags}
        covers = covers_of(self.caller, now, where=where, ids=ids, user=user, narrowed=narrowed)
        async with engine.database.transaction(self.caller.tenant) as transaction:
            await lock(transaction, self.caller.tenant)
            hold = await keep_hold(transaction, self.caller.tenant, reason, covers, now)
            detail = {"operation": "place hold", "hold": str(hold.id)}
            await audit.write(transaction, self.caller, "status", [(None, detail)], now)
        return hold

    async def list(self, *, released: bool = False) -> list[Hold]:
        """Holds, the newest first: those that last, or with `released` all there ever were.

        Raises:
            InvalidInput: `released` is neither true nor false.
        """
        check_flag(released, "released")
        engine = await self._admitted()
        async with engine.database.transaction(self.caller.tenant, snapshot=True) as transaction:
            return await list_holds(transaction, self.caller.tenant, released=released)

    async def release(self, hold_id: UUID | str) -> Hold:
        """End a hold.

        Raises:
            NotFound: no such hold lasts.
        """
        engine = await self._admitted()
        now = engine.clock.now()
        async with engine.database.transaction(self.caller.tenant) as transaction:
            hold = await release_hold(transaction, self.caller.tenant, hold_id, now)
            detail = {"operation": "release hold", "hold": str(hold.id)}
            await audit.write(transaction, self.caller, "status", [(None, detail)], now)
        return hold
