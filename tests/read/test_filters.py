"""The filter language: every operator on every kind of field, nesting, refusals, and texts that try to be more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import Ebbtide, TagFilter
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput
from ebbtide.read.filters import CLOCKS, compile_filter
from tests.stores import START


@pytest.fixture
def filtered(memory: Ebbtide, clock: FixedClock) -> Any:
    """Which of three memories a filter leaves, by recall and by browse alike."""
    ana = memory.scoped(user="ana", task="t1", chat="c1", session="s1")
    ana.remember(
        "ferry one", namespace="v.x", kind="howto", labels=["factual"], tags=["a", "b"], importance=0.9, confidence=0.2,
        subject="Ana", predicate="likes", speaker="Ana", seq=3, observed_at="2026-01-01", valid_from="2026-01-02",
        expires_at="2027-01-01",
        metadata={
            "city": "Bergen", "nights": 3, "paid": True, "list": ["x", "y"], "deep": {"er": {"n": 1.5}}, "null": None,
        },
    )  # fmt: skip
    clock.advance(timedelta(days=1))
    memory.remember(
        "ferry two",
        namespace="v.x",
        tags=["b", "c"],
        labels=["episodic", "factual"],
        metadata={"city": "Oslo", "nights": 10},
    )
    clock.advance(timedelta(days=1))
    three = memory.remember("ferry three", namespace="v.x", importance=0.1, observed_at="2026-02-01").memory
    memory.revise(
        three.id, "ferry three", kind="note", metadata={"nights": "3", "odd key": 1, 'quo"te': 2, "$.city": 3}
    )

    def left(**narrowed: Any) -> set[str]:
        recalled = {hit.content.split()[1] for hit in memory.recall("ferry", **narrowed)}
        browsed = {found.content.split()[1] for found in memory.browse(**narrowed)}
        assert recalled == browsed
        return recalled

    return left


ONE_TWO_THREE = {"one", "two", "three"}


def test_kinds_labels_and_tags(filtered: Any) -> None:
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, ONE_TWO_THREE),
        ({"kinds": "howto"}, {"one"}),
        ({"kinds": ["howto", "note"]}, {"one", "three"}),
        ({"kinds": []}, ONE_TWO_THREE),
        ({"labels": ["factual"]}, {"one", "two"}),
        ({"labels": "episodic, unheard-of"}, {"two"}),
        ({"tags": ["b"]}, {"one", "two"}),
        ({"tags": "b, c"}, {"two"}),
        ({"tags": ["a", "c"]}, set()),
        ({"tags": {"any": ["a", "c"]}}, {"one", "two"}),
        ({"tags": {"all": "a, b"}}, {"one"}),
        ({"tags": {"none": ["a"]}}, {"two", "three"}),
        ({"tags": {"exact": ["b", "a"]}}, {"one"}),
        ({"tags": {"exact": ["b"]}}, set()),
        ({"tags": {"exact": []}}, {"three"}),
        ({"tags": {"any": ["b"], "none": ["c"]}}, {"one"}),
        ({"tags": TagFilter(any=("c",))}, {"two"}),
        ({"tags": ["B"]}, set()),
        ({"kinds": ["fact"], "tags": ["b"], "labels": ["episodic"]}, {"two"}),
    ]
    for narrowed, expected in cases:
        assert filtered(**narrowed) == expected, narrowed


def test_metadata_by_every_operator(filtered: Any) -> None:
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"city": "Bergen"}, {"one"}),
        ({"metadata.city": "Bergen"}, {"one"}),
        ({"city": {"eq": "Oslo"}}, {"two"}),
        ({"city": {"ne": "Oslo"}}, {"one"}),
        ({"city": {"in": ["Oslo", "Bergen"]}}, {"one", "two"}),
        ({"city": {"contains": "erg"}}, {"one"}),
        ({"city": {"contains": ".*"}}, set()),
        ({"city": {"contains": "ERG"}}, set()),
        ({"city": {"exists": True}}, {"one", "two"}),
        ({"city": {"exists": False}}, {"three"}),
        ({"nights": 3}, {"one"}),
        ({"nights": "3"}, {"three"}),
        ({"nights": {"gt": 3}}, {"two"}),
        ({"nights": {"gte": 3}}, {"one", "two"}),
        ({"nights": {"lt": 10}}, {"one"}),
        ({"nights": {"lte": 10, "gt": 3}}, {"two"}),
        ({"paid": True}, {"one"}),
        ({"paid": {"ne": False}}, {"one"}),
        ({"list": {"contains": "x"}}, {"one"}),
        ({"list": {"contains": "z"}}, set()),
        ({"list": "y"}, {"one"}),
        ({"deep.er.n": 1.5}, {"one"}),
        ({"deep.er.n": {"gt": 1}}, {"one"}),
        ({"deep.er": {"exists": True}}, {"one"}),
        ({"null": {"exists": False}}, ONE_TWO_THREE),
        ({"odd key": 1}, {"three"}),
        ({'quo"te': 2}, {"three"}),
        ({"nowhere.at.all": 1}, set()),
        ({"city": "Bergen", "nights": 10}, set()),
    ]
    for where, expected in cases:
        assert filtered(where=where) == expected, where


def test_fields_of_the_memory(filtered: Any) -> None:
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"importance": {"gte": 0.5}}, {"one", "two"}),
        ({"confidence": {"lt": 0.5}}, {"one"}),
        ({"user": "ana"}, {"one"}),
        ({"user": {"exists": False}}, {"two", "three"}),
        ({"task": "t1", "chat": "c1", "session": "s1"}, {"one"}),
        ({"speaker": "Ana"}, {"one"}),
        ({"subject": {"contains": "An"}, "predicate": "likes"}, {"one"}),
        ({"seq": {"gte": 3}}, {"one"}),
        ({"maturity": "unconfirmed"}, ONE_TWO_THREE),
        ({"revision": 2}, {"three"}),
    ]
    for where, expected in cases:
        assert filtered(where=where) == expected, where


def test_every_clock(filtered: Any, memory: Ebbtide) -> None:
    day = timedelta(days=1)
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"created_at": START}, {"one"}),
        ({"created_at": {"gt": START}}, {"two", "three"}),
        ({"created_at": {"gte": "2026-03-03", "lt": "2026-03-04"}}, {"two"}),
        ({"updated_at": {"gte": (START + 2 * day).isoformat()}}, {"three"}),
        ({"observed_at": {"lt": "2026-02-01"}}, {"one"}),
        ({"observed_at": {"lte": "2026-02-01"}}, {"one", "three"}),
        ({"observed_at": {"exists": True}}, {"one", "three"}),
        ({"observed_at": {"in": ["2026-01-01", "2026-02-01"]}}, {"one", "three"}),
        ({"valid_from": {"eq": "2026-01-02T00:00:00Z"}}, {"one"}),
        ({"expires_at": {"exists": True}}, {"one"}),
        ({"invalidated_at": {"exists": True}}, set()),
        ({"last_mentioned_at": {"exists": False}}, ONE_TWO_THREE),
    ]
    for where, expected in cases:
        assert filtered(where=where) == expected, where
    for clock in CLOCKS:
        for value in ("2026", 5, None, "2026-01-01T00:00:00"):
            with pytest.raises(InvalidInput) as caught:
                memory.browse(where={clock: {"gt": value}})
            assert (caught.value.field or "").startswith("where")


def test_a_moment_is_compared_to_the_microsecond(memory: Ebbtide) -> None:
    moment = START.replace(microsecond=123457)
    memory.remember("ferry", observed_at=moment)
    assert len(memory.browse(where={"observed_at": moment})) == 1
    assert len(memory.browse(where={"observed_at": {"gt": moment}})) == 0
    assert len(memory.browse(where={"observed_at": {"gt": moment - timedelta(microseconds=1)}})) == 1


def test_and_or_and_not_nest(filtered: Any) -> None:
    bergen, oslo = {"city": "Bergen"}, {"city": "Oslo"}
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"and": [bergen, {"nights": 3}]}, {"one"}),
        ({"and": [bergen, oslo]}, set()),
        ({"or": [bergen, oslo]}, {"one", "two"}),
        ({"not": bergen}, {"two", "three"}),
        ({"not": {"or": [bergen, oslo]}}, {"three"}),
        ({"not": {"not": bergen}}, {"one"}),
        ({"or": [{"not": {"city": {"exists": True}}}, {"and": [oslo, {"nights": {"gt": 5}}]}]}, {"two", "three"}),
        ({"not": {"nights": {"gt": 3}}}, {"one", "three"}),
        ({"not": {"nowhere": 1}}, ONE_TWO_THREE),
        ({"or": [bergen], "nights": 3}, {"one"}),
    ]
    for where, expected in cases:
        assert filtered(where=where) == expected, where


@pytest.mark.parametrize(
    "where",
    [
        {},
        [],
        "city = 'Bergen'",
        5,
        {"city": {}},
        {"city": {"like": "B%"}},
        {"city": {"$gt": 1}},
        {"city": {"in": []}},
        {"city": {"in": "Bergen"}},
        {"city": {"exists": "yes"}},
        {"city": [1, 2]},
        {"city": {"eq": {"a": 1}}},
        {"city": {"gt": float("nan")}},
        {"city": "a\0"},
        {"city": "\ud800"},
        {"\ud800": 1},
        {"a..b": 1},
        {"": 1},
        {"and": []},
        {"and": {}},
        {"or": "x"},
        {"or": [{}]},
        {"not": []},
        {"not": {}},
        {"and": [5]},
        {"x": {"in": list(range(5000))}},
    ],
)
def test_a_malformed_filter_is_refused(memory: Ebbtide, where: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.browse(where=where)
    assert (caught.value.field or "").startswith("where")
    assert caught.value.remedy


def test_a_filter_nests_only_so_deep(memory: Ebbtide) -> None:
    where: dict[str, Any] = {"a": 1}
    for _ in range(25):
        where = {"not": where}
    with pytest.raises(InvalidInput):
        memory.browse(where=where)


ATTACKS = [
    "' OR 1=1 --",
    '" || true || "',
    '") || (1==1',
    "$v0",
    "$.metadata",
    "@",
    "%(tenant)s",
    "%s",
    "\\",
    '\\"',
    "\\u0022 || true",
    "*",
    "**",
    "like_regex",
    ".type()",
    "a'b\"c`d;e",
    "{{readable}}",
    "\u2028",
    "🙂",
    "{0}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_text_in_a_filter_is_a_text(memory: Ebbtide, attack: str) -> None:
    memory.remember("plain", metadata={"city": "Bergen", "other": 1})
    marked = memory.remember("marked", metadata={"city": f"x{attack}y", f"k{attack}".replace(".", ""): "v"}).memory.id
    key = f"k{attack}".replace(".", "")
    for where in (
        {"city": f"x{attack}y"},
        {"city": {"contains": attack}},
        {"city": {"in": [f"x{attack}y"]}},
        {key: "v"},
    ):
        assert [found.id for found in memory.browse(where=where)] == [marked], where
    assert len(memory.browse(where={"not": {"city": {"contains": attack}}})) == 1
    assert memory.browse(where={"city": attack}) == []


KEYS = st.sampled_from(["n", "s", "deep.n", "importance", "absent"])
VALUES = st.one_of(st.integers(-2, 2), st.sampled_from(["", "a", "ab"]), st.booleans(), st.floats(-2, 2))
TESTS = st.one_of(
    VALUES,
    st.tuples(st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte"]), VALUES).map(lambda pair: {pair[0]: pair[1]}),
    st.booleans().map(lambda present: {"exists": present}),
    st.lists(VALUES, min_size=1, max_size=3).map(lambda values: {"in": values}),
)
FILTERS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.dictionaries(KEYS, TESTS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=6,
)


@property_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=FILTERS)
def test_a_filter_and_its_negation_part_the_store(memory: Ebbtide, where: dict[str, Any]) -> None:
    if not memory.browse():
        memory.remember_many(
            [{"content": f"m{n}", "metadata": {"n": n, "s": "ab"[:n], "deep": {"n": -n}}} for n in range(3)]
            + [{"content": "bare", "importance": 0.0}, {"content": "other", "metadata": {"n": "a", "s": True}}]
        )
    chosen = {found.id for found in memory.browse(where=where)}
    others = {found.id for found in memory.browse(where={"not": where})}
    assert not chosen & others
    assert chosen | others == {found.id for found in memory.browse()}
    assert {found.id for found in memory.browse(where={"not": {"not": where}})} == chosen
    assert compile_filter(where) == compile_filter(where)
