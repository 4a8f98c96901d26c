"""Scoring: a profile's law applied to candidates, with the matrix of contributions that explains each value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbtide.rank import factors as formulas
from ebbtide.rank.candidates import Booleans, Candidates, Floats, Integers, Source
from ebbtide.rank.parts import (
    AccessFrequency,
    AskedTime,
    Clock,
    Confidence,
    EffectiveConfidence,
    EFoldingRecency,
    Factor,
    HalfLifeRecency,
    Importance,
    KeywordShare,
    LabelRecency,
    Linked,
    NamespaceBonus,
    RecencyShare,
    Similarity,
    TideParameters,
    Usefulness,
)
from ebbtide.rank.profile import Profile
from ebbtide.rank.tide import score_listwise

__all__ = ["Scored", "base_relevance", "full_text_hits", "reported_similarity", "score"]

# Distances come from single-precision vectors: a similarity of 0.7 may be measured as 0.69999996.
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Scored:
    """The relevance of n candidates and what it is made of.

    Attributes:
        values: the relevance, shape (n,).
        contributions: shape (n, k); each row sums to its value.
        names: what the k columns are called.
    """

    values: Floats
    contributions: Floats
    names: tuple[str, ...]

    @property
    def cut(self) -> Floats | None:
        """What the profile's cap took from each value, ≥ 0, shape (n,); None without a cap."""
        return -self.contributions[:, self.names.index("cap")] if "cap" in self.names else None


def full_text_hits(profile: Profile, candidates: Candidates) -> Booleans:
    """Which candidates came in by full text alone, shape (n,).

    Those that full text alone found, and those that both searches found but whose similarity is below the profile's
    `min_similarity`: the vector search would have dropped these. A row with a vector is none of them where the
    profile's full text is `off`.
    """
    unmeasured = np.isnan(candidates.similarity) & (candidates.source != Source.GRAPH)
    if profile.full_text.search == "off":
        return unmeasured
    too_far = candidates.similarity < profile.gates.min_similarity - TOLERANCE
    by_text = candidates.source == Source.FULL_TEXT
    return unmeasured | by_text | ((candidates.source == Source.BOTH) & too_far)


def base_relevance(profile: Profile, candidates: Candidates) -> Floats:
    """The similarity as ranking reads it, in [0, 1], shape (n,): with the profile's stand-in where there is none.

    Ibex: a full-text hit has no cosine and counts as 0.5, the profile's `full_text.relevance`.
    """
    replaced = np.isnan(candidates.similarity)
    if profile.full_text.replaces_similarity:
        replaced |= full_text_hits(profile, candidates)
    return np.where(replaced, profile.full_text.relevance, candidates.similarity)


def reported_similarity(profile: Profile, candidates: Candidates, positions: Integers) -> Floats:
    """What the candidates at k positions show as their similarity, in [0, 1], shape (k,); NaN for nothing measured.

    Ibex reports the full-text rank, clamped to [0, 1], for its full-text hits; elsewhere it is the cosine alone, and
    nothing for what holds the query's words although its vector has nothing in common with the query's.
    """
    similarity, source = candidates.similarity[positions], candidates.source[positions]
    if profile.full_text.reports_rank:
        ranks = formulas.unit_interval(candidates.text_rank[positions])
        return np.where(full_text_hits(profile, candidates)[positions], ranks, similarity)
    unlike = similarity <= 0
    if unlike.any():
        unlike &= (source == Source.FULL_TEXT) | (source == Source.BOTH)
        return np.where(unlike, np.nan, similarity)
    return similarity


def score(profile: Profile, candidates: Candidates, *, now: float) -> Scored:
    """The relevance of every candidate, as the profile's law computes it. `now` in seconds since 1970 UTC.

    The contributions of a row sum to its value. Under `sum` they are the wᵢ·fᵢ. Under `boost` they are the base and
    base·wᵢ·fᵢ. Under `compound` each boost is credited, in the profile's order, with what it adds to the product so
    far; what the cap takes away is a negative column, and so is what effective confidence takes from the rest.
    """
    match profile.law:
        case "sum":
            return _sum(profile, candidates, now)
        case "boost":
            return _boost(profile, candidates, now)
        case "compound":
            return _compound(profile, candidates, now)
        case "listwise":
            return Scored(*score_listwise(profile.tide or TideParameters(), candidates))


def _sum(profile: Profile, candidates: Candidates, now: float) -> Scored:
    names, columns = _weighted_factors(profile, candidates, now)
    contributions = np.stack(columns, axis=1) if columns else np.zeros((len(candidates), 0))
    return Scored(contributions.sum(axis=1), contributions, names)


def _boost(profile: Profile, candidates: Candidates, now: float) -> Scored:
    base_name, base = _base(profile, candidates)
    names, boosts = _weighted_factors(profile, candidates, now)
    values = base * (1.0 + np.sum(boosts, axis=0)) if boosts else base
    contributions = np.stack([base, *(base * boost for boost in boosts)], axis=1)
    return Scored(values, contributions, (base_name, *names))


def _compound(profile: Profile, candidates: Candidates, now: float) -> Scored:
    base_name, values = _base(profile, candidates)
    names, boosts = _weighted_factors(profile, candidates, now)
    columns = [values]
    for boost in boosts:
        columns.append(values * boost)
        values = values * (1.0 + boost)
    if profile.cap is not None:
        capped = np.minimum(values, profile.cap)
        columns.append(capped - values)
        names, values = (*names, "cap"), capped
    if profile.quality_weighting:
        weighted = values * _effective_confidence(candidates)
        columns.append(weighted - values)
        names, values = (*names, "quality"), weighted
    return Scored(values, np.stack(columns, axis=1), (base_name, *names))


def _base(profile: Profile, candidates: Candidates) -> tuple[str, Floats]:
    similarity = base_relevance(profile, candidates)
    if profile.base == "fused" and candidates.fused is not None:
        return "fused", np.where(np.isnan(candidates.fused), similarity, candidates.fused)
    return "similarity", similarity


def _effective_confidence(candidates: Candidates) -> Floats:
    effective = candidates.effective_confidence
    return formulas.unit_interval(candidates.confidence if effective is None else effective)


def _weighted_factors(profile: Profile, candidates: Candidates, now: float) -> tuple[tuple[str, ...], list[Floats]]:
    names: list[str] = []
    columns: list[Floats] = []
    for factor, weight in zip(profile.factors, profile.normalised_weights, strict=True):
        if _is_absent(factor, candidates):
            continue
        names.append(factor.name)
        # A factor of no weight is not computed: its inputs may be absent, and 0 · NaN is NaN.
        columns.append(
            weight * _factor_values(factor, profile, candidates, now) if weight else np.zeros(len(candidates))
        )
    return tuple(names), columns


def _is_absent(factor: Factor, candidates: Candidates) -> bool:
    """Whether a factor has nothing to say of this query."""
    if isinstance(factor, KeywordShare):
        return candidates.keyword_share is None
    if isinstance(factor, Linked):
        return candidates.linked is None
    return isinstance(factor, AskedTime) and candidates.days_after_asked is None


def _factor_values(factor: Factor, profile: Profile, candidates: Candidates, now: float) -> Floats:
    match factor:
        case Similarity():
            return base_relevance(profile, candidates)
        case Importance():
            return formulas.unit_interval(candidates.importance)
        case Confidence():
            return formulas.unit_interval(candidates.confidence)
        case EffectiveConfidence():
            return _effective_confidence(candidates)
        case Usefulness():
            return formulas.unit_interval(candidates.usefulness)
        case AccessFrequency():
            return formulas.access_frequency(candidates.access_count, factor.saturation)
        case NamespaceBonus():
            return candidates.bonuses
        case KeywordShare():
            shares = candidates.keyword_share
            return np.zeros(len(candidates)) if shares is None else formulas.unit_interval(shares)
        case AskedTime():
            after = candidates.days_after_asked
            return np.zeros(len(candidates)) if after is None else formulas.asked_time_share(after, factor.fade_days)
        case Linked():
            return np.zeros(len(candidates)) if candidates.linked is None else candidates.linked
        case RecencyShare():
            return formulas.recency_share(_age(candidates, factor.dates, now), factor.decay)
        case HalfLifeRecency():
            return formulas.half_life_recency(_age(candidates, factor.dates, now), factor.half_life_days)
        case LabelRecency():
            half_lives = formulas.shortest_half_life(candidates.labels, factor.half_lives, factor.default_days)
            return formulas.half_life_recency(_age(candidates, factor.dates, now), half_lives)
        case EFoldingRecency():
            return formulas.e_folding_recency(_age(candidates, factor.dates, now), factor.days)


def _age(candidates: Candidates, dates: tuple[Clock, ...], now: float) -> Floats:
    """Age in days since the first of `dates` that a row has; a stored row always has its creation to fall back on."""
    moment: Floats = getattr(candidates, dates[0])
    for clock in (*dates[1:], "created_at"):
        following: Floats = getattr(candidates, clock)
        moment = np.where(np.isnan(moment), following, moment)
    return formulas.age_in_days(moment, now)
