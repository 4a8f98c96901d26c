"""One memory is forgotten: what goes, what stays, who is turned away, and what the receipt says."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from psycopg import sql

from ebbtide import AsyncEbbtide, Ebbtide, Receipt
from ebbtide.clock import FixedClock
from ebbtide.db.statements import statement
from ebbtide.errors import NotFound, StaleRevision, Tombstoned
from ebbtide.forget.tombstone import heirs_of
from ebbtide.text import content_hash
from ebbtide.write.pending import store_vectors
from ebbtide.write.rows import Row
from tests.forget.support import REFERENCES, Owner, contents, fill, give_graph, holding


def test_nothing_of_it_is_left_anywhere(memory: Ebbtide, clock: FixedClock, owner: Owner) -> None:
    caller = memory.scoped(user="ana", session="s", chat="c")
    other = memory.remember("The harbour is closed").memory.id
    told = caller.remember(
        "A zebra crossed", tags=["zebra"], labels=["zebra"], metadata={"animal": "zebra"}, subject="zebra",
        predicate="zebra", speaker="zebra", seq=0, idempotency_key="k",
    ).memory  # fmt: skip
    clock.advance(timedelta(days=1))
    caller.revise(told.id, "Two zebras crossed")
    memory.remember("A horse crossed", supersedes=told.id)
    memory.recall("zebra", as_of=clock.now() - timedelta(hours=1))
    memory.audit.entries()
    give_graph(owner, told.id, other)
    receipt = memory.forget(told.id, 3)
    memory.audit.entries()
    assert holding(owner, "zebra") == set()
    assert holding(owner, str(told.id)) - {"memory"} == REFERENCES
    assert receipt.cleaned == {
        "versions": 2, "idempotency answers": 1, "mentions": 2, "names": 2, "entities": 1, "relations": 2,
        "conflicts": 1, "turns": 1, "recall log": 1, "near duplicates": 2,
    }  # fmt: skip
    assert memory.verify_receipt(receipt).valid
    assert "horse" in str(owner.execute("SELECT name FROM entity").fetchall())


def test_the_receipt_says_what_was_forgotten_to_its_holder_alone(memory: Ebbtide, owner: Owner) -> None:
    told = memory.remember("The gate code is 4711").memory
    receipt = memory.forget(told.id, 1)
    assert receipt.opening is not None
    digest = hmac.digest(bytes.fromhex(receipt.opening), content_hash("The gate code is 4711"), "sha256")
    assert digest.hex() == receipt.content_digest
    assert "opening" not in receipt.model_dump()
    assert receipt.opening not in repr(receipt)
    assert holding(owner, receipt.opening) == set()
    assert holding(owner, hashlib.sha256(b"The gate code is 4711").hexdigest()) == set()


def test_receipts_are_chained_and_listed(memory: Ebbtide) -> None:
    ids = fill(memory, "one", "two", "three")
    receipts = [memory.forget(id_, 1) for id_ in ids]
    assert [receipt.number for receipt in receipts] == [1, 2, 3]
    assert [receipt.previous_digest for receipt in receipts] == ["00" * 32, receipts[0].digest, receipts[1].digest]
    listed = memory.receipts.list()
    assert [receipt.model_dump() for receipt in listed] == [receipt.model_dump() for receipt in reversed(receipts)]
    assert memory.receipts.list(ids[1])[0].receipt_id == receipts[1].receipt_id
    assert memory.receipts.list(receipts[1].receipt_id) == memory.receipts.list(ids[1])
    assert [one.number for one in memory.receipts.list(before=3, limit=1)] == [2]
    assert memory.receipts.verify() == ()


def test_a_refusal_is_a_warning_in_the_audit(memory: Ebbtide) -> None:
    id_ = memory.remember("The gate code is 4711").memory.id
    with pytest.raises(StaleRevision):
        memory.forget(id_, 7)
    warning = memory.audit.entries(action="warning")[0]
    assert (warning.memory_id, warning.detail["refused"]) == (id_, "stale_revision")
    assert memory.receipts.list() == []


def test_what_it_had_replaced_points_at_what_replaced_it(memory: Ebbtide) -> None:
    first = memory.remember("Lives in Oslo").memory
    second = memory.remember("Lives in Bergen", supersedes=first.id).memory
    third = memory.remember("Lives in Tromsø", supersedes=second.id).memory
    memory.forget(second.id, 2)
    assert memory.get(first.id).superseded_by == third.id
    memory.forget(third.id, 1)
    assert memory.get(first.id).superseded_by is None
    assert memory.get(first.id).maturity == "superseded"
    assert contents(memory.browse()) == []
    assert memory.restore(first.id).status == "active"
    assert contents(memory.browse()) == ["Lives in Oslo"]


def test_what_was_true_before_still_is(memory: Ebbtide) -> None:
    old = memory.remember("Works at Northwind", valid_from="2024-03-01").memory
    new = memory.remember("Works at Contoso", valid_from="2025-06-01", supersedes=old.id).memory
    memory.forget(new.id, 1)
    assert contents(memory.recall("works", valid_at="2024-12-01")) == ["Works at Northwind"]
    assert contents(memory.recall("works")) == []


def test_an_orphan_steps_aside_for_the_same_words_said_anew(memory: Ebbtide) -> None:
    first = memory.remember("Lives in Oslo").memory
    second = memory.remember("Lives in Bergen", supersedes=first.id).memory
    memory.remember("Lives in Oslo")
    memory.forget(second.id, 1)
    assert memory.get(first.id).status == "archived"
    assert contents(memory.browse()) == ["Lives in Oslo"]


def test_the_next_turn_forgets_it_too(memory: Ebbtide, owner: Owner) -> None:
    chat = memory.scoped(chat="c")
    ids = [
        chat.remember(text, seq=place).memory.id for place, text in enumerate(("alpha one", "beta two", "gamma three"))
    ]

    def vectors(column: str) -> dict[Any, np.ndarray]:
        rows = owner.execute(
            sql.SQL("SELECT id, {0}::text FROM memory WHERE {0} IS NOT NULL").format(sql.Identifier(column))
        ).fetchall()
        return {id_: np.array([float(x) for x in text[1:-1].split(",")]) for id_, text in rows}

    chat.forget(ids[1], 1)
    own, context = vectors("embedding"), vectors("context_embedding")
    blended = own[ids[2]] + 0.7 * own[ids[0]]
    assert np.allclose(context[ids[2]], blended / np.linalg.norm(blended), atol=2e-3)
    chat.forget(ids[0], 1)
    assert ids[2] not in vectors("context_embedding")


async def test_a_late_worker_brings_nothing_back(async_memory: AsyncEbbtide, owner: Owner) -> None:
    told = (await async_memory.remember("The gate code is 4711")).memory
    owner.execute("UPDATE memory SET embedding = NULL, embedding_pending = true")
    engine = await async_memory.engine()
    assert told is not None
    captured = Row(told, content_hash(told.content), np.ones(384, np.float32) / np.sqrt(384))
    receipt = await async_memory.forget(told.id, 1)
    async with engine.database.transaction("default") as transaction:
        await store_vectors(transaction, "default", [captured])
    assert (await async_memory.verify_receipt(receipt)).valid
    assert owner.execute("SELECT embedding FROM memory").fetchall() == [(None,)]


def test_a_session_is_fenced_against_what_was_captured_before(memory: Ebbtide, owner: Owner) -> None:
    caller = memory.scoped(session="s1", user="ana")
    ids = fill(caller, "one", "two")
    caller.forget(ids[0], 1)
    caller.forget(ids[1], 1)
    assert owner.execute("SELECT session_id, user_id, revision FROM session").fetchall() == [("s1", "ana", 3)]


async def test_a_recall_that_was_under_way_leaves_no_trace(async_memory: AsyncEbbtide) -> None:
    told = (await async_memory.remember("ferry")).memory
    await async_memory.recall("ferry")
    receipt = await async_memory.forget(told.id, 1)
    await async_memory.audit.entries()
    assert (await async_memory.verify_receipt(receipt)).valid


def test_an_id_is_refused_for_ever(memory: Ebbtide, owner: Owner) -> None:
    told = memory.remember("a secret").memory
    exported = list(memory.export_records())
    memory.forget(told.id, 1)
    owner.execute("DELETE FROM memory")
    with pytest.raises(Tombstoned):
        memory.import_records(exported)


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        ("INSERT INTO strength (tenant_id, memory_id) VALUES ('default', %(id)s)", "strength"),
        ("UPDATE memory SET content = 'back' WHERE id = %(id)s", "memory"),
        ("UPDATE memory SET tags = '{back}' WHERE id = %(id)s", "memory"),
        ("UPDATE memory SET superseded_by = %(id)s WHERE id <> %(id)s", "links"),
        ("DELETE FROM tombstone", "tombstones"),
        ("UPDATE receipt SET body = replace(body, 'default', 'another')", "altered"),
        ("DELETE FROM receipt WHERE number = 1", "altered"),
        ("DELETE FROM audit WHERE action = 'delete'", "audit"),
    ],
)
def test_tampering_shows(memory: Ebbtide, owner: Owner, tamper: str, problem: str) -> None:
    ids = fill(memory, "first", "second", "third")
    memory.forget(ids[0], 1)
    receipt = memory.forget(ids[1], 1)
    assert memory.verify_receipt(receipt.receipt_id).valid
    owner.execute(tamper, {"id": ids[1]})  # type: ignore[arg-type]
    check = memory.verify_receipt(receipt)
    assert not check.valid
    assert problem in " ".join(check.problems)


def test_a_receipt_that_was_changed_on_the_way_is_not_genuine(memory: Ebbtide) -> None:
    receipt = memory.forget(memory.remember("x").memory.id, 1)
    changed = receipt.model_copy(update={"revision": 9})
    assert memory.verify_receipt(changed).problems == ("the receipt is not as it was issued",)
    assert memory.verify_receipt(receipt.model_dump(mode="json")).valid
    assert Receipt.model_validate_json(receipt.model_dump_json()).digest == receipt.digest


def test_receipts_of_other_tenants_are_not_there(memory: Ebbtide) -> None:
    receipt = memory.forget(memory.remember("x").memory.id, 1)
    other = memory.scoped(tenant="other")
    with pytest.raises(NotFound):
        other.verify_receipt(receipt)
    assert other.receipts.list() == []


def test_every_place_that_can_name_a_memory_is_checked(owner: Owner) -> None:
    """A table that comes to name memories has to be cleaned, and looked at when a receipt is verified."""
    columns = owner.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " JOIN information_schema.tables USING (table_schema, table_name)"
        " WHERE table_schema = 'ebbtide' AND table_type = 'BASE TABLE'"
        " AND data_type IN ('uuid', 'ARRAY') AND table_name !~ '^(memory_[0-9]+|procrastinate.*)$'"
        " AND column_name ~ '(memory|older|newer|other|superseded|premise).*' ORDER BY 1, 2"
    ).fetchall()
    traces = statement("forget.traces")
    for table, column in columns:
        if table in REFERENCES or column == "premise_id":
            continue
        assert re.search(rf"FROM {table} t\b[^;]*?\bt\.{column} = ANY", traces, re.DOTALL), (table, column)


def test_heirs_are_followed_past_all_that_go() -> None:
    one, two, three, four = (uuid4() for _ in range(4))
    assert heirs_of({one: two, two: three, three: four}) == {one: four, two: four, three: four}
    assert heirs_of({one: None, two: one}) == {one: None, two: None}
    assert heirs_of({one: two, two: one}) == {one: None, two: None}


def test_no_vector_made_with_a_forgotten_turn_is_left(memory: Ebbtide, owner: Owner) -> None:
    """Two memories may share a place in a chat, and each has earlier images: none keeps what that turn meant."""
    chat = memory.scoped(chat="c")
    first = chat.remember("quince", seq=0).memory
    twin = chat.remember("ferry", seq=1).memory
    chat.remember("harbour", seq=1)
    chat.remember("ferry at eight", seq=1, supersedes=twin.id)
    memory.forget(first.id, first.revision)
    for table in ("memory", "memory_version"):
        made = owner.execute(
            sql.SQL("SELECT count(*) FROM {} WHERE context_embedding IS NOT NULL").format(sql.Identifier(table))
        ).fetchone()
        assert made == (0,), table
