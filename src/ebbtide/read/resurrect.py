"""What faded comes back to life when its words are asked for and little that lives says them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from ebbtide.errors import Conflict
from ebbtide.govern.audit import write as write_audit
from ebbtide.read.candidates import rarity_of
from ebbtide.read.words import read_words

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.candidates import Found
    from ebbtide.read.search import Search
    from ebbtide.read.searched import Chosen, Searched

__all__ = ["faded_in", "resurrect"]

ENOUGH_HITS = 3

Refresh = Callable[["Transaction", str, "Sequence[UUID]"], Awaitable[None]]
"""Makes anew what is derived from memories of a tenant that are back."""


async def faded_in(
    engine: Engine, transaction: Transaction, search: Search, found: Found, chosen: Chosen
) -> tuple[UUID, ...]:
    """The soft-deleted memories of the scope that should come back to life for a query, the most telling first.

    They are looked for in the search's own snapshot: of what comes back at the same time, a search sees either the
    faded memory or the living one. There are none in the past, where memories do not fade, and where min(3, limit) of
    the hits hold a word of the query; those that say when are none of its words, since they say nothing of what is
    asked. At most as many come as the recall returns; none that was superseded or found to be wrong, and none whose
    text a live memory of its namespace says meanwhile. Source: Eryx 2.6.
    """
    scope, question, terms, limit = search.scope, search.question, search.terms, search.profile.limit
    enough = min(ENOUGH_HITS, limit)
    kept = chosen.selection.kept
    if not search.rules.forgetting or scope.as_of is not None:
        return ()
    telling = terms
    if question.window is not None:
        telling = await read_words(engine, transaction, replace(question, asked=question.beside_time))
    if not telling.words:
        return ()
    # Without the words of a time, only the statement below knows which hits hold one of the others.
    if telling == terms and np.count_nonzero(found.lexical[kept]) >= enough:
        return ()
    rows = await transaction.all(
        "fade.remembered",
        **scope.parameters(with_superseded=False),
        terms=telling.queries,
        any_term=telling.any,
        idfs=rarity_of(telling, search.route),
        hits=[found.candidates.ids[place] for place in kept.tolist()],
        enough=enough,
        limit=limit,
    )
    return tuple(row[0] for row in rows)


async def resurrect(engine: Engine, searched: Searched, refresh: Refresh) -> tuple[UUID, ...] | None:
    """Bring the faded memories back to life that a search found, and let `refresh` see to what is made from them.

    Answers with their ids, in order; with none where another recall was faster, and with None where there was nothing
    to bring back.
    """
    if not searched.faded:
        return None
    try:
        revived = await _revive(engine, searched, list(searched.faded), refresh)
    except Conflict:
        # Somebody says the same anew at this very moment.
        return ()
    engine.scopes.forget(searched.scope.caller.tenant)
    return revived


async def _revive(engine: Engine, searched: Searched, wanted: list[UUID], refresh: Refresh) -> tuple[UUID, ...]:
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
        await refresh(transaction, tenant, ids)
        entries = [
            (
                id_,
                {"operation": "resurrect", "from": "deleted", "to": "active", "revision": revision + 1},
            )
            for id_, revision in revisions.items()
        ]
        await write_audit(transaction, scope.caller, "status", entries, now)
    return tuple(id_ for id_ in wanted if id_ in revisions)
