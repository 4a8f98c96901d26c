"""The program: its commands, and the one shape in which every error leaves it."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from ebbtide.cli import (
    curation,
    disputes,
    entities,
    episodes,
    evaluation,
    extracting,
    fading,
    files,
    governance,
    lifecycle,
    memories,
    operations,
    proofs,
    questions,
    rankings,
    showcase,
    transfers,
    tuning,
    understanding,
)
from ebbtide.cli.door import field_of
from ebbtide.cli.help import Group
from ebbtide.cli.options import common_last
from ebbtide.cli.output import Output, discard_rest, open_closed_streams
from ebbtide.errors import EbbtideError, Interrupted, InvalidInput

__all__ = ["cli", "main"]

FAILED = 1
INVALID = 2
INTERRUPTED = 130
UNHEARD = 141

EPILOG = """Every command takes --json, and --store FOLDER or --store postgresql://… (or EBBTIDE_STORE). The answer
goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 invalid input, 130
interrupted, 141 done, but nobody read the answer to its end."""


OTHERWISE_CALLED = {
    **dict.fromkeys(("search", "query", "find", "ask"), "recall"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget"),
    **dict.fromkeys(("list", "ls"), "browse"),
    **dict.fromkeys(("add", "store", "save"), "remember"),
    **dict.fromkeys(("show", "read"), "get"),
    **dict.fromkeys(("update", "edit"), "revise"),
}


class Unheard(BaseException):
    """Whoever read the answer has gone, as `head` does."""


@contextmanager
def telling_unheard() -> Generator[None]:
    """Raise `Unheard` for an output that broke, of which the parser and the printer would make an exit code of 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise Unheard from error
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            raise Unheard from ended
        raise


class Commands(Group):
    """The commands in the order in which one meets them, rather than by the alphabet."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """As of any group."""
        with telling_unheard():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """As of any group."""
        with telling_unheard():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As of any group; what other programs call a command is told of as what it is called here."""
        if args and args[0] in OTHERWISE_CALLED:
            ctx.fail(f"There is no command {args[0]!r}. Did you mean {OTHERWISE_CALLED[args[0]]}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The names in the order in which they were added."""
        return list(self.commands)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ebbtide", message="ebbtide %(version)s")
def cli() -> None:
    """Ebbtide: a memory engine for AI agents, on PostgreSQL."""


COMMANDS: tuple[click.Command, ...] = (
    showcase.demo,
    memories.remember,
    questions.recall,
    questions.context,
    questions.explain,
    understanding.understand,
    memories.get,
    memories.browse,
    memories.history,
    memories.provenance,
    memories.revise,
    lifecycle.supersede,
    lifecycle.invalidate,
    lifecycle.restore,
    lifecycle.separate,
    lifecycle.confirm,
    lifecycle.importance,
    lifecycle.feedback,
    lifecycle.engaged,
    lifecycle.record_run,
    lifecycle.session_revision,
    extracting.extract,
    memories.forget,
    proofs.forget_where,
    proofs.erase,
    proofs.hold,
    fading.forgetting,
    proofs.receipts,
    proofs.audit,
    disputes.conflicts,
    entities.entities,
    entities.relations,
    entities.graph,
    files.ingest,
    files.documents,
    episodes.episodes,
    transfers.import_,
    transfers.export,
    curation.export_markdown,
    curation.consolidate,
    curation.reconcile,
    governance.policy,
    governance.rules,
    rankings.profiles,
    evaluation.evaluate,
    tuning.tune,
    operations.doctor,
    operations.migrate,
    operations.worker,
    operations.jobs,
)
for command in COMMANDS:
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; answers with the exit code. An error shows a traceback only where --debug asks for it."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    # What the pool says of a server that is gone, the error says better.
    logging.getLogger("psycopg.pool").setLevel(logging.NOTSET if "--debug" in given else logging.CRITICAL)
    open_closed_streams()
    try:
        with telling_unheard():
            code = run(given)
            sys.stdout.flush()
    except Unheard:
        discard_rest(sys.stdout)
        return UNHEARD
    except OSError as error:
        # The answer cannot be written, nor can an error as JSON.
        discard_rest(sys.stdout)
        Output(as_json=False).error(refusal(error))
        return FAILED
    return code


def run(given: Sequence[str]) -> int:
    """The exit code of a command line whose errors have been shown."""
    try:
        code = cli.main(common_last(given, cli), prog_name="ebbtide", standalone_mode=False, obj=given)
    except (KeyboardInterrupt, click.Abort):
        report(Interrupted("Interrupted; nothing was stored."), given)
        return INTERRUPTED
    except Interrupted as error:
        report(error, given)
        return INTERRUPTED
    except (click.ClickException, EbbtideError) as error:
        return report(error if isinstance(error, EbbtideError) else usage_error(error), given)
    except OSError as error:
        return report(refusal(error), given)
    except Exception as error:  # noqa: BLE001 - whatever else happens is a defect of the program, and is told as one
        return report(defect(error), given)
    return code if isinstance(code, int) else 0


def report(error: EbbtideError, given: Sequence[str]) -> int:
    """Show the error: as JSON on standard output, or as a line for people on standard error."""
    options = given[: given.index("--")] if "--" in given else given
    if "--debug" in options:
        traceback.print_exception(error)
    Output(as_json="--json" in options).error(error)
    return INVALID if isinstance(error, InvalidInput) else FAILED


def usage_error(error: click.ClickException) -> InvalidInput:
    """What the parser of the command line found wrong, as an error of Ebbtide."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    parameter = error.param if isinstance(error, click.BadParameter) else None
    too_many = error.message.startswith("Got unexpected extra argument")
    if isinstance(error, click.MissingParameter) and parameter is not None and parameter.name == "expected_revision":
        read = "Read it first: `ebbtide get ID` shows its revision. "
    else:
        read = ""
    quoting = "Put a text of several words in quotation marks. " if too_many else ""
    found = InvalidInput(
        error.format_message(),
        field=field_of(parameter) if parameter is not None else unknown_option(error),
        remedy=f"{quoting}{read}See `{context.command_path if context is not None else 'ebbtide'} --help`.",
    )
    found.__cause__ = error
    return found


def unknown_option(error: click.ClickException) -> str | None:
    """The name of an option that there is not, as programs know options; None where the error is about none."""
    name: str | None = getattr(error, "option_name", None)
    return None if name is None else name.lstrip("-").replace("-", "_")


def refusal(error: OSError) -> EbbtideError:
    """What the operating system refused, such as to write to a disk that is full."""
    where = "" if error.filename is None else f" {error.filename}"
    found = EbbtideError(
        f"The operating system refused{where}: {error.strerror or type(error).__name__}.",
        remedy="Make room, or name another place, and run it again.",
    )
    found.__cause__ = error
    return found


def defect(error: Exception) -> EbbtideError:
    """What nobody foresaw, as an error of Ebbtide that says how to find out more."""
    found = EbbtideError(
        f"Something unforeseen happened: {type(error).__name__}: {error}.",
        remedy="Run it again with --debug to see where, and report it.",
    )
    found.__cause__ = error
    return found
