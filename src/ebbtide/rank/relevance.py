"""The relevance of a single item outside the store, by the same law that a recall applies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from numbers import Real
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from ebbtide.errors import InvalidInput, MissingInput
from ebbtide.rank.candidates import Candidates
from ebbtide.rank.explain import contributions
from ebbtide.rank.parts import (
    AccessFrequency,
    Confidence,
    EffectiveConfidence,
    EFoldingRecency,
    Factor,
    HalfLifeRecency,
    Importance,
    LabelRecency,
    RecencyShare,
    Similarity,
    Usefulness,
)
from ebbtide.rank.profile import Profile, parse_profile
from ebbtide.rank.score import score
from ebbtide.rank.strategies import BUILT_IN
from ebbtide.text import shown

__all__ = ["Relevance", "relevance"]

# A cosine of two equal unit vectors may come out as 1.0000000000000002.
ROUNDING = 1e-9
MOST_GIVEN = 1_000


class Relevance(BaseModel):
    """What an item is worth.

    Attributes:
        value: the relevance; it may pass 1.
        contributions: what each step added to it, in the profile's order; sums to `value`.
        similarity: the similarity that was given, unchanged; None where none was.
    """

    model_config = ConfigDict(frozen=True)

    value: float
    contributions: dict[str, float]
    similarity: float | None = None


def relevance(
    profile: str | Profile | Mapping[str, Any],
    *,
    similarity: float | None = None,
    importance: float | None = None,
    labels: str | Iterable[str] | None = None,
    usefulness: float | None = None,
    confidence: float | None = None,
    effective_confidence: float | None = None,
    access_count: int | None = None,
    created_at: datetime | None = None,
    updated_at: datetime | None = None,
    valid_from: datetime | None = None,
    last_mentioned_at: datetime | None = None,
    bonuses: float | Iterable[float] | None = None,
    now: datetime | None = None,
) -> Relevance:
    """The relevance of one item, computed exactly as a recall under that profile computes it.

    What the profile does not use may be left out. No labels and no bonuses are values like any other. Dates are not
    checked against each other, and one in the future counts as now. Where the profile reads `effective_confidence` and
    it is left out, `confidence` stands for it.

    Args:
        profile: the name of a preset or strategy, or a profile of your own, as such or as a mapping.
        similarity, importance, usefulness, confidence, effective_confidence: in [0, 1].
        labels: category labels, or a single one.
        access_count: recalls so far, ≥ 0.
        created_at, updated_at, valid_from, last_mentioned_at, now: moments with a time zone.
        bonuses: those of the namespace rules that match, or their sum.

    Raises:
        MissingInput: the profile needs a value that was not given; `field` names it.
        InvalidProfile: a mapping that is no profile.
        InvalidInput: a value is out of its range or has no time zone, the profile is unknown, or its score depends on
            the whole list of candidates (`tide`); `field` names the argument.
    """
    chosen = _profile(profile)
    numbers = {
        "similarity": _share("similarity", similarity),
        "importance": _share("importance", importance),
        "usefulness": _share("usefulness", usefulness),
        "confidence": _share("confidence", confidence),
        "effective_confidence": _share("effective_confidence", effective_confidence),
        "access_count": _count("access_count", access_count),
    }
    moments = {
        "created_at": _moment("created_at", created_at),
        "updated_at": _moment("updated_at", updated_at),
        "valid_from": _moment("valid_from", valid_from),
        "last_mentioned_at": _moment("last_mentioned_at", last_mentioned_at),
        "now": _moment("now", now),
    }
    given = {field: value for field, value in (numbers | moments).items() if value is not None}
    row_labels, bonus = _labels(labels), _bonus(bonuses)
    _require_inputs(chosen, given)
    item = Candidates.build(
        ["item"],
        labels=[row_labels],
        bonuses=[bonus],
        **cast("dict[str, Any]", {field: [value] for field, value in given.items() if field != "now"}),
    )
    scored = score(chosen, item, now=given.get("now", math.nan))
    return Relevance(
        value=float(scored.values[0]), contributions=contributions(scored, 0), similarity=numbers["similarity"]
    )


def _profile(profile: str | Profile | Mapping[str, Any]) -> Profile:
    if isinstance(profile, Mapping):
        profile = parse_profile(profile)
    if not isinstance(profile, Profile):
        if not isinstance(profile, str) or profile not in BUILT_IN:
            raise InvalidInput(
                f"There is no profile {shown(profile)}.",
                field="profile",
                remedy=f"Choose one of {', '.join(BUILT_IN)}, or give one of your own.",
            )
        profile = BUILT_IN[profile]
    if profile.law == "listwise":
        raise InvalidInput(
            f"The profile `{profile.name}` cannot score a single item: its score depends on the whole candidate list.",
            field="profile",
            remedy="Recall with it, or choose a profile of another law.",
        )
    return profile


def _require_inputs(profile: Profile, given: Mapping[str, float]) -> None:
    needed: list[tuple[str, ...]] = []
    if profile.base is not None:
        needed.append(("similarity",))
    for factor in profile.factors:
        needed.extend(_needs(factor) if factor.weight else ())
    if profile.quality_weighting:
        needed.append(("confidence", "effective_confidence"))
    for alternatives in needed:
        if not any(field in given for field in alternatives):
            wanted = " or ".join(f"`{field}`" for field in alternatives)
            raise MissingInput(
                f"The profile `{profile.name}` needs {wanted}.", field=alternatives[0], remedy="Give it as an argument."
            )


def _needs(factor: Factor) -> list[tuple[str, ...]]:
    """The inputs without which a factor cannot be computed; of each tuple, one is enough."""
    match factor:
        case Similarity() | Importance() | Usefulness() | Confidence() | AccessFrequency():
            field = "access_count" if isinstance(factor, AccessFrequency) else factor.factor
            return [(field,)]
        case EffectiveConfidence():
            return [("confidence", "effective_confidence")]
        case RecencyShare() | HalfLifeRecency() | LabelRecency() | EFoldingRecency():
            # The moment of observation is no argument here, since no preset but one reads it, and then only third.
            dates = tuple(date for date in factor.dates if date != "observed_at")
            return [dates or ("created_at",), ("now",)]
        case _:
            return []


def _number(field: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(
            f"`{field}` must be a finite number, not {shown(value)}.",
            field=field,
            remedy="Give a number, or leave it out.",
        )
    return number


def _share(field: str, value: float | None) -> float | None:
    if value is None:
        return None
    number = _number(field, value)
    if not -ROUNDING <= number <= 1.0 + ROUNDING:
        raise InvalidInput(
            f"`{field}` must be from 0 to 1, not {shown(value)}.", field=field, remedy="Give a number from 0 to 1."
        )
    return min(1.0, max(0.0, number))


def _count(field: str, value: int | None) -> float | None:
    if value is None:
        return None
    number = _number(field, value)
    if number < 0 or not number.is_integer():
        raise InvalidInput(
            f"`{field}` must be a whole number of at least 0, not {shown(value)}.", field=field, remedy="Give a count."
        )
    return number


def _moment(field: str, value: datetime | None) -> float | None:
    if value is None:
        return None
    if not isinstance(cast("object", value), datetime):
        raise InvalidInput(
            f"`{field}` must be a date and time, not {shown(value)}.", field=field, remedy="Give a datetime."
        )
    if value.utcoffset() is None:
        raise InvalidInput(
            f"`{field}` has no time zone, so it names no moment.",
            field=field,
            remedy="Add a time zone, such as `tzinfo=UTC`.",
        )
    return value.timestamp()


def _labels(labels: str | Iterable[str] | None) -> tuple[str, ...]:
    several = _several(labels)
    texts = tuple(label for label in several if isinstance(label, str))
    if len(texts) < len(several) or len(several) > MOST_GIVEN:
        raise InvalidInput(
            f"`labels` must be text, or several texts, at most {MOST_GIVEN:,}.",
            field="labels",
            remedy="Give a list of strings.",
        )
    return texts


def _bonus(bonuses: float | Iterable[float] | None) -> float:
    several = _several(bonuses)
    if len(several) > MOST_GIVEN:
        raise InvalidInput(
            f"`bonuses` are at most {MOST_GIVEN:,} numbers.", field="bonuses", remedy="Give their sum instead."
        )
    # A plain sum: fsum fails where numbers of both signs pass what a float holds.
    return _number("bonuses", sum(_number("bonuses", bonus) for bonus in several))


def _several(value: object) -> tuple[object, ...]:
    """The values given, and of too many only so many that this shows."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,)
    return tuple(islice(cast("Iterable[object]", value), MOST_GIVEN + 1))
