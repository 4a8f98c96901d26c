"""Branches of one name in one chat, of which some callers may know and others not: nobody learns of another's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Conflict, InvalidInput, NotFound
from tests.conftest import Opener

OPEN, OWN = "vector.open", "vector.agent.ana.memory"


def contents(found: Any) -> list[str]:
    return [one.content for one in found]


@pytest.fixture
def chat(memory: Ebbtide) -> Ebbtide:
    """A chat in which the agent may read two of four turns, and no branch."""
    memory.policies.set("default", Policy(read=(OPEN,), write=OPEN, allow_write=True))
    handle = memory.scoped(chat="c1")
    handle.episodes.add("Ferries leave at nine", namespace=OPEN)
    handle.episodes.add("Ana is ill", namespace=OWN)
    handle.episodes.add("Ferries leave at ten", namespace=OPEN)
    handle.episodes.add("Ana is well", namespace=OWN)
    handle.episodes.fork(name="plan", namespace=OWN)
    handle.episodes.add("Ana may swim", branch="plan", namespace=OWN)
    return handle


@pytest.fixture
def agent(chat: Ebbtide) -> Ebbtide:
    return chat.scoped(chat=None).as_agent("default", "memory:read,memory:write,memory:admin", chat="c1")


def test_a_name_that_only_a_hidden_branch_has_is_free(chat: Ebbtide, agent: Ebbtide) -> None:
    hidden, free = (agent.episodes.fork(name=name) for name in ("plan", "never"))
    assert hidden.model_dump() == {**free.model_dump(), "name": "plan", "created_at": hidden.created_at}
    agent.episodes.add("The agent rows", branch="plan")
    assert contents(agent.episodes.transcript(branch="plan")) == [
        "Ferries leave at nine", "Ferries leave at ten", "The agent rows",
    ]  # fmt: skip
    assert [(turn.branch, turn.content) for turn in agent.episodes.transcript(branch="plan")][2:] == [
        ("plan", "The agent rows")
    ]
    assert {one.name for one in agent.episodes.branches()} == {"main", "plan", "never"}
    on_branch = agent.scoped(branch="plan")
    assert set(contents(on_branch.browse())) == {
        "Ferries leave at nine", "Ferries leave at ten", "The agent rows",
    }  # fmt: skip
    with pytest.raises(Conflict):
        agent.episodes.fork(name="plan")
    # The owner sees both, and calls the later one by the name it is stored by.
    first, later = [one.name for one in chat.episodes.branches() if one.name.startswith("plan")]
    assert first == "plan"
    assert contents(chat.episodes.transcript(branch="plan"))[-1] == "Ana may swim"
    assert contents(chat.scoped(branch=later).episodes.transcript())[-1] == "The agent rows"
    with pytest.raises(NotFound):
        agent.episodes.transcript(branch="plan.00000000")
    # Once something readable is said on the first one too, both are told apart for the agent as well.
    chat.episodes.add("Everybody may swim", branch="plan", namespace=OPEN)
    assert {one.name for one in agent.episodes.branches()} == {"main", "plan", later, "never"}
    assert contents(agent.episodes.transcript(branch=later))[-1] == "The agent rows"


def test_names_that_the_store_gives_count_no_hidden_branch(chat: Ebbtide, agent: Ebbtide) -> None:
    chat.episodes.fork(namespace=OWN)
    assert {one.name for one in chat.episodes.branches()} == {"main", "plan", "branch-3"}
    assert [agent.episodes.fork().name for _ in range(2)] == ["branch-2", "branch-3"]


def test_a_fork_tells_of_the_last_turn_that_may_be_read(chat: Ebbtide, agent: Ebbtide) -> None:
    assert agent.episodes.fork(name="a").forked_after == 2
    assert chat.episodes.fork(name="b", namespace=OPEN).forked_after == 3
    assert {one.name: one.forked_after for one in agent.episodes.branches()} == {"main": None, "a": 2, "b": 2}
    chat.forget(chat.episodes.transcript()[2].id, 1)
    assert {one.name: one.forked_after for one in agent.episodes.branches()} == {"main": None, "a": 0, "b": 0}
    records = {one["content"]: one for one in agent.export_records()}
    assert [(one["name"], one["forked_after"]) for one in records["Ferries leave at nine"]["branches"]] == [
        ("a", 0), ("b", 0),
    ]  # fmt: skip


def test_summaries_and_exports_say_the_name_that_was_given(chat: Ebbtide, agent: Ebbtide, open_store: Opener) -> None:
    agent.episodes.fork(name="plan")
    agent.episodes.add("The agent rows", branch="plan")
    made = agent.episodes.summarise(branch="plan")
    assert made.memory is not None
    assert made.memory.metadata["branch"] == "plan"
    agent.episodes.add("The agent sails", branch="plan")
    assert agent.episodes.summarise(branch="plan").outcome == "revised"
    assert chat.episodes.summarise(branch="plan").outcome == "stored"
    told = [json.dumps(record) for record in agent.export_records()]
    assert not any("plan." in line for line in told)
    later = next(one.name for one in chat.episodes.branches() if one.name.startswith("plan."))
    copy = open_store(tenant="copy", chat="c1")
    copy.import_records(list(chat.export_records()))
    for name in ("main", "plan", later):
        assert contents(copy.episodes.transcript(branch=name)) == contents(chat.episodes.transcript(branch=name))


@pytest.mark.parametrize("mode", ["redact", "drop", "quarantine"])
def test_a_name_holds_no_personal_data_where_none_is_kept(chat: Ebbtide, mode: Any, open_store: Opener) -> None:
    chat.rules.add("vector.strict.*", personal_data=mode)
    for name in ("call-079-555-12-34-on-tel:+41795551234", "ssn:123-45-6789"):
        chat.episodes.fork(name=name, namespace=OPEN)
        with pytest.raises(InvalidInput) as caught:
            chat.episodes.fork(name=name, namespace="vector.strict.a")
        assert caught.value.field == "name"
        assert "4179" not in str(caught.value)
    chat.episodes.add("Call her", branch="ssn:123-45-6789", namespace=OPEN)
    records = list(chat.export_records())
    copy = open_store(tenant="copy", chat="c1")
    copy.rules.add(OPEN, personal_data=mode)
    with pytest.raises(InvalidInput, match=r"Line 1: ") as caught:
        copy.import_records(records)
    assert str(caught.value.field).startswith("branches[")
