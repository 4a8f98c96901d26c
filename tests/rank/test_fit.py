"""Fitting weights: the projection, the measures, the parts, and that it finds what is there and nothing else."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ebbtide.evaluate.metrics import ndcg_at, recall_at, reciprocal_rank
from ebbtide.rank.fit import Fit, fit, folds_of, interval_of, measure
from ebbtide.rank.knobs import Knobs, knobs_of, project, project_to_simplex, rounded, with_values
from ebbtide.rank.parts import Importance, NamespaceBonus, Similarity, Usefulness
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.profile import Profile, parse_profile
from ebbtide.rank.strategies import BUILT_IN

VECTORS = arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5))


@given(values=VECTORS, whole=st.floats(0.1, 3), seed=st.integers(0, 2**32 - 1))
def test_the_projection_is_the_nearest_point_of_the_simplex(values: Any, whole: float, seed: int) -> None:
    nearest = project_to_simplex(values, whole)
    assert (nearest >= 0).all()
    assert nearest.sum() == pytest.approx(whole)
    others = np.random.default_rng(seed).dirichlet(np.ones(len(values)), 50) * whole
    distances = ((others - values) ** 2).sum(axis=1)
    assert ((nearest - values) ** 2).sum() <= distances.min() + 1e-9
    assert np.allclose(project_to_simplex(nearest, whole), nearest)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
@given(data=st.data())
def test_any_values_of_a_profiles_knobs_give_a_profile(name: str, data: st.DataObject) -> None:
    profile = BUILT_IN[name]
    knobs = knobs_of(profile)
    assert with_values(profile, knobs, knobs.start) == profile
    given_ = data.draw(arrays(np.float64, len(knobs.names), elements=st.floats(-3, 3)))
    values = rounded(knobs, project(knobs, given_))
    changed = with_values(profile, knobs, values)
    assert parse_profile(changed.model_dump()) == changed
    assert (changed.gates, changed.limit) == (profile.gates, profile.limit)
    assert np.allclose(knobs_of(changed).start, values)


RANKINGS = st.lists(
    st.tuples(st.permutations(list("abcdefghijklmn")), st.sets(st.sampled_from("abcdefghijklmnxyz"), min_size=1)),
    min_size=1, max_size=5,
)  # fmt: skip


@given(rankings=RANKINGS)
def test_the_measures_are_those_of_an_evaluation(rankings: list[tuple[list[str], set[str]]]) -> None:
    found = [
        (number, rank)
        for number, (ranked, evidence) in enumerate(rankings)
        for rank, name in enumerate(ranked, start=1)
        if name in evidence
    ]
    queries, ranks = (np.array([pair[side] for pair in found], dtype=np.int64) for side in (0, 1))
    totals = np.array([len(evidence) for _, evidence in rankings])
    expected = [(ndcg_at(10, *one), recall_at(10, *one), reciprocal_rank(*one)) for one in rankings]
    assert np.allclose(measure(queries, ranks, totals), expected)


@given(groups=st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=60), seed=st.integers(0, 1000))
def test_every_query_is_held_out_once_and_groups_stay_together(groups: list[str], seed: int) -> None:
    parts = folds_of(groups, seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    assert len(parts) <= 5
    if len(set(groups)) >= 3:
        homes = {
            group: {number for number, part in enumerate(parts) for at in part if groups[at] == group}
            for group in groups
        }
        assert all(len(home) == 1 for home in homes.values())
    assert [part.tolist() for part in folds_of(groups, seed)] == [part.tolist() for part in parts]


def test_the_interval_holds_the_mean() -> None:
    gains = np.random.default_rng(1).normal(0.05, 0.2, 200)
    low, high = interval_of(gains, 0)
    standard_error = gains.std() / np.sqrt(len(gains))
    assert low == pytest.approx(gains.mean() - 1.96 * standard_error, abs=0.005)
    assert high == pytest.approx(gains.mean() + 1.96 * standard_error, abs=0.005)
    assert interval_of(np.zeros(50), 0) == (0.0, 0.0)


THREE = Profile(
    name="three", law="sum", factors=(Similarity(weight=0.8), Importance(weight=0.1), Usefulness(weight=0.1))
)
BOOSTED = Profile(
    name="boosted", law="boost", base="similarity", factors=(NamespaceBonus(weight=0.1), Importance(weight=0.1))
)


def ordered(weigh: Any, knobs: Knobs, features: Any, relevant: Any, values: Any) -> Any:
    """The measures of lists of hits, of which some are relevant, in the order of what the values make of them."""
    order = np.argsort(-weigh(features, values), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1) + 1
    queries, places = np.nonzero(relevant)
    return measure(queries, ranks[queries, places], relevant.sum(axis=1))


def summed(features: Any, values: Any) -> Any:
    return features @ values


def boosted(features: Any, values: Any) -> Any:
    return features[..., 0] * (1 + features[..., 1:] @ values)


def learnt(
    profile: Profile, weigh: Any, columns: int, truth: Any, *, seed: int = 0, queries: int = 60, noise: float = 0.0
) -> tuple[Fit, Any]:
    """A fit to lists of 12 hits, of which the three are relevant that the true weights put first; and its objective."""
    random = np.random.default_rng(seed)
    features = random.uniform(0, 1, (queries, 12, columns))
    worth = random.uniform(0, 1, (queries, 12)) if truth is None else weigh(features, np.array(truth))
    worth = worth + noise * random.normal(size=worth.shape)
    relevant = np.argsort(np.argsort(-worth, axis=1), axis=1) < 3
    knobs = knobs_of(profile)
    objective = partial(ordered, weigh, knobs, features, relevant)
    return fit(knobs, objective, range(queries), seed=seed), objective


@pytest.mark.parametrize(
    ("profile", "weigh", "columns", "truth"),
    [(THREE, summed, 3, [0.2, 0.6, 0.2]), (THREE, summed, 3, [0.0, 0.5, 0.5]), (BOOSTED, boosted, 3, [2.0, 0.0])],
)
def test_weights_that_made_the_judgements_are_found(
    profile: Profile, weigh: Any, columns: int, truth: list[float]
) -> None:
    found, objective = learnt(profile, weigh, columns, truth, noise=0.02)
    best = objective(np.array(truth))[:, 0].mean()
    assert found.better
    assert found.tuned_held_out[0] > found.baseline_held_out[0] + 0.05
    assert found.tuned_held_out[0] >= best - 0.05
    assert objective(found.values)[:, 0].mean() >= best - 0.03


def test_nothing_is_found_in_noise() -> None:
    verdicts = [learnt(THREE, summed, 3, None, seed=seed)[0].better for seed in range(12)]
    assert sum(verdicts) == 0


def test_the_best_weights_stay_as_they_are() -> None:
    found, _ = learnt(THREE, summed, 3, [0.8, 0.1, 0.1])
    assert not found.better
    assert found.tuned_held_out[0] > 0.95


def test_the_same_seed_gives_the_same_answer() -> None:
    one, two = (learnt(THREE, summed, 3, [0.2, 0.6, 0.2], noise=0.1)[0] for _ in range(2))
    assert one.values.tolist() == two.values.tolist()
    assert (one.interval, one.tuned_held_out.tolist()) == (two.interval, two.tuned_held_out.tolist())


def test_what_is_remembered_of_trials_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[bytes] = []

    def fitted() -> Fit:
        profile, knobs = THREE, knobs_of(THREE)
        random = np.random.default_rng(1)
        features = random.uniform(0, 1, (40, 12, len(profile.factors)))
        relevant = np.argsort(np.argsort(-features[..., 1], axis=1), axis=1) < 3

        def objective(values: Any) -> Any:
            measured.append(values.tobytes())
            return ordered(summed, knobs, features, relevant, values)

        return fit(knobs, objective, range(40))

    one = fitted()
    assert len(measured) == len(set(measured))
    measured.clear()
    monkeypatch.setattr("ebbtide.rank.fit.REMEMBERED_BYTES", 3 * 40 * 3 * 8)
    two = fitted()
    assert len(measured) > len(set(measured))
    assert (one.values.tolist(), one.interval) == (two.values.tolist(), two.interval)


def test_what_cannot_be_measured_counts_as_nothing() -> None:
    knobs = knobs_of(THREE)

    def objective(values: Any) -> Any:
        return np.full((40, 3), 0.5 if values[0] >= knobs.start[0] - 1e-9 else np.nan)

    assert fit(knobs, objective, range(40)).values[0] >= 0.8


def test_progress_is_told_part_by_part() -> None:
    told: list[tuple[str, int, int]] = []
    knobs = knobs_of(PRESETS["agentium"])
    fit(knobs, lambda _values: np.zeros((30, 3)), range(30), tell=lambda *step: told.append(step))
    assert told == [("fit", number, 6) for number in range(1, 7)]


def test_the_knobs_of_every_law() -> None:
    assert knobs_of(PRESETS["agentium"]).names == ("semantic", "recency", "importance")
    assert knobs_of(PRESETS["ontheia"]).names == ("namespace", "recency")
    tide = knobs_of(PRESETS["tide"])
    assert (tide.names[:2], tide.shares, tide.whole) == (("dense_weight", "lexical_weight"), 2, 1.0)
    assert {"context_weight", "neighbours.previous", "latest_boost"} <= set(tide.names)
    replayed = set(knobs_of(PRESETS["tide"], replays=True).names)
    assert replayed == {
        "dense_weight", "lexical_weight", "named_speaker_boost", "question_penalty", "asked_time_boost", "latest_boost",
    }  # fmt: skip
    hidden = Profile(name="h", law="sum", factors=(Similarity(weight=1), Importance(weight=0)))
    assert knobs_of(hidden).names == ("semantic", "importance")
    assert knobs_of(hidden, replays=True).names == ("semantic",)
