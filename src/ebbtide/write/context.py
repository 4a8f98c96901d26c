"""Turns of a conversation seen in the light of the turn before: norm(v + .7 v_previous)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from ebbtide.db.vectors import as_halfvecs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.write.rows import Row

__all__ = [
    "PREVIOUS_SHARE",
    "in_context",
    "is_same",
    "refresh_around",
    "refresh_following",
    "set_context",
    "with_context",
    "with_context_here",
]

# Measured on two-party chats; from .5 to 1 it makes little difference.
PREVIOUS_SHARE = 0.7
# Vectors are kept with half precision.
LARGEST_ROUNDING = 2e-3


def in_context(vector: NDArray[Any], previous: NDArray[Any]) -> NDArray[np.float32]:
    """norm(v + .7 v_previous), of norm 1; `vector` itself where the two cancel out."""
    blended = vector.astype(np.float64) + PREVIOUS_SHARE * previous.astype(np.float64)
    norm = float(np.linalg.norm(blended))
    return (blended / norm).astype(np.float32) if norm > 0 else vector.astype(np.float32)


async def with_context(
    transaction: Transaction, tenant: str, agent: str, rows: Sequence[Row]
) -> tuple[list[Row], dict[UUID, Any]]:
    """The rows with their context vectors, and the new context vectors of stored turns that follow one of them.

    The turn before may be in the same batch or in the store, whichever is nearer; so may the turn after.
    """
    turns = {
        place: row
        for place, row in enumerate(rows)
        if row.memory.chat is not None
        and row.memory.seq is not None
        and row.embedding is not None
        # What is quarantined leaves no trace in the turns around it.
        and row.memory.status == "active"
    }
    if not turns:
        return list(rows), {}
    stored = await transaction.all(
        "remember.neighbours",
        tenant=tenant,
        agent=agent,
        places=list(turns),
        chats=[row.memory.chat for row in turns.values()],
        sequences=[row.memory.seq for row in turns.values()],
    )
    before = {place: (sequence, vector.to_numpy()) for place, sequence, vector, *_ in stored if sequence is not None}
    after = {
        place: (id_, sequence, vector.to_numpy()) for place, _, _, id_, sequence, vector in stored if id_ is not None
    }
    done, following = list(rows), dict[UUID, Any]()
    by_chat: dict[str | None, list[int]] = {}
    for place, row in turns.items():
        by_chat.setdefault(row.memory.chat, []).append(place)
    for places in by_chat.values():
        ordered = sorted(places, key=lambda place: _sequence(rows[place]))
        sequences = [_sequence(rows[place]) for place in ordered]
        for place, sequence in zip(ordered, sequences, strict=True):
            earlier, later = bisect_left(sequences, sequence), bisect_right(sequences, sequence)
            previous = _nearer(rows, ordered[earlier - 1] if earlier else None, before.get(place))
            vector = rows[place].embedding
            if previous is not None and vector is not None:
                done[place] = replace(rows[place], context_embedding=in_context(vector, previous))
            if (
                place in after
                and vector is not None
                and (later == len(sequences) or sequences[later] > after[place][1])
            ):
                following[after[place][0]] = in_context(after[place][2], vector)
    return done, following


async def with_context_here(
    transaction: Transaction, tenant: str, agent: str, rows: Sequence[Row]
) -> tuple[list[Row], dict[UUID, Any]]:
    """As `with_context`, of rows that bring such vectors from elsewhere: one that is right here too stays as it is.

    One that was made with a turn that did not come goes: that turn could be read out of it.
    """
    made, following = await with_context(
        transaction, tenant, agent, [replace(row, context_embedding=None) for row in rows]
    )
    return [
        given if is_same(given.context_embedding, one.context_embedding) else one
        for given, one in zip(rows, made, strict=True)
    ], following


def is_same(stored: NDArray[Any] | None, right: NDArray[Any] | None) -> bool:
    """Whether a vector is what it should be, as far as half precision can tell."""
    if stored is None or right is None:
        return stored is right
    return bool(np.allclose(stored, right, atol=LARGEST_ROUNDING))


def _sequence(row: Row) -> int:
    return row.memory.seq if row.memory.seq is not None else -1


def _nearer(
    rows: Sequence[Row], batch_place: int | None, stored: tuple[int, NDArray[Any]] | None
) -> NDArray[Any] | None:
    if batch_place is not None and (stored is None or _sequence(rows[batch_place]) >= stored[0]):
        return rows[batch_place].embedding
    return stored[1] if stored is not None else None


async def set_context(transaction: Transaction, tenant: str, vectors: Mapping[UUID, Any]) -> None:
    """Store the context vectors of turns that are already there."""
    if vectors:
        ids = sorted(vectors)
        await transaction.run(
            "remember.set_context", tenant=tenant, ids=ids, context_embeddings=as_halfvecs(vectors[id_] for id_ in ids)
        )


async def refresh_following(
    transaction: Transaction, tenant: str, agent: str, chat: str | None, sequence: int | None
) -> None:
    """Make anew the context vector of the turn after one that changed or went: nothing of it stays there."""
    if chat is None or sequence is None:
        return
    found = await transaction.all("memory.following_turns", tenant=tenant, agent=agent, chat=chat, sequence=sequence)
    await _set_found(transaction, tenant, found)


async def refresh_around(transaction: Transaction, tenant: str, ids: Sequence[UUID]) -> None:
    """Make anew what hangs on memories having been put away or brought back: how they, and the turns after, are seen.

    What is put away leaves no trace in the turns around it.
    """
    if ids:
        await _set_found(
            transaction, tenant, await transaction.all("memory.turns_around", tenant=tenant, ids=list(ids))
        )


async def _set_found(transaction: Transaction, tenant: str, found: Sequence[Any]) -> None:
    vectors = {
        id_: None if previous is None else in_context(vector.to_numpy(), previous.to_numpy())
        for id_, vector, previous in found
    }
    await set_context(transaction, tenant, vectors)
