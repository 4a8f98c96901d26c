"""Who sees what: rules on personal data in every read, and no id of what lies out of a caller's reach."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, NotFound
from ebbtide.govern.access import SCOPES

VALUE = "ana@example.com"
TEXT = f"Ana's address is {VALUE}"
OPEN = {"read": ["vector.*"], "tool_read": ["vector.*"], "write": "vector.open", "allow_write": True}
WITHHOLDING = ["drop", "quarantine"]


@pytest.fixture
def held(memory: Ebbtide, clock: FixedClock) -> UUID:
    """A memory that holds a value, in what it says and in what it said."""
    told = memory.remember(f"{TEXT}, she says", namespace="vector.open", metadata={"mail": VALUE}, speaker=VALUE)
    assert told.memory is not None
    clock.advance(timedelta(days=1))
    memory.revise(told.memory.id, TEXT)
    memory.remember_many([{"content": f"Nothing {number}", "namespace": "vector.open"} for number in range(3)])
    return told.memory.id


@pytest.fixture
def agent(memory: Ebbtide) -> Ebbtide:
    memory.policies.set("default", OPEN)
    return memory.as_agent("default", SCOPES)


def said(answer: Any) -> str:
    dumped = answer if isinstance(answer, list) else [answer]
    return json.dumps([one.model_dump() if hasattr(one, "model_dump") else one for one in dumped], default=str)


def test_a_list_passes_a_redacting_rule_for_everybody(memory: Ebbtide, agent: Ebbtide, held: UUID) -> None:
    before = memory.browse()
    memory.rules.set_personal_data("redact")
    for handle in (memory, agent):
        found = handle.browse()
        assert [one.id for one in found] == [one.id for one in before]
        assert VALUE not in said(found)
        assert "[EMAIL]" in said(found)
        [then] = [one for one in handle.browse(as_of=memory.get(held).created_at) if one.id == held]
        assert then.content == "Ana's address is [EMAIL], she says"


@pytest.mark.parametrize("mode", WITHHOLDING)
def test_a_curve_is_shown_to_whom_the_memory_is(memory: Ebbtide, agent: Ebbtide, held: UUID, mode: str) -> None:
    assert agent.forgetting.show(held).id == held
    memory.rules.set_personal_data(mode)
    for read in (agent.get, agent.forgetting.show):
        with pytest.raises(NotFound):
            read(held)
    assert memory.forgetting.show(held).id == memory.get(held).id


@pytest.mark.parametrize("mode", WITHHOLDING)
def test_a_list_leaves_out_what_is_withheld_and_goes_on_behind_it(
    memory: Ebbtide, agent: Ebbtide, held: UUID, mode: str
) -> None:
    memory.remember("The newest", namespace="vector.open")
    memory.remember("The oldest is not this", namespace="vector.open")
    everything = [one.id for one in memory.browse() if one.id != held]
    memory.rules.set_personal_data(mode)
    for handle in (memory, agent):
        assert [one.id for one in handle.browse()] == everything
        assert [one.id for one in handle.browse(limit=5)] == everything[:5]
        paged: list[UUID] = []
        while page := handle.browse(limit=2, after=paged[-1] if paged else None):
            paged += [one.id for one in page]
        assert paged == everything


def test_by_its_id_the_owner_sees_what_is_stored_and_an_agent_what_it_may(
    memory: Ebbtide, agent: Ebbtide, held: UUID
) -> None:
    memory.rules.set_personal_data("redact")
    assert memory.get(held).content == TEXT
    assert [one.content for one in memory.history(held)] == [f"{TEXT}, she says", TEXT]
    assert VALUE in said(list(memory.export_records()))
    reads: list[Callable[[], Any]] = [
        lambda: agent.get(held),
        lambda: agent.history(held),
        lambda: agent.confirm(held),
        lambda: agent.feedback(held, "positive"),
        lambda: agent.update_importance(held, 0.9),
        lambda: list(agent.export_records()),
        lambda: agent.forget_where(kinds=["fact"]),
        lambda: agent.recall("Ana's address"),
        lambda: agent.context("Ana's address"),
        lambda: agent.revise(held, "Ana's address is known"),
    ]
    for read in reads:
        shown = said(read())
        assert VALUE not in shown
        assert "ana@" not in shown
    assert memory.get(held).speaker == VALUE


@pytest.mark.parametrize("mode", WITHHOLDING)
def test_what_is_withheld_is_for_an_agent_as_if_it_were_not_there(
    memory: Ebbtide, agent: Ebbtide, held: UUID, mode: str
) -> None:
    memory.rules.set_personal_data(mode)
    assert memory.get(held).content == TEXT
    verbs: list[Callable[[], Any]] = [
        lambda: agent.get(held),
        lambda: agent.history(held),
        lambda: agent.confirm(held),
        lambda: agent.feedback(held, "positive"),
        lambda: agent.revise(held, "Ana's address is known"),
    ]
    before = memory.get(held)
    for verb in verbs:
        with pytest.raises(NotFound):
            verb()
    assert memory.get(held) == before
    assert str(held) not in said(list(agent.export_records()))
    assert VALUE not in said(agent.forget_where(kinds=["fact"]))
    assert agent.explain("Ana's address", held).rule == "personal_data"


def test_an_earlier_image_that_is_withheld_is_left_out_of_an_agents_history(memory: Ebbtide, agent: Ebbtide) -> None:
    told = memory.remember(TEXT, namespace="vector.open").memory
    assert told is not None
    memory.revise(told.id, "Ana's address is not known")
    memory.rules.set_personal_data("drop")
    assert [one.content for one in agent.history(told.id)] == ["Ana's address is not known"]
    [record] = agent.export_records()
    assert record["versions"] == []
    assert len(memory.history(told.id)) == 2


def test_vectors_of_what_is_redacted_are_not_exported_to_an_agent(memory: Ebbtide, agent: Ebbtide, held: UUID) -> None:
    memory.rules.set_personal_data("redact")
    records = {record["id"]: record for record in agent.export_records()}
    assert records[str(held)]["vector"] is None
    assert [version["vector"] for version in records[str(held)]["versions"]] == [None]
    assert all(record["vector"] for id_, record in records.items() if id_ != str(held))


def test_a_long_text_is_redacted_before_it_is_cut_to_an_excerpt(memory: Ebbtide, agent: Ebbtide) -> None:
    told = memory.remember("x" * 190 + f" {VALUE}", namespace="vector.open").memory
    assert told is not None
    memory.rules.set_personal_data("redact")
    looked = agent.forget_where(ids=[told.id])
    assert looked.candidates[0].excerpt == "x" * 190 + " [EMAIL]"
    assert len(memory.forget_where(ids=[told.id]).candidates[0].excerpt) == 200


def test_a_conflict_is_shown_to_an_agent_by_the_rules(memory: Ebbtide, agent: Ebbtide) -> None:
    about: dict[str, Any] = {"namespace": "vector.open", "subject": "Ana", "predicate": "address"}
    memory.remember(TEXT, **about)
    assert memory.remember("Ana's address is bob@example.org", **about).outcome == "conflict"
    memory.rules.set_personal_data("redact")
    assert {one.older.content for one in agent.conflicts.list()} == {"Ana's address is [EMAIL]"}
    assert VALUE in said(memory.conflicts.list())
    memory.rules.set_personal_data("drop")
    assert agent.conflicts.list() == []
    assert len(memory.conflicts.list()) == 1


def test_the_id_of_a_successor_out_of_reach_is_told_nowhere(memory: Ebbtide) -> None:
    memory.policies.set("default", {**OPEN, "read": ["vector.open"], "tool_read": ["vector.open"]})
    agent = memory.as_agent("default", SCOPES)
    old = memory.remember("The gate opens at seven", namespace="vector.open").memory
    near = memory.remember("The gate closes at nine", namespace="vector.open").memory
    assert old is not None
    assert near is not None
    hidden = memory.supersede(old.id, "The gate opens at eight", namespace="vector.closed").memory
    shown = memory.supersede(near.id, "The gate closes at ten", namespace="vector.open").memory
    assert hidden is not None
    assert shown is not None
    assert memory.get(old.id).superseded_by == hidden.id
    assert agent.get(near.id).superseded_by == shown.id
    with pytest.raises(Conflict) as caught:
        agent.restore(old.id)
    answers = [
        agent.get(old.id),
        agent.history(old.id),
        agent.browse(include_superseded=True),
        list(agent.export_records()),
        agent.explain("When does the gate open?", old.id),
        agent.explain("When does the gate open?", old.id, profile="ontheia"),
        agent.recall("When does the gate open?", include_superseded=True, trace=True),
        str(caught.value),
    ]
    for answer in answers:
        assert str(hidden.id) not in said(answer)
    assert agent.get(old.id).maturity == "superseded"
    told = agent.explain("When does the gate open?", old.id, profile="ontheia")
    assert (told.rule, told.reason) == ("superseded", "It was superseded by another memory.")
    [hit] = [hit for hit in agent.recall("gate", include_superseded=True) if hit.id == near.id]
    assert hit.memory.superseded_by == shown.id


def test_what_a_write_is_related_to_is_told_to_whoever_may_read_it(memory: Ebbtide) -> None:
    memory.policies.set("default", {"read": ["vector.open"], "write": "vector.closed", "allow_write": True})
    agent = memory.as_agent("default", SCOPES)
    about: dict[str, Any] = {"subject": "gate", "predicate": "opens at"}
    memory.remember("The gate opens at seven", namespace="vector.closed", **about)
    told = agent.remember("The gate opens at eight", **about)
    assert (told.outcome, told.related) == ("conflict", ())
    assert agent.conflicts.list() == []
    assert len(memory.remember("The gate opens at nine", namespace="vector.closed", **about).related) == 2
