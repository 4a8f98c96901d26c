"""Documents: files and folders are ingested, listed, read passage by passage, and forgotten as a whole."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from anyio import to_thread

from ebbtide.checks import check_flag, check_moment, check_text, check_texts, check_whole, check_word
from ebbtide.errors import Forbidden, InvalidInput, NotFound
from ebbtide.forget.along import derived_seen, refuse_held_along
from ebbtide.forget.deed import forget_all
from ebbtide.forget.tombstone import lock
from ebbtide.govern.access import (
    DELETE,
    READ,
    WRITE,
    authorise,
    check_changeable,
    is_readable,
    requires,
    write_namespace,
)
from ebbtide.govern.confirmation import Deed, check_token, end_of_token, make_token
from ebbtide.govern.rules import rules_in
from ebbtide.identifiers import new_id, parse_id
from ebbtide.ingest.folder import Entry, names_of, readable, walk
from ebbtide.ingest.reading import open_file
from ebbtide.paths.ingestion import FORGOTTEN_AT_ONCE, File, Plan, ingest_file
from ebbtide.paths.manage import note_read
from ebbtide.read.personal import mode_on, name_shown
from ebbtide.read.scope import make_scope
from ebbtide.read.seen import seen
from ebbtide.text import is_blank
from ebbtide.types.base import Page, page_of
from ebbtide.types.documents import Document, Ingested, IngestedFile, Passage
from ebbtide.types.evidence import Forgetting, Receipt
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller

__all__ = ["PASSAGE_TOKENS", "forget_document", "get_document", "ingest", "list_documents"]

PASSAGE_TOKENS = 250
"""So long is a passage at most unless told otherwise: the local model reads 254 tokens of a text and nothing after."""

LEAST_TOKENS, MOST_TOKENS = 16, 4_096
LONGEST_PATH = 1_000
KINDS = ("chunk", "note")
SYNC = Deed("Forgetting by a sync", "which files are gone", "nothing was forgotten")
PAGE = 500
MOST_LISTED = 1_000
# What a look at a folder found that is no file of a document costs nothing and is told without being opened.
SKIPPED = frozenset({"hidden", "link", "excluded", "not included", "no document"})

Progress = Callable[[int, int], None]
"""Told how many bytes are read, and how many there are."""


@requires(WRITE)
async def ingest(
    engine: Engine,
    caller: Caller,
    source: str | Path | None = None,
    *,
    text: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
    include: Sequence[str] | str = (),
    exclude: Sequence[str] | str = (),
    sync: bool = False,
    token: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Ingested:
    """Remember a file, the files of a folder, or a text. See `AsyncEbbtide.ingest`."""
    plan = plan_of(caller, **options)
    is_text = source is None or (isinstance(source, str) and "\n" in source)
    # Before anything is looked at: whether there is such a file is not for a tool to know either.
    if caller.access is not None and caller.access.tool and not is_text:
        raise Forbidden("A tool may not read files.", field="source", remedy="Give it the text itself.")
    path, given = source_of(source, text)
    if name is not None:
        name = check_text(name, "name", LONGEST_PATH).strip().strip("/")
        if is_blank(name):
            raise InvalidInput("name is empty.", field="name", remedy="Leave it out, or give the document a name.")
    if check_flag(sync, "sync") and (path is None or not path.is_dir()):
        raise InvalidInput("Only a folder can be synchronised.", field="sync", remedy="Give the folder itself.")
    if token is not None and not sync:
        raise InvalidInput("A token confirms a sync.", field="token", remedy="Ask for a sync with it.")
    namespace = write_root(namespace, caller)
    if given is not None or path is None:
        return await _ingest_text(engine, caller, given or "", name, namespace, plan, progress)
    root = name or await _known_as(engine, caller, await to_thread.run_sync(names_of, path), namespace)
    if not path.is_dir():
        opened = partial(open_file, path, follow=True)
        file = File(readable(root), namespace, opened, is_file=name is None)
        return await _ingest_files(engine, caller, [file], plan, progress, [path])
    globs = [check_texts(one, field) for one, field in ((include, "include"), (exclude, "exclude"))]
    entries = await to_thread.run_sync(lambda: list(walk(path, namespace, *globs)))
    prefix = "" if root == "." else f"{readable(root)}/"
    found = await _ingest_entries(engine, caller, entries, prefix, plan, progress)
    gone = await _gone(engine, caller, path, prefix, namespace, entries)
    if not (sync and gone):
        return found.model_copy(update={"gone": gone})
    return await _synchronise(engine, caller, found, [namespace, prefix], gone, token, plan.dry_run)


def write_root(namespace: str | None, caller: Caller) -> str:
    """The namespace that the files go to, those of folders within below it; each is checked as it is written."""
    if namespace is not None and caller.access is not None:
        return check_text(namespace, "namespace", LONGEST_PATH)
    return write_namespace(namespace, caller, "namespace")


def source_of(source: Any, text: Any) -> tuple[Path | None, str | None]:
    """The path, or the text, that was given; one with a line break is a text.

    Raises:
        InvalidInput: both or none was given, or there is nothing at the path.
    """
    if (source is None) == (text is None):
        raise InvalidInput("Give a path or a text.", field="source", remedy="Give one of source and text.")
    if text is not None:
        return None, check_text(text, "text", 2**31)
    if isinstance(source, str) and "\n" in source:
        return None, check_text(source, "source", 2**31)
    if not isinstance(source, str | Path) or "\0" in str(source) or not str(source):
        raise InvalidInput("source is no path.", field="source", remedy="Give the path of a file or a folder.")
    path = Path(source)
    if not os.path.lexists(path):
        raise InvalidInput(
            f"There is no file or folder {readable(str(path))[:200]!r}.",
            field="source",
            remedy="Check the path; what is no path is given as a text.",
        )
    return path, None


async def _known_as(engine: Engine, caller: Caller, names: Sequence[str], namespace: str) -> str:
    """That of the names which the store knows, else the first."""
    whose = {"tenant": caller.tenant, "agent": caller.agent, "namespace": namespace}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        for name in names if len(names) > 1 else ():
            if (await transaction.one("document.known", **whose, path=readable(name)))[0]:
                return name
    return names[0]


def plan_of(
    caller: Caller,
    *,
    kind: str = "chunk",
    title: str | None = None,
    tags: Sequence[str] | str = (),
    labels: Sequence[str] | str = (),
    observed_at: Any = None,
    max_tokens: int | None = None,
    allow_pending: bool = False,
    dry_run: bool = False,
) -> Plan:
    """How the files are to be remembered.

    Raises:
        InvalidInput: an argument is not acceptable; the error names it.
    """
    tokens = PASSAGE_TOKENS if max_tokens is None else check_whole(max_tokens, "max_tokens", LEAST_TOKENS, MOST_TOKENS)
    named = None if title is None else " ".join(check_text(title, "title", 200).split())
    return Plan(
        kind=check_word(kind, "kind", KINDS, "a kind of passage"),
        title=named or None,
        tags=check_texts(tags, "tags"),
        labels=check_texts(labels, "labels"),
        observed_at=check_moment(observed_at, "observed_at", caller.timezone),
        max_tokens=tokens,
        allow_pending=check_flag(allow_pending, "allow_pending"),
        dry_run=check_flag(dry_run, "dry_run"),
    )


async def _ingest_text(
    engine: Engine, caller: Caller, text: str, name: str | None, namespace: str, plan: Plan, progress: Progress | None
) -> Ingested:
    content = text.encode()
    path = name or f"text-{hashlib.sha256(content).hexdigest()[:12]}"
    file = File(readable(path), namespace, lambda: io.BytesIO(content), "markdown")
    return await _ingest_files(engine, caller, [file], plan, progress, [], len(content))


async def _ingest_files(
    engine: Engine,
    caller: Caller,
    files: Sequence[File],
    plan: Plan,
    progress: Progress | None,
    paths: Sequence[Path],
    size: int = 0,
) -> Ingested:
    """One file after another; `progress` hears how far they are."""
    sizes = [size_of(path) for path in paths] or [size]
    total, before = sum(sizes), 0
    outcomes: list[IngestedFile] = []
    for file, own in zip(files, sizes, strict=True):
        start = before

        def tell(done: int, start: int = start, own: int = own) -> None:
            if progress is not None:
                progress(start + min(done, own), total)

        outcomes.append(await ingest_file(engine, caller, file, plan, tell))
        before += own
        tell(own)
    return Ingested(files=tuple(outcomes), dry_run=plan.dry_run)


def size_of(path: Path) -> int:
    """The bytes of a file; 0 where it cannot be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


async def _ingest_entries(
    engine: Engine, caller: Caller, entries: Sequence[Entry], prefix: str, plan: Plan, progress: Progress | None
) -> Ingested:
    """The files of a folder, and what was left alone in it."""
    read = [entry for entry in entries if entry.reason is None]
    files = [
        File(f"{prefix}{entry.name}", entry.namespace, partial(open_file, entry.path, follow=False), is_file=True)
        for entry in read
    ]
    done = await _ingest_files(engine, caller, files, plan, progress, [entry.path for entry in read]) if files else None
    left = [
        IngestedFile(
            path=f"{prefix}{entry.name}",
            namespace=entry.namespace,
            status="skipped" if entry.reason in SKIPPED else "failed",
            reason=entry.reason,
            message=entry.message,
        )
        for entry in entries
        if entry.reason is not None
    ]
    outcomes = sorted([*(done.files if done else ()), *left], key=lambda one: one.path)
    return Ingested(files=tuple(outcomes), dry_run=plan.dry_run)


async def _gone(
    engine: Engine, caller: Caller, root: Path, prefix: str, namespace: str, entries: Sequence[Entry]
) -> tuple[Document, ...]:
    """The documents that came from a folder and whose files are there no more, or go to another namespace now.

    As the caller may see them: what is withheld from it is not there.
    """
    places = {f"{prefix}{entry.name}": entry.namespace for entry in entries if entry.reason is None}
    there = {f"{prefix}{entry.name}" for entry in entries}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named(
            "document.files_in", tenant=caller.tenant, agent=caller.agent, prefix=prefix, namespace=namespace
        )
        rules = await rules_in(engine, transaction, caller.tenant)
    under = [document_from(row) for row in rows if is_readable(caller, row.namespace)]

    def without_file() -> list[Document]:
        return [
            one
            for one in under
            if places.get(one.path, one.namespace) != one.namespace
            or (one.path not in there and not os.path.lexists(root / one.path.removeprefix(prefix)))
        ]

    found = await to_thread.run_sync(without_file)
    return tuple(made for one in found if (made := seen_document(caller, one, rules)) is not None)


async def _synchronise(
    engine: Engine,
    caller: Caller,
    found: Ingested,
    place: list[str],
    gone: tuple[Document, ...],
    token: str | None,
    dry_run: bool,
) -> Ingested:
    """Forget the documents whose files are gone, if that is what was seen; else give the token of this look."""
    now = engine.clock.now()
    meant = [*place, sorted(f"{one.id} {one.updated_at.isoformat()}" for one in gone)]
    if token is None or dry_run:
        return found.model_copy(update={"gone": gone, "token": make_token(SYNC, caller, meant, end_of_token(now))})
    check_token(token, SYNC, caller, meant, now)
    caller = await authorise(engine, caller, DELETE, verb="ingest")
    for one in gone:
        await forget_document(engine, caller, one.id)
    return found.model_copy(update={"gone": gone, "forgotten": tuple(one.id for one in gone)})


@requires(READ)
async def list_documents(
    engine: Engine,
    caller: Caller,
    *,
    namespaces: Sequence[str] | str | None = None,
    limit: int = 50,
    after: UUID | str | None = None,
) -> Page[Document]:
    """The documents whose namespaces the caller may read, in the order of namespace and path."""
    check_whole(limit, "limit", 1, MOST_LISTED)
    names = make_scope(caller, engine.clock.now(), namespaces=namespaces).names()
    last_id = None if after is None else parse_id(after, "after")
    found: list[Document] = []
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rules = await rules_in(engine, transaction, caller.tenant)
        last = None if last_id is None else await find_document(transaction, caller, last_id, None, rules)
        while (lacking := limit + 1 - len(found)) > 0:
            rows = await transaction.named(
                "document.list", **names, after_namespace=last.namespace if last else "",
                after_path=last.path if last else "", limit=lacking,
            )  # fmt: skip
            page = [document_from(row) for row in rows]
            found += [made for one in page if (made := seen_document(caller, one, rules)) is not None]
            if len(page) < lacking:
                break
            last = page[-1]
    return page_of(found, limit, lambda one: one.id)


def document_from(row: Any) -> Document:
    """A document from its row."""
    return Document(**row._asdict())


def seen_document(caller: Caller, document: Document, rules: RuleBook) -> Document | None:
    """The document as the owner stored it, for a policed caller as the rules let its names be seen; None for not."""
    if caller.access is None:
        return document
    mode = mode_on(document.namespace, None, rules)
    path, title = name_shown(document.path, mode), name_shown(document.title, mode)
    if path is None or title is None:
        return None
    return document.model_copy(update={"path": path, "title": title})


@requires(READ)
async def get_document(
    engine: Engine,
    caller: Caller,
    document: UUID | str,
    *,
    namespace: str | None = None,
    limit: int = 50,
    after: UUID | str | None = None,
) -> Document:
    """A document with its passages. See `AsyncDocuments.get`."""
    check_whole(limit, "limit", 1, MOST_LISTED)
    last_id = None if after is None else parse_id(after, "after")
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rules = await rules_in(engine, transaction, caller.tenant)
        found = await find_document(transaction, caller, document, namespace, rules)
        passages = await _passages(engine, transaction, caller, found.id, limit, last_id)
    note_read(engine, caller, "documents.get", tuple(one.id for one in passages))
    shown = seen_document(caller, found, rules) or found
    return shown.model_copy(update={"contents": tuple(passages), "next": passages.next})


async def _passages(
    engine: Engine, transaction: Transaction, caller: Caller, document: UUID, limit: int, after: UUID | None
) -> Page[Passage]:
    """The next passages that the caller may see."""
    whose = {"tenant": caller.tenant, "agent": caller.agent, "source": str(document)}
    position: int | None = None
    if after is not None:
        row = await transaction.one("document.position", **whose, id=after)
        if row is None:
            raise NotFound(
                f"The document has no passage {after}.", field="after", remedy="Give the id of one of its contents."
            )
        position = row[0]
    passages: list[Passage] = []
    while (lacking := limit + 1 - len(passages)) > 0:
        rows = await transaction.all(
            "document.passages", **whose, after=after, after_position=position, limit=min(lacking, PAGE)
        )
        ids = [row[0] for row in rows]
        read = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids)
        memories = {one.id: one for one in await seen(engine, transaction, caller, [memory_of(row) for row in read])}
        passages += [
            Passage(
                id=id_, position=place, first=first, last=last, content=memories[id_].content,
                breadcrumb=str(memories[id_].metadata.get("breadcrumb", "")),
            )
            for id_, place, first, last in rows
            if id_ in memories
        ]  # fmt: skip
        if len(rows) < min(lacking, PAGE):
            break
        after, position = rows[-1][:2]
    return page_of(passages, limit, lambda one: one.id)


async def find_document(
    transaction: Transaction, caller: Caller, document: UUID | str, namespace: str | None, rules: RuleBook
) -> Document:
    """The document of an id, or at a path, as it is stored, if the caller may see it.

    Raises:
        InvalidInput: several namespaces have one at that path.
        NotFound: the caller can see none.
    """
    try:
        id_ = document if isinstance(document, UUID) else UUID(document)
    except (ValueError, TypeError, AttributeError):
        id_ = None
    whose = {"tenant": caller.tenant, "agent": caller.agent}
    if id_ is not None:
        rows = await transaction.named("document.by_id", **whose, id=id_)
    else:
        rows = await transaction.named("document.by_path", **whose, path=check_text(document, "document", LONGEST_PATH))
    placed = [document_from(row) for row in rows if namespace in (None, row.namespace)]
    readable = [one for one in placed if is_readable(caller, one.namespace)]
    found = [one for one in readable if seen_document(caller, one, rules) is not None]
    if len(found) > 1:
        names = ", ".join(one.namespace for one in found[:5])
        raise InvalidInput(
            f"There is a document of that path in {names}.",
            field="namespace",
            remedy="Say which is meant, or give its id.",
        )
    if not found:
        raise missing(document)
    return found[0]


def missing(document: Any) -> NotFound:
    """What is said of a document that is not there, or that the caller may not see."""
    return NotFound(
        f"There is no document {str(document)[:200]!r}.",
        field="document",
        remedy="List the documents to see which are.",
    )


@requires(DELETE)
async def forget_document(
    engine: Engine, caller: Caller, document: UUID | str, *, namespace: str | None = None
) -> Forgetting:
    """Forget a document with all its passages. See `AsyncDocuments.forget`."""
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        rules = await rules_in(engine, transaction, caller.tenant)
        found = await find_document(transaction, caller, document, namespace, rules)
        check_changeable(caller, found.namespace, missing(document), deletes=True)
        await lock(transaction, caller.tenant)
        # Whoever is just reading the document loses the claim, and writes nothing of it any more.
        await transaction.run("document.open", tenant=caller.tenant, id=found.id, claim=new_id(now))
        rows = await transaction.all("document.chunks", tenant=caller.tenant, agent=caller.agent, source=str(found.id))
        ids = [row[0] for row in rows]
        await refuse_held_along(transaction, caller.tenant, ids, now)
        derived, hidden = await derived_seen(transaction, caller, ids)
    receipts: list[Receipt] = []
    for start in range(0, len(ids) or 1, FORGOTTEN_AT_ONCE):
        part = ids[start : start + FORGOTTEN_AT_ONCE]
        async with engine.database.transaction(caller.tenant) as transaction:
            await lock(transaction, caller.tenant)
            receipts += await forget_all(transaction, caller, part, now, operation="forget document")
            await transaction.run("forget.drop_documents", tenant=caller.tenant, documents=[found.id])
    engine.scopes.forget(caller.tenant)
    engine.reranks.forget(caller.tenant)
    return Forgetting(
        dry_run=False,
        count=len(ids),
        ids=tuple(ids),
        derived=derived,
        receipts=tuple(one for one in receipts if one.id not in hidden),
    )
