"""Reranking: what a reranker's scores do to the relevance of candidates that passed the gates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ebbtide.rank.candidates import Candidates, Floats, Integers
from ebbtide.rank.profile import RERANK_NAME, Profile
from ebbtide.rank.score import Scored, score

__all__ = ["Reranked", "reranked"]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The relevance of n candidates after a reranker, and its scores in [0, 1], NaN where there is none, shape (n,)."""

    scored: Scored
    scores: Floats


def reranked(
    profile: Profile,
    candidates: Candidates,
    scored: Scored,
    ranked: Integers,
    folded_into: Integers,
    scores: Floats,
    *,
    now: float,
) -> Reranked:
    """The relevance of every candidate when the first of those `ranked` got these scores in [0, 1]. `now` in seconds.

    `ranked` and `folded_into` are those of the selection without a reranker. A duplicate shares the score of the one it
    was folded into; what did not pass the gates keeps its relevance.

    With the base `fused` the score takes the base's place and the law runs on it: a row then is worth what the reranker
    says, boosted. Rows that passed but were not reranked come down by one factor, so that the highest base among them
    is at most the lowest score: the reranker's scale is another than theirs. Source: Eryx 4, 5.

    Under every other law the reranker only orders. The row with the highest score gets the highest relevance there was
    among the reranked ones, the next the next highest, equal scores in the order they had: the profile's relevances
    stay what they are and change hands, so thresholds mean the same, and rows that were not reranked stay behind. What
    this gives to a row or takes from it is its contribution `rerank`.
    """
    places, others = ranked[: len(scores)], ranked[len(scores) :]
    known = np.full(len(candidates), np.nan)
    known[places] = scores
    folded = np.flatnonzero(folded_into >= 0)
    folded = folded[~np.isnan(known[folded_into[folded]])]
    known[folded] = known[folded_into[folded]]
    if profile.base == "fused":
        base = scored.contributions[:, 0].copy()
        highest = base[others].max(initial=0.0)
        behind = np.concatenate([others, np.flatnonzero(np.isin(folded_into, others))])
        if highest > 0 and len(scores):
            base[behind] *= min(1.0, float(scores.min()) / highest)
        base = np.where(np.isnan(known), base, known)
        return Reranked(score(profile, replace(candidates, fused=base), now=now), known)
    values = scored.values.copy()
    values[places[np.argsort(-scores, kind="stable")]] = scored.values[places]
    moved = values - scored.values
    winners = folded_into[folded]
    values[folded] = np.minimum(scored.values[folded] + moved[winners], values[winners])
    contributions = np.column_stack([scored.contributions, values - scored.values])
    return Reranked(Scored(values, contributions, (*scored.names, RERANK_NAME)), known)
