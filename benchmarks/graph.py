"""What the graph arm is worth: `tide` with and without it, by type of question, on LoCoMo and Mixed."""

from __future__ import annotations

import argparse
import asyncio

from benchmarks.quality import datasets, read_places
from benchmarks.understanding import Switch, show
from ebbtide.evaluate.run import evaluate

SWITCHES = (
    Switch("the graph, in tide", "tide", "tide+graph"),
    Switch("the graph, in the strategy for relationships", "relationship-graph", "relationship"),
)
RANKINGS = tuple(dict.fromkeys(name for switch in SWITCHES for name in (switch.off, switch.on)))


async def main() -> None:
    """Measure and print; names are read from the texts by rules."""
    given = read_places(argparse.ArgumentParser(description=__doc__))
    for name, scopes in datasets(given.locomo, given.mixed).items():
        for merged in (False, True) if len(scopes) > 1 else (False,):
            reports = {report.profile: report for report in await evaluate(scopes, RANKINGS, merged=merged, names=True)}
            title = f"{name}, {'all in one store' if merged else 'each scope alone'}"
            for switch in SWITCHES:
                off, on = reports[switch.off], reports[switch.on]
                cost = f"{off.latency_p50_ms:.1f} and {on.latency_p50_ms:.1f} ms at the median"
                show(f"{title}: {switch.name} ({cost})", switch, off, on)


if __name__ == "__main__":
    asyncio.run(main())
