"""handle.jobs: the background work of a store."""

from __future__ import annotations

from ebbtide.groups.base import Group
from ebbtide.jobs.manage import cancel_job, list_jobs, retry_job
from ebbtide.types.base import Page
from ebbtide.types.jobs import Job

__all__ = ["AsyncJobs"]


class AsyncJobs(Group):
    """Background work: embeddings, indexes, upkeep. `everything` is the whole store's, not the tenant's alone."""

    async def list(
        self, status: str | None = None, *, limit: int = 50, before: int | None = None, everything: bool = False
    ) -> Page[Job]:
        """Jobs, the newest first.

        `status` is one of todo, doing, succeeded, failed, cancelled and aborted; `limit` goes from 1 to 1,000, and
        `before` leaves out those from that id on, to continue.

        Raises:
            InvalidInput: there is no such status, or the limit is out of range.
        """
        return await list_jobs(
            await self.engine(), self.caller, status=status, limit=limit, before=before, everything=everything
        )

    async def retry(self, job_id: int, *, everything: bool = False) -> None:
        """Let a job that ended, or waits for its next attempt, run now; it has all its attempts before it again.

        Raises:
            NotFound: the tenant has no such job.
            Conflict: it runs at the moment, or another job waits to do the same.
        """
        await retry_job(await self.engine(), self.caller, job_id, everything=everything)

    async def cancel(self, job_id: int, *, everything: bool = False) -> None:
        """Cancel a job that waits, or ask one that runs to stop.

        Raises:
            NotFound: the tenant has no such job.
            Conflict: it has ended.
        """
        await cancel_job(await self.engine(), self.caller, job_id, everything=everything)
