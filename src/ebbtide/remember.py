"""The write path: from drafts to memories, one line a step."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.arguments import meant
from ebbtide.checks import check_flag
from ebbtide.errors import Conflict, InvalidInput, ModelError, StaleRevision
from ebbtide.govern.access import WRITE, is_readable, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.rules import rules_in
from ebbtide.govern.tenants import know_tenant
from ebbtide.graph.write import Said, write_graph
from ebbtide.graph.write import lock as lock_graph
from ebbtide.read.seen import hidden_among, listed
from ebbtide.text import embedding_text
from ebbtide.types.base import trusted
from ebbtide.types.memory import Draft, Outcome, Remembered
from ebbtide.write.batch import Batch, Withheld
from ebbtide.write.classify import classify
from ebbtide.write.conflict import (
    importance_floors,
    related_by_position,
    replaced_by_date,
    successors_found,
    write_relations,
)
from ebbtide.write.context import set_context, with_context
from ebbtide.write.dedup import archive_ended, known_duplicates, mention_duplicates, read_before
from ebbtide.write.echo import known_echoes, without_blocks
from ebbtide.write.fence import check_session_revision, fenced
from ebbtide.write.idempotency import body_hash, keep_answers, replay
from ebbtide.write.origins import note_origins
from ebbtide.write.pending import enqueue_pending
from ebbtide.write.relate import check_compared, relate
from ebbtide.write.rows import Row, from_draft, insert
from ebbtide.write.screen import KEPT, screen
from ebbtide.write.stale import facts_changed
from ebbtide.write.supersede import Head, Successor, heads_of, supersede
from ebbtide.write.tokens import count_tokens
from ebbtide.write.turns import hash_of, note_turns, placed
from ebbtide.write.validate import Checked, validate, with_kind

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory
    from ebbtide.write.claim import Claim
    from ebbtide.write.origins import Origin
    from ebbtide.write.relation import Relation
    from ebbtide.write.wanted import Follow

__all__ = ["check_all", "remember_many"]

TRIES = 6
FIRST_PAUSE_SECONDS = 0.02
DRAFT_DEFAULTS = {name: field.get_default() for name, field in Draft.model_fields.items()}


@requires(WRITE)
async def remember_many(
    engine: Engine,
    caller: Caller,
    drafts: Sequence[Draft | Mapping[str, Any] | str] | Sequence[Checked],
    *,
    allow_pending: bool = False,
    session_revision: int | None = None,
    origins: Sequence[Origin | None] = (),
    document: Claim | None = None,
    follow: Follow | None = None,
    appended: bool = False,
) -> list[Remembered]:
    """Write memories in one transaction: all of them, or none.

    `allow_pending` stores the text although the embedder fails, to be embedded later by a job. `session_revision` is
    that of the caller's session when the work on these drafts began, and `origins` what each was made from. They are
    passages of the `document`, where one is claimed, and checked already. `follow` comes last in the transaction, and
    where there are `origins` may change what memories mention. What is `appended` is said next in the caller's chat,
    also where that was said before.

    Raises:
        StaleRevision: something of the session, or of what they were made from, was forgotten since.
        InvalidInput: a draft is not acceptable; the error names its place and field.
        IdempotencyMismatch: a key was used before with another body.
        ModelError: the embedder failed, and `allow_pending` is not set.
        NotFound: a memory that should be superseded does not exist.
        Forbidden: the policy does not let the caller write there.
    """
    check_flag(allow_pending, "allow_pending")
    check_session_revision(caller, session_revision)
    now = engine.clock.now()
    checked = (
        cast("list[Checked]", drafts)
        if document is not None
        else without_blocks(check_all(engine, caller, cast("Sequence[Draft]", drafts), now))
    )
    checked = [replace(draft, appended=True) for draft in checked] if appended else checked
    settled = await known_echoes(engine, caller, checked) | await read_before(engine, caller, checked, origins)
    made: dict[str, NDArray[np.float32]] = {}
    answers: dict[int, Remembered] = {}
    for attempt in range(TRIES):
        answers = {**settled, **await replay(engine, caller, checked)}
        async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
            rules = await rules_in(engine, transaction, caller.tenant)
            batch = unanswered(caller, checked, answers, rules, origins)
            known = await known_duplicates(transaction, caller, batch, now)
        if not (batch.drafts or batch.withheld):
            break
        batch = await embed(engine, batch, known, made, allow_pending=allow_pending)
        batch = await count_tokens(engine, batch, known)
        batch = await relate(engine, caller, batch, known, now)
        batch = await classify(engine, batch)
        try:
            async with fenced(engine, caller, session_revision, origins, document) as transaction:
                stored = await store(engine, transaction, caller, batch, known, now)
                if follow is not None:
                    await follow(transaction, new_among(stored))
        except StaleRevision:
            raise
        except Conflict:
            if attempt == TRIES - 1:
                raise
            await asyncio.sleep(random.uniform(0.5, 1.0) * FIRST_PAUSE_SECONDS * 2**attempt)
            continue
        engine.tenants.add(caller.tenant)
        engine.scopes.forget(caller.tenant)
        answers.update(stored)
        break
    return await answers_seen(engine, caller, [answers[place] for place in range(len(checked))])


def new_among(stored: Mapping[int, Remembered]) -> list[Memory]:
    """The memories that a write made and that are recalled; a duplicate was there before."""
    answers = [stored[place] for place in sorted(stored)]
    made = [one.memory for one in answers if one.outcome not in ("duplicate", "echo")]
    return [memory for memory in made if memory is not None and memory.status == "active"]


async def answers_seen(engine: Engine, caller: Caller, answers: list[Remembered]) -> list[Remembered]:
    """The answers as their caller may see them: what was there before by the rules, and no id out of its reach."""
    if caller.access is None or not answers:
        return answers
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        hidden = await hidden_among(transaction, caller, [id_ for one in answers for id_ in one.related])
        known = [one.memory for one in answers if one.memory is not None and one.outcome in ("duplicate", "echo")]
        readable = [one for one in known if is_readable(caller, one.namespace)]
        shown = {one.id: one for one in await listed(engine, transaction, caller, readable)}
    ids = {one.id for one in known}
    return [
        one.model_copy(
            update={
                "related": tuple(id_ for id_ in one.related if id_ not in hidden),
                "memory": shown.get(one.memory.id) if one.memory is not None and one.memory.id in ids else one.memory,
            }
        )
        for one in answers
    ]


def check_all(
    engine: Engine,
    caller: Caller,
    drafts: Sequence[Draft | Mapping[str, Any] | str],
    now: datetime,
    document: Claim | None = None,
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
            document=None if document is None else document.id,
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
        return trusted(Draft, **{**DRAFT_DEFAULTS, "content": draft})
    if not isinstance(draft, Mapping):
        name = place.removesuffix(".") or "draft"
        raise InvalidInput(
            f"{name} is a {type(draft).__name__}.", field=name, remedy="Give a text, a mapping of fields, or a Draft."
        )
    given = cast("Mapping[Any, Any]", draft)
    unknown = next((str(name) for name in given if name not in Draft.model_fields), None)
    if unknown is not None or "content" not in given:
        name = f"{place}{unknown or 'content'}"
        likely = meant(unknown, Draft.model_fields) if unknown else ""
        raise InvalidInput(
            f"A draft has no field {unknown[:40]!r}." if unknown else "The draft has no content.",
            field=name,
            remedy=f"{likely}A draft has the fields {', '.join(Draft.model_fields)}.",
        )
    return trusted(Draft, **{**DRAFT_DEFAULTS, **given})


def unanswered(
    caller: Caller,
    checked: Sequence[Checked],
    answers: Mapping[int, Remembered],
    rules: RuleBook,
    origins: Sequence[Origin | None],
) -> Batch:
    """The drafts still to be written, each as it passed the screen, and those that it held back."""
    batch = Batch()
    for place, given in enumerate(checked):
        if place in answers:
            continue
        body = body_hash(given, caller) if given.idempotency_key else b""
        screened = screen(with_kind(given, rules), rules)
        if screened.verdict == "drop":
            batch.withheld.append(Withheld(place, given, body, "dropped", screened.kinds))
            continue
        draft = screened.draft
        batch.places.append(place)
        batch.drafts.append(draft)
        batch.bodies.append(body)
        batch.hashes.append(hash_of(draft, caller))
        batch.vectors.append(draft.vector)
        batch.personal_data.append(screened.kinds)
        batch.origins.append(origins[place] if origins else None)
        batch.statuses.append("quarantined" if screened.verdict == "quarantine" else "active")
    return batch


async def embed(
    engine: Engine,
    batch: Batch,
    known: set[tuple[str, bytes]],
    made: dict[str, NDArray[np.float32]],
    *,
    allow_pending: bool,
) -> Batch:
    """The batch with a vector for each new draft, from before the transaction; `made` keeps them for another try."""
    if engine.embedder is None:
        return batch
    texts = [embedding_text(draft.content, draft.speaker) for draft in batch.drafts]
    wanted = {
        text: None
        for text, identity, vector in zip(texts, batch.identities(), batch.vectors, strict=True)
        if vector is None and identity not in known and text not in made
    }
    try:
        if wanted:
            made.update(zip(wanted, await engine.embedder.embed(list(wanted)), strict=True))
    except ModelError:
        if not allow_pending:
            raise
        return batch
    vectors = [made.get(text) if vector is None else vector for text, vector in zip(texts, batch.vectors, strict=True)]
    return replace(batch, vectors=vectors)


async def store(
    engine: Engine, transaction: Transaction, caller: Caller, batch: Batch, known: set[tuple[str, bytes]], now: datetime
) -> dict[int, Remembered]:
    """Everything one call writes, in its one transaction; answers by place.

    Raises:
        Conflict: another writer came between; the caller tries again from the start.
    """
    if any(draft.entities or draft.relation for draft in batch.drafts):
        await lock_graph(transaction, caller)
    batch = await placed(transaction, caller, batch)
    await check_compared(transaction, caller, batch, now)
    heads = await heads_of(transaction, caller, batch.drafts)
    memories, rows = new_rows(engine, caller, batch, heads, known, now)
    await archive_ended(transaction, caller, batch, now)
    rows, following = await with_context(transaction, caller.tenant, caller.agent, rows)
    new = await insert(transaction, caller.tenant, engine.facts.text_search_configuration, rows)
    await set_context(transaction, caller.tenant, following)
    changing = {head.id for head in heads.values()} | replaced_by_date(batch.relations)
    existing = await mention_duplicates(transaction, caller, batch, rows, new, now, changing=changing)
    outcomes: list[tuple[Outcome, Memory]] = [
        outcome_of(memory, new, existing, key) for memory, key in zip(memories, batch.identities(), strict=True)
    ]
    kept = [memory for _, memory in outcomes]
    superseding = links_of(batch, heads, kept, now)
    relations = [relation for relation in batch.relations if kept[relation.position].id in new]
    superseding += successors_found(relations, kept, superseding, now)
    await supersede(transaction, caller.tenant, superseding, now)
    await write_relations(transaction, caller, relations, kept, now)
    await note_origins(transaction, caller, batch.origins, [memory.id for memory in kept], new, now)
    said = [Said(one.id, draft.entities, draft.relation) for one, draft in zip(kept, batch.drafts, strict=True)]
    await write_graph(transaction, caller, said, now)
    outcomes = [(outcome, ended(memory, superseding, now)) for outcome, memory in outcomes]
    messages = [(one.id, draft.seq) for one, draft in zip(kept, batch.drafts, strict=True) if draft.kind == "message"]
    await note_turns(transaction, caller, [(id_, caller.chat, place) for id_, place in messages])
    answers = answers_of(batch, outcomes, relations, {link.new_id for link in superseding})
    await write_down(transaction, caller, batch, answers, superseding, now)
    await know_tenant(engine, transaction, caller.tenant, now)
    pending = [row.memory for row in rows if row.embedding is None and row.memory.id in new]
    if superseding:
        await facts_changed(transaction, caller, [link.old_id for link in superseding], now)
    await enqueue_pending(engine, transaction, caller.tenant, pending)
    return answers


def ended(memory: Memory, links: Sequence[Successor], now: datetime) -> Memory:
    """A memory of the batch as it is stored: the past of what is known is superseded from the start."""
    link = next((link for link in links if link.old_id == memory.id), None)
    if link is None or memory.superseded_by is not None:
        return memory
    values = {"maturity": "superseded", "superseded_by": link.new_id, "revision": memory.revision + 1}
    ends = max(memory.valid_from, link.starts_at) if memory.valid_from else link.starts_at
    return memory.model_copy(update={**values, "invalidated_at": ends, "updated_at": now})


def answers_of(
    batch: Batch,
    outcomes: Sequence[tuple[Outcome, Memory]],
    relations: Sequence[Relation],
    successors: Collection[UUID],
) -> dict[int, Remembered]:
    """What became of each draft, by its place in the call."""
    answers: dict[int, Remembered] = {}
    kept = [memory for _, memory in outcomes]
    related = related_by_position(relations, kept)
    for position, (place, draft, (outcome, memory)) in enumerate(
        zip(batch.places, batch.drafts, outcomes, strict=True)
    ):
        kind, others = related.get(position, (None, ()))
        if draft.supersedes is not None and memory.id in successors:
            outcome = "superseded"
        elif outcome == "stored" and kind is not None:
            outcome = kind
        answers[place] = trusted(Remembered, outcome=outcome, memory=memory, warnings=draft.warnings, related=others)
    for one in batch.withheld:
        answers[one.place] = trusted(
            Remembered, outcome=one.outcome, memory=None, warnings=one.draft.warnings, related=()
        )
    return answers


def links_of(batch: Batch, heads: Mapping[UUID, Head], memories: Sequence[Memory], now: datetime) -> list[Successor]:
    """What each draft replaces; a later draft of the batch that corrects the same thing replaces the earlier one.

    Raises:
        InvalidInput: a draft says again what an earlier one of the batch has just replaced.
    """
    current: dict[UUID, UUID] = {}
    links: list[Successor] = []
    for draft, memory in zip(batch.drafts, memories, strict=True):
        if draft.supersedes is None:
            continue
        old = heads[draft.supersedes].id
        while old in current:
            old = current[old]
        if memory.id in current:
            raise InvalidInput(
                "The drafts supersede one another in a circle.",
                field="supersedes",
                remedy="Say last what holds now, and supersede each memory once.",
            )
        if old != memory.id:
            current[old] = memory.id
            links.append(Successor(old, memory.id, memory.valid_from or memory.observed_at or now))
    return links


def new_rows(
    engine: Engine,
    caller: Caller,
    batch: Batch,
    heads: Mapping[UUID, Head],
    known: set[tuple[str, bytes]],
    now: datetime,
) -> tuple[list[Memory], list[Row]]:
    """A memory for each draft, and a row for each that is no known duplicate; repeats within the batch share one."""
    memories: list[Memory] = []
    rows: dict[tuple[str, bytes], Row] = {}
    floors = importance_floors(batch.relations)
    for position, (draft, vector, key) in enumerate(zip(batch.drafts, batch.vectors, batch.identities(), strict=True)):
        floor = heads[draft.supersedes].importance if draft.supersedes is not None else floors.get(position, 0.0)
        status = batch.statuses[position]
        memory = from_draft(draft, caller, now=now, pending=vector is None, importance_floor=floor, status=status)
        memories.append(memory)
        if key not in known:
            tokens = batch.tokens[position]
            counted_by = None if tokens is None else engine.counter.name
            kinds = batch.personal_data[position]
            rows.setdefault(key, Row(memory, key[1], vector, None, kinds, tokens=tokens, counted_by=counted_by))
    return memories, list(rows.values())


def outcome_of(
    memory: Memory, new: set[UUID], existing: Mapping[tuple[str, bytes], Memory], key: tuple[str, bytes]
) -> tuple[Outcome, Memory]:
    """Whether a draft became a memory of its own or touched one that says the same."""
    if memory.id not in new:
        return "duplicate", existing[key]
    return ("quarantined" if memory.status == "quarantined" else "stored"), memory


def found_detail(link: Successor) -> dict[str, Any]:
    """What the audit adds where the texts alone told that one memory replaces the other: how sure that was."""
    return {} if link.confidence is None else {"found": round(link.confidence, 3)}


async def write_down(
    transaction: Transaction,
    caller: Caller,
    batch: Batch,
    answers: Mapping[int, Remembered],
    superseding: Sequence[Successor],
    now: datetime,
) -> None:
    """The audit of what was written, and the answers a retry shall be given."""
    written = [
        (
            answer.memory,
            {"outcome": answer.outcome, "dropped": [one for one in answer.warnings if not one.startswith(KEPT)]},
            kinds,
        )
        for answer, kinds in zip((answers[place] for place in batch.places), batch.personal_data, strict=True)
    ]
    entries: list[tuple[UUID | None, dict[str, Any]]] = [
        (memory.id, {**detail, "namespace": memory.namespace} | ({"personal_data": list(kinds)} if kinds else {}))
        for memory, detail, kinds in written
        if memory is not None
    ]
    entries += [
        (None, {"outcome": one.outcome, "namespace": one.draft.namespace, "personal_data": list(one.personal_data)})
        for one in batch.withheld
    ]
    await write_audit(transaction, caller, "write", entries, now)
    replaced = [
        (link.old_id, {"to": "superseded", "by": str(link.new_id)} | found_detail(link)) for link in superseding
    ]
    await write_audit(transaction, caller, "status", replaced, now)
    answered = [
        (draft, body, answers[place])
        for place, draft, body in zip(batch.places, batch.drafts, batch.bodies, strict=True)
    ]
    answered += [(one.draft, one.body, answers[one.place]) for one in batch.withheld]
    await keep_answers(transaction, caller, answered, now)
