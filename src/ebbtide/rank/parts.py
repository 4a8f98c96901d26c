"""The parts of a profile: factors with their parameters, gates, full-text behaviour and the listwise settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

__all__ = [
    "AccessFrequency",
    "AskedTime",
    "Clock",
    "Confidence",
    "EFoldingRecency",
    "EffectiveConfidence",
    "Factor",
    "FittedTo",
    "FullText",
    "Gates",
    "GraphWalk",
    "HalfLifeRecency",
    "Importance",
    "KeywordShare",
    "LabelRecency",
    "LexicalNeighbours",
    "Linked",
    "NamespaceBonus",
    "Part",
    "RecencyShare",
    "Similarity",
    "TideParameters",
    "Usefulness",
]

# Strict, so that `true` and "0.4" are mistakes and not numbers; an integer is still a number.
# The bounds are far beyond any use, and near enough for every law to stay finite.
NonNegative = Annotated[float, Field(strict=True, ge=0, le=1e6, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, le=1e6, allow_inf_nan=False)]
Days = Annotated[float, Field(strict=True, ge=1e-3, le=1e6, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
ColumnName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[^\x00]*$")]
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Clock = Literal["created_at", "updated_at", "observed_at", "valid_from", "last_mentioned_at"]
Clocks = Annotated[tuple[Clock, ...], Field(min_length=1)]


class Part(BaseModel):
    """What all parts of a profile share: they never change, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Weighted(Part):
    weight: NonNegative


class Similarity(_Weighted):
    """The similarity in [0, 1]; where a row has none, the profile's full-text relevance stands for it."""

    factor: Literal["similarity"] = "similarity"
    name: ColumnName = "semantic"


class Importance(_Weighted):
    """The memory's importance in [0, 1]."""

    factor: Literal["importance"] = "importance"
    name: ColumnName = "importance"


class Confidence(_Weighted):
    """The memory's base confidence in [0, 1]."""

    factor: Literal["confidence"] = "confidence"
    name: ColumnName = "confidence"


class EffectiveConfidence(_Weighted):
    """The confidence times how likely the memory is still held (see `recall_probability`), in [0, 1]."""

    factor: Literal["effective_confidence"] = "effective_confidence"
    name: ColumnName = "effective_confidence"


class Usefulness(_Weighted):
    """The memory's usefulness in [0, 1], as feedback left it."""

    factor: Literal["usefulness"] = "usefulness"
    name: ColumnName = "usefulness"


class AccessFrequency(_Weighted):
    """`min(access_count, saturation) / saturation`."""

    factor: Literal["access_frequency"] = "access_frequency"
    name: ColumnName = "access_frequency"
    saturation: Positive = 10.0


class RecencyShare(_Weighted):
    """`decay / (1 + age in days)`. The age counts from the first of `dates` that a row has, else from its creation."""

    factor: Literal["recency_share"] = "recency_share"
    name: ColumnName = "recency"
    decay: NonNegative = 0.05
    dates: Clocks = ("updated_at",)


class HalfLifeRecency(_Weighted):
    """`0.5 ** (age / half_life_days)`. The age counts from the first of `dates` that a row has, else its creation."""

    factor: Literal["half_life_recency"] = "half_life_recency"
    name: ColumnName = "recency"
    half_life_days: Days = 14.0
    dates: Clocks = ("last_mentioned_at", "valid_from", "observed_at", "created_at")


class LabelRecency(_Weighted):
    """`0.5 ** (age / half-life)` with the shortest half-life, in days, among a row's labels, else `default_days`."""

    factor: Literal["label_recency"] = "label_recency"
    name: ColumnName = "recency"
    half_lives: Annotated[Mapping[Label, Days], Field(max_length=200)]
    default_days: Days = 14.0
    dates: Clocks = ("valid_from",)


class EFoldingRecency(_Weighted):
    """`e ** (-age / days)`. The age counts from the first of `dates` that a row has, else from its creation."""

    factor: Literal["e_folding_recency"] = "e_folding_recency"
    name: ColumnName = "recency"
    days: Days = 30.0
    dates: Clocks = ("created_at",)


class NamespaceBonus(_Weighted):
    """Σ of the bonuses of all namespace rules that match."""

    factor: Literal["namespace_bonus"] = "namespace_bonus"
    name: ColumnName = "namespace"


class KeywordShare(_Weighted):
    """The share of the query's keywords that occur in the memory, in [0, 1]; no column where it was not computed."""

    factor: Literal["keyword_share"] = "keyword_share"
    name: ColumnName = "keywords"


class AskedTime(_Weighted):
    """1 for a memory of the time the query asks about, less and less up to `fade_days` later; no column without one."""

    factor: Literal["asked_time"] = "asked_time"
    name: ColumnName = "asked_time"
    fade_days: NonNegative = 14.0


class Linked(_Weighted):
    """How firmly the graph links it to what is asked, in [0, 1] (see `link_strength`); no column without a walk."""

    factor: Literal["linked"] = "linked"
    name: ColumnName = "graph"


Factor = Annotated[
    Similarity
    | Importance
    | Confidence
    | EffectiveConfidence
    | Usefulness
    | AccessFrequency
    | RecencyShare
    | HalfLifeRecency
    | LabelRecency
    | EFoldingRecency
    | NamespaceBonus
    | KeywordShare
    | AskedTime
    | Linked,
    Field(discriminator="factor"),
]


class Gates(Part):
    """The thresholds, in the order in which they apply; 0 switches one off.

    Attributes:
        min_similarity: on similarity. What the full-text search found is not lost to it (see `FullText.search`).
        min_confidence: on base confidence.
        relevance_floor: on the similarity, or what stands for it, before scoring.
        min_score: on relevance, which may pass 1.
        relative_cutoff: share of the best relevance that a candidate must reach.
    """

    min_similarity: Share = 0.0
    min_confidence: Share = 0.0
    relevance_floor: Share = 0.0
    min_score: NonNegative = 0.0
    relative_cutoff: Share = 0.0


class FullText(Part):
    """What a row that full text found is worth where similarity does not speak for it.

    Attributes:
        search: `always`: such rows come in whatever their similarity; `fallback`: only when the others do not fill the
            limit; `off`: a row with a vector is judged by its similarity alone.
        relevance: what stands for the similarity of a row that has none.
        replaces_similarity: it also stands for the similarity of rows that came in by full text alone.
        reports_rank: those rows report the full-text rank, clamped to [0, 1], as their similarity.
    """

    search: Literal["always", "fallback", "off"] = "always"
    relevance: Share = 0.5
    replaces_similarity: bool = False
    reports_rank: bool = False


class GraphWalk(Part):
    """How far a walk through the graph goes.

    Attributes:
        seeds: so many of the best hits are walked from, besides the entities that the query names; 0 for these alone.
        hops: along how many relations it goes from their entities to others.
        rows: so many memories it may reach, those of the rarest entities first. An entity is taken whole or not at all.
    """

    seeds: Annotated[int, Field(strict=True, ge=0, le=50)] = 5
    hops: Annotated[int, Field(strict=True, ge=0, le=3)] = 1
    rows: Annotated[int, Field(strict=True, ge=1, le=1_000)] = 50


class LexicalNeighbours(Part):
    """Shares of the lexical score that a message takes over from those around it in the same conversation.

    `answered_question` comes on top of `previous` where the message before ends in a question mark: what follows a
    question answers it, and often repeats none of its words.
    """

    previous: NonNegative = 0.5
    next: NonNegative = 0.2
    two_before: NonNegative = 0.2
    answered_question: NonNegative = 0.3


class TideParameters(Part):
    """The steps of the listwise law, each of which does nothing where its data is absent.

    Attributes:
        dense_weight: weight of the min-max scaled dense similarity, `q·v + context_weight · q·norm(v + …)`.
        context_weight: weight of the similarity with the message in its context.
        strip_names: the dense query goes without the names of people, which mislead small models.
        lexical_weight, lexical_cap: weight and cap of Σ idf·tf over Σ idf of all query terms.
        neighbours: smoothing of the lexical score within a conversation.
        named_speaker_boost: factor for memories of the one person whom the query names.
        question_penalty: factor for a message that only asks.
        repeated_question_penalty: factor for one that is the query itself, asked before; nor does its nearness count.
        asked_time_boost: factor for memories of the time that the query asks about.
        asked_time_fade_days: for how many days after a day or a week that a query names the boost fades out, since one
            tells of it then; 0 for none.
        latest_boost: for a query about the present ("now", "latest"), the newest candidate's score rises by this share,
            the oldest one's not at all, the others' by their rank in between.
        namespace_bonuses: the bonuses of namespace rules raise the score, `× (1 + Σ bonuses)`.
        lend_superseded_score: a successor takes the score of what it superseded where that is higher.
        superseded_penalty: factor for superseded rows, where they are asked for.
        outdated_penalty: factor for a memory, such as a turn, of whose facts none holds any more.
        graph_weight, graph_place: where the profile walks the graph, what is linked is lifted by up to this share of
            the best score, and at most to below the hit of this place, counted from 1 (see `lift`).
    """

    dense_weight: NonNegative = 0.5
    context_weight: NonNegative = 1.0
    strip_names: bool = True
    lexical_weight: NonNegative = 0.5
    lexical_cap: Positive = 2.0
    neighbours: LexicalNeighbours = LexicalNeighbours()
    named_speaker_boost: NonNegative = 1.5
    question_penalty: NonNegative = 0.85
    repeated_question_penalty: NonNegative = 0.2
    asked_time_boost: NonNegative = 1.4
    asked_time_fade_days: NonNegative = 14.0
    latest_boost: NonNegative = 0.1
    namespace_bonuses: bool = True
    lend_superseded_score: bool = True
    superseded_penalty: NonNegative = 0.5
    outdated_penalty: NonNegative = 0.5
    graph_weight: NonNegative = 0.5
    graph_place: Annotated[int, Field(strict=True, ge=1, le=200)] = 5


class FittedTo(Part):
    """Where a tuned profile's weights come from.

    Attributes:
        tuned_from: the profile they started at.
        source: `feedback`, or the data set.
        at: when, UTC.
        queries: how many queries they were fitted to.
        ndcg_before, ndcg_after: nDCG@10 on queries held out, of the profile it started at and of its tuned form.
        seed: what the queries were shared out by.
    """

    tuned_from: str
    source: str
    at: AwareDatetime
    queries: int
    ndcg_before: float
    ndcg_after: float
    seed: int
