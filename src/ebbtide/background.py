"""Ending tasks that run for ever."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["end"]


async def end(*tasks: asyncio.Task[Any], patience_seconds: float) -> None:
    """Cancel tasks and wait until they are done; what went wrong in them is dropped.

    Before Python 3.12 `asyncio.wait_for`, which the database driver uses, may swallow a cancellation that arrives in
    the moment in which it finishes. A task that is still there after `patience_seconds` is therefore cancelled again.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=patience_seconds)
    await asyncio.gather(*tasks, return_exceptions=True)
