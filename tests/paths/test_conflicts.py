"""Conflicts: listed while both sides hold, settled once, and seen by nobody whom they do not concern."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ebbtide import Dispute, Ebbtide
from ebbtide.errors import Conflict, InvalidInput, NotFound
from tests.conftest import Opener

EMPLOYER: dict[str, Any] = {"subject": "Ana", "predicate": "employer"}


@pytest.fixture
def dispute(memory: Ebbtide) -> Dispute:
    memory.remember("Ana works at Northwind", tags=["old"], importance=0.8, **EMPLOYER)
    memory.remember("Ana works at Contoso", tags=["new"], **EMPLOYER)
    [found] = memory.conflicts.list()
    return found


def contents(memory: Ebbtide) -> set[str]:
    return {hit.content for hit in memory.recall("Where does Ana work?")}


@pytest.mark.parametrize(
    ("choice", "kept"), [("keep_new", "Ana works at Contoso"), ("keep_old", "Ana works at Northwind")]
)
def test_one_side_supersedes_the_other(memory: Ebbtide, dispute: Dispute, choice: str, kept: str) -> None:
    [holding] = memory.conflicts.resolve(dispute.id, choice)
    assert holding.content == kept
    assert contents(memory) == {kept}
    loser = dispute.older if choice == "keep_new" else dispute.newer
    assert memory.get(loser.id).superseded_by == holding.id
    assert memory.conflicts.list() == []
    assert not any(hit.disputed for hit in memory.recall("Where does Ana work?"))


def test_both_sides_may_stay(memory: Ebbtide, dispute: Dispute) -> None:
    holding = memory.conflicts.resolve(str(dispute.id), "keep_both")
    assert [one.id for one in holding] == [dispute.older.id, dispute.newer.id]
    assert len(contents(memory)) == 2
    assert memory.conflicts.list() == []


def test_a_merge_replaces_both(memory: Ebbtide, dispute: Dispute) -> None:
    text = "Ana left Northwind for Contoso"
    [holding] = memory.conflicts.resolve(dispute.id, "merge", merged=text)
    assert (holding.content, holding.subject, holding.importance) == (text, "Ana", 0.8)
    assert set(holding.tags) == {"old", "new"}
    assert contents(memory) == {text}
    assert {memory.get(side.id).superseded_by for side in (dispute.older, dispute.newer)} == {holding.id}


def test_a_merge_that_says_what_one_side_says_keeps_that_side(memory: Ebbtide, dispute: Dispute) -> None:
    [holding] = memory.conflicts.resolve(dispute.id, "merge", merged="  Ana works at  Contoso ")
    assert holding.id == dispute.newer.id
    assert contents(memory) == {"Ana works at Contoso"}


def test_a_merge_that_a_third_memory_says_already_is_refused(memory: Ebbtide, dispute: Dispute) -> None:
    memory.remember("Ana left Northwind for Contoso")
    with pytest.raises(Conflict) as caught:
        memory.conflicts.resolve(dispute.id, "merge", merged="Ana left Northwind for Contoso")
    assert caught.value.field == "merged"
    assert len(memory.conflicts.list()) == 1


def test_a_merge_passes_the_screen(memory: Ebbtide, dispute: Dispute) -> None:
    rule = memory.rules.add("vector.*", personal_data="drop")
    with pytest.raises(InvalidInput, match="email") as caught:
        memory.conflicts.resolve(dispute.id, "merge", merged="Ask ana@example.com")
    assert caught.value.field == "merged"
    memory.rules.remove(str(rule.id))
    memory.rules.add("vector.*", personal_data="redact")
    [holding] = memory.conflicts.resolve(dispute.id, "merge", merged="Ask ana@example.com")
    assert holding.content == "Ask [EMAIL]"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"choice": "keep"}, "choice"),
        ({"choice": "merge"}, "merged"),
        ({"choice": "keep_new", "merged": "x"}, "merged"),
        ({"choice": "merge", "merged": "  "}, "content"),
        ({"choice": "keep_new", "conflict_id": "x"}, "conflict_id"),
    ],
)
def test_what_settles_nothing_is_refused(
    memory: Ebbtide, dispute: Dispute, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.conflicts.resolve(**{"conflict_id": str(dispute.id), **arguments})
    assert caught.value.field == field
    assert len(memory.conflicts.list()) == 1


def test_a_conflict_is_settled_once(memory: Ebbtide, dispute: Dispute) -> None:
    memory.conflicts.resolve(dispute.id, "keep_both")
    for id_ in (dispute.id, uuid4()):
        with pytest.raises(NotFound):
            memory.conflicts.resolve(id_, "keep_new")


def test_a_conflict_ends_with_a_side(memory: Ebbtide, dispute: Dispute, owner: psycopg.Connection[Any]) -> None:
    memory.remember("Ana works at Fabrikam", supersedes=dispute.older.id, **EMPLOYER)
    assert memory.conflicts.list() == []
    memory.forget(dispute.newer.id, 1)
    assert owner.execute("SELECT count(*) FROM conflict").fetchone() == (0,)


def test_others_see_no_conflict(memory: Ebbtide, dispute: Dispute) -> None:
    for other in (memory.scoped(agent="b"), memory.scoped(tenant="b")):
        assert other.conflicts.list() == []
        with pytest.raises(NotFound):
            other.conflicts.resolve(dispute.id, "keep_new")


def test_a_conflict_is_settled_in_one_transaction_and_written_down(
    memory: Ebbtide, dispute: Dispute, owner: psycopg.Connection[Any]
) -> None:
    memory.conflicts.resolve(dispute.id, "keep_new")
    rows = owner.execute("SELECT memory_id, detail FROM audit WHERE action = 'status'").fetchall()
    assert (dispute.older.id, {"to": "superseded", "by": str(dispute.newer.id)}) in rows
    settled = {"conflict": str(dispute.id), "resolution": "keep_new"}
    assert {id_ for id_, detail in rows if detail == settled} == {dispute.older.id, dispute.newer.id}


@pytest.mark.parametrize("limit", [0, 1_001, True, "1"])
def test_a_limit_out_of_range_is_refused(memory: Ebbtide, limit: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.conflicts.list(limit=limit)
    assert caught.value.field == "limit"


def test_conflicts_are_listed_newest_first(memory: Ebbtide, dispute: Dispute) -> None:
    memory.remember("Ana works at Fabrikam", **EMPLOYER)
    listed = memory.conflicts.list()
    assert len(listed) == 3
    assert listed[-1].id == dispute.id
    assert [one.id for one in memory.conflicts.list(limit=1)] == [listed[0].id]


def test_without_an_embedder_subjects_still_conflict(open_store: Opener) -> None:
    memory = open_store(embedder=None)
    memory.remember("Northwind", **EMPLOYER)
    assert memory.remember("Contoso", **EMPLOYER).outcome == "conflict"
    [dispute] = memory.conflicts.list()
    [holding] = memory.conflicts.resolve(dispute.id, "merge", merged="First Northwind, then Contoso")
    assert holding.embedding_pending
