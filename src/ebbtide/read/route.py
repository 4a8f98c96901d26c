"""How a scope is searched: exactly, or by the indexes where it is too large for that."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ebbtide.caches import ScopeShape, WordSample

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope

__all__ = ["Route", "plan_route", "shape_of"]

Way = Literal["exact", "indexed", "worded"]

# A scope that large changes little between two counts, and counting it is not free.
LARGE_SCOPE_SECONDS = 60.0
# Words are counted in scopes of so many rows, and in the newest so many of larger ones.
COUNTED_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Route:
    """The way a recall takes.

    Attributes:
        way: `exact` looks at every row of the scope; `indexed` finds vectors by HNSW and words by a budget of rows;
            `worded` finds words by the same budget, for a query without a vector.
        outgrown: the scope is too large to search exactly, but its partition has no vector index yet.
        rows: live memories in the scope, before filters.
        sample: how common words are in the scope.
        linked: whether the agent knows any entities.
    """

    way: Way
    outgrown: bool
    rows: int
    sample: WordSample
    linked: bool = False


async def shape_of(engine: Engine, scope: Scope) -> ScopeShape:
    """The scope's rows, speakers and words, looked at again after a few seconds or after a write of this engine."""
    tenant = scope.caller.tenant
    known = engine.scopes.get(tenant, scope.key)
    if known is not None:
        return known
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        rows, speakers, linked = await transaction.one("recall.shape", **scope.names())
        large = rows > engine.settings.exact_search_rows
        sample = engine.scopes.last_sample(tenant, scope.key)
        if sample is None or not sample.fits(rows):
            sample = await sample_words(transaction, scope, rows)
        indexed = large and await has_index(transaction, tenant)
    shape = ScopeShape(rows, tuple(speakers or ()), sample, indexed, linked)
    seconds = LARGE_SCOPE_SECONDS if large else engine.settings.scope_cache_seconds
    engine.scopes.put(tenant, scope.key, shape, seconds=seconds)
    return shape


def plan_route(engine: Engine, scope: Scope, shape: ScopeShape, *, has_vector: bool) -> Route:
    """Exact below the crossover and for the past, whose versions no index covers; by the indexes above it.

    A scope that lacks its index is noted, so that a job will build it.
    """
    large = shape.rows > engine.settings.exact_search_rows and scope.as_of is None
    way: Way = "exact"
    if large and not has_vector:
        way = "worded"
    elif large and shape.indexed:
        way = "indexed"
    outgrown = large and has_vector and not shape.indexed
    if outgrown and engine.dimension is not None:
        engine.outgrown.add(scope.caller.tenant)
    return Route(way, outgrown, shape.rows, shape.sample, shape.linked)


async def has_index(transaction: Transaction, tenant: str) -> bool:
    """Whether the tenant's partition has a vector index that may be used."""
    found = await transaction.one("recall.has_index", tenant=tenant)
    return bool(found[0])


async def sample_words(transaction: Transaction, scope: Scope, rows: int) -> WordSample:
    """How common words are: in every memory of a small scope, in the newest ones of a larger one."""
    if rows <= COUNTED_ROWS:
        words, counts = await transaction.one("recall.word_counts", **scope.names())
        sampled = rows
    else:
        words, counts, sampled = await transaction.one("recall.word_sample", **scope.names(), sampled=COUNTED_ROWS)
    return WordSample(dict(zip(words or (), counts or (), strict=True)), sampled, rows, time.monotonic())
