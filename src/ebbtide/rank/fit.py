"""Fitting weights: a pattern search on one part of the queries, judged on the part it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ebbtide.rank.candidates import Floats, Integers
from ebbtide.rank.knobs import Knobs, project, rounded

__all__ = ["DEPTH", "FEWEST", "MEASURES", "Fit", "Objective", "fit", "folds_of", "interval_of", "measure"]

DEPTH = 10
MEASURES = ("ndcg_at_10", "recall_at_10", "mrr")

FEWEST = 30
"""Queries that a fit needs: of fewer, each fifth is too small to tell a better ranking from a lucky one."""

FOLDS = 5
FIRST_STEP, LAST_STEP = 0.4, 0.05
LEAST_GAIN = 1e-4
MOST_TRIALS = 2_000
RESAMPLES = 10_000
# What many trials measured is worth remembering, since the folds try much the same; of many queries it is large.
REMEMBERED_BYTES = 64 << 20
CONFIDENCE = 0.95

Objective = Callable[[Floats], Floats]
"""From values of the knobs (k,) to the measures of each query (q, 3), in the order of `MEASURES`."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Fit:
    """Tuned values, and what they are worth.

    Attributes:
        values: the knobs fitted to all queries, shape (k,).
        baseline_train, tuned_train, baseline_held_out, tuned_held_out: the means of `MEASURES`, shape (3,); those of
            the training parts over all folds, and those held out of each query where it was not fitted to.
        interval: the held-out gain of nDCG@10, of which 95 % lie between these two, by resampling the queries.
        folds: in how many parts the queries were.
    """

    values: Floats
    baseline_train: Floats
    tuned_train: Floats
    baseline_held_out: Floats
    tuned_held_out: Floats
    interval: tuple[float, float]
    folds: int

    @property
    def better(self) -> bool:
        """Whether the held-out gain is more than noise: all of its interval lies above 0."""
        return self.interval[0] > 0


def measure(queries: Integers, ranks: Integers, totals: Integers) -> Floats:
    """nDCG@10, recall@10 and reciprocal rank of each query, shape (q, 3), each in [0, 1].

    `queries` and `ranks`, of one length, say of which query a relevant hit is, from 0, and at which rank it came back,
    from 1; `totals` (q,) how many there are to find, at least 1. The measures are those of `ebbtide.evaluate.metrics`.
    """
    count = len(totals)
    first = ranks <= DEPTH
    gains = np.bincount(queries[first], weights=1.0 / np.log2(1.0 + ranks[first]), minlength=count)
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, DEPTH + 2)))[np.minimum(totals, DEPTH) - 1]
    found = np.bincount(queries[first], minlength=count) / totals
    best = np.full(count, np.inf)
    np.minimum.at(best, queries, ranks)
    return np.stack([gains / ideal, found, 1.0 / best], axis=1)


def fit(
    knobs: Knobs, objective: Objective, groups: Sequence[Hashable], *, seed: int = 0, tell: Tell | None = None
) -> Fit:
    """Tune knobs for the mean nDCG@10, judged on queries held out, and fit them to all queries then.

    `groups` (q,) are of what each query is: from three groups on, a group is held out as a whole. The same seed gives
    the same answer. A measure that is NaN counts as 0: under those values nothing can be said of the query.
    """
    known: dict[bytes, Floats] = {}

    def measured(values: Floats) -> Floats:
        key = values.tobytes()
        if key not in known:
            found = np.nan_to_num(objective(values))
            if (len(known) + 1) * found.nbytes > REMEMBERED_BYTES:
                known.clear()
            known[key] = found
        return known[key]

    parts = folds_of(groups, seed)
    everything = np.arange(len(groups))
    baseline = measured(knobs.start)
    held_out, trained, untrained = np.zeros_like(baseline), np.zeros(3), np.zeros(3)
    for number, part in enumerate(parts):
        rest = np.setdiff1d(everything, part)
        found = measured(_search(knobs, measured, rest))
        held_out[part] = found[part]
        trained += found[rest].mean(axis=0) / len(parts)
        untrained += baseline[rest].mean(axis=0) / len(parts)
        if tell is not None:
            tell("fit", number + 1, len(parts) + 1)
    values = _search(knobs, measured, everything)
    if tell is not None:
        tell("fit", len(parts) + 1, len(parts) + 1)
    return Fit(
        values=values,
        baseline_train=untrained,
        tuned_train=trained,
        baseline_held_out=baseline.mean(axis=0),
        tuned_held_out=held_out.mean(axis=0),
        interval=interval_of(held_out[:, 0] - baseline[:, 0], seed),
        folds=len(parts),
    )


def folds_of(groups: Sequence[Hashable], seed: int) -> list[Integers]:
    """The places of the queries in at most five parts, each once; a group stays together where there are three or more.

    The groups are shuffled by the seed, and each goes to the part that is smallest then.
    """
    if len(set(groups)) < 3:
        groups = range(len(groups))
    members: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    order: list[int] = np.random.default_rng(seed).permutation(len(members)).tolist()
    listed = list(members.values())
    parts: list[list[int]] = [[] for _ in range(min(FOLDS, len(listed)))]
    for number in order:
        smallest: list[int] = min(parts, key=len)
        smallest.extend(listed[number])
    return [np.array(sorted(part), dtype=np.int64) for part in parts]


def interval_of(gains: Floats, seed: int) -> tuple[float, float]:
    """Between which two the mean gain of a query lies with 95 %, by the percentiles of 10,000 resampled means.

    Source: Sakai, "Evaluating evaluation metrics based on the bootstrap", SIGIR 2006 (paired, over queries).
    """
    random = np.random.default_rng(seed)
    means = np.array([gains[random.integers(0, len(gains), len(gains))].mean() for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _search(knobs: Knobs, measured: Objective, part: Integers) -> Floats:
    """Values with the best mean nDCG@10 on some queries that steps along one knob at a time lead to, from the start.

    Each knob is tried a step up and down, and what gains stays; where none gains, the steps become half as long.
    Source: Hooke and Jeeves, "'Direct search' solution of numerical and statistical problems", J. ACM 8, 1961.
    """
    best = knobs.start
    worth = measured(best)[part, 0].mean()
    step, trials = FIRST_STEP, 0
    while step >= LAST_STEP and trials < MOST_TRIALS:
        moved = False
        for place in range(len(best)):
            for way in (step, -step):
                trial = best.copy()
                trial[place] += way * knobs.scales(best)[place]
                trial = rounded(knobs, project(knobs, trial))
                trials += 1
                found = measured(trial)[part, 0].mean()
                if found > worth + LEAST_GAIN:
                    best, worth, moved = trial, found, True
                    break
        if not moved:
            step /= 2
    return best
