"""Export and import: memories as JSON Lines, out of one store and into another, nothing lost on the way."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from uuid import UUID

from ebbtide.db.vectors import as_halfvecs
from ebbtide.errors import Conflict, InvalidInput, Tombstoned
from ebbtide.govern.access import ADMIN, READ, WRITE, authorise, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.rules import current_rules, rules_in
from ebbtide.govern.tenants import know_tenant
from ebbtide.graph.records import write_namings
from ebbtide.graph.write import lock as lock_graph
from ebbtide.paths.manage import note_read
from ebbtide.read.reinforce import flush
from ebbtide.read.scope import NARROWED, check_known, make_scope
from ebbtide.read.seen import hidden_among, records_seen
from ebbtide.text import embedding_text, shown
from ebbtide.types.memory import Imported
from ebbtide.write.context import set_context, with_context_here
from ebbtide.write.naming import exported, naming_kept
from ebbtide.write.origins import mark_outdated
from ebbtide.write.pending import enqueue_pending
from ebbtide.write.places import write_places
from ebbtide.write.records import Incoming, read_record, record_value, told_of_line
from ebbtide.write.rows import columns_of, insert
from ebbtide.write.sift import Sifted, redacted_hash, sift
from ebbtide.write.standing import check_names_kept, exported_standings, write_standings
from ebbtide.write.successors import check_successors
from ebbtide.write.ties import Waiting, write_ties
from ebbtide.write.tokens import counts_of
from ebbtide.write.turns import lock_chats, note_turns

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller
    from ebbtide.write.rows import Row

__all__ = ["Record", "export_pages", "import_records"]

Record = Mapping[str, Any] | str | bytes
"""A memory with everything the store has of it: an object, or the line of JSON that says the same."""

PAGE = 500
BATCH = 1_000


async def export_pages(engine: Engine, caller: Caller, **narrowed: Any) -> AsyncGenerator[list[dict[str, Any]]]:
    """The memories of a scope as records in the order of their ids, page by page, all from one snapshot."""
    reading_back = next((name for name in ("as_of", "valid_at", "include_superseded") if name in narrowed), None)
    if reading_back is not None:
        raise InvalidInput(
            f"An export takes everything a memory has; {reading_back} does not narrow it.",
            field=reading_back,
            remedy="Leave it out; the versions and their times are in each record.",
        )
    check_known(narrowed, NARROWED)
    caller = await authorise(engine, caller, READ, verb="export_records")
    scope = make_scope(caller, engine.clock.now(), **narrowed)
    await flush(engine, caller.tenant)
    readable = make_scope(caller, scope.now).parameters()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rules = None if caller.access is None else await rules_in(engine, transaction, caller.tenant)
        after = UUID(int=0)
        while True:
            rows = await transaction.named("transfer.export", **scope.parameters(), after=after, limit=PAGE)
            ids = [row.id for row in rows]
            beside = await _beside(transaction, caller, ids, readable) if ids else Beside({}, {}, {}, {})
            records = [_record(engine, row, beside) for row in rows]
            if rules is not None:
                images = [*rows, *(image for ones in beside.versions.values() for image in ones)]
                sources = (origin.source for ones in beside.origins.values() for origin in ones)
                named = [*(image.superseded_by for image in images), *sources]
                hidden = await hidden_among(transaction, caller, named)
                records = records_seen(records, rules, hidden)
            if records:
                note_read(engine, caller, "export", tuple(UUID(record["id"]) for record in records))
                yield records
            if len(rows) < PAGE:
                return
            after = ids[-1]


class Beside(NamedTuple):
    """What the store has of memories besides their rows, by their ids."""

    versions: Mapping[UUID, Sequence[Any]]
    conflicts: Mapping[UUID, Sequence[Any]]
    links: Mapping[UUID, Sequence[Any]]
    origins: Mapping[UUID, Sequence[Any]]
    entities: Mapping[UUID, Sequence[Any]] = {}
    relations: Mapping[UUID, Sequence[Any]] = {}
    places: Mapping[UUID, Sequence[Any]] = {}
    standings: Mapping[UUID, Mapping[str, Sequence[Mapping[str, Any]]]] = {}


async def _beside(transaction: Transaction, caller: Caller, ids: Sequence[UUID], readable: Mapping[str, Any]) -> Beside:
    tenant = caller.tenant
    return Beside(
        _by_id(await transaction.named("transfer.export_versions", tenant=tenant, ids=ids)),
        _by_id(await transaction.named("transfer.export_conflicts", tenant=tenant, ids=ids)),
        _by_id(await transaction.named("transfer.export_links", tenant=tenant, ids=ids)),
        _by_id(await transaction.named("transfer.export_origins", tenant=tenant, ids=ids)),
        *await exported(transaction, tenant, ids),
        _by_id(await transaction.named("transfer.export_places", tenant=tenant, ids=ids)),
        await exported_standings(transaction, caller, ids, readable),
    )


def _by_id(rows: Sequence[Any]) -> dict[UUID, Sequence[Any]]:
    """Rows that are in the order of the id they begin with, by that."""
    return {id_: list(ones) for id_, ones in groupby(rows, key=lambda row: row[0])}


def _record(engine: Engine, row: Any, beside: Beside) -> dict[str, Any]:
    """Everything of a memory; what it has not is left out only of its ties, which most have none of."""
    model = engine.facts.model_name if row.vector is not None else None
    ties = {"conflicts": beside.conflicts.get(row.id, ()), "near_duplicates": beside.links.get(row.id, ())}
    ties["origins"] = beside.origins.get(row.id, ())
    return {
        **_values(row),
        "model": model,
        "versions": [_values(version, without="id") for version in beside.versions.get(row.id, ())],
        **{name: [_values(tie, without="newer") for tie in found] for name, found in ties.items() if found},
        **({"entities": beside.entities[row.id]} if row.id in beside.entities else {}),
        **({"relations": beside.relations[row.id]} if row.id in beside.relations else {}),
        **({"document": _values(beside.places[row.id][0], without="newer")} if row.id in beside.places else {}),
        **{
            name: [{key: record_value(value) for key, value in one.items()} for one in ones]
            for name, ones in beside.standings.get(row.id, {}).items()
        },
    }


def _values(row: Any, *, without: str | None = None) -> dict[str, Any]:
    return {name: record_value(value) for name, value in row._asdict().items() if name != without}


@requires(WRITE, ADMIN)
async def import_records(
    engine: Engine,
    caller: Caller,
    records: Iterable[Record] | AsyncIterable[Record],
    *,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Store records, a thousand a transaction, and count what became of them. See `AsyncEbbtide.import_records`."""
    if isinstance(records, str | bytes | Mapping) or not isinstance(cast("object", records), Iterable | AsyncIterable):
        raise InvalidInput("records must be lines.", field="records", remedy="Give an open file, or a list of records.")
    total = Imported()
    same_as: dict[UUID, UUID] = {}
    entities: dict[UUID, UUID] = {}
    waiting = Waiting()
    async for batch in _batches(records):
        now = engine.clock.now()
        incoming = [read_record(engine, caller, record, line, now) for line, record in batch]
        counted = await _import_batch(engine, caller, incoming, same_as, entities, waiting, now)
        total = Imported(**{name: getattr(total, name) + getattr(counted, name) for name in Imported.model_fields})
        if progress is not None:
            progress(batch[-1][0])
    return total


async def _batches(records: Iterable[Record] | AsyncIterable[Record]) -> AsyncIterator[list[tuple[int, Record]]]:
    """The records with the numbers of their lines, from 1; blank lines count, and hold nothing."""
    batch: list[tuple[int, Record]] = []
    line = 0
    async for record in _each(records):
        line += 1
        if line == 1:
            record = without_mark(record)
        if not isinstance(cast("object", record), Mapping | str | bytes):
            raise InvalidInput(
                f"Line {line} is {shown(record)}.", field=f"line {line}", remedy="Give lines of JSON, or mappings."
            )
        if isinstance(record, Mapping) or record.strip():
            batch.append((line, record))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def without_mark(record: Record) -> Record:
    """The first line of a file without the mark by which some editors tell that it is Unicode."""
    if isinstance(record, str):
        return record.removeprefix("\ufeff")
    return record.removeprefix(BOM_UTF8) if isinstance(record, bytes) else record


async def _each(records: Iterable[Record] | AsyncIterable[Record]) -> AsyncIterator[Record]:
    try:
        if isinstance(records, AsyncIterable):
            async for record in records:
                yield record
        else:
            for record in records:
                yield record
    except UnicodeDecodeError:
        raise InvalidInput("The lines are not UTF-8.", field="records", remedy="Convert them to UTF-8 first.") from None


async def _import_batch(
    engine: Engine,
    caller: Caller,
    incoming: Sequence[Incoming],
    same_as: dict[UUID, UUID],
    entities: dict[UUID, UUID],
    waiting: Waiting,
    now: datetime,
) -> Imported:
    """Store one batch in one transaction; `same_as` learns which ids stand for memories that were there already.

    So does `entities`, of entities. What binds a memory to one that is still to come waits in `waiting`.
    """
    fresh = await _new_ones(engine, caller, incoming)
    rules = await current_rules(engine, caller.tenant)
    for one in fresh:
        with told_of_line(one.line):
            check_names_kept(one.standing, rules)
    sifted = {one.id: sift(one, rules) for one in fresh}
    kept = [_relinked(one.incoming, same_as) for one in sifted.values() if one.incoming is not None]
    embedded, made_anew = await _embedded(engine, await _counted(engine, kept))
    async with engine.database.transaction(caller.tenant) as transaction:
        if any(one.naming.entities for one in embedded):
            await lock_graph(transaction, caller)
        await lock_chats(transaction, caller, _chats_without_places(embedded))
        await check_successors(transaction, caller, embedded)
        brought = {one.id: one.row.context_embedding for one in embedded}
        rows, following = await with_context_here(
            transaction, caller.tenant, caller.agent, [one.row for one in embedded]
        )
        lost = {row.memory.id for row in rows if row.context_embedding is not brought[row.memory.id]}
        new = await insert(transaction, caller.tenant, engine.facts.text_search_configuration, rows)
        await set_context(transaction, caller.tenant, following)
        stored = [one for one in embedded if one.id in new]
        said = [one.row.memory for one in stored if one.row.memory.kind == "message"]
        standing = {one.id: one.standing for one in stored if one.standing.turns}
        await write_standings(transaction, caller, list(standing.items()), now)
        unplaced = [(one.id, one.chat, one.seq) for one in said if one.id not in standing]
        await note_turns(transaction, replace(caller, branch=None), unplaced)
        await _insert_versions(engine, transaction, caller, stored, lost)
        await _insert_strength(transaction, caller, stored, now)
        existing = await _existing(transaction, caller, [one for one in embedded if one.id not in new], now)
        relinked = await _relink(transaction, caller, existing)
        due = waiting.due([one.id for one in incoming], [tie for one in incoming for tie in one.ties])
        await write_ties(transaction, caller, due, {**same_as, **existing})
        tied = {same_as.get(id_, id_) for tie in due for id_ in (tie.newer, tie.older)}
        await mark_outdated(transaction, caller.tenant, new | relinked | tied)
        await _write_namings(transaction, caller, embedded, existing, entities, rules, now)
        placed = [(one.id, one.row.memory.namespace, one.place) for one in stored if one.place is not None]
        await write_places(transaction, caller, placed, rules, now)
        await write_audit(transaction, caller, "write", _entries(fresh, sifted, new), now)
        await know_tenant(engine, transaction, caller.tenant, now)
        pending = [one.row.memory for one in stored if one.row.embedding is None]
        await enqueue_pending(engine, transaction, caller.tenant, pending)
    same_as.update(existing)
    changed = [sifted[one.id] for one in stored]
    engine.tenants.add(caller.tenant)
    engine.scopes.forget(caller.tenant)
    return Imported(
        imported=len(stored),
        duplicates=len(existing),
        skipped=len(incoming) - len(fresh),
        reembedded=len(made_anew & new),
        redacted=sum(one.redacted for one in changed),
        quarantined=sum(one.quarantined for one in changed),
        dropped=len(fresh) - len(kept),
    )


def _chats_without_places(embedded: Sequence[Incoming]) -> list[str]:
    """The chats in which messages get the next places."""
    messages = [one.row.memory for one in embedded if one.row.memory.kind == "message"]
    return [one.chat for one in messages if one.chat is not None and one.seq is None]


async def _write_namings(
    transaction: Transaction,
    caller: Caller,
    embedded: Sequence[Incoming],
    existing: Mapping[UUID, UUID],
    entities: dict[UUID, UUID],
    rules: RuleBook,
    now: datetime,
) -> None:
    """What the memories of a batch mention, those that proved duplicates too, as far as the rules keep the names."""
    namings = [
        (existing.get(one.id, one.id), naming_kept(one.naming, rules.on(one.row.memory.namespace).personal_data))
        for one in embedded
    ]
    await write_namings(transaction, caller, namings, entities, now)


def _entries(
    incoming: Sequence[Incoming], sifted: Mapping[UUID, Sifted], new: Collection[UUID]
) -> list[tuple[UUID | None, dict[str, Any]]]:
    """The audit of a batch: what was stored or dropped, and which kinds of personal data the rules found."""
    entries: list[tuple[UUID | None, dict[str, Any]]] = []
    for one in incoming:
        done = sifted[one.id]
        outcome = "dropped" if done.incoming is None else "quarantined" if done.quarantined else "imported"
        detail: dict[str, Any] = {"outcome": outcome, "namespace": one.row.memory.namespace}
        if done.kinds:
            detail |= {"personal_data": list(done.kinds), "redacted": done.redacted}
        if done.incoming is None or one.id in new:
            entries.append((None if done.incoming is None else one.id, detail))
    return entries


async def _new_ones(engine: Engine, caller: Caller, incoming: Sequence[Incoming]) -> list[Incoming]:
    """Those whose ids are free. The others are in the store already, word for word, and are left alone.

    Raises:
        Conflict: an id is in use for something else.
        Tombstoned: an id belongs to a memory that was forgotten.
    """
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all(
            "transfer.taken", tenant=caller.tenant, agent=caller.agent, ids=[one.id for one in incoming]
        )
    said = {id_: content_hash if same_agent else b"" for id_, same_agent, _, content_hash in rows}
    forgotten = {id_ for id_, same_agent, tombstoned, _ in rows if same_agent and tombstoned}
    fresh: list[Incoming] = []
    for one in incoming:
        if one.id in forgotten:
            raise Tombstoned(
                f"Line {one.line}: the memory {one.id} was forgotten for good.",
                field="id",
                remedy="Take the line out, or give its content a new id.",
            )
        if one.id not in said:
            said[one.id] = one.row.content_hash
            fresh.append(one)
        elif said[one.id] not in (one.row.content_hash, redacted_hash(one.row)):
            raise Conflict(
                f"Line {one.line}: the id {one.id} is in use for another memory.",
                field="id",
                remedy="Take the line out, or give it a new id.",
            )
    return fresh


def _relinked(one: Incoming, same_as: Mapping[UUID, UUID]) -> Incoming:
    """The same, superseded by the memory that its successor proved a duplicate of."""
    successor = one.row.memory.superseded_by
    if successor is None or successor not in same_as:
        return one
    memory = one.row.memory.model_copy(update={"superseded_by": same_as[successor]})
    return replace(one, row=replace(one.row, memory=memory))


async def _counted(engine: Engine, incoming: Sequence[Incoming]) -> list[Incoming]:
    """The same with the tokens of every image."""
    counts = iter(await counts_of(engine, [row.memory.content for one in incoming for row in one.rows]))
    name = engine.counter.name
    return [one.with_rows([replace(row, tokens=next(counts), counted_by=name) for row in one.rows]) for one in incoming]


async def _embedded(engine: Engine, incoming: Sequence[Incoming]) -> tuple[list[Incoming], set[UUID]]:
    """Vectors of the store's model for the images that brought none, and the memories for which they were made."""
    lacking = {_text(row): None for one in incoming for row in one.rows if row.embedding is None}
    if engine.embedder is None or not lacking:
        return list(incoming), set()
    made = dict(zip(lacking, await engine.embedder.embed(list(lacking)), strict=True))
    done: list[Incoming] = []
    for one in incoming:
        rows = [
            row
            if row.embedding is not None
            else replace(
                row,
                embedding=made[_text(row)],
                context_embedding=None,
                memory=row.memory.model_copy(update={"embedding_pending": False}),
            )
            for row in one.rows
        ]
        done.append(one.with_rows(rows))
    return done, {one.id for one in incoming if one.row.embedding is None}


def _text(row: Row) -> str:
    return embedding_text(row.memory.content, row.memory.speaker)


async def _insert_versions(
    engine: Engine, transaction: Transaction, caller: Caller, stored: Sequence[Incoming], lost: Collection[UUID]
) -> None:
    """Store earlier images; those of memories that `lost` their turn before are not seen in the light of it either."""
    versions = [version for one in stored for version in one.versions]
    if versions:
        rows = [columns_of(version.row) | {"current_until": version.current_until.isoformat()} for version in versions]
        await transaction.run(
            "transfer.insert_versions",
            tenant=caller.tenant,
            configuration=engine.facts.text_search_configuration,
            rows=json.dumps(rows, ensure_ascii=False),
            embeddings=as_halfvecs(version.row.embedding for version in versions),
            context_embeddings=as_halfvecs(
                None if version.row.memory.id in lost else version.row.context_embedding for version in versions
            ),
        )


async def _insert_strength(transaction: Transaction, caller: Caller, stored: Sequence[Incoming], now: datetime) -> None:
    """Each has a row, one that was never accessed or judged too: it says when the memory came here."""
    rows = [{"id": str(one.id)} | one.strength.model_dump(mode="json") for one in stored]
    if rows:
        await transaction.run("transfer.insert_strength", tenant=caller.tenant, rows=json.dumps(rows), now=now)


async def _relink(transaction: Transaction, caller: Caller, existing: Mapping[UUID, UUID]) -> set[UUID]:
    """Point what was superseded by duplicates at what says the same; answers with the ids of all that are concerned."""
    if not existing:
        return set()
    ids, existing_ids = list(existing), list(existing.values())
    rows = await transaction.all("transfer.relink", tenant=caller.tenant, ids=ids, existing_ids=existing_ids)
    return {*existing_ids, *(row[0] for row in rows)}


async def _existing(
    transaction: Transaction, caller: Caller, refused: Sequence[Incoming], now: datetime
) -> dict[UUID, UUID]:
    """For each memory that was not stored, the live one that says the same.

    Raises:
        Conflict: there is none: another writer took the id meanwhile.
    """
    if not refused:
        return {}
    found = await transaction.all(
        "remember.find_duplicates",
        tenant=caller.tenant,
        agent=caller.agent,
        namespaces=[one.row.memory.namespace for one in refused],
        hashes=[one.row.content_hash for one in refused],
        now=now,
    )
    saying = {(row[2], row[3]): row[0] for row in found}
    for one in refused:
        if (one.row.memory.namespace, one.row.content_hash) not in saying:
            raise Conflict(
                f"Line {one.line}: another writer took the id {one.id} meanwhile.", field="id", remedy="Import again."
            )
    return {one.id: saying[one.row.memory.namespace, one.row.content_hash] for one in refused}
