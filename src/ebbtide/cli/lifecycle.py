"""The commands of a memory's later life: supersede, invalidate, restore, confirm, importance, feedback, record-run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.help import command
from ebbtide.cli.memories import (
    expected_revision,
    outcome_of,
    remember,
    session_revision_option,
    show_outcomes,
)
from ebbtide.cli.options import given_only, text_of, with_new_store, with_store
from ebbtide.cli.output import line
from ebbtide.paths.lifecycle import SHORTEST_RUN_INPUT
from ebbtide.types.memory import Draft

if TYPE_CHECKING:
    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.memory import Memory

__all__ = [
    "confirm",
    "engaged",
    "feedback",
    "importance",
    "invalidate",
    "record_run",
    "restore",
    "separate",
    "session_revision",
    "supersede",
]

FIELDS = ({*Draft.model_fields} | {"allow_pending", "session_revision"}) - {"content", "supersedes"}


@command(
    short_help="Replace a memory by what holds now.",
    params=[option for option in remember.params if option.name in FIELDS],
)
@click.argument("old_id", metavar="ID")
@click.argument("content", required=False)
@with_store
async def supersede(memory: AsyncEbbtide, out: Output, old_id: str, content: str | None, **fields: Any) -> None:
    """Remember CONTENT in the place of the memory ID; without it, or with -, what standard input says."""
    remembered = await memory.supersede(old_id, text_of(content, "content"), **given_only(fields))
    out.answer(outcome_of(remembered), lambda console: show_outcomes(console, [remembered]))


@command(short_help="Say that a memory was wrong, or when it ceased to be true.")
@click.argument("memory_id", metavar="ID")
@click.option("--at", metavar="TIME", help="It was right, but is true no more since then.")
@expected_revision
@with_store
async def invalidate(memory: AsyncEbbtide, out: Output, memory_id: str, **given: Any) -> None:
    """Say that the memory ID was wrong: it is recalled no more, and its history keeps it."""
    tell(out, await memory.invalidate(memory_id, **given))


@command(short_help="Let a memory hold again.")
@click.argument("memory_id", metavar="ID")
@expected_revision
@with_store
async def restore(memory: AsyncEbbtide, out: Output, memory_id: str, **given: Any) -> None:
    """Let the memory ID hold again that was invalidated, archived, quarantined or deleted, or has expired."""
    tell(out, await memory.restore(memory_id, **given))


@command(short_help="Say that a memory was not replaced by its successor.")
@click.argument("memory_id", metavar="ID")
@expected_revision
@with_store
async def separate(memory: AsyncEbbtide, out: Output, memory_id: str, **given: Any) -> None:
    """Let the memory ID hold again beside the one that superseded it, which was no news of it."""
    tell(out, await memory.separate(memory_id, **given))


@command(short_help="Say that a person has verified a memory.")
@click.argument("memory_id", metavar="ID")
@expected_revision
@with_store
async def confirm(memory: AsyncEbbtide, out: Output, memory_id: str, **given: Any) -> None:
    """Say that a person has verified the memory ID."""
    tell(out, await memory.confirm(memory_id, **given))


@command(short_help="Override how much a memory matters.")
@click.argument("memory_id", metavar="ID")
@click.argument("value", type=float)
@expected_revision
@with_store
async def importance(memory: AsyncEbbtide, out: Output, memory_id: str, value: float, **given: Any) -> None:
    """Let the memory ID matter as much as VALUE says, from 0 to 1."""
    changed = await memory.update_importance(memory_id, value, **given)
    tell(out, changed, f"importance {changed.importance:g}")


@command(short_help="Say whether a memory was of use.")
@click.argument("memory_id", metavar="ID")
@click.argument("rating")
@click.option(
    "--recall", metavar="ID", help="The recall it came back in: its recall_id, with the same --agent, --user."
)
@with_store
async def feedback(memory: AsyncEbbtide, out: Output, memory_id: str, rating: Any, recall: str | None) -> None:
    """Say how useful the memory ID was where it came back: RATING is positive, negative or neutral."""
    judged = await memory.feedback(memory_id, rating, recall=recall)
    tell(out, judged, f"usefulness {judged.usefulness:.3f}")


@command(short_help="Record whether the user engaged with memories of other topics.")
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--yes/--no", "taken", default=True, help="Whether the user did; --yes unless given.")
@with_store
async def engaged(memory: AsyncEbbtide, out: Output, memory_ids: tuple[str, ...], taken: bool) -> None:
    """Record that the user of --user engaged with the memories ID of another topic, or did not."""
    known = await memory.engaged(memory_ids, taken)
    out.answer(known, lambda console: line(console, f"alpha {known.alpha:g}  beta {known.beta:g}"))


@command("record-run", short_help="Remember what was asked and answered in a run.")
@click.argument("asked", metavar="INPUT")
@click.argument("answered", metavar="[OUTPUT]", required=False)
@click.option("--failed", is_flag=True, help="The run failed: nothing is kept.")
@click.option("--extract/--no-extract", default=None, help="Have a job read its facts; the setting decides otherwise.")
@session_revision_option
@with_new_store
async def record_run(
    memory: AsyncEbbtide,
    out: Output,
    asked: str,
    answered: str | None,
    failed: bool,
    extract: bool | None,
    session_revision: int | None,
) -> None:
    """Remember the INPUT of a run, from 80 characters on, and its OUTPUT; without it, or with -, standard input.

    A context block within them is left out. --task and --chat say where the run was.
    """
    remembered = await memory.record_run(
        asked, text_of(answered, "output"), succeeded=not failed, session_revision=session_revision, extract=extract
    )
    short = f"what was asked is shorter than {SHORTEST_RUN_INPUT} characters, and nothing was answered"
    out.answer(
        [outcome_of(one) for one in remembered],
        lambda console: show_outcomes(console, remembered),
        none=f"Nothing was kept: {'the run failed' if failed else short}.",
    )


@command("session-revision", short_help="Show the revision of a session, for work that derives from it.")
@with_store
async def session_revision(memory: AsyncEbbtide, out: Output) -> None:
    """Show the revision of --session: given with a write, that is refused if something of it was forgotten since."""
    revision = await memory.session_revision()
    answer = {"session": memory.caller.session, "revision": revision}
    out.answer(answer, lambda console: line(console, f"{memory.caller.session}  revision {revision}"))


def tell(out: Output, memory: Memory, what: str | None = None) -> None:
    """Answer with a changed memory; for people, in one line: what became of it, and its revision."""
    state = what or (memory.maturity if memory.status == "active" else memory.status)
    told = f"  {memory.id}  revision {memory.revision}  {memory.content}"
    out.answer(memory, lambda console: line(console, (state, "bold green"), told))
