"""Origins: what a memory was made from, so that it goes when its sources are forgotten."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import StaleRevision
from ebbtide.graph.write import lock as lock_graph

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["Origin", "check_sources", "mark_outdated", "note_origins", "write_origins"]

FIELD = "origins"


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources of a memory, each with the revision at which it was read.

    A `whole` memory, such as a summary, says something of each source and goes with any of them; another one, such as
    an extracted fact, is said by each and goes with the last. What was read from a text that is no memory has none.
    """

    sources: Mapping[UUID, int]
    whole: bool = False


async def check_sources(transaction: Transaction, caller: Caller, origins: Sequence[Origin | None]) -> None:
    """Make sure that every source still says what was read of it, and does until the transaction ends.

    Who forgets or revises a memory has locks that this waits for, before it locks anything else: call it first.

    Raises:
        StaleRevision: one was changed or forgotten since; nothing may be made from what it said.
    """
    read = {id_: revision for origin in origins if origin is not None for id_, revision in origin.sources.items()}
    if not read:
        return
    await transaction.run("forget.lock_shared", tenant=caller.tenant)
    await lock_graph(transaction, caller)
    rows = await transaction.all("origin.read_sources", tenant=caller.tenant, agent=caller.agent, ids=list(read))
    current = dict(rows)
    stale = next((id_ for id_, revision in read.items() if current.get(id_) != revision), None)
    if stale is not None:
        raise StaleRevision(
            f"The memory {stale} was changed or forgotten while something was made from it.",
            field=FIELD,
            remedy="Read again what is left, and derive anew what you still want to write.",
        )


async def note_origins(
    transaction: Transaction,
    caller: Caller,
    origins: Sequence[Origin | None],
    memories: Sequence[UUID],
    new: set[UUID],
    now: datetime,
) -> None:
    """Write down what the memories of a write were made from; those said without an origin stand for themselves."""
    made = [(id_, origin) for id_, origin in zip(memories, origins, strict=True) if origin and origin.sources]
    said = {id_ for id_, origin in zip(memories, origins, strict=True) if not (origin and origin.sources)} - new
    left: set[UUID] = set()
    if said:
        rows = await transaction.all("origin.stand_alone", tenant=caller.tenant, ids=sorted(said))
        left = {row[0] for row in rows}
    await write_origins(transaction, caller.tenant, made, new, now)
    if left or made:
        await mark_outdated(transaction, caller.tenant, [id_ for id_, _ in made], sources=left)


async def write_origins(
    transaction: Transaction, tenant: str, made: Sequence[tuple[UUID, Origin]], new: set[UUID], now: datetime
) -> None:
    """Say what memories were made from. One that is not among the `new` and stood for itself goes on to."""
    rows = [(id_, source, origin.whole) for id_, origin in made for source in origin.sources]
    if rows:
        await transaction.run(
            "origin.write",
            tenant=tenant,
            memories=[id_ for id_, _, _ in rows],
            sources=[source for _, source, _ in rows],
            wholes=[whole for _, _, whole in rows],
            new=sorted(new),
            now=now,
        )


async def mark_outdated(
    transaction: Transaction, tenant: str, facts: Collection[UUID], *, sources: Collection[UUID] = ()
) -> None:
    """Mark what the facts were extracted from, and the `sources`, as outdated where no fact of theirs holds any more.

    That is so since the last of them ceased to, of those that are not forgotten; a fact that was merged into another
    holds as long as that one. Call it once the facts and their origins are as they shall be. The sources are locked
    first, so that of two writers that end the last two facts of one, the second sees what the first did.
    """
    if not (facts or sources):
        return
    locked = await transaction.all("origin.lock_told", tenant=tenant, ids=list(facts), sources=list(sources))
    if locked:
        await transaction.run("origin.mark_outdated", tenant=tenant, sources=[row[0] for row in locked])
