"""Keys that make a retry return the first answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ebbtide.errors import Conflict, IdempotencyMismatch, InvalidInput
from ebbtide.types.memory import Remembered
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.write.validate import Checked

__all__ = ["body_hash", "keep_answers", "replay"]


def body_hash(draft: Checked, caller: Caller) -> bytes:
    """What must be the same when an idempotency key is used again: the draft, and where and for whom it was said."""
    body = {
        name: getattr(draft, name)
        for name in draft.__slots__
        if name not in ("vector", "expires_at", "warnings", "idempotency_key")
    }
    body["place"] = (caller.user, caller.task, caller.chat, caller.session)
    body["vector"] = None if draft.vector is None else draft.vector.tobytes().hex()
    return hashlib.sha256(json.dumps(body, default=str, sort_keys=True).encode()).digest()


def key_of(caller: Caller, key: str) -> str:
    """What a key is stored by: a policed caller's is its own, so that it learns of no other's by a refusal."""
    if caller.access is None:
        return key
    whose = json.dumps([key, caller.user, caller.task])
    return f"policed {hashlib.sha256(whose.encode()).hexdigest()}"


async def replay(engine: Engine, caller: Caller, checked: Sequence[Checked]) -> dict[int, Remembered]:
    """The first answers to the drafts whose idempotency keys were used before, by place.

    Raises:
        InvalidInput: two drafts carry the same key.
        IdempotencyMismatch: a key was used before with another body.
    """
    keys = {draft.idempotency_key: place for place, draft in enumerate(checked) if draft.idempotency_key is not None}
    if not keys:
        return {}
    if len(keys) < sum(draft.idempotency_key is not None for draft in checked):
        raise InvalidInput(
            "Two drafts carry the same idempotency key.", field="idempotency_key", remedy="Give each draft its own key."
        )
    of = {key_of(caller, key): key for key in keys}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await transaction.all(
            "remember.idempotent_answers", tenant=caller.tenant, agent=caller.agent, keys=list(of)
        )
        ids = [row[2] for row in found if row[2] is not None]
        rows = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids)
    memories = {row[0]: memory_of(row) for row in rows}
    answers: dict[int, Remembered] = {}
    for stored, body, memory_id, outcome, warnings in found:
        key = of[stored]
        if body != body_hash(checked[keys[key]], caller):
            raise IdempotencyMismatch(
                f"The idempotency key {key!r} was used with another body.",
                field="idempotency_key",
                remedy="Use a new key.",
            )
        if memory_id is None or memory_id in memories:
            answers[keys[key]] = Remembered(outcome=outcome, memory=memories.get(memory_id), warnings=tuple(warnings))
    return answers


async def keep_answers(
    transaction: Transaction, caller: Caller, answered: Iterable[tuple[Checked, bytes, Remembered]], now: datetime
) -> None:
    """Keep the answers to the drafts that carry a key.

    Raises:
        Conflict: another call used a key at the same moment.
    """
    for draft, body, answer in answered:
        if draft.idempotency_key is None:
            continue
        kept = await transaction.one(
            "remember.keep_answer",
            tenant=caller.tenant,
            agent=caller.agent,
            key=key_of(caller, draft.idempotency_key),
            body_hash=body,
            memory_id=None if answer.memory is None else answer.memory.id,
            outcome=answer.outcome,
            warnings=list(answer.warnings),
            now=now,
        )
        if kept is None:
            raise Conflict("The idempotency key was used at the same moment by another call.", remedy="Try again.")
