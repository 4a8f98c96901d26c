"""The command `demo`: the bundled year, remembered and asked about, as a story on the terminal."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ebbtide.cli.help import command
from ebbtide.cli.memories import show_history
from ebbtide.cli.options import with_place
from ebbtide.cli.output import line, paragraph, plain, styled
from ebbtide.cli.questions import show_explanation, show_hit
from ebbtide.clock import FixedClock
from ebbtide.demo.script import load_script
from ebbtide.demo.story import Story

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from ebbtide.cli.options import Place
    from ebbtide.cli.output import Output
    from ebbtide.demo.story import Answer, Correction, Year
    from ebbtide.types.context import ContextBlock

__all__ = ["demo"]

FIVE_LINES = """from ebbtide import Ebbtide

with Ebbtide.open("./memory") as memory:
    memory.remember("The key safe by the shed door opens with 3690.", kind="fact")
    for hit in memory.recall("How do I get into the shed?"):
        print(hit.relevance, hit.content)"""


@command(short_help="See it remember, recall and explain a year of memories.")
@with_place
async def demo(place: Place, out: Output) -> None:
    """Remember a bundled year of memories, ask a dozen questions of it, and show why each answer came back.

    The store is thrown away afterwards, unless --store says where to keep it.
    """
    script = load_script()
    clock = FixedClock(script.memories[0].observed_at)
    with ExitStack() as stack:
        location = place.store or stack.enter_context(throwaway_folder())
        out.note("Starting a PostgreSQL of its own ..." if place.store is None else f"Opening {place.store} ...")
        async with place.open(location, clock=clock) as memory:
            if place.store is not None:
                out.keeps(f"what was remembered until then is in {place.store}")
            told = await Telling(Story(script, memory, clock), out).tell()
    if place.store is not None:
        out.note(f'Kept. Ask it more: ebbtide recall --store {place.store} "..."')
    out.answer(told, lambda _console: None)


def throwaway_folder() -> TemporaryDirectory[str]:
    """A folder that is gone when its block ends."""
    return TemporaryDirectory(prefix="ebbtide-demo-", ignore_cleanup_errors=True)


class Telling:
    """One telling of the story: each scene is played, shown on the screen, and kept for the answer in JSON."""

    def __init__(self, story: Story, out: Output) -> None:
        self.story = story
        self.scenes = story.script.scenes
        self.out = out
        self.screen = out.console(cut=True)
        self.told: dict[str, Any] = {}

    async def tell(self) -> dict[str, Any]:
        """The whole story; answers with what was told."""
        year = await self.remember()
        await self.ask()
        await self.correct(year)
        await self.compare()
        await self.why_not(year)
        await self.context()
        self.close(year)
        return self.told

    def chapter(self, title: str, *sentences: str) -> None:
        """A heading and what there is to say under it."""
        self.screen.print()
        self.screen.rule(styled((title, "bold cyan")), align="left")
        for sentence in sentences:
            paragraph(self.screen, (sentence, "dim"))

    async def remember(self) -> Year:
        """The year is remembered."""
        total = len(self.story.script.memories)
        with self.out.progress() as tell:
            year = await self.story.remember(lambda done: tell("Remembering", done, total))
        self.chapter("Remember", self.story.script.description)
        paragraph(
            self.screen, f"{total} memories in {year.seconds:.1f} s, {year.corrections} of them correct an earlier one."
        )
        self.told["remembered"] = {
            "memories": total,
            "corrections": year.corrections,
            "seconds": round(year.seconds, 3),
        }
        return year

    async def ask(self) -> None:
        """The questions and their best answers."""
        self.chapter("Recall", "Three answers to each question: what they are worth, how near they are, and why.")
        told: list[dict[str, Any]] = []
        for question in self.story.script.questions:
            answer = await self.story.answer(question)
            show_answer(self.screen, answer)
            told.append(told_answer(answer))
        self.told["answers"] = told

    async def correct(self, year: Year) -> None:
        """A memory and the one that replaced it."""
        correction = await self.story.correct(year)
        self.chapter("Supersede", self.scenes["supersession"]["note"])
        show_correction(self.screen, correction)
        self.told["supersession"] = plain(correction) | {"answer": told_answer(correction.answer)}

    async def compare(self) -> None:
        """One question under every preset."""
        answers = await self.story.compare()
        self.chapter("Rank", self.scenes["profiles"]["note"])
        line(self.screen, (self.scenes["profiles"]["text"], "bold yellow"))
        show_comparison(self.screen, answers)
        self.told["profiles"] = {name: told_answer(answer) for name, answer in answers.items()}

    async def why_not(self, year: Year) -> None:
        """Why one memory did not come back."""
        memory, explanation = await self.story.why_not(year)
        self.chapter("Explain", self.scenes["why_not"]["note"])
        line(self.screen, (self.scenes["why_not"]["text"], "bold yellow"))
        line(self.screen, memory.content)
        show_explanation(self.screen, explanation)
        self.told["why_not"] = {"memory": memory, "explanation": explanation}

    async def context(self) -> None:
        """A block for a language model."""
        block = await self.story.context()
        self.chapter("Context", self.scenes["context"]["note"])
        paragraph(self.screen, (self.scenes["context"]["text"], "bold yellow"))
        show_block(self.screen, block, self.scenes["context"]["max_tokens"])
        self.told["context"] = block

    def close(self, year: Year) -> None:
        """How fast it was, and how to use it."""
        latency = median(self.story.latencies)
        self.chapter("Use it", "The same in Python:")
        paragraph(self.screen, FIVE_LINES)
        paragraph(
            self.screen,
            (f"{year.memories_per_second:.0f} memories a second were remembered, week by week, ", "dim"),
            (f"and a recall took {latency:.0f} ms at the median, both with embedding.", "dim"),
        )
        self.told["timings"] = {
            "memories_per_second": round(year.memories_per_second, 1),
            "median_recall_milliseconds": round(latency, 3),
        }


def told_answer(answer: Answer) -> dict[str, Any]:
    """An answer as JSON."""
    return plain(answer) | {"milliseconds": round(answer.milliseconds, 3)}


def show_answer(console: Console, answer: Answer) -> None:
    """The question, what came back, and in what time."""
    console.print()
    asked = f"  {answer.milliseconds:.0f} ms" + (f", profile {answer.profile}" if answer.profile else "")
    line(console, (answer.question, "bold yellow"), (asked, "dim"))
    if answer.note:
        line(console, (answer.note, "dim italic"))
    if not answer.recall.hits:
        line(console, ("    Nothing relevant.", "bold green"))
    for rank, hit in enumerate(answer.recall, start=1):
        show_hit(console, rank, hit)


def show_correction(console: Console, correction: Correction) -> None:
    """The old and the new, every image of the old one, and the answer today."""
    line(console, ("old  ", "red"), correction.old.content)
    line(console, ("new  ", "green"), correction.new.content)
    line(console, ("The history of the old one:", "dim"))
    show_history(console, correction.history)
    show_answer(console, correction.answer)


def show_comparison(console: Console, answers: Mapping[str, Answer]) -> None:
    """What each profile puts first, one under the other."""
    for name, answer in answers.items():
        for rank, hit in enumerate(answer.recall, start=1):
            heading = f"{name if rank == 1 else '':<10}"
            line(console, (heading, "bold cyan"), (f"{rank}  {hit.relevance:.3f}  ", "dim"), hit.content)
        if not answer.recall.hits:
            line(console, (f"{name:<10}", "bold cyan"), ("nothing passes its thresholds", "dim"))


def show_block(console: Console, block: ContextBlock, budget: int) -> None:
    """The block line by line, and what it took of its budget."""
    for text in block.text.splitlines():
        line(console, ("│ ", "cyan"), text)
    spent = f"{block.tokens} of {budget} tokens, {len(block.ids)} memories, {len(block.omitted)} left out."
    line(console, (spent, "dim"))
