"""What of a profile can be tuned: its weights as one vector, the values that vector may have, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbtide.rank.candidates import Floats
from ebbtide.rank.parts import LexicalNeighbours, TideParameters
from ebbtide.rank.profile import Profile
from ebbtide.rank.replay import REPLAYED

__all__ = ["Knobs", "knobs_of", "project", "project_to_simplex", "with_values"]

HIGHEST = 1e6
"""The bound of every weight of a profile."""

SMALLEST_SCALE = 0.25
SMALLEST_CAP = 0.1
DIGITS = 4

SHARED = ("dense_weight", "lexical_weight")
"""Of these two the order depends on the ratio alone."""

SEARCHED = ("context_weight", "lexical_cap")
NEIGHBOURS = tuple(LexicalNeighbours.model_fields)


@dataclass(frozen=True, slots=True)
class Knobs:
    """The numbers of a profile that can be tuned.

    Attributes:
        names: what each is called: a factor's name, or a parameter of `tide` such as `neighbours.previous`.
        start: their values in the profile, shape (k,).
        shares: how many of them, from the first, are shares of `whole`; the others are free, 0 or more.
        whole: what the shares add up to.
    """

    names: tuple[str, ...]
    start: Floats
    shares: int
    whole: float

    def scales(self, values: Floats) -> Floats:
        """What a step of each is a part of, shape (k,): the whole that it is a share of, or its own size."""
        sizes = np.maximum(values, SMALLEST_SCALE)
        sizes[: self.shares] = self.whole
        return sizes


def knobs_of(profile: Profile, *, replays: bool = False) -> Knobs:
    """The knobs of a profile; with `replays` those alone that a logged recall can be scored by.

    Under `sum` all weights, as shares of 1; under `boost` and `compound` all coefficients; under `listwise` the numbers
    of `tide` that act on what still holds. A weight of 0 stays hidden to whoever `replays`. Gates are no knobs.
    """
    if profile.law == "listwise":
        return _listwise_knobs(profile.tide or TideParameters(), replays=replays)
    weights = zip(profile.factors, profile.normalised_weights, strict=True)
    named = {factor.name: weight for factor, weight in weights if weight or not replays}
    start = np.array(list(named.values()), dtype=np.float64)
    if profile.law == "sum":
        return Knobs(tuple(named), start, len(named), 1.0)
    return Knobs(tuple(named), start, 0, 0.0)


def _listwise_knobs(tide: TideParameters, *, replays: bool) -> Knobs:
    shared = {name: float(getattr(tide, name)) for name in SHARED}
    if replays and not all(shared.values()):
        shared = {}
    single = {name: float(getattr(tide, name)) for name in REPLAYED if name not in SHARED}
    neutral = {"latest_boost": 0.0}
    free = {name: value for name, value in single.items() if not replays or value != neutral.get(name, 1.0)}
    if not replays:
        free |= {name: float(getattr(tide, name)) for name in SEARCHED}
        free |= {f"neighbours.{name}": float(getattr(tide.neighbours, name)) for name in NEIGHBOURS}
    start = np.array([*shared.values(), *free.values()], dtype=np.float64)
    return Knobs((*shared, *free), start, len(shared), sum(shared.values()))


def project_to_simplex(values: Floats, whole: float = 1.0) -> Floats:
    """The point nearest to `values` whose coordinates are ≥ 0 and sum to `whole`, shape (k,).

    Source: Duchi, Shalev-Shwartz, Singer and Chandra, "Efficient projections onto the l1-ball", ICML 2008, figure 1.
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - whole) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def project(knobs: Knobs, values: Floats) -> Floats:
    """The values nearest to these that the knobs may have, shape (k,)."""
    free = np.clip(values, 0.0, HIGHEST)
    if "lexical_cap" in knobs.names:
        place = knobs.names.index("lexical_cap")
        free[place] = max(free[place], SMALLEST_CAP)
    if knobs.shares:
        free[: knobs.shares] = project_to_simplex(values[: knobs.shares], knobs.whole)
    return free


def rounded(knobs: Knobs, values: Floats) -> Floats:
    """The values in four digits behind the point, what they share adding up still: the largest makes up for it."""
    short = np.round(values, DIGITS)
    if knobs.shares:
        largest = int(np.argmax(short[: knobs.shares]))
        others = np.delete(short[: knobs.shares], largest)
        short[largest] = np.round(knobs.whole - others.sum(), 2 * DIGITS)
    return short


def with_values(profile: Profile, knobs: Knobs, values: Floats) -> Profile:
    """The profile with these values, which have been projected; not validated again, since a search makes thousands."""
    given: Mapping[str, float] = dict(zip(knobs.names, values.tolist(), strict=True))
    if profile.law == "listwise":
        return profile.model_copy(update={"tide": _changed_tide(profile.tide or TideParameters(), given)})
    weights = profile.normalised_weights
    factors = tuple(
        factor.model_copy(update={"weight": given.get(factor.name, weight)})
        for factor, weight in zip(profile.factors, weights, strict=True)
    )
    return profile.model_copy(update={"factors": factors})


def _changed_tide(tide: TideParameters, given: Mapping[str, float]) -> TideParameters:
    around = {name.partition(".")[2]: value for name, value in given.items() if name.startswith("neighbours.")}
    changes: dict[str, Any] = {name: value for name, value in given.items() if "." not in name}
    if around:
        changes["neighbours"] = tide.neighbours.model_copy(update=around)
    return tide.model_copy(update=changes)


def told(knobs: Knobs, values: Sequence[float]) -> dict[str, float]:
    """The values by their names."""
    return {name: round(float(value), DIGITS) for name, value in zip(knobs.names, values, strict=True)}
