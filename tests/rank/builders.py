"""Candidates for the ranking tests: small ones by hand, and arbitrary ones for properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ebbtide.rank.candidates import Booleans, Candidates, Floats, ListwiseInputs, Source

NOW = 1_760_000_000.0
DAY = 86_400.0


def days_ago(days: float) -> float:
    return NOW - days * DAY


def candidates(count: int = 1, **columns: Any) -> Candidates:
    """`count` rows written today, similarity 0.5, with the given columns in place of these."""
    ids = columns.pop("ids", [f"m{i:03}" for i in range(count)])
    defaults: dict[str, Any] = {
        "similarity": [0.5] * len(ids),
        "created_at": [NOW] * len(ids),
        "updated_at": [NOW] * len(ids),
    }
    return Candidates.build(ids, **(defaults | columns))


class _Columns:
    """Columns of one length; a seed decides them, since drawing each number from hypothesis takes seconds."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = np.random.default_rng(seed)
        self.count = count

    def choice(self, values: Sequence[Any]) -> list[Any]:
        return [values[i] for i in self.random.integers(0, len(values), self.count)]

    def numbers(self, low: float, high: float, *, missing: float = 0.0) -> Floats:
        """Uniform numbers, among them both ends and repetitions, where ties and limits are."""
        values = self.random.choice([low, high, *self.random.uniform(low, high, 6)], self.count)
        return np.where(self.random.random(self.count) < missing, np.nan, values)

    def flags(self) -> Booleans:
        return self.random.random(self.count) < 0.3


@st.composite
def arbitrary_candidates(draw: st.DrawFn, *, listwise: bool = False, smallest: int = 0) -> Candidates:
    """Any candidates that a store could hand over, those without a vector, date or label among them."""
    count = draw(st.integers(smallest, 12))
    columns = _Columns(draw(st.integers(0, 2**32)), count)
    oldest, latest = days_ago(4000), days_ago(-10)
    return Candidates.build(
        [f"m{i:03}" for i in range(count)],
        similarity=columns.numbers(0, 1, missing=0.2),
        text_rank=columns.numbers(0, 3, missing=0.4),
        source=columns.choice(list(Source)),
        importance=columns.numbers(0, 1),
        confidence=columns.numbers(0, 1),
        usefulness=columns.numbers(0, 1),
        access_count=np.floor(columns.numbers(0, 30)),
        labels=columns.choice([(), ("factual",), ("preference", "episodic"), ("unheard-of",)]),
        created_at=columns.numbers(oldest, latest),
        updated_at=columns.numbers(oldest, latest),
        observed_at=columns.numbers(oldest, latest, missing=0.5),
        valid_from=columns.numbers(oldest, latest, missing=0.5),
        last_mentioned_at=columns.numbers(oldest, latest, missing=0.5),
        bonuses=columns.numbers(0, 0.5),
        content_hash=columns.choice([None, "a", "b", "c"]),
        superseded=columns.flags() if listwise else None,
        outdated=columns.flags() if listwise else None,
        days_after_asked=columns.numbers(0, 30) if listwise else None,
        listwise=_arbitrary_listwise(columns) if listwise else None,
    )


def _arbitrary_listwise(columns: _Columns) -> ListwiseInputs:
    return ListwiseInputs(
        lexical=columns.numbers(0, 20),
        lexical_maximum=float(columns.random.choice([0.0, 0.5, 12.0])),
        context_similarity=columns.numbers(-1, 1, missing=0.4),
        chats=tuple(columns.choice([None, "a", "b"])),
        sequence=np.floor(columns.numbers(0, 6, missing=0.2)),
        speaker_matches=columns.flags(),
        is_question=columns.flags(),
        repeats_query=columns.flags(),
        successor_index=columns.random.integers(-1, max(columns.count, 1), columns.count),
    )


def permuted(rows: Candidates, order: list[int]) -> Candidates:
    """The same candidates in another order, the successors' positions following them."""
    positions = np.array(order, dtype=np.int64)
    moved: dict[str, Any] = {}
    for name in Candidates.__dataclass_fields__:
        column = getattr(rows, name)
        if isinstance(column, np.ndarray):
            moved[name] = column[positions]
        elif isinstance(column, tuple):
            moved[name] = tuple(column[i] for i in order)
    if rows.listwise is not None:
        moved["listwise"] = _permuted_listwise(rows.listwise, order)
    return Candidates(**moved)


def _permuted_listwise(inputs: ListwiseInputs, order: list[int]) -> ListwiseInputs:
    new_position = {old: new for new, old in enumerate(order)}
    moved: dict[str, Any] = {"lexical_maximum": inputs.lexical_maximum}
    for name in ListwiseInputs.__dataclass_fields__:
        column = getattr(inputs, name)
        if isinstance(column, np.ndarray):
            moved[name] = column[np.array(order, dtype=np.int64)]
    if inputs.chats is not None:
        moved["chats"] = tuple(inputs.chats[i] for i in order)
    if inputs.successor_index is not None:
        successors = [inputs.successor_index[i] for i in order]
        moved["successor_index"] = np.array([new_position[i] if i >= 0 else -1 for i in successors], dtype=np.int64)
    return ListwiseInputs(**moved)
