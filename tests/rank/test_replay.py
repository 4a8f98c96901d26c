"""A logged recall scored again: from what the law read of its hits, under the same weights and under others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.rank.parts import (
    AskedTime,
    Confidence,
    EffectiveConfidence,
    EFoldingRecency,
    Gates,
    Importance,
    KeywordShare,
    NamespaceBonus,
    Similarity,
    TideParameters,
)
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.profile import Profile
from ebbtide.rank.replay import readings_of, replayed, signature_of
from ebbtide.rank.score import score
from tests.rank.builders import NOW, arbitrary_candidates

WEIGHTS = st.floats(0.05, 3.0)


def summed(one: float, two: float, three: float) -> Profile:
    factors = (Similarity(weight=one), Importance(weight=two), KeywordShare(weight=three))
    return Profile(name="summed", law="sum", factors=factors)


def boosted(one: float, two: float, three: float) -> Profile:
    factors = (EFoldingRecency(weight=one), NamespaceBonus(weight=two), Confidence(weight=three))
    return Profile(name="boosted", law="boost", base="similarity", factors=factors)


def compounded(one: float, two: float, three: float) -> Profile:
    factors = (EFoldingRecency(weight=one), AskedTime(weight=two), EffectiveConfidence(weight=three))
    return Profile(name="compounded", law="compound", base="fused", factors=factors, cap=1.0, quality_weighting=True)


def listwise(one: float, two: float, three: float) -> Profile:
    # A successor's lent score is another candidate's, which the readings of a hit do not have.
    tide = TideParameters(
        dense_weight=one, lexical_weight=two, named_speaker_boost=1 + three, question_penalty=three / 4,
        asked_time_boost=1 + one, latest_boost=two, lend_superseded_score=False,
    )  # fmt: skip
    return Profile(name="listwise", law="listwise", tide=tide)


LAWS = [summed, boosted, compounded, listwise]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@given(data=st.data())
def test_what_was_read_gives_the_score_under_any_weights(law: Any, data: st.DataObject) -> None:
    candidates = data.draw(arbitrary_candidates(listwise=True, smallest=1))
    before, after = (law(*data.draw(st.tuples(WEIGHTS, WEIGHTS, WEIGHTS))) for _ in range(2))
    scored = score(before, candidates, now=NOW)
    readings = readings_of(before, scored.names, scored.contributions)
    assert np.allclose(replayed(before, readings), scored.values, rtol=1e-6, atol=1e-9)
    known = scored.values > 0
    expected = score(after, candidates, now=NOW).values
    assert np.allclose(replayed(after, readings)[known], expected[known], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", sorted(PRESETS))
@given(candidates=arbitrary_candidates(listwise=True, smallest=1))
def test_every_preset_is_replayed_as_it_was_scored(name: str, candidates: Any) -> None:
    scored = score(PRESETS[name], candidates, now=NOW)
    again = replayed(PRESETS[name], readings_of(PRESETS[name], scored.names, scored.contributions))
    lent = np.isnan(again)
    assert np.allclose(again[~lent], scored.values[~lent], rtol=1e-6, atol=1e-9)


@given(candidates=arbitrary_candidates(smallest=1), later=WEIGHTS)
def test_what_a_weight_of_zero_hid_cannot_be_replayed(candidates: Any, later: float) -> None:
    hidden = Profile(name="h", law="sum", factors=(Similarity(weight=1), Importance(weight=0)))
    scored = score(hidden, candidates, now=NOW)
    readings = readings_of(hidden, scored.names, scored.contributions)
    assert np.allclose(replayed(hidden, readings), scored.values)
    other = Profile(name="h", law="sum", factors=(Similarity(weight=1), Importance(weight=later)))
    assert np.isnan(replayed(other, readings)).all()


def test_a_signature_is_of_what_is_read_and_of_nothing_else() -> None:
    ibex = PRESETS["ibex"]
    reweighed = ibex.model_copy(
        update={
            "name": "mine",
            "factors": tuple(one.model_copy(update={"weight": 0.2}) for one in ibex.factors),
            "gates": Gates(min_score=0.5),
            "limit": 3,
        }
    )
    assert signature_of(reweighed) == signature_of(ibex)
    tide = PRESETS["tide"].tide or TideParameters()
    for change, alike in (
        ({"dense_weight": 0.7}, True),
        ({"latest_boost": 0.9}, True),
        ({"context_weight": 2.0}, False),
    ):
        changed = PRESETS["tide"].model_copy(update={"tide": tide.model_copy(update=change)})
        assert (signature_of(changed) == signature_of(PRESETS["tide"])) is alike
    assert len({signature_of(one) for one in PRESETS.values()}) == len(PRESETS)
    slower = ibex.model_copy(
        update={"factors": (*ibex.factors[:-1], ibex.factors[-1].model_copy(update={"saturation": 20.0}))}
    )
    assert signature_of(slower) != signature_of(ibex)


@pytest.mark.parametrize("switch", ["routing", "graph"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_signature_does_not_depend_on_which_were_made_before(switch: str, first: int) -> None:
    tide = PRESETS["tide"]
    # Parts that nobody has seen, which both share.
    off = tide.model_copy(update={"tide": (tide.tide or TideParameters()).model_copy()})
    pair = (off, off.model_copy(update={switch: "on"}))
    made = {place: signature_of(pair[place]) for place in (first, 1 - first)}
    assert made[0] == signature_of(tide) != made[1]
