"""Reciprocal rank fusion: one order from several, by rank alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from ebbtide.errors import InvalidInput
from ebbtide.text import shown

__all__ = ["highest_fused_score", "reciprocal_rank_fusion"]

Item = TypeVar("Item", bound=Hashable)
LARGEST_K = 1e9


def reciprocal_rank_fusion(lists: Sequence[Sequence[Item]], k: float = 60) -> list[tuple[Item, float]]:
    """Each item with `Σ 1 / (k + rank)` over the lists that hold it, ranks from 1, the highest score first.

    Items of equal score keep the order of their first appearance, the lists being read one after another. An item
    that a list repeats counts there by its best rank. Source: Cormack et al. 2009; Eryx 4.3 (k = 60).

    Raises:
        InvalidInput: `k` is not a positive number.
    """
    _check_k(k)
    scores: dict[Item, float] = {}
    for ranking in lists:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def highest_fused_score(number_of_lists: int, k: float = 60) -> float:
    """What an item gets that leads every list, `number_of_lists / (k + 1)`; a fused score over it is in [0, 1].

    Raises:
        InvalidInput: `k` is not a positive number.
    """
    _check_k(k)
    return number_of_lists / (k + 1.0)


def _check_k(k: float) -> None:
    if not (isinstance(k, int | float) and 0 < k <= LARGEST_K):
        raise InvalidInput(
            f"`k` must be a positive number, not {shown(k)}.", field="k", remedy="Leave it out to use 60."
        )
