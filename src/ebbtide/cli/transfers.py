"""The commands that move memories between stores: import and export."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import IO, TYPE_CHECKING, Any, cast

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import narrowing_options, tag_filter, with_new_store, with_store
from ebbtide.cli.output import json_text, line
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.memory import Imported

__all__ = ["export", "import_", "whole_file"]

# What every record of an export of memories has.
RECORD = frozenset({"id", "content", "versions"})


@command("import", short_help="Store the memories that an export wrote.")
@click.argument("file", required=False)
@with_new_store
async def import_(memory: AsyncEbbtide, out: Output, file: str | None) -> None:
    """Store the memories of the JSON Lines FILE, or of standard input: what `export` wrote, or objects with a content.

    Ids are kept, and what is there already is left alone, so an import can be repeated. Entities come as they stand:
    what was merged, split or named by hand before the export cannot be undone here.
    """
    with ExitStack() as stack:
        lines = sys.stdin.buffer if file in (None, "-") else stack.enter_context(opened(file, "rb"))
        tell = stack.enter_context(out.progress())

        def show(done: int) -> None:
            out.keeps(f"{done:,} lines were stored; import them again to go on")
            tell("Importing", done, None)

        imported = await memory.import_records(lines, progress=show)
    out.answer(imported, lambda console: show_imported(console, imported))


def show_imported(console: Console, imported: Imported) -> None:
    """How many memories became what."""
    others = [f", {count:,} {name}" for name, count in imported.model_dump(exclude={"imported"}).items() if count]
    line(console, (f"{imported.imported:,} imported", "bold green"), "".join(others))


@command(short_help="Write memories as JSON Lines.")
@click.argument("file", required=False)
@narrowing_options
@with_store
async def export(memory: AsyncEbbtide, out: Output, file: str | None, **scope: Any) -> None:
    """Write memories with everything the store has of them to FILE, or to standard output, one JSON object a line.

    Superseded and expired ones too, with their history, their vectors and their counts; forgotten ones never. To
    standard output go JSON Lines in any case; with --json and a FILE, the answer is one object that counts them.
    An earlier export at FILE is replaced once the new one is whole; any other file is left alone.
    """
    if file in (None, "-"):
        await export_to(sys.stdout, memory, out, scope)
        return
    with whole_file(file, RECORD) as (stream, replaced):
        count = await export_to(stream, memory, out, scope)
    told = f"  to {file}{', in place of an earlier export' if replaced else ''}"
    out.answer(
        {"file": file, "memories": count, "replaced": replaced},
        lambda console: line(console, (f"{count:,} exported", "bold green"), told),
    )


async def export_to(stream: IO[str], memory: AsyncEbbtide, out: Output, scope: dict[str, Any]) -> int:
    """Write a scope's memories to a stream; answers with their number."""
    count = 0
    with out.progress() as tell:
        async with aclosing(memory.export_records(**tag_filter(scope))) as records:
            async for record in records:
                stream.write(json_text(record) + "\n")
                count += 1
                tell("Exporting", count, None)
    return count


@contextmanager
def whole_file(file: str | Path, *kinds: frozenset[str]) -> Generator[tuple[IO[str], bool]]:
    """A file to write, which has its name only once it is whole, and whether it replaces an earlier export.

    Half an export must not pass for one, a nightly one must not fail over that of the night before, and nothing else is
    ever replaced: an export is known by the fields of its first line, those of one of `kinds`. A link is followed, a
    file that is replaced keeps its permissions, and a pipe or a device is written as it is.

    Raises:
        InvalidInput: it is a folder, holds something else than an earlier export, or cannot be written.
    """
    file = Path(file)
    if file.is_dir():
        raise InvalidInput(f"{str(file)!r} is a folder.", field="file", remedy="Name a file in it.")
    if file.exists() and not file.is_file():
        with opened(file, "w") as stream:
            yield stream, False
        return
    target = file.resolve()
    replaced = holds_export(target, kinds)
    with translated(file):
        descriptor, name = mkstemp(prefix=f"{target.name[:100]}.", suffix=".unfinished", dir=target.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            yield stream, replaced
        with translated(file):
            if target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def holds_export(file: Path, kinds: Sequence[frozenset[str]]) -> bool:
    """Whether a file is an earlier export, one of no records too; False where there is no file.

    Raises:
        InvalidInput: it holds something else.
    """
    if not file.exists():
        return False
    with opened(file, "rb") as stream:
        first = stream.readline()
    try:
        record = json.loads(first) if first else None
    except (ValueError, RecursionError):
        record = ()
    fields = set(cast("dict[str, Any]", record)) if isinstance(record, dict) else None
    if first and (fields is None or not any(kind <= fields for kind in kinds)):
        raise InvalidInput(
            f"{str(file)!r} holds something else than an earlier export.",
            field="file",
            remedy="Name a file that is new, empty, or an earlier export, or remove this one first.",
        )
    return True


def opened(file: str | Path, mode: str) -> IO[Any]:
    """The open file.

    Raises:
        InvalidInput: it cannot be opened.
    """
    with translated(file):
        return Path(file).open(mode, encoding=None if "b" in mode else "utf-8")


@contextmanager
def translated(file: str | Path) -> Generator[None]:
    """Turn what the system says of a file into an InvalidInput that names it."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(
            f"{str(file)!r} cannot be opened: {reason}.", field="file", remedy="Check the path and its permissions."
        ) from None
