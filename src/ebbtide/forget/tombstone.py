"""What goes with memories in one transaction, and the tombstones that are left of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.forget.holds import refuse_held
from ebbtide.graph.revise import drop_unspoken
from ebbtide.identifiers import document_of
from ebbtide.write.context import in_context, refresh_around, set_context
from ebbtide.write.origins import mark_outdated

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
    cleaned = defaultdict[UUID, Counter[str]](Counter)
    told: set[UUID] = set()
    left: list[UUID] = []
    if going:
        told = {row[0] for row in await transaction.all("origin.lock_told", tenant=tenant, ids=going, sources=[])}
        left = [id_ for (id_,) in await transaction.all("forget.left_over", tenant=tenant, ids=going)]
        await transaction.run("forget.take_back", tenant=tenant, ids=going)
        cleaned = await _clean_derived(transaction, tenant, going)
    await transaction.run("forget.remove" if remove else "forget.bury", tenant=tenant, ids=list(ids), now=now)
    if going:
        await _drop_documents(transaction, tenant, rows, cleaned)
        heirs = heirs_of({row.id: row.superseded_by for row in rows})
        await transaction.run("remember.keep_version", tenant=tenant, ids=left, now=now)
        orphans = await transaction.all("forget.relink", tenant=tenant, gone=list(heirs), heirs=list(heirs.values()))
        await transaction.run("forget.revive", tenant=tenant, ids=left, now=now)
        await mark_outdated(transaction, tenant, [id_ for id_, _ in orphans], sources=told.difference(going))
        await refresh_around(transaction, tenant, [id_ for id_, status in orphans if status == "archived"])
        await _refresh_turns(transaction, tenant, rows)
        await _fence_sessions(transaction, tenant, rows, now)
    return [
        Gone(row.id, row.agent, row.revision + 1, bytes(row.content_hash), dict(cleaned.get(row.id, {})))
        for row in rows
    ]


def heirs_of(successors: Mapping[UUID, UUID | None]) -> dict[UUID, UUID | None]:
    """For memories that go, each with its successor, what replaced each and stays; None where nothing does."""
    heirs: dict[UUID, UUID | None] = {}
    for gone, heir in successors.items():
        passed = {gone}
        # A circle of successors, which nothing should have made, has no end to find.
        while heir is not None and heir in successors and heir not in passed:
            passed.add(heir)
            heir = successors[heir]
        heirs[gone] = None if heir in passed else heir
    return heirs


async def _clean_derived(transaction: Transaction, tenant: str, ids: Sequence[UUID]) -> dict[UUID, Counter[str]]:
    """Everything that was made from memories goes; answers with how many rows went from which place, by memory."""
    cleaned: dict[UUID, Counter[str]] = defaultdict(Counter)
    mentioned: dict[UUID, UUID] = {}
    names: dict[UUID, UUID] = {}
    for place, id_, count, beside in await transaction.all("forget.clean", tenant=tenant, ids=ids):
        cleaned[id_][place] += count
        if place == "names":
            names |= dict.fromkeys(beside, id_)
        for entity in cast("Sequence[UUID]", beside or ()) if place == "mentions" else ():
            mentioned[entity] = id_
    for memory in await drop_unspoken(transaction, tenant, names, mentioned):
        cleaned[memory]["entities"] += 1
    await _clean_turns(transaction, tenant, ids, cleaned)
    return cleaned


async def _drop_documents(
    transaction: Transaction, tenant: str, rows: Sequence[Any], cleaned: dict[UUID, Counter[str]]
) -> None:
    """A document goes with the last of its passages, and its title with the last of those that say it."""
    sources = {document: row.id for row in rows if (document := document_of(row.source)) is not None}
    if sources:
        await transaction.run("forget.retitle_documents", tenant=tenant, documents=list(sources))
        for (id_,) in await transaction.all("forget.drop_documents", tenant=tenant, documents=list(sources)):
            cleaned[sources[id_]]["documents"] += 1


async def _clean_turns(
    transaction: Transaction, tenant: str, ids: Sequence[UUID], cleaned: Mapping[UUID, Counter[str]]
) -> None:
    """Memories are no turns any more, and branches go that have no turn left and that none goes on from."""
    emptied: set[tuple[str, str, str]] = set()
    for id_, *branch in await transaction.all("forget.clean_turns", tenant=tenant, ids=ids):
        cleaned[id_]["turns"] += 1
        emptied.add(cast("tuple[str, str, str]", tuple(branch)))
    while emptied:
        agents, chats, names = zip(*sorted(emptied), strict=True)
        rows = await transaction.all(
            "forget.drop_branches", tenant=tenant, agents=list(agents), chats=list(chats), names=list(names)
        )
        emptied = {(agent, chat, parent) for agent, chat, parent in rows}


async def _refresh_turns(transaction: Transaction, tenant: str, rows: Sequence[Any]) -> None:
    """Make anew the context vectors of the turns after those that went: nothing of these stays in them."""
    turns = [row for row in rows if row.chat is not None and row.sequence is not None]
    if not turns:
        return
    places = {
        "agents": [row.agent for row in turns],
        "chats": [row.chat for row in turns],
        "sequences": [row.sequence for row in turns],
    }
    await transaction.run("forget.clear_past_context", tenant=tenant, **places)
    following = await transaction.all("forget.turns_after", tenant=tenant, **places)
    vectors = {
        id_: None if before is None else in_context(vector.to_numpy(), before.to_numpy())
        for id_, vector, before in following
    }
    await set_context(transaction, tenant, vectors)


async def _fence_sessions(transaction: Transaction, tenant: str, rows: Sequence[Any], now: datetime) -> None:
    sessions = {(row.agent, row.session): row for row in rows if row.session is not None}
    if sessions:
        await transaction.run(
            "forget.fence_sessions",
            tenant=tenant,
            agents=[agent for agent, _ in sessions],
            sessions=[session for _, session in sessions],
            users=[row.user for row in sessions.values()],
            now=now,
        )
