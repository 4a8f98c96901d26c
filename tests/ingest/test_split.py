"""Cutting what is too long: nothing is lost, and nothing that is seen as one is torn apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.ingest.split import pieces, safe_cut


def words(text: str) -> int:
    return len(text.split())


def squeezed(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None)
@given(st.text(max_size=400), st.integers(1, 40))
def test_pieces_are_the_text_and_none_is_too_long(text: str, limit: int) -> None:
    parts = list(pieces(text, len, limit))
    assert squeezed("".join(parts)) == squeezed(text)
    assert all(len(part) <= limit for part in parts)


@settings(deadline=None)
@given(st.lists(st.text("ab.。! ", min_size=1, max_size=30), max_size=20), st.integers(1, 10))
def test_pieces_by_words(texts: list[str], limit: int) -> None:
    text = " ".join(texts)
    parts = list(pieces(text, words, limit))
    assert squeezed("".join(parts)) == squeezed(text)
    assert all(words(part) <= limit for part in parts)


def test_sentences_stay_whole_where_they_fit() -> None:
    text = "The ferry leaves at seven. It is never late! Is it? Nobody knows for certain."
    assert list(pieces(text, words, 6)) == [
        "The ferry leaves at seven.", "It is never late! Is it?", "Nobody knows for certain.",
    ]  # fmt: skip
    assert list(pieces("一二三。四五六。七", len, 4)) == ["一二三。", "四五六。", "七"]


def test_words_stay_whole_where_they_fit() -> None:
    assert list(pieces("one two three four five", words, 2)) == ["one two", "three four", "five"]


@pytest.mark.parametrize(
    "joined",
    ["👩‍👩‍👧", "e\u0301", "👍🏽", "🏴\U000e0067\U000e0062\U000e007f", "\u1112\u1161\u11ab", "n\u0303\u0323", "☀\ufe0f"],
)
def test_what_is_seen_as_one_is_not_torn_apart(joined: str) -> None:
    for lead in range(4):
        text = "x" * lead + joined * 3
        for at in range(1, len(text)):
            cut = safe_cut(text, at)
            assert 0 < cut <= at or at < len(joined)
            if cut > lead:
                assert (cut - lead) % len(joined) == 0 or cut == at < lead + len(joined)


def test_flags_stay_pairs() -> None:
    text = "🇨🇭🇳🇴🇯🇵"
    assert [safe_cut(text, at) for at in range(2, 7)] == [2, 2, 4, 4, 6]


@pytest.mark.parametrize("length", [1, 7, 64, 1_000_000])
def test_a_word_without_end_is_measured_a_part_at_a_time(length: int) -> None:
    text = "漢" * length
    measured = 0

    def measure(part: str) -> int:
        nonlocal measured
        measured += len(part)
        return len(part)

    parts = list(pieces(text, measure, 500))
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 500
    assert measured < 25 * length + 100
