"""What facts that changed were told by, and what tells of them: marked and hidden in the same transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.queue import enqueue, lock_of
from ebbtide.govern.audit import write as write_audit
from ebbtide.write.origins import mark_outdated

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["REFRESH_TENANT_PAGES", "enqueue_refresh", "facts_changed"]

REFRESH_TENANT_PAGES = "refresh_tenant_pages"


async def facts_changed(
    transaction: Transaction,
    caller: Caller,
    facts: Sequence[UUID],
    now: datetime,
    *,
    sources: Collection[UUID] = (),
) -> None:
    """Let nothing speak for facts that ceased to hold, say something else, or hold again.

    Turns and notes of which no fact holds any more are outdated, those too that lately were `sources` of them; pages
    made from them are invalid until a job has made them anew. Call it wherever facts are superseded, invalidated or
    the like, once they are locked and changed, at the end of the transaction.
    """
    await mark_outdated(transaction, caller.tenant, facts, sources=sources)
    await _hide_pages(transaction, caller, facts, now)


async def _hide_pages(transaction: Transaction, caller: Caller, facts: Sequence[UUID], now: datetime) -> None:
    """Hide the pages made from facts. One that is hidden already gets a new revision too.

    So whoever is just making it anew from the old facts is refused.
    """
    pages = [row[0] for row in await transaction.all("graph.pages_made_from", tenant=caller.tenant, ids=list(facts))]
    if not pages:
        return
    await transaction.run("remember.keep_version", tenant=caller.tenant, ids=pages, now=now)
    await transaction.run("graph.hide_pages", tenant=caller.tenant, ids=pages, now=now)
    detail = {"operation": "facts of the page changed", "to": "invalidated"}
    await write_audit(transaction, caller, "status", [(id_, detail) for id_ in pages], now)
    await enqueue_refresh(transaction, caller.tenant)


async def enqueue_refresh(transaction: Transaction, tenant: str) -> None:
    """Ask for a tenant's pages to be brought up to date; the last thing to do in a transaction."""
    lock = lock_of(REFRESH_TENANT_PAGES, tenant)
    await enqueue(transaction.connection, REFRESH_TENANT_PAGES, queueing_lock=lock, lock=lock, tenant=tenant)
