"""Conflicts and near duplicates move with the memories they bind, and never bring a forgotten one back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput, Tombstoned
from ebbtide.write.records import record_line
from ebbtide.write.successors import check_successors

Owner = psycopg.Connection[Any]
ABOUT: dict[str, Any] = {"subject": "Ana", "predicate": "employer"}


@pytest.fixture
def exported(memory: Ebbtide) -> list[str]:
    """An open conflict, a settled one, and a near duplicate."""
    memory.remember("Ana works at Northwind", **ABOUT)
    assert memory.remember("Ana works at Contoso", **ABOUT).outcome == "conflict"
    memory.remember("The deploy did finish", namespace="vector.deploys")
    assert memory.remember("The deploy did not finish", namespace="vector.deploys").outcome == "conflict"
    [settled] = [one for one in memory.conflicts.list() if one.older.namespace == "vector.deploys"]
    memory.conflicts.resolve(settled.id, "keep_both")
    vector = [1.0] + [0.0] * 383
    memory.remember("The harbour closes at dusk", vector=vector)
    assert memory.remember("The harbour closes at dusk, always", vector=vector).outcome == "near_duplicate"
    return [record_line(record) for record in memory.export_records()]


def lines(memory: Ebbtide) -> list[str]:
    return [record_line(record) for record in memory.export_records()]


def orders(exported: Sequence[str]) -> list[list[list[str]]]:
    return [[list(exported)], [list(exported)[::-1]], [[line] for line in exported]]


def test_a_round_trip_keeps_them_in_any_order_of_the_lines(memory: Ebbtide, exported: list[str]) -> None:
    assert [len(record.get("conflicts", ())) for record in map(json.loads, exported)] == [0, 1, 0, 1, 0, 0]
    assert [len(record.get("near_duplicates", ())) for record in map(json.loads, exported)] == [0] * 5 + [1]
    for number, batches in enumerate(orders(exported)):
        there = memory.scoped(tenant=f"there{number}")
        for batch in batches:
            there.import_records(batch)
        assert lines(there) == exported
        assert [one.id for one in there.conflicts.list()] == [one.id for one in memory.conflicts.list()]
        for batch in batches:
            there.import_records(batch)
        assert lines(there) == exported
        assert there.recall("Where does Ana work?")[0].disputed


def test_an_interrupted_import_is_made_good_by_the_next(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    there.import_records(exported[1::2])
    assert there.conflicts.list() == []
    there.import_records(exported)
    assert lines(there) == exported


def test_a_conflict_goes_on_to_the_memory_that_said_it_before(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    said = there.remember("Ana works at Northwind").memory
    assert said is not None
    told = there.import_records(exported)
    assert told.duplicates == 1
    [conflict] = there.conflicts.list()
    assert conflict.older.id == said.id
    assert there.conflicts.resolve(conflict.id, "keep_new")[0].content == "Ana works at Contoso"


def test_what_was_forgotten_is_bound_to_nothing_again(memory: Ebbtide, exported: list[str], owner: Owner) -> None:
    records = [json.loads(line) for line in exported]
    receipts = [memory.forget(records[place]["id"], 1) for place in (0, 2, 4)]
    memory.import_records(exported[1::2])
    assert all("conflicts" not in record and "near_duplicates" not in record for record in memory.export_records())
    assert owner.execute("SELECT (SELECT count(*) FROM conflict), (SELECT count(*) FROM memory_link)").fetchone() == (
        0,
        0,
    )
    assert all(memory.verify_receipt(receipt).valid for receipt in receipts)


@pytest.mark.parametrize("image", ["memory", "version"])
def test_what_was_forgotten_succeeds_nothing_again(memory: Ebbtide, image: str) -> None:
    gone = memory.remember("Ana works at Contoso").memory
    assert gone is not None
    receipt = memory.forget(gone.id, 1)
    link = {"superseded_by": str(gone.id)}
    version = {"content": "Ana works at North", "current_until": "2026-01-01T00:00:00Z", **link}
    record: dict[str, Any] = {"content": "Ana works at Northwind"}
    record |= link if image == "memory" else {"revision": 2, "versions": [version]}
    with pytest.raises(Tombstoned, match="Line 2") as caught:
        memory.import_records([{"content": "Ana likes tea"}, record])
    assert caught.value.field == "superseded_by"
    assert memory.browse() == []
    assert memory.verify_receipt(receipt).valid


def test_a_successor_is_not_forgotten_while_what_it_replaced_comes_in(memory: Ebbtide, owner: Owner) -> None:
    there = memory.remember("Ana works at Contoso").memory
    assert there is not None
    seen: list[str] = []

    async def read_and_try(transaction: Any, caller: Any, incoming: Any) -> None:
        await check_successors(transaction, caller, incoming)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            owner.execute("SELECT FROM memory WHERE id = %s FOR NO KEY UPDATE NOWAIT", [there.id])
        seen.append(caller.tenant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ebbtide.paths.transfer.check_successors", read_and_try)
        memory.import_records([{"content": "Ana works at Northwind", "superseded_by": str(there.id)}])
    assert seen == ["default"]


def test_ties_to_other_agents_and_namespaces_are_left_out(memory: Ebbtide) -> None:
    foreign = memory.scoped(agent="other").remember("Theirs").memory
    elsewhere = memory.remember("Elsewhere", namespace="vector.else").memory
    assert foreign is not None
    assert elsewhere is not None
    moment = "2026-01-01T00:00:00Z"
    others = [foreign.id, elsewhere.id, uuid4()]
    record = {
        "content": "Mine",
        "conflicts": [{"id": str(uuid4()), "older": str(id_), "reason": "x", "created_at": moment} for id_ in others],
        "near_duplicates": [{"older": str(id_), "created_at": moment} for id_ in others],
    }
    memory.import_records([record])
    assert memory.conflicts.list() == []
    assert all("near_duplicates" not in one for one in memory.export_records())


def test_the_id_of_another_agents_conflict_is_of_no_use(memory: Ebbtide, exported: list[str]) -> None:
    [conflict] = memory.conflicts.list()
    other = memory.scoped(agent="other")
    records: list[dict[str, Any]] = [
        {**json.loads(line), "id": str(uuid4()), "agent": "other"} for line in exported[:2]
    ]
    records[1]["conflicts"][0] |= {"id": str(conflict.id), "older": records[0]["id"]}
    other.import_records(records)
    assert other.conflicts.list() == []
    assert memory.conflicts.list() == [conflict]


MOMENT = "2026-01-01T00:00:00Z"
GOOD = {"id": str(UUID(int=7)), "older": str(UUID(int=8)), "reason": "x", "created_at": MOMENT}


@pytest.mark.parametrize(
    ("field", "tie"),
    [
        ("conflicts.0.id", {**GOOD, "id": 7}),
        ("conflicts.0.older", {**GOOD, "older": None}),
        ("conflicts.0.resolution", {**GOOD, "resolution": "won"}),
        ("conflicts.0.extra", {**GOOD, "extra": 1}),
        ("conflicts.0.created_at", {**GOOD, "created_at": "2026"}),
        ("conflicts[0].created_at", {**GOOD, "created_at": "9999-12-31T23:59:59-14:00"}),
        ("conflicts[0].reason", {**GOOD, "reason": "x" * 300}),
        ("conflicts[0].reason", {**GOOD, "reason": "\0"}),
        ("conflicts", "none"),
        ("conflicts.0", None),
    ],
)
def test_what_is_no_tie_is_refused(memory: Ebbtide, field: str, tie: Any) -> None:
    with pytest.raises(InvalidInput, match="Line 1: ") as caught:
        memory.import_records([{"content": "x", "conflicts": tie if isinstance(tie, str) else [tie]}])
    assert caught.value.field == field
    assert memory.browse() == []
