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
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.candidates import Floats
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.read.words import Terms
    from ebbtide.settings import Settings

__all__ = ["walk"]

# Entities that a walk starts from, and relations that it follows from each.
MOST_ENTITIES, MOST_RELATIONS = 50, 10


async def walk(
    transaction: Transaction,
    scope: Scope,
    profile: Profile,
    question: Question,
    terms: Terms,
    vector: Any,
    route: Route,
    settings: Settings,
    rules: RuleBook,
    found: Found,
) -> Found:
    """What was found, with the memories that a walk through the graph reached and how firmly each is linked.

    It is a statement of its own on the same snapshot, since it starts from the hits that score best.
    """
    seeds = seeds_of(profile, found, (scope.as_of or scope.now).timestamp())
    start = np.flatnonzero(seeds)
    parameters = {
        **parameters_of(
            scope,
            profile,
            question,
            terms,
            vector,
            route,
            settings,
            rules,
            rarity=rarity_of(words_of(profile, terms), route),
            with_superseded=scope.include_superseded,
        ),
        "names": name_hashes(question.asked),
        "seeds": plain_array(cast("UUID", found.candidates.ids[place]) for place in start.tolist()),
        "found": plain_array(cast("UUID", id_) for id_ in found.candidates.ids),
        "hops": profile.walk.hops,
        "most_rows": profile.walk.rows,
        "most_entities": MOST_ENTITIES,
        "most_relations": MOST_RELATIONS,
    }
    rows = await transaction.all("walk.reach" + scope.suffix, **parameters)
    if not rows:
        return found
    return linked(rows, profile, question, rules, found, seeds, route.rows)


def seeds_of(profile: Profile, found: Found, now: float) -> Floats:
    """What the best candidates are worth as a share of the very best, shape (n,); 0 for those that are no seeds."""
    candidates = found.candidates
    worth = np.zeros(len(candidates))
    if not len(candidates) or not profile.walk.seeds:
        return worth
    values = score(profile, candidates, now=now).values
    if candidates.superseded is not None:
        values = np.where(candidates.superseded, 0.0, values)
    best = np.argsort(-values, kind="stable")[: profile.walk.seeds]
    if values[best[0]] > 0:
        worth[best] = np.maximum(values[best], 0.0) / values[best[0]]
    return worth


def linked(
    rows: Sequence[Sequence[Any]],
    profile: Profile,
    question: Question,
    rules: RuleBook,
    found: Found,
    seeds: Floats,
    scope_rows: int,
) -> Found:
    """What was found, and what the rows of a walk add to it."""
    known = {id_: place for place, id_ in enumerate(found.candidates.ids)}
    width = LISTWISE_COLUMNS if profile.law == "listwise" else WIDTH
    new = [row[:width] for row in rows if row[0] not in known]
    candidates, lexical, ranks = found.candidates, found.lexical, found.ranks
    if new:
        more = build(new, question, rules, 0.0)
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
        scope_rows=scope_rows,
    )
    return Found(replace(candidates, linked=strength), lexical, ranks)
