"""What the graph adds to a ranking: exact strengths, and what holds of any of them and of any lift."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ebbtide.rank.candidates import Floats
from ebbtide.rank.links import lift, link_strength
from ebbtide.rank.parts import Linked, Similarity, TideParameters
from ebbtide.rank.profile import Profile
from ebbtide.rank.score import score
from ebbtide.rank.tide import NAMES, score_listwise
from tests.rank.builders import candidates

SHARES = st.floats(0, 1, allow_nan=False)


def strength(pairs: list[tuple[int, int]], seeds: list[float], *, scope_rows: int = 100, **entity: Any) -> list[float]:
    count = 1 + max((code for _, code in pairs), default=-1)
    defaults: dict[str, Any] = {"named": [False] * count, "hops": [0] * count, "counted": [0] * count}
    columns = {name: np.array(column) for name, column in (defaults | entity).items()}
    rows, entities = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return link_strength(rows, entities, seeds=np.array(seeds), scope_rows=scope_rows, **columns).tolist()


def rarity(mentions: int, rows: int = 100) -> float:
    return math.log(1 + (rows - mentions + 0.5) / (mentions + 0.5))


def test_what_mentions_all_that_the_query_names_has_the_named_share() -> None:
    assert strength([(0, 0), (0, 1), (1, 0)], [0, 0, 0], named=[True, True]) == [
        pytest.approx(0.6),
        pytest.approx(0.6 * rarity(2) / (rarity(1) + rarity(2))),
        0.0,
    ]


def test_a_seed_hands_on_to_others_and_not_to_itself() -> None:
    assert strength([(0, 0), (1, 0)], [1.0, 0.0]) == [0.0, pytest.approx(0.4)]


def test_two_seeds_hand_to_each_other_and_a_rare_link_is_worth_more() -> None:
    got = strength([(0, 0), (1, 0), (2, 0), (2, 1), (0, 1)], [1.0, 0.5, 0.0])
    common, rare = rarity(3) / math.sqrt(3), rarity(2) / math.sqrt(2)
    handed = [0.5 * common, 1.0 * common, 1.5 * common + rare]
    assert got == pytest.approx([0.4 * one / handed[2] for one in handed])


def test_each_relation_on_the_way_halves_what_arrives() -> None:
    near, far = strength([(0, 0), (1, 1)], [0.0, 0.0], hops=[1, 2])
    assert (near, far) == (pytest.approx(0.4), pytest.approx(0.2))


def test_one_that_too_many_mention_is_as_common_as_was_counted() -> None:
    got = strength([(0, 0), (1, 1)], [0, 0], named=[True, True], counted=[51, 0])
    whole = rarity(51) + rarity(1)
    assert got == pytest.approx([0.6 * rarity(51) / whole, 0.6 * rarity(1) / whole])


def test_nothing_is_linked_where_nothing_is_named_and_there_are_no_seeds() -> None:
    assert strength([(0, 0), (1, 0)], [0.0, 0.0]) == [0.0, 0.0]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4)), min_size=1, max_size=30, unique=True),
    st.lists(SHARES, min_size=8, max_size=8),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.integers(0, 10_000),
)
def test_a_strength_is_a_share(
    pairs: list[tuple[int, int]], seeds: list[float], named: list[bool], hops: list[int], scope_rows: int
) -> None:
    linked = {row for row, _ in pairs}
    got = strength(pairs, seeds, scope_rows=scope_rows, named=named, hops=hops, counted=[0] * 5)
    assert all(0 <= one <= 1 + 1e-12 for one in got)
    assert all(one == 0 for row, one in enumerate(got) if row not in linked)


def test_what_is_linked_is_lifted_by_its_share_and_never_to_the_limit() -> None:
    values = np.array([1.0, 0.8, 0.6, 0.4, 0.2])
    got = lift(values, np.array([0.0, 1.0, 1.0, 0.0, 1.0]), weight=0.25, place=3)
    assert got.tolist() == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2 + 0.4 * (1 - math.exp(-0.25 / 0.4))])


@given(
    arrays(np.float64, st.shared(st.integers(0, 12), key="n"), elements=st.floats(-1, 3)),
    arrays(np.float64, st.shared(st.integers(0, 12), key="n"), elements=SHARES),
    st.floats(0, 5),
    st.integers(1, 14),
)
def test_a_lift_lowers_nothing_and_leaves_the_best_alone(
    values: Floats, linked: Floats, weight: float, place: int
) -> None:
    got = lift(values, linked, weight=weight, place=place)
    assert np.all(got >= values)
    assert np.array_equal(got[linked == 0], values[linked == 0])
    if len(values):
        limit = np.sort(values)[::-1][min(place, len(values)) - 1]
        assert np.array_equal(got[values >= limit], values[values >= limit])
        assert np.all(got[values < limit] < limit)
    assert np.array_equal(lift(values, linked, weight=0.0, place=place), values)


@given(st.floats(0.01, 1), SHARES, SHARES)
def test_of_two_alike_the_firmer_linked_comes_first(value: float, one: float, other: float) -> None:
    got = lift(np.array([1.0, value * 0.9, value * 0.9]), np.array([0, one, other]), weight=0.25, place=1)
    assert (got[1] >= got[2]) or one < other


def test_tide_tells_of_the_lift_after_a_walk_alone() -> None:
    rows = candidates(3, similarity=[0.9, 0.5, 0.1], linked=None)
    plain, matrix, names = score_listwise(TideParameters(), rows)
    assert names == NAMES
    assert matrix.shape == (3, 9)
    walked = candidates(3, similarity=[0.9, 0.5, 0.1], linked=[0.0, 0.0, 1.0])
    values, matrix, names = score_listwise(TideParameters(graph_place=1), walked)
    assert names == (*NAMES, "graph")
    assert matrix.sum(axis=1) == pytest.approx(values)
    assert values[:2].tolist() == plain[:2].tolist()
    assert matrix[2, 9] == pytest.approx(0.5 * (1 - math.exp(-0.5 * 0.5 / 0.5)))


def test_the_factor_is_the_strength_and_absent_without_a_walk() -> None:
    profile = Profile(name="p", law="sum", factors=(Similarity(weight=0.75), Linked(weight=0.25)))
    walked = score(profile, candidates(1, similarity=[0.4], linked=[0.8]), now=0.0)
    assert walked.names == ("semantic", "graph")
    assert walked.contributions.tolist() == [[pytest.approx(0.3), pytest.approx(0.2)]]
    assert score(profile, candidates(1, similarity=[0.4]), now=0.0).names == ("semantic",)
