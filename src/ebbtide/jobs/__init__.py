"""Background work: jobs that writes and recalls ask for, schedules, and the worker that runs them."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from anyio import to_thread

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["Pace", "run_worker"]


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker keeps time, in seconds.

    Attributes:
        poll: how often it looks for jobs that nobody announced, such as those that wait for their next attempt.
        heartbeat: how often it says that it lives.
        stalled: after how long a silence its jobs are taken up by others; more than two heartbeats.
        grace: how long running jobs may go on when it is told to end; then they are cancelled, to run again later.
        first_retry: the wait after a job's first failure; every further one is three times as long.
        restart: the wait after losing the database.
    """

    poll: float = 5.0
    heartbeat: float = 10.0
    stalled: float = 30.0
    grace: float = 0.5
    first_retry: float = 3.0
    restart: float = 2.0


async def run_worker(engine: Engine, *, install_signal_handlers: bool = False, pace: Pace | None = None) -> None:
    """Run jobs until cancelled, or, with `install_signal_handlers`, until SIGINT or SIGTERM.

    Any number of workers may serve one store: each job and each schedule runs once. A worker whose engine has no
    embedder leaves pending embeddings to those that have one. It survives restarts of the database.
    """
    # The queue's library takes a while to import; the event loop stays free meanwhile.
    worker = await to_thread.run_sync(import_module, "ebbtide.jobs.worker")
    working = asyncio.create_task(worker.work(engine, pace or Pace()), name="ebbtide-worker")
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM) if install_signal_handlers else ()
    for number in signals:
        loop.add_signal_handler(number, working.cancel)
    try:
        await asyncio.wait({working})
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        working.cancel()
        await asyncio.wait({working})
    if not working.cancelled():
        working.result()
