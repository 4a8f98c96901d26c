"""The words of a query: learnt one by one, they are what the store makes of the whole text."""

from __future__ import annotations

import random

import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import SystemClock
from ebbtide.read.question import read_question
from ebbtide.read.words import PLAIN, read_words
from ebbtide.text import words_text

ALPHABET = "abeginorstuvwxyzABC0123456789 ,;:?!()\"'.-\n"


def question(text: str):
    return read_question(text, (), longest=10_000, asked_characters=400, asked_at=SystemClock().now())


async def words_of(memory: AsyncEbbtide, text: str) -> tuple[str, ...]:
    engine = await memory.engine()
    async with engine.database.transaction("default", snapshot=True) as transaction:
        return (await read_words(engine, transaction, question(text))).words


async def words_at_once(memory: AsyncEbbtide, text: str) -> tuple[str, ...]:
    engine = await memory.engine()
    async with engine.database.transaction("default", snapshot=True) as transaction:
        values = {"configuration": engine.facts.text_search_configuration, "text": words_text(text, asking=True)}
        return tuple((await transaction.one("recall.words", **values))[0])


@pytest.mark.parametrize(
    "text",
    [
        "What did Ana's sister say about the 3 boats, and when?",
        "Which boats? Those of 2023. The (old) ones!",
        "e.g. the U.S. and don't: 007",
        "running runs ran 12 12.",
    ],
)
async def test_plain_words_are_learnt_to_be_what_the_whole_text_holds(async_memory: AsyncEbbtide, text: str):
    assert PLAIN.fullmatch(words_text(text, asking=True))
    first, again = await words_of(async_memory, text), await words_of(async_memory, text)
    assert first == again == tuple(sorted(await words_at_once(async_memory, text)))


@pytest.mark.parametrize(
    "text", ["well-known", "2.5 litres", "-3 degrees", "3rd", "C9916", "<b>bold</b>", "汇率", "café", "a&amp;b"]
)
def test_what_the_parser_may_read_otherwise_is_not_plain(text: str):
    assert not PLAIN.fullmatch(text)


async def test_a_store_is_asked_about_a_word_once(async_memory: AsyncEbbtide):
    engine = await async_memory.engine()
    await words_of(async_memory, "boats sail")
    assert engine.stems.unknown(["boats", "sail", "anchor"]) == ["anchor"]


async def test_whatever_a_text_says_its_words_are_those_of_the_store(async_memory: AsyncEbbtide):
    chance = random.Random(7)
    texts = ["".join(chance.choices(ALPHABET, k=chance.randint(3, 40))) + "a" for _ in range(3_000)]
    plain = [text for text in texts if PLAIN.fullmatch(words_text(text, asking=True))]
    assert len(plain) > 100
    for text in plain:
        assert set(await words_of(async_memory, text)) == set(await words_at_once(async_memory, text)), text
