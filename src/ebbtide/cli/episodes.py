"""The commands on conversations: episodes list, add, show, branches, fork, summarise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import limit_option, text_of, with_new_store, with_store
from ebbtide.cli.output import counted, line, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.episodes import Branch, Chat, Episode, Turn

__all__ = ["episodes"]


@group(short_help="Conversations with branches: list, add, show, branches, fork, summarise.")
def episodes() -> None:
    """Conversations as trees of turns. --chat says which, and --branch where in it; the first branch is main."""


@episodes.command("list")
@limit_option
@click.option("--after", metavar="CHAT", help="The last one seen, to continue behind it.")
@with_store
async def list_(memory: AsyncEbbtide, out: Output, limit: int, after: str | None) -> None:
    """List the conversations, the one that went on last first."""
    found = await memory.episodes.chats(limit=limit, after=after)
    out.page(found, lambda console: show_chats(console, found))


def show_chats(console: Console, chats: list[Chat]) -> None:
    """A line for each conversation."""
    for one in chats:
        size = f"{counted(one.turns, 'turn')}  {counted(one.branches, 'branch', 'branches')}"
        line(console, (one.chat, "bold"), f"  {size}  {one.last_at:%Y-%m-%d %H:%M}")


@episodes.command("add")
@click.argument("content", required=False)
@click.option("--role", default="user", show_default=True, metavar="ROLE", help="user, assistant, system or tool.")
@with_new_store
async def add(memory: AsyncEbbtide, out: Output, content: str | None, role: str) -> None:
    """Say CONTENT at the end of a branch; without it, what standard input says."""
    answer = await memory.episodes.add(text_of(content, "content"), role=role)
    id_ = "" if answer.memory is None else f"  {answer.memory.id}"
    out.answer(answer, lambda console: line(console, (answer.outcome, "bold green"), id_))


@episodes.command("show")
@click.option("--limit", type=int, default=1_000, show_default=True, metavar="N", help="How many turns at most.")
@with_store
async def show(memory: AsyncEbbtide, out: Output, limit: int) -> None:
    """Show what was said on a branch, the last turns of it."""
    turns = await memory.episodes.transcript(limit=limit)
    out.answer(turns, lambda console: show_turns(console, turns))


def show_turns(console: Console, turns: list[Turn]) -> None:
    """For each turn its id, where it was said and by whom, and what."""
    for turn in turns:
        line(console, (f"{turn.id}  {turn.branch}  ", "dim"), (turn.speaker or turn.role or "", "bold"))
        paragraph(console, turn.content)


@episodes.command("branches")
@with_store
async def branches(memory: AsyncEbbtide, out: Output) -> None:
    """List the branches of a conversation."""
    found = await memory.episodes.branches()
    out.answer(found, lambda console: show_branches(console, found))


def show_branches(console: Console, branches: list[Branch]) -> None:
    """A line for each branch: its name, its own turns, and where it begins."""
    for one in branches:
        begun = "" if one.parent is None else f"  goes on from {one.parent} after place {one.forked_after}"
        line(console, (one.name, "bold"), f"  {counted(one.turns, 'turn')} of its own{begun}")


@episodes.command("fork")
@click.option("--at", metavar="ID", help="The turn that it goes on after; else the last one of the branch.")
@click.option("--name", metavar="NAME", help="What it is called; else branch-2, and so on.")
@click.option("--namespace", metavar="NAME", help="Where its name may be read; else where is written.")
@with_store
async def fork(memory: AsyncEbbtide, out: Output, at: str | None, name: str | None, namespace: str | None) -> None:
    """Begin a branch that goes on after a turn."""
    made = await memory.episodes.fork(at=at, name=name, namespace=namespace)
    out.answer(made, lambda console: show_branches(console, [made]))


@episodes.command("summarise")
@click.option("--anew", is_flag=True, help="Tell everything again, not only what is new.")
@with_store
async def summarise(memory: AsyncEbbtide, out: Output, anew: bool) -> None:
    """Summarise a branch, or go on with its summary."""
    episode = await memory.episodes.summarise(anew=anew)
    out.answer(episode, lambda console: show_episode(console, episode))


def show_episode(console: Console, episode: Episode) -> None:
    """What became of the summary, what it tells of, and what it says."""
    line(
        console, (episode.outcome, "bold green"), f"  {counted(episode.turns, 'turn')}, {episode.new_turns} of them new"
    )
    if episode.memory is not None:
        line(console, (str(episode.memory.id), "dim"))
        paragraph(console, episode.memory.content)
    if episode.topics:
        line(console, ("Topics: ", "dim"), ", ".join(episode.topics))
