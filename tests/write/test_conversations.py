"""Turns of a conversation: each is seen in the light of the turn before, whatever order they arrive in."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbtide import Ebbtide
from ebbtide.models.fake import FakeEmbedder
from ebbtide.text import embedding_text
from ebbtide.write.context import PREVIOUS_SHARE, in_context

TURNS = ["When does the ferry leave?", "At seven, from the northern pier.", "And the bus?", "It left already."]

Expected = dict[str, NDArray[Any] | None]


@pytest.fixture
def contexts(owner: Any) -> Any:
    """The stored context vectors by content."""

    def stored() -> Expected:
        rows = owner.execute(
            "SELECT content, context_embedding::text FROM memory WHERE status = 'active' ORDER BY sequence"
        ).fetchall()
        return {content: None if text is None else np.fromstring(text.strip("[]"), sep=",") for content, text in rows}

    return stored


async def expected(turns: list[str], speaker: str | None = None) -> Expected:
    """What the definition gives: norm(v + .7 v_previous), nothing for the first turn."""
    vectors = await FakeEmbedder(384).embed([embedding_text(turn, speaker) for turn in turns])
    made: Expected = {turns[0]: None}
    for place in range(1, len(turns)):
        blended = vectors[place] + PREVIOUS_SHARE * vectors[place - 1]
        made[turns[place]] = blended / np.linalg.norm(blended)
    return made


def same(found: Expected, wanted: Expected) -> bool:
    assert list(found) == list(wanted)
    for content, vector in wanted.items():
        other = found[content]
        assert (vector is None) == (other is None), content
        if vector is not None and other is not None:
            assert float(vector @ other) == pytest.approx(1.0, abs=2e-3), content
    return True


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
async def test_turns_may_arrive_in_any_order(memory: Ebbtide, contexts: Any, order: tuple[int, ...]) -> None:
    chat = memory.scoped(chat="c1")
    for place in order:
        chat.remember(TURNS[place], kind="message", seq=place)
    assert same(contexts(), await expected(TURNS))


@pytest.mark.parametrize("batches", [[[0, 1, 2, 3]], [[3, 1, 0, 2]], [[0, 3], [2, 1]], [[1, 2], [3, 0]]])
async def test_turns_may_arrive_in_batches(memory: Ebbtide, contexts: Any, batches: list[list[int]]) -> None:
    chat = memory.scoped(chat="c1")
    for batch in batches:
        chat.remember_many([{"content": TURNS[place], "seq": place, "speaker": "Ana"} for place in batch])
    assert same(contexts(), await expected(TURNS, "Ana"))


async def test_a_gap_in_the_sequence_is_bridged(memory: Ebbtide, contexts: Any) -> None:
    chat = memory.scoped(chat="c1")
    for place in (7, 0, 100, 20):
        chat.remember(TURNS[[0, 7, 20, 100].index(place)], seq=place)
    assert same(contexts(), await expected(TURNS))


async def test_other_chats_and_agents_lend_nothing(memory: Ebbtide, contexts: Any) -> None:
    for place, turn in enumerate(TURNS):
        memory.scoped(chat=f"c{place}").remember(turn, seq=place)
    assert set(contexts().values()) == {None}


async def test_a_forgotten_turn_leaves_nothing_in_the_next(memory: Ebbtide, contexts: Any) -> None:
    chat = memory.scoped(chat="c1")
    ids = [chat.remember(turn, seq=place).memory.id for place, turn in enumerate(TURNS)]
    chat.forget(ids[1], 1)
    assert same(contexts(), await expected([TURNS[0], TURNS[2], TURNS[3]]))
    chat.forget(ids[0], 1)
    assert same(contexts(), await expected([TURNS[2], TURNS[3]]))


async def test_a_revised_turn_changes_its_own_and_the_next(memory: Ebbtide, contexts: Any) -> None:
    chat = memory.scoped(chat="c1")
    ids = [chat.remember(turn, seq=place).memory.id for place, turn in enumerate(TURNS)]
    chat.revise(ids[1], "At eight, from the southern pier.")
    turns = [TURNS[0], "At eight, from the southern pier.", *TURNS[2:]]
    assert same(contexts(), await expected(turns))


async def test_a_vector_given_lends_itself_too(memory: Ebbtide, contexts: Any) -> None:
    chat = memory.scoped(chat="c1")
    axes = np.eye(384)
    chat.remember("first", seq=0, vector=axes[0])
    chat.remember("second", seq=1, vector=axes[1])
    found = contexts()["second"]
    blended = axes[1] + PREVIOUS_SHARE * axes[0]
    assert float(found @ blended) / np.linalg.norm(blended) == pytest.approx(1.0, abs=1e-3)


def test_an_answer_is_found_by_its_question(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    talk = ["Hello there", "Hi", "When does the ferry to Bergen leave?", "At seven sharp", "Thanks a lot", "Bye"]
    chat.remember_many([{"content": turn, "kind": "message", "seq": place} for place, turn in enumerate(talk)])
    memory.remember_many([f"Seven plus {number} makes some number" for number in range(20)])
    top = [hit.content for hit in memory.recall("When does the ferry to Bergen leave?", limit=3)]
    assert "At seven sharp" in top


UNIT = st.integers(0, 2**32).map(
    lambda seed: (lambda vector: vector / np.linalg.norm(vector))(np.random.default_rng(seed).normal(size=16))
)


@given(vector=UNIT, previous=UNIT)
def test_a_context_vector_has_length_one_and_leans_on_its_own(vector: NDArray[Any], previous: NDArray[Any]) -> None:
    made = in_context(vector, previous)
    assert float(np.linalg.norm(made)) == pytest.approx(1.0, abs=1e-6)
    assert float(made @ vector) >= float(made @ previous) - 1e-6


def test_a_vector_that_is_cancelled_out_stays_itself() -> None:
    vector = np.array([1.0, 0.0])
    np.testing.assert_allclose(in_context(vector, -vector / PREVIOUS_SHARE), vector)


def test_a_turn_at_the_same_place_is_not_the_one_before(memory: Ebbtide, contexts: Any) -> None:
    """Two memories may share a place in a chat: neither is seen in the light of the other."""
    chat = memory.scoped(chat="c")
    chat.remember_many([{"content": "alpha", "seq": 1}, {"content": "beta", "seq": 1}])
    assert contexts() == {"alpha": None, "beta": None}
