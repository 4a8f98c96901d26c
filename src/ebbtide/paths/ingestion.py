"""Ingesting: from files to the passages that are remembered of them, one version in place of the one before."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO
from uuid import UUID

from anyio import to_thread

from ebbtide.errors import Conflict, Forbidden, InvalidInput, StaleRevision
from ebbtide.forget.deed import forget_all
from ebbtide.forget.retention import spared_by_holds
from ebbtide.forget.tombstone import lock
from ebbtide.govern.access import DELETE, write_namespace
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.personal import kinds_of
from ebbtide.govern.rules import current_rules
from ebbtide.identifiers import new_id
from ebbtide.ingest.chunk import CHARACTERS_A_TOKEN, SEPARATOR
from ebbtide.ingest.document import Sizes, read_document
from ebbtide.ingest.reading import Examined, Media, Unreadable, examine
from ebbtide.read.personal import mode_on, name_shown
from ebbtide.remember import DRAFT_DEFAULTS, check_all, remember_many
from ebbtide.text import content_hash, search_text
from ebbtide.types.base import trusted
from ebbtide.types.documents import FileStatus, IngestedFile
from ebbtide.types.memory import Draft
from ebbtide.write.claim import Claim
from ebbtide.write.echo import without_blocks
from ebbtide.write.screen import screen

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import Bearing, RuleBook
    from ebbtide.ingest.chunk import Passage
    from ebbtide.ingest.document import Reading
    from ebbtide.types.caller import Caller
    from ebbtide.write.validate import Checked

__all__ = ["File", "Plan", "ingest_file"]

BATCH = 256
FORGOTTEN_AT_ONCE = 1_000
# Raised when the readers or the cutting change, so that what they made is made anew.
READER_VERSION = 2
# An echo of a context block is not stored either: what it shows is remembered already.
COUNTED = {"dropped": "dropped", "quarantined": "quarantined", "echo": "dropped"}
WORDLESS = "It holds no text, or nothing but headings, so nothing of it is remembered."
SKIPPED = frozenset({"empty", "binary", "no file"})
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0

Tell = Callable[[int], None]
"""Told how many bytes of a file are done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How files are remembered: what every passage gets, how large it is, and whether anything is done at all."""

    kind: str
    title: str | None
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    observed_at: datetime | None
    max_tokens: int
    allow_pending: bool
    dry_run: bool


@dataclass(frozen=True, slots=True)
class File:
    """What is to be read: its path as the store knows it, where it goes, and how it is opened.

    `media` is what it is taken for where nothing says what it is. `is_file`: a file is to be found at its path, which
    is no name that somebody gave it.
    """

    path: str
    namespace: str | None
    open: Callable[[], BinaryIO]
    media: Media | None = None
    is_file: bool = False


async def ingest_file(engine: Engine, caller: Caller, file: File, plan: Plan, tell: Tell) -> IngestedFile:
    """Remember the passages of a file in place of those of its earlier version, and say what became of it.

    Raises:
        StoreError, ModelError: the store or the embedder failed; ingesting it again completes what was begun.
    """
    about: dict[str, Any] = {"path": file.path, "namespace": file.namespace or ""}
    try:
        about["namespace"] = write_namespace(file.namespace, caller, "namespace")
        stream = await to_thread.run_sync(file.open)
        try:
            return await _ingest(engine, caller, replace(file, **about), plan, stream, tell)
        finally:
            stream.close()
    except Unreadable as error:
        status: FileStatus = "skipped" if error.reason in SKIPPED else "failed"
        return IngestedFile(**about, status=status, reason=error.reason, message=error.message)
    except (Forbidden, InvalidInput, Conflict) as error:
        return IngestedFile(**about, status="failed", reason=error.code, message=str(error))


async def _ingest(engine: Engine, caller: Caller, file: File, plan: Plan, stream: BinaryIO, tell: Tell) -> IngestedFile:
    settings = engine.settings
    most = settings.max_document_bytes
    examined = await to_thread.run_sync(lambda: examine(stream, file.path, most_bytes=most, default=file.media))
    about: dict[str, Any] = {"path": file.path, "namespace": file.namespace, "media": examined.media}
    rules = (await current_rules(engine, caller.tenant)).on(str(file.namespace))
    version, options = version_of(engine, examined, plan), options_of(plan, rules, file)
    async with writing_alone(engine, caller, str(file.namespace), file.path) as guard:
        row = await _find(engine, caller, file)
        if row is not None and (row.content_hash, row.options_hash) == (version, options):
            return IngestedFile(**about, status="unchanged", document=row.id, warnings=examined.warnings)
        status: FileStatus = "stored" if row is None else "updated"
        if plan.dry_run:
            return IngestedFile(**about, status=status, document=row and row.id, warnings=examined.warnings)
        if row is not None:
            check_may_replace(caller)
        characters = min(plan.max_tokens * CHARACTERS_A_TOKEN, settings.max_content_characters)
        sizes = Sizes(engine.counter.count, plan.max_tokens, characters, most)
        reading = await to_thread.run_sync(
            lambda: read_document(stream, examined, sizes, title=plan.title, timezone=caller.timezone)
        )
        size = min(BATCH, settings.max_batch_drafts)
        batch = await to_thread.run_sync(lambda: list(islice(reading.passages, size)))
        if not batch and row is None:
            raise Unreadable("empty", WORDLESS)
        writer = await begin(engine, caller, replace(file, media=examined.media), plan, row, reading, batch)
        while batch:
            await writer.write(batch)
            tell(min(stream.tell(), examined.size))
            await guard.run("document.try_lock", **place_of(caller, str(file.namespace), file.path))
            batch = await to_thread.run_sync(lambda: list(islice(reading.passages, size)))
        await writer.forget_vanished()
        await writer.close(version, options)
    warnings = (*examined.warnings, *reading.warnings)
    counts: dict[str, Any] = {
        name: writer.counts[name] for name in ("new", "kept", "forgotten", "held", "dropped", "quarantined")
    }
    document = writer.claim.id if writer.left else None
    if not writer.position:
        about |= {"reason": "empty", "message": WORDLESS}
    return IngestedFile(**about, status=status, document=document, warnings=warnings, **counts)


def version_of(engine: Engine, examined: Examined, plan: Plan) -> bytes:
    """What the passages of a document come from: the same again makes the same ones."""
    made_by = [READER_VERSION, examined.media, examined.encoding, plan.max_tokens, plan.title, engine.counter.name]
    return hashlib.sha256(examined.digest + json.dumps(made_by).encode()).digest()


def options_of(plan: Plan, rules: Bearing, file: File) -> bytes:
    """What passages get beside their text, what the rules on their namespace keep of it, and whether it is a file's."""
    given = [plan.kind, plan.tags, plan.labels, plan.observed_at, rules.personal_data, file.is_file]
    return hashlib.sha256(json.dumps(given, default=str).encode()).digest()


def check_may_replace(caller: Caller) -> None:
    """Whether a caller may put another version in the place of one, of which that forgets what is gone.

    Raises:
        Forbidden: it may write and not delete.
    """
    access = caller.access
    if access is None:
        return
    if DELETE not in access.scopes:
        raise Forbidden(
            f"Another version of the document is there, and replacing it needs the scope {DELETE}.",
            remedy="Use a handle or a key that has it.",
        )
    if access.tool and not (access.grant is not None and access.grant.allow_tool_delete):
        raise Forbidden(
            "The policy does not let a tool of this agent replace a document.", remedy="Set allow_tool_delete in it."
        )


def place_of(caller: Caller, namespace: str, path: str) -> dict[str, str]:
    """What tells a document from every other, as statements take it."""
    return {"tenant": caller.tenant, "agent": caller.agent, "namespace": namespace, "path": path}


@asynccontextmanager
async def writing_alone(engine: Engine, caller: Caller, namespace: str, path: str) -> AsyncGenerator[Transaction]:
    """Wait until nobody else writes the document; its transaction holds the lock and nothing else.

    One at a time in an engine, so that those who hold a connection each do not wait for another one.
    """
    pause = FIRST_PAUSE_SECONDS
    async with engine.ingesting:
        while True:
            async with engine.database.transaction(caller.tenant, upkeep=True) as guard:
                if (await guard.one("document.try_lock", **place_of(caller, namespace, path)))[0]:
                    yield guard
                    return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _find(engine: Engine, caller: Caller, file: File) -> Any:
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named("document.find", **place_of(caller, str(file.namespace), file.path))
    return rows[0] if rows else None


async def begin(
    engine: Engine, caller: Caller, file: File, plan: Plan, row: Any, reading: Reading, batch: Sequence[Passage]
) -> Writer:
    """Claim the document, and learn what is remembered of it."""
    now = engine.clock.now()
    id_ = new_id(now) if row is None else row.id
    claim = Claim(id_, new_id(now), str(file.namespace), file.path, str(file.media), file.is_file, now, new=row is None)
    known: dict[bytes, list[UUID]] = {}
    if row is not None:
        async with engine.database.transaction(caller.tenant) as transaction:
            await transaction.run("document.open", tenant=caller.tenant, id=id_, claim=claim.token)
            chunks = await transaction.all("document.chunks", tenant=caller.tenant, agent=caller.agent, source=str(id_))
        for memory_id, digest in chunks:
            known.setdefault(bytes(digest), []).append(memory_id)
    heading = next((one.headings[0] for one in batch[:1] if one.headings), PurePosixPath(file.path).stem)
    tags = tuple(dict.fromkeys((*plan.tags, *reading.tags)))
    described = replace(plan, title=reading.title, tags=tags, observed_at=plan.observed_at or reading.observed_at)
    return Writer(engine, caller, claim, described, known, reading.title or heading)


@dataclass(slots=True)
class Writer:
    """Writes the passages of one document, batch by batch, and knows which of the earlier ones are left."""

    engine: Engine
    caller: Caller
    claim: Claim
    plan: Plan
    known: dict[bytes, list[UUID]]
    title: str
    left: bool = True
    position: int = 0
    seen: set[bytes] = field(default_factory=set[bytes])
    answered: set[UUID] = field(default_factory=set[UUID])
    held: list[UUID] = field(default_factory=list[UUID])
    counts: Counter[str] = field(default_factory=Counter[str])

    def draft(self, passage: Passage) -> Draft:
        """A passage as a memory to be written; its place, which changes with every edit before it, is kept apart."""
        metadata = {"path": self.claim.path, "breadcrumb": SEPARATOR.join(passage.headings)}
        if self.plan.title is not None:
            metadata["title"] = self.plan.title
        given = {
            "content": passage.text, "namespace": self.claim.namespace, "kind": self.plan.kind, "metadata": metadata,
            "tags": self.plan.tags, "labels": self.plan.labels, "observed_at": self.plan.observed_at,
        }  # fmt: skip
        return trusted(Draft, **{**DRAFT_DEFAULTS, **given})

    async def write(self, passages: Sequence[Passage]) -> None:
        """Remember what is new of the next passages, and say where all of them stand."""
        drafts = [self.draft(passage) for passage in passages]
        checked = without_blocks(check_all(self.engine, self.caller, drafts, self.engine.clock.now(), self.claim))
        rules = await current_rules(self.engine, self.caller.tenant)
        screened = [as_stored(one, rules) for one in checked]
        # As it will be stored: what was redacted the last time is known again by what was left of it.
        hashes = [None if one is None else content_hash(one.content, document=self.claim.id) for one in screened]
        fresh: list[int] = []
        kept: list[tuple[UUID, Checked]] = []
        placed: dict[UUID, tuple[int, Passage]] = {}
        for place, (digest, one) in enumerate(zip(hashes, screened, strict=True)):
            if digest is None or one is None:
                fresh.append(place)
            elif digest not in self.seen:
                self.seen.add(digest)
                ids = self.known.get(digest, ())
                kept += [(id_, one) for id_ in ids]
                placed |= dict.fromkeys(ids, (place, passages[place]))
                if not ids:
                    fresh.append(place)
        self.counts["kept"] += len(kept)
        placed |= await self.remember(passages, checked, fresh)
        await self.put_down(placed, kept)
        self.position += len(passages)

    async def remember(
        self, passages: Sequence[Passage], checked: Sequence[Checked], fresh: Sequence[int]
    ) -> dict[UUID, tuple[int, Passage]]:
        """Remember those passages of a batch that are new; answers with where each of them stands."""
        if not fresh:
            return {}
        answers = await remember_many(
            self.engine, self.caller, [checked[place] for place in fresh], allow_pending=self.plan.allow_pending,
            document=self.claim,
        )  # fmt: skip
        if any(one.outcome != "echo" for one in answers):
            self.claim = replace(self.claim, new=False)
        self.counts.update(COUNTED.get(one.outcome, "new") for one in answers)
        placed = {
            one.memory.id: (place, passages[place])
            for place, one in zip(fresh, answers, strict=True)
            if one.memory is not None and one.outcome != "echo"
        }
        self.answered.update(placed)
        return placed

    async def put_down(self, placed: dict[UUID, tuple[int, Passage]], kept: Sequence[tuple[UUID, Checked]]) -> None:
        """Say where passages stand, and give those that were there the tags and the title that the document has now."""
        now = self.engine.clock.now()
        async with self.engine.database.transaction(self.caller.tenant) as transaction:
            await transaction.run(
                "document.place",
                tenant=self.caller.tenant,
                id=self.claim.id,
                ids=list(placed),
                positions=[self.position + place for place, _ in placed.values()],
                firsts=[passage.first for _, passage in placed.values()],
                lasts=[passage.last for _, passage in placed.values()],
            )
            rows = json.dumps([described(id_, one) for id_, one in kept], default=str)
            if kept:
                changed = await transaction.all("document.described_otherwise", tenant=self.caller.tenant, rows=rows)
                ids = [row[0] for row in changed]
                if ids:
                    await transaction.run("remember.keep_version", tenant=self.caller.tenant, ids=ids, now=now)
                    configuration = self.engine.facts.text_search_configuration
                    await transaction.run(
                        "document.describe", tenant=self.caller.tenant, rows=rows, now=now, configuration=configuration
                    )
                    detail = {"operation": "document described", "document": str(self.claim.id)}
                    await write_audit(transaction, self.caller, "update", [(id_, detail) for id_ in ids], now)

    async def forget_vanished(self) -> None:
        """Forget for good what the document says no more; what a legal hold covers stays, and stands nowhere in it."""
        vanished = {id_ for digest, ids in self.known.items() if digest not in self.seen for id_ in ids}
        going = sorted(vanished - self.answered)
        now = self.engine.clock.now()
        for start in range(0, len(going), FORGOTTEN_AT_ONCE):
            part = going[start : start + FORGOTTEN_AT_ONCE]
            async with self.engine.database.transaction(self.caller.tenant) as transaction:
                await lock(transaction, self.caller.tenant)
                held = await spared_by_holds(transaction, self.caller.tenant, part, now)
                gone = [id_ for id_ in part if id_ not in held]
                await forget_all(transaction, self.caller, gone, now, operation="document changed")
            self.held += sorted(held)
            self.counts["forgotten"] += len(gone)
        self.counts["held"] = len(self.held)
        if going:
            self.engine.scopes.forget(self.caller.tenant)
            self.engine.reranks.forget(self.caller.tenant)

    async def close(self, version: bytes, options: bytes) -> None:
        """Write down that the passages are those of this version.

        Raises:
            StaleRevision: the document was forgotten meanwhile.
        """
        if self.claim.new:
            # All that it holds are context blocks: nothing was written that could be its.
            self.left = False
            return
        tenant, now = self.caller.tenant, self.engine.clock.now()
        rules = await current_rules(self.engine, tenant)
        title = name_shown(self.title[:200], mode_on(self.claim.namespace, None, rules)) or ""
        async with self.engine.database.transaction(tenant) as transaction:
            await transaction.run("document.unplace", tenant=tenant, id=self.claim.id, ids=self.held)
            if await transaction.all("forget.drop_documents", tenant=tenant, documents=[self.claim.id]):
                self.left = False
            elif await transaction.all(
                "document.close",
                tenant=tenant,
                id=self.claim.id,
                claim=self.claim.token,
                content_hash=None if self.held else version,
                options_hash=options,
                title=title,
                media=self.claim.media,
                is_file=self.claim.is_file,
                now=now,
            ):
                self.left = True
            elif self.position:
                raise StaleRevision(
                    "The document was forgotten while it was read.",
                    field="document",
                    remedy="Ingest it again, if it shall be remembered after all.",
                )
            else:
                # It has no passages any more, and went with the last one.
                self.left = False
            detail = {"operation": "ingest", "document": str(self.claim.id), **self.counts}
            await write_audit(transaction, self.caller, "write", [(None, detail)], now)


def as_stored(draft: Checked, rules: RuleBook) -> Checked | None:
    """The draft as the rules let it be stored; None where they drop it.

    Only a rule can change it, so without one it is not searched for personal data: the write does that.
    """
    if rules.on(draft.namespace).personal_data in (None, "allow"):
        return draft
    screened = screen(draft, rules)
    return None if screened.verdict == "drop" else screened.draft


def described(id_: UUID, draft: Checked) -> dict[str, Any]:
    """What a passage gets from its document, as a row."""
    return {
        "id": str(id_),
        "kind": draft.kind,
        "tags": draft.tags,
        "labels": draft.labels,
        "metadata": draft.metadata,
        "observed_at": None if draft.observed_at is None else draft.observed_at.isoformat(),
        "personal_data": kinds_of(draft),
        "search_text": search_text(draft.content, observed_at=draft.observed_at),
    }
