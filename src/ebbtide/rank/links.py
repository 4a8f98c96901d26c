"""What the graph adds to a ranking: how firmly each candidate is linked to what is asked, and how far that lifts it."""

from __future__ import annotations

import numpy as np

from ebbtide.rank.candidates import Booleans, Floats, Integers

__all__ = ["lift", "link_strength"]

NAMED_SHARE = 0.6
PER_HOP = 0.5


def link_strength(
    rows: Integers,
    entities: Integers,
    *,
    named: Booleans,
    hops: Integers,
    counted: Integers,
    seeds: Floats,
    scope_rows: int,
) -> Floats:
    """How firmly each of n candidates is linked by the entities that a walk reached, in [0, 1], shape (n,).

    An entity that f of the scope's N memories mention is worth `r = ln(1 + (N - f + .5) / (f + .5))`. The strength is
    `.6 · (Σ r of the entities that the query names and it mentions) / (Σ r of all that the query names) + .4 · spread`.

    What spreads comes from the seeds, and along relations: an entity is active by `r · (.5^hops where it was reached
    through relations + Σ what the seeds that mention it are worth)`, and hands to each memory that mentions it what is
    not from that memory itself, divided by √f. The spread is the sum of that, over its highest.

    Args:
        rows, entities: the mentions, one element each: the position of a candidate, and that of an entity.
        named, hops, counted: of each entity, whether the query names it, along how many relations it was reached, and
            how many memories at least mention it.
        seeds: what each candidate is worth as one to start from, in [0, 1], shape (n,); 0 for the others.
        scope_rows: N.

    Source: the spreading activation of HippoRAG (Gutiérrez et al., 2024) in one step; measured on LoCoMo and Mixed.
    """
    count = len(seeds)
    mentions = np.maximum(np.bincount(entities, minlength=len(named)), counted).astype(np.float64)
    total = np.maximum(mentions, scope_rows)
    rarity = np.log(1.0 + (total - mentions + 0.5) / (mentions + 0.5))
    asked = np.where(named, rarity, 0.0)
    share = np.bincount(rows, weights=asked[entities], minlength=count) / max(float(asked.sum()), np.finfo(float).tiny)
    through = np.where(hops > 0, PER_HOP ** hops.astype(np.float64), 0.0)
    from_seeds = np.bincount(entities, weights=seeds[rows], minlength=len(named))
    handed = rarity[entities] * (through + from_seeds)[entities] - rarity[entities] * seeds[rows]
    spread = np.bincount(rows, weights=np.maximum(handed, 0.0) / np.sqrt(mentions[entities]), minlength=count)
    highest = spread.max(initial=0.0)
    spread = spread / highest if highest > 0 else spread
    return NAMED_SHARE * np.minimum(share, 1.0) + (1.0 - NAMED_SHARE) * spread


def lift(values: Floats, strength: Floats, *, weight: float, place: int) -> Floats:
    """The values with those that are linked lifted towards the one at `place`, from 1, and never to it, shape (n,).

    `v + (L - v) · (1 - e^(-weight · max · strength / (L - v)))` below the limit `L`, which is the value at `place`, or
    the lowest where there are fewer: at first by `weight` times the best value, then ever less. What is at the limit or
    above it stays, so the best hits are those of the words and vectors alone.
    """
    if not len(values):
        return values
    highest = np.sort(values)[::-1]
    limit = highest[min(place, len(values)) - 1]
    room = np.maximum(limit - values, 0.0)
    push = weight * max(highest[0], 0.0) * strength
    share = 1.0 - np.exp(-np.divide(push, room, out=np.zeros(len(values)), where=room > 0))
    lifted = np.maximum(values + room * share, values)
    return np.where(room > 0, np.minimum(lifted, np.nextafter(limit, -np.inf)), values)
