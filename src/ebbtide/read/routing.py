"""Routing by types: a search among what mentions entities of the types that its query is likely to be about."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from ebbtide.govern.personal import holds_personal_data
from ebbtide.rank.routing import narrows, predict, terms_of
from ebbtide.read.searched import Routed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from ebbtide.caches import Read
    from ebbtide.db.database import Transaction
    from ebbtide.rank.profile import Profile
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.read.searched import Searched
    from ebbtide.read.words import Terms

__all__ = ["HALF_LIFE", "MOST_ENTITIES", "is_left_out", "learn", "learnt_from", "restrict"]

# Source: Eryx 7.2.
MOST_ENTITIES = 500
HALF_LIFE = timedelta(days=30)


async def restrict(
    transaction: Transaction, scope: Scope, profile: Profile, terms: Terms, route: Route
) -> tuple[Scope, Routed | None]:
    """The scope's memories that mention an entity of the likely types, most mentioned ones first, and which those are.

    It is the scope itself where no type is likelier than the others or no readable memory mentions one of them, and
    always where the profile does not route, where the agent knows no entities, and in the past: habits are of now.
    """
    if profile.routing == "off" or not route.linked or scope.as_of is not None:
        return scope, None
    caller, kept = scope.caller, terms_of(terms.words)
    counts = await transaction.all(
        "routing.counts", tenant=caller.tenant, agent=caller.agent, users=sorted({"", caller.user or ""}),
        terms=list(kept), now=scope.now, half_life=HALF_LIFE.total_seconds(),
    )  # fmt: skip
    types = predict(kept, {(term, type_): matches for term, type_, matches in counts})
    if not narrows(types):
        return scope, Routed(types, (), "unsure")
    rows = await transaction.all(
        "routing.entities", **scope.parameters(), types=list(types), most_entities=MOST_ENTITIES
    )
    entities = tuple(row[0] for row in rows)
    if not entities:
        return scope, Routed(types, (), "too_few")
    # Ids, and no condition on mentions: a subquery in the statement of every search would cost those that do not route.
    mentioning = tuple({id_ for row in rows for id_ in row[1]})
    return replace(scope, mentioning=mentioning), Routed(types, entities, "restricted")


async def is_left_out(transaction: Transaction, searched: Searched, id_: UUID) -> bool:
    """Whether a search was restricted to entities of which a memory mentions none."""
    routed = searched.routed
    if routed is None or routed.outcome != "restricted":
        return False
    row = await transaction.one(
        "routing.mentions", tenant=searched.scope.caller.tenant, id=id_, entities=list(routed.entities)
    )
    return not row[0]


def learnt_from(searched: Searched) -> tuple[str, ...]:
    """The words of which a search shows what they match: those of one that routes, and was not restricted.

    Restricted ones would show what was predicted. Nothing is learnt of a query with personal data in it.
    """
    routed = searched.routed
    if routed is None or routed.outcome == "restricted" or holds_personal_data(searched.question.text):
        return ()
    return terms_of(searched.terms.words)


async def learn(transaction: Transaction, tenant: str, reads: Sequence[Read]) -> None:
    """Add to the counts of each word which share of the hits mentions each type; half of it is left 30 days later."""
    rows = [
        {
            "agent_id": read.agent,
            "user_id": read.user or "",
            "at": read.at.isoformat(),
            "terms": read.terms,
            "ids": [str(id_) for id_ in read.ids],
        }
        for read in reads
        if read.terms and read.ids
    ]
    if rows:
        half_life = HALF_LIFE.total_seconds()
        await transaction.run("routing.learn", tenant=tenant, rows=json.dumps(rows), half_life=half_life)
