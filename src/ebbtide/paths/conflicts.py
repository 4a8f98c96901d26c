"""Conflicts between memories: listed while both sides hold, and settled by whoever knows which one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ebbtide.checks import check_whole, check_word
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.govern.access import READ, WRITE, check_changeable, check_visible, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.rules import current_rules
from ebbtide.identifiers import parse_id
from ebbtide.read.seen import seen
from ebbtide.text import content_hash, embedding_text
from ebbtide.types.base import Page, page_of
from ebbtide.types.memory import RESOLUTIONS, Dispute, Draft
from ebbtide.write.echo import without_block
from ebbtide.write.pending import enqueue_pending
from ebbtide.write.rows import Row, from_draft, insert, memory_of
from ebbtide.write.screen import admitted
from ebbtide.write.stale import facts_changed
from ebbtide.write.supersede import Successor, supersede
from ebbtide.write.tokens import counts_of
from ebbtide.write.validate import Checked, validate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = ["list_conflicts", "resolve_conflict"]

MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class Merged:
    """The statement that takes the place of both sides, with the kinds of personal data in it, and its vector."""

    draft: Checked
    kinds: tuple[str, ...]
    vector: NDArray[np.float32] | None


@requires(READ)
async def list_conflicts(
    engine: Engine, caller: Caller, *, limit: int = 50, after: UUID | str | None = None
) -> Page[Dispute]:
    """The agent's conflicts of which both sides still hold, newest first. See `AsyncConflicts.list`.

    Raises:
        InvalidInput: the limit is out of its range.
        NotFound: the last one seen is gone, since one of its sides was forgotten.
    """
    check_whole(limit, "limit", 1, MOST_LISTED)
    last = None if after is None else parse_id(after, "after")
    found: list[Dispute] = []
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        before = None if last is None else await _noted(transaction, caller, last)
        while (lacking := limit + 1 - len(found)) > 0:
            rows = await transaction.all(
                "conflict.list", tenant=caller.tenant, agent=caller.agent, after=last, before=before, limit=lacking
            )
            read = await _read(transaction, caller, [id_ for row in rows for id_ in row[1:3]])
            memories = {one.id: one for one in await seen(engine, transaction, caller, list(read.values()))}
            disputes = [
                Dispute(id=id_, older=memories[older], newer=memories[newer], reason=reason, created_at=created)
                for id_, older, newer, reason, created in rows
                if older in memories and newer in memories
            ]
            found += [one for one in disputes if _visible(caller, one)]
            if len(rows) < lacking:
                break
            # What the caller may not see is made up for by what comes after.
            last, before = rows[-1][0], rows[-1][4]
    return page_of(found, limit, lambda one: one.id)


async def _noted(transaction: Transaction, caller: Caller, id_: UUID) -> datetime:
    row = await transaction.one("conflict.noted", tenant=caller.tenant, agent=caller.agent, id=id_)
    if row is None:
        raise NotFound(f"There is no conflict {id_}.", field="after", remedy="Begin the list anew.")
    return row[0]


def _visible(caller: Caller, dispute: Dispute) -> bool:
    try:
        for side in (dispute.older, dispute.newer):
            check_visible(caller, side.namespace, _missing(dispute.id))
    except NotFound:
        return False
    return True


@requires(WRITE)
async def resolve_conflict(
    engine: Engine, caller: Caller, conflict_id: UUID | str, choice: str, *, merged: str | None = None
) -> list[Memory]:
    """Settle a conflict; answers with the memories that hold from now on. See `AsyncConflicts.resolve`."""
    id_ = parse_id(conflict_id, "conflict_id")
    check_word(choice, "choice", RESOLUTIONS, "a way to settle a conflict")
    if (merged is not None) != (choice == "merge"):
        raise InvalidInput(
            "merged is the statement that a merge leaves." if merged is None else "Only a merge takes a statement.",
            field="merged",
            remedy='Give it with the choice "merge", and with no other.',
        )
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        older, newer = await _sides(transaction, caller, id_)
    draft = None if merged is None else await _merged(engine, caller, older, newer, merged, now)
    async with engine.database.transaction(caller.tenant) as transaction:
        older, newer = await _sides(transaction, caller, id_)
        kept = await _settle(engine, transaction, caller, older, newer, choice, draft, now)
        if not await transaction.all("conflict.resolve", tenant=caller.tenant, id=id_, resolution=choice, now=now):
            raise _missing(id_)
        detail = {"conflict": str(id_), "resolution": choice}
        await write_audit(transaction, caller, "status", [(side.id, detail) for side in (older, newer)], now)
        read = await _read(transaction, caller, kept)
        holding = await seen(engine, transaction, caller, [read[one] for one in kept])
    engine.scopes.forget(caller.tenant)
    return holding


async def _sides(transaction: Transaction, caller: Caller, id_: UUID) -> tuple[Memory, Memory]:
    """Both sides of an open conflict that the caller may change."""
    row = await transaction.one("conflict.sides", tenant=caller.tenant, agent=caller.agent, id=id_)
    if row is None:
        raise _missing(id_)
    memories = await _read(transaction, caller, row)
    older, newer = memories[row[0]], memories[row[1]]
    for side in (older, newer):
        check_changeable(caller, side.namespace, _missing(id_))
    return older, newer


async def _settle(
    engine: Engine,
    transaction: Transaction,
    caller: Caller,
    older: Memory,
    newer: Memory,
    choice: str,
    merged: Merged | None,
    now: datetime,
) -> list[UUID]:
    """Link what no longer holds to what does; answers with the ids of that."""
    if choice == "keep_both":
        return [older.id, newer.id]
    winner = {"keep_new": newer, "keep_old": older}.get(choice)
    if merged is not None:
        winner = await _store_merged(engine, transaction, caller, older, newer, merged, now)
    holder = cast("Memory", winner)
    start = holder.valid_from or holder.observed_at or now
    links = [Successor(side.id, holder.id, start) for side in (older, newer) if side.id != holder.id]
    await supersede(transaction, caller.tenant, links, now)
    entries = [(link.old_id, {"to": "superseded", "by": str(link.new_id)}) for link in links]
    await write_audit(transaction, caller, "status", entries, now)
    await facts_changed(transaction, caller, [link.old_id for link in links], now)
    return [holder.id]


async def _merged(engine: Engine, caller: Caller, older: Memory, newer: Memory, content: str, now: datetime) -> Merged:
    """The statement of a merge, with everything else that both sides say.

    Raises:
        InvalidInput: it is not acceptable, or the rule on the namespace does not let it be stored as it is.
    """
    draft = Draft.model_construct(
        content=content,
        namespace=newer.namespace,
        kind=newer.kind,
        labels=tuple(dict.fromkeys((*older.labels, *newer.labels))),
        tags=tuple(dict.fromkeys((*older.tags, *newer.tags))),
        metadata={**older.metadata, **newer.metadata},
        importance=max(older.importance, newer.importance),
        confidence=max(older.confidence, newer.confidence),
        subject=newer.subject,
        predicate=newer.predicate,
        observed_at=newer.observed_at,
        valid_from=newer.valid_from,
    )
    checked = without_block(validate(draft, caller, engine.settings, now=now, dimension=engine.dimension), "merged")
    screened = admitted(checked, await current_rules(engine, caller.tenant), "merged")
    vector = None
    if engine.embedder is not None:
        vector = (await engine.embedder.embed([embedding_text(screened.draft.content)]))[0]
    return Merged(screened.draft, screened.kinds, vector)


async def _store_merged(
    engine: Engine,
    transaction: Transaction,
    caller: Caller,
    older: Memory,
    newer: Memory,
    merged: Merged,
    now: datetime,
) -> Memory:
    """The memory of a merge: one of the sides where it says just that, else a new one.

    Raises:
        Conflict: a third memory says just that.
    """
    digest = content_hash(merged.draft.content)
    for side in (newer, older):
        if content_hash(side.content) == digest and side.namespace == merged.draft.namespace:
            return side
    memory = from_draft(merged.draft, caller, now=now, pending=merged.vector is None)
    tokens = (await counts_of(engine, [memory.content]))[0]
    row = Row(memory, digest, merged.vector, None, merged.kinds, tokens=tokens, counted_by=engine.counter.name)
    if not await insert(transaction, caller.tenant, engine.facts.text_search_configuration, [row]):
        raise Conflict(
            "Another live memory of this namespace says just that.",
            field="merged",
            remedy="Supersede both sides by that one, or say it otherwise.",
        )
    detail = {"outcome": "superseded", "namespace": memory.namespace}
    await write_audit(transaction, caller, "write", [(memory.id, detail)], now)
    if merged.vector is None:
        await enqueue_pending(engine, transaction, caller.tenant, [memory])
    return memory


async def _read(transaction: Transaction, caller: Caller, ids: Sequence[Any]) -> dict[UUID, Memory]:
    rows = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=list(ids))
    return {row[0]: memory_of(row) for row in rows}


def _missing(id_: UUID) -> NotFound:
    return NotFound(
        f"There is no open conflict {id_}.",
        field="conflict_id",
        remedy="List the conflicts; one ends when a side is superseded or forgotten.",
    )
