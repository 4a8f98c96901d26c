"""How many of the links that data sets give are found without them, how many wrongly, and what that is worth."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ebbtide import Settings
from ebbtide.evaluate.datasets import load_dataset
from ebbtide.evaluate.run import evaluate
from ebbtide.evaluate.scope import EvaluationScope, Item
from ebbtide.models.local import LocalEmbedder
from ebbtide.write.near import NEIGHBOURS_WIDE, WIDE
from ebbtide.write.update import SURE, Statement, Update, best_fit

LEAST_PRECISION = 0.95
THRESHOLDS = tuple(round(0.63 + 0.03 * step, 2) for step in range(10))
CONSOLE = Console(width=150)
OWN = Path(__file__).parent / "updates"

Cosines = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Counts:
    """Links that are given, found of these, found besides; the same pairs and others as conflicts."""

    given: int = 0
    found: int = 0
    wrong: int = 0
    disputed: int = 0
    disputed_besides: int = 0

    @property
    def precision(self) -> float:
        """The share of what was found that is right; 1 where nothing was."""
        return self.found / (self.found + self.wrong) if self.found + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of what is given that was found."""
        return self.found / self.given if self.given else 0.0


def added(counts: Sequence[Counts]) -> Counts:
    """The sums."""
    return Counts(*(sum(getattr(one, name) for one in counts) for name in Counts.__slots__))


def statement(item: Item, *, kinds: bool) -> Statement:
    """An item as the write path compares it; without kinds a correction is a fact like any other."""
    kind = item.kind if kinds or item.kind != "correction" else "fact"
    return Statement(item.text, kind, item.valid_from or item.observed_at, item.speaker)


def count(items: Sequence[Item], cosines: Cosines, sure: float, *, kinds: bool) -> tuple[Counts, list[str]]:
    """What is found among items in the order they are written, and in words what is found besides the given links."""
    counts = [Counts(given=sum(item.supersedes is not None for item in items))]
    besides: list[str] = []
    replaced: set[int] = set()
    for place, item in enumerate(items):
        if item.sequence is not None:
            continue
        found = fitting(items, cosines, place, replaced, sure, kinds=kinds)
        if found is None:
            continue
        other, update = found
        right = items[other].id == item.supersedes
        if update.kind == "supersedes":
            replaced.add(other)
            counts.append(Counts(found=int(right), wrong=int(not right)))
        else:
            counts.append(Counts(disputed=int(right), disputed_besides=int(not right)))
        if not right:
            besides.append(f"{update.kind} {update.confidence:.2f}: {items[other].text!r} -> {item.text!r}")
    return added(counts), besides


def fitting(
    items: Sequence[Item], cosines: Cosines, place: int, gone: Collection[int], sure: float, *, kinds: bool
) -> tuple[int, Update] | None:
    """What an item is found to be news of among those before it that are not `gone`."""
    older = [
        other
        for other in np.flatnonzero(cosines[place, :place] > WIDE).tolist()
        if items[other].namespace == items[place].namespace and items[other].sequence is None and other not in gone
    ]
    older = sorted(older, key=lambda other: -cosines[place, other])[:NEIGHBOURS_WIDE]
    near = [(statement(items[other], kinds=kinds), float(cosines[place, other])) for other in older]
    fit = best_fit(statement(items[place], kinds=kinds), near, sure=sure)
    return None if fit is None else (older[fit[0]], fit[1])


def count_orphans(items: Sequence[Item], cosines: Cosines, *, kinds: bool) -> Counts:
    """What is found of the news where all that is replaced at some time was never told, so that each link is wrong."""
    known = {item.supersedes for item in items}
    gone = {place for place, item in enumerate(items) if item.id in known}
    asked = [place for place, item in enumerate(items) if item.supersedes and item.sequence is None]
    fits = [fitting(items, cosines, place, gone, SURE, kinds=kinds) for place in asked]
    found = [fit[1].kind for fit in fits if fit is not None]
    return Counts(len(asked), wrong=found.count("supersedes"), disputed_besides=found.count("conflict"))


def best_threshold(counted: Sequence[dict[float, Counts]]) -> float:
    """The lowest threshold that reaches the precision on these files, the highest where none does."""
    reached = (sure for sure in THRESHOLDS if added([one[sure] for one in counted]).precision >= LEAST_PRECISION)
    return next(reached, THRESHOLDS[-1])


def cells(name: str, counts: Counts) -> list[str]:
    """A row of the table."""
    numbers = (counts.given, counts.found, counts.wrong, counts.disputed, counts.disputed_besides)
    return [name, *map(str, numbers), f"{counts.precision:.2f}", f"{counts.recall:.2f}"]


def show_counts(title: str, names: Sequence[str], counted: Sequence[dict[float, Counts]]) -> None:
    """The table of one way to look: each file at the threshold in use, and at the one that the other files choose."""
    table = Table(
        "file", "given", "found", "wrong", "conflicts", "besides", "precision", "recall", "by the other files",
        "found", "wrong", title=title,
    )  # fmt: skip
    left_out: list[Counts] = []
    for place, name in enumerate(names):
        chosen = best_threshold([*counted[:place], *counted[place + 1 :]])
        left_out.append(counted[place][chosen])
        there = left_out[-1]
        table.add_row(*cells(name, counted[place][SURE]), f"{chosen:.2f}", str(there.found), str(there.wrong))
    all_left_out = added(left_out)
    figures = f"P {all_left_out.precision:.2f}, R {all_left_out.recall:.2f}"
    total = added([one[SURE] for one in counted])
    table.add_row(*cells("all", total), figures, str(all_left_out.found), str(all_left_out.wrong))
    CONSOLE.print(table)


def as_fact(item: Item) -> Item:
    """A turn of a conversation as if somebody had noted it as a fact."""
    return replace(item, kind="fact", chat=None, sequence=None)


async def show_links(name: str, scopes: Sequence[EvaluationScope], *, talk: bool = False) -> None:
    """What is found, with the kinds as given and with corrections as facts; `talk` takes turns of talk as facts."""
    if talk:
        scopes = [replace(scope, items=tuple(map(as_fact, scope.items))) for scope in scopes]
    embedder = LocalEmbedder()
    vectors = [await embedder.embed([item.text for item in scope.items]) for scope in scopes]
    for kinds in (True,) if talk else (True, False):
        counted: list[dict[float, Counts]] = []
        orphans: list[Counts] = []
        told: list[str] = []
        for scope, rows in zip(scopes, vectors, strict=True):
            cosines = rows @ rows.T
            results = {sure: count(scope.items, cosines, sure, kinds=kinds) for sure in {*THRESHOLDS, SURE}}
            orphans.append(count_orphans(scope.items, cosines, kinds=kinds))
            counted.append({sure: result[0] for sure, result in results.items()})
            told += results[SURE][1]
        manner = "turns as facts" if talk else "kinds as given" if kinds else "corrections as facts"
        show_counts(f"Links found in {name}, {manner}", [scope.name for scope in scopes], counted)
        lost = added(orphans)
        CONSOLE.print(
            f"Where what they replace was never told, {lost.wrong} of {lost.given} replace something else, and "
            f"{lost.disputed_besides} are in conflict with it."
        )
        for line in told[:20]:
            CONSOLE.print(f"  besides: {line}", markup=False, soft_wrap=True)


async def show_quality(scopes: Sequence[EvaluationScope]) -> None:
    """The nDCG@10 of each type of question with the links given, without any, and with those that are found."""
    bare = [replace(one, items=tuple(replace(item, supersedes=None) for item in one.items)) for one in scopes]
    reports = [
        (await evaluate(data, ["tide"], settings=Settings.from_environment({}, find_updates=find)))[0]
        for data, find in ((scopes, False), (bare, False), (bare, True))
    ]
    table = Table("questions", "links given", "no links", "links found", title="nDCG@10 of tide")
    for kind in sorted(reports[0].by_category):
        table.add_row(kind, *(f"{one.by_category[kind].ndcg_at_10:.3f}" for one in reports))
    table.add_row("all", *(f"{one.overall.ndcg_at_10:.3f}" for one in reports))
    CONSOLE.print(table)


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", default=os.environ.get("EBBTIDE_LOCOMO"), help="a LoCoMo file; or EBBTIDE_LOCOMO")
    parser.add_argument("--mixed", default=os.environ.get("EBBTIDE_MIXED"), help="a Mixed folder; or EBBTIDE_MIXED")
    parser.add_argument("--full", action="store_true", help="the rankings with and without the links too")
    given = parser.parse_args()
    if given.mixed:
        scopes = load_dataset(Path(given.mixed), "ebbtide")
        await show_links("Mixed", scopes)
        if given.full:
            await show_quality(scopes)
    if given.locomo:
        await show_links("conversations", load_dataset(Path(given.locomo), "locomo"), talk=True)
    for part in ("development", "held_out"):
        await show_links(f"updates/{part}", load_dataset(OWN / part, "ebbtide"))


if __name__ == "__main__":
    asyncio.run(main())
