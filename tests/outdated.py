"""Which memories are outdated by the definition, worked out from what a store holds, and which it says are."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import Any
from uuid import UUID

import psycopg

FACTS = """
SELECT id, superseded_by, maturity, extract(epoch FROM invalidated_at)::float8
FROM memory WHERE tenant_id = %s AND status <> 'tombstoned'"""
SAID = "SELECT id, extract(epoch FROM outdated_at)::float8 FROM memory WHERE tenant_id = %s AND outdated_at IS NOT NULL"
ORIGINS = "SELECT memory_id, source_id, whole FROM memory_origin WHERE tenant_id = %s"
LINKS = "SELECT memory_id, other_id FROM memory_link WHERE tenant_id = %s AND kind = 'near_duplicate'"

Marks = dict[UUID, float]
"""Since when memories are outdated, in seconds since 1970; minus infinity where what they told was never so."""


def marks_in(owner: psycopg.Connection[Any], tenant: str) -> tuple[Marks, Marks]:
    """What the store says, and what is so: of what was extracted from a memory and is not forgotten, nothing holds."""
    facts = {id_: fact for id_, *fact in owner.execute(FACTS, [tenant])}
    origins = owner.execute(ORIGINS, [tenant]).fetchall()
    same = {(one, other) for one, other in owner.execute(LINKS, [tenant])} | {
        (made, of) for made, of, whole in origins if whole
    }
    same |= {(other, one) for one, other in same}

    def end_of(id_: UUID, passed: frozenset[UUID] = frozenset()) -> float:
        successor, maturity, ended = facts[id_]
        if maturity == "invalidated":
            return -inf
        if successor is not None and (id_, successor) in same and successor not in passed:
            return end_of(successor, passed | {id_})
        if successor is not None:
            return -inf if ended is None else ended
        return inf if ended is None else ended

    told = defaultdict[UUID, list[float]](list)
    for made, source, whole in origins:
        if not whole and made in facts:
            told[source].append(end_of(made))
    so = {source: max(ends) for source, ends in told.items() if max(ends) < inf}
    return dict(owner.execute(SAID, [tenant]).fetchall()), so
