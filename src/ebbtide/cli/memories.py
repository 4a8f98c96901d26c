"""The commands on single memories: remember, get, browse, history, revise, forget."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import (
    after_option,
    given_only,
    json_lines,
    json_option,
    limit_option,
    read_input,
    scope_options,
    tag_filter,
    text_of,
    with_new_store,
    with_store,
)
from ebbtide.cli.output import entry, json_text, line, paragraph
from ebbtide.errors import EbbtideError, InvalidInput
from ebbtide.types.memory import Draft

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.evidence import Provenance, Receipt
    from ebbtide.types.memory import Memory, Remembered, Version

__all__ = [
    "browse",
    "expected_revision",
    "forget",
    "get",
    "history",
    "provenance",
    "remember",
    "revise",
    "session_revision_option",
]


# How the engine names a field of one of several drafts.
PLACED = re.compile(r"drafts\[(\d+)\]\.?(.*)")
REVISION = ("--expected-revision", "--revision", "expected_revision")
expected_revision = click.option(*REVISION, type=int, metavar="N", help="Refuse if it has changed since this revision.")
session_revision_option = click.option(
    "--session-revision", type=int, metavar="N", help="Refuse if something of --session was forgotten since."
)


@command(short_help="Remember a statement, or a file of them.")
@click.argument("content", required=False)
@click.option("--file", metavar="JSONL", help="Remember every draft of a JSON Lines file, all of them or none.")
@click.option("--namespace", metavar="PATH", help="Where it belongs: a dotted path.")
@click.option("--kind", metavar="KIND", help="fact (default), preference, howto, correction, learning, note, …")
@click.option("--label", "labels", multiple=True, help="factual, procedural, preference, behavioral, episodic.")
@click.option("--importance", type=float, metavar="X", help="0 to 1.")
@click.option("--confidence", type=float, metavar="X", help="0 to 1.")
@click.option("--subject", metavar="TEXT", help="What the statement is about.")
@click.option("--predicate", metavar="TEXT", help="Which property of it.")
@click.option("--observed-at", metavar="TIME", help="When it was noticed.")
@click.option("--valid-from", metavar="TIME", help="Since when it is true.")
@click.option("--expires-at", metavar="TIME", help="When it ends.")
@click.option("--ttl-seconds", type=float, metavar="N", help="In how many seconds it ends.")
@click.option("--supersedes", metavar="ID", help="The memory that it replaces.")
@click.option("--tag", "tags", multiple=True, help="For filtering.")
@json_option("--metadata", "For filtering: an object.")
@click.option("--speaker", metavar="NAME", help="Who says it.")
@click.option("--seq", type=int, metavar="N", help="Its place in the chat, counted from 0.")
@json_option("--vector", "Its vector, where you have it.")
@json_option("--entities", 'Whom and what it mentions: [{"name": "Sarah", "type": "person"}].')
@json_option("--relation", "What it says holds between two: subject, predicate, object.")
@click.option("--idempotency-key", metavar="KEY", help="A retry with the same key gets the first answer.")
@click.option("--allow-pending", is_flag=True, help="Store the text although the embedder fails.")
@session_revision_option
@with_new_store
async def remember(memory: AsyncEbbtide, out: Output, content: str | None, file: str | None, **fields: Any) -> None:
    """Remember CONTENT; without it, or with -, what standard input says.

    --file reads drafts, one JSON object a line with the fields of a memory, and writes them in one transaction.
    """
    if file is not None:
        await remember_file(memory, out, content, file, fields)
        return
    remembered = await memory.remember(text_of(content, "content"), **given_only(fields))
    out.answer(outcome_of(remembered), lambda console: show_outcomes(console, [remembered]))


async def remember_file(
    memory: AsyncEbbtide, out: Output, content: str | None, file: str, fields: Mapping[str, Any]
) -> None:
    """Remember every draft of a file."""
    given = given_only(fields)
    shared = {name: given.pop(name) for name in ("allow_pending", "session_revision") if name in given}
    unfit = "content" if content is not None else next(iter(given), None)
    if unfit is not None:
        raise InvalidInput(
            f"{unfit} was given beside a file of drafts.", field=unfit, remedy="Write it into the drafts of the file."
        )
    drafts = json_lines(read_input(file, "file"), "file")
    with told_of_file(list(drafts)):
        remembered = await memory.remember_many(list(drafts.values()), **shared)
    out.answer([outcome_of(one) for one in remembered], lambda console: show_outcomes(console, remembered))


@contextmanager
def told_of_file(lines: Sequence[int]) -> Generator[None]:
    """Name the line that what the block refuses of its drafts is about, and the field as the file has it."""
    try:
        yield
    except EbbtideError as error:
        place = PLACED.match(error.field or "")
        number = int(place[1]) if place is not None else 0 if len(lines) == 1 else None
        name = error.field if place is None else place[2]
        parameters = {parameter.name for parameter in click.get_current_context().command.params}
        if place is None and name not in Draft.model_fields and name in {None, "drafts", *parameters}:
            raise
        where = "A draft of the file" if number is None else f"Line {lines[number]}"
        error.message = f"{where}: {error.message.removeprefix(place[0].removesuffix(name or '') if place else '')}"
        error.field = name or "drafts"
        raise


def outcome_of(remembered: Remembered) -> dict[str, Any]:
    """What became of a draft, as JSON; warnings, and the ids of what it is related to, only where there are any."""
    answer: dict[str, Any] = {"outcome": remembered.outcome, "memory": remembered.memory}
    beside = {"warnings": remembered.warnings, "related": remembered.related}
    return {**answer, **{name: value for name, value in beside.items() if value}}


def show_outcomes(console: Console, remembered: list[Remembered]) -> None:
    """A line for each memory, and one for each warning."""
    for one in remembered:
        kept = one.memory
        if kept is None:
            line(console, (one.outcome, "bold green"))
        else:
            entry(console, [(one.outcome, "bold green"), f"  {kept.id}  ", (kept.namespace, "cyan")], kept.content)
        for warning in one.warnings:
            paragraph(console, (f"  {warning}", "yellow"))


@command(short_help="Show one memory with all that is known of it.")
@click.argument("memory_id", metavar="ID")
@with_store
async def get(memory: AsyncEbbtide, out: Output, memory_id: str) -> None:
    """Show the memory ID, a superseded or expired one too."""
    found = await memory.get(memory_id)
    out.answer(found, lambda console: show_memory(console, found))


def show_memory(console: Console, memory: Memory) -> None:
    """The content, then every field that holds something."""
    paragraph(console, (memory.content, "bold"))
    for name, value in memory.model_dump(mode="json", exclude={"content"}).items():
        if value not in (None, [], {}):
            paragraph(console, (f"  {name:<18}", "dim"), shown(value))


def shown(value: Any) -> str:
    """A field's value: lists joined by commas, objects as JSON."""
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value)))
    return json_text(value) if isinstance(value, dict) else str(value)


@command(short_help="List memories without a question, newest first.")
@scope_options
@limit_option
@after_option
@with_store
async def browse(memory: AsyncEbbtide, out: Output, limit: int, after: str | None, **scope: Any) -> None:
    """List the memories of a scope, newest first."""
    found = await memory.browse(limit=limit, after=after, **tag_filter(scope))
    out.page(found, lambda console: show_list(console, found))


def show_list(console: Console, memories: list[Memory]) -> None:
    """A line for each memory."""
    for one in memories:
        written = f"{one.created_at:%Y-%m-%d}"
        entry(console, [(f"{one.id}  {written}  ", "dim"), (one.namespace, "cyan")], one.content)


@command(short_help="Show every image of a memory, oldest first.")
@click.argument("memory_id", metavar="ID")
@with_store
async def history(memory: AsyncEbbtide, out: Output, memory_id: str) -> None:
    """Show what the memory ID said, and when."""
    versions = await memory.history(memory_id)
    out.answer(versions, lambda console: show_history(console, versions))


@command(short_help="Show what a memory was made from, and what was made from it.")
@click.argument("memory_id", metavar="ID")
@with_store
async def provenance(memory: AsyncEbbtide, out: Output, memory_id: str) -> None:
    """Show what the memory ID was made from, and what was made from it."""
    made = await memory.provenance(memory_id)
    out.answer(made, lambda console: show_provenance(console, made))


def show_provenance(console: Console, made: Provenance) -> None:
    """The ids of the sources and of what was made, each on a line; what stands for itself says so."""
    if not made.sources:
        line(console, "It stands for itself.")
    for id_ in made.sources:
        line(console, "made from  ", (str(id_), "cyan"))
    for id_ in made.derived:
        line(console, "source of  ", (str(id_), "cyan"))


def show_history(console: Console, versions: list[Version]) -> None:
    """A line for each image: its revision, the interval in which it was current, its state, what it said."""
    for version in versions:
        until = f"{version.until:%Y-%m-%d %H:%M}" if version.until else "now"
        line(
            console,
            f"{version.revision:>3}  ",
            (f"{version.since:%Y-%m-%d %H:%M} to {until}  ", "dim"),
            (version.maturity, "cyan"),
            f"  {version.content}",
        )


@command(short_help="Give a memory new content; its history keeps the old.")
@click.argument("memory_id", metavar="ID")
@click.argument("content", required=False)
@expected_revision
@session_revision_option
@click.option("--importance", type=float, metavar="X", help="0 to 1.")
@click.option("--confidence", type=float, metavar="X", help="0 to 1.")
@click.option("--kind", metavar="KIND", help="What it is.")
@click.option("--label", "labels", multiple=True, help="Its labels, in place of the old ones.")
@click.option("--tag", "tags", multiple=True, help="Its tags, in place of the old ones.")
@json_option("--metadata", "Its metadata, in place of the old.")
@json_option("--vector", "Its vector, where you have it.")
@json_option("--entities", "Whom and what it mentions, in place of the old.")
@json_option("--relation", "What it says holds between two, in place of the old.")
@with_store
async def revise(memory: AsyncEbbtide, out: Output, memory_id: str, content: str | None, **changes: Any) -> None:
    """Give the memory ID new CONTENT; without it, or with -, what standard input says."""
    revised = await memory.revise(memory_id, text_of(content, "content"), **given_only(changes))
    out.answer(
        revised,
        lambda console: line(
            console, (f"revision {revised.revision}", "bold green"), f"  {revised.id}  {revised.content}"
        ),
    )


@command(short_help="Forget a memory for good.")
@click.argument("memory_id", metavar="ID")
@click.option(*REVISION, type=int, required=True, metavar="N", help="The revision that `get` shows.")
@with_store
async def forget(memory: AsyncEbbtide, out: Output, memory_id: str, expected_revision: int) -> None:
    """Forget the memory ID for good, at the revision that was read: it cannot be brought back."""
    forgotten = await memory.forget(memory_id, expected_revision)
    out.answer(forgotten, lambda console: show_forgotten(console, forgotten))


def show_forgotten(console: Console, forgotten: Receipt) -> None:
    """One line that says so."""
    line(console, ("forgotten", "bold green"), f"  {forgotten.id}  at revision {forgotten.revision}")
