"""The values of background work."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args

from ebbtide.types.base import Value

__all__ = [
    "JOB_STATUSES",
    "Job",
    "JobStatus",
]

JobStatus = Literal["todo", "doing", "succeeded", "failed", "cancelled", "aborted"]


JOB_STATUSES: tuple[str, ...] = get_args(JobStatus)


class Job(Value):
    """One piece of background work.

    `status` is `todo`, `doing`, `succeeded`, `failed`, `cancelled` or `aborted`; `scheduled_at` is when a waiting job
    runs at the earliest, None for at once; `error` and `failed_at` tell of its last failed attempt. Times are UTC.
    """

    id: int
    task: str
    status: JobStatus
    attempts: int
    scheduled_at: datetime | None = None
    tenant: str | None = None
    error: str | None = None
    failed_at: datetime | None = None
