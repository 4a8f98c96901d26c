"""The worker: runs jobs, notes why they fail, and takes up those whose worker was killed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from procrastinate import App
from procrastinate.exceptions import ConnectorException, JobAborted, UniqueViolation
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from procrastinate.retry import BaseRetryStrategy, RetryDecision

from ebbtide.background import end
from ebbtide.db.owner import owner_connection, queue_connector
from ebbtide.db.queue import EMBEDDING_QUEUE, QUEUE
from ebbtide.db.statements import statement
from ebbtide.errors import EbbtideError, StaleRevision
from ebbtide.jobs.consolidating import CONSOLIDATE, CONSOLIDATE_TENANT, consolidate, consolidate_tenant
from ebbtide.jobs.embedding import RESUME_EMBEDDING, enqueue_resumption, resume_embedding
from ebbtide.jobs.episodes import SUMMARISE, SUMMARISE_TENANT, summarise, summarise_tenant
from ebbtide.jobs.extracting import extract_memories
from ebbtide.jobs.fading import FADE, FADE_SCHEDULE, FADE_TENANT, fade, fade_tenant
from ebbtide.jobs.index import BUILD_VECTOR_INDEX, build_vector_index
from ebbtide.jobs.pages import REFRESH_PAGES, REFRESH_TENANT_PAGES, refresh, refresh_tenant
from ebbtide.jobs.upkeep import TIDY, TIDY_TENANT, tidy, tidy_tenant
from ebbtide.write.pending import EMBED_PENDING, embed_pending
from ebbtide.write.wanted import EXTRACT_MEMORIES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from procrastinate.job_context import JobContext
    from procrastinate.jobs import Job
    from procrastinate.worker import Worker

    from ebbtide.engine import Engine
    from ebbtide.jobs import Pace

__all__ = ["work"]

log = logging.getLogger("ebbtide")

# An index takes minutes to build; other jobs run beside it.
JOBS_AT_ONCE = 2
RETRIES = 5
RETRY_GROWTH = 3
DAY_SECONDS = 86_400.0
PATIENCE_SECONDS = 0.5
WORKER_LOST = "Its worker ended in the middle."


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of job: what runs, the queue it waits in, and when it is due by itself, as in a crontab, in UTC."""

    run: Callable[..., Awaitable[None]]
    queue: str = QUEUE
    schedule: str | None = None


TASKS = {
    EXTRACT_MEMORIES: Task(extract_memories),
    EMBED_PENDING: Task(embed_pending, EMBEDDING_QUEUE),
    RESUME_EMBEDDING: Task(resume_embedding, EMBEDDING_QUEUE, "7 * * * *"),
    BUILD_VECTOR_INDEX: Task(build_vector_index),
    REFRESH_PAGES: Task(refresh, schedule="37 * * * *"),
    REFRESH_TENANT_PAGES: Task(refresh_tenant),
    TIDY: Task(tidy, schedule="17 3 * * *"),
    TIDY_TENANT: Task(tidy_tenant),
    FADE: Task(fade, schedule=FADE_SCHEDULE),
    FADE_TENANT: Task(fade_tenant),
    SUMMARISE: Task(summarise, schedule="47 3 * * *"),
    SUMMARISE_TENANT: Task(summarise_tenant),
    CONSOLIDATE: Task(consolidate, schedule="7 4 * * *"),
    CONSOLIDATE_TENANT: Task(consolidate_tenant),
}


class JobFailed(Exception):
    """What the queue is told of a failure: nothing that a memory says can be in it."""


class JobLate(JobFailed):
    """What a job captured when it was asked for holds no longer, and would not at another attempt either."""


class Backoff(BaseRetryStrategy):
    """Five retries, each after three times the wait before; a job that a stopping worker cut short runs anew.

    One that came late is never tried again.
    """

    def __init__(self, first_seconds: float) -> None:
        self.first_seconds = first_seconds

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """When a job that failed runs again; None for never."""
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        if job.attempts >= RETRIES or isinstance(exception, JobLate):
            return None
        milliseconds = int(1000 * self.first_seconds * RETRY_GROWTH**job.attempts)
        return RetryDecision(retry_in={"milliseconds": milliseconds})


class Manager(JobManager):
    """The queue's manager, which can also retry a job while another waits under the same queueing lock."""

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back into the queue; it ends instead where another waits to do the same."""
        try:
            await super().retry_job(job, retry_at, priority, queue, lock)
        except UniqueViolation:
            await self.finish_job(job, Status.ABORTED, delete_job=False)


def without_lost_database(record: logging.LogRecord) -> bool:
    """Whether a record is worth its lines: that the database is lost is said in one of ours, without a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectorException | psycopg.Error)


async def work(engine: Engine, pace: Pace) -> None:
    """Run jobs for ever; begins anew where the database went away."""
    for name in ("procrastinate.worker.ebbtide", "procrastinate.utils"):
        logging.getLogger(name).addFilter(without_lost_database)
    while True:
        try:
            await serve(engine, pace)
        except (ConnectorException, psycopg.Error, EbbtideError) as error:
            log.warning("the worker lost the database (%s) and begins anew", type(error).__name__)
        await asyncio.sleep(pace.restart)


async def serve(engine: Engine, pace: Pace) -> None:
    """Run jobs until cancelled or until the connection to the queue fails."""
    queues = [QUEUE] if engine.embedder is None else [QUEUE, EMBEDDING_QUEUE]
    app = make_app(engine, pace, queues)
    async with app.open_async():
        if EMBEDDING_QUEUE in queues:
            async with owner_connection(engine.database) as connection:
                await enqueue_resumption(connection)
        rescuing = asyncio.create_task(take_up_for_ever(app, engine, pace), name="ebbtide-rescue")
        try:
            await app.run_worker_async(
                queues=queues,
                name="ebbtide",
                concurrency=JOBS_AT_ONCE,
                fetch_job_polling_interval=pace.poll,
                abort_job_polling_interval=pace.poll,
                shutdown_graceful_timeout=pace.grace,
                update_heartbeat_interval=pace.heartbeat,
                stalled_worker_timeout=pace.stalled,
                install_signal_handlers=False,
                worker_middleware=[watched(app, engine)],
            )
        finally:
            await end(rescuing, patience_seconds=PATIENCE_SECONDS)


def make_app(engine: Engine, pace: Pace, queues: list[str]) -> App:
    """The queue's app with the tasks of `queues`, bound to one engine.

    A schedule that was missed by less than a day, since no worker ran, is made up for.
    """
    connector = queue_connector(engine.database)
    app = App(connector=connector, periodic_defaults={"max_delay": DAY_SECONDS})
    app.job_manager = Manager(connector)
    for name, task in TASKS.items():
        if task.queue in queues:
            registered = app.task(name=name, queue=task.queue, retry=Backoff(pace.first_retry))(bound(engine, task))
            if task.schedule is not None:
                app.periodic(cron=task.schedule, queueing_lock=name, lock=name)(registered)
    return app


def bound(engine: Engine, task: Task) -> Callable[..., Awaitable[None]]:
    """The task's function with its engine; the queue hands a scheduled one the moment, which it does not need."""

    async def run(**arguments: Any) -> None:
        arguments.pop("timestamp", None)
        await task.run(engine, **arguments)

    return run


def watched(app: App, engine: Engine) -> Callable[[Callable[[], Awaitable[Any]], JobContext, Worker], Awaitable[Any]]:
    """Runs a job after those who leaned on it, and notes why it failed."""

    async def run(job: Callable[[], Awaitable[Any]], context: JobContext, worker: Worker) -> Any:  # noqa: ARG001 - the queue hands it
        queue = app.connector
        if context.job.queueing_lock is not None:
            await queue.execute_query_async(statement("jobs.await_writers"), queueing_lock=context.job.queueing_lock)
        try:
            return await job()
        except asyncio.CancelledError:
            if context.abort_reason() is AbortReason.USER_REQUEST:
                raise JobAborted from None
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was is noted, and the queue decides what follows
            told = message_of(error)
            await record_failure(app, engine, context.job.id, told)
            raise (JobLate if isinstance(error, StaleRevision) else JobFailed)(told) from None

    return run


def message_of(error: Exception) -> str:
    """What may be kept of an error: Ebbtide's own words; of a foreign one, which may quote a memory, its class."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, EbbtideError) else name


async def record_failure(app: App, engine: Engine, job_id: int | None, error: str) -> None:
    """Keep why the last attempt at a job failed."""
    await app.connector.execute_query_async(
        statement("jobs.record_failure"), job=job_id, error=error, now=engine.clock.now()
    )


async def take_up_for_ever(app: App, engine: Engine, pace: Pace) -> None:
    """Time and again put the jobs of workers that went silent back into the queue, each once whoever does it."""
    while True:
        try:
            await app.job_manager.prune_stalled_workers(pace.stalled)
            lost = await app.connector.execute_query_all_async(statement("jobs.take_up"), most_attempts=RETRIES)
            for job in lost:
                await record_failure(app, engine, job["id"], WORKER_LOST)
        except ConnectorException as error:
            log.warning("jobs of lost workers were not looked for: %s", type(error).__name__)
        await asyncio.sleep(pace.heartbeat)
