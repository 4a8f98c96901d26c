"""Entity pages: what they say, that they follow their facts, and that nothing forgotten stays in them."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, Policy
from ebbtide.errors import Conflict, Forbidden, NotFound, StoreError
from ebbtide.jobs.pages import refresh_tenant
from tests.forget.support import holding
from tests.graph.test_entities import person
from tests.meanwhile import in_the_middle

SARAH = person("Sarah Chen", "Sazza")


def test_a_page_says_what_its_namespace_says_and_follows_it(memory: Ebbtide) -> None:
    memory.remember("Sarah plays chess", entities=[SARAH], confidence=0.5)
    memory.remember("Sarah earns a lot", entities=[SARAH], namespace="vector.secret")
    page = memory.entities.page("Sazza")
    assert page is not None
    assert (page.kind, page.namespace) == ("entity", "vector.global.memory")
    assert page.content == "Sarah Chen (person), also called Sazza. Confidence 50%.\n- Sarah plays chess"
    assert memory.entities.get("Sazza").entity.page == page.id
    assert memory.entities.page("Sazza") == page
    assert memory.entities.refresh_pages() == 0
    chess = memory.entities.get("Sazza").facts[-1]
    memory.remember("Sarah plays go now", entities=[person("Sarah Chen")], supersedes=chess.id)
    # What it says is out of date: nobody is told it until it is made anew.
    assert memory.get(page.id).maturity == "invalidated"
    assert page.id not in {hit.id for hit in memory.recall("Sarah chess")}
    assert memory.entities.refresh_pages() == 1
    newer = memory.get(page.id)
    assert (newer.maturity, newer.content.splitlines()[1:]) == ("unconfirmed", ["- Sarah plays go now"])
    assert [one.maturity for one in memory.history(page.id)] == ["unconfirmed", "invalidated", "unconfirmed"]
    assert memory.entities.refresh_pages() == 0
    assert memory.entities.get("Sazza").entity.facts == 2
    with pytest.raises(Conflict, match="another namespace"):
        memory.entities.page("Sazza", namespace="vector.secret")
    with pytest.raises(NotFound):
        memory.entities.page("Nobody")


async def test_a_page_goes_with_what_it_was_made_from_and_is_made_anew_by_the_job(
    async_memory: AsyncEbbtide, owner: Any
) -> None:
    gone = (await async_memory.remember("Sarah has a zebra", entities=[SARAH])).memory
    await async_memory.remember("Sarah plays chess", entities=[SARAH])
    page = await async_memory.entities.page("Sarah Chen")
    assert page is not None
    assert "zebra" in page.content
    assert gone is not None
    await async_memory.invalidate(gone.id)
    engine = await async_memory.engine()
    await refresh_tenant(engine, tenant="default")
    assert "zebra" not in (await async_memory.get(page.id)).content
    # Its first revision said so, and goes with what said it.
    receipt = await async_memory.forget(gone.id, 2)
    assert holding(owner, "zebra") == set()
    assert (await async_memory.verify_receipt(receipt.receipt_id)).valid
    with pytest.raises(NotFound):
        await async_memory.get(page.id)
    assert (await async_memory.entities.get("Sarah Chen")).entity.page is None
    await refresh_tenant(engine, tenant="default")
    anew = (await async_memory.entities.get("Sarah Chen")).entity.page
    assert anew is not None
    assert (await async_memory.get(anew)).content.splitlines()[1:] == ["- Sarah plays chess"]


def test_a_page_without_facts_or_of_what_was_merged_holds_no_longer(memory: Ebbtide) -> None:
    fact = memory.remember("Bob is tall", entities=[person("Bob")]).memory
    memory.remember("Robert is kind", entities=[person("Robert")])
    page = memory.entities.page("Bob")
    memory.invalidate(fact.id)
    assert memory.entities.page("Bob") is None
    assert memory.get(page.id).maturity == "invalidated"
    memory.restore(fact.id)
    assert memory.entities.page("Bob").id == page.id
    assert memory.get(page.id).maturity == "unconfirmed"
    merged = memory.entities.merge("Robert", "Bob")
    memory.entities.refresh_pages()
    assert memory.get(page.id).maturity == "invalidated"
    memory.entities.undo(merged.id)
    memory.entities.refresh_pages()
    assert memory.get(page.id).maturity == "unconfirmed"


def test_who_may_not_read_is_shown_no_page(memory: Ebbtide) -> None:
    memory.remember("Sarah plays chess", entities=[SARAH], namespace="vector.x")
    memory.policies.set("default", Policy(read=("vector.x",), write="vector.x", allow_write=True))
    with pytest.raises(Forbidden):
        memory.as_agent("default", "memory:write").entities.page("Sazza")
    page = memory.as_agent("default", ["memory:read", "memory:write"]).entities.page("Sazza")
    assert page is not None
    assert page.namespace == "vector.x"


def test_a_page_neither_repeats_nor_replaces_a_fact(memory: Ebbtide) -> None:
    fact = memory.remember("Bob no longer lives in Oslo", entities=[person("Bob")]).memory
    memory.entities.page("Bob")
    assert memory.get(fact.id).superseded_by is None
    again = memory.remember("Bob no longer lives in Oslo, says Ann", entities=[person("Bob")])
    assert set(again.related) <= {fact.id}
    assert memory.conflicts.list() == [] or all(one.older.kind != "entity" for one in memory.conflicts.list())


def test_who_may_not_read_a_page_is_not_told_of_it(memory: Ebbtide) -> None:
    for namespace in ("vector.x", "vector.secret"):
        memory.remember(f"Sarah is in {namespace}", namespace=namespace, entities=[person("Sarah Chen")])
    page = memory.entities.page("Sarah Chen", namespace="vector.secret")
    memory.policies.set("default", Policy(read=("vector.x",)))
    policed = memory.as_agent("default", "memory:read")
    assert policed.entities.get("Sarah Chen").entity.page is None
    assert memory.entities.get("Sarah Chen").entity.page == page.id


def test_a_user_is_not_shown_the_page_of_another(memory: Ebbtide, owner: Any) -> None:
    ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
    for handle, said in ((ana, "Sarah plays chess"), (bob, "Sarah plays go")):
        handle.remember(said, entities=[person("Sarah Chen")])
    page = ana.entities.page("Sarah Chen")
    with pytest.raises(Conflict, match="in another namespace"):
        bob.entities.page("Sarah Chen")
    assert ana.entities.page("Sarah Chen") == memory.entities.page("Sarah Chen") == page
    memory.erase_user("ana")
    assert holding(owner, "vector.agent.ana") == {"audit"}
    assert bob.entities.page("Sarah Chen").content.splitlines()[1:] == ["- Sarah plays go"]


def test_a_page_is_its_entitys_in_the_transaction_that_writes_it(memory: Ebbtide, owner: Any) -> None:
    memory.remember("Sarah plays chess", entities=[person("Sarah Chen")])
    owner.execute(
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''killed''; END';
           CREATE TRIGGER killed BEFORE UPDATE OF memory_id ON entity FOR EACH ROW EXECUTE FUNCTION refuse()"""
    )
    with pytest.raises(StoreError):
        memory.entities.page("Sarah Chen")
    assert memory.browse(kinds="entity") == []
    owner.execute("DROP TRIGGER killed ON entity")
    assert memory.entities.page("Sarah Chen") is not None


def test_two_who_bring_a_page_up_to_date_at_once_both_get_it(
    memory: Ebbtide, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Sarah plays chess", entities=[person("Sarah Chen")])
    memory.entities.page("Sarah Chen")
    memory.remember("Sarah plays go", entities=[person("Sarah Chen")])

    def page() -> Any:
        return memory.entities.page("Sarah Chen")

    slower: list[Any] = []
    faster = in_the_middle(monkeypatch, owner, "ebbtide.paths.pages:rewrite", lambda: slower.append(page()), page)
    assert slower == [faster.result()]
    assert slower[0].revision == 2
