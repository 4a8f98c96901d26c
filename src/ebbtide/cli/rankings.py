"""The commands on rankings: profiles list, get, save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import parse_json, read_input, with_store
from ebbtide.cli.output import json_text, line

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.rank.profile import Profile

__all__ = ["profiles"]


@group(short_help="The rankings: list, get, save.")
def profiles() -> None:
    """The rankings there are: the presets, the strategies of the intents, and those of the tenant."""


@profiles.command("list")
@with_store
async def list_(memory: AsyncEbbtide, out: Output) -> None:
    """List the presets, then the strategies, then the tenant's own."""
    found = await memory.profiles.list()
    out.answer(found, lambda console: show_profiles(console, found))


def show_profiles(console: Console, profiles: list[Profile]) -> None:
    """A line for each profile."""
    for one in profiles:
        line(console, (f"{one.name:<16}", "bold"), f"law {one.law}, limit {one.limit}")


@profiles.command("get")
@click.argument("name")
@with_store
async def get(memory: AsyncEbbtide, out: Output, name: str) -> None:
    """Show the profile NAME as JSON, as `save` takes it."""
    found = await memory.profiles.get(name)
    out.answer(found, lambda _console: out.write(json_text(found, indent=2) + "\n"))


@profiles.command("save")
@click.argument("file", required=False)
@with_store
async def save(memory: AsyncEbbtide, out: Output, file: str | None) -> None:
    """Keep the profile in the JSON file FILE, or on standard input, under its name."""
    remedy = "Write it as `ebbtide profiles get tide` prints one."
    profile = parse_json(read_input(file, "profile"), "profile", remedy=remedy)
    warnings = await memory.profiles.save(profile)
    for warning in warnings:
        out.note(warning, style="yellow")
    name = str(profile["name"])
    out.answer(
        {"name": name, "warnings": warnings},
        lambda console: line(console, ("saved", "bold green"), f"  {name}"),
    )
