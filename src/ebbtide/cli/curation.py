"""The commands of curation: consolidate, reconcile, export-markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.door import confirming
from ebbtide.cli.help import command
from ebbtide.cli.options import narrowing_options, step_by_step, tag_filter, text_of, with_store
from ebbtide.cli.output import copyable, counted, line, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.curation import Consolidation, Reconciliation

__all__ = ["consolidate", "export_markdown", "reconcile"]


@command(short_help="Merge near duplicates, after showing them.")
@click.option("--by", metavar="WAY", default="rules", help="`rules` (default), or `model` for one text of them all.")
@click.option("--token", metavar="TOKEN", help="Merge what the run without it has shown; `-` reads it.")
@narrowing_options
@with_store
@step_by_step
async def consolidate(memory: AsyncEbbtide, out: Output, by: str, token: str | None, **scope: Any) -> None:
    """Show which near duplicates would become one; with the --token of that, merge just these.

    `separate` brings one back that was merged.
    """
    confirmed = None if token is None else text_of(token, "token")
    done = await memory.consolidate(by=by, dry_run=token is None, token=confirmed, **tag_filter(scope))
    out.answer(done, lambda console: show_consolidation(console, done))


def show_consolidation(console: Console, done: Consolidation) -> None:
    """Each merge in a line: what stays, and how many others say the same; then what is left, and why."""
    for one in done.merges:
        others = f"+{len(one.merged)}" if one.text is None else f"{len(one.merged)} in one"
        line(console, (f"{one.kept or 'new'}  ", "bold"), f"{others}  {one.namespace}  {one.excerpt}")
    for left in done.unmerged:
        line(console, ("left  ", "bold yellow"), f"{' '.join(map(str, left.ids))}  {left.reason}")
    if done.waiting:
        paragraph(console, (f"{done.waiting:,} more groups wait for another run.", "dim"))
    line(console, (f"{done.count:,} to merge" if done.dry_run else f"{done.count:,} merged", "bold green"))
    if done.dry_run and done.count:
        copyable(console, "To merge it:", confirming(str(done.token)))


@command(short_help="Repair what is derived from memories.")
@click.option("--dry-run", is_flag=True, help="Only count what would be repaired.")
@with_store
@step_by_step
async def reconcile(memory: AsyncEbbtide, out: Output, dry_run: bool) -> None:
    """Embed what has no vector, count tokens anew, and remove rows that lost their reason, in the whole tenant."""
    done = await memory.reconcile(dry_run=dry_run)
    out.answer(done, lambda console: show_reconciliation(console, done))


def show_reconciliation(console: Console, done: Reconciliation) -> None:
    """What was repaired, a line each, and what is left."""
    for name, count in done.model_dump(exclude={"dry_run", "pending"}).items():
        if count:
            line(console, f"{count:>8,}  {name.replace('_', ' ')}")
    line(console, (f"{done.repaired:,} {'to repair' if done.dry_run else 'repaired'}", "bold green"))
    if done.pending and not done.dry_run:
        paragraph(console, (f"{counted(done.pending, 'memory still has', 'memories still have')} no vector.", "dim"))


@command("export-markdown", short_help="Write memories as Markdown, for people.")
@click.argument("folder")
@click.option("--by", metavar="GROUPING", default="namespace", help="A file for each namespace, kind or entity.")
@narrowing_options
@with_store
@step_by_step
async def export_markdown(memory: AsyncEbbtide, out: Output, folder: str, by: str, **scope: Any) -> None:
    """Write the memories that hold now to FOLDER: new, empty, or an earlier export."""
    with out.progress() as tell:
        done = await memory.export_markdown(
            folder, by=by, progress=lambda count: tell("Exporting", count, None), **tag_filter(scope)
        )
    told = f"  in {len(done.files):,} files to {done.folder}"
    out.answer(done, lambda console: line(console, (f"{done.memories:,} exported", "bold green"), told))
