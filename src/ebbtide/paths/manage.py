"""The verbs on single memories: get, browse, history, revise."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.caches import Read
from ebbtide.checks import check_whole
from ebbtide.db.vectors import as_halfvec
from ebbtide.errors import Conflict, InvalidInput, NotFound, StaleRevision
from ebbtide.govern.access import READ, WRITE, check_changeable, check_visible, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.rules import current_rules, rules_in
from ebbtide.graph.revise import speak_anew
from ebbtide.graph.write import Said
from ebbtide.graph.write import lock as lock_graph
from ebbtide.identifiers import document_of, parse_id
from ebbtide.read.branch import on_branch
from ebbtide.read.scope import SCOPED, check_known, make_scope
from ebbtide.read.seen import hidden_among, listed, seen, versions_seen
from ebbtide.text import content_hash, embedding_text, search_text, shown
from ebbtide.types.base import Page, page_of
from ebbtide.types.evidence import Provenance
from ebbtide.types.memory import Draft, Version
from ebbtide.write.context import in_context, refresh_following
from ebbtide.write.echo import without_block
from ebbtide.write.fence import check_session_revision, fenced
from ebbtide.write.origins import write_origins
from ebbtide.write.pending import enqueue_pending
from ebbtide.write.rows import memory_of, place_in_chat
from ebbtide.write.screen import admitted
from ebbtide.write.stale import facts_changed
from ebbtide.write.tokens import counts_of
from ebbtide.write.validate import Checked, validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory
    from ebbtide.write.origins import Origin

__all__ = [
    "browse",
    "get",
    "history",
    "lock_memory",
    "memory_seen",
    "missing",
    "note_read",
    "provenance",
    "read_memory",
    "revise",
    "rewrite",
]

MOST_BROWSED = 1_000
LAST_REVISION = 2**31 - 1
CHANGED = ("importance", "confidence", "kind", "labels", "tags", "metadata")
SPOKEN = ("entities", "relation")

# Where a listing starts: a bound value keeps the plan on its index, which a test for NULL would not.
LATEST = datetime.max.replace(tzinfo=UTC)
HIGHEST_ID = UUID(int=2**128 - 1)


@requires(READ)
async def get(engine: Engine, caller: Caller, memory_id: UUID | str) -> Memory:
    """One memory by its id, superseded or expired ones too. Raises NotFound."""
    id_ = parse_id(memory_id, "memory_id")
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        memory = await memory_seen(engine, transaction, caller, id_)
    note_read(engine, caller, "get", (id_,))
    return memory


def note_read(engine: Engine, caller: Caller, verb: str, ids: tuple[UUID, ...]) -> None:
    """Have a read written down after the answer: by whom, by which verb, and which memories came back."""
    engine.reads.add(caller.tenant, Read(caller.agent, caller.user, engine.clock.now(), verb, ids))


async def read_memory(transaction: Transaction, caller: Caller, id_: UUID) -> Memory:
    """One memory within a transaction. Raises NotFound."""
    row = await transaction.one("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=[id_])
    if row is None:
        raise missing(id_)
    memory = memory_of(row)
    check_visible(caller, memory.namespace, missing(id_))
    return memory


async def memory_seen(engine: Engine, transaction: Transaction, caller: Caller, id_: UUID) -> Memory:
    """One memory as the caller may see it. Raises NotFound, also where the rules withhold it from a policed caller."""
    found = await seen(engine, transaction, caller, [await read_memory(transaction, caller, id_)])
    if not found:
        raise missing(id_)
    return found[0]


def missing(id_: UUID) -> NotFound:
    """The error that says an agent has no such memory, whether it never was, is another's, or was forgotten."""
    return NotFound(
        f"There is no memory {id_}.",
        field="memory_id",
        remedy="Check the id and the agent; a forgotten memory is gone.",
    )


@requires(READ)
async def browse(
    engine: Engine, caller: Caller, *, limit: int = 50, after: UUID | str | None = None, **narrowed: Any
) -> Page[Memory]:
    """Memories of a scope without a query, newest first; `after` continues behind the last one seen."""
    check_known(narrowed, SCOPED)
    check_whole(limit, "limit", 1, MOST_BROWSED)
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    found: list[Memory] = []
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        scope = await on_branch(transaction, scope)
        last = await read_memory(transaction, caller, parse_id(after, "after")) if after is not None else None
        while (lacking := limit + 1 - len(found)) > 0:
            rows = await transaction.all(
                "recall.browse" + scope.suffix,
                **scope.parameters(),
                limit=lacking,
                before_created=last.created_at if last else LATEST,
                before_id=last.id if last else HIGHEST_ID,
            )
            page = [memory_of(row) for row in rows]
            found += await listed(engine, transaction, caller, page)
            if len(page) < lacking:
                break
            # What the rules leave out is made up for by what comes after.
            last = page[-1]
    page = page_of(found, limit, lambda one: one.id)
    note_read(engine, caller, "browse", tuple(one.id for one in page))
    return page


@requires(READ)
async def history(engine: Engine, caller: Caller, memory_id: UUID | str) -> list[Version]:
    """Every image of a memory, oldest first. Raises NotFound."""
    id_ = parse_id(memory_id, "memory_id")
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        memory = await memory_seen(engine, transaction, caller, id_)
        rows = await transaction.named("memory.history", tenant=caller.tenant, agent=caller.agent, id=id_)
        versions = [Version.model_construct(**row._asdict()) for row in rows]
        if caller.access is not None:
            mode = (await rules_in(engine, transaction, caller.tenant)).on(memory.namespace).personal_data
            hidden = await hidden_among(transaction, caller, [one.superseded_by for one in versions])
            versions = versions_seen(versions, mode, hidden)
    note_read(engine, caller, "history", (id_,))
    return versions


@requires(READ)
async def provenance(engine: Engine, caller: Caller, memory_id: UUID | str) -> Provenance:
    """What a memory was made from, and what was made from it. Raises NotFound."""
    id_ = parse_id(memory_id, "memory_id")
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        await memory_seen(engine, transaction, caller, id_)
        rows = await transaction.all("origin.of", tenant=caller.tenant, agent=caller.agent, id=id_)
        hidden = await hidden_among(transaction, caller, [one for row in rows for one in row[:2]])
    note_read(engine, caller, "provenance", (id_,))
    return Provenance(
        id=id_,
        sources=tuple(source for made, source, _ in rows if made == id_ and source not in hidden),
        whole=any(whole for made, _, whole in rows if made == id_),
        derived=tuple(made for made, _, _ in rows if made != id_ and made not in hidden),
    )


async def lock_memory(
    transaction: Transaction, caller: Caller, id_: UUID, expected_revision: int | None, *, deletes: bool = False
) -> Any:
    """The row a writer is about to change, or that one `deletes`, locked, at the revision it expects.

    Raises:
        NotFound: the agent has no such memory.
        Forbidden: the policy lets the caller read it alone.
        StaleRevision: it is not at `expected_revision`.
    """
    if expected_revision is not None:
        check_whole(expected_revision, "expected_revision", 1, LAST_REVISION)
    rows = await transaction.named("memory.for_update", tenant=caller.tenant, agent=caller.agent, id=id_)
    if not rows or rows[0].status == "tombstoned":
        raise missing(id_)
    check_changeable(caller, rows[0].namespace, missing(id_), deletes=deletes)
    if expected_revision is not None and rows[0].revision != expected_revision:
        raise StaleRevision(
            f"The memory is at revision {rows[0].revision}, not {expected_revision}.",
            field="expected_revision",
            remedy=f"Read it again, and repeat with {rows[0].revision} if you still want to.",
        )
    return rows[0]


@requires(WRITE)
async def revise(
    engine: Engine,
    caller: Caller,
    memory_id: UUID | str,
    content: str,
    *,
    expected_revision: int | None = None,
    session_revision: int | None = None,
    vector: Any = None,
    **changes: Any,
) -> Memory:
    """Give a memory new content, and new importance, confidence, kind, labels, tags or metadata; the old image is kept.

    `entities` and `relation` take the place of all that it spoke of. Without them it goes on to mention those whose
    names it does not lose, and a relation that it said goes with the text that said it. See `graph.revise.speak_anew`.

    Raises:
        NotFound: there is no such memory.
        StaleRevision: it is not at `expected_revision`, or the caller's session not at `session_revision`.
        Conflict: another live memory says just that.
        InvalidInput: the rule on its namespace does not keep the personal data in the content.
    """
    return await rewrite(
        engine, caller, memory_id, content, changes, expected_revision=expected_revision,
        session_revision=session_revision, vector=vector,
    )  # fmt: skip


@requires(WRITE)
async def rewrite(
    engine: Engine,
    caller: Caller,
    memory_id: UUID | str,
    content: str,
    changes: Mapping[str, Any],
    *,
    expected_revision: int | None = None,
    session_revision: int | None = None,
    vector: Any = None,
    origin: Origin | None = None,
    observed_at: datetime | None = None,
    restored: bool = False,
) -> Memory:
    """As `revise`; `origin` is what it was made from by now, at the revisions that were read, else `StaleRevision`.

    `observed_at` is when that was noticed last. `restored` lets it hold again where it was invalid.
    """
    check_session_revision(caller, session_revision)
    now, id_ = engine.clock.now(), parse_id(memory_id, "memory_id")
    before = await get(engine, caller, id_)
    given = _checked_changes(engine, caller, content, vector, changes, before.namespace)
    screened = admitted(given, await current_rules(engine, caller.tenant), "content")
    checked, hashed_at = screened.draft, _place_after(before, screened.draft, changes)
    made = await _vector_of(engine, checked, before.speaker)
    tokens = (await counts_of(engine, [checked.content]))[0]
    async with fenced(engine, caller, session_revision, [origin]) as transaction:
        await lock_graph(transaction, caller)
        row = await lock_memory(transaction, caller, id_, expected_revision)
        old = await read_memory(transaction, caller, id_)
        noticed = observed_at or row.observed_at
        previous = None if made is None else await _previous_vector(transaction, caller, row)
        context = None if made is None or previous is None else in_context(made, previous)
        await transaction.run("remember.keep_version", tenant=caller.tenant, ids=[id_], now=now)
        await _store_revised(
            transaction,
            caller,
            id=id_,
            now=now,
            configuration=engine.facts.text_search_configuration,
            content=checked.content,
            content_hash=content_hash(checked.content, row.chat_id, hashed_at, document_of(before.source)),
            search_text=search_text(checked.content, speaker=row.speaker, observed_at=noticed),
            observed_at=noticed,
            embedding=as_halfvec(made),
            context_embedding=as_halfvec(context),
            pending=made is None,
            personal_data=list(screened.kinds),
            tokens=tokens,
            counted_by=engine.counter.name,
            restored=restored,
            **{name: _given(checked, changes, name) for name in CHANGED},
        )
        await refresh_following(transaction, caller.tenant, caller.agent, row.chat_id, row.sequence)
        if origin is not None:
            await write_origins(transaction, caller.tenant, [(id_, origin)], {id_}, now)
        unsaid = await speak_anew(
            transaction, caller, Said(id_, checked.entities, checked.relation), before=old.content,
            after=checked.content, given=speaks(changes), now=now,
        )  # fmt: skip
        detail = {"operation": "update", "revision": row.revision + 1, "dropped": [*checked.warnings, *unsaid]}
        await write_audit(transaction, caller, "update", [(id_, detail)], now)
        memory = await memory_seen(engine, transaction, caller, id_)
        await facts_changed(transaction, caller, [id_], now)
        if made is None:
            await enqueue_pending(engine, transaction, caller.tenant, [memory])
    engine.scopes.forget(caller.tenant)
    return memory


async def _store_revised(transaction: Transaction, caller: Caller, **values: Any) -> None:
    try:
        await transaction.run("memory.revise", tenant=caller.tenant, agent=caller.agent, **values)
    except Conflict as error:
        raise Conflict(
            "Another live memory of this namespace says just that.",
            field="content",
            remedy="Forget or supersede one of the two.",
        ) from error


def _place_after(before: Memory, checked: Checked, changes: Mapping[str, Any]) -> int | str | None:
    kind = before.kind if changes.get("kind") is None else checked.kind
    metadata = before.metadata if changes.get("metadata") is None else checked.metadata
    return place_in_chat(kind, metadata, before.seq)


async def _vector_of(engine: Engine, checked: Checked, speaker: str | None) -> Any:
    """The vector that was given, else that of the content; None without an embedder."""
    if checked.vector is not None or engine.embedder is None:
        return checked.vector
    return (await engine.embedder.embed([embedding_text(checked.content, speaker)]))[0]


def _checked_changes(
    engine: Engine, caller: Caller, content: str, vector: Any, changes: Mapping[str, Any], namespace: str
) -> Checked:
    allowed = {*CHANGED, *SPOKEN}
    unknown = next((name for name in changes if name not in allowed), None)
    if unknown is not None:
        raise InvalidInput(
            f"revise has no field {shown(unknown)}.",
            field=unknown,
            remedy=f"It changes content, {', '.join(sorted(allowed))}.",
        )
    given = {name: value for name, value in changes.items() if value is not None}
    draft = Draft.model_construct(content=content, vector=vector, namespace=namespace, **given)
    checked = validate(draft, caller, engine.settings, now=engine.clock.now(), dimension=engine.dimension)
    return without_block(checked, "content")


def speaks(changes: Mapping[str, Any]) -> bool:
    """Whether what a memory speaks of is given anew."""
    return any(changes.get(name) is not None for name in SPOKEN)


def _given(checked: Checked, changes: Mapping[str, Any], name: str) -> Any:
    """The checked value of a field that is to change, None for one that stays."""
    if changes.get(name) is None:
        return None
    value: Any = getattr(checked, name)
    if name == "metadata":
        return json.dumps(value)
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


async def _previous_vector(transaction: Transaction, caller: Caller, row: Any) -> Any:
    if row.chat_id is None or row.sequence is None:
        return None
    found = await transaction.one(
        "remember.neighbours",
        tenant=caller.tenant,
        agent=caller.agent,
        places=[0],
        chats=[row.chat_id],
        sequences=[row.sequence],
    )
    return found[2].to_numpy() if found is not None and found[2] is not None else None
