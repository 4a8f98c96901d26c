"""What two texts say differently, in the languages and scripts that people write in."""

from __future__ import annotations

import re
import time

import pytest

from ebbtide.write.wording import contradict, differ, read_wording

CONTRADICTIONS = [
    ("I love Chinese food", "I hate Chinese food"),
    ("The deploy did finish", "The deploy did not finish"),
    ("The deploy finished", "The deploy didn’t finish"),
    ("The build broke", "The build did not break"),
    ("She drinks coffee", "She never drinks coffee"),
    ("Ana likes tea", "Ana dislikes tea"),
    ("Ana is happy", "Ana is unhappy"),
    ("The server is up", "The server is down"),
    ("The office is open on Sundays", "The office is closed on Sundays"),
    ("We ship to Canada", "We no longer ship to Canada"),
    ("Everyone agreed", "Nobody agreed"),
    ("I always drink tea", "I never drink tea"),
    ("Tests pass on main", "Tests fail on main"),
    ("Payments are enabled in production", "Payments are disabled in production"),
    ("Er mag Kaffee", "Er mag keinen Kaffee"),
    ("Das Büro ist offen", "Das Büro ist nicht offen"),
    ("Me gusta el café", "No me gusta el café"),
    ("Ana siempre llega tarde", "Ana nunca llega tarde"),
    ("Le magasin est ouvert", "Le magasin n'est pas ouvert"),
    ("Il boit du vin", "Il ne boit jamais de vin"),
    ("我喜欢咖啡", "我不喜欢咖啡"),
    ("我每天早上都喜欢喝咖啡", "我每天早上都讨厌喝咖啡"),
    ("私は朝のコーヒーが好きです", "私は朝のコーヒーが嫌いです"),
    ("办公室的门在周日是开着的", "办公室的门在周日是关着的"),
    ("저는 커피를 좋아합니다", "저는 커피를 싫어합니다"),
    ("El servidor está encendido", "El servidor está apagado"),
    ("La lumière est allumée", "La lumière est éteinte"),
    ("Il negozio è aperto", "Il negozio è chiuso"),
    ("O servidor está ligado", "O servidor está desligado"),
    ("De winkel is open", "De winkel is gesloten"),
    ("The flat has a balcony", "The flat has no balcony"),
    ("The flat has a balcony", "The flat lacks a balcony"),
]
OTHER_STATEMENTS = [
    ("Meeting in Room 101 at 9", "Meeting in Room 102 at 9"),
    ("Paid 1,000", "Paid 1.000"),
    ("Two seats are free", "Three seats are free"),
    ("The call is on Monday at noon", "The call is on Tuesday at noon"),
    ("It is due on 3 March", "It is due on 3 April"),
    ("Kayak T1 leaks", "Kayak T2 leaks"),
    ("Ana pays the rent", "Bob pays the rent"),
    ("The rent is paid by Ana", "The rent is paid by Anna"),
    ("ana likes tea", "eva likes tea"),
    ("Ana called Bob", "Bob called Ana"),
    ("Works at Northwind", "Works at Contoso"),
    ("Ana pays", "Ana pays?"),
    ("The cat is black", "Die Katze ist schwarz"),
    ("привет Ana", "hello Ana"),
    ("李明喜欢苹果", "王明喜欢苹果"),
    ("The door is not open", "The door is closed"),
    ("好子在大阪工作", "美子在大阪工作"),
]
SAME_STATEMENTS = [
    ("The flat lacks a balcony", "The flat has no balcony"),
    ("The user prefers dark mode in the editor", "User prefers the dark mode in the editor."),
    ("The ferry leaves at seven in the morning", "The ferry departs at seven in the morning"),
    ("Yesterday the deploy finished", "The deploy finished yesterday"),
    ("Ana Lima likes the blue kayak", "Ana Lima likes the blue kayak!"),
    ("Ana does not eat fish", "Ana doesn't eat fish"),
    ("Der Hafen ist am Sonntag geschlossen", "Am Sonntag ist der Hafen geschlossen"),
]


@pytest.mark.parametrize(("one", "other"), CONTRADICTIONS)
def test_a_denial_or_an_opposite_contradicts(one: str, other: str) -> None:
    first, second = read_wording(one), read_wording(other)
    assert contradict(first, second)
    assert contradict(second, first)
    assert differ(first, second)


@pytest.mark.parametrize(("one", "other"), OTHER_STATEMENTS)
def test_another_number_name_or_language_is_another_statement(one: str, other: str) -> None:
    first, second = read_wording(one), read_wording(other)
    assert differ(first, second)
    assert differ(second, first)
    assert not contradict(first, second)


@pytest.mark.parametrize(("one", "other"), SAME_STATEMENTS)
def test_other_words_for_the_same_do_not_differ(one: str, other: str) -> None:
    first, second = read_wording(one), read_wording(other)
    assert not differ(first, second)
    assert not contradict(first, second)


@pytest.mark.parametrize(
    "text", [text for pair in CONTRADICTIONS + OTHER_STATEMENTS for text in pair] + ["", "?", "42"]
)
def test_a_text_is_like_itself(text: str) -> None:
    wording = read_wording(text)
    assert not differ(wording, wording)
    assert not contradict(wording, wording)


def test_long_texts_are_compared_in_the_time_of_their_length() -> None:
    one, other = (" ".join(f"{letters}{place}"[::-1] for place in range(15_000)) for letters in ("Qu", "Ro"))
    one, other = (re.sub(r"\d", lambda found: "abcdefghij"[int(found[0])], text) for text in (one, other))
    started = time.perf_counter()
    for both in ((one, other), (one, f"{one} {other}"), (one.title(), one.title())):
        contradict(*map(read_wording, both))
        differ(*map(read_wording, both))
    assert time.perf_counter() - started < 15
