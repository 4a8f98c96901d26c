"""Every ranking formula as a pure function from arrays to an array in a stated range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ebbtide.rank.candidates import Floats

__all__ = [
    "SECONDS_PER_DAY",
    "access_frequency",
    "age_in_days",
    "cosine_similarity",
    "e_folding_recency",
    "half_life_recency",
    "laplace_usefulness",
    "recency_share",
    "shortest_half_life",
    "unit_interval",
]

SECONDS_PER_DAY = 86_400.0


def cosine_similarity(distance: Floats) -> Floats:
    """`1 - distance`, clamped to [0, 1]; NaN stays NaN. `distance` is the cosine distance in [0, 2].

    Source: Ontheia, ranking 1.1; the clamp is ours, so that no hit shows a negative similarity.
    """
    return np.clip(1.0 - distance, 0.0, 1.0)


def age_in_days(moment: Floats, now: float) -> Floats:
    """`max(0, now - moment)` in fractional days, ≥ 0; NaN stays NaN. Both in seconds since 1970 UTC.

    A moment in the future has age 0: a clock that runs ahead earns no advantage.
    """
    return np.maximum(0.0, (now - moment) / SECONDS_PER_DAY)


def recency_share(age_days: Floats, decay: float) -> Floats:
    """`decay / (1 + age_days)` in (0, decay]. Source: Ontheia, ranking 2.1 (decay 0.05)."""
    return decay / (1.0 + age_days)


def half_life_recency(age_days: Floats, half_life_days: float | Floats) -> Floats:
    """`0.5 ** (age_days / half_life_days)` in [0, 1]. Source: Agentium, scoring (14 days); Ibex by category."""
    return np.exp2(-age_days / half_life_days)


def shortest_half_life(
    labels: Sequence[tuple[str, ...]], half_lives: Mapping[str, float], default_days: float
) -> Floats:
    """Days for each row: the shortest half-life among its labels; `default_days` where none of them has one.

    Source: Ibex, scoring inputs (category half-lives, the full label set considered).
    """
    known: dict[tuple[str, ...], float] = {}
    days: list[float] = []
    for row in labels:
        if row not in known:
            known[row] = min((half_lives[label] for label in row if label in half_lives), default=default_days)
        days.append(known[row])
    return np.array(days, dtype=np.float64)


def e_folding_recency(age_days: Floats, days: float) -> Floats:
    """`e ** (-age_days / days)` in [0, 1]: 1/e is left after `days`, which is not a half-life.

    Source: Eryx 1.4 (recency since creation, 30 days) and 1.5 (freshness since the last update, 90 days).
    """
    return np.exp(-age_days / days)


def laplace_usefulness(positive: Floats, negative: Floats) -> Floats:
    """`(positive + 1) / (positive + negative + 2)` in (0, 1); no feedback gives 0.5. Counts are ≥ 0.

    Source: Ibex, feedback. Neutral feedback is in neither count and moves nothing.
    """
    return (positive + 1.0) / (positive + negative + 2.0)


def access_frequency(access_count: Floats, saturation: float) -> Floats:
    """`min(access_count, saturation) / saturation` in [0, 1]. Source: Ibex, scoring inputs (saturation 10)."""
    return np.minimum(access_count, saturation) / saturation


def asked_time_share(days_after: Floats, fade_days: float) -> Floats:
    """`1 - days_after / fade_days`, at least 0: 1 within the time that is asked about, then less day by day, in [0, 1].

    What happened on a day is told of in the days after it. 0 fade days leave the time itself alone. Source: measured on
    LoCoMo and Mixed (14 days).
    """
    if fade_days == 0:
        return (days_after == 0).astype(np.float64)
    return np.maximum(1.0 - days_after / fade_days, 0.0)


def unit_interval(values: Floats) -> Floats:
    """The values clamped to [0, 1], as importance, confidence and usefulness are defined there; NaN stays NaN."""
    return np.clip(values, 0.0, 1.0)
