"""Rows: a memory with what the store keeps beside it for searching, and its way into the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.db.vectors import as_halfvecs
from ebbtide.identifiers import document_of, new_id
from ebbtide.text import content_hash, search_text
from ebbtide.types.base import trusted
from ebbtide.types.memory import Memory
from ebbtide.write.validate import DEFAULT_KIND, Checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["Row", "columns_of", "from_draft", "insert", "memory_of", "place_in_chat"]

ROWS_A_STATEMENT = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One memory as it is stored. The vectors have norm 1; None where there is none (yet).

    `current_since` is when its revision began, None for the time it was last written. `tokens` is the length of the
    content by the counter named `counted_by`; None where nobody counted.
    """

    memory: Memory
    content_hash: bytes
    embedding: NDArray[np.float32] | None = None
    context_embedding: NDArray[np.float32] | None = None
    personal_data: tuple[str, ...] = ()
    current_since: datetime | None = None
    deleted_at: datetime | None = None
    tokens: int | None = None
    counted_by: str | None = None

    @classmethod
    def of(
        cls, memory: Memory, embedding: NDArray[np.float32] | None = None, context: NDArray[np.float32] | None = None
    ) -> Row:
        """The row of a memory; two turns of a chat are the same statement only at the same place."""
        digest = content_hash(
            memory.content,
            memory.chat,
            place_in_chat(memory.kind, memory.metadata, memory.seq),
            document_of(memory.source),
        )
        return cls(memory, digest, embedding, context)


def place_in_chat(kind: str | None, metadata: Mapping[str, Any], sequence: int | None) -> int | str | None:
    """What tells two equal statements of a chat apart: the place of a turn, the branch of a summary."""
    branch = metadata.get("branch") if kind == "episode" else None
    return branch if isinstance(branch, str) else sequence


def from_draft(
    draft: Checked,
    caller: Caller,
    *,
    now: datetime,
    pending: bool,
    importance_floor: float = 0.0,
    status: str = "active",
) -> Memory:
    """The memory a checked draft becomes. A successor inherits at least the importance of what it replaces."""
    return trusted(
        Memory,
        id=new_id(now),
        content=draft.content,
        namespace=draft.namespace,
        kind=draft.kind or DEFAULT_KIND,
        agent=caller.agent,
        user=caller.user,
        task=caller.task,
        chat=caller.chat,
        session=caller.session,
        seq=draft.seq,
        speaker=draft.speaker,
        labels=draft.labels,
        tags=draft.tags,
        metadata=draft.metadata,
        source=None if draft.document is None else str(draft.document),
        subject=draft.subject,
        predicate=draft.predicate,
        importance=max(draft.importance, importance_floor),
        confidence=draft.confidence,
        usefulness=0.5,
        status=status,
        maturity="unconfirmed",
        confirmed_at=None,
        revision=1,
        superseded_by=None,
        created_at=now,
        updated_at=now,
        last_mentioned_at=None,
        observed_at=draft.observed_at,
        valid_from=draft.valid_from if draft.supersedes is None else starts_at(draft, now),
        invalidated_at=None,
        expires_at=draft.expires_at,
        access_count=0,
        last_accessed_at=None,
        embedding_pending=pending,
    )


def starts_at(draft: Checked, now: datetime) -> datetime:
    """Since when a correction holds, which is also until when what it corrects did."""
    return draft.valid_from or draft.observed_at or now


# `memory_row` in memory.sql gives the columns in this order.
COLUMNS = tuple(Memory.model_fields)


def memory_of(row: Sequence[Any]) -> Memory:
    """The memory in one row of the `memory_row` columns, in their order."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["labels"], values["tags"] = tuple(values["labels"]), tuple(values["tags"])
    values["metadata"] = values["metadata"] or {}
    return trusted(Memory, **values)


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def columns_of(row: Row) -> dict[str, Any]:
    """The columns of a row as JSON, save its vectors; `search_text` is what its words are read from."""
    memory = row.memory
    return {
        "id": str(memory.id),
        "agent_id": memory.agent,
        "namespace": memory.namespace,
        "user_id": memory.user,
        "task_id": memory.task,
        "chat_id": memory.chat,
        "session_id": memory.session,
        "sequence": memory.seq,
        "speaker": memory.speaker,
        "kind": memory.kind,
        "content": memory.content,
        "content_hash": row.content_hash.hex(),
        "search_text": search_text(memory.content, speaker=memory.speaker, observed_at=memory.observed_at),
        "embedding_pending": memory.embedding_pending,
        "labels": memory.labels,
        "tags": memory.tags,
        "metadata": memory.metadata,
        "source": memory.source,
        "subject": memory.subject,
        "predicate": memory.predicate,
        "personal_data": row.personal_data,
        "tokens": row.tokens,
        "counted_by": row.counted_by,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "status": memory.status,
        "maturity": memory.maturity,
        "confirmed_at": _moment(memory.confirmed_at),
        "revision": memory.revision,
        "superseded_by": None if memory.superseded_by is None else str(memory.superseded_by),
        "created_at": _moment(memory.created_at),
        "updated_at": _moment(memory.updated_at),
        "last_mentioned_at": _moment(memory.last_mentioned_at),
        "observed_at": _moment(memory.observed_at),
        "valid_from": _moment(memory.valid_from),
        "invalidated_at": _moment(memory.invalidated_at),
        "expires_at": _moment(memory.expires_at),
        "deleted_at": _moment(row.deleted_at),
        "current_since": _moment(
            row.current_since or (memory.updated_at if memory.revision > 1 else memory.created_at)
        ),
    }


async def insert(transaction: Transaction, tenant: str, configuration: str, rows: Sequence[Row]) -> set[UUID]:
    """Store rows in the order of their namespace and hash, and answer with the ids that were new.

    The order is the same for every writer, so two of them wait for each other in one direction only.
    """
    ordered = sorted(rows, key=lambda row: (row.memory.namespace, row.content_hash))
    new = set[UUID]()
    for start in range(0, len(ordered), ROWS_A_STATEMENT):
        part = ordered[start : start + ROWS_A_STATEMENT]
        cursor = await transaction.run(
            "remember.insert",
            tenant=tenant,
            configuration=configuration,
            rows=json.dumps([columns_of(row) for row in part], ensure_ascii=False),
            embeddings=as_halfvecs(row.embedding for row in part),
            context_embeddings=as_halfvecs(row.context_embedding for row in part),
        )
        new.update(row[0] for row in await cursor.fetchall())
    return new
