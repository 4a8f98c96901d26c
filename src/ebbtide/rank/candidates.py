"""The candidates of one recall as a struct of arrays, one element a memory."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Booleans",
    "Candidates",
    "Column",
    "Floats",
    "Identifier",
    "Integers",
    "ListwiseInputs",
    "Source",
    "append",
    "union",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Column = Floats | Sequence[float | None]
Identifier = UUID | str

# What a stored row holds where nothing was said; the write path has the same defaults.
DEFAULT_IMPORTANCE = 0.5
DEFAULT_CONFIDENCE = 0.7
DEFAULT_USEFULNESS = 0.5


class Source(IntEnum):
    """Which search found a candidate."""

    VECTOR = 0
    FULL_TEXT = 1
    BOTH = 2
    GRAPH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ListwiseInputs:
    """What the listwise law wants to know beyond the columns every law reads. Arrays have one element a candidate.

    Attributes:
        lexical: Σ idf·tf over the query's terms, ≥ 0; 0 where no term occurs.
        lexical_maximum: Σ idf over all terms of the query, the unknown ones included; 0 for a query without terms.
        dense_similarity: cosine in [-1, 1] with the query the profile asks for (names stripped), NaN without a vector;
            None where the candidates' `similarity` serves.
        context_similarity: q·norm(v + 0.7·v_previous) in [-1, 1]; NaN, or None for all, where nothing precedes.
        chats: the conversation a memory belongs to, None outside one.
        sequence: its position there, a whole number, NaN outside a conversation.
        speaker_matches: the query names exactly one person and this memory is theirs.
        is_question: the memory is a message that ends in a question mark.
        repeats_query: the memory is such a message and the query itself, but for case.
        asks_for_latest: the query is about the present: "now", "latest", "currently".
        successor_index: position among the candidates of the memory that superseded this one, -1 for none.
    """

    lexical: Floats
    lexical_maximum: float
    dense_similarity: Floats | None = None
    context_similarity: Floats | None = None
    chats: Sequence[Hashable] | None = None
    sequence: Floats | None = None
    speaker_matches: Booleans | None = None
    is_question: Booleans | None = None
    repeats_query: Booleans | None = None
    asks_for_latest: bool = False
    successor_index: Integers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """n candidates, each array of length n. Moments are seconds since 1970 UTC; NaN stands for "none".

    Attributes:
        ids: one id a candidate.
        similarity: cosine similarity in [0, 1]; NaN for a row without a vector. Ranking never changes it.
        text_rank: what the full-text search measured, ≥ 0; NaN for a row it did not find.
        source: codes of `Source`.
        importance, confidence, usefulness: in [0, 1].
        access_count: recalls so far, ≥ 0.
        labels: category labels of each candidate.
        created_at, updated_at, observed_at, valid_from, last_mentioned_at: the clocks.
        bonuses: Σ of the bonuses of the namespace rules that match.
        content_hash: equal for identical content; None for a candidate that is never folded.
        superseded: rows that only lend their score to their successor; None for none.
        outdated: rows of whose facts none holds any more; None for none.
        effective_confidence: confidence times recall probability, in [0, 1]; None where `confidence` serves.
        fused: what ranks in place of similarity, in [0, 1] (fused sub-queries, a reranker); NaN or None for none.
        keyword_share: share of the query's keywords that occur, in [0, 1]; None where it was not computed.
        days_after_asked: days from the end of the time the query asks about, ≥ 0; 0 within it, infinite before it and
            where what comes after tells nothing; None where the query asks about no time.
        linked: how firmly the graph links it to what is asked, in [0, 1]; None where no walk was made.
        listwise: what the listwise law reads, None for the other laws.
    """

    ids: tuple[Identifier, ...]
    similarity: Floats
    text_rank: Floats
    source: Integers
    importance: Floats
    confidence: Floats
    usefulness: Floats
    access_count: Floats
    labels: tuple[tuple[str, ...], ...]
    created_at: Floats
    updated_at: Floats
    observed_at: Floats
    valid_from: Floats
    last_mentioned_at: Floats
    bonuses: Floats
    content_hash: tuple[Hashable, ...] | None = None
    superseded: Booleans | None = None
    outdated: Booleans | None = None
    effective_confidence: Floats | None = None
    fused: Floats | None = None
    keyword_share: Floats | None = None
    days_after_asked: Floats | None = None
    linked: Floats | None = None
    listwise: ListwiseInputs | None = None

    def __post_init__(self) -> None:
        for owner, names in ((self, COLUMNS), (self.listwise, LISTWISE_COLUMNS)):
            for name in names if owner is not None else ():
                column = getattr(owner, name)
                if column is not None and len(column) != len(self.ids):
                    raise ValueError(f"{name} has {len(column)} elements for {len(self.ids)} candidates")

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def build(
        cls,
        ids: Sequence[Identifier],
        *,
        similarity: Column | None = None,
        text_rank: Column | None = None,
        source: Sequence[int] | Integers | None = None,
        importance: Column | None = None,
        confidence: Column | None = None,
        usefulness: Column | None = None,
        access_count: Column | None = None,
        labels: Sequence[Sequence[str] | None] | None = None,
        created_at: Column | None = None,
        updated_at: Column | None = None,
        observed_at: Column | None = None,
        valid_from: Column | None = None,
        last_mentioned_at: Column | None = None,
        bonuses: Column | None = None,
        content_hash: Sequence[Hashable] | None = None,
        superseded: Sequence[bool] | Booleans | None = None,
        outdated: Sequence[bool] | Booleans | None = None,
        effective_confidence: Column | None = None,
        fused: Column | None = None,
        keyword_share: Column | None = None,
        days_after_asked: Column | None = None,
        linked: Column | None = None,
        listwise: ListwiseInputs | None = None,
    ) -> Candidates:
        """Candidates from columns; a column that is left out holds the store's defaults, a None in one becomes NaN.

        Without `source` a row counts as found by the searches that measured something about it.

        Raises:
            ValueError: a column's length is not the number of ids.
        """
        count = len(ids)
        similarities = _floats(similarity, count, np.nan)
        text_ranks = _floats(text_rank, count, np.nan)
        return cls(
            ids=tuple(ids),
            similarity=similarities,
            text_rank=text_ranks,
            source=_sources(similarities, text_ranks) if source is None else np.asarray(source, dtype=np.int64),
            importance=_floats(importance, count, DEFAULT_IMPORTANCE),
            confidence=_floats(confidence, count, DEFAULT_CONFIDENCE),
            usefulness=_floats(usefulness, count, DEFAULT_USEFULNESS),
            access_count=_floats(access_count, count, 0.0),
            labels=((),) * count if labels is None else tuple([tuple(row) if row else () for row in labels]),
            created_at=_floats(created_at, count, np.nan),
            updated_at=_floats(updated_at, count, np.nan),
            observed_at=_floats(observed_at, count, np.nan),
            valid_from=_floats(valid_from, count, np.nan),
            last_mentioned_at=_floats(last_mentioned_at, count, np.nan),
            bonuses=_floats(bonuses, count, 0.0),
            content_hash=None if content_hash is None else tuple(content_hash),
            superseded=None if superseded is None else np.asarray(superseded, dtype=np.bool_),
            outdated=None if outdated is None else np.asarray(outdated, dtype=np.bool_),
            effective_confidence=_optional_floats(effective_confidence),
            fused=_optional_floats(fused),
            keyword_share=_optional_floats(keyword_share),
            days_after_asked=_optional_floats(days_after_asked),
            linked=_optional_floats(linked),
            listwise=listwise,
        )


LISTWISE_COLUMNS = tuple(
    field.name for field in fields(ListwiseInputs) if field.name not in ("lexical_maximum", "asks_for_latest")
)
COLUMNS = tuple(field.name for field in fields(Candidates) if field.name != "listwise")


def _floats(values: Column | None, count: int, default: float) -> Floats:
    if values is None:
        return _same(count, default)
    return np.asarray(values, dtype=np.float64)


def _same(count: int, value: float) -> Floats:
    """One number again and again, which nobody may change: most columns of most recalls are just that."""
    return _at_least(1 << count.bit_length(), value)[:count]


@lru_cache(maxsize=128)
def _at_least(count: int, value: float) -> Floats:
    column = np.full(count, value, dtype=np.float64)
    column.flags.writeable = False
    return column


def _optional_floats(values: Column | None) -> Floats | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _sources(similarity: Floats, text_rank: Floats) -> Integers:
    return _source_codes(~np.isnan(similarity), ~np.isnan(text_rank))


def _source_codes(by_vector: Booleans, by_text: Booleans) -> Integers:
    return np.select(
        [by_vector & by_text, by_vector, by_text],
        [Source.BOTH, Source.VECTOR, Source.FULL_TEXT],
        default=Source.GRAPH,
    ).astype(np.int64)


def append(one: Candidates, more: Candidates) -> Candidates:
    """The candidates of a list and others that it lacks; what holds of a query as a whole is as the list has it.

    A column that only one of them has is left out, but for what stands for nothing.
    """
    every = np.arange(len(one) + len(more))
    columns = {
        field.name: _picked([getattr(one, field.name), getattr(more, field.name)], every.tolist())
        for field in fields(Candidates)
        if field.name not in ("fused", "listwise")
    }
    fused = None if one.fused is None else np.concatenate([one.fused, np.full(len(more), np.nan)])
    inputs = one.listwise
    if inputs is None or more.listwise is None:
        return Candidates(**columns, fused=fused)
    names = [name for name in LISTWISE_COLUMNS if name != "successor_index"]
    listed = {name: _picked([getattr(inputs, name), getattr(more.listwise, name)], every.tolist()) for name in names}
    successors = inputs.successor_index
    if successors is not None:
        successors = np.concatenate([successors, np.full(len(more), -1)])
    return Candidates(**columns, fused=fused, listwise=replace(inputs, **listed, successor_index=successors))


def union(lists: Sequence[Candidates]) -> tuple[Candidates, tuple[Integers, ...]]:
    """The candidates of several searches, each id once, and where each list's candidates stand among them.

    A candidate has the best similarity and text rank that any search measured, and all that found it as its source;
    the rest is as the first list has it. What only the listwise law reads is left out.
    """
    places: dict[Identifier, int] = {}
    firsts: list[int] = []
    standing: list[Integers] = []
    start = 0
    for one in lists:
        for row, id_ in enumerate(one.ids):
            if places.setdefault(id_, len(firsts)) == len(firsts):
                firsts.append(start + row)
        standing.append(np.array([places[id_] for id_ in one.ids], dtype=np.int64))
        start += len(one)
    columns = {
        field.name: _picked([getattr(one, field.name) for one in lists], firsts)
        for field in fields(Candidates)
        if field.name != "listwise"
    }
    by_vector, by_text = np.zeros(len(firsts), dtype=np.bool_), np.zeros(len(firsts), dtype=np.bool_)
    for one, stands in zip(lists, standing, strict=True):
        np.fmax.at(columns["similarity"], stands, one.similarity)
        np.fmax.at(columns["text_rank"], stands, one.text_rank)
        np.logical_or.at(by_vector, stands, (one.source == Source.VECTOR) | (one.source == Source.BOTH))
        np.logical_or.at(by_text, stands, (one.source == Source.FULL_TEXT) | (one.source == Source.BOTH))
    columns["source"] = _source_codes(by_vector, by_text)
    return Candidates(**columns), tuple(standing)


def _picked(columns: Sequence[Any], rows: Sequence[int]) -> Any:
    """The rows of columns that are laid end to end; None where one of the columns is."""
    if any(column is None for column in columns):
        return None
    if isinstance(columns[0], np.ndarray):
        return np.concatenate(columns)[np.array(rows, dtype=np.int64)]
    joined = list(chain.from_iterable(columns))
    return tuple([joined[row] for row in rows])
