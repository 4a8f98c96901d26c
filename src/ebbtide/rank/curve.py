"""The forgetting curve: how likely a memory is still held, what an access does to it, and what every day takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbtide.checks import check_number, check_whole
from ebbtide.rank.candidates import Floats

__all__ = [
    "FRESH",
    "CurveParameters",
    "course",
    "decayed",
    "effective_confidence",
    "recall_probabilities",
    "recall_probability",
    "reinforced",
]

# Source of all of these: Eryx 2.3, 2.4 and 12.1. fade.sql has them too, and a property test holds both together.
DAILY_DECAY = 0.995
LONGEST_HALF_LIFE, SHORTEST_HALF_LIFE = 365.0, 7.0
STEEPEST, SHALLOWEST = 4.0, 1.0
STRONGEST, WEAKEST = 2.0, 0.5
HALF_LIFE_GROWTH = 1.5
STEP = 0.1
# 1.5 ** 20 takes any half-life to its longest, and 0.995 ** 10,000 takes everything to its floor.
ENOUGH_ACCESSES, ENOUGH_DAYS = 20, 10_000
MOST_COUNTED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CurveParameters:
    """The shape of one memory's forgetting curve.

    Attributes:
        half_life: in days, 7 to 365: after so long P is half its stability.
        difficulty: the steepness, 1 to 4.
        stability: what P is at once after an access, 0.5 to 2; P itself never passes 1.
    """

    half_life: float = 30.0
    difficulty: float = 2.5
    stability: float = 1.0


FRESH = CurveParameters()
"""The curve of a memory when it is made."""


def recall_probability(
    days: float, *, half_life: float = 30.0, difficulty: float = 2.5, stability: float = 1.0
) -> float:
    """`min(1, stability · 2^-((days / half_life)^difficulty))` in [0, 1]: how likely a memory is still held.

    Source: Eryx 2.1. With the defaults it is 0.9565 after 10 days, not the 0.893 that is printed there.

    Args:
        days: since the last access, 0 or more, fractions included.
        half_life: in days, above 0.
        difficulty: the steepness, above 0.
        stability: 0 or more.

    Raises:
        InvalidInput: an argument is no finite number, or out of its range; `field` names it.
    """
    days = check_number(days, "days", least=0)
    half_life = check_number(half_life, "half_life", least=0, beyond=True)
    difficulty = check_number(difficulty, "difficulty", least=0, beyond=True)
    stability = check_number(stability, "stability", least=0)
    return float(recall_probabilities(np.float64(days), half_life, difficulty, stability))


def recall_probabilities(
    days: Floats | np.float64,
    half_life: Floats | float,
    difficulty: Floats | float,
    stability: Floats | float,
) -> Floats:
    """The same for arrays: P in [0, 1] for each element; what was accessed in the future counts as accessed now."""
    with np.errstate(over="ignore", under="ignore"):
        exponent = (np.maximum(days, 0.0) / half_life) ** difficulty
        return np.clip(stability * np.exp2(-exponent), 0.0, 1.0)


def reinforced(parameters: CurveParameters, accesses: int) -> CurveParameters:
    """What `accesses` make of a curve: half-life × 1.5, difficulty − 0.1, stability + 0.1 each, within their bounds.

    n accesses at once are n times one. Source: Eryx 2.3; the steps are absolute, as its code says.

    Raises:
        InvalidInput: `accesses` is not a whole number of 0 or more.
    """
    count = check_whole(accesses, "accesses", 0, MOST_COUNTED)
    return CurveParameters(
        min(parameters.half_life * HALF_LIFE_GROWTH ** min(count, ENOUGH_ACCESSES), LONGEST_HALF_LIFE)
        if count
        else parameters.half_life,
        max(parameters.difficulty - STEP * count, SHALLOWEST),
        min(parameters.stability + STEP * count, STRONGEST),
    )


def decayed(parameters: CurveParameters, days: float) -> CurveParameters:
    """What whole days make of a curve: all three × 0.995 a day, not below 7 days, 1.0 and 0.5. Parts of days are none.

    n days at once are n times one. A difficulty is at most 4.0. Source: Eryx 2.4.

    Raises:
        InvalidInput: `days` is no finite number of 0 or more.
    """
    whole = int(check_number(days, "days", least=0))
    return CurveParameters(*map(float, course(parameters, np.float64(whole))))


def course(parameters: CurveParameters, days: Floats | np.float64) -> tuple[Floats, Floats, Floats]:
    """Half-life, difficulty and stability so many whole days later, an array each; a negative number looks back.

    What is at its floor now may have been above it: looking back, it counts as one that came there just now.
    """
    share = DAILY_DECAY ** np.clip(days, -ENOUGH_DAYS, ENOUGH_DAYS)
    return (
        np.clip(parameters.half_life * share, SHORTEST_HALF_LIFE, LONGEST_HALF_LIFE),
        np.clip(parameters.difficulty * share, SHALLOWEST, STEEPEST),
        np.clip(parameters.stability * share, WEAKEST, STRONGEST),
    )


def effective_confidence(confidence: float, days: float, parameters: CurveParameters = FRESH) -> float:
    """`confidence · P(days)` in [0, 1]: what a confidence is worth `days` after the last access.

    Source: Eryx 9.1. A confidence of 0.8 is worth 0.7652 after 10 days on a fresh curve, not the printed 0.714.

    Raises:
        InvalidInput: an argument is out of its range; `field` names it.
    """
    base = check_number(confidence, "confidence", least=0, most=1)
    return base * recall_probability(
        days,
        half_life=parameters.half_life,
        difficulty=parameters.difficulty,
        stability=parameters.stability,
    )
