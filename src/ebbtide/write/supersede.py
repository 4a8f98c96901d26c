"""Links memories to what replaces them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import Conflict, NotFound
from ebbtide.govern.access import check_changeable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.write.validate import Checked

__all__ = ["Head", "Successor", "heads_of", "supersede"]


@dataclass(frozen=True, slots=True)
class Head:
    """The live end of a chain of successors: what a correction of any of them really replaces."""

    id: UUID
    importance: float


@dataclass(frozen=True, slots=True)
class Successor:
    """One link: what was, what replaces it, from when on, and how sure that is where the texts alone tell it."""

    old_id: UUID
    new_id: UUID
    starts_at: datetime
    confidence: float | None = None


async def heads_of(transaction: Transaction, caller: Caller, drafts: Sequence[Checked]) -> dict[UUID, Head]:
    """For each id that a draft supersedes, the memory that holds in its place now.

    Raises:
        NotFound: the agent has no such memory.
        Forbidden: the policy does not let the caller change it.
    """
    asked = sorted({draft.supersedes for draft in drafts if draft.supersedes is not None})
    if not asked:
        return {}
    rows = await transaction.all("remember.heads", tenant=caller.tenant, agent=caller.agent, ids=asked)
    heads = {row[0]: Head(row[1], row[2]) for row in rows}
    missing = next((id_ for id_ in asked if id_ not in heads), None)
    if missing is not None:
        raise _missing(missing)
    for row in rows:
        check_changeable(caller, row[6], _missing(row[0]))
    return heads


def _missing(id_: UUID) -> NotFound:
    return NotFound(
        f"There is no memory {id_} to supersede.",
        field="supersedes",
        remedy="Check the id and the agent, or leave supersedes out.",
    )


async def supersede(transaction: Transaction, tenant: str, links: Sequence[Successor], now: datetime) -> None:
    """Keep the old images, then point them at their successors.

    Raises:
        Conflict: another writer superseded or forgot one of them meanwhile.
    """
    if not links:
        return
    ordered = sorted(links, key=lambda link: link.old_id)
    ids = [link.old_id for link in ordered]
    await transaction.run("remember.lock", tenant=tenant, ids=ids)
    await transaction.run("remember.keep_version", tenant=tenant, ids=ids, now=now)
    changed = await transaction.all(
        "remember.supersede",
        tenant=tenant,
        old_ids=ids,
        new_ids=[link.new_id for link in ordered],
        starts=[link.starts_at for link in ordered],
        now=now,
    )
    if len(changed) != len(ids):
        raise Conflict("Another writer superseded the same memory at the same moment.", remedy="Try again.")
