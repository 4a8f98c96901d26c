"""What a query asks: its asking part, the people it names, its words in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput
from ebbtide.read.question import Question, asked_part, read_question, term_query
from ebbtide.text import content_hash, fold, is_blank, search_text, words_text
from tests.stores import START

PROMPT = "You are a careful assistant. Answer in two sentences, and never guess. " * 30
QUESTION = "Which city did Ana move to?"


def asked(query: str, speakers: tuple[str, ...] = ()) -> str:
    return read_question(query, speakers, longest=10_000, asked_characters=400, asked_at=START).asked


@pytest.mark.parametrize("between", [" ", "\n", "\n\n", "\r\n"])
def test_a_long_text_is_cut_to_its_question(between: str) -> None:
    assert asked(f"{PROMPT}{between}{QUESTION}") == QUESTION
    assert asked(f"{QUESTION}{between}{PROMPT}") == QUESTION
    assert asked(f"{PROMPT}{between}{QUESTION}{between}{PROMPT}") == QUESTION


def test_a_short_text_is_asked_whole() -> None:
    text = "You are careful. Which city did Ana move to? Answer briefly."
    assert asked(text) == text


def test_questions_in_other_scripts_are_seen() -> None:
    for question in ("アナはどの都市に引っ越しましたか？", "إلى أي مدينة انتقلت آنا؟", "她搬到了哪个城市？"):
        assert asked(f"{PROMPT}{question}") == question


def test_without_a_question_the_end_is_asked() -> None:
    assert asked(f"{PROMPT}Tell me the city Ana moved to.").endswith("Tell me the city Ana moved to.")
    assert len(asked("x" * 5000)) <= 400


@given(st.text(min_size=1, max_size=2000).filter(lambda text: not is_blank(text)))
def test_what_is_asked_is_short_and_from_the_text(text: str) -> None:
    part = asked_part(text, 400)
    assert len(part) <= max(400, 0) or part == text
    assert len(text) > 400 or part == text
    assert set(part.split()) <= set(text.split()) or len(text) > 400


def test_names_of_speakers_are_known_and_left_out_of_the_vector() -> None:
    question = read_question(
        "What did ana's sister tell Björk Lund?",
        ["Ana", "Björk Lund"],
        longest=100,
        asked_characters=400,
        asked_at=START,
    )
    assert question.named == ("Ana", "Björk Lund")
    assert question.dense == "What did sister tell ?"
    whole = read_question("Ana?", ["Ana"], longest=100, asked_characters=400, asked_at=START)
    assert whole.dense == "Ana?"
    other = read_question("What about bananas?", ["Ana"], longest=100, asked_characters=400, asked_at=START)
    assert (other.named, other.dense) == ((), "What about bananas?")


def test_the_name_of_a_speaker_is_no_month() -> None:
    def read(query: str, *speakers: str) -> Question:
        return read_question(query, speakers, longest=100, asked_characters=400, asked_at=START)

    assert read("What does June do?").window is not None
    for query in ("What does June do?", "June?", "What is on June's list?"):
        assert read(query, "June Park", "Bob").window is None
    yesterday = read("What did June do yesterday?", "June Park", "Bob").window
    assert yesterday is not None
    assert ([span.text for span in yesterday.spans], yesterday.alone) == (["yesterday"], False)
    may = read("What happened in May?", "June Park").window
    assert may is not None
    assert may.alone


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("What happened with the pump in May 2026?", "What happened with the pump in ?"),
        ("Did the mayor come in May, or yesterday?", "Did the mayor come in , or ?"),
        ("La pompe en fe\u0301vrier 2026", "La pompe en"),
        ("昨天我们做了什么", "我们做了什么"),
        ("The pump", "The pump"),
    ],
)
def test_what_is_asked_beside_a_time_is_known(query: str, rest: str) -> None:
    question = read_question(query, (), longest=100, asked_characters=400, asked_at=START)
    assert " ".join(question.beside_time.split()) == rest


def test_signs_in_a_name_are_only_signs() -> None:
    for speaker in ("A. (B) [C]+*?", "\\d+", "O'Brien", "x|y"):
        question = read_question(
            f"What did {speaker} say?", [speaker], longest=100, asked_characters=400, asked_at=START
        )
        assert question.named == (speaker,)


@pytest.mark.parametrize("query", ["", "  ", "\u200f", "a\0", "\ud800", "x" * 101])
def test_what_is_no_query_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_question(query, (), longest=100, asked_characters=400, asked_at=START)
    assert caught.value.field == "query"


@given(st.text())
def test_words_of_a_query_are_words_of_a_memory(text: str) -> None:
    memory, query = set(words_text(text).split()), set(words_text(text, asking=True).split())
    assert query <= memory | set(words_text(" ".join(text.split())).split())


@given(st.text(min_size=1, max_size=3))
def test_a_term_is_quoted(word: str) -> None:
    body = term_query(word).removesuffix(":*")
    assert body.startswith("'")
    assert body.endswith("'")
    assert "'" not in body[1:-1].replace("''", "")


@given(st.text())
def test_folding_is_stable_and_hashing_follows_it(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert content_hash(text) == content_hash(f"  {text}\n") == content_hash(fold(text))
    assert content_hash(text, "c", 1) != content_hash(text, "c", 2)
    assert content_hash(text, "c", None) == content_hash(text)


def test_a_memory_is_searched_by_its_day_and_its_speaker_too() -> None:
    assert search_text("Hello", speaker="Ana", observed_at=START) == "2 March 2026 Ana: Hello"
    assert search_text("Ana: Hello", speaker="Ana") == "Ana: Hello"
