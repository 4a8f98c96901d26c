"""Texts and dates that broke other memory systems: any script, odd characters, odd sizes, long prompts."""

from __future__ import annotations

import random
import string
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput
from ebbtide.text import is_blank
from tests.conftest import Opener

FOUND_BY_WORD = [
    ("外币汇率换算表", "汇率"),
    ("go 部署 deployment", "部署"),
    ("重要な会議は東京で行われます", "会議"),
    ("カタカナのメニュー", "メニュー"),
    ("서울에서 회의가 있습니다", "회의"),
    ("ประชุมที่กรุงเทพวันจันทร์", "กรุงเทพ"),
    ("ການປະຊຸມທີ່ວຽງຈັນ", "ວຽງຈັນ"),
    ("اجتماع مهم في القاهرة", "القاهرة"),
    ("पुणे में बैठक सोमवार को है", "बैठक"),
    ("פגישה חשובה בתל אביב", "פגישה"),
    ("Встреча в Москве в понедельник", "Москве"),
    ("Η συνάντηση στην Αθήνα", "Αθήνα"),
    ("Das Straßenfest in Zürich", "zurich"),
    ("Le café près de l'église", "eglise"),
    ("Cuộc họp ở Hà Nội", "ha noi"),
    ("🎉🎂", "🎂"),
    ("👩‍👩‍👧 family", "👩‍👩‍👧"),
    ("★★★ 重要", "★"),
    ("ﬁle and ﬂow", "file"),
    ("Ｆｕｌｌ　ｗｉｄｔｈ", "full"),
    ("call 0041-44-6681800", "6681800"),
    ("see docs/setup/install.md", "install"),
    ("user_name=alice", "alice"),
    ("e\u0301te\u0301", "\u00e9t\u00e9"),
    ("𝔊𝔬𝔱𝔥𝔦𝔠", "gothic"),
    ("C++ and C# and .NET", "NET"),
    ("𠮷野家で食べた", "𠮷野"),
    ("中", "中"),
    ("中文", "中"),
]


@pytest.mark.parametrize(("content", "query"), FOUND_BY_WORD)
def test_a_word_in_any_script_is_found_by_full_text(open_store: Opener, content: str, query: str) -> None:
    memory = open_store(embedder=None)
    memory.remember_many([content, "something else entirely", "另外一件事", "quelque chose"])
    answer = memory.recall(query)
    assert [hit.content for hit in answer][:1] == [content]
    assert answer[0].source == "full_text"


REFUSED = [
    "",
    " ",
    "\n\t\u3000\u2003",
    "\u200f\u200e",
    "\u200b\ufeff",
    "\u0301\u0301",
    "a\0b",
    "\ud800",
    "a\udfff",
    "x" * 100_001,
]


@pytest.mark.parametrize("content", REFUSED)
def test_what_cannot_be_kept_is_refused_clearly(memory: Ebbtide, content: str) -> None:
    for verb in (memory.remember, memory.recall, memory.context):
        with pytest.raises(InvalidInput) as caught:
            verb(content)
        assert caught.value.field in ("content", "query")
        assert caught.value.remedy


def characters(seed: int, ranges: list[tuple[int, int]], count: int) -> str:
    chosen = random.Random(seed)
    return "".join(chr(chosen.randint(*chosen.choice(ranges))) for _ in range(count))


LETTERS = [f"{first}{second}" for first in string.ascii_lowercase for second in string.ascii_lowercase]
LARGE = {
    "one letter": "a" * 100_000,
    "one ideograph": "漢" * 100_000,
    "one emoji": "🙂" * 100_000,
    "ideographs": characters(1, [(0x4E00, 0x9FFF)], 100_000),
    "rare ideographs": characters(4, [(0x20000, 0x2A6DF)], 100_000),
    "compounds": " ".join(f"{first}-{second}" for first in LETTERS for second in LETTERS)[:100_000],
    "hangul": characters(2, [(0xAC00, 0xD7A3)], 100_000),
    "symbols": characters(3, [(0x2600, 0x26FF), (0x1F300, 0x1F5FF)], 100_000),
    "words": " ".join(f"w{number}" for number in range(15_000)),
    "long words": " ".join(f"{number}{'x' * 2000}" for number in range(45)),
    "combining": "a\u0301\u0300" * 33_000,
    "spaces": "a" + " " * 99_998 + "b",
    "lines": "x\n" * 50_000,
    "punctuation": "<>&|!:*()'\"\\" * 8_000 + "x",
    "ligatures": "\ufdfa" * 100_000,
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_text_is_stored_found_and_shown(memory: Ebbtide, name: str) -> None:
    content = LARGE[name]
    stored = memory.remember(content).memory
    assert memory.get(stored.id).content == content
    assert memory.remember(content).outcome == "duplicate"
    assert [hit.id for hit in memory.recall(content[:300])] == [stored.id]
    block = memory.context(content[:300], budget=500)
    assert block.tokens <= 500
    memory.forget(stored.id, 1)


def test_names_too_long_to_be_indexed_are_refused(memory: Ebbtide) -> None:
    handle = memory.scoped(agent=characters(5, [(0x20000, 0x2A6DF)], 200))
    with pytest.raises(InvalidInput):
        handle.remember("x", namespace=characters(6, [(0x20000, 0x2A6DF)], 500))


QUERIES = [
    "hook.fire×3 → ★★★ 重要",
    "O'Brien & Söhne | (a:b) <-> !c *",
    "' OR 1=1; DROP TABLE memory; --",
    "a & | ! ( ) <-> :* \\ ' \"",
    "%(tenant)s %s %% {0} ${x}",
    ":*:*:A",
    "<1>",
    "\\' \\\\",
    "-",
    "?",
    "¿?",
    "。",
    "\u202e right to left \u202c",
    "the of and",
    "🙂",
    "x:y:z::w",
    "http://example.com/a?b=c&d=%20#e",
    "ana@example.com",
    "1,000.50 -3 +4 1e10",
    "\r\n\x0b\x0c\x85.",
    "a" * 10_000,
    "漢" * 10_000,
    "🙂" * 10_000,
    "a? " * 3_000,
    "'" * 10_000,
]


@pytest.mark.parametrize("query", QUERIES)
def test_no_query_is_syntax(memory: Ebbtide, query: str) -> None:
    memory.remember_many(["The ferry leaves at seven", query[:300] + " x", "x"])
    for profile in ("tide", "ibex", "ontheia"):
        answer = memory.recall(query, profile=profile, trace=True)
        assert answer.trace is not None
        assert answer.trace.query == query
    memory.explain(query, memory.browse(limit=1)[0].id)


@property_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
def test_any_text_is_refused_or_found(memory: Ebbtide, text: str) -> None:
    if is_blank(text) or "\0" in text:
        with pytest.raises(InvalidInput):
            memory.remember(text)
        return
    stored = memory.remember(text, namespace="v.any").memory
    assert memory.get(stored.id).content == stored.content
    assert stored.id in {hit.id for hit in memory.recall(text, limit=200)}


@pytest.mark.parametrize(
    "content", ["十万年前の化石", "a fossil from 100000 years ago", "in the year 99999", "on 0000-00-00"]
)
def test_a_text_about_a_distant_time_is_only_a_text(memory: Ebbtide, content: str) -> None:
    stored = memory.remember(content).memory
    assert stored.observed_at is None
    assert [hit.id for hit in memory.recall(content)] == [stored.id]
    assert memory.recall("What happened in May 9999?").nothing_relevant in (True, False)


@pytest.mark.parametrize("moment", ["0001-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31"])
def test_the_ends_of_the_calendar_can_be_stored(memory: Ebbtide, moment: str) -> None:
    stored = memory.remember("ferry", observed_at=moment, valid_from="0001-01-01").memory
    for profile in ("tide", "agentium", "ibex", "ontheia", "eryx"):
        hit = memory.recall("ferry in May", profile=profile, min_similarity=0)[0]
        assert hit.memory.observed_at == stored.observed_at
    assert len(memory.browse(where={"observed_at": {"lte": moment}})) == 1


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-03-02", datetime(2026, 3, 2, tzinfo=UTC)),
        ("2026-03-02T09:30Z", datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
        ("2026-03-02 09:30:00+02:00", datetime(2026, 3, 2, 7, 30, tzinfo=UTC)),
        ("20260302T093000Z", datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
    ],
)
def test_a_full_date_is_read_as_written(memory: Ebbtide, written: str, read: datetime) -> None:
    assert memory.remember("ferry", observed_at=written).memory.observed_at == read


def test_a_date_alone_is_the_callers_day(memory: Ebbtide) -> None:
    tokyo = memory.scoped(timezone="Asia/Tokyo")
    assert tokyo.remember("x", observed_at="2026-03-02").memory.observed_at == datetime(2026, 3, 1, 15, tzinfo=UTC)
    assert [found.content for found in tokyo.browse(where={"observed_at": "2026-03-02"})] == ["x"]
    assert memory.browse(where={"observed_at": "2026-03-02"}) == []


@pytest.mark.parametrize(
    "moment",
    [
        "2026",
        "2026-03",
        "03/02/2026",
        "2026-3-2",
        "2026-02-29",
        "now",
        "",
        "2026-03-02T25:00Z",
        "2026-W10",
        "1772442000",
    ],
)
def test_a_date_that_must_be_guessed_is_refused(memory: Ebbtide, moment: str) -> None:
    for arguments in ({"observed_at": moment}, {"valid_from": moment}, {"expires_at": moment}):
        field = next(iter(arguments))
        anything: Any = memory
        with pytest.raises(InvalidInput) as caught:
            anything.remember("x", **arguments)
        assert (caught.value.field, bool(caught.value.remedy)) == (field, True)


PROMPT = (
    "You are the assistant of a travel agency. You answer politely, in at most three sentences. You never invent "
    "prices, trains or hotels. You know cities, ferries, museums and restaurants. If the customer is angry, stay calm. "
)


@pytest.mark.parametrize("form", ["{prompt}\n\n{question}", "{question}\n\n{prompt}", "{prompt} {question} {prompt}"])
def test_a_long_prompt_around_a_question_is_as_good_as_the_question(real_memory: Ebbtide, form: str) -> None:
    memory = real_memory.scoped(tenant="prompts")
    memory.remember_many(
        [
            "Ana moved to Lisbon in spring",
            "Ana works for a travel agency",
            "Bob moved from Paris to Rome",
            "The museum in the city is closed on Monday",
            "Ana likes ferries more than trains",
            "The customer was angry about the hotel",
            "Restaurants in Lisbon open late",
            "Ana's sister lives in Porto",
        ]
    )
    question = "Which city did Ana move to?"
    alone = [hit.id for hit in memory.recall(question)]
    wrapped = [hit.id for hit in memory.recall(form.format(prompt=PROMPT * 8, question=question))]
    assert wrapped[0] == alone[0]
    assert len(set(wrapped[:5]) & set(alone[:5])) >= 4
