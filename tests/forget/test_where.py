"""Forgetting by a filter: looked at first, confirmed by a token, and never the nearest guess."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide, where
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, EbbtideError, InvalidInput
from tests.forget.support import contents, fill


def test_what_the_dry_run_saw_goes_and_nothing_else(memory: Ebbtide) -> None:
    ids = fill(memory, "one", "two", tags=["old"])
    kept = memory.remember("three", tags=["new"]).memory
    looked = memory.forget_where(tags=["old"])
    assert (looked.dry_run, looked.count, sorted(looked.ids)) == (True, 2, sorted(ids))
    assert sorted(one.excerpt for one in looked.candidates) == ["one", "two"]
    assert len(memory.browse()) == 3
    done = memory.forget_where(tags=["old"], dry_run=False, token=looked.token)
    assert (done.dry_run, done.count, done.ids) == (False, 2, looked.ids)
    assert contents(memory.browse()) == [kept.content]
    assert all(memory.verify_receipt(receipt).valid for receipt in done.receipts)


@pytest.mark.parametrize(
    "asked",
    [
        {"where": {"customer": 7}},
        {"where": {"and": [{"customer": {"gte": 7}}, {"importance": {"lt": 0.6}}]}},
        {"where": where("customer") == 7},
        {"namespaces": "vector.team.*"},
        {"kinds": "note"},
        {"labels": ["episodic"]},
        {"namespaces": "*", "where": {"customer": 7}},
    ],
)
def test_every_way_to_narrow(memory: Ebbtide, asked: dict[str, Any]) -> None:
    memory.remember("goes", namespace="vector.team.a", kind="note", labels=["episodic"], metadata={"customer": 7})
    memory.remember("stays", metadata={"customer": 6})
    token = memory.forget_where(**asked).token
    memory.forget_where(**asked, dry_run=False, token=token)
    assert contents(memory.browse()) == ["stays"]


def test_what_is_hidden_from_recall_goes_too(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("Lives in Oslo", tags=["home"]).memory
    memory.remember("Lives in Bergen", tags=["home"], supersedes=old.id)
    memory.remember("Stays with Ana", tags=["home"], ttl_seconds=60)
    clock.advance(timedelta(hours=1))
    looked = memory.forget_where(tags=["home"])
    assert looked.count == 3
    memory.forget_where(tags=["home"], dry_run=False, token=looked.token)
    assert memory.forget_where(tags=["home"]).count == 0


@pytest.mark.parametrize("asked", [{}, {"where": {}}, {"namespaces": "*"}, {"tags": []}, {"where": None, "kinds": []}])
@pytest.mark.parametrize("dry_run", [True, False])
def test_an_empty_filter_is_refused(memory: Ebbtide, asked: dict[str, Any], dry_run: bool) -> None:
    memory.remember("one")
    with pytest.raises(InvalidInput) as caught:
        memory.forget_where(**asked, dry_run=dry_run)
    assert caught.value.field == "where"
    assert contents(memory.browse()) == ["one"]
    assert memory.audit.entries(action="warning")[0].detail["refused"] == "invalid_input"


def test_a_query_forgets_nothing_and_asks_for_ids(memory: Ebbtide) -> None:
    fill(memory, "The flat on Canal Street is let", "Breakfast is at eight")
    looked = memory.forget_where(query="the former flat")
    assert looked.token is None
    assert looked.count == len(looked.candidates) > 0
    with pytest.raises(InvalidInput) as caught:
        memory.forget_where(query="the former flat", dry_run=False)
    assert (caught.value.field, len(memory.browse())) == ("query", 2)
    chosen = [one.id for one in looked.candidates if "Canal" in one.excerpt]
    named = memory.forget_where(ids=chosen)
    memory.forget_where(ids=chosen, dry_run=False, token=named.token)
    assert contents(memory.browse()) == ["Breakfast is at eight"]


def test_what_changed_since_is_not_forgotten(memory: Ebbtide) -> None:
    ids = fill(memory, "one", "two", tags=["old"])
    looked = memory.forget_where(tags=["old"])
    memory.remember("three", tags=["old"])
    with pytest.raises(Conflict):
        memory.forget_where(tags=["old"], dry_run=False, token=looked.token)
    looked = memory.forget_where(tags=["old"])
    memory.revise(ids[0], "one again")
    with pytest.raises(Conflict):
        memory.forget_where(tags=["old"], dry_run=False, token=looked.token)
    assert len(memory.browse()) == 3
    assert memory.receipts.list() == []


def test_a_token_is_for_its_filter_its_agent_and_its_time(memory: Ebbtide, clock: FixedClock) -> None:
    for handle in (memory, memory.scoped(agent="other"), memory.scoped(tenant="other")):
        handle.remember("one", tags=["old"], kind="note")
    token = memory.forget_where(tags=["old"]).token
    for refused in (
        lambda: memory.forget_where(kinds="note", dry_run=False, token=token),
        lambda: memory.scoped(agent="other").forget_where(tags=["old"], dry_run=False, token=token),
        lambda: memory.scoped(tenant="other").forget_where(tags=["old"], dry_run=False, token=token),
    ):
        with pytest.raises(Conflict):
            refused()
    clock.advance(timedelta(minutes=14))
    assert memory.forget_where(tags=["old"]).token != token
    clock.advance(timedelta(minutes=2))
    with pytest.raises(Conflict, match="expired"):
        memory.forget_where(tags=["old"], dry_run=False, token=token)


@pytest.mark.parametrize("token", [None, "", "x", "12-34", "999999999999999999-ab", 7, "\u0663-x"])
def test_without_a_token_nothing_goes(memory: Ebbtide, token: Any) -> None:
    memory.remember("one", tags=["old"])
    with pytest.raises(EbbtideError) as caught:
        memory.forget_where(tags=["old"], dry_run=False, token=token)
    assert caught.value.field == "token"
    assert contents(memory.browse()) == ["one"]


def test_other_agents_users_and_tenants_keep_theirs(memory: Ebbtide) -> None:
    ana = memory.scoped(user="ana")
    others = [memory.scoped(user="bob"), memory.scoped(agent="b"), memory.scoped(tenant="t")]
    for handle in (ana, *others):
        handle.remember("likes oranges", kind="note")
    looked = ana.forget_where(kinds="note")
    assert looked.count == 1
    ana.forget_where(kinds="note", dry_run=False, token=looked.token)
    assert ana.browse() == []
    assert all(contents(handle.browse()) == ["likes oranges"] for handle in others)
    hidden = others[0].browse()[0].id
    assert ana.forget_where(ids=[hidden]).count == 0


@pytest.mark.parametrize("ids", ["x", [], ["x"], 7, [None]])
def test_ids_are_ids(memory: Ebbtide, ids: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.forget_where(ids=ids)
    assert caught.value.field == "ids"


@pytest.mark.parametrize("forged", ["²-x", "٣-x", "-", "", b"1-x", 7, "9" * 12 + "-x", "\ud800-x"])
def test_what_is_no_token_is_refused_whatever_it_is(memory: Ebbtide, forged: Any) -> None:
    memory.remember("The harbour closes at dusk", tags=["harbour"])
    with pytest.raises(InvalidInput) as caught:
        memory.forget_where(tags=["harbour"], dry_run=False, token=forged)
    assert caught.value.field == "token"
    assert len(memory.browse()) == 1
