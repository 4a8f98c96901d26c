"""What goes along with a forgotten memory: what was made from it, what was made from that, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ebbtide.db.database import Transaction

__all__ = ["going_along", "roots"]


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


def roots(along: Mapping[UUID, UUID], some: Collection[UUID]) -> dict[UUID, UUID]:
    """For some memories of those that go, themselves or along: which of the memories asked for they go with."""
    found: dict[UUID, UUID] = {}
    for id_ in some:
        root = id_
        while root in along:
            root = along[root]
        found[id_] = root
    return found
