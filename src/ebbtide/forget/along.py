"""What goes along with a forgotten memory: what was made from it, what was made from that, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.forget.holds import refuse_held
from ebbtide.read.seen import hidden_among

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["derived_seen", "going_along", "refuse_held_along", "roots"]


async def going_along(transaction: Transaction, tenant: str, ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """The memories that go with others, each with one that it was made from; none of the others is among them."""
    going = set(ids)
    along: dict[UUID, UUID] = {}
    last = list(going)
    while last:
        rows = await transaction.all("origin.resting", tenant=tenant, last=last, going=list(going))
        last = [id_ for id_, _ in rows]
        along.update(rows)
        going.update(last)
    return along


async def derived_seen(
    transaction: Transaction, caller: Caller, ids: Sequence[UUID]
) -> tuple[tuple[UUID, ...], set[UUID]]:
    """The memories that go with some, as far as the caller may see them, and those that it may not."""
    along = await going_along(transaction, caller.tenant, ids)
    hidden = await hidden_among(transaction, caller, along)
    return tuple(sorted(along.keys() - hidden)), hidden


async def refuse_held_along(transaction: Transaction, tenant: str, ids: Sequence[UUID], now: datetime) -> None:
    """Refuse to go on where a hold covers one of the memories, or one that goes with them.

    Raises:
        Held: naming a hold, never its reason.
    """
    await refuse_held(transaction, tenant, [*ids, *await going_along(transaction, tenant, ids)], now)


def roots(along: Mapping[UUID, UUID], some: Collection[UUID]) -> dict[UUID, UUID]:
    """For some memories of those that go, themselves or along: which of the memories asked for they go with."""
    found: dict[UUID, UUID] = {}
    for id_ in some:
        root = id_
        while root in along:
            root = along[root]
        found[id_] = root
    return found
