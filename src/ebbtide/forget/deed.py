"""One forgetting: what goes is cleared away, written down in the audit, and proven by receipts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.forget.along import going_along, roots
from ebbtide.forget.receipts import issue, receipt_of
from ebbtide.forget.tombstone import Gone, clear
from ebbtide.govern import audit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.types.evidence import Receipt

__all__ = ["forget_all"]


async def forget_all(
    transaction: Transaction,
    caller: Caller,
    ids: Sequence[UUID],
    now: datetime,
    *,
    operation: str,
    remove: bool = False,
) -> list[Receipt]:
    """Forget memories, and those that were made from them, in a transaction that holds the tenant's forget lock.

    Answers with a receipt each, in the order of their ids. `operation` is what the audit calls it. With `remove` not
    even an emptied row stays.

    Raises:
        Held: a legal hold covers one of them.
    """
    along = await going_along(transaction, caller.tenant, ids)
    gone = await clear(transaction, caller.tenant, [*ids, *along], now, remove=remove)
    gone = with_derived(gone, roots(along, along))
    entries = [
        (one.id, {"operation": operation, "revision": one.revision} | ({"derived": True} if one.id in along else {}))
        for one in gone
    ]
    audited = await audit.write(transaction, caller, "delete", entries, now)
    receipts = [receipt_of(one, audit_id, now) for one, audit_id in zip(gone, audited, strict=True)]
    return await issue(transaction, caller.tenant, receipts, now)


def with_derived(gone: Sequence[Gone], went_with: Mapping[UUID, UUID]) -> list[Gone]:
    """The same, where each of the memories asked for says how many went with it."""
    counts = Counter(went_with.values())
    return [
        replace(one, cleaned={**one.cleaned, "derived memories": counts[one.id]}) if one.id in counts else one
        for one in gone
    ]
