"""Entities by their names, for whoever reads: many names in one statement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.graph.names import name_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["Found", "find"]


@dataclass(frozen=True, slots=True)
class Found:
    """An entity that a name means: the place of that name among those asked for, and whether it is its own name."""

    place: int
    id: UUID
    type: str
    name: str
    own: bool


async def find(transaction: Transaction, caller: Caller, names: Sequence[str]) -> list[Found]:
    """The agent's entities of these very names or aliases, case and accents folded; in the order of the names.

    Which of them the caller may see, the memories that mention them say.
    """
    if not names:
        return []
    hashes = [name_hash(name) for name in names]
    rows = await transaction.all(
        "graph.find", tenant=caller.tenant, agent=caller.agent, hashes=list(dict.fromkeys(hashes))
    )
    by_hash: dict[bytes, list[tuple[UUID, str, str, bool]]] = defaultdict(list)
    for digest, id_, type_, name, own in rows:
        by_hash[bytes(digest)].append((id_, type_, name, own))
    return [Found(place, *one) for place, digest in enumerate(hashes) for one in by_hash.get(digest, ())]
