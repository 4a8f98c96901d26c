"""Personal data in a context block: what the rules keep back or redact is so in names, relations and headings too."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import ContextBlock, Ebbtide
from tests.graph_rows import Graph

MAIL = "bob@example.org"


@pytest.fixture
def graph(owner: Any) -> Graph:
    return Graph(owner)


def told(block: ContextBlock) -> list[str]:
    """The lines of a block that say something of its memories."""
    return [line for line in block.text.splitlines() if line.startswith(("- ", "  - ", "["))]


@pytest.fixture
def mails(memory: Ebbtide, graph: Graph) -> tuple[Any, Any]:
    """A fact about Sarah, and the memory of a relation that has an address in its text and its object."""
    works = memory.remember("Sarah works at the ferry").memory
    stated = memory.remember(f"Sarah mails {MAIL}", kind="relation").memory
    graph.relation(graph.entity("Sarah", works, stated), "mails", graph.entity(MAIL), stated)
    return works, stated


@pytest.mark.parametrize("mode", [None, "allow"])
def test_where_nothing_is_kept_back_a_relation_stands_whole(memory: Ebbtide, mails: Any, mode: Any) -> None:
    memory.rules.set_personal_data(mode)
    assert f"- Sarah — mails {MAIL}" in told(memory.context("Sarah"))


@pytest.mark.parametrize("mode", ["drop", "quarantine"])
def test_a_relation_whose_memory_is_withheld_is_not_shown(memory: Ebbtide, mails: Any, mode: str) -> None:
    works, stated = mails
    memory.rules.set_personal_data(mode)
    assert stated.id not in {hit.id for hit in memory.recall("Sarah")}
    block = memory.context("Sarah")
    assert (block.ids, told(block)) == ((works.id,), ["[Sarah] — confidence: 85%", "  - Sarah works at the ferry"])
    assert MAIL not in block.text
    assert (block.omitted, block.left_out) == ((), ())


def test_a_profile_that_drops_personal_data_drops_such_a_relation(memory: Ebbtide, mails: Any) -> None:
    works, _ = mails
    block = memory.context("Sarah", profile="ibex")
    assert (block.ids, MAIL in block.text) == ((works.id,), False)


def test_the_rule_is_that_of_the_namespace_of_the_memory_that_says_it(memory: Ebbtide, graph: Graph) -> None:
    works = memory.remember("Sarah works at the ferry", namespace="vector.open").memory
    sarah, bob = graph.entity("Sarah", works), graph.entity(MAIL)
    for predicate, namespace in (("mails", "vector.open"), ("pays", "vector.private")):
        graph.relation(sarah, predicate, bob, memory.remember(f"{predicate} {MAIL}", namespace=namespace).memory)
    memory.rules.add("vector.private", personal_data="drop")
    assert told(memory.context("Sarah works", limit=1))[2:] == [f"- Sarah — mails {MAIL}"]


@pytest.mark.parametrize("place", ["subject", "predicate", "object"])
def test_a_relation_is_kept_back_or_redacted_for_its_names_too(memory: Ebbtide, graph: Graph, place: str) -> None:
    stated = memory.remember("Sarah knows somebody").memory
    named = {"subject": "Sarah", "predicate": "knows", "object": "Eve", place: MAIL}
    graph.relation(graph.entity(named["subject"], stated), named["predicate"], graph.entity(named["object"]), stated)
    for mode, left in (("redact", "(EMAIL)"), ("drop", None), (None, MAIL)):
        memory.rules.set_personal_data(mode)
        block = memory.context("Sarah")
        lines = [line for line in told(block) if line.startswith("- ")]
        named[place] = left or ""
        expected = f"- {named['subject']} — {named['predicate']} {named['object']}"
        assert (lines, MAIL in block.text) == ([expected] if left else [], mode is None)
        assert "Sarah knows somebody" in block.text


def test_no_heading_holds_what_the_rules_keep_back(memory: Ebbtide, graph: Graph) -> None:
    graph.entity(MAIL, memory.remember("Bob works at the ferry").memory)
    for mode, heading in (
        ("redact", ["[(EMAIL)] — confidence: 85%"]),
        ("drop", []),
        (None, [f"[{MAIL}] — confidence: 85%"]),
    ):
        memory.rules.set_personal_data(mode)
        block = memory.context("Bob")
        assert [line for line in told(block) if line.startswith("[")] == heading
        assert "Bob works at the ferry" in block.text


def test_two_whose_redacted_names_are_alike_do_not_become_one(memory: Ebbtide, graph: Graph) -> None:
    for name in ("eve", "bob"):
        contents = [f"The {name} of the ferry {word}" for word in ("works", "sleeps")]
        graph.entity(f"{name}@example.org", *(answer.memory for answer in memory.remember_many(contents)))
    memory.rules.set_personal_data("redact")
    lines = told(memory.context("ferry"))
    assert [line.startswith("[(EMAIL), PERSON]") for line in lines] == [True, False, False] * 2
    assert {lines[1].split()[2], lines[2].split()[2]} != {lines[4].split()[2], lines[5].split()[2]}
    assert lines[1].split()[2] == lines[2].split()[2]


def test_an_entity_is_redacted_for_what_lies_where_a_rule_says_so(memory: Ebbtide, graph: Graph) -> None:
    memory.rules.add("vector.private", personal_data="redact")
    facts = [memory.remember(f"The ferry is {name}", namespace=f"vector.{name}").memory for name in ("open", "private")]
    graph.entity(MAIL, *facts)
    assert sorted(told(memory.context("ferry"))) == sorted(
        [
            f"[{MAIL}] — confidence: 85%",
            "  - The ferry is open",
            "[(EMAIL)] — confidence: 85%",
            "  - The ferry is private",
        ]
    )
