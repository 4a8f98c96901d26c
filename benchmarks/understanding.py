"""What understanding a query is worth: each part of it off and on, by type of question, on LoCoMo and Mixed."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from benchmarks.quality import datasets, read_places
from ebbtide import Profile, classify, decompose
from ebbtide.evaluate.report import Report
from ebbtide.evaluate.run import evaluate
from ebbtide.evaluate.scope import EvaluationScope
from ebbtide.rank.parts import TideParameters

# What can hold of a question, so that a part of understanding makes a difference to it.
TRAITS: Mapping[str, Callable[[str], bool]] = {
    "in parts": lambda text: len(decompose(text)) > 1,
    "of a time": lambda text: classify(text).intent == "temporal",
}


@dataclass(frozen=True, slots=True)
class Switch:
    """Something that can be off or on: the rankings without and with it, and the trait of the questions it is for."""

    name: str
    off: str
    on: str
    trait: str = ""


TIMELESS = Profile(
    name="tide without the time",
    law="listwise",
    tide=TideParameters(asked_time_boost=1.0),
    time_filter="off",
)
SWITCHES = (
    Switch("the time asked about, in tide", TIMELESS.name, "tide"),
    Switch("intents: tide, or the strategy of the intent", "tide", "auto"),
    Switch("decomposition, in the strategy of the intent", "auto-decompose", "auto", "in parts"),
    Switch("decomposition, in exploratory", "exploratory-decompose", "exploratory", "in parts"),
    Switch("time filter, in the strategy of the intent", "auto-time_filter", "auto", "of a time"),
)
NAMES = dict.fromkeys(name for switch in SWITCHES for name in (switch.off, switch.on))
RANKINGS = tuple(TIMELESS if name == TIMELESS.name else name for name in NAMES)


def marked(scopes: Sequence[EvaluationScope]) -> list[EvaluationScope]:
    """The scopes with the traits of each question added to its type, `multi/in parts`."""
    return [
        replace(
            scope,
            questions=tuple(
                replace(
                    question,
                    type="/".join([question.type, *(trait for trait, holds in TRAITS.items() if holds(question.text))]),
                )
                for question in scope.questions
            ),
        )
        for scope in scopes
    ]


def means(report: Report, trait: str) -> dict[str, tuple[int, float, float]]:
    """How many questions of each type have the trait, and their recall@10 and nDCG@10; `all` comes last."""
    sums: dict[str, list[float]] = {}
    for marks, figures in report.by_category.items():
        name, *traits = marks.split("/")
        if trait and trait not in traits:
            continue
        for row in (name, "all"):
            told = sums.setdefault(row, [0, 0.0, 0.0])
            told[0] += figures.questions
            told[1] += figures.questions * figures.recall_at[10]
            told[2] += figures.questions * figures.ndcg_at_10
    ordered = [*sorted(sums.keys() - {"all"}), *(["all"] if sums else [])]
    return {row: (int(count), recall / count, ndcg / count) for row in ordered for count, recall, ndcg in [sums[row]]}


def show(title: str, switch: Switch, off: Report, on: Report) -> None:
    """Print recall@10 and nDCG@10 without and with the switch, for each type of question and over all."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("type", "questions", "recall@10 off", "on", "nDCG@10 off", "on", "change"):
        table.add_column(heading, justify="left" if heading == "type" else "right", no_wrap=True)
    with_it = means(on, switch.trait)
    for name, (count, recall, ndcg) in means(off, switch.trait).items():
        _, recall_on, ndcg_on = with_it[name]
        numbers = (f"{value:.3f}" for value in (recall, recall_on, ndcg, ndcg_on))
        table.add_row(name, str(count), *numbers, f"{ndcg_on - ndcg:+.3f}")
    console = Console(width=120)
    console.print(table)
    console.print()


async def main() -> None:
    """Measure and print."""
    given = read_places(argparse.ArgumentParser(description=__doc__))
    for name, scopes in datasets(given.locomo, given.mixed).items():
        reports = {report.profile: report for report in await evaluate(marked(scopes), RANKINGS)}
        for switch in SWITCHES:
            show(f"{name}: {switch.name}", switch, reports[switch.off], reports[switch.on])


if __name__ == "__main__":
    asyncio.run(main())
