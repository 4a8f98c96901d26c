"""Packing: what is worth most within the budget, the best first, against every way there is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide.read.pack import Item, Packing, pack


def cost_of(items: Sequence[Item], places: Sequence[int], heads: dict[str, int]) -> int:
    opened = {head for place in places for head in items[place].heads}
    return sum(items[place].cost for place in places) + sum(heads.get(head, 0) for head in opened)


def worth_of(items: Sequence[Item], places: Sequence[int]) -> float:
    return sum(items[place].worth for place in places)


def most_by_trying(items: Sequence[Item], budget: int, heads: dict[str, int], *, best: int | None) -> float:
    ways = (way for count in range(len(items) + 1) for way in combinations(range(len(items)), count))
    return max(
        (
            worth_of(items, way)
            for way in ways
            if cost_of(items, way, heads) <= budget and (best is None or best in way)
        ),
        default=0.0,
    )


HEADS = st.sampled_from([(), ("s",), ("t",), ("s", "a"), ("s", "b"), ("t", "c")])
WORTHS = st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.9, 1.7])
ITEMS = st.lists(st.builds(Item, WORTHS, st.integers(0, 12), HEADS), max_size=8)
UNHURRIED = property_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
COSTS = st.fixed_dictionaries({name: st.integers(0, 6) for name in "stabc"})


@UNHURRIED
@given(ITEMS, st.integers(0, 40), COSTS)
def test_beside_the_best_it_is_the_most_there_is(items: list[Item], budget: int, heads: dict[str, int]) -> None:
    chosen = pack(items, budget, heads)
    assert cost_of(items, chosen, heads) <= budget
    fitting = [place for place in range(len(items)) if cost_of(items, [place], heads) <= budget]
    best = max(fitting, key=lambda place: items[place].worth, default=None)
    assert best is None or best in chosen
    assert worth_of(items, chosen) == pytest.approx(most_by_trying(items, budget, heads, best=best))


@UNHURRIED
@given(ITEMS, st.integers(0, 40), COSTS)
def test_without_a_best_it_is_the_most_there_is(items: list[Item], budget: int, heads: dict[str, int]) -> None:
    packing = Packing(items, budget, heads)
    packing.take_most(range(len(items)))
    assert packing.left == budget - cost_of(items, sorted(packing.taken), heads) >= 0
    assert worth_of(items, sorted(packing.taken)) == pytest.approx(most_by_trying(items, budget, heads, best=None))


@UNHURRIED
@given(ITEMS, st.integers(0, 40), st.integers(0, 40), COSTS)
def test_a_share_is_kept_to(items: list[Item], budget: int, share: int, heads: dict[str, int]) -> None:
    packing = Packing(items, budget, heads)
    packing.take_most(range(len(items)), share)
    assert cost_of(items, sorted(packing.taken), heads) <= min(budget, share)


@UNHURRIED
@given(
    st.lists(st.builds(Item, st.floats(1e-6, 2), st.integers(0, 3_000), HEADS), max_size=230),
    st.integers(0, 30_000),
    COSTS,
)
def test_many_items_and_large_budgets_keep_to_the_rules(items: list[Item], budget: int, heads: dict[str, int]) -> None:
    chosen = pack(items, budget, heads)
    assert chosen == pack(items, budget, heads) == sorted(set(chosen))
    assert cost_of(items, chosen, heads) <= budget
    fitting = [place for place in range(len(items)) if cost_of(items, [place], heads) <= budget]
    assert not fitting or max(fitting, key=lambda place: items[place].worth) in chosen
    if cost_of(items, range(len(items)), heads) <= budget:
        assert chosen == list(range(len(items)))


def test_the_best_hit_is_not_dropped_for_many_weak_ones() -> None:
    weak = [Item(0.4, 10)] * 10
    assert pack([Item(0.9, 100), *weak], 100) == [0]
    assert pack([Item(0.9, 101), *weak], 100) == list(range(1, 11))


def test_after_the_best_two_that_fit_beat_one_that_is_better() -> None:
    assert pack([Item(0.9, 10), Item(0.8, 60), Item(0.5, 30), Item(0.45, 30)], 70) == [0, 2, 3]


def test_of_equals_the_earlier_one_is_taken() -> None:
    assert pack([Item(0.5, 10)] * 5, 30) == [0, 1, 2]


def test_a_head_is_paid_once() -> None:
    items = [Item(0.5, 10, ("s",)), Item(0.5, 10, ("s",)), Item(0.6, 12)]
    assert pack(items, 32, {"s": 10}) == [0, 2]
    assert pack(items, 42, {"s": 10}) == [0, 1, 2]
    assert pack(items, 21, {"s": 10}) == [2]


def test_nothing_fits_into_nothing() -> None:
    assert pack([], 10) == []
    assert pack([Item(1.0, 1)], 0) == []
    assert pack([Item(1.0, 1)], -5) == []
