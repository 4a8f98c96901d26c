"""Values that nobody should give: every one is refused with its field and a remedy, and none is shown in full."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from ebbtide import Ebbtide, TagFilter, reciprocal_rank_fusion, relevance
from ebbtide.checks import check_vector, check_word
from ebbtide.errors import EbbtideError, InvalidInput, InvalidProfile
from ebbtide.identifiers import new_id, parse_id
from ebbtide.rank.profile import parse_profile
from ebbtide.read.filters import compile_filter
from ebbtide.text import is_blank, shown

HUGE = 10**5_000


def nested(depth: int = 100_000) -> list[Any]:
    """A list in a list in a list …"""
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


class Unspeakable:
    """Every way to look at it fails."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__


# By name, since the test runner shows what a test is given.
ODD: dict[str, Any] = {
    "huge": HUGE,
    "hugely negative": -HUGE,
    "nested": nested(),
    "unspeakable": Unspeakable(),
    "array": np.zeros(3),
    "bytes": b"x",
    "surrogate": "\ud800",
    "long": "x" * 10_000,
    "infinite": 1e999,
    "true": True,
    "nested object": {"a": nested()},
    "type": object,
}

NO_VECTORS: dict[str, Any] = ODD | {
    "none": None,
    "huge number": [HUGE, 1.0],
    "words": ["a", "b"],
    "matrix": [[1.0, 2.0], [3.0, 4.0]],
    "nested number": [nested(), 1.0],
    "endless": range(10**9),
}


def test_any_value_can_be_quoted() -> None:
    assert {name: shown(value) for name, value in ODD.items()} == {
        "huge": "so large a number",
        "hugely negative": "so large a number",
        "nested": "a value of type list",
        "unspeakable": "a value of type Unspeakable",
        "array": "a value of type ndarray",
        "bytes": "a value of type bytes",
        "surrogate": r"'\ud800'",
        "long": repr("x" * 60),
        "infinite": "inf",
        "true": "True",
        "nested object": "a value of type dict",
        "type": "a value of type type",
    }


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_id_is_refused(odd: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_id(ODD[odd], "memory_id")
    assert caught.value.field == "memory_id"
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_known_word_is_refused(odd: str) -> None:
    with pytest.raises(InvalidInput, match="Use one of fact, note") as caught:
        check_word(ODD[odd], "kind", ("fact", "note"), "a kind of memory")
    assert caught.value.field == "kind"


@pytest.mark.parametrize("odd", NO_VECTORS)
def test_what_is_no_vector_is_refused(odd: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_vector(NO_VECTORS[odd], 2, "vector")
    assert caught.value.field == "vector"


def test_a_vector_is_given_length_one() -> None:
    assert check_vector((3, 4), 2, "vector").tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("year", [1, 1969, 1970, 9999])
def test_every_year_has_ids(year: int) -> None:
    moment = datetime(year, 1, 1, tzinfo=UTC)
    first, second = new_id(moment), new_id(moment)
    assert (first.version, first.variant) == (7, second.variant)
    assert first < second


@pytest.mark.parametrize("text", ["\u2800", "\u3164\u115f", "\u1160 \uffa0", "\u200b"])
def test_fillers_show_nothing(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}a")


def asks(memory: Any) -> dict[str, Any]:
    """One call for each argument that takes a value from outside."""
    some = memory.remember("The harbour channel is 77.").memory
    assert some is not None
    return {
        "kind": lambda value: memory.remember("x", kind=value),
        "supersedes": lambda value: memory.remember("x", supersedes=value),
        "vector": lambda value: memory.remember("x", vector=value),
        "metadata": lambda value: memory.remember("x", metadata={value: 1} if isinstance(value, str | int) else value),
        "limit": lambda value: memory.recall("x", limit=value),
        "kinds": lambda value: memory.recall("x", kinds=[value]),
        "namespaces": lambda value: memory.recall("x", namespaces=[value]),
        "tags": lambda value: memory.recall("x", tags={"any": [value]}),
        "where": lambda value: memory.recall("x", where={"customer": {"gt": [value]}}),
        "operator": lambda value: memory.recall("x", where={"customer": {"no": value}}),
        "key": lambda value: memory.recall(
            "x", where={value: {"exists": 1}} if isinstance(value, str | int) else value
        ),
        "profile": lambda value: memory.recall("x", profile=value),
        "trace": lambda value: memory.recall("x", trace=value if value is not True else 1),
        "min_score": lambda value: memory.recall("x", min_score=value),
        "as_of": lambda value: memory.recall("x", as_of=value),
        "query": lambda value: memory.recall([value]),
        "memory_id": lambda value: memory.get(value),
        "after": lambda value: memory.browse(after=value),
        "browse.limit": lambda value: memory.browse(limit=value),
        "expected_revision": lambda value: memory.revise(some.id, "y", expected_revision=value),
        "status": lambda value: memory.jobs.list(value),
        "job": lambda value: memory.jobs.retry(value),
        "everything": lambda value: memory.jobs.list(everything=value if value is not True else 1),
        "action": lambda value: memory.audit.entries(action=value),
        "mode": lambda value: memory.rules.set_personal_data(value),
        "rule": lambda value: memory.rules.add("vector.x", default_kind=value),
        "saved": lambda value: memory.profiles.save({"name": "own", "law": value}),
        "rating": lambda value: memory.feedback(some.id, value),
        "succeeded": lambda value: memory.record_run("x", "y", succeeded=value if value is not True else 1),
        "allow_pending": lambda value: memory.remember("x", allow_pending=value if value is not True else 1),
        "task": lambda value: memory.record_run("x", "y", task=value),
        "chat": lambda value: memory.record_run("x", "y", chat=value),
        "released": lambda value: memory.holds.list(released=value if value is not True else 1),
        "held": lambda value: memory.holds.place(value, reason="x"),
        "reason": lambda value: memory.holds.place(user="ana", reason=value),
        "filter": lambda value: memory.forget_where(value),
        "ids": lambda value: memory.forget_where(ids=value),
        "dry_run": lambda value: memory.forget_where(ids=[some.id], dry_run=value if value is not True else 1),
        "confirm": lambda value: memory.erase_tenant(confirm=value),
        "token": lambda value: memory.forget_where(ids=[some.id], dry_run=False, token=value),
    }


def test_no_verb_breaks_on_an_odd_value(memory: Ebbtide) -> None:
    broken: list[str] = []
    for name, ask in asks(memory).items():
        for value in ODD.values():
            try:
                ask(value)
                broken.append(f"{name} took {shown(value)}")
            except EbbtideError as error:
                if len(str(error)) > 600 or error.remedy is None or error.field is None:
                    broken.append(f"{name} of {shown(value)}: {error}")
            except Exception as error:  # noqa: BLE001 - what is sought
                broken.append(f"{name} of {shown(value)}: {type(error).__name__} {str(error)[:80]}")
    assert broken == []


def test_what_is_no_filter_is_not_taken_for_none(memory: Ebbtide) -> None:
    memory.remember("The harbour channel is 77.", kind="note")
    for value in (0, "", [], False, np.zeros(3), np.zeros(0)):
        given: Any = value
        with pytest.raises(InvalidInput):
            memory.forget_where(given, kinds="note")
        with pytest.raises(InvalidInput):
            memory.holds.place(given, user="ana", reason="a case")


@pytest.mark.parametrize("tag", ["a\0", "x" * 201, "\ud800", 5, None, b"x"])
def test_a_tag_filter_that_was_made_elsewhere_is_checked_like_any(memory: Ebbtide, tag: Any) -> None:
    for tags in (TagFilter.model_construct(any=(tag,)), {"any": [tag]}):
        given: Any = tags
        for ask in (partial(memory.recall, "x"), memory.browse, memory.forget_where):
            with pytest.raises(InvalidInput) as caught:
                ask(tags=given)
            assert str(caught.value.field).startswith("tags")


def test_a_tag_filter_means_the_same_as_its_object(memory: Ebbtide) -> None:
    memory.remember("The harbour channel is 77.", tags=["radio"])
    memory.remember("The harbour café opens at nine.", tags=["food"])
    for name, tag in (("any", "radio"), ("all", "radio"), ("none", "food"), ("exact", "radio")):
        answers = [memory.browse(tags=tags) for tags in (TagFilter(**{name: (f" {tag} ",)}), {name: [tag]})]
        assert [[one.content for one in answer] for answer in answers] == [["The harbour channel is 77."]] * 2


def test_endless_ids_are_not_waited_for(memory: Ebbtide) -> None:
    endless: Any = repeat(new_id(datetime(2026, 1, 1, tzinfo=UTC)))
    with pytest.raises(InvalidInput) as caught:
        memory.forget_where(ids=endless)
    assert caught.value.field == "ids"


@pytest.mark.parametrize("token", ["1-\ud800", "99999999999-\udfff", "9" * 11 + "-" + "\0" * 64, "-", "1" * 5_000])
def test_a_token_of_odd_letters_is_refused(memory: Ebbtide, token: str) -> None:
    some = memory.remember("The harbour channel is 77.").memory
    assert some is not None
    with pytest.raises(EbbtideError) as caught:
        memory.forget_where(ids=[some.id], dry_run=False, token=token)
    assert caught.value.field == "token"
    assert memory.get(some.id).revision == some.revision


@pytest.mark.parametrize("odd", [name for name in ODD if name not in ("surrogate", "long")])
def test_a_store_is_not_opened_with_odd_parts(odd: str) -> None:
    for field in ("settings", "clock", "embedder", "reranker"):
        given: dict[str, Any] = {field: ODD[odd]}
        with pytest.raises(InvalidInput) as caught:
            Ebbtide.open("postgresql://nobody@127.0.0.1:1/none", **given)
        assert caught.value.field == field


def test_a_moment_that_no_calendar_has_in_utc_is_not_imported(memory: Ebbtide) -> None:
    late = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
    with pytest.raises(InvalidInput) as caught:
        memory.import_records([{"content": "The harbour channel is 77.", "observed_at": late}])
    assert caught.value.field == "line 1"


def test_a_reason_that_shows_nothing_is_none(memory: Ebbtide) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.holds.place(user="ana", reason="\u200b\u2800")
    assert caught.value.field == "reason"


@pytest.mark.parametrize("argument", ["foo", "trace", "asked_at", "trial"])
def test_an_unknown_argument_is_named(memory: Ebbtide, argument: str) -> None:
    some = memory.remember("The harbour channel is 77.").memory
    assert some is not None
    given: dict[str, Any] = {argument: True}
    asks = (
        lambda: memory.context("x", **given),
        lambda: memory.explain("x", some.id, **given),
        lambda: memory.browse(**given),
        lambda: memory.revise(some.id, "y", **given),
        lambda: list(memory.export_records(**given)),
        lambda: memory.rules.preview({"pattern": "vector.*"}, "x", **given),
    )
    for ask in asks:
        with pytest.raises(InvalidInput, match=argument) as caught:
            ask()
        assert caught.value.field == argument


def test_at_most_so_many_patterns_are_read(memory: Ebbtide) -> None:
    memory.recall("x", namespaces=[f"vector.a{n}" for n in range(200)])
    with pytest.raises(InvalidInput, match="201 patterns"):
        memory.recall("x", namespaces=[f"vector.a{n}" for n in range(201)])


@pytest.mark.parametrize("odd", ODD)
def test_a_single_item_is_scored_by_nothing_odd(odd: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        relevance("ontheia", similarity=ODD[odd])
    assert caught.value.field == "similarity"
    with pytest.raises(InvalidInput):
        relevance(ODD[odd], similarity=0.5)
    with pytest.raises(InvalidInput):
        reciprocal_rank_fusion([["a"]], k=ODD[odd])


@pytest.mark.parametrize("odd", [name for name in ODD if name not in ("long", "surrogate")])
def test_labels_and_bonuses_that_are_none_are_refused(odd: str) -> None:
    given: dict[str, Any] = {"labels": [ODD[odd]], "bonuses": [ODD[odd], math.nan]}
    for field, value in given.items():
        with pytest.raises(InvalidInput) as caught:
            relevance("ontheia", similarity=0.5, **{field: value})
        assert caught.value.field == field


@pytest.mark.parametrize("field", ["labels", "bonuses"])
def test_endless_labels_and_bonuses_are_not_waited_for(field: str) -> None:
    given: dict[str, Any] = {field: repeat("a" if field == "labels" else 0.1)}
    with pytest.raises(InvalidInput, match="at most 1,000") as caught:
        relevance("ontheia", similarity=0.5, **given)
    assert caught.value.field == field


@pytest.mark.parametrize("bonuses", [[1e308, 1e308], [1e308, 1e308, -1e308, -1e308], [-1e308] * 3])
def test_bonuses_that_no_number_can_hold_are_refused(bonuses: list[float]) -> None:
    with pytest.raises(InvalidInput, match="finite") as caught:
        relevance("ontheia", similarity=0.5, bonuses=bonuses)
    assert caught.value.field == "bonuses"


NO_LISTS: dict[str, Any] = {
    "none": None,
    "number": 3,
    "text": "ab",
    "bytes": b"ab",
    "object": {"a": 1},
    "type": object,
    "generator": iter([["a"]]),
    "a number as a list": [["a"], 7],
    "none as a list": [None],
    "text as a list": ["ab"],
    "lists as items": [["a", ["b"]]],
    "objects as items": [[{"id": 1}]],
    "endless": [range(10**9)],
    "endlessly many": range(10**9),
}


@pytest.mark.parametrize("odd", NO_LISTS)
def test_what_are_no_rankings_is_not_fused(odd: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        reciprocal_rank_fusion(NO_LISTS[odd])
    assert caught.value.field == "lists"


def test_true_is_no_number_to_fuse_with() -> None:
    with pytest.raises(InvalidInput) as caught:
        reciprocal_rank_fusion([["a"]], k=True)
    assert caught.value.field == "k"


@pytest.mark.parametrize("odd", ["text", 3, {"\ud800": 1}])
def test_what_is_no_profile_is_named_so(odd: Any) -> None:
    with pytest.raises(InvalidProfile) as caught:
        parse_profile(odd)
    assert caught.value.field == "profile"


def test_a_single_item_is_scored_by_a_profile_as_a_mapping() -> None:
    plain = {"name": "plain", "law": "sum", "factors": [{"factor": "similarity", "weight": 2}]}
    assert relevance(plain, similarity=0.8).value == pytest.approx(0.8)
    with pytest.raises(InvalidProfile, match="law"):
        relevance({"name": "plain"}, similarity=0.8)


@pytest.mark.parametrize(
    ("factor", "field"),
    [
        ({"factor": "similarity", "weight": 1e7}, "factors.0.weight"),
        ({"factor": "similarity", "weight": 1e308}, "factors.0.weight"),
        ({"factor": "similarity", "weight": float("nan")}, "factors.0.weight"),
        ({"factor": "similarity", "weight": HUGE}, "factors.0.weight"),
        ({"factor": "half_life_recency", "weight": 1, "half_life_days": 1e308}, "factors.0.half_life_days"),
        ({"factor": "half_life_recency", "weight": 1, "half_life_days": 1e-9}, "factors.0.half_life_days"),
        ({"factor": "e_folding_recency", "weight": 1, "days": 1e7}, "factors.0.days"),
        ({"factor": "label_recency", "weight": 1, "half_lives": {"a\0": 3}}, "factors.0.half_lives.a\0.[key]"),
        (
            {"factor": "label_recency", "weight": 1, "half_lives": {"\ud800": 3}},
            "factors.0.half_lives.\ufffd\ufffd\ufffd.[key]",
        ),
        ({"factor": "label_recency", "weight": 1, "half_lives": {"a": 1e9}}, "factors.0.half_lives.a"),
        ({"factor": "similarity", "weight": 1, "name": "a\0"}, "factors.0.name"),
    ],
)
def test_numbers_no_law_can_bear_are_refused(factor: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidProfile) as caught:
        parse_profile({"name": "own", "law": "sum", "factors": [factor]})
    assert caught.value.field == field


def test_the_widest_numbers_are_borne() -> None:
    factors = [
        {"factor": "similarity", "weight": 1e6},
        {"factor": "half_life_recency", "weight": 1e-300, "half_life_days": 1e6},
    ]
    parse_profile({"name": "own", "law": "sum", "factors": factors})


@pytest.mark.parametrize("path", ['metadata."opening.hours"', '"opening.hours"'])
def test_a_key_with_a_dot_is_reached_in_quotation_marks(memory: Ebbtide, path: str) -> None:
    memory.remember("The kiosk opens at nine.", metadata={"opening.hours": 9, 'a"b': {"c.d": "e"}})
    memory.remember("The kiosk opens at eight.", metadata={"opening": {"hours": 8}})
    assert [hit.content for hit in memory.recall("kiosk", where={path: 9})] == ["The kiosk opens at nine."]
    assert [hit.content for hit in memory.recall("kiosk", where={"opening.hours": 8})] == ["The kiosk opens at eight."]
    assert len(memory.recall("kiosk", where={r'"a\"b"."c.d"': "e"}).hits) == 1


@pytest.mark.parametrize("path", ['"a', 'a"."', '""', '"a"b', "a..b", ".a", "a.", r'"\x"'])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="is not a path"):
        compile_filter({path: 1})


def test_a_filter_stays_small() -> None:
    doubled: dict[str, Any] = {"a": 1}
    for _ in range(15):
        doubled = {"not": doubled}
    compiled = compile_filter(doubled)
    assert compiled is not None
    assert len(compiled.path) < 200
    with pytest.raises(InvalidInput, match="too many values"):
        compile_filter({"a": {"in": list(range(1_001))}})


@pytest.mark.parametrize("odd", [name for name in ODD if name not in ("long", "true")])
@pytest.mark.parametrize("operator", ["eq", "gt", "in", "contains", "exists"])
def test_what_cannot_be_compared_with_is_refused(memory: Ebbtide, odd: str, operator: str) -> None:
    for operand in (ODD[odd], [ODD[odd]], [1, [ODD[odd]]]):
        for name in ("customer", "importance", "created_at"):
            with pytest.raises(InvalidInput) as caught:
                memory.recall("x", where={name: {operator: operand}})
            assert str(caught.value.field).startswith("where")
            assert len(str(caught.value)) < 300
