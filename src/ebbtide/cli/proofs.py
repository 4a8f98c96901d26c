"""The commands of forgetting and its proof: forget-where, erase, hold, receipts, audit."""

from __future__ import annotations

import sys
from contextlib import aclosing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ebbtide.cli.door import confirming
from ebbtide.cli.help import command, group
from ebbtide.cli.options import (
    before_option,
    given_only,
    limit_option,
    narrowing_options,
    parse_json,
    step_by_step,
    tag_filter,
    with_store,
)
from ebbtide.cli.output import copyable, counted, entry, json_text, line, paragraph
from ebbtide.cli.transfers import whole_file
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.caller import Caller
    from ebbtide.types.evidence import AuditCheck, AuditEntry, Erasure, Forgetting, Hold, Receipt, ReceiptCheck

__all__ = ["audit", "erase", "forget_where", "hold", "receipts"]

GOOD, BAD = "bold green", "bold red"
id_options = click.option("--id", "ids", multiple=True, metavar="ID", help="Of these memories alone.")


@command("forget-where", short_help="Forget what meets a filter, after a look at it.")
@narrowing_options
@id_options
@click.option("--query", metavar="TEXT", help="Show what a question finds; to forget, name the ids.")
@click.option("--token", metavar="TOKEN", help="Forget what the look that gave this token saw.")
@with_store
@step_by_step
async def forget_where(memory: AsyncEbbtide, out: Output, token: str | None, **options: Any) -> None:
    """Show which memories meet a filter; with --token from that, forget just these for good."""
    asked = tag_filter(options)
    if not asked:
        refuse_place_as_filter(memory.caller)
    found = await memory.forget_where(**asked, dry_run=token is None, token=token)
    out.answer(found, lambda console: show_forgetting(console, found))


def refuse_place_as_filter(caller: Caller) -> None:
    """Refuse an empty filter beside --chat, --task or --session, which say where something is said and narrow nothing.

    Raises:
        InvalidInput: one of them was given.
    """
    for name in ("chat", "task", "session"):
        value: str | None = getattr(caller, name)
        if value is not None:
            raise InvalidInput(
                f"The filter is empty: --{name} is none.",
                field=name,
                remedy=f"To forget what was said there, give --where '{json_text({name: value})}'.",
            )


def show_forgetting(console: Console, found: Forgetting) -> None:
    """A line for each memory that would go or went, and how to go on."""
    for one in found.candidates:
        entry(console, [(f"{one.id}  ", "dim"), (one.namespace, "cyan")], one.excerpt)
    for receipt in found.receipts:
        line(console, ("forgotten", GOOD), f"  {receipt.id}  receipt {receipt.receipt_id}")
    if found.dry_run:
        paragraph(console, f"{found.count:,} would be forgotten.")
    if found.token is not None and found.count:
        copyable(console, "To forget it for good, within 15 minutes:", confirming(found.token))
    elif found.dry_run and found.count:
        paragraph(console, ("Repeat with the --id of each that is meant.", "dim"))


@group(short_help="Erase everything of a user or of the tenant.")
def erase() -> None:
    """Erase everything of a user, or of the tenant: for good, with receipts."""


@erase.command("user")
@click.argument("of_user", metavar="USER")
@click.option("--confirm", required=True, metavar="USER", help="The user's name once more.")
@with_store
@step_by_step
async def erase_user(memory: AsyncEbbtide, out: Output, of_user: str, confirm: str) -> None:
    """Erase everything of USER in the tenant, whichever agent remembered it."""
    if confirm != of_user:
        raise InvalidInput("--confirm names another user.", field="confirm", remedy="Give the user's name twice.")
    erased = await memory.erase_user(of_user)
    out.answer(erased, lambda console: show_erasure(console, erased))


@erase.command("tenant")
@click.option("--confirm", required=True, metavar="TENANT", help="The tenant's name once more.")
@with_store
@step_by_step
async def erase_tenant(memory: AsyncEbbtide, out: Output, confirm: str) -> None:
    """Erase everything of the tenant that --tenant names, but tombstones, receipts and the sealed audit."""
    erased = await memory.erase_tenant(confirm=confirm)
    out.answer(erased, lambda console: show_erasure(console, erased))


def show_erasure(console: Console, erased: Erasure) -> None:
    """How much went, and where the proof is."""
    line(console, ("erased", GOOD), f"  {counted(erased.memories, 'memory')}  receipt {erased.receipt_id}")


@group(short_help="Legal holds: place, list, release.")
def hold() -> None:
    """Legal holds: what one covers cannot be forgotten until it is released."""


@hold.command("place")
@click.option("--reason", required=True, metavar="TEXT", help="Why, or for which case.")
@click.option("--of-user", metavar="USER", help="All of this user, whichever agent's it is.")
@id_options
@narrowing_options
@with_store
async def place_hold(
    memory: AsyncEbbtide, out: Output, reason: str, of_user: str | None, ids: tuple[str, ...], **options: Any
) -> None:
    """Begin a hold: on memories by --id, on all of --of-user, or on all that meet a filter."""
    placed = await memory.holds.place(reason=reason, user=of_user, ids=ids or None, **tag_filter(options))
    out.answer(placed, lambda console: show_holds(console, [placed]))


@hold.command("list")
@click.option("--released", is_flag=True, help="Those that were released, too.")
@with_store
async def list_holds(memory: AsyncEbbtide, out: Output, released: bool) -> None:
    """List the holds that last, the newest first."""
    found = await memory.holds.list(released=released)
    out.answer(found, lambda console: show_holds(console, found))


@hold.command("release")
@click.argument("hold_id", metavar="ID")
@with_store
async def release_hold(memory: AsyncEbbtide, out: Output, hold_id: str) -> None:
    """End the hold ID."""
    released = await memory.holds.release(hold_id)
    out.answer(released, lambda console: show_holds(console, [released]))


def show_holds(console: Console, holds: list[Hold]) -> None:
    """A line for each hold: since when, what it covers, why."""
    for one in holds:
        state = f"until {one.released_at:%Y-%m-%d}" if one.released_at else "lasts"
        line(console, f"{one.id}  ", (f"{one.placed_at:%Y-%m-%d} {state}  ", "bold"), json_text(one.covers))
        paragraph(console, (f"  {one.reason}", "dim"))


@group(short_help="The proofs of what was forgotten: list, verify.")
def receipts() -> None:
    """The proofs of what was forgotten."""


@receipts.command("list")
@click.option("--about", metavar="ID", help="Of one memory, or the receipt of this id.")
@before_option
@limit_option
@with_store
async def list_receipts(memory: AsyncEbbtide, out: Output, **asked: Any) -> None:
    """List receipts, the newest first."""
    found = await memory.receipts.list(**given_only(asked))
    out.page(found, lambda console: show_receipts(console, found), option="--before")


def show_receipts(console: Console, found: list[Receipt | Erasure]) -> None:
    """A line for each receipt: its number and id, when, and what it is about."""
    for one in found:
        about = f"memory {one.id}" if one.subject == "memory" else f"{one.subject}, {counted(one.memories, 'memory')}"
        line(console, f"{one.number:>6}  {one.receipt_id}  ", (f"{one.forgotten_at:%Y-%m-%d}  ", "dim"), about)


@receipts.command("verify")
@click.argument("receipt", metavar="[ID|JSON|FILE]", required=False)
@with_store
async def verify_receipts(memory: AsyncEbbtide, out: Output, receipt: str | None) -> None:
    """Check that what a receipt says went is gone everywhere; without one, check the chain. Exits with 1 if not."""
    if receipt is None:
        problems = await memory.receipts.verify()
        out.answer({"valid": not problems, "problems": problems}, lambda console: show_verdict(console, problems))
    else:
        found: ReceiptCheck = await memory.verify_receipt(read_receipt(receipt))
        problems = found.problems
        out.answer(found, lambda console: show_verdict(console, problems))
    if problems:
        raise click.exceptions.Exit(1)


def read_receipt(given: str) -> Any:
    """A receipt's id, its JSON, or what a file holds of either."""
    if given.lstrip().startswith("{"):
        return parse_json(given, "receipt")
    path = Path(given)
    return read_receipt(path.read_text(encoding="utf-8-sig").strip()) if path.is_file() else given


def show_verdict(console: Console, problems: tuple[str, ...]) -> None:
    """Whether all is as it should be, and what is not."""
    line(console, ("not as it should be", BAD) if problems else ("as it should be", GOOD))
    for problem in problems:
        paragraph(console, f"  {problem}")


@group(short_help="Who did what: show, verify, export.")
def audit() -> None:
    """Who did what to which memory, and when; never what it says."""


@audit.command("show")
@click.option("--action", metavar="ACTION", help="read, write, update, delete, status or warning.")
@click.option("--of-agent", "agent", metavar="NAME", help="Done by this agent; any in the tenant otherwise.")
@click.option("--of-user", "user", metavar="ID", help="On behalf of this user.")
@click.option("--memory", "memory_id", metavar="ID", help="Done to this memory.")
@click.option("--since", metavar="TIME", help="From this moment on.")
@click.option("--until", metavar="TIME", help="Before this moment.")
@before_option
@limit_option
@with_store
async def show_audit(memory: AsyncEbbtide, out: Output, **asked: Any) -> None:
    """Show rows of the tenant's audit, the newest first."""
    found = await memory.audit.entries(**given_only(asked))
    out.page(found, lambda console: show_entries(console, found), option="--before")


def show_entries(console: Console, entries: list[AuditEntry]) -> None:
    """A line for each row: number, moment, action, who, and on what."""
    for one in entries:
        who = f"{one.agent}/{one.user}" if one.user else one.agent
        moment = f"{one.at:%Y-%m-%d %H:%M:%S}"
        line(
            console,
            (f"{one.number:>6}  {moment}  ", "dim"),
            (f"{one.action:<8}", "bold"),
            f"{who}  {one.memory_id or ''}  ",
            (json_text(one.detail), "dim"),
        )


@audit.command("verify")
@with_store
async def verify_audit(memory: AsyncEbbtide, out: Output) -> None:
    """Check that no row was edited, removed or put in by another hand. Exits with 1 if one was."""
    found = await memory.audit.verify()
    out.answer(found, lambda console: show_check(console, found))
    if not found.valid:
        raise click.exceptions.Exit(1)


def show_check(console: Console, found: AuditCheck) -> None:
    """The verdict, what it is about, and the digest to keep elsewhere."""
    show_verdict(console, found.problems)
    paragraph(
        console, f"  {counted(found.rows, 'row')} in {counted(found.seals, 'seal')}, {found.unsealed:,} not sealed yet"
    )
    if found.head is not None:
        paragraph(console, (f"  head {found.head}", "dim"))


@audit.command("export")
@click.argument("file", required=False)
@with_store
async def export_audit(memory: AsyncEbbtide, out: Output, file: str | None) -> None:
    """Write the whole audit as JSON Lines to FILE, or to standard output: every row, then every seal."""
    if file is None or file == "-":
        await write_audit(memory, sys.stdout)
        return
    with whole_file(file, frozenset({"entry"}), frozenset({"seal"})) as (stream, replaced):
        count = await write_audit(memory, stream)
    out.answer(
        {"file": file, "records": count, "replaced": replaced},
        lambda console: line(console, ("exported", GOOD), f"  {counted(count, 'record')}"),
    )


async def write_audit(memory: AsyncEbbtide, stream: IO[str]) -> int:
    """Write the audit to a stream, a line a record; answers with their number."""
    count = 0
    async with aclosing(memory.audit.export()) as records:
        async for record in records:
            stream.write(json_text(record) + "\n")
            count += 1
    return count
