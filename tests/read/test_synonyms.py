"""Words that mean nearly the same: which there are, and how much those of one scope count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.caches import WordSample
from ebbtide.read.synonyms import near_words, thesaurus
from ebbtide.read.words import Alike, Terms, alike_in

STEMS = sorted(thesaurus())


def test_near_words_come_nearest_first() -> None:
    assert near_words(["doctor"], "english")["doctor"][:2] == ("physician", "medic")
    assert "bought" in near_words(["buy"], "english")["buy"]


def test_a_word_of_the_query_stands_for_no_other() -> None:
    near = near_words(["doctor", "physician"], "english")
    assert "physician" not in near["doctor"]
    assert "doctor" not in near["physician"]


@pytest.mark.parametrize("configuration", ["simple", "german", "pg_catalog.english", ""])
def test_a_store_of_another_language_has_none(configuration: str) -> None:
    assert near_words(["doctor"], configuration) == {}


@pytest.mark.parametrize("word", ["monday", "june", "seven", "red", "john", "london", "german", "2", "", "x'y", "日本"])
def test_what_one_cannot_stand_for_another_has_none(word: str) -> None:
    assert near_words([word], "english") == {}


def test_every_line_is_a_stem_and_its_near_words() -> None:
    for word, line in thesaurus().items():
        others = line.split(" ")
        assert 1 <= len(others) <= 8
        assert word not in others
        assert len(set(others)) == len(others)
        assert all(other.isascii() and other.isalpha() and other.islower() for other in (word, *others))


def sample(**counts: int) -> WordSample:
    return WordSample(counts, 100, 100, 0.0)


def rarity_of(found: int) -> float:
    """BM25's idf of a word in `found` of 100 memories."""
    return math.log(1 + (100 - found + 0.5) / (found + 0.5))


def test_only_words_of_the_scope_count() -> None:
    terms = Terms(("doctor",), near_words(["doctor"], "english"))
    assert alike_in(terms, sample(dentist=3), 100) == Alike()
    assert alike_in(terms, sample(physician=3), 100).queries == ("'physician'",)
    assert alike_in(terms, sample(physician=3, surgeon=1), 100).any == "'physician' | 'surgeon'"


def test_the_words_for_one_count_together_and_never_more_than_it() -> None:
    terms = Terms(("doctor",), near_words(["doctor"], "english"))
    assert alike_in(terms, sample(physician=3, surgeon=1), 100).rarity == (pytest.approx(rarity_of(4)),)
    assert alike_in(terms, sample(doctor=20, physician=3), 100).rarity == (pytest.approx(rarity_of(20)),)


@given(st.sets(st.sampled_from(STEMS), max_size=6), st.dictionaries(st.sampled_from(STEMS), st.integers(1, 300)))
def test_the_rarity_of_synonyms_is_that_of_some_word(words: set[str], counts: dict[str, int]) -> None:
    terms = Terms(tuple(words), near_words(words, "english"))
    alike = alike_in(terms, WordSample(counts, 100, 100, 0.0), 100)
    assert len(alike.words) == len(alike.queries) == len(alike.rarity) <= len(words)
    assert all(0 <= rarity <= rarity_of(0) for rarity in alike.rarity)
    assert (alike.any is None) == (not alike.words)
