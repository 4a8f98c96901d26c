"""handle.entities: what is listed and shown to whom, and what is put right by hand and back again."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Conflict, Forbidden, InvalidInput, NotFound

TABLES = ("entity", "entity_alias", "entity_key", "entity_word", "alias_source", "mention", "relation", "derivation")


def person(name: str, *aliases: str) -> dict[str, Any]:
    return {"name": name, "type": "person", "aliases": aliases}


def company(name: str) -> dict[str, Any]:
    return {"name": name, "type": "company"}


def says(memory: Ebbtide, content: str, subject: Any, predicate: str, object_: Any, **fields: Any) -> Any:
    relation = {"subject": subject, "predicate": predicate, "object": object_}
    return memory.remember(content, relation=relation, **fields).memory


def dump(owner: Any) -> dict[str, list[str]]:
    """Every row of the graph."""
    rows = {table: owner.execute(f"SELECT t::text FROM {table} t").fetchall() for table in TABLES}  # noqa: S608
    return {table: sorted(row[0] for row in found) for table, found in rows.items()}


@pytest.fixture
def graph(memory: Ebbtide) -> Ebbtide:
    says(memory, "Sarah works at DeepMind", person("Dr. Sarah Chen", "Sazza"), "works at", company("DeepMind"))
    says(memory, "DeepMind belongs to Alphabet", company("DeepMind"), "part of", company("Alphabet"), confidence=0.9)
    memory.remember("Sarah Chen plays chess", entities=[person("Sarah Chen")], confidence=0.5)
    memory.remember("S. C. wrote to Bob", entities=[person("S. C."), person("Bob")])
    return memory


def test_entities_are_listed_by_type_and_by_how_a_word_of_a_name_begins(graph: Ebbtide) -> None:
    assert [one.name for one in graph.entities.list()] == ["Dr. Sarah Chen", "DeepMind", "Alphabet", "S. C.", "Bob"]
    assert [one.name for one in graph.entities.list(types="Company")] == ["DeepMind", "Alphabet"]
    assert [one.name for one in graph.entities.list(text="chÉn")] == ["Dr. Sarah Chen"]
    assert [one.name for one in graph.entities.list(text="azza")] == []
    first = graph.entities.list(limit=2)
    assert [one.name for one in graph.entities.list(limit=2, after=first[-1].id)] == ["Alphabet", "S. C."]
    with pytest.raises(InvalidInput, match="not a type"):
        graph.entities.list(types="animal")


@pytest.mark.parametrize("most", [3_000, 0])
def test_a_name_is_found_by_any_of_its_words_however_many_there_are(
    graph: Ebbtide, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("ebbtide.paths.entities.MOST_LOOKED_UP", most)
    long = "The Society for the Preservation of Lighthouses along Northern Coasts"
    graph.remember("They met", entities=[company(long)])

    def names(text: str, **more: Any) -> list[str]:
        return [one.name for one in graph.entities.list(text=text, **more)]

    assert names("sarah c") == names("SAZ") == names("dr.  sarah") == ["Dr. Sarah Chen"]
    assert names("s") == ["Dr. Sarah Chen", "S. C.", long]
    assert names("s", types="person", limit=1) == ["Dr. Sarah Chen"]
    assert names("s", limit=1, after=graph.entities.get("Dr. Sarah Chen").entity.id) == ["S. C."]
    assert names(long[4:]) == names("lighthouses along") == [long]
    assert names(long[:-1] + "X") == names("arah") == []
    merged = graph.entities.merge("Dr. Sarah Chen", "S. C.")
    assert names("s. c") == ["Dr. Sarah Chen"]
    graph.entities.undo(merged.id)
    assert names("s. c") == ["S. C."]
    removed = graph.entities.remove_alias("Dr. Sarah Chen", "Sazza")
    assert names("sazza") == []
    graph.entities.undo(removed.id)
    assert names("sazza") == ["Dr. Sarah Chen"]


def test_an_entity_is_shown_with_its_facts_relations_and_average_confidence(graph: Ebbtide) -> None:
    page = graph.entities.get("sazza")
    assert (page.entity.name, page.entity.aliases) == ("Dr. Sarah Chen", ("Sazza", "Sarah Chen"))
    assert page.entity.confidence == pytest.approx((0.7 + 0.5) / 2)
    assert [one.content for one in page.facts] == ["Sarah Chen plays chess", "Sarah works at DeepMind"]
    assert [(one.predicate, one.object.name, one.derived) for one in page.relations] == [
        ("works_at", "DeepMind", False), ("works_at", "Alphabet", True),
    ]  # fmt: skip
    assert graph.entities.get(page.entity.id) == page
    graph.invalidate(page.facts[0].id)
    assert graph.entities.get("Sazza").entity.confidence == pytest.approx(0.7)
    with pytest.raises(NotFound, match="no entity called 'Nobody'"):
        graph.entities.get("Nobody")


def test_the_average_follows_what_is_live(memory: Ebbtide) -> None:
    one = memory.remember("Bob is tall", entities=[person("Bob")], confidence=0.2).memory
    two = memory.remember("Bob is kind", entities=[person("Bob")], confidence=0.6).memory
    three = memory.remember("Bob is very kind", entities=[person("Bob")], confidence=1.0, supersedes=two.id).memory
    bob = memory.entities.get("Bob").entity
    assert (bob.facts, bob.confidence) == (2, pytest.approx(0.6))
    memory.forget(three.id, 1)
    assert memory.entities.get("Bob").entity.confidence == pytest.approx(0.2)
    memory.invalidate(one.id)
    bob = memory.entities.get("Bob").entity
    assert (bob.facts, bob.confidence) == (0, None)
    assert memory.entities.list() == []


def test_two_of_one_name_are_told_apart_by_their_type(memory: Ebbtide) -> None:
    memory.remember("Apple is a company", entities=[company("Apple")])
    memory.remember("An apple a day", entities=[{"name": "Apple", "type": "product"}])
    with pytest.raises(Conflict, match="2 entities are called 'Apple'"):
        memory.entities.get("Apple")
    assert memory.entities.get("Apple", type="product").entity.type == "PRODUCT"


def test_a_policed_reader_sees_what_its_memories_mention_by_the_names_they_use(memory: Ebbtide) -> None:
    memory.remember("Dr. Sarah Chen earns a lot", namespace="vector.secret", entities=[person("Dr. Sarah Chen")])
    memory.remember("Bob knows", namespace="vector.secret", entities=[person("Bob")])
    memory.remember("Sarah Chen is in", namespace="vector.open", entities=[person("Sarah Chen")], confidence=0.4)
    memory.policies.set("default", Policy(read=("vector.open",)))
    reader = memory.as_agent("default", "memory:read")
    (seen,) = reader.entities.list()
    assert (seen.name, seen.aliases, seen.facts, seen.confidence) == ("Sarah Chen", (), 1, pytest.approx(0.4))
    for name in ("Bob", "Dr. Sarah Chen"):
        with pytest.raises(NotFound):
            reader.entities.get(name)
    assert reader.entities.list(text="Dr") == []
    with pytest.raises(Forbidden):
        reader.entities.merge(seen.id, seen.id)
    assert [one.name for one in memory.entities.list(namespaces=["vector.secret"])] == ["Dr. Sarah Chen", "Bob"]


def test_a_policed_writer_learns_of_no_name_and_no_memory_by_trying_them(memory: Ebbtide) -> None:
    secret = memory.remember(
        "Dr. Sarah Chen, or Zaza, knows Zoe", namespace="vector.secret", entities=[person("Dr. Sarah Chen", "Zaza")]
    ).memory
    memory.remember("Zoe knows", namespace="vector.secret", entities=[person("Zoe")])
    memory.remember("Sarah Chen is in", namespace="vector.open", entities=[person("Sarah Chen")])
    memory.remember("Sarah Chen is out", namespace="vector.open", entities=[person("Sarah Chen")])
    memory.policies.set("default", Policy(read=("vector.open",), write="vector.open", allow_write=True))
    writer = memory.as_agent("default", ["memory:read", "memory:write", "memory:admin"])
    for tried in ("Zaza", "Nobody"):
        with pytest.raises(NotFound, match="no such name"):
            writer.entities.remove_alias("Sarah Chen", tried)
        with pytest.raises(NotFound, match="no such name"):
            writer.entities.split("Sarah Chen", aliases=[tried])
    for id_ in (secret.id, uuid4()):
        with pytest.raises(NotFound, match="does not mention"):
            writer.entities.split("Sarah Chen", memories=[id_], name="Another")
    for tried in ("Zoe", "Dr. Sarah Chen", "Nobody"):
        assert writer.entities.add_alias("Sarah Chen", tried).operation == "add_alias"


def test_a_user_sees_whom_its_own_memories_mention(memory: Ebbtide) -> None:
    one, other = memory.scoped(user="one"), memory.scoped(user="other")
    one.remember("Anna, or Zaza, is in", entities=[person("Anna", "Zaza")])
    one.remember("Zoe is in", entities=[person("Zoe")])
    other.remember("Anna is out", entities=[person("Anna")])
    page = other.entities.get("Anna")
    assert (page.entity.aliases, [fact.content for fact in page.facts]) == ((), ["Anna is out"])
    assert other.entities.neighbourhood("Anna").entity.aliases == ()
    for name in ("Zaza", "Zoe", one.entities.get("Zoe").entity.id):
        with pytest.raises(NotFound):
            other.entities.get(name)
    assert one.entities.get("Zaza").entity.name == "Anna"


def test_names_are_shown_as_the_rules_on_personal_data_say(memory: Ebbtide) -> None:
    memory.remember("Write to a@b.example", namespace="vector.x", entities=[person("a@b.example"), person("Bob")])
    memory.rules.add("vector.x", personal_data="redact")
    assert [one.name for one in memory.entities.list()] == ["[EMAIL]", "Bob"]
    memory.rules.add("vector.x", personal_data="drop")
    assert "a@b.example" not in str(memory.entities.list())


def test_a_merge_and_its_undoing_leave_everything_as_it_was(graph: Ebbtide, owner: Any) -> None:
    says(graph, "S. C. moved to London", person("S. C."), "lives in", {"name": "London", "type": "place"})
    before = dump(owner)
    done = graph.entities.merge("Sazza", "S. C.")
    merged = graph.entities.get("s. c.").entity
    assert (merged.name, merged.facts) == ("Dr. Sarah Chen", 4)
    assert "S. C." in merged.aliases
    assert [one.name for one in graph.entities.list(types="person")] == ["Dr. Sarah Chen", "Bob"]
    graph.remember("S. C. is merged", entities=[person("S. C.")])
    assert graph.entities.get("Sazza").entity.facts == 5
    newest = graph.entities.get("Sazza").facts[0]
    graph.forget(newest.id, 1)
    undone = graph.entities.undo(done.id)
    assert undone.undone_at is not None
    assert dump(owner) == before
    assert [(one.operation, one.undone_at is None) for one in graph.entities.changes()] == [("merge", False)]
    actions = [one.detail.get("operation") for one in graph.audit.entries() if one.action == "update"]
    assert actions == ["entity undo merge", "entity merge"]


def test_what_was_merged_gives_new_conclusions_that_go_with_it(memory: Ebbtide, owner: Any) -> None:
    says(memory, "Ann works at DM", person("Ann"), "works at", company("DM"))
    says(memory, "DeepMind belongs to Alphabet", company("DeepMind"), "part of", company("Alphabet"))
    before = dump(owner)
    done = memory.entities.merge("DeepMind", "DM")
    assert {one.object.name for one in memory.relations.list(entity="Ann")} == {"DeepMind", "Alphabet"}
    memory.entities.undo(done.id)
    assert dump(owner) == before


def test_a_split_by_memories_or_by_names_and_its_undoing(graph: Ebbtide, owner: Any) -> None:
    plays = graph.entities.get("Sazza").facts[0]
    before = dump(owner)
    done = graph.entities.split("Sazza", memories=[plays.id], name="Sarah Chen (chess)")
    assert graph.entities.get("Sazza").entity.aliases == ("Sazza",)
    other = graph.entities.get(str(done.counterpart))
    assert (other.entity.name, other.entity.aliases) == ("Sarah Chen (chess)", ("Sarah Chen",))
    assert [one.id for one in other.facts] == [plays.id]
    graph.entities.undo(done.id)
    assert dump(owner) == before
    done = graph.entities.split("Sazza", aliases="Sarah Chen")
    assert graph.entities.get("Sarah Chen").entity.id == done.counterpart
    graph.remember("Sarah Chen won", entities=[person("Sarah Chen")])
    assert graph.entities.get("Sarah Chen").entity.facts == 2
    with pytest.raises(Conflict, match="Other memories mention"):
        graph.entities.undo(done.id)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, InvalidInput),
        ({"aliases": "Dr. Sarah Chen"}, InvalidInput),
        ({"aliases": "Nobody"}, NotFound),
        ({"memories": ["00000000-0000-0000-0000-000000000001"], "name": "X"}, NotFound),
        ({"memories": "x"}, InvalidInput),
    ],
)
def test_a_split_needs_two_sides_and_a_name(graph: Ebbtide, given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        graph.entities.split("Sazza", **given)


def test_names_are_added_and_removed_and_put_back(graph: Ebbtide, owner: Any) -> None:
    before = dump(owner)
    added = graph.entities.add_alias("Sazza", "The Doctor")
    assert graph.entities.get("the doctor").entity.name == "Dr. Sarah Chen"
    graph.remember("The Doctor is in", entities=[person("The Doctor")])
    assert graph.entities.get("Sazza").entity.facts == 3
    removed = graph.entities.remove_alias("Sazza", "The Doctor")
    with pytest.raises(NotFound):
        graph.entities.get("The Doctor")
    with pytest.raises(Conflict, match="came later"):
        graph.entities.undo(added.id)
    graph.entities.undo(removed.id)
    newest = graph.entities.get("The Doctor").facts[0]
    graph.forget(newest.id, 1)
    graph.entities.undo(added.id)
    assert dump(owner) == before
    learnt = graph.entities.add_alias("Sazza", "Sarah Chen")
    graph.entities.undo(learnt.id)
    assert dump(owner)["entity_alias"] == before["entity_alias"]


def test_a_removed_name_is_not_learnt_again(graph: Ebbtide) -> None:
    graph.entities.remove_alias("Sazza", "Sarah Chen")
    graph.remember("Sarah Chen is somebody else", entities=[person("Sarah Chen")])
    assert graph.entities.get("Sarah Chen").entity.id != graph.entities.get("Sazza").entity.id


def test_what_cannot_be_done_says_so(graph: Ebbtide) -> None:
    with pytest.raises(InvalidInput, match="A PERSON and a COMPANY"):
        graph.entities.merge("Bob", "DeepMind")
    with pytest.raises(InvalidInput, match="with itself"):
        graph.entities.merge("Bob", "Bob")
    with pytest.raises(Conflict, match="own name of the entity"):
        graph.entities.add_alias("Bob", "S. C.")
    with pytest.raises(Conflict, match="its own name"):
        graph.entities.add_alias("Bob", "BOB")
    with pytest.raises(InvalidInput, match="its own name"):
        graph.entities.remove_alias("Bob", "Bob")
    done = graph.entities.merge("Bob", "S. C.")
    with pytest.raises(NotFound):
        graph.entities.merge(str(done.counterpart), "Bob")
    graph.entities.undo(done.id)
    with pytest.raises(Conflict, match="undone already"):
        graph.entities.undo(done.id)
    with pytest.raises(NotFound, match="no change"):
        graph.entities.undo("00000000-0000-0000-0000-000000000001")
