"""Duplicates, contradictions, deletions and scores, as users of memory systems met them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput, StaleRevision


def contents(answer: Any) -> list[str]:
    return [found.content for found in answer]


def test_a_contradiction_empties_nothing(memory: Ebbtide, clock: FixedClock) -> None:
    love = memory.remember("I love Chinese food", subject="me").memory
    clock.advance(timedelta(days=1))
    memory.remember("I hate Chinese food", subject="me")
    assert len(memory.recall("Do I like Chinese food?")) == 2
    clock.advance(timedelta(days=1))
    now = memory.remember("I hate Chinese food, after all", subject="me", supersedes=love.id)
    assert now.outcome == "superseded"
    found = memory.recall("Do I like Chinese food?")
    assert "I love Chinese food" not in contents(found)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Meeting in Room 101 at 9", "Meeting in Room 102 at 9"),
        ("The deploy did finish", "The deploy did not finish"),
        ("Ana pays", "Ana pays?"),
        ("Paid 1,000", "Paid 1.000"),
        ("groß", "gross"),
        ("résumé", "resume"),
        ("ﬁle", "file"),
        ("Case", "case"),
        ("x\u00ady", "xy"),
    ],
)
def test_what_differs_in_a_sign_is_another_statement(memory: Ebbtide, first: str, second: str) -> None:
    assert memory.remember(first).outcome == "stored"
    assert memory.remember(second).outcome in ("stored", "near_duplicate", "conflict")
    assert len(memory.browse()) == 2


@pytest.mark.parametrize(
    "same",
    [
        "We met at the cafe\u0301",
        "  We met at the caf\u00e9  ",
        "We\u00a0met at\tthe caf\u00e9",
        "We met\n\nat the caf\u00e9",
        "We met at the caf\u00e9\u2003\r\n",
    ],
)
def test_what_differs_in_spacing_alone_is_the_same(memory: Ebbtide, same: str) -> None:
    first = memory.remember("We met at the caf\u00e9")
    again = memory.remember(same)
    assert (again.outcome, again.memory.id) == ("duplicate", first.memory.id)


def test_a_change_of_employer_is_read_by_date(memory: Ebbtide) -> None:
    old = memory.remember("Works at Northwind", valid_from="2024-03-01", subject="Ana").memory
    memory.remember("Works at Contoso", valid_from="2025-06-01", subject="Ana", supersedes=old.id)
    assert contents(memory.recall("Where does Ana work?")) == ["Works at Contoso"]
    assert contents(memory.recall("Where does Ana work?", valid_at="2024-12-01")) == ["Works at Northwind"]
    assert contents(memory.recall("Where does Ana work?", valid_at="2024-01-01")) == []


@pytest.mark.parametrize("rounds", [1, 3])
def test_saying_forgetting_and_saying_again(memory: Ebbtide, rounds: int) -> None:
    for _ in range(rounds):
        stored = memory.remember("The gate code is 4711")
        assert stored.outcome == "stored"
        assert contents(memory.recall("gate code")) == ["The gate code is 4711"]
        memory.forget(stored.memory.id, stored.memory.revision)
        assert len(memory.recall("gate code")) == 0


def test_what_is_forgotten_is_found_nowhere(memory: Ebbtide, clock: FixedClock) -> None:
    memory.remember("The harbour is closed on Sunday", tags=["harbour"], labels=["factual"])
    stored = memory.remember("The gate code is 4711", tags=["gate"], labels=["factual"], metadata={"k": "gate"}).memory
    then = clock.now()
    clock.advance(timedelta(days=1))
    revised = memory.revise(stored.id, "The gate code is 4712", tags=["gate"])
    clock.advance(timedelta(days=1))
    successor = memory.remember("The gate code is 4713", supersedes=stored.id).memory
    memory.forget(stored.id, revised.revision + 1)
    for moment in (None, then, clock.now() - timedelta(days=1), clock.now()):
        asked: dict[str, Any] = {"as_of": moment, "include_superseded": True, "limit": 200}
        answers = [
            memory.recall("The gate code is 4711", **asked),
            memory.recall("The gate code is 4712", profile="agentium", **asked),
            memory.recall("4711 4712", **asked),
            memory.recall("anything", tags=["gate"], **asked),
            memory.recall("anything", where={"k": "gate"}, **asked),
            memory.browse(as_of=moment, include_superseded=True),
            memory.browse(as_of=moment, tags=["gate"], include_superseded=True),
        ]
        for answer in answers:
            found = {getattr(one, "id", None) for one in answer}
            assert stored.id not in found
            assert not any("4711" in content or "4712" in content for content in contents(answer))
        trace = memory.recall("gate", as_of=moment, trace=True).trace
        assert trace is not None
        assert stored.id not in {candidate.id for candidate in trace.candidates}
        assert "4711" not in memory.context("The gate code is 4711", as_of=moment).text
    assert memory.get(successor.id).content == "The gate code is 4713"


def test_a_stale_delete_says_where_things_stand(memory: Ebbtide) -> None:
    stored = memory.remember("The gate code is 4711").memory
    memory.revise(stored.id, "The gate code is 4712")
    with pytest.raises(StaleRevision, match="revision 2") as caught:
        memory.forget(stored.id, 1)
    assert "4712" not in str(caught.value)
    assert contents(memory.recall("gate code")) == ["The gate code is 4712"]


def test_one_users_delete_touches_nobody_else(memory: Ebbtide) -> None:
    ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
    for handle in (ana, bob):
        handle.remember("likes oranges")
    for found in ana.browse():
        ana.forget(found.id, found.revision)
    assert ana.browse() == []
    assert contents(bob.browse()) == ["likes oranges"]
    assert len(bob.recall("oranges")) == 1


def test_ties_are_stable(memory: Ebbtide) -> None:
    memory.remember_many([f"ferry {word}" for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")])
    orders = {tuple(hit.id for hit in memory.recall("ferry", profile=profile)) for profile in ["agentium"] * 5}
    assert len(orders) == 1
    hits = memory.recall("ferry", profile="agentium")
    assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)


def test_a_question_nobody_can_answer_says_so_and_still_answers(memory: Ebbtide) -> None:
    memory.remember_many(["The ferry leaves at seven", "Ana likes oranges", "The gate code is 4711"])
    for profile in ("ontheia", "ibex", "eryx"):
        answer = memory.recall("quarterly tax form", profile=profile)
        assert answer.nothing_relevant is True, profile
        assert len(answer) == 0
    answer = memory.recall("quarterly tax form", profile="agentium", min_score=0)
    assert len(answer) == 3


def test_a_recall_without_an_agent_is_refused(memory: Ebbtide) -> None:
    for agent in (None, "", " ", "*"):
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(agent=agent)
        assert caught.value.field == "agent"
