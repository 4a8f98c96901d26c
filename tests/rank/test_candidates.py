"""Candidates are easily built from rows, and of one length."""

from __future__ import annotations

import numpy as np
import pytest

from ebbtide.rank.candidates import Candidates, ListwiseInputs, Source


def test_rows_become_columns_and_null_becomes_unknown() -> None:
    columns = ("ids", "similarity", "text_rank", "labels", "valid_from", "access_count")
    rows = [("a", 0.9, None, ["factual"], 1.5, 3), ("b", None, 0.2, None, None, 0), ("c", 0.5, 0.1, [], 2.0, 1)]
    candidates = Candidates.from_rows(columns, rows)
    assert candidates.ids == ("a", "b", "c")
    np.testing.assert_equal(candidates.similarity, [0.9, np.nan, 0.5])
    np.testing.assert_equal(candidates.valid_from, [1.5, np.nan, 2.0])
    assert candidates.labels == (("factual",), (), ())
    assert candidates.access_count.tolist() == [3.0, 0.0, 1.0]
    assert candidates.source.tolist() == [Source.VECTOR, Source.FULL_TEXT, Source.BOTH]


def test_columns_left_out_hold_the_defaults_of_the_store() -> None:
    candidates = Candidates.build(["a"])
    assert (candidates.importance[0], candidates.confidence[0], candidates.usefulness[0]) == (0.5, 0.7, 0.5)
    assert candidates.source.tolist() == [Source.GRAPH]
    assert np.isnan(candidates.created_at[0])


def test_no_rows_are_no_candidates() -> None:
    assert len(Candidates.from_rows(("ids", "similarity"), [])) == 0


def test_columns_of_another_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="similarity has 1 elements for 2 candidates"):
        Candidates.build(["a", "b"], similarity=[0.5])
    with pytest.raises(ValueError, match="lexical has 3 elements for 1 candidates"):
        Candidates.build(["a"], listwise=ListwiseInputs(lexical=np.zeros(3), lexical_maximum=1.0))
