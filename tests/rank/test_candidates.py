"""Candidates are easily built from columns, all of one length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from ebbtide.rank.candidates import Candidates, ListwiseInputs, Source, union
from tests.rank.builders import arbitrary_candidates


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


def test_a_union_has_each_once_with_the_best_that_was_measured() -> None:
    first = Candidates.build(["a", "b"], similarity=[0.4, 0.5], importance=[0.1, 0.2], labels=[["x"], []])
    second = Candidates.build(
        ["c", "a"], similarity=[None, 0.8], text_rank=[0.3, 0.2], importance=[0.7, 0.9], labels=[["y"], ["z"]]
    )
    joined, (one, two) = union([first, second])
    assert joined.ids == ("a", "b", "c")
    assert (one.tolist(), two.tolist()) == ([0, 1], [2, 0])
    np.testing.assert_equal(joined.similarity, [0.8, 0.5, np.nan])
    np.testing.assert_equal(joined.text_rank, [0.2, np.nan, 0.3])
    assert joined.source.tolist() == [Source.BOTH, Source.VECTOR, Source.FULL_TEXT]
    assert joined.importance.tolist() == [0.1, 0.2, 0.7]
    assert joined.labels == (("x",), (), ("y",))


def test_a_union_with_nothing_is_the_other() -> None:
    nothing, some = Candidates.build([]), Candidates.build(["a"], similarity=[0.5])
    for lists in ([nothing, some], [some, nothing], [some]):
        joined, _ = union(lists)
        assert (joined.ids, joined.similarity.tolist()) == (("a",), [0.5])
    assert len(union([nothing, nothing])[0]) == 0


@given(arbitrary_candidates(), arbitrary_candidates())
def test_a_union_loses_and_invents_nothing(first: Candidates, second: Candidates) -> None:
    joined, standing = union([first, second])
    assert len(set(joined.ids)) == len(joined.ids)
    assert set(joined.ids) == {*first.ids, *second.ids}
    for one, stands in zip((first, second), standing, strict=True):
        assert [joined.ids[place] for place in stands.tolist()] == list(one.ids)
        best = joined.similarity[stands]
        assert not (one.similarity > best).any()
    np.testing.assert_equal(joined.created_at[standing[0]], first.created_at)


def test_a_default_column_cannot_be_changed_for_everybody() -> None:
    first, second = Candidates.build(["a", "b"]), Candidates.build(["c", "d", "e"])
    with pytest.raises(ValueError, match="read-only"):
        first.importance[0] = 1.0
    assert second.importance.tolist() == [0.5, 0.5, 0.5]
    given = np.array([0.1, 0.2])
    assert Candidates.build(["a", "b"], importance=given).importance.flags.writeable
