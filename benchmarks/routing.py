"""What routing by types is worth: `tide` without it, with what it knows from the start, and after use, on Mixed."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.quality import datasets, read_places
from benchmarks.understanding import Switch, show
from ebbtide.evaluate.metrics import QuestionResult
from ebbtide.evaluate.report import summarize
from ebbtide.evaluate.run import Loaded, remembered, result_of
from ebbtide.evaluate.scope import EvaluationScope, Question
from ebbtide.rank.presets import TIDE
from ebbtide.read.reinforce import flush
from ebbtide.read.report import hits_of
from ebbtide.recall import search

if TYPE_CHECKING:
    from ebbtide import AsyncEbbtide
    from ebbtide.engine import Engine

ROUTED = TIDE.model_copy(update={"name": "tide+routing", "routing": "on"})
# Half of the questions are asked so often, and what they taught is measured on the other half; and the other way round.
TIMES, HALVES = 5, 2
DEPTH, TURNS = 20, 3


@dataclass(slots=True)
class Asked:
    """The answers under one ranking, the milliseconds that each took but for its vector, and what routing did."""

    results: list[QuestionResult] = field(default_factory=list[QuestionResult])
    milliseconds: list[float] = field(default_factory=list[float])
    outcomes: Counter[str] = field(default_factory=Counter[str])


async def ask(engine: Engine, one: Loaded, handle: AsyncEbbtide, question: Question, off: Asked, on: Asked) -> None:
    """Ask a question without and with routing, in turns; the first answers count, and every time."""
    for turn in range(TURNS):
        for profile, asked in ((TIDE, off), (ROUTED, on)):
            searched = await search(
                engine, handle.caller, question.text, profile=profile, limit=DEPTH, asked_at=question.asked_at
            )
            milliseconds = sum(time for step, time in searched.milliseconds.items() if step != "embed")
            asked.milliseconds.append(milliseconds)
            if turn == 0:
                asked.results.append(result_of(question, hits_of(searched), one.memories, milliseconds))
                asked.outcomes["off" if searched.routed is None else searched.routed.outcome] += 1


async def measure(name: str, scopes: Sequence[EvaluationScope]) -> None:
    """Print the tables of one data set: with the words known from the start, and with those learnt from use."""
    async with remembered(scopes, names=True) as (engine, loaded, _):
        for learns in (False, True):
            off, on = Asked(), Asked()
            for half in range(HALVES):
                for one in loaded:
                    questions = one.scope.questions
                    # What a user's questions taught counts for nobody else.
                    handle = one.handle.scoped(user=f"half-{half}-{learns}")
                    for question in questions[half::HALVES] if learns else ():
                        for _ in range(TIMES):
                            await handle.recall(question.text, profile=ROUTED)
                            await flush(engine, handle.caller.tenant)
                    for question in questions[1 - half :: HALVES]:
                        await ask(engine, one, handle, question, off, on)
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(on.outcomes.items()))
            cost = f"{median(off.milliseconds):.2f} and {median(on.milliseconds):.2f} ms at the median"
            title = f"{name}: routing {'after use' if learns else 'from the start'} ({told}; {cost})"
            switch = Switch("routing", TIDE.name, ROUTED.name)
            show(title, switch, summarize(TIDE.name, off.results, 0), summarize(ROUTED.name, on.results, 0))


async def main() -> None:
    """Measure and print; names are read from the texts by rules."""
    given = read_places(argparse.ArgumentParser(description=__doc__))
    for name, scopes in datasets(given.locomo, given.mixed).items():
        await measure(name, scopes)


if __name__ == "__main__":
    asyncio.run(main())
