"""What faded comes back to life when its words are asked for and little that lives says them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from ebbtide.errors import Conflict
from ebbtide.govern.audit import write as write_audit
from ebbtide.read.candidates import rarity_of

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.read.searched import Searched

__all__ = ["resurrect"]

ENOUGH_HITS = 3


async def resurrect(engine: Engine, searched: Searched) -> tuple[UUID, ...] | None:
    """Bring soft-deleted memories of the scope back to life that hold a word of the query, the most telling ones.

    That is for tenants whose memories fade, in the present, and where fewer than min(3, limit) of the hits hold a word
    of the query. At most as many come back as the recall returns; none that was superseded or found to be wrong, and
    none whose text a live memory of its namespace says meanwhile. Answers with their ids, in order; with none where
    another recall was faster, and with None where there was nothing to bring back. Source: Eryx 2.6.
    """
    scope, terms = searched.scope, searched.terms
    enough = min(ENOUGH_HITS, searched.profile.limit)
    if not searched.rules.forgetting or scope.as_of is not None or not terms.words:
        return None
    kept = searched.selection.kept
    if np.count_nonzero(searched.found.lexical[kept]) >= enough:
        return None
    values = scope.parameters(with_superseded=False)
    tenant = scope.caller.tenant
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        rows = await transaction.all(
            "fade.remembered",
            **values,
            terms=terms.queries,
            any_term=terms.any,
            idfs=rarity_of(terms, searched.route),
            hits=[searched.found.candidates.ids[place] for place in kept.tolist()],
            enough=enough,
            limit=searched.profile.limit,
        )
    if not rows:
        return None
    try:
        revived = await _revive(engine, searched, [row[0] for row in rows])
    except Conflict:
        # Somebody says the same anew at this very moment.
        return ()
    engine.scopes.forget(tenant)
    return revived


async def _revive(engine: Engine, searched: Searched, wanted: list[UUID]) -> tuple[UUID, ...]:
    """Bring back those of the memories that nobody brought back, forgot or said anew since they were found."""
    scope = searched.scope
    tenant, now = scope.caller.tenant, scope.now
    async with engine.database.transaction(tenant) as transaction:
        # What is being forgotten at this moment is waited for, and stays forgotten.
        await transaction.run("forget.lock_shared", tenant=tenant)
        rows = await transaction.all("fade.lock_remembered", **scope.parameters(with_superseded=False), ids=wanted)
        revisions = dict(rows)
        ids = list(revisions)
        await transaction.run("remember.keep_version", tenant=tenant, ids=ids, now=now)
        await transaction.run("fade.resurrect", tenant=tenant, ids=ids, now=now)
        entries = [
            (
                id_,
                {"operation": "resurrect", "from": "deleted", "to": "active", "revision": revision + 1},
            )
            for id_, revision in revisions.items()
        ]
        await write_audit(transaction, scope.caller, "status", entries, now)
    return tuple(id_ for id_ in wanted if id_ in revisions)
