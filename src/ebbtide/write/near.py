"""The nearest memories to new vectors: exactly, a batch at a time, and by the index where a namespace is too large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from ebbtide.db.vectors import as_halfvecs, read_halfvecs

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["LEAST_SIMILARITY", "Near", "nearest"]

Near = tuple[int, UUID | int, float]
"""The position of a draft, a memory or the position of an earlier draft, and the cosine of the two."""

# A statement and its denial lie as far apart as this; near duplicates much nearer.
LEAST_SIMILARITY = 0.7
# A change may be told in quite other words than what it changes.
WIDE = 0.4
NEIGHBOURS = 5
# Of one subject many things are known, and what changed need not be among the nearest of them.
NEIGHBOURS_WIDE = 20
# So many vectors are compared by the server; more are worth carrying the namespace's vectors over once.
FEW = 12
# Searching the index once costs as much as carrying so many more vectors over, to be compared with all at once.
ROWS_A_SEARCH = 20
PAGE = 10_000
BLOCK = 1_000


async def nearest(
    engine: Engine,
    caller: Caller,
    vectors: Mapping[int, NDArray[np.float32]],
    namespaces: Sequence[str],
    now: datetime,
    *,
    wide: Collection[int] = (),
) -> list[Near]:
    """For each vector, by its position, at most five statements of its namespace nearer than a cosine of 0.7.

    Live memories of the agent, and the earlier vectors of the batch. `namespaces` are those of all positions; for those
    in `wide` a cosine of 0.4 is near enough, and there are at most twenty.
    """
    grouped: dict[str, list[int]] = defaultdict(list)
    for position in vectors:
        grouped[namespaces[position]].append(position)
    found: list[Near] = []
    for namespace, positions in grouped.items():
        rows = np.stack([vectors[position] for position in positions])
        least = np.array([WIDE if position in wide else LEAST_SIMILARITY for position in positions], dtype=np.float32)
        found += [(positions[one], positions[other], cosine) for one, other, cosine in among(rows, least)]
        found += [
            (positions[row], id_, cosine)
            for row, id_, cosine in await _stored(engine, caller, namespace, rows, least, now)
        ]
    return found


async def _stored(
    engine: Engine,
    caller: Caller,
    namespace: str,
    rows: NDArray[np.float32],
    least: NDArray[np.float32],
    now: datetime,
) -> list[tuple[int, UUID, float]]:
    """The nearest stored memories to the rows of a matrix."""
    exact = engine.settings.exact_search_rows + ROWS_A_SEARCH * (len(rows) - 1)
    scope: dict[str, Any] = {"tenant": caller.tenant, "agent": caller.agent, "namespace": namespace, "now": now}
    asked = {
        "places": list(range(len(rows))),
        "vectors": as_halfvecs(rows),
        "rows": _most(float(least.min())),
        "least": least.tolist(),
    }
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        indexed = await _has_index(transaction, caller, namespace, exact)
        if not indexed and len(rows) <= FEW:
            return _nearest_of_each(await transaction.all("conflict.nearest", **scope, **asked), least)
        if not indexed:
            return [near async for near in _compared(transaction, scope, rows, least)]
    settings: dict[str, str | int] = {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": 40,
        "plan_cache_mode": "force_custom_plan",
        "enable_seqscan": "off",
        "enable_sort": "off",
    }
    async with engine.database.transaction(caller.tenant, snapshot=True, settings=settings) as transaction:
        return _nearest_of_each(await transaction.all("conflict.nearest_indexed", **scope, **asked), least)


def _nearest_of_each(rows: Sequence[Any], least: NDArray[np.float32]) -> list[tuple[int, UUID, float]]:
    """Rows of a place, an id and a cosine, without those beyond as many as each place is to have."""
    counts: dict[int, int] = defaultdict(int)
    kept: list[tuple[int, UUID, float]] = []
    for place, id_, cosine in sorted(rows, key=lambda row: (row[0], -row[2])):
        counts[place] += 1
        if counts[place] <= _most(float(least[place])):
            kept.append((place, id_, cosine))
    return kept


def _most(least: float) -> int:
    """How many neighbours a vector is to have, by how near they must be."""
    return NEIGHBOURS_WIDE if least < (WIDE + LEAST_SIMILARITY) / 2 else NEIGHBOURS


async def _has_index(transaction: Transaction, caller: Caller, namespace: str, exact: int) -> bool:
    """Whether there is a vector index, and a namespace has more rows than are compared exactly."""
    if not (await transaction.one("recall.has_index", tenant=caller.tenant))[0]:
        return False
    counted = await transaction.one(
        "conflict.scope_rows", tenant=caller.tenant, agent=caller.agent, namespace=namespace, most=exact + 1
    )
    return counted[0] > exact


async def _compared(
    transaction: Transaction, scope: dict[str, Any], rows: NDArray[np.float32], least: NDArray[np.float32]
) -> AsyncIterator[tuple[int, UUID, float]]:
    """The same by carrying the vectors over, a page at a time."""
    after: UUID | None = None
    while True:
        ids, sent = await transaction.one("conflict.vectors", **scope, after=after, rows=PAGE)
        if ids:
            stored = read_halfvecs(sent, len(ids))
            stored /= np.linalg.norm(stored, axis=1, keepdims=True)
            for row, place, cosine in above(rows, stored, least):
                yield row, ids[place], cosine
            after = ids[-1]
        if not ids or len(ids) < PAGE:
            return


def above(
    rows: NDArray[np.float32], others: NDArray[np.float32], least: NDArray[np.float32]
) -> Iterator[tuple[int, int, float]]:
    """For each row, its nearest others with a cosine above the row's least; all are of norm 1."""
    for start in range(0, len(rows), BLOCK):
        cosines = rows[start : start + BLOCK] @ others.T
        yield from _best(cosines, start, least)


def among(rows: NDArray[np.float32], least: NDArray[np.float32]) -> Iterator[tuple[int, int, float]]:
    """For each row, its nearest among the 10,000 rows before it, with a cosine above the row's least."""
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        first = max(0, start - PAGE)
        before = rows[first : start + len(block)]
        cosines = block @ before.T
        later = np.arange(len(before))[None, :] >= (start - first + np.arange(len(block)))[:, None]
        cosines[later] = -1.0
        for row, place, cosine in _best(cosines, start, least):
            yield row, first + place, cosine


def _best(cosines: NDArray[np.float32], start: int, least: NDArray[np.float32]) -> Iterator[tuple[int, int, float]]:
    # Few rows have anything near, and a row's maximum is found much faster than the places above a threshold.
    asked = least[start : start + len(cosines)]
    for row in np.flatnonzero(cosines.max(axis=1, initial=-1.0) > asked).tolist():
        places = np.flatnonzero(cosines[row] > asked[row])
        nearest_first = places[np.argsort(-cosines[row, places], kind="stable")][: _most(float(asked[row]))]
        for place in nearest_first.tolist():
            yield start + row, place, float(cosines[row, place])
