"""The demo's story: each scene is a few public calls, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from ebbtide.clock import FixedClock
    from ebbtide.demo.script import Script, Told
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.context import ContextBlock
    from ebbtide.types.memory import Memory, Version
    from ebbtide.types.recall import Explanation, Recall

__all__ = ["Answer", "Correction", "Story", "Year"]

SHOWN = 3
# The default ranking always gives its best; a question that nothing answers shows a ranking that has a floor.
FLOORED = "ontheia"


@dataclass(frozen=True, slots=True)
class Year:
    """The year as it was remembered: the id of each memory by its name in the story, and how long that took."""

    ids: Mapping[str, UUID]
    corrections: int
    seconds: float

    @property
    def memories_per_second(self) -> float:
        """Memories written a second, embedding included."""
        return len(self.ids) / self.seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, the profile it was asked with where not the default, what came back, and how long that took."""

    question: str
    note: str
    profile: str | None
    recall: Recall
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory, the one that replaced it, every image of the old one, and what is recalled of the two."""

    old: Memory
    new: Memory
    history: list[Version]
    answer: Answer


@dataclass(slots=True)
class Story:
    """The scenes, played on an open store. `remember` comes first; the others need its year."""

    script: Script
    memory: AsyncEbbtide
    clock: FixedClock
    latencies: list[float] = field(default_factory=list[float])

    async def remember(self, progress: Callable[[int], None]) -> Year:
        """Remember the year week by week, as it was lived; `progress` is told how many memories there are so far.

        Raises:
            InvalidInput: there are memories already, which the story would mingle with.
        """
        if await self.memory.browse(limit=1, include_superseded=True):
            raise InvalidInput(
                "The store holds memories already, which the story would mingle with.",
                field="store",
                remedy="Give an empty folder, or another tenant or agent.",
            )
        ids: dict[str, UUID] = {}
        started = time.perf_counter()
        for told in weeks(self.script.memories):
            self.clock.advance(told[-1].observed_at - self.clock.now())
            memory = self.memory.scoped(chat=told[0].chat)
            answers = await memory.remember_many([draft_of(one, ids) for one in told])
            pairs = zip(told, answers, strict=True)
            ids.update((one.ref, answer.memory.id) for one, answer in pairs if answer.memory is not None)
            progress(len(ids))
        seconds = time.perf_counter() - started
        self.clock.advance(self.script.now - self.clock.now())
        return Year(ids, sum(one.supersedes is not None for one in self.script.memories), seconds)

    async def ask(self, text: str, *, note: str = "", profile: str | None = None) -> Answer:
        """Ask one question, and time it."""
        started = time.perf_counter()
        recalled = await self.memory.recall(text, limit=SHOWN, profile=profile)
        milliseconds = (time.perf_counter() - started) * 1000
        self.latencies.append(milliseconds)
        return Answer(text, note, profile, recalled, milliseconds)

    async def answer(self, question: Mapping[str, Any]) -> Answer:
        """One of the script's questions."""
        profile = FLOORED if question["type"] == "none" else None
        return await self.ask(question["text"], note=question["note"], profile=profile)

    async def correct(self, year: Year) -> Correction:
        """What became of a memory that was corrected."""
        scene = self.script.scenes["supersession"]
        old, new = year.ids[scene["old"]], year.ids[scene["new"]]
        return Correction(
            old=await self.memory.get(old),
            new=await self.memory.get(new),
            history=await self.memory.history(old),
            answer=await self.ask(scene["text"]),
        )

    async def compare(self) -> dict[str, Answer]:
        """One question under several profiles."""
        scene = self.script.scenes["profiles"]
        return {name: await self.ask(scene["text"], profile=name) for name in scene["profiles"]}

    async def why_not(self, year: Year) -> tuple[Memory, Explanation]:
        """Why one memory did not come back."""
        scene = self.script.scenes["why_not"]
        id_ = year.ids[scene["ref"]]
        return await self.memory.get(id_), await self.memory.explain(scene["text"], id_)

    async def context(self) -> ContextBlock:
        """What a language model would be given."""
        scene = self.script.scenes["context"]
        return await self.memory.context(scene["text"], budget=scene["max_tokens"])


def weeks(memories: tuple[Told, ...]) -> list[list[Told]]:
    """The memories in batches: those of one week and one chat, ended early where one corrects another of its batch."""
    batches: list[list[Told]] = []
    for told in memories:
        last = batches[-1] if batches else []
        together = last and (week_of(last[0]), last[0].chat) == (week_of(told), told.chat)
        if together and told.supersedes not in {one.ref for one in last}:
            last.append(told)
        else:
            batches.append([told])
    return batches


def week_of(told: Told) -> tuple[int, int]:
    """The year and the week in which a memory was told."""
    year, week, _ = told.observed_at.isocalendar()
    return year, week


def draft_of(told: Told, ids: Mapping[str, UUID]) -> dict[str, Any]:
    """The draft of one memory, with the id of the one that it corrects."""
    return {**told.draft, "supersedes": ids[told.supersedes] if told.supersedes is not None else None}
