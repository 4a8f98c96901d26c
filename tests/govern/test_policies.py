"""Policies: their fields, how a task's fall back on the agent's, and what templates become."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide, Policy
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.policies import DEFAULTS, Stored, grant_of
from ebbtide.types.caller import Caller

ANA = Caller("default", "helper", user="ana", chat="c1", session="s1")
OWN = "vector.agent.${user_id}"

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "read": st.sampled_from([("vector.a",), ("vector.global.*", "vector.b")]),
    "tool_read": st.sampled_from([("vector.c.*",), ("*",)]),
    "write": st.sampled_from(["vector.w", f"{OWN}.memory"]),
    "allowed_write": st.sampled_from([("vector.w",), ("vector.x", "vector.y")]),
    "top_k": st.integers(1, 200),
    "min_score": st.sampled_from([0.0, 0.4, 1.5]),
    "relative_cutoff": st.sampled_from([0.0, 0.7, 1.0]),
    "profile": st.sampled_from(["tide", "ibex"]),
    "allow_write": st.booleans(),
    "allow_tool_write": st.booleans(),
    "allow_tool_delete": st.booleans(),
}
UNSET = st.sampled_from([None, "", "inherit", " inherit ", []])
FIELDS = st.fixed_dictionaries({}, optional={name: st.one_of(UNSET, values) for name, values in VALUES.items()})


def is_set(fields: dict[str, Any], name: str) -> bool:
    value = fields.get(name)
    return value is not None and value != [] and not (isinstance(value, str) and value.strip() in ("", "inherit"))


def stored(agent: dict[str, Any] | None, task: dict[str, Any] | None) -> Stored:
    kept = [
        None if given is None else Policy.model_validate(given).model_dump(mode="json", exclude_none=True)
        for given in (agent, task)
    ]
    return Stored(*kept, revision=None)


@given(agent=FIELDS, task=FIELDS)
def test_each_field_comes_from_the_task_else_from_the_agent_else_from_the_default(
    agent: dict[str, Any], task: dict[str, Any]
) -> None:
    resolved = stored(agent, task).resolved()
    assert set(resolved) == set(Policy.model_fields)
    for name, (value, source) in resolved.items():
        expected = "task" if is_set(task, name) else "agent" if is_set(agent, name) else "default"
        assert source == expected
        assert value == {"task": task.get(name), "agent": agent.get(name), "default": DEFAULTS[name]}[expected]


@given(agent=FIELDS)
def test_an_empty_task_policy_changes_nothing(agent: dict[str, Any]) -> None:
    assert grant_of(stored(agent, {}), ANA) == grant_of(stored(agent, None), ANA)


def test_templates_are_filled_each_into_one_segment() -> None:
    policy = {
        "read": [f"{OWN}.memory", "vector.chat.${chat_id}.*", "vector.session.${session_id}", "vector.global.*"],
        "write": f"{OWN}.memory",
        "allowed_write": ["vector.chat.${chat_id}"],
    }
    grant = grant_of(stored(policy, None), ANA)
    assert grant.read == ("vector.agent.ana.memory", "vector.chat.c1.*", "vector.session.s1", "vector.global.*")
    assert (grant.write, grant.allowed_write) == ("vector.agent.ana.memory", ("vector.chat.c1",))


def test_a_namespace_whose_placeholder_has_no_value_is_left_out() -> None:
    policy = {"read": [f"{OWN}.*", "vector.global.*"], "write": f"{OWN}.memory", "allowed_write": [f"{OWN}.howto"]}
    grant = grant_of(stored(policy, None), Caller("default", "helper"))
    assert grant.read == ("vector.global.*",)
    assert (grant.write, grant.lacking, grant.allowed_write) == (None, "user_id", ())


def test_the_default_policy_is_the_users_own_memory() -> None:
    grant = grant_of(Stored(Policy.default().model_dump(mode="json"), None, None), ANA)
    assert grant.read == grant.tool_read == ("vector.agent.ana.*",)
    assert (grant.write, grant.allow_write, grant.allow_tool_write) == ("vector.agent.ana.memory", True, True)
    assert grant.allow_tool_delete is False


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("read", "vector.agent.${agent_id}.*"),
        ("read", "vector.task.${task_id}.*"),
        ("read", "vector.${tenant_id}.*"),
        ("read", "vector.x${user_id}"),
        ("read", "vector.${user_id}${chat_id}"),
        ("read", "vector.a*"),
        ("read", "vector..a"),
        ("read", "vector.$user"),
        ("read", "vector.a b"),
        ("read", 7),
        ("tool_read", ["vector.ok", "vector.{x}"]),
        ("write", "vector.global.*"),
        ("write", "vector.${agent_id}.memory"),
        ("write", ["vector.a"]),
        ("allowed_write", ["vector.agent.*"]),
        ("allowed_write", ["vector.${task_id}"]),
        ("top_k", 0),
        ("top_k", 201),
        ("top_k", True),
        ("top_k", 5.0),
        ("top_k", "5"),
        ("min_score", -0.1),
        ("min_score", float("nan")),
        ("min_score", True),
        ("relative_cutoff", 1.1),
        ("profile", 7),
        ("profile", "nobody's"),
        ("allow_write", "yes"),
        ("allow_tool_write", 1),
        ("colour", "blue"),
    ],
)
def test_what_is_no_policy_is_refused(memory: Ebbtide, field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.policies.set("helper", {field: value})
    assert (caught.value.field, bool(caught.value.remedy)) == (field, True)
    assert memory.policies.effective("helper").exists is False


def test_a_policy_is_no_text(memory: Ebbtide) -> None:
    text: Any = "vector.*"
    with pytest.raises(InvalidInput) as caught:
        memory.policies.set("helper", text)
    assert caught.value.field == "policy"


def test_the_effective_policy_says_where_each_field_comes_from(memory: Ebbtide) -> None:
    memory.policies.set("helper", Policy(read=(f"{OWN}.*", "vector.global.*"), write=f"{OWN}.memory", top_k=7))
    memory.policies.set("helper", {"read": [f"{OWN}.private"], "top_k": "inherit", "write": ""}, task="briefing")
    shown = memory.policies.effective("helper", task="briefing", user="ana")
    assert (shown.agent, shown.task, shown.exists) == ("helper", "briefing", True)
    assert (shown.read.value, shown.read.source) == ((f"{OWN}.private",), "task")
    assert shown.read.filled == ("vector.agent.ana.private",)
    assert (shown.top_k.value, shown.top_k.source) == (7, "agent")
    assert (shown.write.source, shown.write.filled) == ("agent", "vector.agent.ana.memory")
    assert (shown.allow_write.value, shown.allow_write.source) == (False, "default")
    assert (shown.tool_read.value, shown.tool_read.source) == ((), "default")
    general = memory.policies.effective("helper")
    assert general.read.filled == ("vector.global.*",)
    assert general.write.filled is None
    assert memory.policies.effective("helper", task="other").read.source == "agent"


def test_a_hits_number_is_five_unless_a_policy_says_it(memory: Ebbtide) -> None:
    shown = memory.policies.effective("nobody")
    assert (shown.exists, shown.top_k.value, shown.top_k.source) == (False, 5, "default")


def test_a_policy_is_replaced_and_deleted(memory: Ebbtide) -> None:
    memory.policies.set("helper", {"top_k": 7, "min_score": 0.1})
    memory.policies.set("helper", {"top_k": 8})
    shown = memory.policies.effective("helper")
    assert (shown.top_k.value, shown.min_score.source) == (8, "default")
    memory.policies.set("helper", {"top_k": 9}, task="briefing")
    memory.policies.delete("helper")
    assert memory.policies.effective("helper").exists is False
    assert memory.policies.effective("helper", task="briefing").top_k.value == 9
    memory.policies.delete("helper", task="briefing")
    for task in (None, "briefing"):
        with pytest.raises(NotFound):
            memory.policies.delete("helper", task=task)
    memory.policies.set("helper", Policy.default())
    assert memory.scoped(tenant="other").policies.effective("helper").exists is False


def test_a_high_relative_cutoff_is_accepted_with_a_warning(memory: Ebbtide) -> None:
    assert memory.policies.set("helper", {"relative_cutoff": 0.79}) == ()
    (warning,) = memory.policies.set("helper", {"relative_cutoff": 0.8})
    assert "risky" in warning


@pytest.mark.parametrize("value", ["*", "", "a.b", "%", "${chat_id}", "x y", "a\tb", "{", "}", "$", "x" * 5_000])
@pytest.mark.parametrize("field", ["user", "chat", "session"])
def test_a_value_that_is_not_one_segment_is_refused(memory: Ebbtide, field: str, value: str) -> None:
    memory.policies.set("helper", Policy.default())
    given: dict[str, Any] = {field: value}
    calls = [
        lambda: memory.policies.effective("helper", **given),
        lambda: memory.as_agent("helper", ["memory:read"], **given),
    ]
    for call in calls:
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field
