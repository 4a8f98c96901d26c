"""The commands of documents: ingest, and documents to list, read and forget them."""

from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.door import confirming
from ebbtide.cli.help import command, group
from ebbtide.cli.options import (
    after_option,
    given_only,
    limit_option,
    read_input,
    step_by_step,
    with_new_store,
    with_store,
)
from ebbtide.cli.output import copyable, counted, entry, line, paragraph
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.read.gather import place_of
from ebbtide.types.documents import Ingested

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.documents import Document, IngestedFile
    from ebbtide.types.evidence import Forgetting

__all__ = ["documents", "ingest"]

STYLES = {
    "stored": "bold green",
    "updated": "bold green",
    "unchanged": "dim",
    "skipped": "yellow",
    "failed": "bold red",
}
MANY_SKIPPED = 20
MANY_DOCUMENTS = 1_000
STANDARD_INPUT = "-"


@command(short_help="Remember files: Markdown, text, HTML, PDF.")
@click.argument("paths", nargs=-1, metavar="PATH…")
@click.option("--namespace", metavar="PATH", help="Where they go; sub-folders go below it.")
@click.option("--name", metavar="NAME", help="What the document is called in place of its path.")
@click.option("--kind", type=click.Choice(["chunk", "note"]), help="Passages of files, or notes.  [default: chunk]")
@click.option("--title", metavar="TEXT", help="The document's title.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag of every passage.")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="A category label of every passage.")
@click.option("--observed-at", metavar="DATE", help="When what they say was noticed.")
@click.option("--max-tokens", type=int, metavar="N", help="Tokens of a passage at most.  [default: 250]")
@click.option("--include", multiple=True, metavar="GLOB", help="Of a folder, just such files.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Of a folder, no such files.")
@click.option("--sync", is_flag=True, help="Show what is gone of a folder; its --token forgets it.")
@click.option("--token", metavar="TOKEN", help="With --sync: forget what the run that gave it has shown.")
@click.option("--dry-run", is_flag=True, help="Only say what would be stored.")
@click.option("--allow-pending", is_flag=True, help="Store even where the embedder fails.")
@with_new_store
async def ingest(memory: AsyncEbbtide, out: Output, paths: tuple[str, ...], **options: Any) -> None:
    """Remember the files and folders at PATH…, or the text on standard input where it is -.

    Another version of a file takes the place of the one before: only what is new in it is embedded, and what is gone
    from it is forgotten. Exit code 1 says that some file could not be read.

    Documents whose files are gone from a folder stay. --sync shows them, forgets none, and prints the command with
    a --token that does forget just these.
    """
    if not paths:
        raise InvalidInput("No path was given.", field="source", remedy="Name files or folders, or - for a text.")
    given = given_only(options)
    if len(paths) > 1 and (one := next((name for name in ("name", "token") if name in given), None)):
        raise InvalidInput(f"--{one} goes with a single path.", field=one, remedy="Ingest one path at a time.")
    if not options["dry_run"]:
        out.keeps("files read until then are stored; ingest them again to go on")
    found: list[Ingested] = []
    with out.progress() as tell:
        for path in paths:
            source: dict[str, Any] = {"source": path} if path != STANDARD_INPUT else {"text": read_input(None, "text")}
            if "source" in source and "\n" in path:
                raise InvalidInput("A path has no line break.", field="source", remedy="Pipe a text in, and give -.")

            def show(done: int, total: int, path: str = path) -> None:
                tell(f"Reading {path}, in bytes", done, total)

            found.append(await memory.ingest(**source, **given, progress=show))
    whole = found[0] if len(found) == 1 else merged(found)
    out.answer(whole, lambda console: show_ingested(console, whole))
    if whole.failed:
        raise click.exceptions.Exit(1)


def merged(found: list[Ingested]) -> Ingested:
    """What became of several paths, in one. A token is for one of them alone."""
    return Ingested(
        files=tuple(file for one in found for file in one.files),
        gone=tuple(document for one in found for document in one.gone),
        dry_run=found[0].dry_run,
    )


def show_ingested(console: Console, found: Ingested) -> None:
    """A line for each file that became something, of skipped ones only some, what is gone, and the counts of all."""
    skipped = [file for file in found.files if file.status == "skipped"]
    told = [file for file in found.files if file.status not in ("skipped", "unchanged") or file.warnings]
    for file in [file for file in told if file.status != "skipped"] + skipped[:MANY_SKIPPED]:
        line(console, (f"{file.status:<10}", STYLES[file.status]), file.path, (told_of(file), "dim"))
        for warning in file.warnings:
            line(console, " " * 10, (warning, "yellow"))
    if len(skipped) > MANY_SKIPPED:
        paragraph(console, (f"… and {len(skipped) - MANY_SKIPPED:,} more were skipped.", "dim"))
    forgotten = set(found.forgotten)
    for document in found.gone:
        what = ("forgotten ", "bold green") if document.id in forgotten else ("gone      ", "yellow")
        line(console, what, document.path)
    counts = Counter(file.status for file in found.files)
    said = ", ".join(f"{counts[name]:,} {name}" for name in STYLES if counts[name])
    paragraph(console, f"{said or 'Nothing was found'}{', by a dry run' if found.dry_run else ''}.")
    if found.token is not None and found.gone:
        copyable(console, "Nothing of it was forgotten. To forget it, within 15 minutes:", confirming(found.token))
    elif len(forgotten) < len(found.gone):
        documents = counted(len(found.gone), "document has", "documents have")
        why = "no file any more, or one that goes to another namespace now"
        paragraph(console, (f"{documents} {why}; see --sync.", "dim"))


def told_of(file: IngestedFile) -> str:
    """What else is to be said of a file."""
    names = ("new", "kept", "forgotten", "held", "dropped", "quarantined")
    counts = ", ".join(f"{getattr(file, name):,} {name}" for name in names if getattr(file, name))
    said = "  ".join(one for one in (counts, file.message) if one)
    return f"  {said}" if said else ""


@group(short_help="Documents: list, get, forget.")
def documents() -> None:
    """Documents: the files and texts that were ingested."""


@documents.command("list")
@click.option("--namespace", "namespaces", multiple=True, metavar="PATTERN", help="In such namespaces.")
@limit_option
@after_option
@with_store
async def list_documents(
    memory: AsyncEbbtide, out: Output, namespaces: tuple[str, ...], limit: int, after: str | None
) -> None:
    """List the documents in the order of namespace and path."""
    found = await memory.documents.list(namespaces=list(namespaces) or None, limit=limit, after=after)
    out.page(found, lambda console: show_documents(console, found))


def show_documents(console: Console, found: list[Document]) -> None:
    """A line for each."""
    for one in found:
        unfinished = "" if one.complete else "  (incomplete: ingest it again)"
        passages = (f"  {counted(one.passages, 'passage')}{unfinished}", "dim")
        entry(console, [(f"{one.id}  ", "dim"), (one.namespace, "cyan")], one.path, passages)


@documents.command("get")
@click.argument("document", metavar="ID|PATH")
@click.option("--namespace", metavar="PATH", help="In which namespace, where several have that path.")
@click.option("--limit", type=int, default=50, show_default=True, metavar="N", help="How many passages at most.")
@click.option("--after", metavar="ID", help="The last passage seen, to continue behind it.")
@with_store
async def get_document(
    memory: AsyncEbbtide, out: Output, document: str, namespace: str | None, limit: int, after: str | None
) -> None:
    """Show a document with its passages."""
    async with naming_similar(memory, document):
        found = await memory.documents.get(document, namespace=namespace, limit=limit, after=after)
    out.answer(found, lambda console: show_document(console, found))
    out.more(found.next)


@asynccontextmanager
async def naming_similar(memory: AsyncEbbtide, document: str) -> AsyncGenerator[None]:
    """Have the refusal of a document that is not there name those whose path ends so, or is nearly the same."""
    try:
        yield
    except NotFound as error:
        paths = sorted({one.path for one in await memory.documents.list(limit=MANY_DOCUMENTS)})
        ending = [path for path in paths if path.endswith(f"/{document}")]
        if similar := (ending or get_close_matches(document, paths))[:3]:
            error.remedy = f"Did you mean {' or '.join(similar)}?"
        raise


def show_document(console: Console, found: Document) -> None:
    """Its title, and each passage with its place."""
    show_documents(console, [found])
    for one in found.contents:
        where = "held" if one.first is None or one.last is None else place_of(found.media, one.first, one.last)
        line(console, (f"{one.id}  {where}", "dim"))
        paragraph(console, one.content)


@documents.command("forget")
@click.argument("document", metavar="ID|PATH")
@click.option("--namespace", metavar="PATH", help="In which namespace, where several have that path.")
@with_store
@step_by_step
async def forget_document(memory: AsyncEbbtide, out: Output, document: str, namespace: str | None) -> None:
    """Forget a document for good, with all its passages."""
    async with naming_similar(memory, document):
        found = await memory.documents.forget(document, namespace=namespace)
    out.answer(found, lambda console: show_forgotten(console, found))


def show_forgotten(console: Console, found: Forgetting) -> None:
    """How much went."""
    line(console, ("forgotten", "bold green"), f"  {counted(found.count, 'memory')}")
