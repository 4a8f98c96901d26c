"""What an import brings passes the rules on personal data, in every image; without rules it stays as it was."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.write.records import record_line

Connection = psycopg.Connection[Any]
VALUE, OTHER = "ana@example.com", "bob@example.org"
TABLES = ("memory", "memory_version", "strength", "audit", "conflict", "memory_link", "recall_log")
MODES = ("redact", "drop", "quarantine")


def stored_in(owner: Connection, tenant: str) -> str:
    """All that the store holds of a tenant, as text."""
    statement = "SELECT to_jsonb(t) FROM {} t WHERE tenant_id = %s"
    rows = [owner.execute(sql.SQL(statement).format(sql.Identifier(name)), [tenant]).fetchall() for name in TABLES]
    return json.dumps(rows, default=str)


@pytest.fixture
def exported(memory: Ebbtide, clock: FixedClock) -> list[str]:
    """What holds a value now, what held one once, what holds one beside its text, and what never did."""
    now = memory.remember(f"Ana's address is {VALUE}", metadata={OTHER: [OTHER]}, tags=[VALUE]).memory
    once = memory.remember(f"Write to {OTHER}").memory
    memory.remember("The ferry leaves at seven", speaker=VALUE)
    memory.remember("The harbour closes at dusk", tags=["harbour"])
    assert now is not None
    assert once is not None
    clock.advance(timedelta(days=1))
    memory.revise(once.id, "Write to nobody")
    return [record_line(record) for record in memory.export_records()]


def test_an_import_where_no_rule_speaks_is_exact_and_marks_what_it_finds(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    told = there.import_records(exported)
    assert (told.imported, told.redacted, told.quarantined, told.dropped, told.reembedded) == (4, 0, 0, 0, 0)
    assert [record_line(record) for record in there.export_records()] == exported
    there.import_records([{"content": f"Call {VALUE}", "tags": ["new"]}])
    [record] = there.export_records(tags="new")
    assert record["personal_data"] == ["email"]


def test_a_rule_that_allows_keeps_every_byte(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    there.rules.set_personal_data("redact")
    there.rules.add("vector.*", personal_data="allow")
    there.import_records(exported)
    assert [record_line(record) for record in there.export_records()] == exported


@pytest.mark.parametrize("by_tenant", [False, True])
def test_redaction_cannot_be_got_round_by_an_import(
    memory: Ebbtide, exported: list[str], owner: Connection, by_tenant: bool
) -> None:
    there = memory.scoped(tenant="there")
    if by_tenant:
        there.rules.set_personal_data("redact")
    else:
        there.rules.add("vector.*", personal_data="redact")
    told = there.import_records(exported)
    assert (told.imported, told.redacted, told.reembedded) == (4, 3, 2)
    kept = stored_in(owner, "there")
    assert VALUE not in kept
    assert OTHER not in kept
    records = {record["content"]: record for record in there.export_records()}
    assert records["Ana's address is [EMAIL]"]["metadata"] == {"[EMAIL]": ["[EMAIL]"]}
    assert [one["content"] for one in records["Write to nobody"]["versions"]] == ["Write to [EMAIL]"]
    assert records["The ferry leaves at seven"]["speaker"] == "[EMAIL]"
    assert all(record["personal_data"] == [] for record in records.values())
    untouched = next(line for line in exported if "harbour" in line)
    assert record_line(records["The harbour closes at dusk"]) == untouched
    assert [hit.content for hit in there.recall("Ana's address", limit=1)] == ["Ana's address is [EMAIL]"]


def test_vectors_of_the_text_as_it_was_are_not_kept(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    there.rules.set_personal_data("redact")
    there.import_records(exported)
    before = {line["id"]: line["vector"] for line in map(json.loads, exported)}
    for record in there.export_records():
        assert (record["vector"] == before[record["id"]]) == ("[EMAIL]" not in record_line(record)) or (
            record["content"] == "Write to nobody"
        )
        for version in record["versions"]:
            assert version["vector"] not in before.values()


def test_what_a_rule_drops_is_not_stored_and_told_by_its_kind_alone(
    memory: Ebbtide, exported: list[str], owner: Connection
) -> None:
    there = memory.scoped(tenant="there")
    there.rules.set_personal_data("drop")
    told = there.import_records(exported)
    assert (told.imported, told.dropped, told.redacted) == (2, 2, 1)
    kept = stored_in(owner, "there")
    assert VALUE not in kept
    assert OTHER not in kept
    records = {record["content"]: record for record in there.export_records()}
    assert set(records) == {"Write to nobody", "The harbour closes at dusk"}
    assert records["Write to nobody"]["versions"] == []
    details = [entry.detail for entry in there.audit.entries(action="write")]
    assert sorted(detail["outcome"] for detail in details) == ["dropped", "dropped", "imported", "imported"]
    assert all(detail["personal_data"] == ["email"] for detail in details if detail["outcome"] == "dropped")
    again = there.import_records(exported)
    assert (again.imported, again.dropped, again.skipped) == (0, 2, 2)


def test_what_a_rule_quarantines_is_kept_where_no_recall_finds_it(
    memory: Ebbtide, exported: list[str], clock: FixedClock
) -> None:
    there = memory.scoped(tenant="there")
    there.rules.set_personal_data("quarantine")
    told = there.import_records(exported)
    assert (told.imported, told.quarantined, told.dropped) == (4, 3, 0)
    there.rules.set_personal_data(None)
    found = {one.content for one in there.browse()}
    assert found == {"Write to nobody", "The harbour closes at dusk"}
    then = clock.now() - timedelta(hours=1)
    assert {one.content for one in there.browse(as_of=then)} == {"The harbour closes at dusk"}
    assert len(there.recall(f"Write to {OTHER}", as_of=then, min_score=0.0)) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("status", ["archived", "deleted"])
def test_what_was_put_away_passes_the_rule_too(memory: Ebbtide, mode: str, status: str) -> None:
    memory.rules.set_personal_data(mode)
    record = {"content": f"Call {VALUE}", "status": status, "personal_data": []}
    memory.import_records([record])
    for kept in memory.export_records():
        assert (VALUE in kept["content"]) == (mode == "quarantine" and kept["status"] == "quarantined")


@pytest.mark.parametrize("mode", MODES)
def test_the_turn_after_one_that_was_not_let_through_keeps_no_trace_of_it(memory: Ebbtide, mode: str) -> None:
    said = ["Where do you live?", f"Write to {VALUE} first", "I shall do that"]
    here = memory.scoped(chat="c")
    for seq, text in enumerate(said):
        here.remember(text, seq=seq)
    exported = list(here.export_records())
    expected = memory.scoped(tenant="expected", chat="c")
    for seq, text in enumerate(["Where do you live?", "Write to [EMAIL] first", "I shall do that"]):
        if mode == "redact" or seq != 1:
            expected.remember(text, seq=seq)
    wanted = {record["seq"]: record["context_vector"] for record in expected.export_records()}
    orders = [[exported[::-1]], [[record] for record in exported], [[record] for record in exported[::-1]]]
    for number, batches in enumerate(orders):
        there = memory.scoped(tenant=f"there{number}", chat="c")
        there.rules.set_personal_data(mode)
        for records in batches:
            there.import_records(records)
        got = {r["seq"]: r["context_vector"] for r in there.export_records() if r["status"] == "active"}
        assert set(got) == set(wanted)
        for seq, vector in got.items():
            assert (vector is None) == (wanted[seq] is None)
            if vector is not None:
                assert float(np.dot(vector, wanted[seq])) == pytest.approx(1, abs=2e-3)


def test_a_repeated_import_is_left_alone_whatever_the_rules_became(memory: Ebbtide, exported: list[str]) -> None:
    there = memory.scoped(tenant="there")
    there.import_records(exported)
    there.rules.set_personal_data("redact")
    assert there.import_records(exported).skipped == 4
    there.erase_tenant(confirm="there")
    there = memory.scoped(tenant="elsewhere")
    there.rules.set_personal_data("redact")
    there.import_records(exported)
    there.rules.set_personal_data(None)
    assert there.import_records(exported).skipped == 4


def test_redacted_records_that_say_the_same_become_one(memory: Ebbtide) -> None:
    memory.rules.set_personal_data("redact")
    told = memory.import_records([{"content": f"Call {VALUE}"}, {"content": f"Call {OTHER}"}])
    assert (told.imported, told.duplicates, told.redacted) == (1, 1, 1)
    assert [one.content for one in memory.browse()] == ["Call [EMAIL]"]
