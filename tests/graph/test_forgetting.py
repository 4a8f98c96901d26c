"""Nothing of what a forgotten memory named, said or led to is left, and what others still say is."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import Conflict
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


def test_a_name_that_a_split_left_behind_goes_with_the_last_that_used_it(memory: Ebbtide, owner: Any) -> None:
    memory.remember("Sara is here", entities=[person("Sara")])
    one = memory.remember("Zebra is here", entities=[person("Zebra")]).memory
    other = memory.remember("Zebra is there", entities=[person("Zebra")]).memory
    memory.entities.merge("Sara", "Zebra")
    memory.entities.split("Sara", memories=[other.id], name="Zebroid")
    forget(memory, one)
    forget(memory, other)
    assert holding(owner, "ebr") == set()
    for change in memory.entities.changes():
        with pytest.raises(Conflict):
            memory.entities.undo(change.id)
    assert [(one.name, one.aliases) for one in memory.entities.list()] == [("Sara", ())]


def test_undoing_an_alias_brings_back_no_forgotten_name(memory: Ebbtide, owner: Any) -> None:
    memory.remember("Bob is here", entities=[person("Bob")])
    gone = memory.remember("Bob is the zebra", entities=[person("Bob", "Zebra")]).memory
    change = memory.entities.add_alias("Bob", "Zebra")
    forget(memory, gone)
    assert memory.entities.get("Zebra").entity.name == "Bob"
    memory.entities.undo(change.id)
    assert holding(owner, "ebra") == set()


def test_undoing_an_alias_leaves_no_entity_called_by_it(memory: Ebbtide, owner: Any) -> None:
    gone = memory.remember("Dr. Sarah Chen is here", entities=[person("Dr. Sarah Chen")]).memory
    memory.remember("Sarah Chen is there", entities=[person("Sarah Chen")])
    change = memory.entities.add_alias("Sarah Chen", "Zebra")
    forget(memory, gone)
    assert memory.entities.get("Sarah Chen").entity.name == "Zebra"
    memory.entities.undo(change.id)
    assert memory.entities.get("Sarah Chen").entity.name == "Sarah Chen"
    assert holding(owner, "ebra") == set()


def test_erasing_a_tenant_leaves_nothing_of_the_graph(memory: Ebbtide, owner: Any) -> None:
    says(memory, "Zebra works", person("Zebra"), "works at", company("Acme"))
    memory.entities.add_alias("Zebra", "Quagga")
    memory.erase_tenant(confirm="default")
    for table in (
        "entity",
        "entity_alias",
        "entity_key",
        "entity_word",
        "alias_source",
        "mention",
        "relation",
        "entity_change",
    ):
        assert owner.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table  # noqa: S608
