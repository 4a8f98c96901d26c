"""The scope of a read: what narrows it."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbtide.govern.namespaces import NamespaceScope
from ebbtide.read.scope import Scope, make_scope
from ebbtide.types.caller import Access, Caller, Grant
from ebbtide.types.recall import TagFilter

NOW = datetime(2026, 5, 1, tzinfo=UTC)
OWNER = Caller("acme", "helper")


def test_what_an_owner_reads_of_an_agent_is_its_whole_memory() -> None:
    assert make_scope(OWNER, NOW).whole
    assert make_scope(OWNER, NOW, include_superseded=True, valid_at=NOW).whole
    assert make_scope(OWNER, NOW, tags=TagFilter()).whole
    assert make_scope(OWNER, NOW, namespaces="*").whole


NARROWING: list[dict[str, Any]] = [
    {"namespaces": "vector.*"},
    {"namespaces": ["vector.global.memory"]},
    {"kinds": ["fact"]},
    {"labels": ["travel"]},
    {"tags": ["a"]},
    {"tags": {"none": ["a"]}},
    {"where": {"importance": {"gte": 0.5}}},
    {"as_of": NOW},
]


@pytest.mark.parametrize("narrowed", NARROWING, ids=str)
def test_whatever_narrows_a_scope_keeps_it_from_being_whole(narrowed: dict[str, Any]) -> None:
    assert not make_scope(OWNER, NOW, **narrowed).whole


def test_what_one_user_reads_is_not_whole() -> None:
    assert not make_scope(replace(OWNER, user="ana"), NOW).whole


@pytest.mark.parametrize("patterns", [(), ("vector.global.*",), ("vector.global.memory",)])
@pytest.mark.parametrize("asked", [None, "*", "vector.*"])
def test_what_a_policy_narrows_is_not_whole(patterns: tuple[str, ...], asked: str | None) -> None:
    access = Access(scopes=frozenset({"read"}), grant=Grant(read=patterns, tool_read=patterns))
    assert not make_scope(replace(OWNER, access=access), NOW, namespaces=asked).whole


# What a statement for a whole scope heeds as any other does.
HEEDED = {"caller", "now", "valid_at", "include_superseded"}


@pytest.mark.parametrize("narrower", [one.name for one in fields(Scope) if one.name not in HEEDED])
def test_no_field_of_a_scope_that_narrows_it_leaves_it_whole(narrower: str) -> None:
    narrowed: dict[str, Any] = {"namespaces": NamespaceScope(everything=False), "tags": TagFilter(any=()), "as_of": NOW}
    assert not replace(make_scope(OWNER, NOW), **{narrower: narrowed.get(narrower, ())}).whole


def test_a_scope_of_everything_but_what_is_foreign_is_not_whole() -> None:
    for narrowed in ({"foreign": ("a.",)}, {"exact": ("a",)}, {"own": ("a.",)}):
        assert not replace(make_scope(OWNER, NOW), namespaces=NamespaceScope(everything=True, **narrowed)).whole
