"""The command that reads facts from texts: extract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import narrowing_options, step_by_step, tag_filter, text_of, with_new_store
from ebbtide.cli.output import counted, line

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.extraction import Extraction

__all__ = ["extract"]


@command(short_help="Find the facts that a text or memories state, and remember them.")
@click.argument("text", required=False)
@click.option("--id", "ids", multiple=True, metavar="ID", help="Read this memory.")
@narrowing_options
@click.option("--dry-run", is_flag=True, help="Only tell what is found.")
@click.option("--extractor", metavar="NAME", help="rules or model; the setting decides otherwise.")
@click.option("--speaker", metavar="NAME", help='Who "I" is in TEXT.')
@click.option("--observed-at", metavar="TIME", help="When TEXT was noticed.")
@click.option("--into", "namespace", metavar="NAMESPACE", help="Where the facts of TEXT go.")
@with_new_store
@step_by_step
async def extract(
    memory: AsyncEbbtide, out: Output, text: str | None, ids: tuple[str, ...], dry_run: bool, **given: Any
) -> None:
    """Find the facts that TEXT states, or standard input with -, or the memories that --id or --namespace name.

    Each is remembered as a memory of its own, unless it is known already, so this can be repeated.
    """
    wanted = {name: value for name, value in tag_filter(given).items() if value not in (None, ())}
    if ids:
        wanted["ids"] = ids
    read = None if text is None else text_of(text, "text")
    with out.progress() as tell:
        answer = await memory.extract(
            read, write=not dry_run, progress=lambda done: tell("Reading", done, None), **wanted
        )
    out.answer(answer, lambda console: show(console, answer))


def show(console: Console, answer: Extraction) -> None:
    """A line for each fact, each that was rejected, and each text that could not be read."""
    for fact in answer.facts:
        line(
            console,
            (fact.outcome or "found", "bold green"),
            f"  {fact.predicate}  {fact.confidence:.2f}  {fact.content}",
        )
    for one in answer.rejected:
        line(console, ("rejected", "yellow"), f"  {one.reason}  {one.what}")
    for text in answer.texts:
        if text.error is not None:
            line(console, ("failed", "bold red"), f"  {text.source or ''}  {text.error}")
    line(
        console,
        (counted(len(answer.facts), "fact"), "bold"),
        f" in {counted(answer.read, 'text')}, read by {answer.extractor}",
    )
