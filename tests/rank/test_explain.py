"""A row of the contribution matrix reads as named numbers and as a sentence."""

from __future__ import annotations

import numpy as np

from ebbtide.rank.explain import contributions, sentence
from ebbtide.rank.presets import AGENTIUM, ERYX
from ebbtide.rank.score import Scored, score
from tests.rank.builders import NOW, candidates, days_ago


def test_contributions_keep_the_order_of_the_profile() -> None:
    scored = score(AGENTIUM, candidates(similarity=[0.85], importance=[0.7]), now=NOW)
    assert list(contributions(scored, 0)) == ["semantic", "recency", "importance"]


def test_a_sum_as_a_sentence() -> None:
    rows = candidates(similarity=[0.85], importance=[0.7], last_mentioned_at=[days_ago(18.5)])
    assert sentence(score(AGENTIUM, rows, now=NOW), 0) == (
        "Relevance 0.670 = semantic 0.340 + recency 0.120 + importance 0.210."
    )


def test_what_is_taken_away_is_subtracted() -> None:
    assert sentence(score(ERYX, candidates(similarity=[0.9]), now=NOW), 0) == (
        "Relevance 1.000 = similarity 0.900 + recency 0.270 + freshness 0.117 - cap 0.287."
    )


def test_what_adds_nothing_is_not_mentioned() -> None:
    scored = Scored(np.array([0.0, -0.1]), np.array([[0.0, 0.0], [-0.1, 0.0]]), ("a", "b"))
    assert sentence(scored, 0) == "Relevance 0.000 = nothing."
    assert sentence(scored, 1) == "Relevance -0.100 = -a 0.100."
