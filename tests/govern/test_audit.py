"""The audit: what is written down of every verb, and that no change of it goes unseen."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput
from ebbtide.govern import audit

Owner = psycopg.Connection[Any]


def test_reads_are_written_down_by_reference(memory: Ebbtide, owner: Owner) -> None:
    told = memory.scoped(user="ana").remember("The gate code is 4711").memory
    caller = memory.scoped(user="ana")
    caller.recall("gate code")
    caller.get(told.id)
    caller.browse()
    caller.history(told.id)
    caller.context("gate code")
    caller.recall("gate code", as_of="2020-01-01")
    reads = memory.audit.entries(action="read", user="ana")
    assert [read.detail["verb"] for read in reads] == ["recall", "recall", "history", "browse", "get", "recall"]
    assert [read.detail["memories"] for read in reads] == [[], *[[str(told.id)]] * 5]
    assert "4711" not in str(memory.audit.entries(limit=1000))
    logged = owner.execute("SELECT profile, user_id FROM recall_log").fetchall()
    assert logged == [("tide", "ana")] * 3
    rows = owner.execute("SELECT memory_id, place, relevance > 0 FROM recall_hit").fetchall()
    assert rows == [(told.id, 0, True)] * 2


def test_a_store_that_keeps_no_log_still_audits(open_store: Any, settings: Any, owner: Owner) -> None:
    memory = open_store(settings=settings.model_copy(update={"recall_log_days": 0}))
    memory.remember("ferry")
    memory.recall("ferry")
    assert len(memory.audit.entries(action="read")) == 1
    assert owner.execute("SELECT count(*) FROM recall_log").fetchone() == (0,)


def test_what_was_read_is_written_down_at_the_latest_on_closing(memory: Ebbtide, open_store: Any) -> None:
    memory.remember("ferry")
    memory.recall("ferry")
    memory.close()
    other = open_store()
    assert len(other.audit.entries(action="read")) == 1
    assert other.audit.verify().unsealed == 0


def test_every_change_has_its_row(memory: Ebbtide) -> None:
    told = memory.remember("one").memory
    memory.revise(told.id, "two")
    memory.remember("three", supersedes=told.id)
    memory.forget(told.id, 3)
    rows = memory.audit.entries(memory_id=told.id)
    assert [row.action for row in rows] == ["delete", "status", "update", "write"]


def test_entries_are_narrowed_and_paged(memory: Ebbtide, clock: FixedClock) -> None:
    for number in range(5):
        memory.scoped(agent=f"a{number % 2}").remember(f"statement {number}")
        clock.advance(timedelta(days=1))
    start = clock.now() - timedelta(days=5)
    assert len(memory.audit.entries(agent="a0")) == 3
    assert len(memory.audit.entries(since=start + timedelta(days=2), until=start + timedelta(days=4))) == 2
    newest = memory.audit.entries(limit=2)
    older = memory.audit.entries(limit=2, before=newest[-1].number)
    assert [row.at for row in (*newest, *older)] == [start + timedelta(days=day) for day in (4, 3, 2, 1)]
    assert memory.scoped(tenant="other").audit.entries() == []


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"action": "steal"}, "action"),
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"before": "x"}, "before"),
        ({"memory_id": "x"}, "memory_id"),
        ({"since": "yesterday"}, "since"),
    ],
)
def test_what_cannot_be_asked_is_named(memory: Ebbtide, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.audit.entries(**asked)
    assert caught.value.field == field


def filled(memory: Ebbtide) -> None:
    """Two seals of three rows each, and one row that waits."""
    for start in (0, 3):
        for number in range(start, start + 3):
            memory.remember(f"statement {number}")
        assert memory.audit.seal() == 3
    memory.remember("the last")


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        ("UPDATE audit SET agent_id = 'mallory' WHERE number = (SELECT min(number) FROM audit)", "edited"),
        ("UPDATE audit SET detail = '{}' WHERE number = (SELECT max(number) FROM audit)", "edited"),
        (
            "UPDATE audit SET at = at + interval '1 microsecond' WHERE number = (SELECT min(number) FROM audit)",
            "edited",
        ),
        ("UPDATE audit SET memory_id = NULL WHERE number = (SELECT min(number) FROM audit)", "edited"),
        ("DELETE FROM audit WHERE number = (SELECT min(number) FROM audit)", "1 of the 3 rows"),
        ("DELETE FROM audit WHERE number < (SELECT max(number) FROM audit)", "3 of the 3 rows"),
        (
            "INSERT INTO audit (tenant_id, id, at, agent_id, action)"
            " VALUES ('default', gen_random_uuid(), '2026-03-02Z', 'x', 'read')",
            "not written by Ebbtide",
        ),
        (
            "UPDATE audit SET number = DEFAULT WHERE number = (SELECT min(number) FROM audit)",
            "1 of the 3 rows",
        ),
        ("DELETE FROM audit_seal WHERE number = 1", "first seals are missing"),
        ("UPDATE audit_seal SET digest = previous_digest WHERE number = 2", "seal 2"),
        ("UPDATE audit_seal SET sealed_at = '2020-01-01Z' WHERE number = 1", "seal 1"),
    ],
)
def test_no_change_goes_unseen(memory: Ebbtide, owner: Owner, tamper: str, problem: str) -> None:
    filled(memory)
    check = memory.audit.verify()
    assert (check.valid, check.rows, check.seals, check.unsealed) == (True, 7, 2, 1)
    owner.execute(tamper)  # type: ignore[arg-type]
    check = memory.audit.verify()
    assert not check.valid
    assert problem in " ".join(check.problems)


def test_a_row_that_is_put_among_the_sealed_is_seen(memory: Ebbtide, owner: Owner) -> None:
    skipped = owner.execute("SELECT nextval(pg_get_serial_sequence('audit', 'number'))").fetchone()
    filled(memory)
    owner.execute(
        "INSERT INTO audit (tenant_id, number, id, at, agent_id, action) OVERRIDING SYSTEM VALUE"
        " VALUES ('default', %s, gen_random_uuid(), '2026-03-02Z', 'x', 'read')",
        skipped,
    )
    assert "1 rows among" in " ".join(memory.audit.verify().problems)


def test_a_chain_that_was_cut_off_has_another_head(memory: Ebbtide, owner: Owner) -> None:
    filled(memory)
    head = memory.audit.verify().head
    owner.execute("DELETE FROM audit_seal WHERE number = 2")
    assert memory.audit.verify().head != head


def test_the_role_of_the_handles_can_only_add(application: Owner, memory: Ebbtide) -> None:
    memory.remember("x")
    application.execute("SET ebbtide.tenant = 'default'")
    for table in ("audit", "audit_seal", "receipt", "tombstone"):
        for statement in ("DELETE FROM {}", "UPDATE {} SET tenant_id = tenant_id", "TRUNCATE {}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(sql.SQL(statement).format(sql.Identifier(table)))


def test_many_rows_take_several_seals(memory: Ebbtide) -> None:
    memory.remember_many([f"statement {number}" for number in range(2_500)])
    assert memory.audit.seal() == 2_500
    check = memory.audit.verify()
    assert (check.valid, check.seals, check.unsealed) == (True, 3, 0)
    assert memory.audit.seal() == 0


async def test_rows_written_while_sealing_are_neither_lost_nor_sealed_twice(async_memory: AsyncEbbtide) -> None:
    engine = await async_memory.engine()

    async def write(number: int) -> None:
        for step in range(5):
            await async_memory.remember(f"statement {number} {step}")

    async def seal() -> None:
        for _ in range(10):
            await audit.seal(engine, "default")
            await asyncio.sleep(0.002)

    await asyncio.gather(*(write(number) for number in range(4)), seal(), seal())
    await audit.seal(engine, "default")
    check = await async_memory.audit.verify()
    assert (check.valid, check.rows, check.unsealed) == (True, 20, 0)


def test_an_export_has_every_row_and_every_seal(memory: Ebbtide) -> None:
    filled(memory)
    records = list(memory.audit.export())
    assert json.loads(json.dumps(records)) == records
    entries = [record["entry"] for record in records if "entry" in record]
    seals = [record["seal"] for record in records if "seal" in record]
    assert [entry["number"] for entry in entries] == sorted(entry["number"] for entry in entries)
    assert (len(entries), len(seals)) == (7, 2)
    assert seals[1]["previous_digest"] == seals[0]["digest"]
    assert seals[-1]["digest"] == memory.audit.verify().head
    assert "statement" not in str(records)
