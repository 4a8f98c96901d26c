"""What was made from a memory goes when that is forgotten: at once if it is whole, else with its last source."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide, Provenance
from ebbtide.clock import FixedClock
from ebbtide.errors import Held, NotFound, StaleRevision
from ebbtide.forget.retention import forget_outlived
from ebbtide.remember import remember_many
from ebbtide.types.memory import Remembered
from ebbtide.write.origins import Origin
from tests.forget.support import REFERENCES, Owner, contents, fill, holding


def derive(memory: Ebbtide, text: str, sources: Sequence[UUID], *, whole: bool = False) -> Remembered:
    """A memory made from others, as extraction and summaries write them."""
    origin = Origin({id_: memory.get(id_).revision for id_ in sources}, whole)

    async def write() -> Remembered:
        engine = await memory.inner.engine()
        return (await remember_many(engine, memory.inner.caller, [text], origins=[origin]))[0]

    return memory.wait_for(write)


def live(memory: Ebbtide) -> list[str]:
    return contents(memory.browse())


def test_an_extracted_fact_goes_with_the_last_that_says_it(memory: Ebbtide, owner: Owner) -> None:
    one, two = fill(memory, "Ann told me that she works at Acme.", "At Acme, where Ann works, they ski.")
    fact = derive(memory, "Ann works at Acme.", [one]).memory
    assert derive(memory, "Ann works at Acme.", [two]).outcome == "duplicate"
    receipt = memory.forget(one, 1)
    assert "derived memories" not in receipt.cleaned
    assert "Ann works at Acme." in live(memory)
    receipt = memory.forget(two, 1)
    assert receipt.id == two
    assert receipt.cleaned["derived memories"] == 1
    assert live(memory) == []
    gone = memory.receipts.list(fact.id)[0]
    assert memory.verify_receipt(gone).valid
    assert holding(owner, "Acme") == set()
    assert holding(owner, str(fact.id)) - {"memory"} == REFERENCES


def test_a_summary_goes_with_any_of_them_and_takes_along_what_was_made_from_it(memory: Ebbtide) -> None:
    one, two = fill(memory, "The ferry leaves at nine.", "The ferry costs four euros.")
    summary = derive(memory, "They spoke about the ferry.", [one, two], whole=True).memory
    page = derive(memory, "The ferry, in short.", [summary.id]).memory
    told = memory.forget_where(ids=[two])
    assert set(told.derived) == {summary.id, page.id}
    done = memory.forget_where(ids=[two], dry_run=False, token=told.token)
    assert (done.count, set(done.derived)) == (1, {summary.id, page.id})
    assert {receipt.id for receipt in done.receipts} == {two, summary.id, page.id}
    assert live(memory) == ["The ferry leaves at nine."]


def test_what_somebody_said_too_stands_for_itself(memory: Ebbtide) -> None:
    one, two = fill(memory, "Ann told me that she works at Acme.", "Ben likes tea, he says.")
    derive(memory, "Ann works at Acme.", [one])
    memory.remember("Ann works at Acme.")
    memory.remember("Ben likes tea.")
    derive(memory, "Ben likes tea.", [two])
    memory.forget(one, 1)
    memory.forget(two, 1)
    assert live(memory) == ["Ann works at Acme.", "Ben likes tea."]


@pytest.mark.parametrize("lose", ["forget", "revise"])
def test_late_work_on_a_source_that_changed_is_turned_away(memory: Ebbtide, lose: str) -> None:
    one, other = fill(memory, "Ann works at Acme, I hear.", "The ferry is late.")
    read = Origin({one: 1, other: 1})
    if lose == "forget":
        memory.forget(one, 1)
    else:
        memory.revise(one, "Ann works at Bolt, I hear.")

    async def write() -> Any:
        engine = await memory.inner.engine()
        return await remember_many(engine, memory.inner.caller, ["Ann works at Acme."], origins=[read])

    before = live(memory)
    with pytest.raises(StaleRevision, match=str(one)) as caught:
        memory.wait_for(write)
    assert caught.value.field == "origins"
    assert live(memory) == before
    assert any(entry.detail.get("refused") == "stale_revision" for entry in memory.audit.entries())


def test_another_agents_memory_is_no_source(memory: Ebbtide) -> None:
    (one,) = fill(memory.scoped(agent="other"), "Ann works at Acme, I hear.")

    async def write() -> Any:
        engine = await memory.inner.engine()
        return await remember_many(engine, memory.inner.caller, ["Ann works at Acme."], origins=[Origin({one: 1})])

    with pytest.raises(StaleRevision):
        memory.wait_for(write)
    assert live(memory) == []


def test_erasing_a_user_takes_what_was_made_from_the_users_memories(memory: Ebbtide, owner: Owner) -> None:
    ana = memory.scoped(user="ana")
    (hers,) = fill(ana, "Ana is allergic to hazelnuts.")
    (shared,) = fill(memory, "The canteen lists allergies.")
    derive(memory, "Somebody is allergic to hazelnuts.", [hers])
    derive(memory, "Allergies, in short: hazelnuts.", [hers, shared], whole=True)
    erasure = memory.erase_user("ana")
    assert erasure.memories == 3
    assert live(memory) == ["The canteen lists allergies."]
    assert holding(owner, "hazelnut") == set()


def test_a_hold_on_what_was_made_keeps_its_sources(memory: Ebbtide, clock: FixedClock) -> None:
    one, two, three = fill(memory, "The ferry leaves at nine.", "The ferry costs four euros.", "The sea is calm.")
    summary = derive(memory, "They spoke about the ferry.", [one, two], whole=True).memory
    memory.holds.place(reason="The case of the ferry", ids=[summary.id])
    with pytest.raises(Held):
        memory.forget(one, 1)
    with pytest.raises(Held):
        memory.erase_tenant(confirm="default")
    memory.rules.add("vector.global.*", retention_days=1)
    clock.advance(timedelta(days=2))

    async def outlive() -> int:
        return await forget_outlived(await memory.inner.engine(), "default")

    assert memory.wait_for(outlive) == 1
    assert three not in {found.id for found in memory.browse()}
    assert len(live(memory)) == 3


def test_provenance_names_what_a_memory_was_made_from_and_what_was_made_from_it(memory: Ebbtide) -> None:
    one, two = fill(memory, "The ferry leaves at nine.", "The ferry costs four euros.")
    summary = derive(memory, "They spoke about the ferry.", [one, two], whole=True).memory
    fact = derive(memory, "The ferry is cheap.", [two]).memory
    assert memory.provenance(summary.id).sources == tuple(sorted((one, two)))
    assert memory.provenance(summary.id).whole
    assert memory.provenance(two).derived == tuple(sorted((summary.id, fact.id)))
    assert not memory.provenance(fact.id).whole
    assert memory.provenance(one) == Provenance(id=one, sources=(), whole=False, derived=(summary.id,))
    with pytest.raises(NotFound):
        memory.scoped(agent="other").provenance(one)


def test_provenance_names_nothing_out_of_its_readers_reach(memory: Ebbtide) -> None:
    (secret,) = fill(memory, "The gate code is 4711.", namespace="vector.vault")
    fact = derive(memory, "There is a gate.", [secret]).memory
    memory.policies.set("guard", {"read": ["vector.global.*"]})
    (copy,) = fill(memory.scoped(agent="guard"), "The vault has a gate.", namespace="vector.vault")
    made = derive(memory.scoped(agent="guard"), "There is a gate.", [copy]).memory
    policed = memory.as_agent("guard", "memory:read")
    assert policed.provenance(made.id).sources == ()
    assert memory.provenance(fact.id).sources == (secret,)


def test_an_export_carries_origins_and_an_import_follows_them(memory: Ebbtide) -> None:
    one, two = fill(memory, "The ferry leaves at nine.", "The ferry costs four euros.")
    summary = derive(memory, "They spoke about the ferry.", [one, two], whole=True).memory
    records = list(memory.export_records())
    copy = memory.scoped(tenant="copy")
    copy.import_records(reversed(records))
    assert copy.provenance(summary.id) == memory.provenance(summary.id)
    assert [{**record, "agent": None} for record in copy.export_records()] == [
        {**record, "agent": None} for record in records
    ]
    copy.forget(one, 1)
    assert live(copy) == ["The ferry costs four euros."]
