"""Two deeds at once, of which one has begun and not yet ended when the other one comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pkgutil import resolve_name
from threading import Event
from typing import Any

import psycopg
import pytest
from anyio import to_thread

SECONDS = 30.0
WAITING = """SELECT EXISTS (SELECT FROM pg_locks
WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""


def in_the_middle(
    monkeypatch: pytest.MonkeyPatch,
    owner: psycopg.Connection[Any],
    step: str,
    first: Callable[[], Any],
    second: Callable[[], Any],
) -> Future[Any]:
    """What becomes of `second`, which begins when `first` has come to a step of its transaction, `module:function`.

    `first` goes on once `second` has ended or waits for a lock. Each has a handle of its own.
    """
    there, onward = Event(), Event()
    module, _, name = step.partition(":")
    real = resolve_name(step)

    async def paused(*given: Any, **more: Any) -> Any:
        if not there.is_set():
            there.set()
            await to_thread.run_sync(onward.wait, SECONDS)
        return await real(*given, **more)

    with ThreadPoolExecutor(2) as threads, monkeypatch.context() as patched:
        patched.setattr(f"{module}.{name}", paused)
        earlier = threads.submit(first)
        assert there.wait(SECONDS)
        later = threads.submit(second)
        ends = time.monotonic() + SECONDS
        while not later.done() and owner.execute(WAITING).fetchone() != (True,):
            assert time.monotonic() < ends
        onward.set()
        earlier.result(SECONDS)
        later.exception(SECONDS)
    return later
