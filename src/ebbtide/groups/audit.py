"""handle.audit: who did what, and the proof that nothing of it was changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.govern import audit
from ebbtide.govern.access import OPERATOR, authorise
from ebbtide.groups.base import Group
from ebbtide.read.reinforce import flush
from ebbtide.types.base import Page
from ebbtide.types.evidence import AuditCheck, AuditEntry

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["AsyncAudit"]


class AsyncAudit(Group):
    """The tenant's audit: metadata of every read, write, change, deletion and refusal, never what a memory says."""

    async def flushed(self) -> Engine:
        """The engine, with every read of the tenant so far written down, for an operator."""
        engine = await self.engine()
        await authorise(engine, self.caller, OPERATOR, verb="audit")
        await flush(engine, self.caller.tenant)
        return engine

    async def entries(
        self,
        *,
        action: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        memory_id: UUID | str | None = None,
        since: Any = None,
        until: Any = None,
        before: int | None = None,
        limit: int = 50,
    ) -> Page[AuditEntry]:
        """Rows, the newest first.

        Args:
            action: read, write, update, delete, status or warning.
            agent, user: who did it, or on whose behalf.
            memory_id: what it was done to. A read names what came back in its detail instead.
            since, until: from this moment on, and before that one.
            before: only rows with a smaller number, to continue.
            limit: from 1 to 1,000.

        Raises:
            InvalidInput: an argument is not acceptable; the error names it.
        """
        return await audit.list_entries(
            await self.flushed(), self.caller, action=action, agent=agent, user=user, memory_id=memory_id, since=since,
            until=until, before=before, limit=limit,
        )  # fmt: skip

    async def verify(self) -> AuditCheck:
        """Whether any row or seal was edited, removed or put in by another hand.

        Rows are sealed about every second while a store is open. One that is not sealed yet shows whether it was
        edited, but not whether it was removed.
        """
        return await audit.verify(await self.flushed(), self.caller)

    async def seal(self) -> int:
        """Seal everything now; answers with how many rows were."""
        return await audit.seal(await self.flushed(), self.caller.tenant)

    async def export(self) -> AsyncGenerator[dict[str, Any]]:
        """The whole audit as JSON values: each row as `{"entry": {…}}` in order, then each seal as `{"seal": {…}}`."""
        async with aclosing(audit.export_pages(await self.flushed(), self.caller)) as pages:
            async for page in pages:
                for record in page:
                    yield record
