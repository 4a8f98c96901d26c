"""Exact duplicates: the same text, in the same namespace of the same agent, is one memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import Conflict
from ebbtide.types.memory import Remembered
from ebbtide.write.context import refresh_around
from ebbtide.write.rows import memory_of
from ebbtide.write.turns import hash_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory
    from ebbtide.write.batch import Batch
    from ebbtide.write.origins import Origin
    from ebbtide.write.rows import Row
    from ebbtide.write.validate import Checked

__all__ = ["archive_ended", "find_duplicates", "known_duplicates", "mention_duplicates", "read_before"]

SPAN = "span"


async def known_duplicates(
    transaction: Transaction, caller: Caller, batch: Batch, now: datetime
) -> set[tuple[str, bytes]]:
    """Namespace and hash of the drafts that live memories say already, so that they are not embedded for nothing."""
    if not batch.drafts:
        return set()
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


async def read_before(
    engine: Engine, caller: Caller, drafts: Sequence[Checked], origins: Sequence[Origin | None]
) -> dict[int, Remembered]:
    """The answers to facts that were read at the same place of the same text before and were replaced since, by place.

    What somebody says anew may hold again; what is only read again does not.
    """
    read = [
        place
        for place, (draft, origin) in enumerate(zip(drafts, origins, strict=False))
        if origin is not None and SPAN in draft.metadata and draft.subject is not None
    ]
    if not read:
        return {}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all(
            "remember.read_before",
            tenant=caller.tenant,
            agent=caller.agent,
            places=read,
            namespaces=[drafts[place].namespace for place in read],
            subjects=[drafts[place].subject for place in read],
            hashes=[hash_of(drafts[place], caller) for place in read],
            spans=[json.dumps(drafts[place].metadata[SPAN]) for place in read],
            moments=[drafts[place].observed_at for place in read],
        )
        ids = sorted({id_ for _, id_ in rows})
        found = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids)
    memories = {memory.id: memory for memory in map(memory_of, found)}
    return {place: Remembered(outcome="duplicate", memory=memories[id_]) for place, id_ in rows}


async def archive_ended(transaction: Transaction, caller: Caller, batch: Batch, now: datetime) -> None:
    """Saying a thing again after it has run out makes a new memory; the old one steps aside."""
    ended = sorted(row[0] for row in await find_duplicates(transaction, caller, batch, now) if row[4])
    if ended:
        await transaction.run("remember.keep_version", tenant=caller.tenant, ids=ended, now=now)
        await transaction.run("remember.archive_ended", tenant=caller.tenant, ids=ended, now=now)
        await refresh_around(transaction, caller.tenant, ended)


async def mention_duplicates(
    transaction: Transaction,
    caller: Caller,
    batch: Batch,
    rows: Sequence[Row],
    new: set[UUID],
    now: datetime,
    *,
    changing: Collection[UUID],
) -> dict[tuple[str, bytes], Memory]:
    """The memories that drafts repeat, by namespace and hash: those of the batch itself, and stored ones, freshened.

    What the batch goes on to supersede, `changing`, is locked along with them: were it locked afterwards, a batch that
    repeats what this one supersedes, and supersedes what this one repeats, would wait for it for ever.

    Raises:
        Conflict: a stored one went away, or changed, since it was found.
    """
    own = {(row.memory.namespace, row.content_hash): row.memory for row in rows if row.memory.id in new}
    repeated = {key for key in batch.identities() if key not in own}
    if not repeated:
        return own
    found = {
        key: row[0] for row in await find_duplicates(transaction, caller, batch, now) if (key := row[2:4]) in repeated
    }
    if len(found) < len(repeated):
        raise Conflict("A memory that was about to be repeated went away.", remedy="Try again.")
    ids = sorted(set(found.values()))
    await transaction.run("remember.lock", tenant=caller.tenant, ids=sorted({*ids, *changing}))
    await transaction.run("remember.mention", tenant=caller.tenant, ids=ids, now=now)
    read = map(memory_of, await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids))
    live = {memory.id: memory for memory in read if memory.status == "active" and memory.superseded_by is None}
    if any(id_ not in live for id_ in ids):
        raise Conflict("A memory that was about to be repeated changed.", remedy="Try again.")
    return own | {key: live[id_] for key, id_ in found.items()}
