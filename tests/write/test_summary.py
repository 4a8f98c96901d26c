"""Summaries made of a conversation's own sentences: what is chosen, how much, in which order, and what it is about."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.write.summary import Said, central, choose, sentences_of, topics_of

TALK = [
    Said("Hi! How are you?", "Ana"),
    Said("The auth0 migration is decided: we move on Friday. Thanks!", "Ben"),
    Said("Then the auth0 tokens have to be rotated before the migration.", "Ana"),
    Said("My cat sleeps.", "Ben"),
    Said("The migration of the auth0 tokens takes an hour on Friday.", "Ana"),
]
SENTENCES = [sentence for turn in TALK for sentence in sentences_of(turn)]


def lengths(sentences: list[str]) -> list[int]:
    return [len(sentence.split()) for sentence in sentences]


def test_sentences_have_their_speaker_in_front() -> None:
    assert sentences_of(Said("It is 3.5 m long. Is it?  Yes! \n\n- no", "Ana")) == [
        "Ana: It is 3.5 m long.", "Ana: Is it?", "Ana: Yes!", "Ana: - no",
    ]  # fmt: skip
    assert sentences_of(Said("渡船七点开。我们去吗？")) == ["渡船七点开。", "我们去吗？"]
    assert sentences_of(Said(" \n 🙂 ")) == []


def test_what_the_talk_comes_back_to_is_chosen() -> None:
    chosen = choose(SENTENCES, lengths(SENTENCES), 24)
    assert chosen == [sentence for sentence in SENTENCES if sentence in chosen]
    assert "Ana: The migration of the auth0 tokens takes an hour on Friday." in chosen
    assert sum("auth0" in sentence for sentence in chosen) >= 2
    assert not any("How are you" in sentence or "Thanks" in sentence for sentence in chosen)


def test_the_same_is_not_said_twice() -> None:
    twice = ["The ferry leaves at seven.", "The ferry leaves at seven.", "The ferry is red and old."]
    assert choose(twice, [5, 5, 6], 11) == ["The ferry leaves at seven.", "The ferry is red and old."]


def test_centrality_is_the_page_rank_of_what_is_alike() -> None:
    rank, alike = central(["ferry pier", "ferry pier", "ferry pier harbour", "zebra", "the of"])
    assert alike[0, 1] == pytest.approx(1.0)
    assert alike[0, 3] == 0.0
    assert rank.max() == 1.0
    assert rank[0] == pytest.approx(rank[1])
    assert rank[3] < rank[0]
    assert rank[4] == 0.0
    assert central([])[0].size == 0
    assert central(["the of"])[0].tolist() == [0.0]


def test_topics_are_what_several_sentences_have() -> None:
    assert topics_of(SENTENCES)[:3] == ("auth0", "migration", "Friday")
    assert topics_of(["Ana: A zebra ran"]) == ("zebra", "ran")
    assert topics_of(["Ana: ok", "Ben: yes"]) == ()


WORDS = st.sampled_from(["ferry", "pier", "zebra", "the", "of", "Ana", "seven", "hello"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), max_size=30)


@given(texts=TEXTS, most=st.integers(1, 60))
def test_a_summary_is_a_part_of_what_was_said_within_its_bounds(texts: list[str], most: int) -> None:
    chosen = choose(texts, lengths(texts), most)
    places = iter(range(len(texts)))
    assert all(any(texts[place] == sentence for place in places) for sentence in chosen), "not in their order"
    assert sum(lengths(chosen)) <= most or len(chosen) == 1
    assert bool(chosen) == bool(texts)
    assert choose(texts, lengths(texts), most) == chosen
    rank, alike = central(texts)
    assert np.all((rank >= 0) & (rank <= 1)) if texts else True
    assert np.all((alike >= 0) & (alike <= 1 + 1e-9)) if texts else True


def test_a_long_conversation_is_chosen_from_part_by_part() -> None:
    texts = [f"The ferry number {number} leaves pier {number % 7}." for number in range(2_000)]
    chosen = choose(texts, [8] * len(texts), 80)
    assert len(chosen) == 10
    assert chosen == sorted(chosen, key=texts.index)
