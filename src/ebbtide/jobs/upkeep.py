"""Every night: what was kept for a while only goes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ebbtide.db.owner import owner_transaction
from ebbtide.forget.retention import forget_outlived, purge
from ebbtide.govern.audit import seal
from ebbtide.jobs.each import enqueue_each

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["TIDY", "TIDY_TENANT", "tidy", "tidy_tenant"]

TIDY = "tidy"
TIDY_TENANT = "tidy_tenant"
SUCCEEDED_JOB_DAYS = 3
FAILED_JOB_DAYS = 30


async def tidy(engine: Engine) -> None:
    """Remove jobs that ended long ago, and ask for each tenant's tidying."""
    now = engine.clock.now()
    async with owner_transaction(engine.database) as transaction:
        await transaction.run(
            "jobs.delete_ended",
            succeeded_before=now - timedelta(days=SUCCEEDED_JOB_DAYS),
            failed_before=now - timedelta(days=FAILED_JOB_DAYS),
        )
        await transaction.run("jobs.delete_failures")
    await enqueue_each(engine, TIDY_TENANT)


async def tidy_tenant(engine: Engine, *, tenant: str) -> None:
    """Remove what a tenant's rules and the settings keep no longer, and seal its audit.

    Memories whose namespaces have a retention are forgotten with receipts, emptied rows of those forgotten before,
    idempotency keys, logged recalls and what routing learnt of words go without.
    """
    now, settings = engine.clock.now(), engine.settings
    async with engine.database.transaction(tenant) as transaction:
        await transaction.run(
            "jobs.delete_answers", tenant=tenant, before=now - timedelta(days=settings.idempotency_days)
        )
        await transaction.run(
            "jobs.delete_recalls",
            tenant=tenant,
            before=now - timedelta(days=settings.recall_log_days),
            rated_before=now - timedelta(days=settings.judgement_days),
        )
        await transaction.run(
            "jobs.delete_habits", tenant=tenant, before=now - timedelta(days=settings.recall_log_days)
        )
    await forget_outlived(engine, tenant)
    await purge(engine, tenant)
    await seal(engine, tenant)
