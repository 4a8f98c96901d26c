"""Which entity a name means: the rules one by one, and what holds of all names."""

from __future__ import annotations

import sys
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.graph.names import (
    LONGEST_REST,
    fold_name,
    keys_asked,
    keys_of,
    marks_of,
    name_hash,
    predicate_of,
    rests_of,
    words_of,
)
from ebbtide.graph.resolve import LEAST_SIMILARITY, Alias, Book, Known, similarity
from ebbtide.types.graph import Named

NAMES = st.lists(
    st.sampled_from(
        [
            "sarah",
            "chen",
            "miller",
            "room",
            "101",
            "102",
            "two",
            "North",
            "south",
            "C++",
            "Ünal",
            "東京",
            "東京都",
            "أحمد",
            "احمد",
            "Иван",
            "II",
            "the",
            "dr",
        ]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)


def entity(number: int, name: str, *aliases: str, type_: str = "PERSON", learnt: tuple[str, ...] = ()) -> Known:
    names = {name_hash(one): Alias(one, given=True) for one in (name, *aliases)}
    names |= {name_hash(one): Alias(one) for one in learnt}
    return Known(UUID(int=number), type_, name, names)


def meant(book: Book, name: str, *aliases: str, type_: str = "PERSON") -> int | None:
    found = book.find(Named(name=name, type=type_, aliases=aliases))  # type: ignore[arg-type]
    return None if found is None else found.id.int


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Dr. Sarah Chen", "Sarah Chen", 2 / 3),
        ("Sarah Chen", "Chen, Sarah", 1.0),
        ("Sarah Chen", "Sarah", 0.5),
        ("Sarah Chen", "Sarah Miller", 1 / 3),
        ("Bank of America", "Bank of China", 1 / 3),
        ("Room 101", "Room 102", 0.0),
        ("Room", "Room 101", 0.0),
        ("Zimmer ١٠١", "Zimmer 101", 1.0),
        ("World War I", "World War II", 0.0),
        ("Project Phase One", "Project Phase Two", 0.0),
        ("North Carolina State University", "South Carolina State University", 0.0),
        ("John A Smith", "John B Smith", 0.0),
        ("John Smith", "John B Smith", 2 / 3),
        ("C++", "C", 0.0),
        ("Node", "Node.js", 0.5),
        ("東京", "東京都", 0.5),
        ("東京大学", "京都大学", 0.2),
        ("أحمد", "احمد", 1.0),
        ("Иван Петров", "Петров Иван", 1.0),
        ("José", "jose", 1.0),
    ],
)
def test_names_are_as_similar_as_their_words(one: str, other: str, expected: float) -> None:
    assert similarity(one, other) == pytest.approx(expected)
    assert similarity(other, one) == similarity(one, other)


def test_a_name_itself_comes_before_an_alias_and_that_before_a_similar_name() -> None:
    book = Book([entity(1, "Sam Smith", "Sam"), entity(2, "Sam"), entity(3, "Samuel Jones", "Sammy")])
    assert meant(book, "sam") == 2
    assert meant(book, "SAMMY") == 3
    assert meant(book, "Sam Smith Jr.") == 1


def test_never_across_types_nor_where_numbers_differ() -> None:
    book = Book([entity(1, "Apple", type_="COMPANY"), entity(2, "Room 101", "the big room", type_="PLACE")])
    assert meant(book, "Apple", type_="PRODUCT") is None
    assert meant(book, "Apple Inc", type_="COMPANY") == 1
    assert meant(book, "Room 102", type_="PLACE") is None
    assert meant(book, "Room 102", "the big room", type_="PLACE") is None
    assert meant(book, "the big room", type_="PLACE") == 2


def test_two_that_are_equally_near_are_neither() -> None:
    book = Book(
        [entity(1, "Sarah Chen"), entity(2, "Sarah Miller"), entity(3, "Bo Li", "Bob"), entity(4, "Bo Xu", "Bob")]
    )
    assert meant(book, "Sarah") is None
    assert meant(book, "Bob") is None
    assert meant(book, "Sarah Chen PhD") == 1


def test_what_was_learnt_is_known_again_but_nothing_is_compared_with_it() -> None:
    book = Book([entity(1, "Sarah Jane Chen", learnt=("Sarah Chen Miller",))])
    assert meant(book, "sarah chen miller") == 1
    assert similarity("Chen Miller", "Sarah Chen Miller") >= LEAST_SIMILARITY
    assert meant(book, "Chen Miller") is None


def test_a_short_form_of_a_name_makes_nobody_similar_but_another_name_does() -> None:
    book = Book(
        [entity(1, "Sarah Chen", "Sarah"), entity(2, "IBM", "International Business Machines", type_="COMPANY")]
    )
    assert meant(book, "Sarah Miller") is None
    assert meant(book, "International Machines", type_="COMPANY") == 2


def test_a_removed_alias_means_nobody_and_is_not_learnt_again() -> None:
    known = entity(1, "Sarah Chen", "Sarah")
    known.aliases[name_hash("Sarah")].removed = True
    assert meant(Book([known]), "Sarah") is None


def test_an_alias_given_with_the_name_finds_what_has_that_name() -> None:
    book = Book([entity(1, "International Business Machines", type_="COMPANY")])
    assert meant(book, "IBM", type_="COMPANY") is None
    assert meant(book, "IBM", "International Business Machines", type_="COMPANY") == 1


def test_predicates_are_words_joined_by_underscores() -> None:
    assert [predicate_of(text) for text in ("Works at", "works-at", " WORKS_AT ", "työskentelee", "…")] == [
        "works_at", "works_at", "works_at", "työskentelee", "",
    ]  # fmt: skip


@given(st.text(max_size=40))
def test_folding_a_name_twice_changes_nothing(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)
    assert words_of(name)
    assert words_of(fold_name(name)) == words_of(name)


@given(NAMES, NAMES)
def test_similarity_is_symmetric_and_none_across_numbers(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    if marks_of(one)[0] != marks_of(other)[0]:
        assert similarity(one, other) == 0.0
    if fold_name(one) == fold_name(other):
        assert similarity(one, other) == 1.0


@given(NAMES, NAMES)
def test_whatever_is_similar_enough_shares_a_key(one: str, other: str) -> None:
    first, second = words_of(one), words_of(other)
    if len(first & second) / len(first | second) >= LEAST_SIMILARITY:
        kept = set(keys_of("PERSON", first))
        assert any(key in kept and len(first) <= most for key, most in keys_asked("PERSON", second))


@given(st.lists(NAMES, max_size=8), NAMES, st.sampled_from(["PERSON", "COMPANY"]))
def test_a_name_is_found_as_often_as_it_is_asked_for_and_only_by_its_type(
    known: list[str], name: str, type_: str
) -> None:
    book = Book(entity(number, one, type_="PERSON" if number % 2 else "COMPANY") for number, one in enumerate(known))
    found = book.find(Named(name=name, type=type_))  # type: ignore[arg-type]
    assert found == book.find(Named(name=name, type=type_))  # type: ignore[arg-type]
    if found is not None:
        assert found.type == type_
        assert marks_of(found.name)[0] == marks_of(name)[0]


@given(st.text(alphabet="ab ö\U0001f600", max_size=60), st.text(alphabet="ab ö\U0001f600", max_size=45))
def test_a_text_begins_a_word_of_a_name_exactly_where_the_rest_from_there_lies_in_its_stretch(
    name: str, text: str
) -> None:
    folded, wanted = fold_name(name), fold_name(text)
    first, beyond = wanted[:LONGEST_REST].encode(), (wanted[:LONGEST_REST] + chr(sys.maxunicode)).encode()
    rests = rests_of(folded)
    assert len(set(rests)) == len(rests)
    found = any(first <= rest.encode() < beyond for rest in rests)
    begins = f" {wanted}" in f" {folded}"
    assert found or not begins
    assert begins or not found or len(wanted) > LONGEST_REST
