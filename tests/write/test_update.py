"""Updates found by the texts: what replaces, what never does, what is a conflict, and how each is told and undone."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.errors import Conflict, NotFound
from ebbtide.models.local import LocalEmbedder
from ebbtide.write.cues import read_cues
from ebbtide.write.near import WIDE
from ebbtide.write.topics import likeness
from ebbtide.write.update import SURE, Statement, confidence_of, judge, may_update
from tests.conftest import Opener
from tests.stores import SETTINGS
from tests.write.test_relations import direction
from tests.write.update_pairs import DOUBTFUL, REPLACED, UNRELATED

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
OLD, NEW = "The standup is at 9:30.", "The standup was moved to 10:15."
PAIRS = [
    (pair, kind)
    for pairs, kind in ((REPLACED, "supersedes"), (UNRELATED, None), (DOUBTFUL, "conflict"))
    for pair in pairs
]


@pytest.fixture(scope="module")
def cosines() -> dict[tuple[str, str], float]:
    texts = [text for pair, _ in PAIRS for text in pair]
    vectors = asyncio.run(LocalEmbedder().embed(texts))
    return {pair: float(vectors[2 * place] @ vectors[2 * place + 1]) for place, (pair, _) in enumerate(PAIRS)}


def judged(older: str, newer: str, cosine: float) -> str | None:
    if cosine <= WIDE or not may_update(newer, "fact"):
        return None
    update = judge(Statement(older, "fact"), Statement(newer, "fact"), cosine)
    return None if update is None else update.kind


@pytest.mark.parametrize(("pair", "kind"), PAIRS, ids=lambda value: value[1][:40] if isinstance(value, tuple) else "")
def test_a_pair_is_judged_as_a_person_would(
    cosines: dict[tuple[str, str], float], pair: tuple[str, str], kind: str | None
) -> None:
    assert judged(*pair, cosines[pair]) == kind


def test_the_pairs_are_many_and_of_many_languages() -> None:
    assert len(PAIRS) >= 75
    assert len({pair for pair, _ in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize(
    ("older", "newer", "kind"),
    [
        (Statement(OLD, "fact"), Statement(NEW, "fact"), "supersedes"),
        (Statement(OLD, "episode"), Statement(NEW, "fact"), None),
        (Statement(OLD, "fact"), Statement(NEW, "message"), None),
        (Statement(OLD, "fact", speaker="Ana"), Statement(NEW, "fact", speaker="Bob"), None),
        (Statement(OLD, "fact", speaker="Ana"), Statement(NEW, "fact", speaker="Ana"), "supersedes"),
        (Statement(OLD, "fact", MONDAY), Statement(NEW, "fact", MONDAY - timedelta(days=1)), None),
        (Statement(OLD, "fact", MONDAY), Statement(NEW, "fact", MONDAY), "supersedes"),
        (Statement(OLD, "fact"), Statement("The standup is at 10:15.", "correction"), "supersedes"),
        (Statement(OLD, "fact"), Statement("The standup is at 10:15.", "fact"), None),
    ],
)
def test_kinds_speakers_and_dates_count(older: Statement, newer: Statement, kind: str | None) -> None:
    update = judge(older, newer, 0.85)
    assert (update and update.kind) == kind


def test_nothing_replaces_by_itself_what_a_person_confirmed() -> None:
    update = judge(Statement(OLD, "fact", confirmed=True), Statement(NEW, "fact"), 0.85)
    assert update is not None
    assert update.kind == "conflict"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_makes_less_sure(one: float, other: float, cosine: float, alike: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= confidence_of(low, cosine, alike) <= confidence_of(high, cosine, alike) <= 1
    assert confidence_of(1.0, low, alike) <= confidence_of(1.0, high, alike)
    assert confidence_of(1.0, cosine, low) <= confidence_of(1.0, cosine, high)


def test_the_weights_are_these() -> None:
    assert confidence_of(1.0, 0.8, 0.5) == pytest.approx(1.0)
    assert confidence_of(0.5, 0.8, 0.5) == pytest.approx(0.775)
    assert confidence_of(1.0, 0.4, 0.0) == pytest.approx(0.45)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read(older: str, newer: str) -> None:
    read_cues(newer)
    assert 0 <= likeness(older, newer) <= 1
    update = judge(Statement(older, "fact"), Statement(newer, "correction"), 0.9)
    assert update is None or 0 <= update.confidence <= 1


@pytest.mark.parametrize(
    ("content", "kind", "whether"),
    [
        ("The standup is at noon now.", "fact", True),
        ("The rate holds from the summer term on.", "fact", True),
        ("As of May the rate is 5.", "fact", True),
        ("会议改到星期二。", "fact", True),
        ("The committee has met in the hall and was not amused.", "fact", False),
        ("The committee has met in the hall and was not amused.", "correction", True),
        ("The standup is at noon now.", "message", False),
    ],
)
def test_most_texts_are_not_even_compared(content: str, kind: str, whether: bool) -> None:
    assert may_update(content, kind) is whether


@pytest.mark.parametrize("pair", [*REPLACED, *DOUBTFUL], ids=lambda pair: pair[1][:40])
def test_no_update_is_overlooked_by_the_quick_look(pair: tuple[str, str]) -> None:
    assert may_update(pair[1], "fact")


def remember_both(memory: Ebbtide, **more: Any) -> tuple[Any, Any]:
    old = memory.remember(OLD, observed_at="2026-01-05", importance=0.9)
    return old.memory, memory.remember(NEW, observed_at="2026-02-02", **more)


@pytest.fixture
def memory(real_memory: Ebbtide, request: pytest.FixtureRequest) -> Ebbtide:
    """A tenant of the test's own on the store with real vectors."""
    return real_memory.scoped(tenant=f"tenant-{abs(hash(request.node.name))}")


def test_a_found_update_is_told_and_holds(memory: Ebbtide) -> None:
    old, answer = remember_both(memory)
    assert (answer.outcome, answer.related) == ("superseded", (old.id,))
    assert answer.memory.importance == 0.9
    ended = memory.get(old.id)
    assert (ended.superseded_by, ended.invalidated_at) == (answer.memory.id, answer.memory.observed_at)
    assert [hit.content for hit in memory.recall("When is the standup?")] == [NEW]
    assert OLD in [hit.content for hit in memory.recall("When is the standup?", valid_at="2026-01-10")]
    why = memory.explain("When is the standup?", old.id)
    assert (why.rule, why.returned) == ("update_found", False)
    assert isinstance(why.threshold, float)
    assert SURE <= why.threshold <= 1
    assert str(answer.memory.id) in why.reason
    assert memory.conflicts.list() == []


def test_within_one_call_each_news_replaces_the_one_before(memory: Ebbtide) -> None:
    last = "The standup was moved to 11:00."
    answers = memory.remember_many([OLD, NEW, last])
    assert [answer.outcome for answer in answers] == ["stored", "superseded", "superseded"]
    assert [one.content for one in memory.browse()] == [last]


def test_it_was_no_update(memory: Ebbtide) -> None:
    old, answer = remember_both(memory)
    with pytest.raises(Conflict):
        memory.restore(old.id)
    back = memory.separate(old.id, expected_revision=2)
    assert (back.maturity, back.superseded_by, back.invalidated_at, back.status) == (
        "unconfirmed",
        None,
        None,
        "active",
    )
    assert {one.content for one in memory.browse()} == {OLD, NEW}
    assert [version.maturity for version in memory.history(old.id)][-2:] == ["superseded", "unconfirmed"]
    assert memory.explain("When is the standup?", old.id).rule != "update_found"
    for id_ in (old.id, answer.memory.id):
        with pytest.raises(Conflict):
            memory.separate(id_)
    with pytest.raises(NotFound):
        memory.scoped(agent="other").separate(old.id)


def test_when_the_news_is_taken_back_the_old_holds_again(memory: Ebbtide) -> None:
    old, answer = remember_both(memory)
    memory.invalidate(answer.memory.id)
    assert memory.restore(old.id).maturity == "unconfirmed"


def test_two_that_fit_alike_are_a_conflict(memory: Ebbtide) -> None:
    memory.remember_many(["The standup of the web team is at 9:30.", "The standup of the app team is at 9:30."])
    assert memory.remember("The standup was moved to 10:15.").outcome == "conflict"
    assert len(memory.browse()) == 3


def test_a_confirmed_memory_is_disputed_and_stays(memory: Ebbtide) -> None:
    old = memory.remember(OLD).memory
    memory.confirm(old.id)
    assert memory.remember(NEW).outcome == "conflict"


def test_what_others_said_is_left_alone(memory: Ebbtide) -> None:
    shared: dict[str, Any] = {"namespace": "vector.shared"}
    memory.scoped(user="ana").remember("I live in Ghent.", **shared)
    assert (
        memory.scoped(user="bob").remember("I moved to Lyon, I no longer live in Ghent.", **shared).outcome == "stored"
    )
    memory.scoped(agent="other").remember(OLD)
    assert memory.remember(NEW).outcome == "stored"
    assert memory.remember(OLD, namespace="vector.elsewhere").outcome == "stored"


def test_turns_of_a_conversation_replace_nothing(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c")
    answers = chat.remember_many(
        [{"content": text, "kind": "message", "seq": place} for place, text in enumerate((OLD, NEW))]
    )
    assert [answer.outcome for answer in answers] == ["stored", "stored"]


def test_it_can_be_switched_off(open_store: Opener) -> None:
    memory = open_store(settings=SETTINGS.model_copy(update={"find_updates": False}))
    memory.remember(OLD)
    assert memory.remember(NEW).outcome == "stored"
    assert memory.remember("The standup is at noon.", kind="correction").outcome == "stored"


def test_a_link_is_written_down_and_goes_with_what_it_links(open_store: Opener, owner: psycopg.Connection[Any]) -> None:
    memory = open_store()
    old = memory.remember(OLD, vector=direction(1.0)).memory
    new = memory.remember(NEW, vector=direction(0.85)).memory
    links = owner.execute("SELECT memory_id, other_id, kind, confidence FROM memory_link").fetchall()
    assert links == [(new.id, old.id, "update", pytest.approx(1.0))]
    changes = owner.execute("SELECT detail FROM audit WHERE action = 'status'").fetchall()
    assert changes == [({"to": "superseded", "by": str(new.id), "found": 1.0},)]
    memory.forget(old.id, 2)
    assert owner.execute("SELECT count(*) FROM memory_link").fetchone() == (0,)


@pytest.mark.parametrize(
    "repeated", ["a-", " no longer", " instead of x", " abc 1", " first thing", " Anna’s x", " Hotel Marina", "a", "가"]
)
def test_long_texts_are_judged_in_the_time_of_their_length(repeated: str) -> None:
    news = f"The meeting has moved to Monday.{repeated * (100_000 // len(repeated))}"
    older = news.replace("x", "y")
    started = time.perf_counter()
    assert read_cues(news).changed == 1.0
    judge(Statement(older, "fact"), Statement(news, "fact"), 0.9)
    assert time.perf_counter() - started < 30
