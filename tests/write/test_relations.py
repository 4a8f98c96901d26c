"""Near duplicates and conflicts as they are written: what is linked, superseded or disputed, and what is neither."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict
from ebbtide.jobs.index import build_vector_index
from tests.stores import DIMENSION, SETTINGS

Connection = psycopg.Connection[Any]


def direction(*shares: float) -> list[float]:
    """A vector of norm 1 with these first components, the rest of its length in the last."""
    rest = max(0.0, 1.0 - sum(share * share for share in shares))
    return [*shares, *[0.0] * (DIMENSION - len(shares) - 1), rest**0.5]


NORTH = direction(1.0)


def test_a_near_duplicate_is_stored_and_linked(memory: Ebbtide, owner: Connection) -> None:
    first = memory.remember("The user prefers dark mode in the editor", vector=NORTH)
    second = memory.remember("User prefers the dark mode in the editor.", vector=direction(0.95))
    assert (second.outcome, second.related) == ("near_duplicate", (first.memory.id,))
    assert len(memory.browse()) == 2
    links = owner.execute("SELECT memory_id, other_id, kind FROM memory_link").fetchall()
    assert links == [(second.memory.id, first.memory.id, "near_duplicate")]
    memory.forget(first.memory.id, 1)
    assert owner.execute("SELECT count(*) FROM memory_link").fetchone() == (0,)


@pytest.mark.parametrize(("cosine", "outcome"), [(0.915, "stored"), (0.925, "near_duplicate"), (1.0, "near_duplicate")])
def test_near_is_above_the_threshold(memory: Ebbtide, cosine: float, outcome: str) -> None:
    memory.remember("The ferry leaves at seven in the morning", vector=NORTH)
    assert memory.remember("The ferry departs at seven in the morning", vector=direction(cosine)).outcome == outcome


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Meeting in Room 101 at 9", "Meeting in Room 102 at 9"),
        ("Ana pays the rent", "Bob pays the rent"),
        ("ana likes tea", "eva likes tea"),
        ("The cat is black", "Die Katze ist schwarz"),
        ("Two seats are free", "Three seats are free"),
        ("Ana called Bob", "Bob called Ana"),
    ],
)
def test_another_statement_is_no_near_duplicate_however_near(memory: Ebbtide, first: str, second: str) -> None:
    memory.remember(first, vector=NORTH)
    assert memory.remember(second, vector=NORTH).outcome == "stored"
    assert memory.conflicts.list() == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I love Chinese food", "I hate Chinese food"),
        ("The deploy did finish", "The deploy did not finish"),
        ("The office is open on Sundays", "The office is closed on Sundays"),
        ("Er mag Kaffee", "Er mag keinen Kaffee"),
    ],
)
def test_a_contradiction_is_a_conflict_and_nothing_is_lost(real_memory: Ebbtide, first: str, second: str) -> None:
    memory = real_memory.scoped(tenant=first.replace(" ", "-"))
    old = memory.remember(first)
    new = memory.remember(second)
    assert (new.outcome, new.related) == ("conflict", (old.memory.id,))
    [dispute] = memory.conflicts.list()
    assert (dispute.older.content, dispute.newer.content) == (first, second)
    answer = memory.recall(first, trace=True)
    assert {hit.content for hit in answer} == {first, second}
    assert all(hit.disputed for hit in answer)
    assert answer.trace is not None
    assert len(answer.trace.notes) == 2


def test_real_vectors_do_not_merge_rooms(real_memory: Ebbtide) -> None:
    memory = real_memory.scoped(tenant="rooms")
    assert memory.remember("Meeting in Room 101 at 9").outcome == "stored"
    assert memory.remember("Meeting in Room 102 at 9").outcome == "stored"
    assert not any(hit.disputed for hit in memory.recall("Where is the meeting?"))


def test_a_later_start_supersedes(memory: Ebbtide) -> None:
    old = memory.remember("Works at Northwind", valid_from="2024-03-01", subject="Ana", importance=0.9)
    new = memory.remember("Works at Contoso", valid_from="2025-06-01", subject="Ana")
    assert (new.outcome, new.related) == ("superseded", (old.memory.id,))
    assert new.memory.importance == 0.9
    assert [hit.content for hit in memory.recall("Where does Ana work?")] == ["Works at Contoso"]
    past = memory.recall("Where does Ana work?", valid_at="2024-12-01")
    assert [hit.content for hit in past] == ["Works at Northwind"]
    ended = memory.get(old.memory.id)
    assert (ended.superseded_by, ended.invalidated_at) == (new.memory.id, new.memory.valid_from)
    assert memory.conflicts.list() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"valid_from": "2024-03-01"}, {}),
        ({}, {"valid_from": "2024-03-01"}),
        ({"valid_from": "2024-03-01"}, {"valid_from": "2024-03-01"}),
    ],
)
def test_what_dates_do_not_settle_is_a_conflict(memory: Ebbtide, old: dict[str, Any], new: dict[str, Any]) -> None:
    first = memory.remember("Ana's employer is Northwind", subject="Ana", predicate="employer", **old)
    second = memory.remember("She is paid by Contoso", subject="Ana", predicate="employer", **new)
    assert (second.outcome, second.related) == ("conflict", (first.memory.id,))
    assert len(memory.browse()) == 2


@pytest.mark.parametrize("together", [False, True])
def test_an_older_fact_that_comes_late_is_the_past(memory: Ebbtide, together: bool) -> None:
    fact: dict[str, Any] = {"subject": "Ana", "predicate": "employer", "importance": 0.9}
    drafts = [
        {"content": "Contoso", "valid_from": "2025-06-01", **fact, "importance": 0.5},
        {"content": "Northwind", "valid_from": "2024-03-01", **fact},
    ]
    answers = memory.remember_many(drafts) if together else []
    if not together:
        answers = [memory.remember_many([draft])[0] for draft in drafts]
        answers += memory.remember_many([{"content": "Fabrikam", "valid_from": "2025-01-01", **fact}])
    holds = answers[0].memory.id
    assert (answers[0].outcome, answers[0].related) == ("stored", ())
    for answer in answers[1:]:
        assert (answer.outcome, answer.related) == ("stored", (holds,))
        past = memory.get(answer.memory.id)
        assert past == answer.memory
        assert (past.maturity, past.superseded_by, past.invalidated_at) == (
            "superseded",
            holds,
            answers[0].memory.valid_from,
        )
    assert memory.get(holds).importance == 0.5
    assert memory.conflicts.list() == []
    assert [hit.content for hit in memory.recall("employer of Ana")] == ["Contoso"]
    assert "Northwind" in [hit.content for hit in memory.recall("employer of Ana", valid_at="2024-12-01")]


def test_a_later_end_of_the_old_one_is_a_conflict_and_an_earlier_one_is_none(
    memory: Ebbtide, owner: Connection, clock: FixedClock
) -> None:
    fact: dict[str, Any] = {"subject": "Ana", "predicate": "employer"}
    old = memory.remember("Northwind", valid_from="2024-03-01", **fact).memory
    until = clock.now() + timedelta(days=30)
    owner.execute("UPDATE memory SET invalidated_at = %s WHERE id = %s", [until, old.id])
    assert memory.remember("Contoso", valid_from=clock.now() + timedelta(days=40), **fact).outcome == "stored"
    assert memory.remember("Fabrikam", valid_from=clock.now() - timedelta(days=1), **fact).outcome == "conflict"


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [
        ("Likes oranges", "Works at Contoso", {"subject": "Ana"}),
        ("Likes oranges", "Likes hiking", {"subject": "Ana"}),
        ("Ana speaks German", "Ana speaks French", {"subject": "Ana", "predicate": "speaks"}),
        ("Ana works at Contoso", "Bob works at Northwind", {}),
    ],
)
def test_other_properties_and_many_valued_ones_are_no_conflict(
    memory: Ebbtide, first: str, second: str, more: dict[str, Any]
) -> None:
    memory.remember(first, **more)
    assert memory.remember(second, **more).outcome == "stored"


def test_other_scopes_are_not_compared(memory: Ebbtide) -> None:
    fact: dict[str, Any] = {"subject": "Ana", "predicate": "employer"}
    memory.remember("Northwind", **fact)
    others = [memory.scoped(user="bob"), memory.scoped(agent="b"), memory.scoped(tenant="b")]
    assert [other.remember("Contoso", **fact).outcome for other in others] == ["stored"] * 3
    assert memory.remember("Contoso", namespace="vector.other", **fact).outcome == "stored"
    assert memory.remember("Contoso", subject="Bob", predicate="employer").outcome == "stored"


def test_what_the_caller_supersedes_wins(memory: Ebbtide) -> None:
    fact: dict[str, Any] = {"subject": "Ana", "predicate": "employer", "valid_from": "2025-01-01"}
    old = memory.remember("Northwind", **fact).memory
    new = memory.remember("Contoso", supersedes=old.id, **fact)
    assert (new.outcome, new.related) == ("superseded", ())
    assert memory.conflicts.list() == []


def test_turns_of_a_conversation_may_repeat_each_other(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    turns = [{"content": f"Good morning{'!' * seq}", "seq": seq, "vector": NORTH} for seq in range(3)]
    assert [answer.outcome for answer in chat.remember_many(turns)] == ["stored"] * 3


def test_a_batch_is_compared_with_itself(memory: Ebbtide) -> None:
    answers = memory.remember_many(
        [
            {"content": "The ferry leaves at seven in the morning", "vector": NORTH},
            {"content": "The ferry departs at seven in the morning", "vector": direction(0.99)},
            {"content": "The ferry never leaves at seven in the morning", "vector": direction(0.8)},
            {"content": "Northwind", "subject": "Ana", "predicate": "employer", "valid_from": "2023-01-01"},
            {"content": "Contoso", "subject": "Ana", "predicate": "employer", "valid_from": "2024-01-01"},
            {"content": "Fabrikam", "subject": "Ana", "predicate": "employer", "valid_from": "2025-01-01"},
        ]
    )
    outcomes = ["stored", "near_duplicate", "conflict", "stored", "superseded", "superseded"]
    assert [answer.outcome for answer in answers] == outcomes
    assert [one.content for one in memory.browse() if one.subject == "Ana"] == ["Fabrikam"]
    assert len(memory.conflicts.list()) == 2


def test_many_drafts_find_what_one_finds(memory: Ebbtide) -> None:
    ships = [f"Ship {name} sails for the northern harbour with grain and timber" for name in NAMES]
    memory.remember_many(ships)
    again = [f"{text}!" for text in ships]
    many = memory.scoped(agent="many")
    many.remember_many(ships)
    assert {answer.outcome for answer in many.remember_many(again)} == {"near_duplicate"}
    found = [memory.remember(text) for text in again]
    assert {answer.outcome for answer in found} == {"near_duplicate"}
    for answer, text in zip(found, ships, strict=True):
        assert memory.get(answer.related[0]).content == text


NAMES = ("Alba", "Berta", "Clara", "Dora", "Elsa", "Frida", "Greta", "Hilda", "Ida", "Jutta", "Karla", "Lena")


def test_a_near_duplicate_of_what_ended_is_none(memory: Ebbtide, clock: FixedClock) -> None:
    memory.remember("The ferry leaves at seven in the morning", vector=NORTH, ttl_seconds=60)
    clock.advance(timedelta(minutes=2))
    assert memory.remember("The ferry departs at seven in the morning", vector=NORTH).outcome == "stored"


def test_vectors_are_compared_a_block_at_a_time() -> None:
    from ebbtide.write import near

    rows = np.random.default_rng(1).standard_normal((2_500, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[2_400] = rows[10]
    least = np.full(len(rows), near.LEAST_SIMILARITY, dtype=np.float32)
    least[10] = near.WIDE
    found = {(one, other) for one, other, _ in near.among(rows, least)}
    assert (2_400, 10) in found
    assert all(other < one for one, other in found)
    cosines = rows @ rows.T
    for one, other, cosine in near.above(rows[:50], rows, least):
        assert cosine == pytest.approx(float(cosines[one, other]), abs=1e-5)
        assert cosine > least[one]


@pytest.mark.parametrize("dated", [False, True])
def test_writers_at_the_same_moment_contradict_each_other_seen(memory: Ebbtide, dated: bool) -> None:
    def say(number: int) -> Any:
        more: dict[str, Any] = {"valid_from": f"20{number + 10}-01-01"} if dated else {}
        return memory.remember(f"Employer{number}", subject="Ana", predicate="employer", **more)

    with ThreadPoolExecutor(4) as writers:
        assert len(list(writers.map(say, range(4)))) == 4
    live = [one for one in memory.browse() if one.subject == "Ana"]
    pairs = {frozenset((one.older.id, one.newer.id)) for one in memory.conflicts.list()}
    assert len(live) == (1 if dated else 4)
    assert not dated or live[0].content == "Employer3"
    # Whatever holds beside another is in conflict with it.
    assert pairs == {frozenset((one.id, other.id)) for one in live for other in live if one.id != other.id}


async def test_a_large_namespace_is_searched_by_its_index(dsn: str, clock: FixedClock, embedder: Any) -> None:
    settings = SETTINGS.model_copy(update={"exact_search_rows": 0})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as memory:
        first = await memory.remember("The user prefers dark mode in the editor", vector=NORTH)
        engine = await memory.engine()
        async with engine.database.transaction("default", snapshot=True) as transaction:
            partition = (await transaction.one("recall.partition", tenant="default"))[0]
        await build_vector_index(engine, partition=partition.rsplit(".", 1)[-1])
        second = await memory.remember("User prefers the dark mode in the editor.", vector=direction(0.95))
    assert first.memory is not None
    assert (second.outcome, second.related) == ("near_duplicate", (first.memory.id,))


def test_of_identical_memories_exactly_one_is_live_however_they_come(memory: Ebbtide) -> None:
    """There is nothing for a consolidation to lose: two live memories of one text in one namespace cannot be."""
    first = memory.remember("The ferry leaves at seven.").memory
    memory.import_records([{"content": "The ferry leaves at  seven."}, {"content": "The ferry leaves at seven."}])
    memory.invalidate(first.id)
    memory.remember("The ferry leaves at seven.")
    with suppress(Conflict):
        memory.restore(first.id)
    assert [found.content for found in memory.browse()] == ["The ferry leaves at seven."]
