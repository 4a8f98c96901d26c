"""Who may forget, hold, erase and look into the audit."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Forbidden
from tests.forget.support import contents

SCOPES = ["memory:read", "memory:write", "memory:delete"]


@pytest.fixture
def agent(memory: Ebbtide) -> Ebbtide:
    """A policed handle that may do what an ordinary agent does."""
    memory.policies.set(
        "default",
        Policy(read=["vector.own.*", "vector.shared.*"], write="vector.own.a", allow_write=True),
    )
    return memory.as_agent("default", SCOPES)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("erase_user", {"user": "ana"}),
        ("erase_tenant", {"confirm": "default"}),
        ("holds.place", {"reason": "r", "user": "ana"}),
        ("holds.list", {}),
        ("receipts.list", {}),
        ("audit.entries", {}),
        ("audit.verify", {}),
        ("audit.seal", {}),
    ],
)
def test_what_is_not_for_agents_is_refused_and_noted(
    agent: Ebbtide, memory: Ebbtide, verb: str, arguments: dict[str, Any]
) -> None:
    memory.scoped(user="ana").remember("likes oranges")
    called: Any = agent
    for step in verb.split("."):
        called = getattr(called, step)
    with pytest.raises(Forbidden):
        called(**arguments)
    assert len(memory.audit.entries(action="warning")) == 1
    assert len(memory.browse()) == 1


def test_an_export_of_the_audit_is_for_operators(agent: Ebbtide, memory: Ebbtide) -> None:
    with pytest.raises(Forbidden):
        list(agent.audit.export())
    operator = memory.as_agent("default", ["operator"])
    assert len(list(operator.audit.export())) >= 1
    assert operator.audit.verify().valid
    with pytest.raises(Forbidden):
        operator.browse()


def test_an_agent_forgets_only_what_it_may_change(agent: Ebbtide, memory: Ebbtide) -> None:
    own = memory.remember("mine", namespace="vector.own.a", kind="note").memory
    shared = memory.remember("ours", namespace="vector.shared.a", kind="note").memory
    hidden = memory.remember("theirs", namespace="vector.hidden.a", kind="note").memory
    assert own is not None
    assert shared is not None
    assert hidden is not None
    with pytest.raises(Forbidden):
        agent.forget(shared.id, 1)
    with pytest.raises(Forbidden):
        agent.forget_where(kinds="note")
    looked = agent.forget_where(kinds="note", namespaces="vector.own.*")
    assert looked.ids == (own.id,)
    assert agent.forget_where(ids=[hidden.id]).count == 0
    agent.forget_where(kinds="note", namespaces="vector.own.*", dry_run=False, token=looked.token)
    assert contents(memory.browse()) == ["ours", "theirs"]


def test_without_the_scope_nothing_is_forgotten(agent: Ebbtide, memory: Ebbtide) -> None:
    own = memory.remember("mine", namespace="vector.own.a").memory
    assert own is not None
    reader = memory.as_agent("default", ["memory:read", "memory:write"])
    for refused in (lambda: reader.forget(own.id, 1), lambda: reader.forget_where(ids=[own.id])):
        with pytest.raises(Forbidden):
            refused()
    receipt = agent.forget(own.id, 1)
    assert agent.verify_receipt(receipt).valid
