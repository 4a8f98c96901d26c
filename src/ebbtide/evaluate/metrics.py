"""How good a ranking is: recall, hits, reciprocal rank and gain, per question and averaged."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from ebbtide.errors import InvalidInput

__all__ = [
    "HIT_DEPTHS",
    "NDCG_DEPTH",
    "RECALL_DEPTHS",
    "Figures",
    "QuestionResult",
    "figures",
    "figures_by_category",
    "hit_at",
    "ndcg_at",
    "percentile",
    "recall_at",
    "reciprocal_rank",
]

RECALL_DEPTHS = (5, 10, 20)
HIT_DEPTHS = (10,)
NDCG_DEPTH = 10


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What came back for one question: the ids `ranked`, best first, and what should have: `evidence`.

    `category` is the question's type; `measurable` is false for a question that nothing answers, which counts in
    the latency alone. `latency_ms` is the wall time of the recall in milliseconds.
    """

    category: str
    evidence: tuple[str, ...]
    ranked: tuple[str, ...]
    latency_ms: float
    measurable: bool = True


@dataclass(frozen=True, slots=True)
class Figures:
    """The means over `questions` questions, each in [0, 1]; the keys of the mappings are depths."""

    questions: int
    recall_at: dict[int, float]
    hit_at: dict[int, float]
    mrr: float
    ndcg_at_10: float


def recall_at(depth: int, ranked: Sequence[str], evidence: Collection[str]) -> float:
    """The share of the evidence among the first `depth` ids, in [0, 1].

    Raises `InvalidInput` when there is no evidence.
    """
    return sum(rank <= depth for rank in _ranks(ranked, evidence)) / len(set(evidence))


def hit_at(depth: int, ranked: Sequence[str], evidence: Collection[str]) -> float:
    """1.0 when any of the evidence is among the first `depth` ids, else 0.0.

    Raises `InvalidInput` when there is no evidence.
    """
    return float(any(rank <= depth for rank in _ranks(ranked, evidence)))


def reciprocal_rank(ranked: Sequence[str], evidence: Collection[str]) -> float:
    """One over the rank of the first evidence, ranks from 1; 0.0 when none of it came back.

    Raises `InvalidInput` when there is no evidence. Its mean over questions is MRR (Voorhees, TREC-8, 1999).
    """
    return 1 / min(_ranks(ranked, evidence), default=math.inf)


def ndcg_at(depth: int, ranked: Sequence[str], evidence: Collection[str]) -> float:
    """The discounted gain of the first `depth` ids over the best possible, in [0, 1]; each evidence gains 1.

    Σ 1/log2(1 + rank) over the evidence found, divided by the same sum over the ranks 1 to min(|evidence|, depth)
    (Järvelin and Kekäläinen, ACM TOIS 20, 2002). Raises `InvalidInput` when there is no evidence.
    """
    gain = sum(_discount(rank) for rank in _ranks(ranked, evidence) if rank <= depth)
    ideal = sum(_discount(rank) for rank in range(1, min(len(set(evidence)), depth) + 1))
    return gain / ideal


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share`, in [0, 1], of the values lie below, interpolated linearly between neighbours.

    Raises `InvalidInput` when there are no values or the share is out of range.
    """
    if not values or not 0 <= share <= 1:
        raise InvalidInput(
            f"There is no percentile {share} of {len(values)} values.",
            field="share",
            remedy="Give at least one value, and a share between 0 and 1.",
        )
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def figures(results: Sequence[QuestionResult]) -> Figures:
    """The means over the measurable results. Raises `InvalidInput` when none is."""
    measured = [result for result in results if result.measurable]
    if not measured:
        raise InvalidInput(
            "No question can be measured: none has evidence.",
            field="questions",
            remedy="Give at least one question the ids of the memories that answer it.",
        )
    pairs = [(result.ranked, result.evidence) for result in measured]
    return Figures(
        questions=len(measured),
        recall_at={depth: fmean(recall_at(depth, *pair) for pair in pairs) for depth in RECALL_DEPTHS},
        hit_at={depth: fmean(hit_at(depth, *pair) for pair in pairs) for depth in HIT_DEPTHS},
        mrr=fmean(reciprocal_rank(*pair) for pair in pairs),
        ndcg_at_10=fmean(ndcg_at(NDCG_DEPTH, *pair) for pair in pairs),
    )


def figures_by_category(results: Sequence[QuestionResult]) -> dict[str, Figures]:
    """The means over each category's measurable results, the categories in alphabetical order."""
    categories = sorted({result.category for result in results if result.measurable})
    return {name: figures([result for result in results if result.category == name]) for name in categories}


def _ranks(ranked: Sequence[str], evidence: Collection[str]) -> list[int]:
    """The rank, from 1, of each evidence that came back; an id that came back twice counts where it was first."""
    if not evidence:
        raise InvalidInput(
            "A ranking cannot be measured without evidence.",
            field="evidence",
            remedy="Leave the question out of the figures.",
        )
    first: dict[str, int] = {}
    for rank, name in enumerate(ranked, start=1):
        first.setdefault(name, rank)
    return [first[name] for name in set(evidence) if name in first]


def _discount(rank: int) -> float:
    return 1 / math.log2(1 + rank)
