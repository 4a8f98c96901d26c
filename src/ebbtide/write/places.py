"""Where the passages of an import stand: their documents begin here, and the next ingest completes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.govern.personal import redact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller

__all__ = ["Place", "write_places"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands in a document, as `Passage` says it, and what is known of that."""

    document: UUID
    path: str
    title: str
    media: str
    is_file: bool
    created_at: datetime
    position: int
    first: int
    last: int


async def write_places(
    transaction: Transaction, caller: Caller, placed: Sequence[tuple[UUID, str, Place]], rules: RuleBook, now: datetime
) -> None:
    """Say where memories stand that were just stored, each with its namespace, and of which documents.

    One whose path another document of the agent has gets none: its passages stay, and belong to no file.
    """
    rows = [
        {
            "memory": str(id_), "id": str(place.document), "namespace": namespace, "path": place.path,
            "title": _title_kept(place.title, rules.on(namespace).personal_data), "media": place.media,
            "is_file": place.is_file, "created_at": place.created_at.isoformat(), "position": place.position,
            "first": place.first, "last": place.last,
        }
        for id_, namespace, place in placed
    ]  # fmt: skip
    if rows:
        whose = {"tenant": caller.tenant, "agent": caller.agent, "rows": json.dumps(rows)}
        await transaction.run("transfer.insert_documents", **whose, now=now)
        await transaction.run("transfer.insert_places", **whose)


def _title_kept(title: str, mode: str | None) -> str:
    return title if mode in (None, "allow") else redact(title)
