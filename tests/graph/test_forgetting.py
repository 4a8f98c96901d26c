"""Nothing of what a forgotten memory named, said or led to is left, and what others still say is."""

from __future__ import annotations

from typing import Any

from ebbtide import Ebbtide
from tests.forget.support import holding
from tests.graph.test_entities import company, person, says


def forget(memory: Ebbtide, gone: Any) -> Any:
    receipt = memory.forget(gone.id, memory.get(gone.id).revision)
    check = memory.verify_receipt(receipt.receipt_id)
    assert check.valid, check.problems
    return receipt


def test_what_only_it_named_is_gone_everywhere(memory: Ebbtide, owner: Any) -> None:
    kept = memory.remember("Sarah Chen plays", entities=[person("Sarah Chen")]).memory
    gone = says(
        memory, "A zebra works there", person("Dr. Sarah Chen zebra", "Zebrachen"), "works at", company("Zebra Inc"),
        entities=[person("Sarah Chen", "Zebrafriend")],
    )  # fmt: skip
    assert "entity_alias" in holding(owner, "ebra")
    receipt = forget(memory, gone)
    assert holding(owner, "ebra") == set()
    assert receipt.cleaned["mentions"] >= 2
    assert receipt.cleaned["names"] >= 3
    assert receipt.cleaned["relations"] == 1
    assert receipt.cleaned["entities"] >= 1
    assert [(one.name, one.aliases) for one in memory.entities.list()] == [("Sarah Chen", ())]
    assert memory.entities.get("Sarah Chen").facts[0].id == kept.id


def test_an_entity_whose_own_name_goes_is_called_by_the_next(memory: Ebbtide, owner: Any) -> None:
    gone = memory.remember("The zebra doctor", entities=[person("Dr. Sarah Zebra Chen")]).memory
    memory.remember("Sarah is in", entities=[person("Sarah Chen Dr.")])
    forget(memory, gone)
    assert holding(owner, "Zebra") == set()
    assert [one.name for one in memory.entities.list()] == ["Sarah Chen Dr."]
    memory.remember("Sarah again", entities=[person("sarah chen dr.")])
    assert memory.entities.get("Sarah Chen Dr.").entity.facts == 2


def test_what_was_merged_keeps_no_name_of_what_is_forgotten(memory: Ebbtide, owner: Any) -> None:
    memory.remember("Bob is here", entities=[person("Bob")])
    gone = memory.remember("Zebra is here", entities=[person("Zebra")]).memory
    memory.entities.merge("Bob", "Zebra")
    forget(memory, gone)
    assert holding(owner, "ebra") == set()
    assert [one.name for one in memory.entities.list()] == ["Bob"]


def test_a_name_that_a_person_gave_goes_with_the_entity(memory: Ebbtide, owner: Any) -> None:
    gone = memory.remember("Bob is here", entities=[person("Bob")]).memory
    memory.entities.add_alias("Bob", "Zebra")
    forget(memory, gone)
    assert holding(owner, "ebra") == set()
    assert memory.entities.list() == []


def test_erasing_a_tenant_leaves_nothing_of_the_graph(memory: Ebbtide, owner: Any) -> None:
    says(memory, "Zebra works", person("Zebra"), "works at", company("Acme"))
    memory.entities.add_alias("Zebra", "Quagga")
    memory.erase_tenant(confirm="default")
    for table in ("entity", "entity_alias", "entity_key", "alias_source", "mention", "relation", "entity_change"):
        assert owner.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table  # noqa: S608
