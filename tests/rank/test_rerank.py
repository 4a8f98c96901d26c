"""What a reranker's scores do to relevance: by each law, for duplicates, and for what was not reranked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidProfile
from ebbtide.rank.candidates import Candidates
from ebbtide.rank.gates import Selection, Stage, select
from ebbtide.rank.parts import Gates, Importance, Similarity
from ebbtide.rank.presets import ERYX, ONTHEIA, PRESETS
from ebbtide.rank.profile import Profile
from ebbtide.rank.rerank import Reranked, reranked
from ebbtide.rank.score import Scored, score
from ebbtide.rank.strategies import BUILT_IN, STRATEGIES
from tests.rank.builders import NOW, arbitrary_candidates, candidates, days_ago

PLAIN = Profile(name="plain", law="sum", factors=(Similarity(weight=1),))
COMPOUND = Profile(name="bare", law="compound", base="fused", cap=1.0)


def with_similarity(*similarity: float, **columns: Any) -> Candidates:
    return candidates(len(similarity), similarity=similarity, **columns)


def reorder(
    profile: Profile, rows: Candidates, scores: list[float], **options: Any
) -> tuple[Scored, Selection, Reranked, Selection]:
    """Scored and selected without and with the scores for the best, as a recall does it."""
    scored = score(profile, rows, now=NOW)
    before = select(profile, rows, scored, **options)
    best = np.array(scores[: len(before.ranked)], dtype=np.float64)
    after = reranked(profile, rows, scored, before.ranked, before.folded_into, best, now=NOW)
    return scored, before, after, select(profile, rows, scored, reranked=after, **options)


def test_under_other_laws_the_relevances_change_hands() -> None:
    rows = with_similarity(0.9, 0.8, 0.7, 0.6)
    _, _, after, selection = reorder(PLAIN, rows, [0.1, 0.95, 0.5])
    assert selection.kept.tolist() == [1, 2, 0, 3]
    assert after.scored.values.tolist() == [0.7, 0.9, 0.8, 0.6]
    assert after.scored.names == ("semantic", "rerank")
    np.testing.assert_allclose(after.scored.contributions[:, 1], [-0.2, 0.1, 0.1, 0.0], atol=1e-12)
    assert after.scores[:3].tolist() == [0.1, 0.95, 0.5]
    assert np.isnan(after.scores[3])


def test_what_was_not_reranked_comes_behind_what_was() -> None:
    rows = with_similarity(0.9, 0.8, 0.7, 0.6)
    assert reorder(PLAIN, rows, [0.0, 0.001])[3].kept.tolist() == [1, 0, 2, 3]


def test_equal_scores_keep_the_order_and_equal_relevances_take_the_score_s() -> None:
    rows = with_similarity(0.9, 0.8, 0.7)
    assert reorder(PLAIN, rows, [0.5, 0.5, 0.5])[3].kept.tolist() == [0, 1, 2]
    rows = with_similarity(0.5, 0.5, 0.5, created_at=[days_ago(0), days_ago(1), days_ago(2)])
    assert reorder(PLAIN, rows, [0.1, 0.2, 0.3])[3].kept.tolist() == [2, 1, 0]


def test_where_the_base_is_fused_the_score_takes_its_place() -> None:
    rows = with_similarity(0.9, 0.8, created_at=[days_ago(30), days_ago(0)], updated_at=[days_ago(90)] * 2)
    _, _, after, selection = reorder(ERYX, rows, [0.2, 0.4])
    # The fresh one stood first, and the scores come in that order.
    aged, fresh = 0.4 * (1 + 0.3 / np.e), 0.2 * 1.3
    np.testing.assert_allclose(after.scored.values, np.array([aged, fresh]) * (1 + 0.1 / np.e))
    assert after.scored.names[0] == "fused"
    assert after.scored.contributions[:, 0].tolist() == [0.4, 0.2]
    assert selection.kept.tolist() == [0, 1]


def test_where_the_base_is_fused_the_rest_comes_down_to_the_lowest_score() -> None:
    rows = with_similarity(0.9, 0.8, 0.6, 0.3)
    _, _, after, selection = reorder(COMPOUND, rows, [0.9, 0.2])
    np.testing.assert_allclose(after.scored.values, [0.9, 0.2, 0.2, 0.1])
    assert selection.kept.tolist() == [0, 1, 2, 3]
    # A rest that stands lower already stays where it is.
    np.testing.assert_allclose(reorder(COMPOUND, rows, [0.9, 0.8])[2].scored.values, [0.9, 0.8, 0.6, 0.3])


def test_similarity_never_changes() -> None:
    rows = with_similarity(0.9, 0.8)
    for profile in (PLAIN, ERYX):
        reorder(profile, rows, [0.0, 1.0])
        assert rows.similarity.tolist() == [0.9, 0.8]
        assert rows.fused is None


def test_thresholds_judge_the_relevance_without_a_reranker() -> None:
    profile = PLAIN.model_copy(update={"gates": Gates(min_score=0.5, relative_cutoff=0.7)})
    rows = with_similarity(0.9, 0.8, 0.6, 0.49)
    _, _, after, selection = reorder(profile, rows, [0.0, 1.0])
    assert selection.kept.tolist() == [1, 0]
    assert [Stage(code) for code in selection.stage.tolist()][2:] == [Stage.RELATIVE_CUTOFF, Stage.MINIMUM]
    assert after.scored.values.tolist() == [0.8, 0.9, 0.6, 0.49]


def test_where_the_base_is_fused_no_result_is_worth_less_than_was_asked_for() -> None:
    profile = COMPOUND.model_copy(update={"gates": Gates(min_score=0.5)})
    rows = with_similarity(0.9, 0.8, 0.4)
    _, _, _, selection = reorder(profile, rows, [0.3, 0.7])
    assert selection.kept.tolist() == [1]
    assert selection.stage.tolist() == [Stage.MINIMUM, Stage.KEPT, Stage.MINIMUM]
    np.testing.assert_allclose(selection.measured, [0.3, np.nan, 0.4])


@pytest.mark.parametrize("profile", [PLAIN, COMPOUND], ids=lambda profile: profile.name)
def test_a_duplicate_moves_with_the_one_that_stands_for_it(profile: Profile) -> None:
    rows = with_similarity(0.9, 0.85, 0.8, 0.4, content_hash=["a", "a", "b", "c"])
    _, _, after, selection = reorder(profile, rows, [0.1, 0.9])
    assert selection.kept.tolist() == [2, 0, 3]
    assert selection.duplicates == {0: (1,)}
    assert after.scores[:3].tolist() == [0.1, 0.1, 0.9]
    assert after.scored.values[1] <= after.scored.values[0]


def test_the_limit_falls_on_the_new_order() -> None:
    rows = with_similarity(0.9, 0.8, 0.7, 0.6)
    _, before, _, selection = reorder(PLAIN.model_copy(update={"limit": 2}), rows, [0.1, 0.2, 0.3, 0.4])
    assert before.kept.tolist() == [0, 1]
    assert selection.kept.tolist() == [3, 2]
    assert selection.measured[[0, 1]].tolist() == [4, 3]


def test_nothing_reranked_is_nothing_changed() -> None:
    scored, before, after, selection = reorder(ONTHEIA, candidates(0), [])
    assert len(after.scored.values) == 0
    assert selection.kept.tolist() == before.kept.tolist() == []
    assert scored.names == after.scored.names[:-1]


@pytest.mark.parametrize("law", ["sum", "boost"])
def test_no_factor_takes_the_column_s_name(law: Any) -> None:
    base = None if law == "sum" else "similarity"
    with pytest.raises(InvalidProfile, match="taken") as caught:
        Profile(name="x", law=law, base=base, factors=(Importance(weight=1, name="rerank"),))
    assert caught.value.field == "factors.0.name"


@st.composite
def reranked_lists(draw: st.DrawFn) -> tuple[Profile, Candidates, list[float], int]:
    profile = BUILT_IN[draw(st.sampled_from(sorted(BUILT_IN)))]
    rows = draw(arbitrary_candidates(listwise=profile.law == "listwise"))
    share = st.floats(0, 1) | st.sampled_from([0.0, 1.0])
    scores = draw(st.lists(share, min_size=len(rows), max_size=len(rows)))
    return profile, rows, scores, draw(st.integers(0, len(rows)))


@given(reranked_lists())
def test_the_contributions_sum_to_the_relevance_whatever_the_scores(
    drawn: tuple[Profile, Candidates, list[float], int],
) -> None:
    profile, rows, scores, asked = drawn
    _, _, after, _ = reorder(profile, rows, scores[:asked])
    scored = after.scored
    assert scored.contributions.shape == (len(rows), len(scored.names))
    np.testing.assert_allclose(scored.contributions.sum(axis=1), scored.values, atol=1e-9)


@given(reranked_lists())
def test_the_results_are_a_permutation_of_what_would_have_passed(
    drawn: tuple[Profile, Candidates, list[float], int],
) -> None:
    profile, rows, scores, asked = drawn
    scored, before, after, selection = reorder(profile, rows, scores[:asked])

    def contents(positions: np.ndarray) -> list[Any]:
        hashes = rows.content_hash or ()
        return sorted(str(hashes[place] or place) for place in positions.tolist())

    assert contents(selection.ranked) == contents(before.ranked)
    passed = before.ranked.tolist() + np.flatnonzero(before.folded_into >= 0).tolist()
    left = np.setdiff1d(np.arange(len(rows)), passed)
    np.testing.assert_array_equal(after.scored.values[left], scored.values[left])
    values = after.scored.values[selection.ranked]
    assert (np.diff(values) <= 0).all()
    if profile.base != "fused":
        known = after.scores[selection.ranked]
        assert not np.isnan(known[:asked]).any()
        assert (np.diff(known[: min(asked, len(known))]) <= 0).all()
        assert np.isnan(known[asked:]).all()


@given(reranked_lists(), st.floats(0, 1.2), st.floats(0, 1))
def test_with_thresholds_no_row_comes_in_and_none_below_them_stays(
    drawn: tuple[Profile, Candidates, list[float], int], min_score: float, cutoff: float
) -> None:
    profile, rows, scores, asked = drawn
    gates = profile.gates.model_copy(update={"min_score": min_score, "relative_cutoff": cutoff})
    profile = profile.model_copy(update={"gates": gates})
    _, before, after, selection = reorder(profile, rows, scores[:asked])
    seen = {*before.ranked.tolist(), *np.flatnonzero(before.folded_into >= 0).tolist()}
    assert seen.issuperset(selection.ranked.tolist())
    assert (after.scored.values[selection.ranked] >= min_score - 1e-6).all()


def test_every_preset_and_strategy_is_covered() -> None:
    assert set(BUILT_IN) == {*PRESETS, *STRATEGIES}
