"""What a law reads of a hit apart from its weights, so that a logged recall can be scored again under other ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from ebbtide.rank.candidates import Floats
from ebbtide.rank.parts import TideParameters
from ebbtide.rank.profile import Profile
from ebbtide.rank.tide import NAMES, STEPS_OF_SOME

__all__ = ["REPLAYED", "readings_of", "replayed", "signature_of"]

REPLAYED = (
    "dense_weight",
    "lexical_weight",
    "named_speaker_boost",
    "question_penalty",
    "asked_time_boost",
    "latest_boost",
)
"""The parameters of the listwise law that act on a row alone, once its evidence is measured: those can be replayed."""

SIGNATURE_BYTES = 8
# What says which memories are found and returned, and nothing about what a hit is worth.
OUTSIDE = {
    "name", "weights", "gates", "drop_personal_data", "limit", "max_limit", "kinds", "decompose", "time_filter",
    "rerank", "provenance",
}  # fmt: skip


_signatures: dict[tuple[object, ...], tuple[Profile, bytes]] = {}
MOST_SIGNATURES = 256


def signature_of(profile: Profile) -> bytes:
    """8 bytes that two profiles share if they read the same of a memory, and so differ in weights and gates alone."""
    # Narrowing a profile copies it and keeps its parts, which never change; those of a known profile are not collected.
    read = (getattr(profile, name) for name in Profile.model_fields if name not in OUTSIDE)
    key = tuple(value if value is None or isinstance(value, str | int | float) else id(value) for value in read)
    if key not in _signatures:
        if len(_signatures) >= MOST_SIGNATURES:
            _signatures.clear()
        _signatures[key] = (profile, _signature(profile))
    return _signatures[key][1]


def _signature(profile: Profile) -> bytes:
    shape = profile.model_dump(mode="json", exclude=OUTSIDE)
    for factor in shape["factors"]:
        del factor["weight"]
    if (tide := shape["tide"]) is not None:
        shape["tide"] = {name: value for name, value in tide.items() if name not in REPLAYED}
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).digest()[:SIGNATURE_BYTES]


def readings_of(profile: Profile, names: Sequence[str], contributions: Floats) -> Floats:
    """What the profile's law read of n hits, from the contributions (n, k) it made of that.

    Under `sum` a column for each factor, its value before its weight; under `boost` and `compound` the base before
    them, and for `quality_weighting` what it multiplied by after them; under `listwise` the nine steps of `tide`. NaN
    where a weight of 0, or a boost of 1, hid the value. What a query says nothing about reads as 0.
    """
    columns = dict(zip(names, contributions.T, strict=True))
    nothing = np.zeros(len(contributions))
    if profile.law == "listwise":
        return _listwise_readings(profile.tide or TideParameters(), columns)
    running = np.ones(len(contributions)) if profile.law == "sum" else contributions[:, 0]
    read = [] if profile.law == "sum" else [running]
    for factor, weight in zip(profile.factors, profile.normalised_weights, strict=True):
        column = columns.get(factor.name)
        read.append(nothing if column is None else _share(column, weight * running, hidden=weight == 0))
        if profile.law == "compound" and column is not None:
            running = running + column
    if profile.quality_weighting:
        capped = running + columns.get("cap", nothing)
        read.append(1.0 + _share(columns["quality"], capped))
    return np.stack(read, axis=1)


def replayed(profile: Profile, readings: Floats) -> Floats:
    """The relevance of n hits under a profile of the same signature, shape (n,); NaN where its weights need a reading
    that was hidden when it was made.

    A successor that took the score of what it superseded keeps its share of what its own is under these weights, and so
    does what the graph lifted.
    """
    if profile.law == "listwise":
        return _listwise_replayed(profile.tide or TideParameters(), readings)
    weights = profile.normalised_weights
    first = 0 if profile.law == "sum" else 1
    boosts = [weight * readings[:, first + place] for place, weight in enumerate(weights) if weight]
    if profile.law == "sum":
        return np.sum(boosts, axis=0)
    values = readings[:, 0]
    if profile.law == "boost":
        return values * (1.0 + np.sum(boosts, axis=0)) if boosts else values
    for boost in boosts:
        values = values * (1.0 + boost)
    if profile.cap is not None:
        values = np.minimum(values, profile.cap)
    return values * readings[:, -1] if profile.quality_weighting else values


def _share(column: Floats, whole: Floats, *, hidden: bool = False) -> Floats:
    """`column / whole`: NaN where it is hidden, and 0 where there is nothing to be a share of."""
    if hidden:
        return np.full(len(column), np.nan)
    return np.divide(column, whole, out=np.zeros(len(column)), where=whole != 0)


def _effects(tide: TideParameters) -> dict[str, float]:
    """What the steps that multiply add to 1 where they apply in full."""
    return {
        "named_speaker": tide.named_speaker_boost - 1.0,
        "question": tide.question_penalty - 1.0,
        "asked_time": tide.asked_time_boost - 1.0,
        "latest": tide.latest_boost,
        "namespace": 1.0,
    }


def _listwise_readings(tide: TideParameters, columns: dict[str, Floats]) -> Floats:
    ones = np.ones(len(columns["dense"]))
    read = [
        _share(columns[name], weight * ones, hidden=weight == 0)
        for name, weight in (
            ("dense", tide.dense_weight),
            ("lexical", tide.lexical_weight),
            ("neighbours", tide.lexical_weight),
        )
    ]
    running = columns["dense"] + columns["lexical"] + columns["neighbours"]
    for name, effect in _effects(tide).items():
        read.append(_share(columns[name], effect * running, hidden=effect == 0))
        running = running + columns[name]
    after = columns["supersession"] + sum(columns[name] for name in STEPS_OF_SOME if name in columns)
    read.append(np.where((running == 0) & (after != 0), np.nan, 1.0 + _share(after, running)))
    return np.stack(read, axis=1)


def _listwise_replayed(tide: TideParameters, readings: Floats) -> Floats:
    read: dict[str, Floats] = dict(zip(NAMES, readings.T, strict=True))
    values = np.zeros(len(readings))
    if tide.dense_weight:
        values = values + tide.dense_weight * read["dense"]
    if tide.lexical_weight:
        values = values + tide.lexical_weight * (read["lexical"] + read["neighbours"])
    for name, effect in _effects(tide).items():
        if effect:
            values = values * (1.0 + effect * read[name])
    return values * read["supersession"]
