"""What a policed handle may not read, it learns of by no answer that something is there already."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import EbbtideError, IdempotencyMismatch, InvalidInput, NotFound

OPEN, BOX = "vector.open", "vector.box"
SCOPES = "memory:read,memory:write,memory:delete,memory:admin"


@pytest.fixture
def agent(memory: Ebbtide) -> Ebbtide:
    """It reads one namespace, and writes to another one too."""
    memory.policies.set("default", Policy(read=(OPEN,), write=OPEN, allowed_write=(BOX,), allow_write=True))
    return memory.as_agent("default", SCOPES, user="bob")


def refusal(call: Any, *names: object) -> str:
    """What an error says, without the names that were asked for."""
    with pytest.raises(EbbtideError) as caught:
        call()
    told = str(caught.value.to_dict())
    for name in names:
        told = told.replace(str(name), "…")
    return told


def test_a_duplicate_of_what_may_not_be_read_is_told_without_it(memory: Ebbtide, agent: Ebbtide) -> None:
    memory.scoped(user="ana").remember("The safe opens with 4471", namespace=BOX, metadata={"whose": "Ana"})
    again = agent.remember("The safe opens with 4471", namespace=BOX)
    assert (again.outcome, again.memory, again.related) == ("duplicate", None, ())
    memory.remember("Ferries leave at nine", namespace=OPEN)
    assert agent.remember("Ferries leave at nine", namespace=OPEN).memory is not None


def test_a_key_is_its_callers_own(memory: Ebbtide, agent: Ebbtide) -> None:
    memory.remember("One", namespace=BOX, idempotency_key="k1")
    carol = memory.as_agent("default", SCOPES, user="carol")
    task = memory.as_agent("default", SCOPES, user="bob", task="t1")
    made = [one.remember(f"{number}", idempotency_key="k1") for number, one in enumerate((agent, carol, task))]
    assert [one.outcome for one in made] == ["stored"] * 3
    assert agent.remember("0", idempotency_key="k1").memory == made[0].memory
    with pytest.raises(IdempotencyMismatch):
        agent.remember("1", idempotency_key="k1")
    with pytest.raises(IdempotencyMismatch):
        memory.remember("Two", idempotency_key="k1")


def works_at(subject: str, employer: str) -> Any:
    return {
        "subject": {"name": subject, "type": "PERSON"},
        "predicate": "works at",
        "object": {"name": employer, "type": "COMPANY"},
    }


def test_changes_of_hidden_entities_are_not_there(memory: Ebbtide, agent: Ebbtide) -> None:
    memory.remember("Ann works at Acme", namespace=OPEN, relation=works_at("Ann", "Acme"))
    memory.remember("Annie works at Bolt", namespace=BOX, relation=works_at("Annie", "Bolt"))
    memory.remember("Anna works at Bolt", namespace=BOX, relation=works_at("Anna", "Bolt"))
    ann, annie, anna, bolt = (memory.entities.get(name).entity.id for name in ("Ann", "Annie", "Anna", "Bolt"))
    merged = memory.entities.merge(ann, annie)
    hidden = memory.entities.add_alias(bolt, "Bolt Ltd")
    assert [(one.id, one.entity, one.counterpart) for one in agent.entities.changes()] == [(merged.id, ann, None)]
    assert [len(agent.entities.changes(limit=1)), agent.entities.changes(limit=1).next] == [1, None]
    assert [agent.entities.changes(entity=one) for one in (annie, anna, bolt)] == [[], [], []]
    never = "01900000-0000-7000-8000-000000000000"
    assert refusal(lambda: agent.entities.undo(hidden.id), hidden.id) == refusal(
        lambda: agent.entities.undo(never), never
    )
    assert [one.id for one in memory.entities.changes()] == [hidden.id, merged.id]
    assert memory.entities.changes()[1].counterpart == annie
    with pytest.raises(NotFound):
        agent.entities.get("Annie")
    assert agent.entities.undo(merged.id).undone_at is not None


@pytest.mark.parametrize("mode", ["redact", "drop", "quarantine"])
def test_names_that_a_person_gives_pass_the_rules(memory: Ebbtide, mode: Any) -> None:
    memory.remember("Ann works at Acme", namespace=OPEN, relation=works_at("Ann", "Acme"))
    told = memory.remember("Ann lives in Oslo", namespace=OPEN, entities=[{"name": "Ann", "type": "PERSON"}]).memory
    assert told is not None
    memory.entities.add_alias("Ann", "ann.one@example.com")
    memory.rules.add(OPEN, personal_data=mode)
    for call in (
        lambda: memory.entities.add_alias("Ann", "ann@example.com"),
        lambda: memory.entities.split("Ann", memories=[told.id], name="ann@example.com"),
    ):
        with pytest.raises(InvalidInput, match="holds email") as caught:
            call()
        assert caught.value.field in ("alias", "name")
    # Where one namespace of hers keeps it, it is kept and shown.
    memory.remember("Ann sails", namespace=BOX, entities=[{"name": "Ann", "type": "PERSON"}])
    memory.entities.add_alias("Ann", "ann@example.com")
    assert "ann@example.com" in memory.entities.get("Ann").entity.aliases
