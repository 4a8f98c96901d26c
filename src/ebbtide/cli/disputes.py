"""The commands on conflicts: conflicts list, resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import after_option, limit_option, with_store
from ebbtide.cli.output import line, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.memory import Dispute, Memory

__all__ = ["conflicts"]


@group(short_help="What memories disagree on: list, resolve.")
def conflicts() -> None:
    """Conflicts between memories, found as they were written. Both sides stay readable until one is settled."""


@conflicts.command("list")
@limit_option
@after_option
@with_store
async def list_(memory: AsyncEbbtide, out: Output, limit: int, after: str | None) -> None:
    """List the open conflicts, newest first."""
    found = await memory.conflicts.list(limit=limit, after=after)
    out.page(found, lambda console: show_disputes(console, found))


def show_disputes(console: Console, disputes: list[Dispute]) -> None:
    """For each conflict its id and reason, and what both sides say."""
    for one in disputes:
        line(console, (str(one.id), "bold"), f"  {one.reason}")
        for name, side in (("old", one.older), ("new", one.newer)):
            paragraph(console, (f"  {name}  {side.id}  ", "dim"), side.content)


@conflicts.command("resolve")
@click.argument("conflict_id", metavar="ID")
@click.argument("choice", type=click.Choice(["keep_new", "keep_old", "keep_both", "merge"]))
@click.option("--merged", metavar="TEXT", help="The statement that a merge leaves in place of both.")
@with_store
async def resolve(memory: AsyncEbbtide, out: Output, conflict_id: str, choice: str, merged: str | None) -> None:
    """Settle the conflict ID: keep_new, keep_old, keep_both or merge."""
    holding = await memory.conflicts.resolve(conflict_id, choice, merged)
    out.answer(holding, lambda console: show_holding(console, holding))


def show_holding(console: Console, memories: list[Memory]) -> None:
    """A line for each memory that holds from now on."""
    for one in memories:
        line(console, ("holds", "bold green"), f"  {one.id}  {one.content}")
