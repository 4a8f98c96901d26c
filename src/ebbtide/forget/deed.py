"""One forgetting: what goes is cleared away, written down in the audit, and proven by receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.forget.receipts import issue, receipt_of
from ebbtide.forget.tombstone import clear
from ebbtide.govern import audit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.evidence import Receipt
    from ebbtide.types import Caller

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
    """Forget memories in a transaction that holds the tenant's forget lock; a receipt each, in the order of their ids.

    `operation` is what the audit calls it. With `remove` not even an emptied row stays.

    Raises:
        Held: a legal hold covers one of them.
    """
    gone = await clear(transaction, caller.tenant, ids, now, remove=remove)
    entries = [(one.id, {"operation": operation, "revision": one.revision}) for one in gone]
    audited = await audit.write(transaction, caller, "delete", entries, now)
    receipts = [receipt_of(one, audit_id, now) for one, audit_id in zip(gone, audited, strict=True)]
    return await issue(transaction, caller.tenant, receipts, now)
