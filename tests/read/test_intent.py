"""The intent of a query: every phrase of Eryx, ties in their fixed order, its confidence, and any input whatever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ebbtide
from ebbtide.errors import InvalidInput
from ebbtide.read.patterns import PATTERNS, count_patterns
from ebbtide.types.recall import INTENTS

# What has no question word of its own, so that it adds to no count.
FILLERS = ("", "the ferry", "Ana", "für immer", "船")


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("what did I decide", "decision"),
        ("I chose the blue one", "decision"),
        ("we agreed", "decision"),
        ("what is entropy", "factual"),
        ("who is Ana", "factual"),
        ("tell me about sailing", "exploratory"),
        ("what do you know", "exploratory"),
        ("the meeting last week", "temporal"),
        ("trips in 2024", "temporal"),
        ("react vs vue", "comparative"),
        ("the difference between tea and coffee", "comparative"),
        ("Ana works at Acme", "relationship"),
        ("things related to billing", "relationship"),
    ],
)
def test_each_phrase_of_the_design_is_one_match(text: str, intent: str) -> None:
    assert ebbtide.classify(text) == (intent, pytest.approx(0.55))
    assert count_patterns(text.lower())[intent] == 1


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("What was the decision on the database?", "decision"),
        ("Which logo have we picked?", "decision"),
        ("did they settle on a date", "decision"),
        ("what conclusions came out of the review", "decision"),
        ("which vendor did we go with", "decision"),
        ("when did she make up her mind", "decision"),
        ("Why don't we run a message broker?", "decision"),
        ("react versus vue", "comparative"),
        ("How does React compare to Vue?", "comparative"),
        ("is sailing better than rowing", "comparative"),
        ("how do the two plans differ", "comparative"),
        ("what do Ana and Bo have in common", "comparative"),
        ("which is safer, tea or coffee", "comparative"),
        ("pros and cons of remote work", "comparative"),
        ("who knows Bo", "relationship"),
        ("does Ana report to Bo", "relationship"),
        ("Who's Ana's sister?", "relationship"),
        ("how do Ana and Bo know each other", "relationship"),
        ("who manages the Lisbon office", "relationship"),
        ("what depends on the billing service", "relationship"),
        ("what happened yesterday", "temporal"),
        ("When did Ana move?", "temporal"),
        ("what did we ship in the past two months", "temporal"),
        ("what did Ana do in May", "temporal"),
        ("how long ago was the launch", "temporal"),
        ("the latest figures", "temporal"),
        ("How long has Bo been sailing?", "temporal"),
        ("what's new with Bo", "exploratory"),
        ("Give me an overview of the project", "exploratory"),
        ("do you remember anything about the offsite", "exploratory"),
        ("what have we talked about", "exploratory"),
        ("list all my projects", "exploratory"),
        ("Where does Ana live?", "factual"),
        ("how many boats does Ana have", "factual"),
        ("Does Ana have a dog?", "factual"),
        ("Latency is rising. Which dashboard shows it?", "factual"),
    ],
)
def test_further_phrasings_are_known(text: str, intent: str) -> None:
    found = ebbtide.classify(text)
    assert found.intent == intent
    assert found.confidence >= 0.55


@pytest.mark.parametrize(
    "text",
    [
        "auth0 migration",
        "who",
        "she picked up the kids",
        "more than two dogs",
        "other than that",
        "we may go",
        "march on",
        "I want to know that",
        "Erzähl mir vom Segeln!",
        "アナはどこに住んでいますか",
        "",
        "   ",
        "🙂",
    ],
)
def test_what_no_specific_phrase_tells_is_factual(text: str) -> None:
    found = ebbtide.classify(text)
    assert found == ("factual", 0.0) or text == "who"
    assert found.intent == "factual"


@pytest.mark.parametrize(("count", "confidence"), [(1, 0.55), (2, 0.7), (3, 0.85), (4, 0.9), (5, 0.9)])
def test_confidence_grows_with_the_matches_up_to_nine_tenths(count: int, confidence: float) -> None:
    phrases = ["decided", "chose", "agreed", "concluded", "choice"]
    assert ebbtide.classify(" and ".join(phrases[:count])) == ("decision", pytest.approx(confidence))


def test_a_phrase_counts_once_however_often_it_occurs() -> None:
    assert ebbtide.classify("agreed, agreed, agreed") == ("decision", pytest.approx(0.55))


def test_more_matches_win_over_the_order() -> None:
    assert ebbtide.classify("what happened last week and when did it end, after what we decided").intent == "temporal"


ONE_PHRASE = {
    "decision": "decided",
    "comparative": "versus",
    "relationship": "related to",
    "temporal": "yesterday",
    "exploratory": "tell me about",
    "factual": "what",
}


def test_ties_go_to_the_more_specific_intent_in_the_documented_order() -> None:
    assert tuple(ONE_PHRASE) == INTENTS
    for place, intent in enumerate(INTENTS):
        text = ", ".join([*reversed([ONE_PHRASE[name] for name in INTENTS[place:]])])
        assert ebbtide.classify(text) == (intent, pytest.approx(0.55))


def test_spelling_does_not_matter() -> None:
    for text in ("WHAT DID I DECIDE", "what  did\nI\tdecide", "What did I decide?!"):
        assert ebbtide.classify(text).intent == "decision"
    assert ebbtide.classify("who’s Ana’s boss") == ebbtide.classify("who's Ana's boss")
    assert ebbtide.classify("the last\n week").intent == "temporal"


def test_the_answer_reads_as_a_pair() -> None:
    intent, confidence = ebbtide.classify("we agreed")
    assert (intent, confidence) == ("decision", pytest.approx(0.55))
    assert isinstance(ebbtide.classify("we agreed"), ebbtide.Classification)


class Odd:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("text", [None, b"what", 3, float("nan"), ["what"], Odd(), "\ud800", "a\0b", "a" * 2_000_000])
def test_what_is_no_text_is_refused_by_name(text: Any) -> None:
    for function in (ebbtide.classify, ebbtide.decompose):
        with pytest.raises(InvalidInput) as refusal:
            function(text)
        assert refusal.value.field == "text"
        assert refusal.value.remedy


def test_every_pattern_is_reached_through_its_words() -> None:
    for pattern in PATTERNS:
        assert pattern.words
        assert all(word == word.lower() and word.isalnum() for word in pattern.words)


@given(st.text() | st.lists(st.sampled_from(sorted(set().union(*(p.words for p in PATTERNS))))).map(" ".join))
def test_any_text_has_one_intent_and_its_confidence_follows_from_the_counts(text: str) -> None:
    if "\0" in text:
        return
    intent, confidence = ebbtide.classify(text)
    counts = count_patterns(text)
    assert intent in INTENTS
    if not counts:
        assert (intent, confidence) == ("factual", 0.0)
    else:
        assert counts[intent] == max(counts.values())
        assert confidence == min(0.9, 0.4 + 0.15 * counts[intent])


@given(st.sampled_from(list(ONE_PHRASE.values())), st.sampled_from(FILLERS), st.sampled_from(FILLERS))
def test_what_stands_around_a_phrase_does_not_hide_it(phrase: str, before: str, after: str) -> None:
    intent = next(name for name, known in ONE_PHRASE.items() if known == phrase)
    assert ebbtide.classify(f"{before}, {phrase} {after}") == (intent, pytest.approx(0.55))


@pytest.mark.parametrize("unit", ["which a, or ", "last ", "who is ", "prefer to ", "chose ", "than ", "know ", "a\n"])
def test_a_long_repetition_is_answered(unit: str) -> None:
    assert ebbtide.classify((unit * 100_000)[:100_000]).intent in INTENTS
    assert ebbtide.decompose((unit * 100_000)[:100_000])
    assert ebbtide.decompose((unit * 500)[:500])
