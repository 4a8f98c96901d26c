"""Rules on namespaces: what a pattern covers, how several add up, how they are kept, and what a preview shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide, Rule
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.rules import Bearing, RuleBook, covers
from tests.conftest import Opener

SEGMENTS = st.sampled_from(["a", "b", "ab", "a_b", "100%", "a-b", "é", "(", "a+", "^"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=5)
PATTERNS = st.lists(st.one_of(SEGMENTS, st.just("*"), st.just("${user_id}")), min_size=1, max_size=4)


def naive(pattern: list[str], path: list[str]) -> bool:
    """Segment by segment; once the pattern is used up, all that lies below is covered."""
    if not pattern or not path:
        return not pattern
    if pattern[0] == "*":
        return any(naive(pattern[1:], path[taken:]) for taken in range(1, len(path) + 1))
    return (pattern[0] in ("${user_id}", path[0])) and naive(pattern[1:], path[1:])


@given(pattern=PATTERNS, path=PATHS)
def test_a_rule_covers_what_its_pattern_matches_and_all_below(pattern: list[str], path: list[str]) -> None:
    assert covers(Rule(pattern=".".join(pattern)), ".".join(path)) == naive(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "namespace", "covered"),
    [
        ("vector.agent.${user_id}.howto", "vector.agent.ana.howto", True),
        ("vector.agent.${user_id}.howto", "vector.agent.bob.howto", True),
        ("vector.agent.${user_id}.howto", "vector.agent.ana.howto.sql", True),
        ("vector.agent.${user_id}.howto", "vector.agent.ana.x.howto", False),
        ("vector.agent.*", "vector.agent.ana.memory", True),
        ("vector.agent.*", "vector.agent", False),
        ("vector.agent.*", "vector.agents.ana", False),
        ("vector.agent.*.howto", "vector.agent.ana.team.howto", True),
        ("vector.global.ontheia.temp", "vector.global.ontheia.temp", True),
        ("vector.global.ontheia.temp", "vector.global.ontheia.temporary", False),
        ("*", "anything.at.all", True),
    ],
)
def test_the_notations_of_a_pattern(pattern: str, namespace: str, covered: bool) -> None:
    assert covers(Rule(pattern=pattern), namespace) is covered


def test_bonuses_of_all_matching_rules_add_up() -> None:
    book = RuleBook(
        [
            Rule(pattern="vector.agent.${user_id}.howto", bonus=0.1),
            Rule(pattern="vector.agent.*", bonus=0.05),
            Rule(pattern="vector.global", bonus=-0.02),
        ]
    )
    expected = {
        "vector.agent.ana.howto.sql": 0.15,
        "vector.agent.ana.howto": 0.15,
        "vector.agent.ana.x.howto": 0.05,
        "vector.agent.ana.howtos": 0.05,
        "vector.agent": 0.0,
        "vector.global.memory": -0.02,
    }
    assert {namespace: book.on(namespace).bonus for namespace in expected} == pytest.approx(expected)


def test_the_longest_pattern_that_sets_a_field_decides_it() -> None:
    book = RuleBook(
        [
            Rule(pattern="vector.*", instruction="wide", default_kind="note", retention_days=30),
            Rule(pattern="vector.agent.${user_id}.howto", instruction="template", personal_data="redact"),
            Rule(pattern="vector.agent.ana.*", instruction="star", default_kind="howto"),
            Rule(pattern="vector.agent.ana.howto", instruction="literal"),
            Rule(pattern="vector.agent.ana.howto.sql.deep", instruction="elsewhere"),
        ]
    )
    assert book.on("vector.agent.ana.howto.sql") == Bearing(0.0, "literal", "howto", "redact", 30)
    assert book.on("vector.agent.bob.howto") == Bearing(0.0, "template", "note", "redact", 30)
    assert book.on("x") == Bearing()


@given(order=st.permutations(range(4)))
def test_the_order_of_different_rules_does_not_matter(order: list[int]) -> None:
    rules = [
        Rule(pattern="vector.*", bonus=0.1, instruction="a"),
        Rule(pattern="vector.a.*", bonus=0.2, instruction="b"),
        Rule(pattern="vector.${x}.c", bonus=0.3, instruction="c"),
        Rule(pattern="vector.a.c", bonus=0.4, default_kind="note"),
    ]
    assert RuleBook(rules[place] for place in order).on("vector.a.c") == RuleBook(rules).on("vector.a.c")


def test_a_rule_is_added_listed_and_removed(memory: Ebbtide) -> None:
    assert memory.rules.list() == []
    first = memory.rules.add("vector.team.*", 0.1, "Heed this.", "howto", "redact", 30)
    second = memory.rules.add("vector.global")
    assert first.id is not None
    assert (first.pattern, first.bonus, first.instruction) == ("vector.team.*", 0.1, "Heed this.")
    assert (first.default_kind, first.personal_data, first.retention_days) == ("howto", "redact", 30)
    assert memory.rules.list() == [first, second]
    memory.rules.remove(first.id)
    assert memory.rules.list() == [second]
    with pytest.raises(NotFound):
        memory.rules.remove(first.id)
    assert memory.scoped(tenant="other").rules.list() == []


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("pattern", {"pattern": ""}),
        ("pattern", {"pattern": "a..b"}),
        ("pattern", {"pattern": "a.b*"}),
        ("pattern", {"pattern": "a.${user_id}x"}),
        ("pattern", {"pattern": "a.${}"}),
        ("pattern", {"pattern": "a.$user"}),
        ("pattern", {"pattern": "a b"}),
        ("pattern", {"pattern": 7}),
        ("pattern", {"pattern": "x" * 501}),
        ("bonus", {"bonus": float("nan")}),
        ("bonus", {"bonus": float("inf")}),
        ("bonus", {"bonus": -1.1}),
        ("bonus", {"bonus": 11}),
        ("bonus", {"bonus": True}),
        ("bonus", {"bonus": "0.1"}),
        ("instruction", {"instruction": " "}),
        ("instruction", {"instruction": "a\0b"}),
        ("instruction", {"instruction": "x" * 10_001}),
        ("default_kind", {"default_kind": "thing"}),
        ("personal_data", {"personal_data": "hide"}),
        ("retention_days", {"retention_days": 0}),
        ("retention_days", {"retention_days": 1.5}),
        ("retention_days", {"retention_days": True}),
    ],
)
def test_what_is_no_rule_is_refused(memory: Ebbtide, field: str, given: dict[str, Any]) -> None:
    rule: dict[str, Any] = {"pattern": "vector.a", **given}
    with pytest.raises(InvalidInput) as caught:
        memory.rules.add(**rule)
    assert (caught.value.field, bool(caught.value.remedy)) == (field, True)
    assert memory.rules.list() == []


def test_a_rule_counts_at_once_in_every_handle(memory: Ebbtide, open_store: Opener) -> None:
    memory.remember("ferry", namespace="vector.a")
    other = open_store()

    def bonus(handle: Ebbtide) -> float:
        return handle.recall("ferry", profile="ontheia")[0].contributions["namespace"]

    assert bonus(memory) == bonus(other) == 0
    rule = memory.rules.add("vector.a", 0.1)
    assert bonus(other) == bonus(memory) == pytest.approx(0.1, abs=1e-3)
    other.rules.remove(str(rule.id))
    assert bonus(memory) == bonus(other) == 0


def test_two_tenants_keep_their_rules_apart(memory: Ebbtide) -> None:
    other = memory.scoped(tenant="other")
    for handle in (memory, other):
        handle.remember("ferry", namespace="vector.a")
    memory.rules.add("vector.a", 0.1)
    assert memory.recall("ferry", profile="ontheia")[0].contributions["namespace"] > 0
    assert other.recall("ferry", profile="ontheia")[0].contributions["namespace"] == 0


def test_a_preview_shows_what_a_rule_would_change(memory: Ebbtide) -> None:
    memory.remember("ferry to Bergen", namespace="vector.a")
    memory.remember("ferry to Bergen at seven", namespace="vector.b")
    asked: dict[str, Any] = {"profile": "ontheia", "limit": 5}
    before = memory.recall("ferry to Bergen", **asked)
    assert [hit.namespace for hit in before] == ["vector.a", "vector.b"]
    rule = Rule(pattern="vector.b", bonus=0.5, instruction="Sail.")
    shown = memory.rules.preview(rule, "ferry to Bergen", **asked)
    assert memory.rules.list() == []
    assert [hit.relevance for hit in memory.recall("ferry to Bergen", **asked)] == [hit.relevance for hit in before]
    assert [(hit.namespace, hit.covered, hit.rank_before, hit.rank_after) for hit in shown.hits] == [
        ("vector.b", True, 2, 1),
        ("vector.a", False, 1, 2),
    ]
    moved, stayed = shown.hits
    assert moved.relevance_before == before[1].relevance
    assert (moved.instruction_before, moved.instruction_after) == (None, "Sail.")
    assert stayed.relevance_before == stayed.relevance_after == before[0].relevance
    memory.rules.add("vector.b", 0.5, "Sail.")
    after = memory.recall("ferry to Bergen", **asked)
    assert [(hit.id, hit.relevance) for hit in after] == [(hit.id, hit.relevance_after) for hit in shown.hits]


def test_a_preview_of_a_saved_rule_stands_in_its_place(memory: Ebbtide) -> None:
    memory.remember("ferry", namespace="vector.a")
    saved = memory.rules.add("vector.a", 0.2)
    shown = memory.rules.preview({"id": str(saved.id), "pattern": "vector.a", "bonus": 0.0}, "ferry", profile="ontheia")
    hit = shown.hits[0]
    assert hit.relevance_before is not None
    assert hit.relevance_after is not None
    assert hit.relevance_before > hit.relevance_after
    assert shown.changed == shown.hits


@pytest.mark.parametrize(
    ("rule", "field"), [({}, "pattern"), ({"pattern": "a", "colour": 1}, "colour"), ("vector.*", "rule")]
)
def test_what_is_no_rule_has_no_preview(memory: Ebbtide, rule: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.rules.preview(rule, "ferry")
    assert caught.value.field == field
