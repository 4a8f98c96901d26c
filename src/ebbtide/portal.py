"""An event loop in a thread of its own, for callers who have none."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal

__all__ = ["LoopThread"]


class LoopThread:
    """An event loop in a thread of its own, which calls are handed to.

    Not anyio's `start_blocking_portal`: whoever lets go of that without leaving it, by a fork or at the program's end,
    waits for ever for a thread that is no more.
    """

    def __init__(self) -> None:
        started: Future[BlockingPortal] = Future()
        self._process = os.getpid()
        self._thread = Thread(target=anyio.run, args=(self._serve, started), name="ebbtide", daemon=True)
        self._thread.start()
        self._portal = started.result()

    @staticmethod
    async def _serve(started: Future[BlockingPortal]) -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    @property
    def forked(self) -> bool:
        """Whether this process was forked from the one that has the thread."""
        return os.getpid() != self._process

    def call(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Run a call on the thread and wait for its answer; whoever is interrupted waiting has it cancelled."""
        answer: Future[Any] = self._portal.start_task_soon(call)
        try:
            return answer.result()
        except BaseException:
            answer.cancel()
            raise

    def end(self) -> None:
        """Have the loop end, and wait for it."""
        self._portal.call(self._portal.stop)
        self._thread.join()
