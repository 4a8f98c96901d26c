"""Filters as expressions: they say the same as objects, and the database finds what Python would."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import Ebbtide, Filter, where
from ebbtide.errors import InvalidInput
from ebbtide.read.filters import compile_filter

COMPARISONS = {
    "eq": lambda one, other: one == other,
    "ne": lambda one, other: one != other,
    "gt": lambda one, other: one > other,
    "gte": lambda one, other: one >= other,
    "lt": lambda one, other: one < other,
    "lte": lambda one, other: one <= other,
}
tenants = count()


def typed(condition: Any) -> Filter:
    """A condition as an expression."""
    if condition[0] == "test":
        _, key, operator, value = condition
        field = where(key)
        return {
            "eq": lambda: field == value,
            "ne": lambda: field != value,
            "gt": lambda: field > value,
            "gte": lambda: field >= value,
            "lt": lambda: field < value,
            "lte": lambda: field <= value,
            "in": lambda: field.one_of(value),
            "contains": lambda: field.contains(value),
            "exists": lambda: field.exists(value),
        }[operator]()
    if condition[0] == "not":
        return ~typed(condition[1])
    joined = typed(condition[1][0])
    for part in condition[1][1:]:
        joined = joined & typed(part) if condition[0] == "and" else joined | typed(part)
    return joined


def as_object(condition: Any) -> dict[str, Any]:
    """A condition as an object."""
    if condition[0] == "test":
        return {condition[1]: {condition[2]: condition[3]}}
    if condition[0] == "not":
        return {"not": as_object(condition[1])}
    return {condition[0]: [as_object(part) for part in condition[1]]}


def holds(condition: Any, metadata: Any) -> bool:
    """Whether a condition holds of some metadata, as the documentation says."""
    if condition[0] == "not":
        return not holds(condition[1], metadata)
    if condition[0] in ("and", "or"):
        return (all if condition[0] == "and" else any)(holds(part, metadata) for part in condition[1])
    _, key, operator, value = condition
    found: Any = metadata
    for step in key.split("."):
        found = found.get(step, ...) if isinstance(found, dict) else ...
    elements = [] if found is ... else found if isinstance(found, list) else [found]
    if operator == "exists":
        return value == any(element is not None for element in elements)
    if operator == "in":
        return any(compare("eq", element, one) for element in elements for one in value)
    if operator == "contains":
        inside = isinstance(found, str) and isinstance(value, str) and value in found
        return inside or any(compare("eq", element, value) for element in elements)
    return any(compare(operator, element, value) for element in elements)


def compare(operator: str, one: Any, other: Any) -> bool:
    """JSON's comparison: of one sort only, save that null is unequal to everything else."""
    sorts = [
        "null" if v is None else "truth" if isinstance(v, bool) else "text" if isinstance(v, str) else "number"
        for v in (one, other)
    ]
    if one is None and other is None:
        return operator in ("eq", "gte", "lte")
    if sorts[0] != sorts[1]:
        return operator == "ne" and "null" in sorts
    return COMPARISONS[operator](one, other)


keys = st.sampled_from(["a", "b", "deep.a", "deep.b.c"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([-0.5, 1.0, 1.5]),
    st.sampled_from(["", "a", "ab", "b%"]),
)
tests = st.one_of(
    st.tuples(st.just("test"), keys, st.sampled_from([*COMPARISONS, "contains"]), scalars),
    st.tuples(st.just("test"), keys, st.just("exists"), st.booleans()),
    st.tuples(st.just("test"), keys, st.just("in"), st.lists(scalars, min_size=1, max_size=3)),
)
conditions = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)),
        st.tuples(st.just("not"), inner),
    ),
    max_leaves=6,
)
values = scalars | st.lists(scalars, max_size=3)
documents = st.fixed_dictionaries(
    {},
    optional={
        "a": values,
        "b": values,
        "deep": values | st.fixed_dictionaries({}, optional={"a": values, "b": st.fixed_dictionaries({"c": values})}),
    },
)


@property_settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(condition=conditions, stored=st.lists(documents, min_size=3, max_size=6))
def test_an_expression_an_object_and_python_agree(memory: Ebbtide, condition: Any, stored: list[Any]) -> None:
    handle = memory.scoped(tenant=f"where{next(tenants)}")
    handle.remember_many([{"content": f"m{n}", "metadata": metadata} for n, metadata in enumerate(stored)])
    expected = {f"m{n}" for n, metadata in enumerate(stored) if holds(condition, metadata)}
    for form in (typed(condition), as_object(condition)):
        assert {found.content for found in handle.browse(where=form)} == expected


def test_an_expression_works_in_every_read(memory: Ebbtide) -> None:
    memory.remember("ferry one", metadata={"customer": 7, "tags": ["x"]}, importance=0.9, observed_at="2026-01-01")
    memory.remember("ferry two", metadata={"customer": 8, "city": "Bergen"})
    both = (where("customer") == 7) | (where("city").contains("erg") & ~where("importance").exists(False))
    assert {hit.content for hit in memory.recall("ferry", where=both)} == {"ferry one", "ferry two"}
    assert {found.content for found in memory.browse(where=where("observed_at") < "2026-02-01")} == {"ferry one"}
    assert [record["content"] for record in memory.export_records(where=where("customer") > 7)] == ["ferry two"]
    assert "ferry two" in memory.context("ferry", where=where("customer").one_of([8, 9])).text
    assert {found.content for found in memory.browse(where={"and": [both, {"customer": 8}]})} == {"ferry two"}


def test_a_comparison_may_stand_either_way_around() -> None:
    assert (7 == where("n")) == (where("n") == 7) == Filter({"n": {"eq": 7}})  # noqa: SIM300
    assert (3 < where("n")) == (where("n") > 3)  # noqa: SIM300


def test_a_long_chain_stays_one_list() -> None:
    chain = where("n") == 0
    for number in range(1, 200):
        chain |= where("n") == number
    assert len(chain.form["or"]) == 200
    assert compile_filter(chain) is not None


def test_a_word_that_joins_is_a_key_of_the_metadata(memory: Ebbtide) -> None:
    memory.remember("x", metadata={"and": 1, "not": 2})
    assert len(memory.browse(where=(where("and") == 1) & (where("not") == 2))) == 1


def test_and_or_and_not_of_the_language_are_refused() -> None:
    one, other = where("a") == 1, where("b") == 2
    for wrong in (lambda: one and other, lambda: one or other, lambda: not one, lambda: 1 < where("a") < 3):
        with pytest.raises(InvalidInput) as caught:
            wrong()
        assert caught.value.field == "where"
        assert "&" in (caught.value.remedy or "")
    anything: Any = one
    for wrong in (lambda: anything & True, lambda: anything | {"b": 2}, lambda: where(anything)):
        with pytest.raises(InvalidInput):
            wrong()


@pytest.mark.parametrize(
    "condition",
    [
        where("a") == {"b": 1},
        where("a") > float("inf"),
        where("a").one_of([]),
        where("a").one_of("ab"),
        where("") == 1,
        where("a..b") == 1,
        where("a") == "\0",
        where("observed_at") > 5,
    ],
)
def test_a_malformed_expression_is_refused_as_an_object_is(memory: Ebbtide, condition: Filter) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.browse(where=condition)
    assert (caught.value.field or "").startswith("where")
