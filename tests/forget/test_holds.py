"""Legal holds: nothing that one covers goes, by whichever way, until it is released."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, where
from ebbtide.clock import FixedClock
from ebbtide.errors import Held, InvalidInput, NotFound
from ebbtide.forget.retention import forget_outlived
from tests.forget.support import contents, fill


@pytest.mark.parametrize(
    "covers",
    [
        {"user": "ana"},
        {"where": {"case": 12}},
        {"where": (where("case") > 11) & (where("created_at") < datetime(2027, 1, 1, tzinfo=UTC))},
        {"tags": ["evidence"]},
        {"namespaces": "vector.agent.ana.*", "kinds": "note"},
        {"namespaces": ["*"]},
        {"tags": {"any": ["evidence", "other"]}},
    ],
)
def test_what_is_held_does_not_go(memory: Ebbtide, covers: dict[str, Any]) -> None:
    ana = memory.scoped(user="ana")
    held = ana.remember("signed on Monday", kind="note", tags=["evidence"], metadata={"case": 12}).memory
    hold = memory.holds.place(reason="case 12", **covers)
    looked = ana.forget_where(ids=[held.id])
    for refused in (
        lambda: ana.forget(held.id, 1),
        lambda: ana.forget_where(ids=[held.id], dry_run=False, token=looked.token),
        lambda: memory.erase_user("ana"),
        lambda: memory.erase_tenant(confirm="default"),
    ):
        with pytest.raises(Held, match=str(hold.id)) as caught:
            refused()
        assert (caught.value.status, "case 12" in str(caught.value)) == (409, False)
    assert [one.detail["refused"] for one in memory.audit.entries(action="warning")] == ["held"] * 4
    assert contents(ana.browse()) == ["signed on Monday"]
    assert memory.receipts.list() == []
    memory.holds.release(hold.id)
    assert memory.verify_receipt(ana.forget(held.id, 1)).valid


def test_ids_are_held_whoever_asks(memory: Ebbtide) -> None:
    held, free = fill(memory, "one", "two")
    memory.holds.place(ids=[held], reason="r")
    memory.forget(free, 1)
    with pytest.raises(Held):
        memory.forget(held, 1)
    looked = memory.forget_where(kinds="fact")
    with pytest.raises(Held):
        memory.forget_where(kinds="fact", dry_run=False, token=looked.token)
    assert memory.revise(held, "one, corrected").revision == 2


def test_what_meets_the_filter_later_is_held_too(memory: Ebbtide) -> None:
    memory.holds.place(tags=["evidence"], reason="r")
    later = memory.remember("found on Tuesday", tags=["evidence"]).memory
    with pytest.raises(Held):
        memory.forget(later.id, 1)
    assert memory.scoped(tenant="other").holds.list() == []


def test_an_erasure_is_whole_or_not_at_all(memory: Ebbtide) -> None:
    ana = memory.scoped(user="ana")
    ids = fill(ana, *(f"statement {number}" for number in range(5)))
    memory.holds.place(ids=ids[-1:], reason="r")
    with pytest.raises(Held):
        memory.erase_user("ana")
    assert len(ana.browse()) == 5


async def test_retention_waits_for_the_release(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.rules.add("vector.log.*", retention_days=7)
    held = (await async_memory.remember("held", namespace="vector.log.a")).memory
    await async_memory.remember("free", namespace="vector.log.a")
    hold = await async_memory.holds.place(ids=[held.id], reason="r")
    clock.advance(timedelta(days=8))
    engine = await async_memory.engine()
    assert await forget_outlived(engine, "default") == 1
    assert contents(await async_memory.browse()) == ["held"]
    await async_memory.holds.release(hold.id)
    assert await forget_outlived(engine, "default") == 1


def test_holds_are_listed_and_written_down(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.holds.place(user="ana", reason=" case 12 ")
    clock.advance(timedelta(days=1))
    second = memory.holds.place(tags=["evidence"], reason="case 13")
    assert [hold.id for hold in memory.holds.list()] == [second.id, first.id]
    assert (first.reason, first.covers) == ("case 12", {"user": "ana"})
    released = memory.holds.release(str(first.id))
    assert released.released_at == clock.now()
    assert memory.holds.list() == [second]
    assert memory.holds.list(released=True) == [second, released]
    done = [entry.detail["operation"] for entry in memory.audit.entries(action="status")]
    assert done == ["release hold", "place hold", "place hold"]
    with pytest.raises(NotFound):
        memory.holds.release(first.id)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "where"),
        ({"where": {}}, "where"),
        ({"user": "ana", "tags": ["x"]}, "where"),
        ({"user": "a.b"}, "user"),
        ({"ids": []}, "ids"),
        ({"kinds": "nonsense"}, "kinds"),
        ({"user": "ana", "reason": " "}, "reason"),
    ],
)
def test_a_hold_says_what_and_why(memory: Ebbtide, given: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"reason": "r", **given}
    with pytest.raises(InvalidInput) as caught:
        memory.holds.place(**asked)
    assert caught.value.field == field
    assert memory.holds.list() == []


def test_a_hold_on_nothing_is_refused(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    memory.forget(id_, 1)
    with pytest.raises(NotFound):
        memory.holds.place(ids=[id_], reason="r")
