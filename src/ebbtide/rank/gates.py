"""The gates: which scored candidates are returned, in which order, and what dropped each of the others."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbtide.rank.candidates import Booleans, Candidates, Floats, Identifier, Integers
from ebbtide.rank.profile import Profile
from ebbtide.rank.rerank import Reranked
from ebbtide.rank.score import TOLERANCE, Scored, base_relevance, full_text_hits

__all__ = ["Drop", "Selection", "Stage", "drops", "select"]


class Stage(IntEnum):
    """Where a candidate ended, in the order in which the gates apply."""

    KEPT = 0
    SUPERSEDED = 1
    SIMILARITY = 2
    CONFIDENCE = 3
    RELEVANCE_FLOOR = 4
    MINIMUM = 5
    RELATIVE_CUTOFF = 6
    PERSONAL_DATA = 7
    FALLBACK = 8
    DUPLICATE = 9
    LIMIT = 10


RULES: Mapping[Stage, str] = {
    Stage.SUPERSEDED: "include_superseded",
    Stage.SIMILARITY: "min_similarity",
    Stage.CONFIDENCE: "min_confidence",
    Stage.RELEVANCE_FLOOR: "relevance_floor",
    Stage.MINIMUM: "min_score",
    Stage.RELATIVE_CUTOFF: "relative_cutoff",
    Stage.PERSONAL_DATA: "personal_data",
    Stage.DUPLICATE: "identical_content",
    Stage.FALLBACK: "full_text_fallback",
    Stage.LIMIT: "limit",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What the gates decided about n candidates.

    Attributes:
        kept: positions of the results, best first.
        ranked: positions of all that passed every gate but the limit, best first; `kept` is its beginning.
        duplicates: for a kept position, the positions folded into it, best first.
        nothing_relevant: no candidate passed the gates on similarity and relevance. Withholds nothing by itself.
        stage: codes of `Stage`, shape (n,).
        measured: what was compared with the threshold, NaN where nothing was, shape (n,).
        threshold: what it was compared with, shape (n,).
        folded_into: position of the candidate that stands for a duplicate, -1 for none, shape (n,).
    """

    kept: Integers
    ranked: Integers
    duplicates: Mapping[int, tuple[int, ...]]
    nothing_relevant: bool
    stage: NDArray[np.int8]
    measured: Floats
    threshold: Floats
    folded_into: Integers

    def reach(self, depth: int) -> list[int]:
        """Positions of the first `depth` that passed every gate but the limit, and of what was folded into them."""
        ahead = self.ranked[:depth]
        return [*ahead.tolist(), *np.flatnonzero(np.isin(self.folded_into, ahead)).tolist()]


@dataclass(frozen=True, slots=True)
class Drop:
    """Why one candidate is not among the results.

    Attributes:
        id: the candidate.
        stage: the gate, lower case, such as `similarity`.
        rule: the setting that decided, such as `min_similarity`.
        value: what was measured: for `duplicate` its relevance, for `limit` its rank, for `fallback` the number of
            other results. None where the rule measures nothing.
        threshold: what it had to reach: for `duplicate` the relevance of the one that stands for it.
        duplicate_of: the id of that one.
    """

    id: Identifier
    stage: str
    rule: str
    value: float | None
    threshold: float | None
    duplicate_of: Identifier | None


class _Sieve:
    """The state of a selection under way: each candidate is dropped at most once, by the first gate it fails."""

    def __init__(self, count: int) -> None:
        self.stage = np.zeros(count, dtype=np.int8)
        self.measured = np.full(count, np.nan)
        self.threshold = np.full(count, np.nan)
        self.folded_into = np.full(count, -1, dtype=np.int64)

    @property
    def open(self) -> Booleans:
        return self.stage == Stage.KEPT

    def drop(self, failing: Booleans, stage: Stage, measured: Floats | float, threshold: float) -> None:
        failing = failing & self.open
        if not failing.any():
            return
        self.stage[failing] = stage
        self.measured[failing] = measured[failing] if isinstance(measured, np.ndarray) else measured
        self.threshold[failing] = threshold


def select(
    profile: Profile,
    candidates: Candidates,
    scored: Scored,
    *,
    withheld: Sequence[int] = (),
    include_superseded: bool = False,
    reranked: Reranked | None = None,
) -> Selection:
    """Apply the gates in their fixed order, best result first.

    The order: similarity floor, confidence floor, relevance floor, minimum, relative cut-off, personal data, needless
    full-text fallback, duplicates, the limit. What a gate drops is refilled from the next candidates.

    Results are sorted by relevance; ties by what the cap took, the most first, since those were worth the most, then by
    the newer creation, then by id. A row that full text found is never lost to the similarity floor. Ask for other
    thresholds or another limit with `narrow` before scoring.

    What was `reranked` is sorted by its relevance there, ties by the reranker's score first, and duplicates are folded
    by it. The gates judge `scored`, the relevance without a reranker, so that the same rows pass whether or not it
    answers. Where its score is the base of relevance, `min_score` and `relative_cutoff` then judge what came of it too:
    no result is worth less than was asked for.

    Personal data is in the content, which is loaded for the results only. So: select, load and inspect what is kept,
    and select again with all positions `withheld` so far, until nothing new has to be withheld.
    """
    sieve = _Sieve(len(candidates))
    if candidates.superseded is not None and not include_superseded:
        sieve.drop(candidates.superseded, Stage.SUPERSEDED, np.nan, np.nan)
    relevant = _apply_thresholds(sieve, profile, candidates, scored)
    if len(withheld):
        mask = np.zeros(len(candidates), dtype=np.bool_)
        mask[np.asarray(withheld, dtype=np.int64)] = True
        sieve.drop(mask, Stage.PERSONAL_DATA, np.nan, np.nan)
    if profile.full_text.search == "fallback":
        _drop_needless_fallback(sieve, profile, candidates)
    if reranked is not None:
        scored = reranked.scored
        if profile.base == "fused":
            _drop_little_relevant(sieve, profile, scored.values)
    ranked, duplicates = _fold(sieve, candidates, scored, _order(sieve.open, candidates, scored, reranked))
    beyond = ranked[profile.limit :]
    sieve.stage[beyond] = Stage.LIMIT
    sieve.measured[beyond] = np.arange(profile.limit + 1, len(ranked) + 1)
    sieve.threshold[beyond] = profile.limit
    kept = ranked[: profile.limit]
    return Selection(
        kept=kept,
        ranked=ranked,
        duplicates={winner: duplicates[winner] for winner in kept.tolist() if winner in duplicates},
        nothing_relevant=not relevant,
        stage=sieve.stage,
        measured=sieve.measured,
        threshold=sieve.threshold,
        folded_into=sieve.folded_into,
    )


def _apply_thresholds(sieve: _Sieve, profile: Profile, candidates: Candidates, scored: Scored) -> bool:
    """Drop what fails a threshold; True where something passes all that speak of relevance."""
    gates, values = profile.gates, scored.values
    relevant = sieve.open
    if gates.min_similarity > 0:
        far = candidates.similarity < gates.min_similarity - TOLERANCE
        far &= ~full_text_hits(profile, candidates)
        sieve.drop(far, Stage.SIMILARITY, candidates.similarity, gates.min_similarity)
        relevant &= ~far
    if gates.min_confidence > 0:
        doubtful = candidates.confidence < gates.min_confidence - TOLERANCE
        sieve.drop(doubtful, Stage.CONFIDENCE, candidates.confidence, gates.min_confidence)
    if gates.relevance_floor > 0:
        base = base_relevance(profile, candidates)
        low = base < gates.relevance_floor - TOLERANCE
        sieve.drop(low, Stage.RELEVANCE_FLOOR, base, gates.relevance_floor)
        relevant &= ~low
    if gates.min_score > 0:
        relevant &= values >= gates.min_score - TOLERANCE
    _drop_little_relevant(sieve, profile, values)
    return bool(relevant.any())


def _drop_little_relevant(sieve: _Sieve, profile: Profile, values: Floats) -> None:
    """Drop what fails a threshold on relevance."""
    gates = profile.gates
    if gates.min_score > 0:
        sieve.drop(values < gates.min_score - TOLERANCE, Stage.MINIMUM, values, gates.min_score)
    if gates.relative_cutoff > 0 and sieve.open.any():
        threshold = gates.relative_cutoff * float(values[sieve.open].max())
        # Bonuses below zero can turn relevance negative, and a share of it would then lie above the best.
        if threshold > 0:
            sieve.drop(values < threshold - TOLERANCE, Stage.RELATIVE_CUTOFF, values, threshold)


def _order(open_: Booleans, candidates: Candidates, scored: Scored, reranked: Reranked | None) -> Integers:
    positions = np.flatnonzero(open_)
    created = candidates.created_at[positions]
    columns = [np.where(np.isnan(created), np.inf, -created), -scored.values[positions]]
    if (cut := scored.cut) is not None:
        columns.insert(1, -cut[positions])
    if reranked is not None:
        columns.insert(len(columns) - 1, -np.nan_to_num(reranked.scores[positions], nan=-1.0))
    order = np.lexsort(columns)
    columns, positions = [column[order] for column in columns], positions[order]
    tied = columns[-1][1:] == columns[-1][:-1]
    if not tied.any():
        return positions
    ids: list[Any] = [candidates.ids[position] for position in positions.tolist()]
    keys = list(zip(*(column.tolist() for column in reversed(columns)), ids, strict=True))
    return positions[sorted(range(len(keys)), key=keys.__getitem__)]


def _fold(
    sieve: _Sieve, candidates: Candidates, scored: Scored, order: Integers
) -> tuple[Integers, dict[int, tuple[int, ...]]]:
    hashes = candidates.content_hash
    if hashes is None or len(set(hashes)) == len(hashes):
        return order, {}
    winners: dict[Hashable, int] = {}
    folded: dict[int, list[int]] = {}
    ranked: list[int] = []
    for position in order.tolist():
        content = hashes[position]
        winner = position if content is None else winners.setdefault(content, position)
        if winner == position:
            ranked.append(position)
            continue
        folded.setdefault(winner, []).append(position)
        sieve.stage[position] = Stage.DUPLICATE
        sieve.measured[position] = scored.values[position]
        sieve.threshold[position] = scored.values[winner]
        sieve.folded_into[position] = winner
    duplicates = {winner: tuple(others) for winner, others in folded.items()}
    return np.array(ranked, dtype=np.int64), duplicates


def _drop_needless_fallback(sieve: _Sieve, profile: Profile, candidates: Candidates) -> None:
    """Leave out what came in by full text alone where the others fill the limit without it (Ibex's fallback)."""
    by_text = full_text_hits(profile, candidates)
    others = np.flatnonzero(sieve.open & ~by_text).tolist()
    hashes = candidates.content_hash
    # A row without a hash is a content of its own.
    contents = others if hashes is None else {(hashes[i], None if hashes[i] is not None else i) for i in others}
    if len(contents) >= profile.limit:
        sieve.drop(by_text, Stage.FALLBACK, float(len(contents)), float(profile.limit))


def drops(candidates: Candidates, selection: Selection) -> list[Drop]:
    """Why each candidate that is not among the results was dropped, in the order of the candidates."""
    # As lists, because reading numpy's numbers one by one costs ten times as much.
    measured, thresholds = selection.measured.tolist(), selection.threshold.tolist()
    winners: list[int] = selection.folded_into.tolist()
    codes: list[int] = selection.stage.tolist()
    report: list[Drop] = []
    for position, code in enumerate(codes):
        if code == Stage.KEPT:
            continue
        stage, winner = Stage(code), winners[position]
        report.append(
            Drop(
                id=candidates.ids[position],
                stage=stage.name.lower(),
                rule=RULES[stage],
                value=_known(measured[position]),
                threshold=_known(thresholds[position]),
                duplicate_of=candidates.ids[winner] if winner >= 0 else None,
            )
        )
    return report


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
