"""Each preset's law gives the numbers of its design, and contributions that explain them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ebbtide.rank.candidates import Candidates, Source
from ebbtide.rank.explain import contributions
from ebbtide.rank.parts import HalfLifeRecency, Importance, KeywordShare, NamespaceBonus, Similarity
from ebbtide.rank.presets import AGENTIUM, ERYX, IBEX, ONTHEIA, PRESETS, TIDE
from ebbtide.rank.profile import WEIGHT_TOLERANCE, Profile
from ebbtide.rank.score import base_relevance, full_text_hits, reported_similarity, score
from tests.rank.builders import NOW, arbitrary_candidates, candidates, days_ago, permuted

QUALITY = ERYX.model_copy(update={"quality_weighting": True})
EVERY_LAW = [*PRESETS.values(), QUALITY]


def value(profile: Profile, **columns: Any) -> float:
    return float(score(profile, candidates(**columns), now=NOW).values[0])


@pytest.mark.parametrize(("similarity", "gain"), [(0.5, 0.05), (0.8, 0.08)])
def test_ontheia_bonus_is_relative(similarity: float, gain: float) -> None:
    scored = score(ONTHEIA, candidates(similarity=[similarity], bonuses=[0.1]), now=NOW)
    assert contributions(scored, 0)["namespace"] == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize(("age", "share"), [(0, 0.05), (1, 0.025), (7, 0.00625), (30, 0.05 / 31)])
def test_ontheia_relevance_is_similarity_times_the_summed_multiplier(age: float, share: float) -> None:
    relevance = value(ONTHEIA, similarity=[0.8], bonuses=[0.1 + 0.09], updated_at=[days_ago(age)])
    assert relevance == pytest.approx(0.8 * (1 + 0.19 + share), abs=1e-12)


def test_ontheia_relevance_can_pass_one() -> None:
    assert value(ONTHEIA, similarity=[0.994]) == pytest.approx(1.0437)


def test_ontheia_recency_reads_the_last_update_and_nothing_else() -> None:
    old = days_ago(400)
    others = {"created_at": [old], "observed_at": [old], "valid_from": [old], "last_mentioned_at": [old]}
    assert value(ONTHEIA, **others) == value(ONTHEIA)
    assert value(ONTHEIA, updated_at=[old]) < value(ONTHEIA)


def test_agentium_worked_example() -> None:
    rows = candidates(similarity=[0.85], importance=[0.7], last_mentioned_at=[days_ago(18.5)])
    scored = score(AGENTIUM, rows, now=NOW)
    parts = contributions(scored, 0)
    assert {name: round(share, 2) for name, share in parts.items()} == {
        "semantic": 0.34,
        "recency": 0.12,
        "importance": 0.21,
    }
    assert round(float(scored.values[0]), 2) == 0.67
    assert scored.values[0] == pytest.approx(0.4 * 0.85 + 0.3 * 0.5 ** (18.5 / 14) + 0.3 * 0.7, abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "half_life"),
    [((0.6, 0.2, 0.2), 30.0), ((0.3, 0.5, 0.2), 7.0), ((0.2, 0.1, 0.7), 365.0)],
    ids=["support", "personal", "medical"],
)
def test_agentium_weight_sets(weights: tuple[float, float, float], half_life: float) -> None:
    semantic, recency, importance = weights
    profile = Profile(
        name="set",
        law="sum",
        factors=(
            Similarity(weight=semantic),
            HalfLifeRecency(weight=recency, half_life_days=half_life),
            Importance(weight=importance),
        ),
    )
    relevance = value(profile, similarity=[0.85], importance=[0.7], valid_from=[days_ago(half_life)])
    assert relevance == pytest.approx(semantic * 0.85 + recency * 0.5 + importance * 0.7, abs=1e-12)


def test_agentium_date_is_the_last_mention_else_validity_else_observation_else_creation() -> None:
    clocks = ("last_mentioned_at", "valid_from", "observed_at", "created_at")
    for position, clock in enumerate(clocks):
        columns: dict[str, Any] = {later: [days_ago(1000)] for later in clocks[position:]} | {clock: [days_ago(14)]}
        scored = score(AGENTIUM, candidates(**columns), now=NOW)
        assert contributions(scored, 0)["recency"] == pytest.approx(0.15)


def test_weights_that_do_not_sum_to_one_are_normalised() -> None:
    doubled = Profile(
        name="doubled",
        law="sum",
        factors=(Similarity(weight=0.8), HalfLifeRecency(weight=0.6), Importance(weight=0.6)),
    )
    columns = {"similarity": [0.85], "importance": [0.7], "created_at": [days_ago(18.5)]}
    assert value(doubled, **columns) == pytest.approx(value(AGENTIUM, **columns), abs=1e-15)


def test_a_factor_without_weight_is_not_computed() -> None:
    profile = Profile(name="plain", law="sum", factors=(Similarity(weight=1), HalfLifeRecency(weight=0)))
    assert value(profile, similarity=[0.3], created_at=[math.nan]) == 0.3


def test_ibex_composite() -> None:
    relevance = value(
        IBEX,
        similarity=[0.9],
        labels=[("factual", "preference")],
        valid_from=[days_ago(45)],
        usefulness=[2 / 3],
        confidence=[0.8],
        access_count=[25],
    )
    assert relevance == pytest.approx(0.40 * 0.9 + 0.25 * 0.5 + 0.20 * 2 / 3 + 0.10 * 0.8 + 0.05 * 1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("label", "half_life"),
    [("factual", 180), ("procedural", 120), ("preference", 45), ("behavioral", 30), ("episodic", 14), ("other", 14)],
)
def test_ibex_recency_halves_after_the_half_life_of_the_label(label: str, half_life: float) -> None:
    scored = score(IBEX, candidates(labels=[(label,)], valid_from=[days_ago(half_life)]), now=NOW)
    assert contributions(scored, 0)["recency"] == pytest.approx(0.125)


def test_ibex_full_text_hits_count_as_a_half_and_report_their_rank() -> None:
    rows = candidates(
        ids=["vector", "text", "far", "both", "strong"],
        similarity=[0.9, None, 0.3, 0.75, 0.2],
        text_rank=[None, 0.07, 0.2, 0.4, 1.7],
        source=[Source.VECTOR, Source.FULL_TEXT, Source.BOTH, Source.BOTH, Source.FULL_TEXT],
    )
    assert full_text_hits(IBEX, rows).tolist() == [False, True, True, False, True]
    assert base_relevance(IBEX, rows).tolist() == [0.9, 0.5, 0.5, 0.75, 0.5]
    assert reported_similarity(IBEX, rows, np.arange(5)).tolist() == [0.9, 0.07, 0.2, 0.75, 1.0]
    assert score(IBEX, rows, now=NOW).contributions[:, 0] == pytest.approx([0.36, 0.2, 0.2, 0.3, 0.2])


def test_elsewhere_only_a_row_without_a_vector_is_stood_in_for() -> None:
    rows = candidates(ids=["text", "far"], similarity=[None, 0.3], text_rank=[0.07, 0.2], source=[Source.FULL_TEXT] * 2)
    assert base_relevance(ONTHEIA, rows).tolist() == [0.5, 0.3]
    np.testing.assert_equal(reported_similarity(ONTHEIA, rows, np.arange(2)), [np.nan, 0.3])


@pytest.mark.parametrize(("created", "updated"), [(0, 0), (30, 30), (90, 0), (180, 90), (270, 270)])
def test_eryx_boosts_compound(created: float, updated: float) -> None:
    relevance = value(ERYX, similarity=[0.6], created_at=[days_ago(created)], updated_at=[days_ago(updated)])
    recency, freshness = 0.3 * math.exp(-created / 30), 0.1 * math.exp(-updated / 90)
    assert relevance == pytest.approx(0.6 * (1 + recency) * (1 + freshness), abs=1e-12)


def test_eryx_is_capped_at_one_and_the_cap_is_a_column() -> None:
    scored = score(ERYX, candidates(similarity=[0.9]), now=NOW)
    parts = contributions(scored, 0)
    assert scored.values[0] == 1.0
    assert parts["similarity"] == 0.9
    assert parts["recency"] == pytest.approx(0.27)
    assert parts["freshness"] == pytest.approx(0.117)
    assert parts["cap"] == pytest.approx(-0.287)


def test_eryx_quality_weighting_follows_the_cap() -> None:
    assert value(QUALITY, similarity=[0.9], confidence=[0.8]) == pytest.approx(0.8)
    assert value(QUALITY, similarity=[0.9], confidence=[0.8], effective_confidence=[0.7652]) == pytest.approx(0.7652)
    assert value(ERYX, similarity=[0.9], confidence=[0.8]) == 1.0


def test_eryx_starts_from_the_fused_score_where_there_is_one() -> None:
    rows = candidates(ids=["a", "b"], similarity=[0.9, 0.5], fused=[0.4, None], created_at=[days_ago(9000)] * 2)
    scored = score(ERYX, rows, now=NOW)
    assert scored.names[0] == "fused"
    assert scored.contributions[:, 0].tolist() == [0.4, 0.5]
    assert rows.similarity.tolist() == [0.9, 0.5]


def test_what_only_its_words_speak_for_shows_no_similarity_of_zero() -> None:
    rows = candidates(
        ids=["a", "b", "c", "d"],
        similarity=[0.0, 0.0, 0.0, 0.2],
        source=[Source.BOTH, Source.FULL_TEXT, Source.VECTOR, Source.BOTH],
    )
    np.testing.assert_equal(reported_similarity(ERYX, rows, np.arange(4)), [np.nan, np.nan, 0.0, 0.2])
    assert reported_similarity(ERYX, rows, np.array([3, 2])).tolist() == [0.2, 0.0]
    assert base_relevance(ERYX, rows).tolist()[0] == 0.0


def test_eryx_keyword_boost_is_at_most_a_tenth_and_absent_where_unknown() -> None:
    old: dict[str, Any] = {"similarity": [0.5], "created_at": [days_ago(9000)], "updated_at": [days_ago(9000)]}
    assert value(ERYX, **old, keyword_share=[1.0]) == pytest.approx(0.55)
    assert value(ERYX, **old, keyword_share=[0.5]) == pytest.approx(0.525)
    assert "keywords" not in score(ERYX, candidates(**old), now=NOW).names


@pytest.mark.parametrize("profile", EVERY_LAW, ids=lambda profile: profile.name)
def test_no_candidates_have_no_values(profile: Profile) -> None:
    scored = score(profile, Candidates.build([]), now=NOW)
    assert scored.values.shape == (0,)
    assert scored.contributions.shape == (0, len(scored.names))


@pytest.mark.parametrize("profile", EVERY_LAW, ids=lambda profile: profile.name)
@given(data=st.data())
def test_contributions_sum_to_the_value(profile: Profile, data) -> None:
    rows = data.draw(arbitrary_candidates(listwise=profile is TIDE))
    before = rows.similarity.copy()
    scored = score(profile, rows, now=NOW)
    assert np.isfinite(scored.values).all()
    assert scored.values.min(initial=0) >= 0
    np.testing.assert_allclose(scored.contributions.sum(axis=1), scored.values, atol=1e-9)
    np.testing.assert_equal(rows.similarity, before)


@pytest.mark.parametrize("profile", EVERY_LAW, ids=lambda profile: profile.name)
@given(data=st.data())
def test_the_order_of_candidates_changes_no_value(profile: Profile, data) -> None:
    rows = data.draw(arbitrary_candidates(listwise=profile is TIDE))
    order = data.draw(st.permutations(range(len(rows))))
    values = score(profile, rows, now=NOW).values
    moved = score(profile, permuted(rows, order), now=NOW).values
    np.testing.assert_allclose(moved, values[order] if order else values, rtol=1e-12)


@pytest.mark.parametrize("profile", EVERY_LAW, ids=lambda profile: profile.name)
@given(data=st.data())
def test_scoring_twice_starts_from_the_raw_base_again(profile: Profile, data) -> None:
    rows = data.draw(arbitrary_candidates(listwise=profile is TIDE))
    np.testing.assert_array_equal(score(profile, rows, now=NOW).values, score(profile, rows, now=NOW).values)


@pytest.mark.parametrize("profile", [ONTHEIA, AGENTIUM, ERYX, IBEX, QUALITY], ids=lambda profile: profile.name)
@given(data=st.data(), raised=st.floats(0, 1))
def test_more_similarity_is_never_worth_less(profile: Profile, data, raised: float) -> None:
    rows = data.draw(arbitrary_candidates(smallest=1))
    by_vector = replace(rows, source=np.full(len(rows), int(Source.VECTOR)))
    lower = replace(by_vector, similarity=np.full(len(rows), raised / 2))
    higher = replace(by_vector, similarity=np.full(len(rows), raised))
    assert np.all(score(profile, higher, now=NOW).values >= score(profile, lower, now=NOW).values)


@pytest.mark.parametrize("profile", [ONTHEIA, AGENTIUM, ERYX, IBEX], ids=lambda profile: profile.name)
@given(data=st.data(), days=st.floats(0, 4000))
def test_time_that_passes_never_makes_worth_more(profile: Profile, data, days: float) -> None:
    rows = data.draw(arbitrary_candidates(smallest=1))
    later = score(profile, rows, now=NOW + days * 86_400).values
    assert np.all(later <= score(profile, rows, now=NOW).values + 1e-12)


@given(arbitrary_candidates(), st.floats(0, 2))
@example(candidates(similarity=[1.0], importance=[1.0]), 9e-12)
def test_sum_stays_within_the_unit_interval_whatever_the_weights(rows: Candidates, weight: float) -> None:
    profile = Profile(name="any", law="sum", factors=(Similarity(weight=1), Importance(weight=weight)))
    values = score(profile, rows, now=NOW).values
    # Weights that sum to 1 within this much are left as they are.
    assert values.max(initial=0) <= 1 + WEIGHT_TOLERANCE


def test_columns_carry_the_names_of_the_profile() -> None:
    profile = Profile(
        name="named",
        law="boost",
        base="similarity",
        factors=(NamespaceBonus(weight=1, name="rules"), KeywordShare(weight=0.1)),
    )
    assert score(profile, candidates(keyword_share=[1.0]), now=NOW).names == ("similarity", "rules", "keywords")
