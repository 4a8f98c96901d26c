"""The listwise law: each step does what it says, and nothing where its data is absent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.rank.candidates import Candidates, ListwiseInputs
from ebbtide.rank.parts import LexicalNeighbours, TideParameters
from ebbtide.rank.tide import NAMES, latest_multiplier, lend_scores, neighbour_lexical, scale_to_range, score_listwise
from tests.rank.builders import arbitrary_candidates, candidates

DEFAULTS = TideParameters()
WEIGHTS = LexicalNeighbours()


def tide(
    similarity: list[float | None],
    *,
    parameters: TideParameters = DEFAULTS,
    superseded: list[bool] | None = None,
    outdated: list[bool] | None = None,
    bonuses: list[float] | None = None,
    days_after_asked: list[float] | None = None,
    **inputs: Any,
) -> tuple[np.ndarray, list[dict[str, float]]]:
    columns: dict[str, Any] = {"lexical": np.zeros(len(similarity)), "lexical_maximum": 0.0}
    plain = ("chats", "lexical_maximum", "asks_for_latest")
    columns |= {name: column if name in plain else np.asarray(column) for name, column in inputs.items()}
    listwise = ListwiseInputs(**columns)
    asked = {"bonuses": bonuses, "days_after_asked": days_after_asked, "listwise": listwise}
    rows = candidates(len(similarity), similarity=similarity, superseded=superseded, outdated=outdated, **asked)
    values, matrix, names = score_listwise(parameters, rows)
    return values, [dict(zip(names, row, strict=True)) for row in matrix.tolist()]


def test_dense_evidence_is_scaled_over_the_list() -> None:
    values, _ = tide([0.9, 0.5, 0.7])
    assert values == pytest.approx([0.5, 0.0, 0.25])


def test_a_single_candidate_or_equal_ones_are_the_best_there_is() -> None:
    assert tide([0.2])[0].tolist() == [0.5]
    assert tide([0.2, 0.2])[0].tolist() == [0.5, 0.5]


def test_a_row_without_a_vector_has_no_dense_share() -> None:
    values, parts = tide([0.9, None, 0.5], lexical=[0.0, 4.0, 0.0], lexical_maximum=8.0)
    assert parts[1]["dense"] == 0
    assert values.tolist() == [0.5, 0.25, 0.0]


def test_a_store_without_vectors_ranks_by_words() -> None:
    assert tide([None, None], lexical=[1.0, 2.0], lexical_maximum=2.0)[0].tolist() == [0.25, 0.5]


def test_context_similarity_joins_the_dense_side_and_a_memory_alone_is_its_own_context() -> None:
    values, _ = tide([0.6, 0.6, 0.2], context_similarity=[0.2, math.nan, 0.2])
    assert values == pytest.approx([0.25, 0.5, 0.0])


def test_the_dense_similarity_of_a_query_without_names_replaces_the_shown_one() -> None:
    assert tide([0.9, 0.1], dense_similarity=[-0.2, 0.4])[0].tolist() == [0.0, 0.5]


def test_lexical_evidence_is_a_share_of_a_full_match_and_capped() -> None:
    _, parts = tide([0.5] * 3, lexical=[3.0, 6.0, 60.0], lexical_maximum=6.0)
    assert [row["lexical"] for row in parts] == [0.25, 0.5, 1.0]


def test_a_query_without_terms_has_no_lexical_side() -> None:
    values, parts = tide([0.5, 0.4], lexical=[0.0, 0.0], lexical_maximum=0.0, chats=("a", "a"), sequence=[0.0, 1.0])
    assert values.tolist() == [0.5, 0.0]
    assert parts[0]["lexical"] == parts[0]["neighbours"] == 0


def test_neighbours_lend_their_words_within_one_conversation() -> None:
    sequence = np.array([0.0, 1.0, 2.0, 3.0, 3.0, np.nan])
    chats = ("a", "a", "a", "a", "b", None)
    lexical = np.array([1.0, 10.0, 100.0, 1000.0, 5.0, 7.0])
    taken = neighbour_lexical(lexical, chats, sequence, WEIGHTS)
    assert taken.tolist() == [
        0.2 * 10,
        0.5 * 1 + 0.2 * 100,
        0.5 * 10 + 0.2 * 1000 + 0.2 * 1,
        0.5 * 100 + 0.2 * 10,
        0.0,
        0.0,
    ]


def test_neighbours_that_are_no_candidates_count_as_silent() -> None:
    taken = neighbour_lexical(np.array([1.0, 2.0]), ("a", "a"), np.array([1.0, 5.0]), WEIGHTS)
    assert taken.tolist() == [0.0, 0.0]


def test_the_stronger_of_two_candidates_at_one_position_speaks_for_it() -> None:
    taken = neighbour_lexical(np.array([1.0, 4.0, 0.0]), ("a", "a", "a"), np.array([0.0, 0.0, 1.0]), WEIGHTS)
    assert taken[2] == 2.0


def test_the_last_message_of_one_conversation_is_not_before_the_first_of_the_next() -> None:
    taken = neighbour_lexical(np.array([9.0, 0.0]), ("a", "b"), np.array([2.0**31, 0.0]), WEIGHTS)
    assert taken.tolist() == [0.0, 0.0]


def test_the_rules_multiply_in_turn() -> None:
    yes = [True]
    values, parts = tide([0.5], speaker_matches=yes, is_question=yes, days_after_asked=[0.0], bonuses=[0.1])
    assert values[0] == pytest.approx(0.5 * 1.5 * 0.85 * 1.4 * 1.1)
    assert parts[0]["named_speaker"] == pytest.approx(0.25)
    assert parts[0]["question"] == pytest.approx(-0.15 * 0.75)
    assert parts[0]["asked_time"] == pytest.approx(0.4 * 0.6375)


def test_a_message_that_is_the_query_itself_is_no_answer_to_it() -> None:
    said: dict[str, Any] = {"lexical": [2.0] * 3, "lexical_maximum": 4.0}
    asks: dict[str, Any] = {"is_question": [False, True, True], "repeats_query": [False, True, False]}
    values, parts = tide([0.5, 0.95, 0.949], **asks, **said)
    assert values == pytest.approx([0.25, 0.25 * 0.85 * 0.2, 0.75 * 0.85])
    assert [part["repeated_question"] for part in parts] == pytest.approx([0, -0.8 * 0.85 * 0.25, 0])
    assert "repeated_question" not in tide([0.9], is_question=[True])[1][0]


def test_what_is_outdated_falls_behind_and_one_column_says_so() -> None:
    values, parts = tide([0.9, 0.5, 0.1], outdated=[True, False, False])
    assert values == pytest.approx([0.25, 0.25, 0.0])
    assert [part["outdated"] for part in parts] == pytest.approx([-0.25, 0, 0])
    assert "outdated" not in tide([0.9, 0.5], outdated=[False, False])[1][0]
    assert tide([0.9, 0.5], parameters=TideParameters(outdated_penalty=0), outdated=[True, False])[0].tolist() == [0, 0]


def test_the_boost_of_an_asked_time_fades_over_two_weeks() -> None:
    values, _ = tide([0.5] * 5, days_after_asked=[0.0, 7.0, 14.0, 30.0, math.inf])
    assert values == pytest.approx([0.7, 0.6, 0.5, 0.5, 0.5])
    alone = TideParameters(asked_time_fade_days=0)
    assert tide([0.5] * 2, parameters=alone, days_after_asked=[0.0, 0.01])[0] == pytest.approx([0.7, 0.5])


def test_each_rule_has_a_setting_that_switches_it_off() -> None:
    off = TideParameters(
        named_speaker_boost=1,
        question_penalty=1,
        repeated_question_penalty=1,
        asked_time_boost=1,
        latest_boost=0,
        namespace_bonuses=False,
        lend_superseded_score=False,
        superseded_penalty=1,
        neighbours=LexicalNeighbours(previous=0, next=0, two_before=0, answered_question=0),
    )
    yes = [True, True]
    values, _ = tide(
        [0.5, 0.1],
        parameters=off,
        speaker_matches=yes,
        is_question=yes,
        days_after_asked=[0.0, 0.0],
        asks_for_latest=True,
        bonuses=[0.1, 0.1],
        superseded=[True, False],
        successor_index=[1, -1],
        lexical=[2.0, 0.0],
        lexical_maximum=2.0,
        chats=("a", "a"),
        sequence=[0.0, 1.0],
    )
    assert values.tolist() == [1.0, 0.0]


def test_what_follows_a_question_takes_over_more_of_its_words() -> None:
    asking = np.array([True, False])
    taken = neighbour_lexical(np.array([2.0, 0.0]), ("a", "a"), np.array([0.0, 1.0]), WEIGHTS, asking)
    assert taken.tolist() == [0.0, pytest.approx(0.8 * 2.0)]


def test_the_newest_gains_a_tenth_when_the_present_is_asked_for() -> None:
    observed = np.array([30.0, np.nan, 10.0])
    multiplier = latest_multiplier(observed, np.array([0.0, 20.0, 0.0]), 0.1)
    assert multiplier.tolist() == pytest.approx([1.1, 1.05, 1.0])
    assert latest_multiplier(observed[:1], observed[:1], 0.1).tolist() == [1.0]


def test_a_successor_takes_the_higher_score_of_what_it_superseded() -> None:
    values, parts = tide([0.9, 0.5, 0.7], superseded=[True, False, False], successor_index=[1, -1, -1])
    assert values.tolist() == [0.25, 0.5, pytest.approx(0.25)]
    assert parts[1]["supersession"] == 0.5
    assert parts[0]["supersession"] == -0.25


def test_scores_are_lent_along_a_chain_whatever_its_order() -> None:
    assert lend_scores(np.array([0.9, 0.1, 0.4]), np.array([1, 2, -1])).tolist() == [0.9, 0.9, 0.9]
    assert lend_scores(np.array([0.4, 0.1, 0.9]), np.array([-1, 0, 1])).tolist() == [0.9, 0.9, 0.9]
    assert lend_scores(np.array([0.1, 0.9]), np.array([1, -1])).tolist() == [0.1, 0.9]


def test_a_circle_of_successors_ends() -> None:
    assert lend_scores(np.array([0.1, 0.9, 0.4]), np.array([1, 2, 0])).tolist() == [0.9, 0.9, 0.9]


def test_scaling_keeps_the_unknown_at_zero() -> None:
    assert scale_to_range(np.array([np.nan, np.nan])).tolist() == [0.0, 0.0]
    assert scale_to_range(np.array([np.nan, 0.3])).tolist() == [0.0, 1.0]
    assert scale_to_range(np.array([])).tolist() == []


def test_without_listwise_inputs_the_dense_side_decides() -> None:
    values, matrix, names = score_listwise(DEFAULTS, candidates(2, similarity=[0.1, 0.3]))
    assert values.tolist() == [0.0, 0.5]
    assert names == NAMES
    assert matrix.shape == (2, len(NAMES))


@given(arbitrary_candidates(listwise=True))
def test_every_step_keeps_its_sign(rows: Candidates) -> None:
    _, matrix, names = score_listwise(DEFAULTS, rows)
    columns = dict(zip(names, matrix.T, strict=True))
    for name in ("dense", "lexical", "neighbours", "named_speaker", "asked_time", "namespace"):
        assert columns[name].min(initial=0) >= 0
    assert columns["question"].max(initial=0) <= 0
    assert columns["dense"].max(initial=0) <= DEFAULTS.dense_weight
    assert columns["lexical"].max(initial=0) <= DEFAULTS.lexical_weight * DEFAULTS.lexical_cap


@given(st.data())
def test_lending_is_the_maximum_over_all_that_led_here(data) -> None:
    count = data.draw(st.integers(1, 8))
    values = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    successors = data.draw(st.lists(st.integers(-1, count - 1), min_size=count, max_size=count))
    expected = values.copy()
    for start in range(count):
        position, seen = start, {start}
        while (position := successors[position]) >= 0 and position not in seen:
            seen.add(position)
            expected[position] = max(expected[position], values[start])
    lent = lend_scores(values, np.array(successors, dtype=np.int64))
    assert lent.tolist() == expected.tolist()
    assert lend_scores(lent, np.array(successors, dtype=np.int64)).tolist() == lent.tolist()


PLACED = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.one_of(st.just(math.nan), st.integers(0, 6).map(float)),
    st.floats(0, 100),
    st.booleans(),
)


@given(st.lists(PLACED, max_size=14), st.booleans())
def test_what_neighbours_lend_is_as_it_is_defined(rows: list[tuple[Any, float, float, bool]], asked: bool) -> None:
    def said(chat: Any, place: float) -> tuple[float, bool]:
        there = [(one, asks) for key, at, one, asks in rows if key == chat and at == place]
        return max((one for one, _ in there), default=0.0), asked and any(asks for _, asks in there)

    expected: list[float] = []
    for chat, place, _, _ in rows:
        if chat is None or math.isnan(place):
            expected.append(0.0)
            continue
        before, asks = said(chat, place - 1)
        lent = before * (WEIGHTS.previous + WEIGHTS.answered_question * asks)
        expected.append(lent + WEIGHTS.next * said(chat, place + 1)[0] + WEIGHTS.two_before * said(chat, place - 2)[0])
    taken = neighbour_lexical(
        np.array([row[2] for row in rows]),
        [row[0] for row in rows],
        np.array([row[1] for row in rows]),
        WEIGHTS,
        np.array([row[3] for row in rows], dtype=np.bool_) if asked else None,
    )
    assert taken == pytest.approx(expected)
