"""The claim on a document: its passages are written by whoever holds it, and by nobody once it was forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import StaleRevision

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["Claim", "hold_claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that is being read. A `new` one gets its row with its first passages: none is ever without."""

    id: UUID
    token: UUID
    namespace: str
    path: str
    media: str
    is_file: bool
    now: datetime
    new: bool


async def hold_claim(transaction: Transaction, caller: Caller, claim: Claim) -> None:
    """Make sure that the document is still the claim's, and stays so until the transaction ends.

    Raises:
        StaleRevision: it was forgotten since; nothing of it may be written any more.
    """
    whose = {"tenant": caller.tenant, "id": claim.id, "claim": claim.token}
    if claim.new:
        row = await transaction.one(
            "document.create", **whose, agent=caller.agent, namespace=claim.namespace, path=claim.path,
            media=claim.media, is_file=claim.is_file, now=claim.now,
        )  # fmt: skip
    else:
        row = await transaction.one("document.claimed", **whose)
    if row is None:
        raise StaleRevision(
            "The document was forgotten while it was read.",
            field="document",
            remedy="Ingest it again, if it shall be remembered after all.",
        )
