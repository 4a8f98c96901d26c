"""Turns that several programs add to one chat at the same time: each has a place of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.errors import IdempotencyMismatch

PROGRAM = """
import sys
from ebbtide import Ebbtide
from ebbtide.models.fake import FakeEmbedder
from tests.stores import DIMENSION, SETTINGS

with Ebbtide.open(sys.argv[1], settings=SETTINGS, embedder=FakeEmbedder(DIMENSION), chat="c1") as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        memory.episodes.add("Yes", idempotency_key=f"{sys.argv[2]} {number}")
        memory.remember_many([{"content": f"{sys.argv[2]} {number} {part}", "kind": "message"} for part in "ab"])
"""
ROUNDS = 12


def test_two_programs_that_write_to_a_chat_share_no_place(dsn: str, owner: Any) -> None:
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, dsn, name, str(ROUNDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for program in programs:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
    for program in programs:
        assert program.stdin is not None
        program.stdin.write("go\n")
        program.stdin.flush()
    for program in programs:
        program.communicate(timeout=60)
        assert program.returncode == 0
    places = [row[0] for row in owner.execute("SELECT place FROM turn ORDER BY place").fetchall()]
    assert places == list(range(2 * ROUNDS * 3))
    said = owner.execute(
        "SELECT count(*), count(DISTINCT m.sequence), bool_and(m.sequence = t.place), count(m.embedding)"
        " FROM turn t JOIN memory m ON m.id = t.memory_id WHERE m.content = 'Yes'"
    ).fetchone()
    assert said == (2 * ROUNDS, 2 * ROUNDS, True, 2 * ROUNDS)


async def test_tasks_of_one_program_share_none_either(async_memory: AsyncEbbtide) -> None:
    chat = async_memory.scoped(chat="c1")
    await chat.episodes.add("Well?")
    await asyncio.gather(*(chat.episodes.add("Yes") for _ in range(8)))
    turns = await chat.episodes.transcript()
    assert [turn.place for turn in turns] == list(range(9))
    assert [turn.content for turn in turns] == ["Well?"] + ["Yes"] * 8


def test_a_key_that_is_retried_after_other_turns_gets_its_turn(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    first = chat.episodes.add("Yes", idempotency_key="k1").memory
    chat.episodes.add("Yes")
    again = chat.episodes.add("Yes", idempotency_key="k1")
    assert again.memory == first
    assert [turn.place for turn in chat.episodes.transcript()] == [0, 1]
    with pytest.raises(IdempotencyMismatch):
        chat.episodes.add("No", idempotency_key="k1")
