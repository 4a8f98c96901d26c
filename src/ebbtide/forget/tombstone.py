"""What goes with memories in one transaction, and the tombstones that are left of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.forget.holds import refuse_held
from ebbtide.write.context import in_context, set_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction

__all__ = ["Gone", "clear", "lock"]


@dataclass(frozen=True, slots=True)
class Gone:
    """A memory that went: whose it was, its tombstone's revision, the hash of what it said, and what went with it."""

    id: UUID
    agent: str
    revision: int
    content_hash: bytes
    cleaned: Mapping[str, int]


async def lock(transaction: Transaction, tenant: str) -> None:
    """Let one forgetting at a time into a tenant, before any memory is locked."""
    await transaction.run("forget.lock", tenant=tenant)


async def clear(
    transaction: Transaction, tenant: str, ids: Sequence[UUID], now: datetime, *, remove: bool = False
) -> list[Gone]:
    """Clear away memories and everything made from them; in their places stay tombstones, or with `remove` none.

    Those that are forgotten already are left out of the answer. The caller has called `lock` before.

    Raises:
        Held: a legal hold covers one of them; nothing was done.
    """
    rows = await transaction.named("forget.doomed", tenant=tenant, ids=list(ids))
    going = [row.id for row in rows]
    await refuse_held(transaction, tenant, going, now)
    if going:
        heirs = dict(await transaction.all("forget.heirs", tenant=tenant, ids=going))
        cleaned = await _clean_derived(transaction, tenant, going)
        await _clear_rows(transaction, tenant, rows, now, remove=remove)
        await transaction.run("forget.relink", tenant=tenant, gone=list(heirs), heirs=list(heirs.values()))
        await transaction.run("forget.relink_versions", tenant=tenant, gone=list(heirs), heirs=list(heirs.values()))
        await _refresh_turns(transaction, tenant, rows)
        await _fence_sessions(transaction, tenant, rows, now)
    else:
        cleaned = {}
    if remove:
        await transaction.run("forget.remove", tenant=tenant, ids=list(ids))
    return [
        Gone(row.id, row.agent, row.revision + 1, bytes(row.content_hash), dict(cleaned.get(row.id, {})))
        for row in rows
    ]


async def _clean_derived(transaction: Transaction, tenant: str, ids: Sequence[UUID]) -> dict[UUID, Counter[str]]:
    """Everything that was made from memories goes; answers with how many rows went from which place, by memory."""
    cleaned: dict[UUID, Counter[str]] = defaultdict(Counter)
    for place, id_, count in await transaction.all("forget.clean", tenant=tenant, ids=ids):
        cleaned[id_][place] += count
    for id_, count in await transaction.all("forget.drop_relations", tenant=tenant, ids=ids):
        cleaned[id_]["relations"] += count
    mentions = await transaction.all("forget.drop_mentions", tenant=tenant, ids=ids)
    for id_, _ in mentions:
        cleaned[id_]["mentions"] += 1
    if mentions:
        mentioned = {entity: id_ for id_, entity in mentions}
        for (entity,) in await transaction.all("forget.drop_entities", tenant=tenant, entities=list(mentioned)):
            cleaned[mentioned[entity]]["entities"] += 1
    return cleaned


async def _clear_rows(
    transaction: Transaction, tenant: str, rows: Sequence[Any], now: datetime, *, remove: bool
) -> None:
    ids = [row.id for row in rows]
    await transaction.run(
        "forget.keep_tombstones", tenant=tenant, ids=ids, revisions=[row.revision + 1 for row in rows], now=now
    )
    if remove:
        await transaction.run("forget.remove", tenant=tenant, ids=ids)
    else:
        await transaction.run("forget.bury", tenant=tenant, ids=ids, now=now)


async def _refresh_turns(transaction: Transaction, tenant: str, rows: Sequence[Any]) -> None:
    """Make anew the context vectors of the turns after those that went: nothing of these stays in them."""
    turns = [row for row in rows if row.chat is not None and row.sequence is not None]
    if not turns:
        return
    following = await transaction.all(
        "forget.turns_after",
        tenant=tenant,
        agents=[row.agent for row in turns],
        chats=[row.chat for row in turns],
        sequences=[row.sequence for row in turns],
    )
    vectors = {
        id_: None if before is None else in_context(vector.to_numpy(), before.to_numpy())
        for id_, vector, before in following
    }
    await set_context(transaction, tenant, vectors)


async def _fence_sessions(transaction: Transaction, tenant: str, rows: Sequence[Any], now: datetime) -> None:
    sessions = {row.session: row for row in rows if row.session is not None}
    if sessions:
        await transaction.run(
            "forget.fence_sessions",
            tenant=tenant,
            sessions=list(sessions),
            agents=[row.agent for row in sessions.values()],
            users=[row.user for row in sessions.values()],
            now=now,
        )
