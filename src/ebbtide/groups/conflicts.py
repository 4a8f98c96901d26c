"""handle.conflicts: what memories disagree on."""

from __future__ import annotations

from uuid import UUID

from ebbtide.groups.base import Group
from ebbtide.paths.conflicts import list_conflicts, resolve_conflict
from ebbtide.types.base import Page
from ebbtide.types.memory import Dispute, Memory

__all__ = ["AsyncConflicts"]


class AsyncConflicts(Group):
    """Conflicts between memories, found as they were written. Both sides stay readable until one is settled."""

    async def list(self, *, limit: int = 50, after: UUID | str | None = None) -> Page[Dispute]:
        """The conflicts of which both sides still hold, newest first.

        `limit` goes from 1 to 1,000, `after` is the id of the last one seen.

        Raises:
            InvalidInput: the limit is out of its range.
            NotFound: the last one seen is gone, since one of its sides was forgotten.
        """
        return await list_conflicts(await self.engine(), self.caller, limit=limit, after=after)

    async def resolve(self, conflict_id: UUID | str, choice: str, merged: str | None = None) -> list[Memory]:
        """Settle a conflict; answers with the memories that hold from now on.

        `choice` is `keep_new` or `keep_old`, by which the other side is superseded; `keep_both`, where they do not
        contradict each other after all; or `merge`, by which both are superseded by the statement `merged`.

        Raises:
            NotFound: there is no such conflict, or it is settled.
            InvalidInput: there is no such choice, or the merged statement is missing or not acceptable.
            Conflict: another memory says just what is merged, or another writer was faster.
            ModelError: the merged statement could not be embedded.
        """
        return await resolve_conflict(await self.engine(), self.caller, conflict_id, choice, merged=merged)
