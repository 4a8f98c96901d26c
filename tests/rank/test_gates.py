"""The gates drop what they should, in their order, say why, and refill what they drop."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.rank.candidates import Candidates, Source
from ebbtide.rank.gates import Drop, Selection, drops, select
from ebbtide.rank.parts import FullText, Gates, Similarity
from ebbtide.rank.presets import AGENTIUM, ERYX, IBEX, ONTHEIA, PRESETS, TIDE
from ebbtide.rank.profile import Profile, narrow
from ebbtide.rank.score import Scored, score
from tests.rank.builders import NOW, arbitrary_candidates, candidates, days_ago, permuted

PLAIN = Profile(name="plain", law="sum", factors=(Similarity(weight=1),))
VECTOR, FULL_TEXT, BOTH = int(Source.VECTOR), int(Source.FULL_TEXT), int(Source.BOTH)


def gated(**gates: Any) -> Profile:
    return PLAIN.model_copy(update={"gates": Gates(**gates)})


def run(profile: Profile, rows: Candidates, values: list[float] | None = None, **options: Any) -> Selection:
    scored = score(profile, rows, now=NOW)
    if values is not None:
        scored = Scored(np.array(values), scored.contributions, scored.names)
    return select(profile, rows, scored, **options)


def kept(profile: Profile, rows: Candidates, values: list[float] | None = None, **options: Any) -> list[int]:
    return run(profile, rows, values, **options).kept.tolist()


def with_similarity(*similarity: float, **columns: Any) -> Candidates:
    return candidates(len(similarity), similarity=similarity, **columns)


def test_ontheia_cuts_below_seven_tenths_of_the_best() -> None:
    values = [0.81, 0.567, 0.5669]
    selection = run(ONTHEIA, with_similarity(*values), values)
    assert selection.kept.tolist() == [0, 1]
    assert selection.threshold[2] == pytest.approx(0.567)
    assert kept(ONTHEIA, with_similarity(0.999, 0.999, 0.994, 0.688)) == [0, 1, 2]


def test_ontheia_minimum_is_on_relevance_so_a_bonus_carries_a_hit_over_it() -> None:
    rows = with_similarity(0.39, 0.39, updated_at=[days_ago(9000)] * 2, bonuses=[0.1, 0.0])
    assert kept(ONTHEIA, rows) == [0]


def test_a_relative_cutoff_of_zero_is_off() -> None:
    assert kept(narrow(ONTHEIA, relative_cutoff=0), with_similarity(0.999, 0.45)) == [0, 1]


def test_agentium_minimum() -> None:
    old = days_ago(4000)
    rows = with_similarity(0.2, 0.3, created_at=[old, old], updated_at=[old, old], importance=[0.0, 0.0])
    assert kept(AGENTIUM, rows) == [1]


def test_ibex_floor_cuts_vector_hits_only() -> None:
    rows = with_similarity(0.7, 0.69, 0.1, 0.2, source=[VECTOR, VECTOR, BOTH, FULL_TEXT])
    assert sorted(kept(IBEX, rows)) == [0, 2, 3]


def test_a_similarity_that_single_precision_lowered_still_passes() -> None:
    assert kept(gated(min_similarity=0.7), with_similarity(float(np.float32(0.7)) - 5e-8)) == [0]


def test_eryx_threshold_is_on_similarity_and_not_on_the_boosted_value() -> None:
    assert kept(ERYX, with_similarity(0.69, 0.71)) == [1]


def test_a_keyword_only_match_is_never_lost_to_a_similarity_floor() -> None:
    rows = candidates(3, similarity=[None, 0.1, 0.1], text_rank=[0.4, 0.4, None], source=[FULL_TEXT, BOTH, VECTOR])
    for profile in (*PRESETS.values(), PLAIN):
        strict = narrow(profile, min_similarity=0.95, min_score=0, relative_cutoff=0)
        assert sorted(kept(strict, rows)) == [0, 1], profile.name


def test_full_text_that_is_off_leaves_a_row_with_a_vector_to_its_similarity() -> None:
    profile = gated(min_similarity=0.7).model_copy(update={"full_text": FullText(search="off")})
    rows = candidates(2, similarity=[None, 0.1], text_rank=[0.4, 0.4], source=[FULL_TEXT, FULL_TEXT])
    assert kept(profile, rows) == [0]


def test_full_text_falls_back_only_where_the_vector_hits_do_not_fill_the_limit() -> None:
    rows = with_similarity(0.9, 0.8, 0.2, source=[VECTOR, VECTOR, FULL_TEXT])
    full = narrow(IBEX, limit=2)
    assert kept(full, rows) == [0, 1]
    assert drops(rows, run(full, rows)) == [
        Drop(id="m002", stage="fallback", rule="full_text_fallback", value=2.0, threshold=2.0, duplicate_of=None)
    ]
    assert kept(narrow(IBEX, limit=3), rows) == [0, 1, 2]


def test_fallback_counts_contents_and_not_copies() -> None:
    rows = with_similarity(0.9, 0.8, 0.2, source=[VECTOR, VECTOR, FULL_TEXT], content_hash=["a", "a", "b"])
    assert kept(narrow(IBEX, limit=2), rows) == [0, 2]


def test_confidence_and_relevance_floors() -> None:
    rows = with_similarity(0.9, 0.8, 0.1, confidence=[0.2, 0.6, 0.9])
    assert kept(gated(min_confidence=0.5, relevance_floor=0.15), rows) == [1]


def test_every_drop_names_its_stage_rule_value_and_threshold() -> None:
    rows = candidates(
        ids=["far", "doubtful", "low", "few", "behind", "best", "copy", "private", "late", "old"],
        similarity=[0.1, 0.9, 0.25, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        confidence=[1.0, 0.1, *[1.0] * 8],
        content_hash=[1, 2, 3, 4, 5, 6, 6, 8, 9, 10],
        superseded=[False] * 9 + [True],
    )
    values = [1.0, 1.0, 1.0, 0.3, 0.6, 1.0, 0.95, 0.9, 0.85, 1.0]
    profile = narrow(
        gated(min_similarity=0.2, min_confidence=0.5, relevance_floor=0.3, min_score=0.4, relative_cutoff=0.7), limit=1
    )
    selection = run(profile, rows, values, withheld=[7])
    assert selection.kept.tolist() == [5]
    assert selection.duplicates == {5: (6,)}
    assert drops(rows, selection) == [
        Drop("far", "similarity", "min_similarity", 0.1, 0.2, None),
        Drop("doubtful", "confidence", "min_confidence", 0.1, 0.5, None),
        Drop("low", "relevance_floor", "relevance_floor", 0.25, 0.3, None),
        Drop("few", "minimum", "min_score", 0.3, 0.4, None),
        Drop("behind", "relative_cutoff", "relative_cutoff", 0.6, 0.7, None),
        Drop("copy", "duplicate", "identical_content", 0.95, 1.0, "best"),
        Drop("private", "personal_data", "personal_data", None, None, None),
        Drop("late", "limit", "limit", 2.0, 1.0, None),
        Drop("old", "superseded", "include_superseded", None, None, None),
    ]


def test_the_first_gate_that_fails_is_the_one_named() -> None:
    rows = with_similarity(0.1, confidence=[0.1])
    profile = gated(min_similarity=0.2, min_confidence=0.5, min_score=0.4)
    assert [drop.stage for drop in drops(rows, run(profile, rows))] == ["similarity"]


def test_the_cutoff_compares_with_the_best_that_is_left() -> None:
    rows = with_similarity(0.99, 0.6, 0.5, confidence=[0.1, 0.9, 0.9])
    assert kept(gated(min_confidence=0.5, relative_cutoff=0.8), rows) == [1, 2]


def test_identical_content_keeps_the_most_relevant_and_lists_the_others() -> None:
    rows = with_similarity(0.5, 0.9, 0.7, 0.6, content_hash=["a", "a", "b", "a"])
    selection = run(PLAIN, rows)
    assert selection.kept.tolist() == [1, 2]
    assert selection.duplicates == {1: (3, 0)}
    assert selection.folded_into.tolist() == [1, -1, -1, 1]


def test_rows_without_a_hash_are_never_folded() -> None:
    assert kept(PLAIN, with_similarity(0.5, 0.9, content_hash=[None, None])) == [1, 0]


def test_withheld_rows_are_refilled_and_a_copy_takes_their_place() -> None:
    rows = with_similarity(0.9, 0.8, 0.7, 0.6, content_hash=["a", "a", "b", "c"])
    profile = narrow(PLAIN, limit=2)
    assert kept(profile, rows) == [0, 2]
    assert kept(profile, rows, withheld=[0]) == [1, 2]
    assert kept(profile, rows, withheld=[0, 1]) == [2, 3]
    assert kept(profile, rows, withheld=[0, 1, 2, 3]) == []


def test_superseded_rows_are_returned_only_when_asked_for() -> None:
    rows = with_similarity(0.9, 0.8, superseded=[True, False])
    assert kept(PLAIN, rows) == [1]
    assert kept(PLAIN, rows, include_superseded=True) == [0, 1]


def test_ties_go_to_the_newer_and_then_to_the_smaller_id() -> None:
    rows = candidates(
        ids=["d", "c", "b", "a", "z"],
        similarity=[0.5, 0.5, 0.5, 0.5, 0.9],
        created_at=[days_ago(1), days_ago(2), days_ago(1), None, days_ago(9)],
    )
    assert [rows.ids[i] for i in kept(PLAIN, rows)] == ["z", "b", "d", "c", "a"]
    numbered = candidates(ids=[UUID(int=3), UUID(int=1), UUID(int=2)])
    assert kept(PLAIN, numbered) == [1, 2, 0]


def test_nothing_is_relevant_only_where_no_relevance_gate_is_passed() -> None:
    assert run(PLAIN, Candidates.build([])).nothing_relevant
    assert run(gated(min_similarity=0.5), with_similarity(0.4, 0.3)).nothing_relevant
    assert run(ONTHEIA, with_similarity(0.2)).nothing_relevant
    assert run(gated(relevance_floor=0.3), with_similarity(0.2)).nothing_relevant
    assert not run(TIDE, with_similarity(0.0, 0.0)).nothing_relevant
    assert not run(gated(min_confidence=0.9), with_similarity(0.9)).nothing_relevant
    assert not run(PLAIN, with_similarity(0.9), withheld=[0]).nothing_relevant
    assert not run(PLAIN, with_similarity(0.9, superseded=[False])).nothing_relevant


def test_relevance_below_zero_never_cuts_off_the_best() -> None:
    assert kept(gated(relative_cutoff=0.7), with_similarity(0.5, 0.5), [-0.5, -0.1]) == [1, 0]


profiles = st.sampled_from([*PRESETS.values(), gated(min_similarity=0.4, min_score=0.2, relative_cutoff=0.5)])


@given(st.data(), profiles)
def test_a_list_is_sorted_and_short_only_when_nothing_is_left(data, profile: Profile) -> None:
    rows = data.draw(arbitrary_candidates(listwise=profile is TIDE))
    profile = narrow(profile, limit=data.draw(st.integers(1, 5)))
    selection = run(profile, rows)
    values = score(profile, rows, now=NOW).values[selection.ranked]
    assert np.all(np.diff(values) <= 0)
    assert len(selection.kept) == min(profile.limit, len(selection.ranked))
    dropped = {drop.id for drop in drops(rows, selection)}
    assert dropped == set(rows.ids) - {rows.ids[i] for i in selection.kept.tolist()}
    if selection.nothing_relevant:
        assert not selection.kept.size


@given(st.data(), profiles)
def test_the_order_of_candidates_changes_no_result(data, profile: Profile) -> None:
    rows = data.draw(arbitrary_candidates())
    moved = permuted(rows, data.draw(st.permutations(range(len(rows)))))
    assert [rows.ids[i] for i in kept(profile, rows)] == [moved.ids[i] for i in kept(profile, moved)]


@given(st.data(), profiles)
def test_withholding_until_nothing_is_new_returns_nothing_private(data, profile: Profile) -> None:
    rows = data.draw(arbitrary_candidates())
    private = set(data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), unique=True))) if len(rows) else set()
    withheld: list[int] = []
    while found := private.intersection(kept(profile, rows, withheld=withheld)):
        withheld.extend(found)
    assert kept(profile, rows, withheld=withheld) == kept(profile, rows, withheld=sorted(private))


def test_of_what_the_cap_made_equal_the_one_that_was_worth_more_comes_first() -> None:
    rows = candidates(ids=["a", "b", "c"], similarity=[0.85, 0.95, 0.9], created_at=[NOW, days_ago(1), days_ago(2)])
    scored = score(ERYX, rows, now=NOW)
    assert scored.values.tolist() == [1.0, 1.0, 1.0]
    assert [rows.ids[place] for place in select(ERYX, rows, scored).kept.tolist()] == ["b", "c", "a"]
    assert scored.cut is not None
    assert (scored.cut > 0).all()
    assert score(TIDE, rows, now=NOW).cut is None
