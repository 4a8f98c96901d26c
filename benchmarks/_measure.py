"""What the benchmarks share: processor time of client and server, and the table of numbers beside targets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from ebbtide import AsyncEbbtide

SETTLING_SECONDS = 0.0005


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that was measured, and the one to reach: at most or, where `higher` is better, at least."""

    name: str
    value: float
    unit: str
    target: float | None = None
    higher: bool = False

    @property
    def ratio(self) -> float | None:
        """How many times better than its target it is; below 1 it misses it."""
        if self.target is None or not self.value:
            return None
        return self.value / self.target if self.higher else self.target / self.value


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print the figures beside their targets; a ratio below 1 is a miss."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "measured", "to reach", "ratio", ""):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for figure in figures:
        target = "" if figure.target is None else f"{'≥' if figure.higher else '≤'} {figure.target:,g} {figure.unit}"
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        verdict = "" if figure.ratio is None else "reached" if figure.ratio >= 1 else "missed"
        table.add_row(figure.name, f"{figure.value:,.{digits(figure.value)}f} {figure.unit}", target, ratio, verdict)
    console = Console(width=120)
    console.print(table)
    console.print()


def digits(value: float) -> int:
    """Three significant digits are enough for any of these."""
    return 0 if value >= 1_000 else 1 if value >= 100 else 2 if value >= 10 else 3


class Processor:
    """Processor time of this process and of the server processes that work for a handle, in milliseconds.

    Without `/proc` the server's part is unknown and left out.
    """

    def __init__(self, backends: Sequence[int]) -> None:
        self.backends = [Path(f"/proc/{pid}/schedstat") for pid in backends]

    @classmethod
    async def of(cls, handle: AsyncEbbtide) -> Processor:
        """For the connections that the handle's store has open now."""
        engine = await handle.engine()
        async with engine.database.connection() as connection:
            rows = await (
                await connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'ebbtide'")
            ).fetchall()
        return cls([pid for (pid,) in rows])

    def client(self) -> float:
        """Spent in this process so far."""
        return time.process_time() * 1_000

    def server(self) -> float:
        """Spent in the server processes so far."""
        return sum(int(path.read_text().split()[0]) for path in self.backends if path.exists()) / 1e6


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over calls, in milliseconds: processor time in this process and in the server's, and wall time."""

    client: float
    server: float
    wall: float
    both: float


async def cost_of(calls: Sequence[Callable[[], Awaitable[object]]], processor: Processor, *, rounds: int = 1) -> Cost:
    """The cost of one call, at the median of a round over all of them; call some beforehand to warm up.

    The cheapest of several rounds counts: whatever else the machine does makes the others dearer.
    """
    costs = [await round_of(calls, processor) for _ in range(rounds)]
    return min(costs, key=lambda cost: cost.both)


async def round_of(calls: Sequence[Callable[[], Awaitable[object]]], processor: Processor) -> Cost:
    """Each call once."""
    spent: list[tuple[float, float, float]] = []
    for call in calls:
        started, client, server = time.perf_counter(), processor.client(), processor.server()
        await call()
        wall, client = (time.perf_counter() - started) * 1_000, processor.client() - client
        # The kernel books a process's time when it has gone to sleep.
        await asyncio.sleep(SETTLING_SECONDS)
        spent.append((client, processor.server() - server, wall))
    clients, servers, walls = zip(*spent, strict=True)
    both = [client + server for client, server, _ in spent]
    return Cost(median(clients), median(servers), median(walls), median(both))
