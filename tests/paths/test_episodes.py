"""Conversations as trees: turns, branches with a shared past and futures of their own, and what of them a read sees."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Conflict, Forbidden, InvalidInput, NotFound
from tests.conftest import Opener


def contents(found: Any) -> list[str]:
    return [one.content for one in found]


@pytest.fixture
def chat(memory: Ebbtide) -> Ebbtide:
    """A chat of three turns."""
    handle = memory.scoped(chat="c1")
    handle.episodes.add("Which ferry shall we take?")
    handle.episodes.add("The ferry at seven", role="assistant")
    handle.episodes.add("Book the ferry at seven")
    return handle


def test_turns_follow_each_other(chat: Ebbtide) -> None:
    turns = chat.episodes.transcript()
    assert contents(turns) == ["Which ferry shall we take?", "The ferry at seven", "Book the ferry at seven"]
    assert [(turn.branch, turn.place, turn.role) for turn in turns] == [
        ("main", 0, "user"), ("main", 1, "assistant"), ("main", 2, "user"),
    ]  # fmt: skip
    assert [(turn.memory.kind, turn.memory.chat, turn.memory.seq) for turn in turns] == [
        ("message", "c1", place) for place in range(3)
    ]
    assert contents(chat.episodes.transcript(limit=2)) == contents(turns[1:])


def test_an_answer_given_anew_has_the_same_past(chat: Ebbtide) -> None:
    asked, answered, booked = chat.episodes.transcript()
    branch = chat.episodes.fork(at=asked.id)
    assert (branch.name, branch.parent, branch.forked_after, branch.turns) == ("branch-2", "main", 0, 0)
    other = chat.scoped(branch="branch-2")
    again = other.episodes.add("The ferry at nine", role="assistant")
    assert contents(other.episodes.transcript()) == [asked.content, "The ferry at nine"]
    assert contents(chat.episodes.transcript(branch="main")) == [asked.content, answered.content, booked.content]
    assert again.memory.seq == 3
    deeper = chat.episodes.fork(at=again.memory.id, name="deeper")
    assert deeper.parent == "branch-2"
    chat.episodes.add("Too late for me", branch="deeper")
    assert contents(chat.episodes.transcript(branch="deeper")) == [
        asked.content,
        "The ferry at nine",
        "Too late for me",
    ]
    assert [(one.name, one.parent, one.turns) for one in chat.episodes.branches()] == [
        ("main", None, 3), ("branch-2", "main", 1), ("deeper", "branch-2", 1),
    ]  # fmt: skip


def test_a_branch_goes_on_after_the_last_turn_where_none_is_named(chat: Ebbtide) -> None:
    chat.episodes.fork(name="next")
    chat.episodes.add("main goes on", branch="main")
    chat.episodes.add("so does the other", branch="next")
    assert contents(chat.episodes.transcript(branch="next"))[2:] == ["Book the ferry at seven", "so does the other"]
    chat.episodes.fork(branch="next", name="third")
    assert contents(chat.episodes.transcript(branch="third"))[3:] == ["so does the other"]


def test_recall_on_a_branch_sees_its_own_past_alone(chat: Ebbtide) -> None:
    asked = chat.episodes.transcript()[0]
    chat.episodes.fork(at=asked.id, name="b")
    chat.episodes.add("The ferry at nine", role="assistant", branch="b")
    chat.scoped(chat=None).remember("The ferry is red")
    chat.scoped(chat="c2").episodes.add("A ferry elsewhere")
    everywhere = {"Which ferry shall we take?", "The ferry is red", "A ferry elsewhere"}
    main = {"The ferry at seven", "Book the ferry at seven"}
    for profile in (None, "ontheia", "eryx"):
        asked_with: dict[str, Any] = {"profile": profile, "min_score": 0.0, "min_similarity": 0.0, "limit": 20}
        assert set(contents(chat.recall("ferry", **asked_with))) == everywhere | main | {"The ferry at nine"}
        assert set(contents(chat.scoped(branch="b").recall("ferry", **asked_with))) == everywhere | {
            "The ferry at nine"
        }
        assert set(contents(chat.scoped(branch="main").recall("ferry", **asked_with))) == everywhere | main
    assert set(contents(chat.scoped(branch="b").browse())) == everywhere | {"The ferry at nine"}
    assert "seven" not in chat.scoped(branch="b").context("ferry").text
    assert chat.scoped(branch="b").recall("ferry", kinds=["message"], limit=1).hits


def test_runs_and_messages_of_a_chat_are_its_turns(memory: Ebbtide) -> None:
    memory.record_run("When does the ferry leave? " * 5, "At seven.", chat="c1")
    chat = memory.scoped(chat="c1")
    chat.remember("No turn of anything")
    chat.remember("Thanks", kind="message", speaker="Ana")
    chat.remember("At eight", kind="message", seq=9)
    chat.remember("At nine", kind="message")
    turns = chat.episodes.transcript()
    assert [turn.role for turn in turns] == ["user", "assistant", None, None, None]
    assert [turn.place for turn in turns] == [0, 1, 2, 9, 10]
    assert turns[2].speaker == "Ana"
    chat.episodes.fork(at=turns[1].id, name="b")
    memory.scoped(chat="c1", branch="b").record_run("", "At ten.")
    assert contents(chat.episodes.transcript(branch="b"))[1:] == ["At seven.", "At ten."]


def test_what_is_said_again_stays_where_it_is(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    first = [chat.episodes.add("ok", idempotency_key="k").memory for _ in range(2)]
    assert first[0].id == first[1].id
    chat.episodes.add("ok", role="assistant")
    assert [turn.role for turn in chat.episodes.transcript()] == ["user", "assistant"]
    run = [memory.record_run("", "Done.", chat="c3")[0] for _ in range(2)]
    assert [one.outcome for one in run] == ["stored", "duplicate"]
    assert len(chat.episodes.transcript("c3")) == 1


def test_chats_of_two_agents_have_nothing_to_do_with_each_other(chat: Ebbtide) -> None:
    other = chat.scoped(agent="other")
    other.episodes.add("Hello")
    other.episodes.fork(name="b")
    assert contents(other.episodes.transcript()) == ["Hello"]
    assert [one.name for one in chat.episodes.branches()] == ["main"]
    assert [(one.chat, one.turns, one.branches) for one in chat.episodes.chats()] == [("c1", 3, 1)]
    assert chat.scoped(tenant="x").episodes.chats() == []


def test_names_that_are_not_there_are_refused(chat: Ebbtide, memory: Ebbtide) -> None:
    foreign = memory.remember("elsewhere").memory
    for call in (
        lambda: chat.episodes.add("x", branch="none"),
        lambda: chat.episodes.transcript(branch="none"),
        lambda: chat.scoped(branch="none").recall("ferry"),
        lambda: chat.scoped(branch="none").remember("x", kind="message"),
        lambda: chat.episodes.fork(at=foreign.id),
        lambda: chat.episodes.fork(branch="none"),
    ):
        with pytest.raises(NotFound):
            call()
    chat.episodes.fork(name="b")
    for name in ("b", "main"):
        with pytest.raises(Conflict) as caught:
            chat.episodes.fork(name=name)
        assert caught.value.field == "name"
    for wrong in (
        lambda: memory.episodes.transcript(),
        lambda: memory.scoped(branch="b"),
        lambda: chat.episodes.add("x", role="robot"),
        lambda: chat.episodes.add("x", kind="fact"),
        lambda: chat.episodes.fork(name="a.b"),
        lambda: chat.episodes.transcript(limit=0),
    ):
        with pytest.raises(InvalidInput):
            wrong()
    assert len(chat.episodes.transcript()) == 3


def test_another_chat_has_another_branch(chat: Ebbtide) -> None:
    chat.episodes.fork(name="b")
    assert chat.scoped(branch="b").scoped(chat="c2").caller.branch is None
    assert chat.scoped(branch="b").episodes.transcript("c2") == []


def test_a_forgotten_turn_leaves_its_branches_and_an_empty_branch_goes(chat: Ebbtide, owner: Any) -> None:
    asked, answered, _ = chat.episodes.transcript()
    chat.episodes.fork(at=asked.id, name="b")
    own = chat.episodes.add("The ferry at nine", branch="b").memory
    chat.episodes.fork(at=own.id, name="c")
    last = chat.episodes.add("The ferry at ten", branch="c").memory
    receipt = chat.forget(own.id, 1)
    assert receipt.cleaned["turns"] == 1
    assert contents(chat.episodes.transcript(branch="c")) == [asked.content, "The ferry at ten"]
    assert [one.name for one in chat.episodes.branches()] == ["main", "b", "c"]
    chat.forget(answered.id, 1)
    chat.forget(last.id, 1)
    assert [one.name for one in chat.episodes.branches()] == ["main"]
    assert owner.execute("SELECT count(*) FROM branch").fetchone() == (0,)


def test_erasing_a_tenant_erases_its_trees(chat: Ebbtide, owner: Any) -> None:
    chat.episodes.fork(name="b")
    proof = chat.erase_tenant(confirm="default")
    assert proof.cleaned["branches"] == 1
    for table in ("turn", "branch"):
        assert owner.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone() == (0,)


def test_an_agent_sees_turns_as_its_policy_and_the_rules_say(chat: Ebbtide) -> None:
    chat.episodes.add("Call +1 555 010 9999 about the ferry", namespace="vector.open")
    chat.rules.add("vector.open", personal_data="redact")
    chat.policies.set("default", Policy(read=("vector.open",), write="vector.open", allow_write=True))
    agent = chat.scoped(chat=None).as_agent("default", "memory:read,memory:write", chat="c1")
    assert contents(agent.episodes.transcript()) == ["Call [PHONE] about the ferry"]
    assert [one.turns for one in agent.episodes.branches()] == [1]
    hidden = chat.episodes.transcript()[0]
    with pytest.raises(NotFound):
        agent.episodes.fork(at=hidden.id)
    with pytest.raises(Forbidden):
        agent.episodes.transcript("c2")
    agent.episodes.fork(name="b")
    on_branch = agent.scoped(branch="b")
    on_branch.episodes.add("What about nine?")
    assert contents(on_branch.recall("nine", profile="ontheia", min_score=0.0)) == ["What about nine?"]
    reader = chat.scoped(chat=None).as_agent("default", "memory:read", chat="c1")
    with pytest.raises(Forbidden):
        reader.episodes.fork(name="d")
    with pytest.raises(Forbidden):
        reader.episodes.add("x")


def test_turns_that_no_recall_would_show_are_left_out(chat: Ebbtide) -> None:
    turn = chat.episodes.transcript()[1]
    chat.invalidate(turn.id)
    assert len(chat.episodes.transcript()) == 2
    chat.restore(turn.id)
    assert len(chat.episodes.transcript()) == 3


@property_settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=14))
def test_any_tree_reads_back_as_it_was_told(memory: Ebbtide, steps: list[tuple[int, int]]) -> None:
    """Turns and forks in any order: each branch has its past and its own turns, and a recall on it nothing else."""
    chat = memory.scoped(tenant=uuid4().hex, chat="c1")
    told: dict[str, list[Any]] = {"main": []}
    for number, (what, which) in enumerate(steps):
        name = sorted(told)[which % len(told)]
        if what and told[name]:
            turn = which % len(told[name])
            told[f"b{number}"] = told[name][: turn + 1]
            chat.episodes.fork(at=told[name][turn], name=f"b{number}")
        else:
            told[name] = [*told[name], chat.episodes.add(f"ferry {number}", branch=name).memory.id]
    for name, ones in told.items():
        assert [turn.id for turn in chat.episodes.transcript(branch=name)] == ones
        seen = chat.scoped(branch=name).recall("ferry", limit=50, profile="agentium", min_score=0.0)
        assert {hit.id for hit in seen} == set(ones)


def test_an_import_makes_turns_of_messages(chat: Ebbtide, open_store: Opener) -> None:
    records = list(chat.export_records())
    other = open_store(tenant="copy", chat="c1")
    other.import_records(records)
    assert contents(other.episodes.transcript()) == contents(chat.episodes.transcript())


def test_what_is_said_after_a_fork_is_not_of_its_past_where_the_last_turn_was_forgotten(chat: Ebbtide) -> None:
    last = chat.episodes.transcript()[-1]
    chat.episodes.fork(name="b")
    before = contents(chat.episodes.transcript(branch="b"))
    chat.forget(last.id, 1)
    chat.episodes.add("The ferry at eleven", branch="main")
    chat.remember("The ferry at twelve", kind="message")
    assert contents(chat.episodes.transcript(branch="b")) == before[:-1]
    assert contents(chat.episodes.transcript())[-2:] == ["The ferry at eleven", "The ferry at twelve"]


def test_a_branch_of_which_nothing_may_be_read_is_not_there(chat: Ebbtide) -> None:
    open_, own = "vector.open", "vector.agent.ana.memory"
    chat.policies.set("default", Policy(read=(open_,), write=open_, allow_write=True))
    chat.episodes.add("Ferries leave at nine", namespace=open_)
    first = chat.episodes.fork(name="hidden", namespace=own)
    chat.episodes.add("Ana wants to leave", branch="hidden", namespace=own)
    chat.episodes.fork(branch="hidden", name="later", namespace=open_)
    chat.episodes.add("Ferries leave at ten", branch="later", namespace=open_)
    assert [one.name for one in chat.episodes.branches()] == ["main", "hidden", "later"]
    assert first.namespace == own
    agent = chat.scoped(chat=None).as_agent("default", "memory:read,memory:write", chat="c1")
    shown = agent.episodes.branches()
    # What it goes on from is told as far as the agent knows of it.
    assert [(one.name, one.parent, one.forked_after) for one in shown] == [
        ("main", None, None), ("later", "main", first.forked_after),
    ]  # fmt: skip
    for call in (
        lambda name: agent.episodes.transcript(branch=name),
        lambda name: agent.episodes.add("Yes", branch=name),
        lambda name: agent.episodes.fork(branch=name, name="x"),
        lambda name: agent.episodes.summarise(branch=name),
        lambda name: agent.scoped(branch=name).recall("ferries"),
    ):
        foreign, absent = (refusal(call, name) for name in ("hidden", "never"))
        assert foreign.replace("hidden", "never") == absent
    records = [one for one in agent.export_records() if "branches" in one]
    assert {(one["name"], one["parent"]) for record in records for one in record["branches"]} == {("later", "main")}
    # Once something readable is said on it, it is there.
    chat.episodes.add("Ferries leave at eleven", branch="hidden", namespace=open_)
    assert [one.name for one in agent.episodes.branches()] == ["main", "hidden", "later"]
    assert contents(agent.episodes.transcript(branch="hidden")) == ["Ferries leave at nine", "Ferries leave at eleven"]


def refusal(call: Any, name: str) -> str:
    with pytest.raises(NotFound) as error:
        call(name)
    return str(error.value.to_dict())


def test_an_erased_user_leaves_no_branch_of_which_nothing_is_left(chat: Ebbtide) -> None:
    ana = chat.scoped(user="ana")
    ana.episodes.fork(name="empty")
    ana.episodes.fork(name="kept")
    chat.episodes.add("Ferries leave at nine", branch="kept", namespace="vector.open")
    ana.episodes.fork(branch="kept", name="also")
    assert chat.erase_user("ana").cleaned["branches"] == 2
    assert [one.name for one in chat.episodes.branches()] == ["main", "kept"]


def test_turns_are_seen_without_what_was_put_away_and_with_what_is_back(chat: Ebbtide, owner: Any) -> None:
    chat.rules.add("vector.secret", personal_data="quarantine")
    held = chat.episodes.add("Call +1 555 010 9999 about the boat", namespace="vector.secret").memory
    chat.episodes.add("And then the train")
    assert chat.reconcile().repaired == 0
    chat.restore(held.id)
    assert chat.reconcile().repaired == 0
    vectors = owner.execute("SELECT count(context_embedding) FROM memory WHERE id = %s", [held.id]).fetchone()
    assert vectors == (1,)
