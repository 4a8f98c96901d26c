"""What a context block tells of entities and relations is what their reader may see."""

from __future__ import annotations

from ebbtide import Ebbtide


def test_a_block_names_entities_as_its_reader_may_see_them_and_tells_what_follows(memory: Ebbtide) -> None:
    acme = {"name": "Acme", "type": "company"}
    sarah = {"name": "Sarah Chen", "type": "person", "aliases": ["Sazza"]}
    memory.remember("The owner of the ferry", namespace="vector.secret", entities=[sarah])
    memory.remember(
        "Sazza works on the ferry",
        namespace="vector.open",
        relation={"subject": {"name": "Sazza", "type": "person"}, "predicate": "works_at", "object": acme},
    )
    memory.remember(
        "The ferry firm belongs to Umbrella",
        namespace="vector.open",
        relation={"subject": acme, "predicate": "part_of", "object": {"name": "Umbrella", "type": "company"}},
    )
    block = memory.context("ferry", namespaces=["vector.open"])
    assert "Chen" not in block.text
    assert "Sazza — works_at Umbrella" in block.text
    assert "Sarah Chen" in memory.context("ferry").text
