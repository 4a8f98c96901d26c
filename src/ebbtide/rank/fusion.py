"""Reciprocal rank fusion: one order from several, by rank alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ebbtide.errors import InvalidInput
from ebbtide.rank.candidates import Candidates, Floats, Integers
from ebbtide.rank.profile import Profile
from ebbtide.rank.score import TOLERANCE, full_text_hits
from ebbtide.text import shown

__all__ = ["fused_scores", "highest_fused_score", "ranking_of", "reciprocal_rank_fusion"]

Item = TypeVar("Item", bound=Hashable)
LARGEST_K = 1e9
MOST_RANKED = 1_000_000
K = 60


def reciprocal_rank_fusion(lists: Sequence[Sequence[Item]], k: float = K) -> list[tuple[Item, float]]:
    """Each item with `Σ 1 / (k + rank)` over the lists that hold it, ranks from 1, the highest score first.

    Items of equal score keep the order of their first appearance, the lists being read one after another. An item
    that a list repeats counts there by its best rank. Source: Cormack et al. 2009; Eryx 4.3 (k = 60).

    Raises:
        InvalidInput: `k` is not a positive number, or `lists` are no lists of items that can be told apart by their
            hash, 1,000,000 at most in each.
    """
    _check_k(k)
    scores: dict[Item, float] = {}
    for ranking in _check_lists(lists):
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def highest_fused_score(number_of_lists: int, k: float = K) -> float:
    """What an item gets that leads every list, `number_of_lists / (k + 1)`; a fused score over it is in [0, 1].

    Raises:
        InvalidInput: `k` is not a positive number.
    """
    _check_k(k)
    return number_of_lists / (k + 1.0)


def _check_lists(lists: Any) -> Sequence[Sequence[Any]]:
    if not (_is_list(lists) and all(_is_list(ranking) for ranking in lists)):
        raise InvalidInput(
            "`lists` must be lists of items, each of at most 1,000,000.",
            field="lists",
            remedy="Give one list of ids for each ranking, best first.",
        )
    try:
        for ranking in lists:
            for item in ranking:
                hash(item)
    except TypeError:
        raise InvalidInput(
            "`lists` hold what has no hash, such as a list or an object.",
            field="lists",
            remedy="Rank ids, and look up afterwards what they stand for.",
        ) from None
    return lists


def _is_list(value: Any) -> bool:
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)
    return is_sequence and len(cast("Sequence[Any]", value)) <= MOST_RANKED


def _check_k(k: float) -> None:
    if isinstance(k, bool) or not (isinstance(k, int | float) and 0 < k <= LARGEST_K):
        raise InvalidInput(
            f"`k` must be a positive number, not {shown(k)}.", field="k", remedy="Leave it out to use 60."
        )


def fused_scores(ranks: Integers) -> Floats:
    """`Σ 1 / (60 + rank)` over what it could be at most, in [0, 1], shape (n,), of ranks of shape (lists, n).

    Ranks count from 1; 0 stands for a list that does not hold the candidate, and adds nothing.
    """
    shares = np.where(ranks > 0, 1.0 / (K + ranks), 0.0)
    return np.minimum(shares.sum(axis=0) / highest_fused_score(len(ranks)), 1.0)


def ranking_of(profile: Profile, candidates: Candidates) -> Integers:
    """The positions of the candidates that one search offers to fusion, best first.

    Those whose similarity passes the profile's floor come first, by it, then those that came in by full text alone, by
    their text rank; ties by the newer creation, then by id. Source: Eryx 3.3, the threshold of a strategy.
    """
    by_text = full_text_hits(profile, candidates)
    near = ~by_text & (candidates.similarity >= profile.gates.min_similarity - TOLERANCE)
    measured = np.where(near, candidates.similarity, np.nan_to_num(candidates.text_rank))
    created = np.nan_to_num(candidates.created_at, nan=-np.inf)
    ids: tuple[Any, ...] = candidates.ids

    def merit(position: int) -> tuple[bool, float, float, Any]:
        return bool(by_text[position]), -float(measured[position]), -float(created[position]), ids[position]

    return np.array(sorted(np.flatnonzero(near | by_text).tolist(), key=merit), dtype=np.int64)
