"""Namespaces: what is a path, and what a pattern matches, in Python and in SQL alike."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.db.statements import statements
from ebbtide.errors import InvalidInput
from ebbtide.govern.namespaces import NamespaceScope, check_namespace, read_scope
from ebbtide.types.caller import Caller

ANYBODY = Caller("default", "default")

SEGMENTS = st.sampled_from(
    ["a", "b", "ab", "a_b", "axb", "a%", "100%", "a-b", "é", "漢", "a\\b", "[a]", "(", "a+", "^", "ana"]
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=4).map(".".join)
PATTERNS = st.lists(st.one_of(SEGMENTS, st.just("*")), min_size=1, max_size=4).map(".".join)


def naive(pattern: list[str], path: list[str]) -> bool:
    """Segment by segment: a `*` is one or more of them."""
    if not pattern or not path:
        return pattern == path
    if pattern[0] != "*":
        return pattern[0] == path[0] and naive(pattern[1:], path[1:])
    return any(naive(pattern[1:], path[taken:]) for taken in range(1, len(path) + 1))


@given(pattern=PATTERNS, path=PATHS)
@example(pattern="vector.a.*", path="vector.ab")
@example(pattern="*.*", path="a.b")
def test_a_pattern_matches_whole_segments(pattern: str, path: str) -> None:
    assert read_scope(pattern, ANYBODY).covers(path) == naive(pattern.split("."), path.split("."))


@pytest.fixture
def named(owner: psycopg.Connection[Any]) -> Any:
    """Which of some paths the SQL of every read statement covers for a scope."""
    body = statements()["recall.shape"]
    condition = body[body.index("(%(everything)s") : body.index("),\n       (SELECT array_agg")]

    def covered(paths: list[str], scope: NamespaceScope) -> set[str]:
        rows = owner.execute(
            f"SELECT m.namespace FROM unnest(%(paths)s::text[]) AS m(namespace) WHERE {condition}",  # noqa: S608
            {
                "paths": paths,
                "everything": scope.everything,
                "exact": list(scope.exact),
                "prefixes": list(scope.prefixes),
                "expressions": list(scope.expressions),
                "foreign": list(scope.foreign),
                "own": list(scope.own),
            },
        )
        return {row[0] for row in rows}

    return covered


SCOPES = st.one_of(
    st.lists(PATTERNS, min_size=1, max_size=3).map(lambda patterns: read_scope(patterns, ANYBODY)),
    st.sampled_from(["ana", "a", "é", "a_b"]).map(lambda user: read_scope(None, Caller("t", "a", user=user))),
)
PATTERNED = st.lists(PATTERNS, min_size=1, max_size=3).map(lambda patterns: read_scope(patterns, ANYBODY))
PERSONAL = st.tuples(st.sampled_from(["vector.agent", "vector.user"]), PATHS).map(".".join)


@property_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=SCOPES, paths=st.lists(st.one_of(PATHS, PERSONAL), min_size=1, max_size=8))
def test_the_database_covers_what_the_scope_covers(named: Any, scope: NamespaceScope, paths: list[str]) -> None:
    assert named(paths, scope) == {path for path in paths if scope.covers(path)}


@given(one=PATTERNED, other=PATTERNED, paths=st.lists(PATHS, min_size=1, max_size=20))
def test_an_intersection_covers_what_both_scopes_cover(
    one: NamespaceScope, other: NamespaceScope, paths: list[str]
) -> None:
    both = {path for path in paths if one.covers(path) and other.covers(path)}
    assert {path for path in paths if one.intersect(other).covers(path)} == both
    assert {path for path in paths if other.intersect(one).covers(path)} == both


@property_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scopes=st.lists(PATTERNED, min_size=2, max_size=3),
    paths=st.lists(st.one_of(PATHS, PERSONAL), min_size=1, max_size=8),
)
def test_the_database_covers_an_intersection_alike(named: Any, scopes: list[NamespaceScope], paths: list[str]) -> None:
    both = scopes[0]
    for other in scopes[1:]:
        both = both.intersect(other)
    assert named(paths, both) == {path for path in paths if all(scope.covers(path) for scope in scopes)}


def test_nothing_is_left_of_scopes_that_share_nothing() -> None:
    left = read_scope(["vector.a", "vector.b.*"], ANYBODY).intersect(read_scope(["vector.a.*", "vector.c"], ANYBODY))
    assert left == NamespaceScope(everything=False)
    assert read_scope("*", ANYBODY).intersect(left) == left


def test_only_what_lies_below_a_pattern_is_read(memory: Ebbtide) -> None:
    paths = [
        "vector.acme",
        "vector.acme.x",
        "vector.acme.x.y",
        "vector.acme-corp.x",
        "vector.acmecorp",
        "vector.acmecorp.x",
    ]
    memory.remember_many([{"content": f"of {path}", "namespace": path} for path in paths])

    def read(*patterns: str) -> set[str]:
        hits = {hit.namespace for hit in memory.recall("of", namespaces=list(patterns), limit=50)}
        assert hits == {found.namespace for found in memory.browse(namespaces=list(patterns))}
        return hits

    assert read("vector.acme.*") == {"vector.acme.x", "vector.acme.x.y"}
    assert read("vector.acme") == {"vector.acme"}
    assert read("vector.acme", "vector.acme.*") == {"vector.acme", "vector.acme.x", "vector.acme.x.y"}
    assert read("vector.*.x") == {"vector.acme.x", "vector.acme-corp.x", "vector.acmecorp.x"}
    assert read("vector.*.y") == {"vector.acme.x.y"}
    assert read("*") == set(paths)
    assert read("*.x") == {"vector.acme.x", "vector.acme-corp.x", "vector.acmecorp.x"}
    assert read("vector.ACME.*") == set()


def test_signs_that_mean_something_to_sql_are_plain(memory: Ebbtide) -> None:
    paths = ["vector.a_b", "vector.axb", "vector.100%", "vector.100x", "vector.a\\b", "vector.[ab]", "vector.a+"]
    memory.remember_many([{"content": f"of {path}", "namespace": path} for path in paths])
    memory.remember_many([{"content": f"below {path}", "namespace": f"{path}.below"} for path in paths])
    for path in paths:
        assert {hit.namespace for hit in memory.recall("of", namespaces=path)} == {path}
        assert {hit.namespace for hit in memory.recall("of", namespaces=f"{path}.*")} == {f"{path}.below"}
        middle = path.replace("vector", "*")
        assert {hit.namespace for hit in memory.recall("of", namespaces=middle)} == {path}


@pytest.mark.parametrize(
    "path", ["", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\x00", "a*", "$a", "{a}", "x" * 501, "a\u3000b"]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_namespace(path)
    assert caught.value.field == "namespace"


@pytest.mark.parametrize("path", ["a", "vector.agent.ana.memory", "vector.漢字.é", "a_b.c%", "x" * 500])
def test_a_dotted_path_is_accepted(path: str) -> None:
    assert check_namespace(path) == path


UNSEEN = [
    "\u200b", "\u200d", "\u200e", "\u202e", "\u2060", "\u2066", "\ufeff", "\u00ad", "\u034f", "\ufe0f", "\u115f",
    "\u3164", "\u2800", "\U000e0041", "\U000e0100", "\u180e", "\x7f", "\x1b",
]  # fmt: skip


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_cannot_be_seen_is_in_no_name(memory: Ebbtide, unseen: str) -> None:
    name = f"an{unseen}a"
    for field in ("tenant", "agent", "user", "task", "chat", "session"):
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(**{field: name})
        assert caught.value.field == field
    for namespace in (f"vector.{name}", f"{name}.memory", f"vector.{name}.*"):
        with pytest.raises(InvalidInput) as caught:
            memory.recall("ferry", namespaces=namespace)
        assert caught.value.field == "namespaces"
    with pytest.raises(InvalidInput) as caught:
        memory.remember("ferry", namespace=f"vector.{name}")
    assert caught.value.field == "namespace"
    with pytest.raises(InvalidInput):
        memory.rules.add(f"vector.{name}", bonus=0.1)


@pytest.mark.parametrize("name", ["Zoë", "Łukasz", "日本", "ana-1_2", "محمد", "आनंद", "o'neil", "🦊"])
def test_names_in_any_script_are_names(memory: Ebbtide, name: str) -> None:
    told = memory.scoped(user=name).remember("ferry")
    assert told.memory is not None
    assert told.memory.namespace == f"vector.agent.{name}.memory"
