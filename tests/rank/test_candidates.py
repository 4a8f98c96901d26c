"""Candidates are easily built from columns, all of one length."""

from __future__ import annotations

import numpy as np
import pytest

from ebbtide.rank.candidates import Candidates, ListwiseInputs, Source


def test_null_becomes_unknown_and_sources_follow_from_what_was_measured() -> None:
    candidates = Candidates.build(
        ["a", "b", "c"],
        similarity=[0.9, None, 0.5],
        text_rank=[None, 0.2, 0.1],
        labels=[["factual"], None, []],
    )
    np.testing.assert_equal(candidates.similarity, [0.9, np.nan, 0.5])
    assert candidates.labels == (("factual",), (), ())
    assert candidates.source.tolist() == [Source.VECTOR, Source.FULL_TEXT, Source.BOTH]


def test_columns_left_out_hold_the_defaults_of_the_store() -> None:
    candidates = Candidates.build(["a"])
    assert (candidates.importance[0], candidates.confidence[0], candidates.usefulness[0]) == (0.5, 0.7, 0.5)
    assert candidates.source.tolist() == [Source.GRAPH]
    assert np.isnan(candidates.created_at[0])


def test_columns_of_another_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="similarity has 1 elements for 2 candidates"):
        Candidates.build(["a", "b"], similarity=[0.5])
    with pytest.raises(ValueError, match="lexical has 3 elements for 1 candidates"):
        Candidates.build(["a"], listwise=ListwiseInputs(lexical=np.zeros(3), lexical_maximum=1.0))
