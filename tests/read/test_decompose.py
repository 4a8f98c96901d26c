"""Decomposition: the three examples of Eryx, other phrasings of each kind, and what must be left whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import decompose
from ebbtide.read.decompose import FIXED


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "what did I decide about the auth0 migration",
            ["auth0 migration decision", "auth0 migration choice", "auth0 migration conclusion"],
        ),
        ("how does react compare to vue", ["react", "vue", "react vs vue comparison"]),
        ("tell me about Anthropic and OpenAI", ["Anthropic", "OpenAI"]),
    ],
)
def test_the_examples_of_the_design(text: str, parts: list[str]) -> None:
    assert decompose(text) == [text, *parts]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Which database did we choose?", "database"),
        ("what was the decision we made on the database last week", "database"),
        ("Which conclusion did the team reach about caching?", "caching"),
        ("what have we agreed on for the offsite", "offsite"),
        ("did we settle on a name for the boat", "name for the boat"),
        ("when did I decide to move to Lisbon", "move to Lisbon"),
        ("what did we conclude from the incident review in May 2024", "incident review"),
        ("what did Ana decide to do about her job?", "Ana job"),
        ("what did Ana and Bo decide about the boat?", "Ana and Bo boat"),
    ],
)
def test_a_decision_is_sought_under_three_names(text: str, topic: str) -> None:
    assert decompose(text) == [text, f"{topic} decision", f"{topic} choice", f"{topic} conclusion"]


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("should I use react vs vue", "react", "vue"),
        ("what do you think about React versus Vue in terms of speed?", "React", "Vue"),
        ("difference between react and vue", "react", "vue"),
        ("what is the difference between the old plan and the new one?", "old plan", "new one"),
        ("compare tea with coffee, please", "tea", "coffee"),
        ("how do React and Vue differ?", "React", "Vue"),
        ("why is postgres more reliable than mysql", "postgres", "mysql"),
        ("is sailing better than rowing for Ana's back?", "sailing", "rowing"),
        ("which is better, tea or coffee?", "tea", "coffee"),
        ("should we use postgres or mysql", "postgres", "mysql"),
        ("does Ana prefer tea to coffee", "tea", "coffee"),
        ("Lord of the Rings vs Star Wars", "Lord of the Rings", "Star Wars"),
    ],
)
def test_a_comparison_is_sought_by_either_side(text: str, one: str, other: str) -> None:
    assert decompose(text) == [text, one, other, f"{one} vs {other} comparison"]


def test_three_sides_are_compared_and_more_are_left_whole() -> None:
    text = "postgres vs mysql vs sqlite"
    assert decompose(text) == [text, "postgres", "mysql", "sqlite", "postgres vs mysql vs sqlite comparison"]
    assert decompose("a1 vs b1 vs c1 vs d1 vs e1") == ["a1 vs b1 vs c1 vs d1 vs e1"]


def test_a_choice_between_two_is_a_comparison_that_was_decided() -> None:
    text = "why did we choose postgres over mysql"
    assert decompose(text) == [text, "postgres", "mysql", "postgres vs mysql decision"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tell me about sailing, rowing and climbing", ["sailing", "rowing", "climbing"]),
        ("tell me about the auth0 migration and the new billing", ["auth0 migration", "new billing"]),
        ("sailing and rowing lessons", ["sailing", "rowing lessons"]),
        ("what is the relationship between Ana and Bo", ["Ana", "Bo"]),
        (
            "what do Ana and Bo like about sailing",
            ["what do Ana like about sailing", "what do Bo like about sailing"],
        ),
        (
            "Where did Ana Lopez and Bo Chen go on holiday?",
            ["Where did Ana Lopez go on holiday", "Where did Bo Chen go on holiday"],
        ),
        (
            "where does Ana live and what does she do for work?",
            ["where does Ana live", "what does she do for work"],
        ),
        ("do you know Room 101 and Room 102", ["Room 101", "Room 102"]),
    ],
)
def test_this_and_that_are_sought_each(text: str, parts: list[str]) -> None:
    assert decompose(text) == [text, *parts]


@pytest.mark.parametrize(
    "text",
    [
        "tell me about rock and roll history",
        "tell me about the history of Rock and Roll",
        "where is the salt and pepper shaker?",
        "it rained more and more often",
        "what are the pros and cons of remote work",
        "Are black and white photos better?",
        "What kinds of books does Caroline read and write?",
        "what have we decided",
        "where does Ana live these days",
        "the ferry to Bergen leaves at nine",
        "Was haben Ana und Bo gemeinsam?",
        "ana and bo",
        "react vs vue",
        "",
        " ",
        "   who?        ",
    ],
)
def test_any_other_query_is_left_whole(text: str) -> None:
    assert decompose(text) == [text]


def test_a_query_of_fifteen_characters_is_decomposed_and_a_shorter_one_is_not() -> None:
    assert decompose("react vs angular"[:15]) == ["react vs angula", "react", "angula", "react vs angula comparison"]
    assert decompose("react vs angular"[:14]) == ["react vs angul"]
    assert decompose("react vs angul    ") == ["react vs angul    "]


def test_a_long_text_is_left_whole() -> None:
    text = "tell me about " + "x" * 600 + " and Bo"
    assert decompose(text) == [text]


WORDS = "what did we decide about compare between and or vs than better the Ana Bo tea coffee , ? which who is of for"
words = st.sampled_from(WORDS.split())


@given(st.text().filter(lambda text: "\0" not in text) | st.lists(words, max_size=25).map(" ".join))
def test_any_query_comes_first_with_at_most_four_others(text: str) -> None:
    queries = decompose(text)
    assert queries[0] == text
    assert len(queries) <= 5
    assert all(query.strip() for query in queries[1:])
    folded = [" ".join(query.split()).casefold() for query in queries]
    assert len(set(folded)) == len(folded)


@given(st.sampled_from(sorted(FIXED)))
def test_a_fixed_pair_is_one_thing(pair: tuple[str, str]) -> None:
    text = f"tell me something about {pair[0]} and {pair[1]}"
    assert decompose(text) == [text]


names = st.sampled_from(["Ana", "Bo Chen", "OpenAI", "Żaneta", "Room 7"])


@given(names, names)
def test_names_keep_their_spelling(one: str, other: str) -> None:
    text = f"tell me about {one} and {other}"
    assert decompose(text) == ([text, one, other] if one != other else [text])
