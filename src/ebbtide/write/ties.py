"""What binds two memories, as an import brings it: conflicts, open and settled, near duplicates, and origins."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["Tie", "Waiting", "write_ties"]


@dataclass(frozen=True, slots=True)
class Tie:
    """A memory's bond to an earlier one: a conflict, which has an id and a reason, an origin, or else a near duplicate.

    `whole` is None where the older one is no source of the newer.
    """

    newer: UUID
    older: UUID
    created_at: datetime
    id: UUID | None = None
    reason: str = ""
    resolution: str | None = None
    resolved_at: datetime | None = None
    whole: bool | None = None


@dataclass(slots=True)
class Waiting:
    """The ties whose other side has not come yet, by its id, and the ids that have."""

    seen: set[UUID] = field(default_factory=set[UUID])
    ties: dict[UUID, list[Tie]] = field(default_factory=lambda: defaultdict(list))

    def due(self, ids: Iterable[UUID], ties: Sequence[Tie]) -> list[Tie]:
        """The ties that may be written once a batch with these ids and ties is stored; the others wait."""
        arrived = list(ids)
        self.seen.update(arrived)
        due = [*ties, *(tie for id_ in arrived for tie in self.ties.pop(id_, ()))]
        for tie in ties:
            if tie.older not in self.seen:
                self.ties[tie.older].append(tie)
        return due


async def write_ties(
    transaction: Transaction, caller: Caller, ties: Sequence[Tie], same_as: Mapping[UUID, UUID]
) -> None:
    """Write ties whose two sides are there, in one namespace of the agent; those that are known are left alone.

    `same_as` says which ids stand for memories that were there already.
    """
    pairs = [(same_as.get(tie.newer, tie.newer), same_as.get(tie.older, tie.older), tie) for tie in ties]
    conflicts = [(newer, older, tie) for newer, older, tie in pairs if tie.id is not None and newer != older]
    if conflicts:
        await transaction.run(
            "transfer.insert_conflicts",
            tenant=caller.tenant,
            agent=caller.agent,
            ids=[tie.id for _, _, tie in conflicts],
            newer=[newer for newer, _, _ in conflicts],
            older=[older for _, older, _ in conflicts],
            reasons=[tie.reason for _, _, tie in conflicts],
            resolutions=[tie.resolution for _, _, tie in conflicts],
            created=[tie.created_at for _, _, tie in conflicts],
            resolved=[tie.resolved_at for _, _, tie in conflicts],
        )
    await _write_sources(
        transaction, caller, [pair for pair in pairs if pair[2].whole is not None and pair[2].newer not in same_as]
    )
    links = [
        (newer, older, tie) for newer, older, tie in pairs if tie.id is None and tie.whole is None and newer != older
    ]
    if links:
        await transaction.run(
            "transfer.insert_links",
            tenant=caller.tenant,
            agent=caller.agent,
            newer=[newer for newer, _, _ in links],
            older=[older for _, older, _ in links],
            created=[tie.created_at for _, _, tie in links],
        )


async def _write_sources(transaction: Transaction, caller: Caller, origins: Sequence[tuple[UUID, UUID, Tie]]) -> None:
    """Say what memories were made from. One that was there already rests on what it did before."""
    if origins:
        await transaction.run(
            "transfer.insert_origins",
            tenant=caller.tenant,
            agent=caller.agent,
            memories=[memory for memory, _, _ in origins],
            sources=[source for _, source, _ in origins],
            wholes=[tie.whole for _, _, tie in origins],
            created=[tie.created_at for _, _, tie in origins],
        )
