"""Policed handles: what scopes and policies let them do, and what a refusal leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from inspect import Parameter, signature
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import Ebbtide, Policy
from ebbtide.blocking import BlockingGroup
from ebbtide.errors import Forbidden, InvalidInput, NotFound
from ebbtide.govern.access import SCOPES
from tests.conftest import Opener

Owner = psycopg.Connection[Any]
READ_WRITE = ["memory:read", "memory:write", "memory:delete"]
PLACES = {
    "vector.agent.ana.memory": "Ana takes the ferry",
    "vector.agent.ana.howto": "How Ana takes the ferry",
    "vector.agent.bob.memory": "Bob takes the ferry",
    "vector.global.travel": "Everybody takes the ferry",
    "vector.globalised": "Nobody takes the ferry",
}
POLICY = Policy(
    read=("vector.agent.${user_id}.memory",),
    tool_read=("vector.agent.${user_id}.*", "vector.global.*"),
    write="vector.agent.${user_id}.memory",
    allowed_write=("vector.agent.${user_id}.howto",),
    allow_write=True,
    allow_tool_write=False,
    allow_tool_delete=False,
)


@pytest.fixture
def helper(memory: Ebbtide) -> Ebbtide:
    """The owner's handle on the agent `helper`, whose namespaces are filled, with its policy."""
    memory.policies.set("helper", POLICY)
    handle = memory.scoped(agent="helper")
    handle.remember_many([{"content": content, "namespace": place} for place, content in PLACES.items()])
    return handle


def ana(helper: Ebbtide, scopes: Any = tuple(READ_WRITE), **place: Any) -> Ebbtide:
    return helper.as_agent("helper", scopes, user="ana", **place)


def places(found: Any) -> set[str]:
    return {one.namespace for one in found}


def warnings_of(owner: Owner) -> list[dict[str, Any]]:
    rows = owner.execute("SELECT detail FROM audit WHERE action = 'warning' ORDER BY number").fetchall()
    return [row[0] for row in rows]


def state_of(owner: Owner) -> list[Any]:
    tables = ("memory", "memory_version", "policy", "namespace_rule", "profile", "strength")
    return [owner.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]  # noqa: S608


def test_context_and_automatic_recall_read_by_read_and_tools_by_tool_read(helper: Ebbtide) -> None:
    handle = ana(helper)
    assert places(handle.recall("ferry", limit=50)) == {"vector.agent.ana.memory"}
    assert places(handle.browse()) == {"vector.agent.ana.memory"}
    text = handle.context("ferry").text
    assert "Ana takes the ferry" in text
    assert "Everybody" not in text
    tool = {"vector.agent.ana.memory", "vector.agent.ana.howto", "vector.global.travel"}
    assert places(handle.recall("ferry", limit=50, tool=True)) == tool
    assert places(handle.browse(tool=True)) == tool
    assert places(ana(helper, tool=True).recall("ferry", limit=50)) == tool


def test_the_two_lists_are_not_merged(memory: Ebbtide) -> None:
    memory.policies.set("helper", {"read": ["vector.a"], "tool_read": ["vector.b"]})
    owner = memory.scoped(agent="helper")
    owner.remember_many([{"content": f"ferry {one}", "namespace": f"vector.{one}"} for one in "ab"])
    handle = memory.as_agent("helper", ["memory:read"])
    assert places(handle.recall("ferry")) == {"vector.a"}
    assert places(handle.recall("ferry", tool=True)) == {"vector.b"}


def test_patterns_of_the_caller_only_narrow(helper: Ebbtide) -> None:
    handle = ana(helper)
    assert places(handle.recall("ferry", namespaces="*", limit=50)) == {"vector.agent.ana.memory"}
    assert places(handle.recall("ferry", namespaces="vector.agent.*", limit=50, tool=True)) == {
        "vector.agent.ana.memory",
        "vector.agent.ana.howto",
    }
    assert places(handle.recall("ferry", namespaces="vector.*.howto", tool=True)) == {"vector.agent.ana.howto"}
    none = handle.recall("ferry", namespaces=["vector.agent.bob.memory"], tool=True)
    assert (none.hits, none.nothing_relevant) == ((), True)
    assert handle.browse(namespaces=["vector.agent.bob.*", "vector.globalised"], tool=True) == []


def test_a_memory_outside_the_policy_is_as_one_that_never_was(helper: Ebbtide) -> None:
    handle = ana(helper)
    foreign = next(one for one in helper.browse() if one.namespace == "vector.agent.bob.memory")
    never = foreign.id.__class__(int=1)
    for id_ in (foreign.id, never):
        calls: list[Callable[[], Any]] = [
            lambda id_=id_: handle.get(id_),
            lambda id_=id_: handle.history(id_),
            lambda id_=id_: handle.explain("ferry", id_),
            lambda id_=id_: handle.revise(id_, "z"),
            lambda id_=id_: handle.forget(id_, 1),
            lambda id_=id_: handle.remember("z", supersedes=id_),
            lambda id_=id_: handle.browse(after=id_),
        ]
        for call in calls:
            with pytest.raises(NotFound) as caught:
                call()
            assert "bob" not in str(caught.value.to_dict())
    assert helper.get(foreign.id) == foreign


def test_what_can_be_read_alone_cannot_be_changed(helper: Ebbtide, owner: Owner) -> None:
    handle = ana(helper)
    shared = next(one for one in helper.browse() if one.namespace == "vector.global.travel")
    assert handle.get(shared.id).id == shared.id
    assert len(handle.history(shared.id)) == 1
    before = state_of(owner)
    calls: list[Callable[[], Any]] = [
        lambda: handle.revise(shared.id, "z"),
        lambda: handle.forget(shared.id, 1),
        lambda: handle.remember("z", supersedes=shared.id),
        lambda: handle.invalidate(shared.id),
        lambda: handle.confirm(shared.id),
        lambda: handle.update_importance(shared.id, 1.0),
    ]
    for number, call in enumerate(calls, start=1):
        with pytest.raises(Forbidden):
            call()
        assert len(warnings_of(owner)) == number
    assert state_of(owner) == before


def test_writes_go_to_write_or_lie_within_allowed_write(helper: Ebbtide, owner: Owner) -> None:
    handle = ana(helper)
    assert handle.remember("z").memory.namespace == "vector.agent.ana.memory"
    for place in ("vector.agent.ana.memory", "vector.agent.ana.howto"):
        assert handle.remember(f"to {place}", namespace=place).memory.namespace == place
    for place in ("vector.agent.ana.howto.deep", "vector.agent.bob.memory", "vector.global.travel", "vector.agent.ana"):
        with pytest.raises(Forbidden) as caught:
            handle.remember("y", namespace=place)
        assert (caught.value.code, caught.value.status, caught.value.field) == ("forbidden", 403, "namespace")
    with pytest.raises(Forbidden) as caught:
        handle.remember_many(["x", {"content": "y", "namespace": "vector.global.travel"}])
    assert caught.value.field == "drafts[1].namespace"
    assert {found.content for found in helper.browse() if found.content in "xy"} == set()
    assert [warning["verb"] for warning in warnings_of(owner)] == ["remember_many"] * 5


def test_tools_write_and_forget_only_where_the_policy_says_so(helper: Ebbtide) -> None:
    handle = ana(helper)
    mine = handle.remember("mine").memory
    for call in (
        lambda: handle.remember("by a tool", tool=True),
        lambda: handle.remember_many(["by a tool"], tool=True),
        lambda: handle.revise(mine.id, "by a tool", tool=True),
        lambda: ana(helper, tool=True).forget(mine.id, 1),
    ):
        with pytest.raises(Forbidden):
            call()
    helper.policies.set("helper", POLICY.model_copy(update={"allow_tool_write": True, "allow_write": False}))
    assert handle.remember("by a tool", tool=True).outcome == "stored"
    with pytest.raises(Forbidden):
        handle.remember("of itself")
    with pytest.raises(Forbidden):
        ana(helper, tool=True).forget(mine.id, 1)
    helper.policies.set("helper", POLICY.model_copy(update={"allow_tool_delete": True}))
    assert ana(helper, tool=True).forget(mine.id, 1).id == mine.id


def test_a_write_whose_placeholder_has_no_value_is_a_clear_error(helper: Ebbtide) -> None:
    nobody = helper.as_agent("helper", READ_WRITE)
    assert nobody.recall("ferry").hits == ()
    assert places(nobody.recall("ferry", tool=True)) == {"vector.global.travel"}
    with pytest.raises(InvalidInput) as caught:
        nobody.remember("z")
    assert (caught.value.field, "user" in caught.value.message) == ("user", True)


def test_no_policy_means_no_access(memory: Ebbtide, owner: Owner) -> None:
    handle = memory.as_agent("nobody", SCOPES, user="ana")
    memory.scoped(agent="nobody", user="ana").remember("ferry")
    before = state_of(owner)
    calls: list[Callable[[], Any]] = [
        lambda: handle.recall("ferry"),
        lambda: handle.context("ferry"),
        lambda: handle.browse(),
        lambda: list(handle.export_records()),
        lambda: handle.remember("z"),
    ]
    for call in calls:
        with pytest.raises(Forbidden) as caught:
            call()
        assert caught.value.field == "agent"
    assert state_of(owner) == before
    assert len(warnings_of(owner)) == len(calls)
    handle.policies.set("nobody", Policy.default())
    assert len(handle.recall("ferry")) == 1
    handle.policies.delete("nobody")
    with pytest.raises(Forbidden):
        handle.recall("ferry")


def test_a_task_alone_can_have_a_policy(memory: Ebbtide) -> None:
    memory.policies.set("helper", Policy.default(), task="briefing")
    assert memory.as_agent("helper", READ_WRITE, user="ana", task="briefing").remember("z").outcome == "stored"
    with pytest.raises(Forbidden):
        memory.as_agent("helper", READ_WRITE, user="ana").remember("z")


def verbs_of(handle: Ebbtide, id_: Any, rule_id: Any) -> dict[str, list[Callable[[], Any]]]:
    return {
        "memory:read": [
            lambda: handle.recall("ferry"),
            lambda: handle.context("ferry"),
            lambda: handle.explain("ferry", id_),
            lambda: handle.get(id_),
            lambda: handle.browse(),
            lambda: handle.history(id_),
            lambda: list(handle.export_records()),
        ],
        "memory:write": [
            lambda: handle.remember("z"),
            lambda: handle.remember_many(["z"]),
            lambda: handle.revise(id_, "z"),
            lambda: handle.supersede(id_, "z"),
            lambda: handle.invalidate(id_),
            lambda: handle.restore(id_),
            lambda: handle.confirm(id_),
            lambda: handle.update_importance(id_, 1.0),
            lambda: handle.feedback(id_, "positive"),
            lambda: handle.record_run("", "an answer"),
        ],
        "memory:delete": [lambda: handle.forget(id_, 1)],
        "memory:admin": [
            lambda: handle.policies.set("helper", Policy.default()),
            lambda: handle.policies.delete("helper"),
            lambda: handle.policies.effective("helper"),
            lambda: handle.rules.add("vector.*"),
            lambda: handle.rules.remove(rule_id),
            lambda: handle.rules.list(),
            lambda: handle.rules.preview({"pattern": "vector.*"}, "ferry"),
            lambda: handle.profiles.save({**handle.profiles.get("agentium").model_dump(), "name": "own"}),
            lambda: handle.import_records([{"content": "z"}]),
        ],
        "operator": [lambda: handle.jobs.list(), lambda: handle.jobs.retry(1), lambda: handle.jobs.cancel(1)],
    }


@pytest.mark.parametrize("scope", SCOPES)
def test_a_verb_needs_its_scope_and_without_it_changes_nothing(helper: Ebbtide, owner: Owner, scope: str) -> None:
    mine = next(one for one in helper.browse() if one.namespace == "vector.agent.ana.memory")
    rule = helper.rules.add("vector.agent.*", 0.1)
    others = [one for one in SCOPES if one != scope]
    before = state_of(owner)
    verbs = verbs_of(ana(helper, others), mine.id, rule.id)[scope]
    for number, call in enumerate(verbs, start=1):
        with pytest.raises(Forbidden) as caught:
            call()
        assert scope in caught.value.message
        assert len(warnings_of(owner)) == number
    assert state_of(owner) == before
    told = warnings_of(owner)
    assert all(set(detail) == {"verb", "refused"} and scope in detail["refused"] for detail in told)
    rows = owner.execute("SELECT DISTINCT agent_id, user_id FROM audit WHERE action = 'warning'").fetchall()
    assert rows == [("helper", "ana")]


def test_with_its_scopes_a_handle_does_what_they_say(helper: Ebbtide) -> None:
    mine = next(one for one in helper.browse() if one.namespace == "vector.agent.ana.memory")
    for call in verbs_of(ana(helper, "memory:read"), mine.id, None)["memory:read"]:
        call()
    assert ana(helper, "memory:write").remember("z").outcome == "stored"
    assert ana(helper, "memory:write").revise(mine.id, "Ana takes the train").revision == 2
    assert ana(helper, "memory:delete").forget(mine.id, 2).id == mine.id
    assert ana(helper, "operator").jobs.list() == []
    with pytest.raises(Forbidden):
        ana(helper, "operator").jobs.list(everything=True)
    assert ana(helper, "memory:admin").rules.list() == []
    records = list(ana(helper, "memory:read").export_records(tool=True))
    assert {record["namespace"] for record in records} <= {*PLACES} - {"vector.agent.bob.memory", "vector.globalised"}
    assert ana(helper, ["memory:write", "memory:admin"]).import_records([{"content": "carried"}]).imported == 1
    with pytest.raises(Forbidden):
        ana(helper, ["memory:write", "memory:admin"]).import_records([{"content": "x", "namespace": "vector.global.a"}])


def test_forgetting_by_a_filter_stays_within_the_policy(helper: Ebbtide, owner: Owner) -> None:
    handle = ana(helper)
    with pytest.raises(InvalidInput):
        handle.forget_where({})
    with pytest.raises(Forbidden):
        ana(helper, "memory:delete").forget_where(query="ferry")
    helper.remember("Bob takes the bus", namespace="vector.agent.bob.memory", tags="old")
    helper.remember("Ana takes the bus", namespace="vector.agent.ana.memory", tags="old")
    seen = handle.forget_where(tags="old")
    assert [one.namespace for one in seen.candidates] == ["vector.agent.ana.memory"]
    assert handle.forget_where(tags="old", dry_run=False, token=seen.token).count == 1
    helper.policies.set("helper", POLICY.model_copy(update={"read": ("vector.agent.*",)}))
    before = state_of(owner)
    with pytest.raises(Forbidden):
        handle.forget_where(tags="old")
    assert state_of(owner) == before


def test_the_policys_numbers_apply_to_whatever_profile_runs(helper: Ebbtide) -> None:
    numbers = [{"content": f"ferry number {number}", "namespace": "vector.agent.ana.memory"} for number in range(30)]
    helper.remember_many(numbers)
    handle = ana(helper)

    def count(**asked: Any) -> int:
        return len(handle.recall("ferry number", **asked))

    assert (count(), count(limit=9)) == (5, 9)
    helper.policies.set("helper", POLICY.model_copy(update={"top_k": 12}))
    assert [count(), count(limit=3), count(limit=100), count(profile="agentium")] == [12, 3, 12, 12]
    helper.policies.set("helper", POLICY.model_copy(update={"top_k": 200}))
    assert (count(profile="ibex", min_similarity=0.0, min_score=0.0), count(profile="agentium")) == (31, 31)
    for limit in (0, 201, "5", True):
        with pytest.raises(InvalidInput):
            count(limit=limit)
    helper.policies.set("helper", POLICY.model_copy(update={"min_score": 0.9}))
    assert count(profile="agentium", min_score=0.1) == 0
    helper.policies.set("helper", POLICY.model_copy(update={"relative_cutoff": 1.0}))
    kept = handle.recall("ferry number 7", profile="agentium", limit=20)
    assert {hit.relevance for hit in kept} == {kept[0].relevance}


def test_the_policys_profile_takes_the_place_of_the_callers(helper: Ebbtide) -> None:
    helper.policies.set("helper", POLICY.model_copy(update={"profile": "agentium"}))
    handle = ana(helper)
    answer = handle.recall("ferry", profile="tide", trace=True)
    assert answer.trace is not None
    assert answer.trace.profile == "agentium"
    assert any("agentium" in warning for warning in answer.warnings)
    assert handle.recall("ferry").warnings == ()


def test_a_changed_policy_holds_at_once_in_every_handle(helper: Ebbtide, open_store: Opener) -> None:
    here, there = ana(helper), open_store().as_agent("helper", READ_WRITE, user="ana")
    for handle in (here, there):
        assert len(handle.recall("ferry")) == 1
    helper.policies.set("helper", POLICY.model_copy(update={"read": ("vector.global.*",)}))
    for handle in (here, there):
        assert places(handle.recall("ferry")) == {"vector.global.travel"}
        assert "Everybody" in handle.context("ferry").text
    helper.policies.delete("helper")
    for handle in (there, here):
        with pytest.raises(Forbidden):
            handle.recall("ferry")


def test_a_policed_handle_is_bound_to_its_names(helper: Ebbtide) -> None:
    handle = ana(helper)
    for name in ("tenant", "agent", "user", "task", "chat", "session"):
        with pytest.raises(Forbidden):
            handle.scoped(**{name: "other"})
    with pytest.raises(Forbidden):
        handle.as_agent("helper", SCOPES)
    assert handle.scoped(timezone="Europe/Zurich").caller.access == handle.caller.access
    with pytest.raises(InvalidInput) as caught:
        helper.as_agent("helper", ["memory:everything"])
    assert caught.value.field == "scopes"
    with pytest.raises(Forbidden):
        helper.as_agent("helper", []).recall("ferry")


def test_a_run_is_recorded_where_the_policy_of_its_task_says(helper: Ebbtide) -> None:
    helper.policies.set("helper", {"write": "vector.chat.${chat_id}"}, task="briefing")
    handle = ana(helper, "memory:write")
    (recorded,) = handle.record_run("", "an answer", task="briefing", chat="c9")
    assert recorded.memory is not None
    assert (recorded.memory.namespace, recorded.memory.task) == ("vector.chat.c9", "briefing")
    bound = ana(helper, "memory:write", task="private")
    assert len(bound.record_run("", "another answer", task="private")) == 1
    with pytest.raises(Forbidden):
        bound.record_run("", "a third answer", task="briefing", chat="c9")


def asked_of(group: Any) -> list[tuple[str, Callable[..., Any]]]:
    """The verbs of a handle or of one of its groups, by name."""
    names = [name for name in dir(type(group)) if not name.startswith("_")]
    return [(name, getattr(group, name)) for name in names if callable(getattr(group, name))]


def started(answer: Any) -> None:
    """A generator does nothing until it is asked for its first value."""
    if isinstance(answer, Iterable):
        next(iter(answer), None)


VARIABLE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
NO_VERBS = {"as_agent", "close", "open", "scoped", "wait_for"}


def test_every_verb_there_is_needs_a_scope(helper: Ebbtide, owner: Owner) -> None:
    nobody = ana(helper, [])
    groups = [value for value in vars(nobody).values() if isinstance(value, BlockingGroup)]
    assert len(groups) >= 4
    before = state_of(owner)
    for group in (nobody, *groups):
        for name, verb in asked_of(group):
            if name in NO_VERBS:
                continue
            parameters = [one for one in signature(verb).parameters.values() if one.default is Parameter.empty]
            given = {one.name: "x" for one in parameters if one.name != "self" and one.kind not in VARIABLE}
            with pytest.raises(Forbidden, match="scope"):
                started(verb(**given))
    assert state_of(owner) == before


PATTERNED = st.lists(
    st.sampled_from(
        ["*", "vector.*", "vector.agent.${user_id}.*", "vector.agent.*.memory", "vector.global.*", "vector.globalised",
         "*.travel", "vector.agent.bob.memory", "vector.agent.${chat_id}.*"]
    ),
    min_size=1, max_size=3,
)  # fmt: skip


@property_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(read=PATTERNED, tool_read=PATTERNED, asked=st.none() | PATTERNED, tool=st.booleans())
def test_a_read_never_leaves_the_policy(
    helper: Ebbtide, read: list[str], tool_read: list[str], asked: list[str] | None, tool: bool
) -> None:
    helper.policies.set("helper", {"read": read, "tool_read": tool_read})
    handle = ana(helper, "memory:read")
    allowed = [pattern.replace("${user_id}", "ana") for pattern in (tool_read if tool else read)]
    narrowing = None if asked is None else [pattern.replace("${user_id}", "ana") for pattern in asked]
    narrowing = narrowing and [pattern for pattern in narrowing if "$" not in pattern]
    if narrowing == []:
        return
    expected = {place for place in PLACES if matches(allowed, place) and matches(narrowing or ["*"], place)}
    assert places(handle.browse(namespaces=narrowing, tool=tool)) == expected
    assert places(handle.recall("ferry", namespaces=narrowing, tool=tool, limit=50, min_score=0.0)) == expected


def matches(patterns: list[str], place: str) -> bool:
    """Whether a path is one of the patterns; no segment of these paths is a pattern's in part."""
    return any(fnmatchcase(place, pattern) and place.count(".") >= pattern.count(".") for pattern in patterns)


def test_the_owner_is_not_policed(helper: Ebbtide) -> None:
    assert places(helper.recall("ferry", limit=50)) == {*PLACES}
    assert places(helper.recall("ferry", limit=50, tool=True)) == {*PLACES}
    assert helper.remember("z", namespace="vector.anywhere", tool=True).outcome == "stored"
    flag: Any = "yes"
    with pytest.raises(InvalidInput) as caught:
        helper.recall("ferry", tool=flag)
    assert caught.value.field == "tool"


def test_one_user_never_reaches_another_through_a_policy(helper: Ebbtide) -> None:
    bob = helper.as_agent("helper", READ_WRITE, user="bob")
    assert places(bob.recall("ferry", limit=50, tool=True)) == {"vector.agent.bob.memory", "vector.global.travel"}
    assert bob.recall("ferry", namespaces="vector.agent.ana.*", tool=True).hits == ()
    answer = bob.recall("Ana", namespaces="vector.agent.ana.*", trace=True, tool=True)
    assert answer.trace is not None
    assert (answer.trace.candidates, answer.trace.scope_rows) == ((), 0)


def test_a_kind_that_was_not_given_is_what_the_rule_says(memory: Ebbtide) -> None:
    memory.rules.add("vector.*.howto", default_kind="howto")
    below = {"content": "z", "namespace": "vector.team.howto.sql"}
    assert memory.remember_many([below])[0].memory.kind == "howto"
    assert memory.remember("y", namespace="vector.team.howto", kind="note").memory.kind == "note"
    assert memory.remember("x", namespace="vector.team").memory.kind == "fact"
