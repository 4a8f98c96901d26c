"""Splitting texts into batches, and running several batches at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from anyio import create_task_group

__all__ = ["batches_of_similar_length", "run_batches"]

Batch = TypeVar("Batch")


def batches_of_similar_length(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """The indices of `lengths` in batches, shortest first; a batch's size times its longest length is within `budget`.

    A length above the budget gets a batch of its own. Neighbours in length share a batch, so little of it is padding.
    """
    batches: list[list[int]] = []
    current: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if current and (len(current) + 1) * lengths[index] > budget:
            batches.append(current)
            current = []
        current.append(index)
    if current:
        batches.append(current)
    return batches


async def run_batches(batches: Iterable[Batch], work: Callable[[Batch], Awaitable[None]], lanes: int) -> None:
    """Await `work` for every batch, at most `lanes` of them at a time.

    The first error ends the run and is raised as it is, not inside a group, so that callers can catch it by its class.
    """
    waiting = iter(batches)

    async def lane() -> None:
        for batch in waiting:
            await work(batch)

    if lanes == 1:
        await lane()
        return
    try:
        async with create_task_group() as group:
            for _ in range(lanes):
                group.start_soon(lane)
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
