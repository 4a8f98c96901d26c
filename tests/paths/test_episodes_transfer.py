"""Conversations out of one store and into another: the same tree, whatever of it is exported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput


def tree(owner: Any, tenant: str) -> tuple[list[Any], list[Any]]:
    """Every turn and every branch of a tenant."""
    owner.execute(f"SET ebbtide.tenant = '{tenant}'")
    return (
        owner.execute(
            "SELECT chat_id, branch, place, memory_id FROM turn WHERE tenant_id = %s ORDER BY 1, 2, 3, 4", [tenant]
        ).fetchall(),
        owner.execute(
            "SELECT chat_id, name, parent, forked_after, created_at FROM branch WHERE tenant_id = %s ORDER BY 1, 2",
            [tenant],
        ).fetchall(),
    )


def without_context(records: Iterable[Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name != "context_vector"} for one in records]


def grown(memory: Ebbtide, seed: int) -> None:
    """Two conversations that grew by chance, with branches of branches, some of them empty, and a turn forgotten."""
    chance = Random(seed)
    for name in ("c1", "c2"):
        chat = memory.scoped(chat=name)
        branches = ["main"]
        for step in range(14):
            branch = chance.choice(branches)
            if chance.random() < 0.3:
                branches.append(chat.episodes.fork(branch=branch, name=f"b{step}").name)
            else:
                chat.episodes.add(f"Turn {step} of {name}", branch=branch, role=chance.choice(("user", "assistant")))
        chat.remember("Said without a place", kind="message")
        turns = chat.episodes.transcript()
        gone = chance.choice(turns).memory
        chat.forget(gone.id, gone.revision)
        chat.episodes.summarise(branch=branches[-1])


@pytest.mark.parametrize("seed", range(4))
def test_a_round_trip_makes_the_same_trees(
    memory: Ebbtide, owner: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    grown(memory, seed)
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    lines = [json.dumps(record) for record in records]
    Random(seed).shuffle(lines)
    monkeypatch.setattr("ebbtide.paths.transfer.BATCH", 5)
    other.import_records(lines)
    assert tree(owner, "other") == tree(owner, "default")
    assert without_context(other.export_records()) == without_context(records)
    for one, two in zip(records, other.export_records(), strict=True):
        # One whose turn before came in a later batch is made anew, of vectors in half precision.
        assert one["context_vector"] == pytest.approx(two["context_vector"], abs=2e-3)
    for name in ("c1", "c2"):
        one, two = memory.scoped(chat=name), other.scoped(chat=name)
        for branch in one.episodes.branches():
            assert [(turn.place, turn.content) for turn in two.episodes.transcript(branch=branch.name)] == [
                (turn.place, turn.content) for turn in one.episodes.transcript(branch=branch.name)
            ]
    other.import_records(lines)
    assert tree(owner, "other") == tree(owner, "default")


def test_a_chat_without_branches_is_no_longer_for_it(memory: Ebbtide) -> None:
    memory.scoped(chat="c1").episodes.add("Hello")
    (record,) = memory.export_records()
    assert "turns" not in record
    assert "branches" not in record


@pytest.mark.parametrize(
    ("turn", "branches"),
    [
        ({"branch": "b"}, []),
        ({"branch": "b"}, [{"name": "b", "parent": "c", "forked_after": 1}]),
        ({"branch": "b"}, [{"name": "b", "parent": "b", "forked_after": 1}]),
        (
            {"branch": "main"},
            [{"name": "b", "parent": "c", "forked_after": 1}, {"name": "c", "parent": "b", "forked_after": 1}],
        ),
        ({"branch": "a.b"}, [{"name": "a.b", "forked_after": 1}]),
        ({"place": -1}, []),
        ({"branch": "b"}, [{"name": "b", "forked_after": -2}]),
    ],
)
def test_a_branch_that_leads_nowhere_is_refused(memory: Ebbtide, turn: Any, branches: list[Any]) -> None:
    line = {
        "content": "Hello", "kind": "message", "chat": "c1", "turns": [{"chat": "c1", "place": 0, **turn}],
        "branches": [{"chat": "c1", **one} for one in branches],
    }  # fmt: skip
    with pytest.raises(InvalidInput, match="Line 1"):
        memory.import_records([line])


def test_a_branch_that_is_known_stays_as_it_is(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    chat.episodes.add("One")
    chat.episodes.fork(name="b")
    line = {
        "content": "Three", "kind": "message", "chat": "c1", "turns": [{"chat": "c1", "branch": "b", "place": 9}],
        "branches": [{"chat": "c1", "name": "b", "forked_after": 5}],
    }  # fmt: skip
    chat.import_records([line])
    assert [one.forked_after for one in chat.episodes.branches()] == [None, 0]
    assert [turn.content for turn in chat.episodes.transcript(branch="b")] == ["One", "Three"]


def test_a_part_of_a_chat_brings_nothing_of_the_turns_that_stay_behind(memory: Ebbtide, owner: Any) -> None:
    chat = memory.scoped(chat="c1")
    chat.episodes.add("Ana has shingles")
    chat.episodes.add("The ferry leaves at nine")
    told = chat.episodes.add("The ferry leaves at ten").memory
    memory.revise(told.id, "The ferry leaves at noon", expected_revision=1)
    first, *rest = memory.export_records()
    assert all(one["context_vector"] for one in rest)

    part = memory.scoped(tenant="part")
    part.import_records(rest)
    ferry, last = part.export_records()
    assert ferry["context_vector"] is None
    assert (last["context_vector"], last["versions"]) == (rest[1]["context_vector"], rest[1]["versions"])
    assert part.reconcile(dry_run=True).context_vectors == 0
    # Once the turn before is there, so is what it lends.
    part.import_records([first])
    made = {one["content"]: one["context_vector"] for one in part.export_records()}
    assert made["The ferry leaves at nine"] == pytest.approx(rest[0]["context_vector"], abs=2e-3)

    alone = memory.scoped(tenant="alone")
    alone.import_records(rest[1:])
    [only] = alone.export_records()
    assert (only["context_vector"], only["versions"][0]["context_vector"]) == (None, None)
