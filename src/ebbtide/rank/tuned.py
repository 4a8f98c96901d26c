"""What tuning a profile gave: its weights, and how good it is beside the one it started from."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from ebbtide.errors import InvalidInput, NotTuned
from ebbtide.rank.fit import FEWEST, MEASURES, Fit, Floats
from ebbtide.rank.knobs import Knobs, told, with_values
from ebbtide.rank.parts import FittedTo
from ebbtide.rank.profile import Profile, parse_profile

__all__ = ["TuneScores", "Tuned", "check_tunable", "make_tuned", "too_few"]


class TuneScores(BaseModel):
    """Means over queries, each in [0, 1]."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ndcg_at_10: float
    recall_at_10: float
    mrr: float


class Tuned(BaseModel):
    """What tuning a profile gave.

    `profile` is the tuned one, with its `provenance`; `weights_before` and `weights_after` are what was tuned of it, by
    name. Each query was held out once, in one of `folds` parts: `baseline_held_out` and `tuned_held_out` are what the
    profile it started from, and its form fitted to the other parts, made of the queries held out, the two of
    `…_train` what they made of those others. `gain` is what nDCG@10 rises by on those held out, `gain_low` and
    `gain_high` are its 95 % interval, and it is `better` where all of that lies above 0. `saved` is the name it was
    saved under, None where it was not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile
    tuned_from: str
    source: str
    queries: int
    folds: int
    seed: int
    weights_before: dict[str, float]
    weights_after: dict[str, float]
    baseline_train: TuneScores
    tuned_train: TuneScores
    baseline_held_out: TuneScores
    tuned_held_out: TuneScores
    gain: float
    gain_low: float
    gain_high: float
    better: bool
    saved: str | None = None


def check_tunable(knobs: Knobs, profile: Profile) -> None:
    """Raises InvalidInput for a profile whose order no weight of it can change."""
    if len(knobs.names) <= bool(knobs.shares):
        raise InvalidInput(
            f"The profile {profile.name} has no weights that could be tuned.",
            field="profile",
            remedy="Choose one with at least two factors, or with a coefficient above 0.",
        )


def too_few(usable: int, one: str, what: str, remedy: str) -> NotTuned:
    """The refusal where there are fewer queries than a fit needs: `one` is their noun, `what` says which count."""
    some = f"is 1 {one}" if usable == 1 else f"are {usable} {one}s"
    return NotTuned(f"There {some} {what} to learn from, and {FEWEST} are needed.", remedy=remedy)


def make_tuned(base: Profile, knobs: Knobs, fit: Fit, *, source: str, queries: int, seed: int, at: datetime) -> Tuned:
    """The answer, with the tuned profile validated and under the name that the one it started from has."""
    gain = float(fit.tuned_held_out[0] - fit.baseline_held_out[0])
    provenance = FittedTo(
        tuned_from=base.name, source=source, at=at, queries=queries, seed=seed,
        ndcg_before=round(float(fit.baseline_held_out[0]), 4), ndcg_after=round(float(fit.tuned_held_out[0]), 4),
    )  # fmt: skip
    changed = with_values(base, knobs, fit.values)
    return Tuned(
        profile=parse_profile({**changed.model_dump(), "provenance": provenance}),
        tuned_from=base.name,
        source=source,
        queries=queries,
        folds=fit.folds,
        seed=seed,
        weights_before=told(knobs, knobs.start.tolist()),
        weights_after=told(knobs, fit.values.tolist()),
        baseline_train=_scores(fit.baseline_train),
        tuned_train=_scores(fit.tuned_train),
        baseline_held_out=_scores(fit.baseline_held_out),
        tuned_held_out=_scores(fit.tuned_held_out),
        gain=round(gain, 4),
        gain_low=round(fit.interval[0], 4),
        gain_high=round(fit.interval[1], 4),
        better=fit.better,
    )


def _scores(means: Floats) -> TuneScores:
    return TuneScores(**{name: round(float(value), 4) for name, value in zip(MEASURES, means, strict=True)})
