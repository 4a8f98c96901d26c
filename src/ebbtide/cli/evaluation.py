"""The command `eval`: how well rankings do on a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import with_place

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.options import Place
    from ebbtide.cli.output import Output
    from ebbtide.evaluate.report import Report

__all__ = ["evaluate"]


@command("eval", short_help="Measure rankings on a data set.")
@click.argument("dataset")
@click.option("--format", "format_", default="ebbtide", show_default=True, metavar="NAME", help="ebbtide or locomo.")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="A ranking, auto, or vector, fulltext, rrf; tide otherwise. eryx-decompose is eryx without that.",
)
@click.option("--merged", is_flag=True, help="All scopes in one store, which is harder.")
@with_place
async def evaluate(
    place: Place, out: Output, dataset: str, format_: str, profiles: tuple[str, ...], merged: bool
) -> None:
    """Remember the data set DATASET in a throwaway store, ask all its questions, and print how well it answered."""
    from ebbtide.evaluate.datasets import load_dataset
    from ebbtide.evaluate.report import as_json
    from ebbtide.evaluate.run import evaluate as measure

    if place.store is not None:
        place.store_at().require()
    scopes = load_dataset(dataset, format_)
    with out.progress() as tell:
        reports = await measure(
            scopes,
            profiles or ("tide",),
            merged=merged,
            embedder=place.embedder or "",
            store=place.store,
            progress=tell,
        )
    out.answer(as_json(reports), lambda console: show_reports(console, reports))


def show_reports(console: Console, reports: list[Report]) -> None:
    """Tables on a terminal, aligned text elsewhere."""
    from ebbtide.evaluate.report import plain_text, tables

    if not console.is_terminal:
        console.print(plain_text(reports))
        return
    for table in tables(reports):
        console.print(table)
