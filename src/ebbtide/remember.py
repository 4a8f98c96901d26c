"""The write path: from drafts to memories, one line a step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.errors import Conflict, IdempotencyMismatch, InvalidInput, ModelError
from ebbtide.govern.tenants import know_tenant
from ebbtide.identifiers import new_id
from ebbtide.text import content_hash, embedding_text
from ebbtide.types import Draft, Outcome, Remembered, trusted
from ebbtide.write.context import set_context, with_context
from ebbtide.write.echo import known_echoes, without_blocks
from ebbtide.write.pending import enqueue_pending
from ebbtide.write.rows import Row, from_draft, insert, memory_of
from ebbtide.write.supersede import Head, Successor, heads_of, supersede
from ebbtide.write.validate import Checked, validate

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types import Caller, Memory

__all__ = ["remember_many"]

TRIES = 4


@dataclass(frozen=True, slots=True)
class Batch:
    """The drafts of one call that are not answered yet, with all that is known of each before the transaction."""

    places: list[int]
    drafts: list[Checked]
    bodies: list[bytes]
    hashes: list[bytes]
    vectors: list[NDArray[np.float32] | None]


async def remember_many(
    engine: Engine, caller: Caller, drafts: Sequence[Draft | Mapping[str, Any] | str], *, allow_pending: bool = False
) -> list[Remembered]:
    """Write memories in one transaction: all of them, or none.

    `allow_pending` stores the text although the embedder fails, to be embedded later by a job.

    Raises:
        InvalidInput: a draft is not acceptable; the error names its place and field.
        IdempotencyMismatch: a key was used before with another body.
        ModelError: the embedder failed, and `allow_pending` is not set.
        NotFound: a memory that should be superseded does not exist.
    """
    now = engine.clock.now()
    checked = without_blocks(check_all(engine, caller, drafts, now))
    echoes = await known_echoes(engine, caller, checked)
    for attempt in range(TRIES):
        answers = {**echoes, **await replay(engine, caller, checked)}
        batch = unanswered(caller, checked, answers)
        known = await known_duplicates(engine, caller, batch, now)
        batch = await embed(engine, batch, known, allow_pending=allow_pending)
        try:
            async with engine.database.transaction(caller.tenant) as transaction:
                stored = await store(engine, transaction, caller, batch, known, now)
        except Conflict:
            if attempt == TRIES - 1:
                raise
            continue
        engine.tenants.add(caller.tenant)
        engine.scopes.forget(caller.tenant)
        answers.update(zip(batch.places, stored, strict=True))
        return [answers[place] for place in range(len(checked))]
    raise AssertionError("unreachable")


def check_all(
    engine: Engine, caller: Caller, drafts: Sequence[Draft | Mapping[str, Any] | str], now: datetime
) -> list[Checked]:
    """Validate every draft before anything is done with any of them."""
    if isinstance(drafts, str) or not isinstance(cast("object", drafts), Sequence):
        raise InvalidInput("drafts must be a list.", field="drafts", remedy="Use remember for a single statement.")
    limit = engine.settings.max_batch_drafts
    if len(drafts) > limit:
        raise InvalidInput(
            f"{len(drafts):,} drafts were given; at most {limit:,} go into one transaction.",
            field="drafts",
            remedy="Send several batches.",
        )
    single = len(drafts) == 1
    return [
        validate(
            as_draft(draft, "" if single else f"drafts[{place}]."),
            caller,
            engine.settings,
            now=now,
            dimension=engine.dimension,
            place="" if single else f"drafts[{place}].",
        )
        for place, draft in enumerate(drafts)
    ]


def as_draft(draft: Any, place: str) -> Draft:
    """A draft from its text or its fields, whose values are still to be checked.

    Raises:
        InvalidInput: it is neither, or a field is unknown or missing.
    """
    if isinstance(draft, Draft):
        return draft
    if isinstance(draft, str):
        return Draft.model_construct(content=draft)
    if not isinstance(draft, Mapping):
        name = place.removesuffix(".") or "draft"
        raise InvalidInput(
            f"{name} is a {type(draft).__name__}.", field=name, remedy="Give a text, a mapping of fields, or a Draft."
        )
    given = cast("Mapping[Any, Any]", draft)
    unknown = next((str(name) for name in given if name not in Draft.model_fields), None)
    if unknown is not None or "content" not in given:
        name = f"{place}{unknown or 'content'}"
        raise InvalidInput(
            f"A draft has no field {unknown[:40]!r}." if unknown else "The draft has no content.",
            field=name,
            remedy=f"A draft has the fields {', '.join(Draft.model_fields)}.",
        )
    return Draft.model_construct(**given)


def body_hash(draft: Checked) -> bytes:
    """What must be the same when an idempotency key is used again."""
    body = {
        name: getattr(draft, name)
        for name in draft.__slots__
        if name not in ("vector", "expires_at", "warnings", "idempotency_key")
    }
    body["vector"] = None if draft.vector is None else draft.vector.tobytes().hex()
    return hashlib.sha256(json.dumps(body, default=str, sort_keys=True).encode()).digest()


async def replay(engine: Engine, caller: Caller, checked: Sequence[Checked]) -> dict[int, Remembered]:
    """The first answers to the drafts whose idempotency keys were used before, by place."""
    keys = {draft.idempotency_key: place for place, draft in enumerate(checked) if draft.idempotency_key is not None}
    if not keys:
        return {}
    if len(keys) < sum(draft.idempotency_key is not None for draft in checked):
        raise InvalidInput(
            "Two drafts carry the same idempotency key.", field="idempotency_key", remedy="Give each draft its own key."
        )
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await transaction.all(
            "remember.idempotent_answers", tenant=caller.tenant, agent=caller.agent, keys=list(keys)
        )
        rows = await transaction.all(
            "memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=[row[2] for row in found]
        )
    memories = {row[0]: memory_of(row) for row in rows}
    answers: dict[int, Remembered] = {}
    for key, body, memory_id, outcome, warnings in found:
        if body != body_hash(checked[keys[key]]):
            raise IdempotencyMismatch(
                f"The idempotency key {key!r} was used with another body.",
                field="idempotency_key",
                remedy="Use a new key.",
            )
        if memory_id in memories:
            answers[keys[key]] = Remembered(outcome=outcome, memory=memories[memory_id], warnings=tuple(warnings))
    return answers


def unanswered(caller: Caller, checked: Sequence[Checked], answers: Mapping[int, Remembered]) -> Batch:
    """The drafts still to be written."""
    places = [place for place in range(len(checked)) if place not in answers]
    drafts = [checked[place] for place in places]
    return Batch(
        places,
        drafts,
        [body_hash(draft) if draft.idempotency_key else b"" for draft in drafts],
        [content_hash(draft.content, caller.chat, draft.seq) for draft in drafts],
        [draft.vector for draft in drafts],
    )


async def known_duplicates(engine: Engine, caller: Caller, batch: Batch, now: datetime) -> set[tuple[str, bytes]]:
    """Namespace and hash of the drafts that live memories say already, so that they are not embedded for nothing."""
    if not batch.drafts:
        return set()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        return {
            (namespace, digest)
            for _, _, namespace, digest, ended in await find_duplicates(transaction, caller, batch, now)
            if not ended
        }


async def find_duplicates(transaction: Transaction, caller: Caller, batch: Batch, now: datetime) -> Sequence[Any]:
    """Live memories of the agent with the namespace and hash of a draft."""
    return await transaction.all(
        "remember.find_duplicates",
        tenant=caller.tenant,
        agent=caller.agent,
        namespaces=[draft.namespace for draft in batch.drafts],
        hashes=batch.hashes,
        now=now,
    )


async def embed(engine: Engine, batch: Batch, known: set[tuple[str, bytes]], *, allow_pending: bool) -> Batch:
    """The batch with a vector for each new draft, made before the transaction opens."""
    if engine.embedder is None:
        return batch
    wanted = {
        embedding_text(draft.content, draft.speaker): None
        for draft, digest, vector in zip(batch.drafts, batch.hashes, batch.vectors, strict=True)
        if vector is None and (draft.namespace, digest) not in known
    }
    if not wanted:
        return batch
    try:
        made = dict(zip(wanted, await engine.embedder.embed(list(wanted)), strict=True))
    except ModelError:
        if not allow_pending:
            raise
        return batch
    vectors = [
        made.get(embedding_text(draft.content, draft.speaker)) if vector is None else vector
        for draft, vector in zip(batch.drafts, batch.vectors, strict=True)
    ]
    return replace(batch, vectors=vectors)


async def store(
    engine: Engine, transaction: Transaction, caller: Caller, batch: Batch, known: set[tuple[str, bytes]], now: datetime
) -> list[Remembered]:
    """Everything one call writes, in its one transaction.

    Raises:
        Conflict: another writer came between; the caller tries again from the start.
    """
    heads = await heads_of(transaction, caller, batch.drafts)
    memories, rows = new_rows(caller, batch, heads, known, now)
    await archive_ended(transaction, caller, batch, now)
    rows, following = await with_context(transaction, caller.tenant, caller.agent, rows)
    new = await insert(transaction, caller.tenant, engine.facts.text_search_configuration, rows)
    await set_context(transaction, caller.tenant, following)
    existing = await mention_duplicates(transaction, caller, batch, memories, new, now)
    outcomes = [outcome_of(memory, new, existing, key) for memory, key in zip(memories, keys_of(batch), strict=True)]
    superseding = links_of(batch, heads, [memory for _, memory in outcomes], now)
    await supersede(transaction, caller.tenant, superseding, now)
    successors = {link.new_id for link in superseding}
    answers = [
        trusted(
            Remembered,
            outcome="superseded" if draft.supersedes is not None and memory.id in successors else outcome,
            memory=memory,
            warnings=draft.warnings,
        )
        for draft, (outcome, memory) in zip(batch.drafts, outcomes, strict=True)
    ]
    await write_down(transaction, caller, batch, answers, superseding, now)
    await know_tenant(engine, transaction, caller.tenant, now)
    await enqueue_pending(
        engine,
        transaction,
        caller.tenant,
        [row.memory for row in rows if row.embedding is None and row.memory.id in new],
    )
    return answers


def links_of(batch: Batch, heads: Mapping[UUID, Head], memories: Sequence[Memory], now: datetime) -> list[Successor]:
    """What each draft replaces; a later draft of the batch that corrects the same thing replaces the earlier one."""
    current: dict[UUID, UUID] = {}
    links: list[Successor] = []
    for draft, memory in zip(batch.drafts, memories, strict=True):
        if draft.supersedes is None:
            continue
        old = heads[draft.supersedes].id
        while old in current:
            old = current[old]
        if old != memory.id:
            current[old] = memory.id
            links.append(Successor(old, memory.id, memory.valid_from or memory.observed_at or now))
    return links


def keys_of(batch: Batch) -> list[tuple[str, bytes]]:
    """Namespace and hash of each draft: what makes two of them the same statement."""
    return [(draft.namespace, digest) for draft, digest in zip(batch.drafts, batch.hashes, strict=True)]


def new_rows(
    caller: Caller, batch: Batch, heads: Mapping[UUID, Head], known: set[tuple[str, bytes]], now: datetime
) -> tuple[list[Memory], list[Row]]:
    """A memory for each draft, and a row for each that is no known duplicate; repeats within the batch share one."""
    memories: list[Memory] = []
    rows: dict[tuple[str, bytes], Row] = {}
    for draft, digest, vector in zip(batch.drafts, batch.hashes, batch.vectors, strict=True):
        floor = heads[draft.supersedes].importance if draft.supersedes is not None else 0.0
        memory = from_draft(draft, caller, now=now, pending=vector is None, importance_floor=floor)
        memories.append(memory)
        key = (draft.namespace, digest)
        if key not in known:
            rows.setdefault(key, Row(memory, digest, vector))
    return memories, list(rows.values())


async def archive_ended(transaction: Transaction, caller: Caller, batch: Batch, now: datetime) -> None:
    """Saying a thing again after it has run out makes a new memory; the old one steps aside."""
    ended = sorted(row[0] for row in await find_duplicates(transaction, caller, batch, now) if row[4])
    if ended:
        await transaction.run("remember.keep_version", tenant=caller.tenant, ids=ended, now=now)
        await transaction.run("remember.archive_ended", tenant=caller.tenant, ids=ended, now=now)


async def mention_duplicates(
    transaction: Transaction, caller: Caller, batch: Batch, memories: Sequence[Memory], new: set[UUID], now: datetime
) -> dict[tuple[str, bytes], Memory]:
    """The stored memories that drafts repeat, freshened, by namespace and hash."""
    if all(memory.id in new for memory in memories):
        return {}
    found = {(row[2], row[3]): row[0] for row in await find_duplicates(transaction, caller, batch, now)}
    if any(key not in found for key in keys_of(batch)):
        raise Conflict("A memory that was about to be repeated went away.", remedy="Try again.")
    ids = sorted({id_ for id_ in found.values() if id_ not in new})
    await transaction.run("remember.lock", tenant=caller.tenant, ids=ids)
    await transaction.run("remember.mention", tenant=caller.tenant, ids=ids, now=now)
    rows = await transaction.all(
        "memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=sorted(set(found.values()))
    )
    read = map(memory_of, rows)
    live = {memory.id: memory for memory in read if memory.status == "active" and memory.superseded_by is None}
    if any(id_ not in live for id_ in found.values()):
        raise Conflict("A memory that was about to be repeated changed.", remedy="Try again.")
    return {key: live[id_] for key, id_ in found.items()}


def outcome_of(
    memory: Memory, new: set[UUID], existing: Mapping[tuple[str, bytes], Memory], key: tuple[str, bytes]
) -> tuple[Outcome, Memory]:
    """Whether a draft became a memory of its own or touched one that says the same."""
    return ("stored", memory) if memory.id in new else ("duplicate", existing[key])


async def write_down(
    transaction: Transaction,
    caller: Caller,
    batch: Batch,
    answers: Sequence[Remembered],
    superseding: Sequence[Successor],
    now: datetime,
) -> None:
    """The audit of what was written, and the answers a retry shall be given."""
    entries = [
        (
            answer.memory.id,
            {"outcome": answer.outcome, "namespace": answer.memory.namespace, "dropped": list(answer.warnings)},
        )
        for answer in answers
    ]
    await audit(transaction, caller, "write", entries, now)
    await audit(
        transaction,
        caller,
        "status",
        [(link.old_id, {"to": "superseded", "by": str(link.new_id)}) for link in superseding],
        now,
    )
    for draft, body, answer in zip(batch.drafts, batch.bodies, answers, strict=True):
        if draft.idempotency_key is None:
            continue
        kept = await transaction.one(
            "remember.keep_answer",
            tenant=caller.tenant,
            agent=caller.agent,
            key=draft.idempotency_key,
            body_hash=body,
            memory_id=answer.memory.id,
            outcome=answer.outcome,
            warnings=list(answer.warnings),
            now=now,
        )
        if kept is None:
            raise Conflict("The idempotency key was used at the same moment by another call.", remedy="Try again.")


async def audit(
    transaction: Transaction,
    caller: Caller,
    action: str,
    entries: Sequence[tuple[UUID, Mapping[str, Any]]],
    now: datetime,
) -> None:
    """Note what was done to which memories, never what they say."""
    if not entries:
        return
    await transaction.run(
        "remember.audit",
        tenant=caller.tenant,
        agent=caller.agent,
        user=caller.user,
        action=action,
        now=now,
        audit_ids=[new_id(now) for _ in entries],
        ids=[id_ for id_, _ in entries],
        details=[json.dumps(detail) for _, detail in entries],
    )
