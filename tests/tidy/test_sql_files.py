"""The statements: named, explained, used, within one tenant, and told what time it is."""

from __future__ import annotations

import pytest

from ebbtide.db.statements import statements
from tests.tidy import sql_rules as rules
from tests.tidy.tree import STATEMENTS, Rule, assert_none, broken, python_files

RULES = [rules.opens_with_a_heading, rules.sections_are_explained, rules.names_are_unique, rules.reads_no_clock]
SCHEMA = (STATEMENTS / "schema.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES)
def test_statement_files_keep_the_rule(rule: Rule) -> None:
    paths = [path for path in STATEMENTS.glob("*.sql") if path.name != "schema.sql"]
    assert_none(broken(rule, paths))


def test_no_two_files_have_a_fragment_of_the_same_name() -> None:
    every = [
        section.name
        for path in STATEMENTS.glob("*.sql")
        for section in rules.sections(path.read_text(encoding="utf-8"))
        if section.sort == "fragment"
    ]
    assert len(every) > 20
    assert sorted(every) == sorted(set(every))


def test_every_statement_stays_within_its_tenant() -> None:
    tables = rules.tenant_tables(SCHEMA)
    assert_none([found for name, body in statements().items() for found in rules.without_tenant(name, body, tables)])


def test_only_the_word_arm_reads_past_the_policy() -> None:
    reading = {name for name, body in statements().items() if name.startswith("recall.") and "searched_memory" in body}
    ways = {"recall.indexed", "recall.indexed_weighed", "recall.worded", "recall.worded_weighed"}
    assert reading == ways | {f"{way}_whole" for way in ways}
    assert all(statements()[name].count("searched_memory") == 1 for name in reading)
    other = {name.partition(".")[0] for name, body in statements().items() if "searched_memory" in body}
    assert other == {"recall", "migrate"}


def test_every_statement_is_used() -> None:
    python = "\n".join(path.read_text(encoding="utf-8") for path in python_files("src"))
    assert_none(rules.unused(named_statements(), python))


def test_the_loader_and_the_rules_read_the_same_statements() -> None:
    loaded = {name.removesuffix("_past").removesuffix("_whole") for name in statements()}
    assert named_statements() == loaded


def named_statements() -> set[str]:
    return {
        f"{path.stem}.{section.name}"
        for path in STATEMENTS.glob("*.sql")
        for section in rules.sections(path.read_text(encoding="utf-8"))
        if section.sort == "name"
    }


TOLD = "-- name: one\n-- Reads one row.\nSELECT content FROM memory WHERE tenant_id = %(tenant)s;\n"
BAD = [
    (rules.opens_with_a_heading, "SELECT 1;\n"),
    (rules.opens_with_a_heading, "SELECT 1;\n" + TOLD),
    (rules.opens_with_a_heading, ""),
    (rules.sections_are_explained, "-- name: one\nSELECT 1;\n"),
    (rules.sections_are_explained, "-- name: one\n-- one\nSELECT 1;\n"),
    (rules.sections_are_explained, "-- name: one\n-- Reads one row.\n"),
    (rules.names_are_unique, TOLD + TOLD),
    (rules.reads_no_clock, "-- name: one\n-- Reads the time.\nSELECT now();\n"),
    (rules.reads_no_clock, "-- name: one\n-- Reads the time.\nSELECT CURRENT_TIMESTAMP;\n"),
]


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_the_rule_finds_a_bad_example(rule: Rule, text: str) -> None:
    assert list(rule(text))


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_leaves_a_good_example_alone(rule: Rule) -> None:
    text = f"-- What this file is about.\n\n{TOLD}\n-- fragment: two\na AS b\n"
    assert list(rule(text)) == []


def test_a_statement_without_a_tenant_is_found() -> None:
    assert rules.without_tenant("one", "SELECT 1 FROM memory", {"memory"})
    assert rules.without_tenant("one", "SELECT 1 FROM store JOIN ebbtide.memory m ON true", {"memory"})
    assert not rules.without_tenant("one", "SELECT 1 FROM store", {"memory"})
    assert not rules.without_tenant("one", "SELECT 1 FROM memory WHERE tenant_id = %(tenant)s", {"memory"})


def test_an_unused_statement_is_found() -> None:
    assert rules.unused({"memory.one", "memory.two"}, 'run("memory.one")') == ["memory.two"]
    assert rules.unused({"memory.one", "memory.two"}, 'run(f"memory.{name}"), "two"') == ["memory.one"]


def test_the_schema_has_tenant_tables() -> None:
    tables = rules.tenant_tables(SCHEMA)
    assert {"memory", "strength", "audit", "searched_memory"} <= tables
    assert "store" not in tables
