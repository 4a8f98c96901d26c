"""The commands for those who run a store: doctor, migrate, worker, jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.help import command, group
from ebbtide.cli.options import before_option, given_only, limit_option, with_place, with_store
from ebbtide.cli.output import line, paragraph
from ebbtide.settings import Settings

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.options import Place
    from ebbtide.cli.output import Output
    from ebbtide.doctor import Check
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.jobs import Job

__all__ = ["doctor", "jobs", "migrate", "worker"]

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@command(short_help="Check the program, its model and its store.")
@with_place
async def doctor(place: Place, out: Output) -> None:
    """Check everything a recall relies on, and say what to do about what is amiss. Exits with 1 if anything fails."""
    from ebbtide.doctor import examine

    named = place.store is not None or "store" in Settings.from_environment().model_fields_set
    checks = await examine(place.store_at(must_exist=True), place.caller, named=named)
    out.answer(checks, lambda console: show_checks(console, checks))
    if any(check.verdict == "fail" for check in checks):
        raise click.exceptions.Exit(1)


def show_checks(console: Console, checks: list[Check]) -> None:
    """A line for each finding, and one for its remedy."""
    for check in checks:
        line(console, (f"{check.verdict:<5}", STYLES[check.verdict]), (f"{check.name:<13}", "bold"), check.found)
        if check.remedy is not None:
            paragraph(console, f"{'':<18}", (check.remedy, "dim"))


@command(short_help="Make or update the schema of a store.")
@with_place
async def migrate(place: Place, out: Output) -> None:
    """Make a database into a store, or bring an older store up to this version. Doing it twice does no harm."""
    from ebbtide.db.migrate import SCHEMA_VERSION

    store = place.store_at()
    await store.open()
    await store.close()
    out.answer(
        {"schema_version": SCHEMA_VERSION},
        lambda console: line(console, ("up to date", "bold green"), f"  schema version {SCHEMA_VERSION}"),
    )


@command(short_help="Run background jobs until it is told to stop.")
@with_place
async def worker(place: Place, out: Output) -> None:
    """Run the background jobs of a store: pending vectors, indexes, upkeep. Ends at Ctrl-C or SIGTERM."""
    from ebbtide.jobs import run_worker

    async with place.open(settings=Settings.from_environment(in_process_worker=False)) as memory:
        out.note("Working; Ctrl-C ends it.")
        await run_worker(await memory.engine(), install_signal_handlers=True)
    out.answer({"ended": True}, lambda console: line(console, "Ended."))


@group(short_help="The background jobs: list, retry, cancel.")
def jobs() -> None:
    """The background jobs of the tenant; of the whole store with --everything."""


everything_option = click.option("--everything", is_flag=True, help="Of the whole store, not the tenant's alone.")


@jobs.command("list")
@click.option("--status", metavar="STATUS", help="todo, doing, succeeded, failed, cancelled or aborted.")
@limit_option
@before_option
@everything_option
@with_store
async def list_jobs(memory: AsyncEbbtide, out: Output, **asked: Any) -> None:
    """List jobs, the newest first."""
    found = await memory.jobs.list(**given_only(asked))
    out.page(found, lambda console: show_jobs(console, found), option="--before")


def show_jobs(console: Console, jobs: list[Job]) -> None:
    """A line for each job, and one for its last error."""
    for job in jobs:
        attempts = f"{job.attempts} attempts" if job.attempts != 1 else "1 attempt"
        line(console, f"{job.id:>6}  ", (f"{job.status:<10}", "bold"), f"{job.task}  ", (attempts, "dim"))
        if job.error is not None:
            line(console, (f"{'':<8}{job.error}", "red"))


@jobs.command("retry")
@click.argument("job_id", type=int, metavar="ID")
@everything_option
@with_store
async def retry_job(memory: AsyncEbbtide, out: Output, job_id: int, everything: bool) -> None:
    """Let the job ID, which failed or waits, run now."""
    await memory.jobs.retry(job_id, everything=everything)
    out.answer(
        {"id": job_id, "retried": True}, lambda console: line(console, ("will run", "bold green"), f"  {job_id}")
    )


@jobs.command("cancel")
@click.argument("job_id", type=int, metavar="ID")
@everything_option
@with_store
async def cancel_job(memory: AsyncEbbtide, out: Output, job_id: int, everything: bool) -> None:
    """Cancel the job ID, or ask it to stop where it runs."""
    await memory.jobs.cancel(job_id, everything=everything)
    out.answer(
        {"id": job_id, "cancelled": True}, lambda console: line(console, ("cancelled", "bold green"), f"  {job_id}")
    )
