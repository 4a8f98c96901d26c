"""The graph arm of a recall: from what a query names, and from its best hits, to what else mentions the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ebbtide.db.arrays import plain_array
from ebbtide.rank.candidates import append
from ebbtide.rank.links import link_strength
from ebbtide.rank.score import score
from ebbtide.read.candidates import LISTWISE_COLUMNS, WIDTH, Found, build, parameters_of, rarity_of, words_of
from ebbtide.read.named import name_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.rank.candidates import Floats
    from ebbtide.read.search import Search

__all__ = ["walk"]

# Entities that a walk starts from, and relations that it follows from each.
MOST_ENTITIES, MOST_RELATIONS = 50, 10


async def walk(transaction: Transaction, search: Search, found: Found) -> Found:
    """What was found, with the memories that a walk through the graph reached and how firmly each is linked.

    It is a statement of its own on the same snapshot, since it starts from the hits that score best.
    """
    scope, limits = search.scope, search.profile.walk
    seeds = seeds_of(search, found)
    start = np.flatnonzero(seeds)
    parameters = {
        **parameters_of(
            search, rarity=rarity_of(words_of(search), search.route), with_superseded=scope.include_superseded
        ),
        "names": name_hashes(search.question.asked),
        "seeds": plain_array(cast("UUID", found.candidates.ids[place]) for place in start.tolist()),
        "found": plain_array(cast("UUID", id_) for id_ in found.candidates.ids),
        "hops": limits.hops,
        "most_rows": limits.rows,
        "most_entities": MOST_ENTITIES,
        "most_relations": MOST_RELATIONS,
    }
    rows = await transaction.all("walk.reach" + scope.suffix, **parameters)
    return linked(rows, search, found, seeds) if rows else found


def seeds_of(search: Search, found: Found) -> Floats:
    """What the best candidates are worth as a share of the very best, shape (n,); 0 for those that are no seeds."""
    candidates, seeds = found.candidates, search.profile.walk.seeds
    worth = np.zeros(len(candidates))
    if not len(candidates) or not seeds:
        return worth
    values = score(search.profile, candidates, now=search.moment).values
    if candidates.superseded is not None:
        values = np.where(candidates.superseded, 0.0, values)
    best = np.argsort(-values, kind="stable")[:seeds]
    if values[best[0]] > 0:
        worth[best] = np.maximum(values[best], 0.0) / values[best[0]]
    return worth


def linked(rows: Sequence[Sequence[Any]], search: Search, found: Found, seeds: Floats) -> Found:
    """What was found, and what the rows of a walk add to it."""
    known = {id_: place for place, id_ in enumerate(found.candidates.ids)}
    width = LISTWISE_COLUMNS if search.profile.law == "listwise" else WIDTH
    new = [row[:width] for row in rows if row[0] not in known]
    candidates, lexical, ranks = found.candidates, found.lexical, found.ranks
    if new:
        more = build(new, search, 0.0)
        candidates = append(candidates, more.candidates)
        lexical = np.concatenate([lexical, more.lexical])
        seeds = np.concatenate([seeds, np.zeros(len(new))])
        ranks = None if ranks is None else np.pad(ranks, ((0, 0), (0, len(new))))
        known |= {row[0]: place for place, row in enumerate(new, start=len(known))}
    mentions = [(known[row[0]], *entity) for row in rows for entity in zip(*row[WIDTH : WIDTH + 4], strict=True)]
    places, entities, named, hops, counted = (np.array(column) for column in zip(*mentions, strict=True))
    _, first, entities = np.unique(entities, return_index=True, return_inverse=True)
    strength = link_strength(
        places,
        entities,
        named=named[first].astype(np.bool_),
        hops=hops[first],
        counted=counted[first],
        seeds=seeds,
        scope_rows=search.route.rows,
    )
    return Found(replace(candidates, linked=strength), lexical, ranks)
