"""The job queue: work that is enqueued in the transaction that causes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import AsyncConnection

__all__ = ["QUEUE", "enqueue"]

QUEUE = "ebbtide"


async def enqueue(connection: AsyncConnection[Any], task: str, *, lock: str | None = None, **arguments: Any) -> bool:
    """Add a job in the open transaction of `connection`; it exists only if that commits.

    At most one job waits under a `lock`: a second one answers False and adds nothing.
    """
    from procrastinate import App, PsycopgConnector
    from procrastinate.exceptions import AlreadyEnqueued

    app = App(connector=PsycopgConnector())
    deferrer = app.configure_task(task, queue=QUEUE, queueing_lock=lock, connection=connection)
    try:
        # A savepoint, since a job that waits already must not undo the caller's work.
        async with connection.transaction():
            await deferrer.defer_async(**arguments)
    except AlreadyEnqueued:
        return False
    return True
