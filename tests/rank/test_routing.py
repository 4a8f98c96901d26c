"""Which types a query is likely to be about: the text's examples, and what holds of every prediction."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.rank.routing import LEAST_SHARE, PRIORS, SMOOTHING, narrows, predict, shares, terms_of
from ebbtide.types.graph import ENTITY_TYPES

WORDS = ("ferri", "budget", "know", "launch", "migrat")
TERMS = st.lists(st.sampled_from(WORDS), unique=True)
COUNTS = st.dictionaries(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(ENTITY_TYPES)), st.floats(0, 1e4, allow_subnormal=False)
)


@pytest.mark.parametrize(
    ("terms", "types"),
    [
        (["know", "rust"], ("PERSON", "SKILL")),
        (["auth0", "migrat"], ("PROJECT", "COMPANY")),
        (["present"], ("EVENT", "PROJECT")),
        (["work", "ml"], ("PERSON", "SKILL")),
        (["who", "knows", "rust"], ("PERSON", "SKILL")),
        (["auth0", "migration"], ("PROJECT", "COMPANY")),
        (["my", "presentation"], ("EVENT", "PROJECT")),
        (["who", "works", "on", "ml"], ("PERSON", "SKILL")),
    ],
)
def test_the_examples_are_known_from_the_start_stemmed_or_not(terms: list[str], types: tuple[str, ...]) -> None:
    assert predict(terms, {}) == types


def test_nothing_is_known_of_other_words_and_all_is_likely_after_little() -> None:
    assert predict(["ferri"], {}) == ()
    assert predict([], {("ferri", "PLACE"): 9.0}) == ()
    assert predict(["ferri"], {("budget", "PLACE"): 9.0}) == ()
    for matches, types in [(1.0, 8), (4.0, 8), (4.1, 1), (50.0, 1)]:
        predicted = predict(["ferri"], {("ferri", "PLACE"): matches})
        assert predicted[0] == "PLACE"
        assert len(predicted) == types
        assert narrows(predicted) is (types < 8)
    assert not narrows(())


def test_types_that_matched_alike_are_all_likely() -> None:
    assert len(predict(["ferri"], {("ferri", type_): 100.0 for type_ in ENTITY_TYPES})) == 8


def test_a_share_is_as_its_formula_says() -> None:
    counts = {("ferri", "PLACE"): 6.0, ("budget", "PLACE"): 1.0, ("budget", "COMPANY"): 3.0}
    told = shares(["ferri", "budget", "know"], counts)
    # 10 matches, 5 of the prior of "know", and 2 for each of eight types.
    assert told["PLACE"] == pytest.approx(9 / 31)
    assert told["COMPANY"] == pytest.approx(5 / 31)
    assert told["PERSON"] == pytest.approx((3 + SMOOTHING) / 31)
    assert told["EVENT"] == pytest.approx(2 / 31)


@given(TERMS, COUNTS)
def test_shares_sum_to_one_and_types_are_ordered_by_them(
    terms: list[str], counts: dict[tuple[str, str], float]
) -> None:
    told = shares(terms, counts)
    if not told:
        assert predict(terms, counts) == ()
        return
    assert math.fsum(told.values()) == pytest.approx(1.0)
    predicted = predict(terms, counts)
    assert [told[type_] for type_ in predicted] == sorted((told[type_] for type_ in predicted), reverse=True)
    assert all(told[type_] < LEAST_SHARE for type_ in told if type_ not in predicted)
    assert len(predicted) >= 1


@given(TERMS, COUNTS, st.integers())
def test_the_order_of_words_and_counts_is_nothing(
    terms: list[str], counts: dict[tuple[str, str], float], seed: int
) -> None:
    chance, mixed, rows = Random(seed), [*terms, *terms], list(counts.items())
    chance.shuffle(mixed)
    chance.shuffle(rows)
    assert predict(mixed, dict(rows)) == predict(terms, counts)


@given(
    st.lists(st.sampled_from(WORDS), unique=True, min_size=1), COUNTS, st.sampled_from(ENTITY_TYPES), st.floats(0, 1e4)
)
def test_more_matches_of_a_type_never_cost_it_its_place(
    terms: list[str], counts: dict[tuple[str, str], float], type_: str, more: float
) -> None:
    key = (terms[0], type_)
    added = counts | {key: counts.get(key, 0.0) + more}
    before, after = shares(terms, counts), shares(terms, added)
    if before:
        assert dict(after)[type_] >= dict(before)[type_] - 1e-12  # type: ignore[index]
    if type_ in predict(terms, counts):
        assert type_ in predict(terms, added)


def test_words_are_kept_within_bounds() -> None:
    assert terms_of(["12345", "a-b", "x" * 33, "ana@example.com", "auth0", "ferri"]) == ("auth0", "ferri")
    assert terms_of([chr(97 + i) * (i + 1) for i in range(20)]) == tuple(chr(97 + i) * (i + 1) for i in range(8, 20))


def test_each_prior_is_of_two_types() -> None:
    assert all(list(prior.values()) == [3.0, 2.0] for prior in PRIORS.values())
