"""What an operator does with jobs: look at them, try them again, cancel them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.errors import UniqueViolation

from ebbtide.checks import check_flag, check_whole, check_word
from ebbtide.db.owner import owner_transaction
from ebbtide.errors import Conflict, Forbidden, NotFound
from ebbtide.govern.access import OPERATOR, requires
from ebbtide.types.base import Page, page_of
from ebbtide.types.jobs import JOB_STATUSES, Job

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["cancel_job", "list_jobs", "retry_job"]

MOST_LISTED = 1_000
LAST_JOB = 2**63 - 1
RUNNING = "doing"
WAITING = "todo"


@requires(OPERATOR)
async def list_jobs(
    engine: Engine,
    caller: Caller,
    *,
    status: str | None = None,
    limit: int = 50,
    before: int | None = None,
    everything: bool = False,
) -> Page[Job]:
    """Jobs, the newest first: the tenant's, or the whole store's with `everything`. See `AsyncJobs.list`.

    Raises:
        InvalidInput: there is no such status, or the limit is not from 1 to 1,000.
    """
    if status is not None:
        check_word(status, "status", JOB_STATUSES, "a status of jobs")
    check_whole(limit, "limit", 1, MOST_LISTED)
    if before is not None:
        check_whole(before, "before", 1, LAST_JOB)
    _check_reach(caller, everything)
    async with owner_transaction(engine.database) as transaction:
        rows = await transaction.named(
            "jobs.list", tenant=caller.tenant, status=status, limit=limit + 1, before=before, everything=everything
        )
    return page_of([Job.model_construct(**row._asdict()) for row in rows], limit, lambda one: one.id)


@requires(OPERATOR)
async def retry_job(engine: Engine, caller: Caller, job_id: int, *, everything: bool = False) -> None:
    """Let a job that ended, or waits for its next attempt, run now; it has all its attempts before it again.

    Raises:
        NotFound: the tenant has no such job.
        Conflict: it runs at the moment, or another job waits to do the same.
    """
    _check_reach(caller, everything)
    async with owner_transaction(engine.database) as transaction:
        if await _locked(transaction, caller, job_id, everything) == RUNNING:
            raise Conflict(f"Job {job_id} runs at the moment.", field="id", remedy="Wait for its end, or cancel it.")
        try:
            await transaction.run("jobs.retry", job=job_id)
        except UniqueViolation:
            raise Conflict(
                f"Another job waits to do what job {job_id} did.", field="id", remedy="Retry the one that waits."
            ) from None


@requires(OPERATOR)
async def cancel_job(engine: Engine, caller: Caller, job_id: int, *, everything: bool = False) -> None:
    """Cancel a job that waits, or ask one that runs to stop.

    Raises:
        NotFound: the tenant has no such job.
        Conflict: it has ended.
    """
    _check_reach(caller, everything)
    async with owner_transaction(engine.database) as transaction:
        status = await _locked(transaction, caller, job_id, everything)
        if status not in (RUNNING, WAITING):
            raise Conflict(f"Job {job_id} has {status} already.", field="id", remedy="Nothing is left to cancel.")
        await transaction.run("jobs.cancel", job=job_id)


def _check_reach(caller: Caller, everything: bool) -> None:
    if check_flag(everything, "everything") and caller.access is not None:
        raise Forbidden("Only the owner sees the jobs of every tenant.", field="everything", remedy="Leave it out.")


async def _locked(transaction: Transaction, caller: Caller, job_id: Any, everything: bool) -> str:
    check_whole(job_id, "id", 1, LAST_JOB)
    row = await transaction.one("jobs.for_update", job=job_id, tenant=caller.tenant, everything=everything)
    if row is None:
        raise NotFound(f"There is no job {job_id}.", field="id", remedy="List the jobs to see which there are.")
    return row[0]
