"""Remember: validation, duplicates, idempotency, batches, and what supersedes what."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from ebbtide import AsyncEbbtide, Draft, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import EbbtideError, IdempotencyMismatch, InvalidInput, NotFound
from tests.conftest import Opener
from tests.stores import START

CAFE_COMPOSED = "We met at the caf\u00e9 on Monday"
CAFE_DECOMPOSED = "We met at the  cafe\u0301 on Monday  "

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("content", {"content": ""}),
    ("content", {"content": " \t\n\u3000"}),
    ("content", {"content": "\u200f\u200e\u2066"}),
    ("content", {"content": "a\0b"}),
    ("content", {"content": "a\ud800b"}),
    ("content", {"content": "x" * 1_000_000}),
    ("content", {"content": 5}),
    ("content", {"content": None}),
    ("content", {"content": b"bytes"}),
    ("namespace", {"namespace": ""}),
    ("namespace", {"namespace": "vector..a"}),
    ("namespace", {"namespace": ".vector"}),
    ("namespace", {"namespace": "vector.a."}),
    ("namespace", {"namespace": "vector.*"}),
    ("namespace", {"namespace": "vector.${user_id}.memory"}),
    ("namespace", {"namespace": "vector.a b"}),
    ("namespace", {"namespace": "vector.a\u2028b"}),
    ("namespace", {"namespace": "v" * 501}),
    ("namespace", {"namespace": "vector.\ud800"}),
    ("namespace", {"namespace": 7}),
    ("kind", {"kind": "rumour"}),
    ("kind", {"kind": ""}),
    ("kind", {"kind": ["fact"]}),
    ("labels", {"labels": 5}),
    ("labels", {"labels": ["x" * 201]}),
    ("labels", {"labels": ["a\0"]}),
    ("tags", {"tags": [1]}),
    ("tags", {"tags": [f"t{number}" for number in range(201)]}),
    ("importance", {"importance": 1.01}),
    ("importance", {"importance": -0.01}),
    ("importance", {"importance": float("nan")}),
    ("importance", {"importance": "high"}),
    ("importance", {"importance": True}),
    ("confidence", {"confidence": float("inf")}),
    ("subject", {"subject": ""}),
    ("subject", {"subject": "x" * 201}),
    ("predicate", {"predicate": "\0"}),
    ("observed_at", {"observed_at": "2026"}),
    ("observed_at", {"observed_at": "2026-03"}),
    ("observed_at", {"observed_at": "2026-03-02T09:00:00"}),
    ("observed_at", {"observed_at": datetime(2026, 3, 2, 9)}),  # noqa: DTZ001 - a naive time is the point
    ("observed_at", {"observed_at": "yesterday"}),
    ("observed_at", {"observed_at": "2026-02-30"}),
    ("observed_at", {"observed_at": 2026}),
    ("observed_at", {"observed_at": "0001-01-01T00:00:00+23:00"}),
    ("valid_from", {"valid_from": "99999-01-01"}),
    ("expires_at", {"expires_at": "soon"}),
    ("ttl_seconds", {"ttl_seconds": 0}),
    ("ttl_seconds", {"ttl_seconds": -5}),
    ("ttl_seconds", {"ttl_seconds": float("nan")}),
    ("ttl_seconds", {"ttl_seconds": 1e12}),
    ("ttl_seconds", {"ttl_seconds": "60"}),
    ("ttl_seconds", {"ttl_seconds": 60, "expires_at": "2027-01-01"}),
    ("supersedes", {"supersedes": "not-an-id"}),
    ("supersedes", {"supersedes": 5}),
    ("metadata", {"metadata": ["a"]}),
    ("metadata", {"metadata": {"a": float("nan")}}),
    ("metadata", {"metadata": {"a": object()}}),
    ("metadata", {"metadata": {"a": "b\0"}}),
    ("metadata", {"metadata": {"\ud800": 1}}),
    ("metadata", {"metadata": {"a": "x" * 70_000}}),
    ("speaker", {"speaker": " "}),
    ("seq", {"seq": -1}),
    ("seq", {"seq": 1.5}),
    ("seq", {"seq": 2**31}),
    ("seq", {"seq": True}),
    ("vector", {"vector": [1.0] * 383}),
    ("vector", {"vector": [0.0] * 384}),
    ("vector", {"vector": [float("nan")] * 384}),
    ("vector", {"vector": [float("inf")] + [0.0] * 383}),
    ("vector", {"vector": [1e300] * 384}),
    ("vector", {"vector": [None] * 384}),
    ("vector", {"vector": ["a"] * 384}),
    ("vector", {"vector": "embedding"}),
    ("vector", {"vector": [[1.0] * 384]}),
    ("idempotency_key", {"idempotency_key": ""}),
    ("idempotency_key", {"idempotency_key": "k" * 201}),
]


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def say(memory: Any, **arguments: Any) -> Any:
    return memory.remember(**{"content": "a statement", **arguments})


def refusal(memory: Ebbtide, arguments: dict[str, Any]) -> EbbtideError:
    with pytest.raises(InvalidInput) as caught:
        say(memory, **arguments)
    return caught.value


def test_a_value_that_is_not_acceptable_is_refused_by_the_name_of_its_field(memory: Ebbtide) -> None:
    for field, arguments in REFUSED:
        error = refusal(memory, arguments)
        assert error.field == field, arguments
        assert error.remedy, arguments
        assert len(error.message) < 300
    assert refusal(memory, {"metadata": nested(70)}).field == "metadata"
    assert memory.browse() == []


def test_a_draft_in_a_batch_is_refused_by_its_place_and_nothing_is_written(memory: Ebbtide) -> None:
    for field, arguments in REFUSED:
        with pytest.raises(InvalidInput) as caught:
            memory.remember_many(["good", {"content": "a statement", **arguments}])
        assert caught.value.field == f"drafts[1].{field}", arguments
        assert caught.value.remedy
    assert memory.browse() == []


async def test_both_faces_report_an_error_in_one_shape(async_memory: AsyncEbbtide, memory: Ebbtide) -> None:
    for _, arguments in REFUSED[::7]:
        with pytest.raises(InvalidInput) as caught:
            await say(async_memory, **arguments)
        with pytest.raises(InvalidInput) as blocking:
            say(memory, **arguments)
        assert caught.value.to_dict() == blocking.value.to_dict()
        assert set(caught.value.to_dict()["error"]) == {"code", "message", "field", "remedy"}


@pytest.mark.parametrize(
    "drafts", ["text", 5, None, [5], [None], [{"contents": "x"}], [{}], [["content", "x"]], [{"content": "x", "id": 1}]]
)
def test_what_is_no_draft_is_refused(memory: Ebbtide, drafts: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.remember_many(drafts)
    assert caught.value.field is not None
    assert caught.value.remedy


def test_a_batch_of_nothing_writes_nothing(memory: Ebbtide) -> None:
    assert memory.remember_many([]) == []


def test_what_nobody_gave_has_the_documented_default(memory: Ebbtide) -> None:
    stored = memory.remember("The ferry leaves at seven")
    found = memory.get(stored.memory.id)
    assert stored.outcome == "stored"
    assert stored.warnings == ()
    assert found == stored.memory
    assert (found.namespace, found.kind, found.importance, found.confidence) == (
        "vector.global.memory",
        "fact",
        0.5,
        0.7,
    )
    assert (found.usefulness, found.status, found.maturity, found.revision) == (0.5, "active", "unconfirmed", 1)
    assert found.observed_at is found.valid_from is found.expires_at is found.last_mentioned_at is None
    assert found.created_at == found.updated_at == START
    assert found.access_count == 0


def test_every_field_comes_back_as_it_was_given(memory: Ebbtide) -> None:
    caller = memory.scoped(user="ana", task="planning", chat="c1", session="s1", timezone="Asia/Tokyo")
    given = caller.remember(
        "Prefers the window seat",
        namespace="vector.team.travel",
        kind="preference",
        labels=["preference", "factual"],
        importance=0.9,
        confidence=1,
        subject="Ana",
        predicate="prefers",
        observed_at=date(2026, 2, 1),
        valid_from="2026-01-01T00:00:00+02:00",
        expires_at="2027-01-01T00:00:00Z",
        tags="seat, travel, seat",
        metadata={"trip": {"city": "Lisbon", "nights": 3}, "paid": True, "rate": 1.5, "none": None},
        speaker="Ana",
        seq=4,
    )
    found = memory.get(given.memory.id)
    assert found == given.memory
    assert (found.user, found.task, found.chat, found.session) == ("ana", "planning", "c1", "s1")
    assert (found.labels, found.tags) == (("preference", "factual"), ("seat", "travel"))
    assert found.observed_at == datetime(2026, 1, 31, 15, tzinfo=UTC)
    assert found.valid_from == datetime(2025, 12, 31, 22, tzinfo=UTC)
    assert found.metadata == {"trip": {"city": "Lisbon", "nights": 3}, "paid": True, "rate": 1.5, "none": None}
    assert (found.subject, found.predicate, found.speaker, found.seq) == ("Ana", "prefers", "Ana", 4)


def test_a_user_writes_into_their_own_memory_unless_told_otherwise(memory: Ebbtide) -> None:
    assert memory.scoped(user="ana").remember("x").memory.namespace == "vector.agent.ana.memory"


def test_a_life_in_seconds_ends_at_a_moment(memory: Ebbtide) -> None:
    assert memory.remember("x", ttl_seconds=90).memory.expires_at == START + timedelta(seconds=90)


def test_reserved_metadata_is_dropped_and_named(memory: Ebbtide) -> None:
    answer = memory.remember(
        "x", metadata={"user_id": "mallory", "Tenant_ID": "other", "status": "confirmed", "source": "web", "mine": 1}
    )
    assert answer.memory.metadata == {"mine": 1}
    assert len(answer.warnings) == 4
    assert all(
        any(key in warning for warning in answer.warnings) for key in ("user_id", "Tenant_ID", "status", "source")
    )
    assert (answer.memory.user, answer.memory.status, answer.memory.source) == (None, "active", None)


def test_a_metadata_value_is_what_a_later_read_gives(memory: Ebbtide) -> None:
    answer = memory.remember(
        "x", metadata={"pair": (1, 2), "large": 10**30, "deep": {"list": [{"a": None}]}, "é😀": "ß"}
    )
    assert memory.get(answer.memory.id).metadata == answer.memory.metadata


def test_the_same_statement_is_kept_once(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember(CAFE_COMPOSED)
    clock.advance(timedelta(days=3))
    second = memory.remember(CAFE_DECOMPOSED, importance=1.0, tags=["again"])
    assert (first.outcome, second.outcome) == ("stored", "duplicate")
    assert second.memory.id == first.memory.id
    assert second.memory.content == CAFE_COMPOSED
    assert second.memory.created_at == START
    assert second.memory.last_mentioned_at == second.memory.updated_at == clock.now()
    assert (second.memory.importance, second.memory.tags, second.memory.revision) == (0.5, (), 1)
    assert [found.id for found in memory.browse()] == [first.memory.id]


def test_a_statement_repeated_within_a_batch_is_kept_once(memory: Ebbtide) -> None:
    answers = memory.remember_many(["one", "two", " one ", "two"])
    assert [answer.outcome for answer in answers[:2]] == ["stored", "stored"]
    assert {answer.memory.id for answer in answers} == {answer.memory.id for answer in answers[:2]}
    assert len(memory.browse()) == 2


@pytest.mark.parametrize("change", [{"namespace": "vector.other"}, {"content": "a statement!"}])
def test_another_place_or_another_text_is_another_memory(memory: Ebbtide, change: dict[str, Any]) -> None:
    memory.remember("a statement")
    assert say(memory, **change).outcome in ("stored", "near_duplicate")
    assert memory.scoped(agent="b").remember("a statement").outcome == "stored"
    assert memory.scoped(tenant="b").remember("a statement").outcome == "stored"


def test_equal_turns_at_different_places_of_a_chat_are_two_memories(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c1")
    answers = [chat.remember("Yes!", kind="message", seq=seq) for seq in (0, 1, 0)]
    assert [answer.outcome for answer in answers] == ["stored", "stored", "duplicate"]
    assert answers[2].memory.id == answers[0].memory.id
    assert memory.scoped(chat="c2").remember("Yes!", kind="message", seq=0).outcome == "stored"


def test_what_has_run_out_can_be_said_anew(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The code is 4711", ttl_seconds=60)
    clock.advance(timedelta(seconds=60))
    new = memory.remember("The code is 4711")
    assert (new.outcome, new.memory.created_at) == ("stored", clock.now())
    assert new.memory.id != old.memory.id
    assert [hit.id for hit in memory.recall("code 4711")] == [new.memory.id]
    assert memory.get(old.memory.id).status == "archived"


def test_what_was_superseded_can_be_said_anew(memory: Ebbtide) -> None:
    old = memory.remember("Lives in Oslo")
    memory.remember("Lives in Bergen", supersedes=old.memory.id)
    again = memory.remember("Lives in Oslo")
    assert again.outcome == "stored"
    assert again.memory.id != old.memory.id


def test_what_was_forgotten_can_be_said_anew(memory: Ebbtide) -> None:
    old = memory.remember("Lives in Oslo", idempotency_key="k")
    memory.forget(old.memory.id, 1)
    again = memory.remember("Lives in Oslo", idempotency_key="k")
    assert again.outcome == "stored"
    assert again.memory.id != old.memory.id
    assert [hit.id for hit in memory.recall("Where does she live, Oslo?")] == [again.memory.id]


def test_a_retry_gets_the_first_answer_again(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember("Pay the rent", metadata={"status": "x"}, idempotency_key="r1", ttl_seconds=3600)
    clock.advance(timedelta(seconds=5))
    again = memory.remember("Pay the rent", metadata={"status": "x"}, idempotency_key="r1", ttl_seconds=3600)
    assert again == first
    assert len(memory.browse()) == 1


def test_a_retry_of_a_correction_is_no_second_correction(memory: Ebbtide) -> None:
    old = memory.remember("Lives in Oslo").memory
    first = memory.remember("Lives in Bergen", supersedes=old.id, idempotency_key="k")
    again = memory.remember("Lives in Bergen", supersedes=old.id, idempotency_key="k")
    assert (again.outcome, again.memory.id) == (first.outcome, first.memory.id) == ("superseded", first.memory.id)


def test_a_key_stands_for_one_body(memory: Ebbtide) -> None:
    memory.remember("Pay the rent", idempotency_key="r1")
    for change in ({"content": "Pay the rents"}, {"importance": 0.6}, {"tags": ["a"]}, {"namespace": "vector.b"}):
        with pytest.raises(IdempotencyMismatch) as caught:
            say(memory, **{"content": "Pay the rent", "idempotency_key": "r1", **change})
        assert caught.value.field == "idempotency_key"
        assert "rent" not in str(caught.value)
    assert memory.scoped(agent="b").remember("Pay the rents", idempotency_key="r1").outcome == "stored"
    assert len(memory.browse()) == 1


def test_a_batch_takes_up_what_was_answered_before(memory: Ebbtide) -> None:
    first = memory.remember("one", idempotency_key="k1")
    answers = memory.remember_many(
        [{"content": "two", "idempotency_key": "k2"}, {"content": "one", "idempotency_key": "k1"}, "three"]
    )
    assert [answer.memory.content for answer in answers] == ["two", "one", "three"]
    assert answers[1].memory.id == first.memory.id
    with pytest.raises(InvalidInput, match="same idempotency key"):
        memory.remember_many([{"content": "a", "idempotency_key": "k"}, {"content": "b", "idempotency_key": "k"}])


def test_a_correction_replaces_what_holds_now(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember("Lives in Oslo", importance=0.9).memory
    clock.advance(timedelta(days=1))
    second = memory.remember("Lives in Bergen", supersedes=first.id, importance=0.2)
    clock.advance(timedelta(days=1))
    third = memory.remember("Lives in Tromsø", supersedes=str(first.id))
    assert (second.outcome, third.outcome) == ("superseded", "superseded")
    assert second.memory.importance == third.memory.importance == 0.9
    old, middle = memory.get(first.id), memory.get(second.memory.id)
    assert (old.superseded_by, old.maturity, old.revision) == (second.memory.id, "superseded", 2)
    assert middle.superseded_by == third.memory.id
    assert old.invalidated_at == START + timedelta(days=1)
    assert [hit.id for hit in memory.recall("Where does she live?")] == [third.memory.id]


def test_a_correction_within_a_batch_follows_the_one_before(memory: Ebbtide) -> None:
    old = memory.remember("Lives in Oslo").memory
    answers = memory.remember_many(
        [{"content": "Lives in Bergen", "supersedes": old.id}, {"content": "Lives in Tromsø", "supersedes": old.id}]
    )
    live = [found.content for found in memory.browse()]
    assert live == ["Lives in Tromsø"]
    assert memory.get(old.id).superseded_by == answers[0].memory.id


def test_an_old_end_stays_where_it_was_given(memory: Ebbtide) -> None:
    old = memory.remember("Works at Northwind", valid_from="2024-03-01").memory
    memory.remember("Works at Contoso", valid_from="2025-06-01", supersedes=old.id)
    assert memory.get(old.id).invalidated_at == datetime(2025, 6, 1, tzinfo=UTC)
    backdated = memory.remember("A", valid_from="2025-01-01").memory
    memory.remember("B", valid_from="2024-01-01", supersedes=backdated.id)
    assert memory.get(backdated.id).invalidated_at == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_correction_of_nothing_is_refused(memory: Ebbtide) -> None:
    forgotten = memory.remember("secret plan").memory
    memory.forget(forgotten.id, 1)
    for id_ in (uuid4(), forgotten.id):
        with pytest.raises(NotFound) as caught:
            memory.remember("x", supersedes=id_)
        assert caught.value.field == "supersedes"
    assert memory.browse() == []


def test_a_correction_can_follow_one_that_was_forgotten(memory: Ebbtide) -> None:
    first = memory.remember("Lives in Oslo").memory
    second = memory.remember("Lives in Bergen", supersedes=first.id).memory
    memory.forget(second.id, second.revision)
    third = memory.remember("Lives in Tromsø", supersedes=first.id)
    assert [found.id for found in memory.browse()] == [third.memory.id]


def test_a_correction_in_the_same_words_is_a_duplicate(memory: Ebbtide) -> None:
    old = memory.remember("Lives in Oslo").memory
    answer = memory.remember("Lives in Oslo", supersedes=old.id)
    assert (answer.outcome, answer.memory.id) == ("duplicate", old.id)
    assert memory.get(old.id).superseded_by is None


def test_a_batch_is_written_whole_or_not_at_all(memory: Ebbtide) -> None:
    with pytest.raises(NotFound):
        memory.remember_many(["one", {"content": "two", "supersedes": uuid4()}])
    assert memory.browse() == []
    with pytest.raises(InvalidInput, match="at most"):
        memory.remember_many(["x"] * 100_001)


def test_a_batch_answers_in_its_own_order(memory: Ebbtide) -> None:
    memory.remember("m 7")
    answers = memory.remember_many([Draft(content=f"m {number}") for number in range(30)])
    assert [answer.memory.content for answer in answers] == [f"m {number}" for number in range(30)]
    assert [answer.outcome for answer in answers].count("duplicate") == 1


def test_a_vector_given_is_the_one_that_is_searched(open_store: Opener) -> None:
    memory = open_store(embedder=None)
    axis = np.zeros(384)
    axis[3] = 2.5
    near = memory.remember("first", vector=axis.tolist()).memory
    memory.remember("second", vector=np.roll(axis, 1))
    answer = memory.recall("anything", vector=axis, limit=1)
    assert answer[0].id == near.id
    assert answer[0].similarity == pytest.approx(1.0, abs=1e-3)


def test_a_store_without_a_model_takes_no_vectors(empty_dsn: str, open_store: Opener) -> None:
    memory = open_store(empty_dsn, embedder=None)
    for verb in (memory.remember, memory.recall):
        with pytest.raises(InvalidInput) as caught:
            verb("x", vector=[1.0] * 384)
        assert caught.value.field == "vector"


def test_the_audit_tells_who_wrote_and_never_what(memory: Ebbtide, owner: Any) -> None:
    memory.scoped(user="ana").remember("The safe's code is 4711", metadata={"k": "4711"}, tags=["4711"])
    rows = owner.execute("SELECT action, agent_id, user_id, detail::text FROM audit").fetchall()
    assert [row[:3] for row in rows] == [("write", "default", "ana")]
    assert "4711" not in str(rows)


def test_the_audit_names_the_reserved_keys_that_were_dropped(memory: Ebbtide, owner: Any) -> None:
    memory.remember("x", metadata={"tenant_id": "other"})
    row = owner.execute("SELECT detail::text FROM audit").fetchone()
    assert "tenant_id" in row[0]
    assert "other" not in row[0]


def test_a_circle_of_corrections_is_refused(memory: Ebbtide) -> None:
    one, other = (memory.remember(text).memory for text in ("alpha", "beta"))
    assert one is not None
    assert other is not None
    circle = [{"content": "beta", "supersedes": one.id}, {"content": "alpha", "supersedes": other.id}]
    with pytest.raises(InvalidInput) as caught:
        memory.remember_many([*circle, {"content": "gamma", "supersedes": one.id}])
    assert (caught.value.field, bool(caught.value.remedy)) == ("supersedes", True)
    assert {found.content for found in memory.browse()} == {"alpha", "beta"}


@pytest.mark.parametrize(
    ("scope", "changes"),
    [({"chat": "c2"}, {}), ({"session": "s"}, {}), ({}, {"expires_at": "2999-01-01"}), ({}, {"ttl_seconds": 60})],
)
def test_a_key_used_elsewhere_or_for_another_life_is_refused(
    memory: Ebbtide, scope: dict[str, Any], changes: dict[str, Any]
) -> None:
    memory.scoped(chat="c1").remember("hi", seq=1, idempotency_key="K", namespace="vector.x")
    with pytest.raises(IdempotencyMismatch):
        memory.scoped(**{"chat": "c1", **scope}).remember(
            "hi", seq=1, idempotency_key="K", namespace="vector.x", **changes
        )


def test_the_same_time_to_live_is_the_same_body(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember("hi", idempotency_key="K", ttl_seconds=60)
    clock.advance(timedelta(seconds=5))
    assert memory.remember("hi", idempotency_key="K", ttl_seconds=60).memory == first.memory
