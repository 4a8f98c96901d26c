"""The job queue: work that is enqueued in the transaction that causes it."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ebbtide.db.database import Transaction

if TYPE_CHECKING:
    from procrastinate import App
    from psycopg import AsyncConnection

__all__ = ["EMBEDDING_QUEUE", "QUEUE", "enqueue", "lock_of"]

QUEUE = "ebbtide"
# Served only by workers that have an embedder, so that the others leave its jobs alone.
EMBEDDING_QUEUE = "ebbtide_embedding"


def lock_of(task: str, tenant: str) -> str:
    """The lock of a task of one tenant. Every tenant's transactions can read locks, so it does not tell the name."""
    return f"{task}:{sha256(tenant.encode()).hexdigest()[:32]}"


@cache
def _enqueuer() -> App:
    """An app that never opens connections of its own: its jobs travel on the caller's."""
    from procrastinate import App, PsycopgConnector

    return App(connector=PsycopgConnector())


async def enqueue(
    connection: AsyncConnection[Any],
    task: str,
    *,
    queue: str = QUEUE,
    queueing_lock: str | None = None,
    lock: str | None = None,
    **arguments: Any,
) -> bool:
    """Add a job in the open transaction of `connection`; it exists only if that commits.

    At most one job waits under a `queueing_lock`: a second one answers False and adds nothing, and the one that waits
    will see what this transaction wrote. At most one job runs under a `lock`. Do this last in a transaction: whoever
    enqueues under the same lock meanwhile waits until the transaction ends.
    """
    from procrastinate.exceptions import AlreadyEnqueued

    deferrer = _enqueuer().configure_task(
        task, queue=queue, queueing_lock=queueing_lock, lock=lock, connection=connection
    )
    if queueing_lock is not None:
        transaction = Transaction(connection)
        await transaction.run("jobs.announce", queueing_lock=queueing_lock)
        if (await transaction.one("jobs.waits", queueing_lock=queueing_lock))[0]:
            return False
    try:
        # A savepoint, since a job that another transaction has just added must not undo the caller's work.
        async with connection.transaction():
            await deferrer.defer_async(**arguments)
    except AlreadyEnqueued:
        return False
    return True
