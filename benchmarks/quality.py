"""How good the ranking is: every preset and baseline on LoCoMo and Mixed, each scope alone and all in one store."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from benchmarks import _demo
from benchmarks._measure import Figure, show
from ebbtide.evaluate.datasets import load_dataset
from ebbtide.evaluate.report import Report, plain_text
from ebbtide.evaluate.run import evaluate
from ebbtide.evaluate.scope import EvaluationScope

PROFILES = ("tide", "vector", "fulltext", "rrf", "ontheia", "agentium", "ibex", "eryx")

TARGETS: dict[tuple[str, bool], tuple[tuple[str, float | None], ...]] = {
    ("LoCoMo", False): (("recall@10", 0.81), ("nDCG@10", 0.65)),
    ("LoCoMo", True): (("recall@10", 0.75),),
    ("Mixed", False): (("nDCG@10", 0.79),),
    ("Mixed", True): (("nDCG@10", 0.75),),
}
UNTARGETED = (("recall@10", None), ("nDCG@10", None))


def datasets(locomo: str | None, mixed: str | None) -> dict[str, list[EvaluationScope]]:
    """What can be measured here: the data sets that were named, or the demo's questions where none was."""
    found = {
        name: load_dataset(Path(path), form)
        for name, path, form in (("LoCoMo", locomo, "locomo"), ("Mixed", mixed, "ebbtide"))
        if path
    }
    return found or {"the demo": [_demo.scope()]}


def read_places(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, with those that say where the data sets are."""
    parser.add_argument("--locomo", default=os.environ.get("EBBTIDE_LOCOMO"), help="a LoCoMo file; or EBBTIDE_LOCOMO")
    parser.add_argument("--mixed", default=os.environ.get("EBBTIDE_MIXED"), help="a Mixed folder; or EBBTIDE_MIXED")
    return parser.parse_args()


async def measure(name: str, scopes: list[EvaluationScope], *, merged: bool, profiles: tuple[str, ...]) -> list[Figure]:
    """Print the tables of one data set, and answer with the figures of `tide` that have a target."""
    reports = await evaluate(scopes, profiles, merged=merged)
    title = f"{name}, {'all in one store' if merged else 'each scope alone'}"
    print(f"== {title}\n{plain_text(reports)}", flush=True)
    tide = next((report for report in reports if report.profile == "tide"), reports[0])
    return [
        Figure(f"{title}: {tide.profile} {figure}", value_of(tide, figure), "", target, higher=True)
        for figure, target in TARGETS.get((name, merged), UNTARGETED)
    ]


def value_of(report: Report, figure: str) -> float:
    """A report's figure by its heading."""
    return report.overall.recall_at[10] if figure == "recall@10" else report.overall.ndcg_at_10


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="every profile on LoCoMo too, not `tide` alone")
    given = read_places(parser)
    figures: list[Figure] = []
    for name, scopes in datasets(given.locomo, given.mixed).items():
        profiles = PROFILES if given.full or name != "LoCoMo" else PROFILES[:1]
        for merged in (False, True) if len(scopes) > 1 else (False,):
            figures += await measure(name, scopes, merged=merged, profiles=profiles)
    show("Quality of `tide`", figures)


if __name__ == "__main__":
    asyncio.run(main())
