"""Duplicates and contradictions as users of memory systems met them, with real vectors: nothing lost, nothing twice."""

from __future__ import annotations

import pytest

from ebbtide import Ebbtide


def contents(memory: Ebbtide) -> list[str]:
    return sorted(one.content for one in memory.browse())


@pytest.fixture
def memory(real_memory: Ebbtide, request: pytest.FixtureRequest) -> Ebbtide:
    """A tenant of the test's own on the store with real vectors."""
    return real_memory.scoped(tenant=f"tenant-{abs(hash(request.node.name))}")


def test_love_and_hate_are_never_an_empty_store(memory: Ebbtide) -> None:
    memory.remember("I love Chinese food")
    assert memory.remember("I hate Chinese food").outcome == "conflict"
    assert contents(memory) == ["I hate Chinese food", "I love Chinese food"]
    [conflict] = memory.conflicts.list()
    memory.conflicts.resolve(conflict.id, "keep_new")
    assert [hit.content for hit in memory.recall("Do I like Chinese food?")] == ["I hate Chinese food"]


def test_the_same_sentence_otherwise_spelled_is_one_memory(memory: Ebbtide) -> None:
    first = memory.remember("We met at the café")
    second = memory.remember("We met at the cafe\u0301  ")
    assert (second.outcome, second.memory.created_at) == ("duplicate", first.memory.created_at)
    assert len(contents(memory)) == 1


def test_two_rooms_are_two_memories(memory: Ebbtide) -> None:
    memory.remember_many(["Meeting in Room 101 at 9", "Meeting in Room 102 at 9"])
    assert len(contents(memory)) == 2
    assert memory.conflicts.list() == []


def test_done_and_not_done_are_a_conflict_within_one_batch(memory: Ebbtide) -> None:
    answers = memory.remember_many(["The deploy did finish", "The deploy did not finish"])
    assert [answer.outcome for answer in answers] == ["stored", "conflict"]
    assert len(contents(memory)) == 2


def test_a_retry_gets_the_first_answer(memory: Ebbtide) -> None:
    memory.remember("The deploy did finish")
    answers = [memory.remember("The deploy did not finish", idempotency_key="k") for _ in range(2)]
    assert [answer.outcome for answer in answers] == ["conflict", "conflict"]
    assert len(memory.conflicts.list()) == 1
    assert len(contents(memory)) == 2


def test_a_change_of_employer_needs_nobody(memory: Ebbtide) -> None:
    memory.remember("Works at Northwind", valid_from="2024-03-01", subject="Ana")
    assert memory.remember("Works at Contoso", valid_from="2025-06-01", subject="Ana").outcome == "superseded"
    assert [hit.content for hit in memory.recall("Where does Ana work?")] == ["Works at Contoso"]
    past = memory.recall("Where does Ana work?", valid_at="2024-12-01")
    assert [hit.content for hit in past] == ["Works at Northwind"]


def test_a_context_block_is_no_new_memory(memory: Ebbtide) -> None:
    memory.remember("The gate code is 4711")
    block = memory.context("gate code").text
    assert memory.remember(block).outcome == "echo"
    assert contents(memory) == ["The gate code is 4711"]
