"""Scheduled work as a job for each tenant, so that none waits for another, or fails with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.queue import enqueue, lock_of
from ebbtide.govern.tenants import list_tenants

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["enqueue_each"]


async def enqueue_each(engine: Engine, task: str) -> None:
    """Ask for a task of every tenant; one that waits already is not asked for twice, and of each one runs at a time."""
    for tenant in await list_tenants(engine):
        async with engine.database.transaction(tenant) as transaction:
            lock = lock_of(task, tenant)
            await enqueue(transaction.connection, task, queueing_lock=lock, lock=lock, tenant=tenant)
