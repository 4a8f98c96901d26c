"""The verbs on single memories: get, browse, history, revise, forget."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, EbbtideError, InvalidInput, NotFound, StaleRevision
from tests.stores import START


def history_of(memory: Ebbtide, id_: UUID) -> list[tuple[Any, ...]]:
    return [(version.revision, version.content, version.since, version.until) for version in memory.history(id_)]


def test_an_id_that_is_none_is_refused(memory: Ebbtide) -> None:
    for id_ in ("", "x", 5, None, "' OR 1=1 --", "0" * 5000):
        for verb in (memory.get, memory.history):
            with pytest.raises(InvalidInput) as caught:
                verb(id_)  # type: ignore[arg-type]
            assert caught.value.field == "memory_id"
        with pytest.raises(InvalidInput):
            memory.explain("x", id_)  # type: ignore[arg-type]


def test_an_id_may_be_given_as_text(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    assert memory.get(str(id_)) == memory.get(id_) == memory.get(f"{{{id_}}}")


def test_browsing_goes_from_the_newest_to_the_oldest_in_pages(memory: Ebbtide, clock: FixedClock) -> None:
    for number in range(5):
        memory.remember_many([f"batch {number}, statement {place}" for place in range(3)])
        clock.advance(timedelta(minutes=1))
    everything = memory.browse()
    assert len(everything) == 15
    assert [found.created_at for found in everything] == sorted((f.created_at for f in everything), reverse=True)
    pages: list[Any] = []
    while page := memory.browse(limit=4, after=pages[-1].id if pages else None):
        pages += page
    assert pages == everything


@pytest.mark.parametrize("limit", [0, -1, 1001, 1.5, "5", True, None])
def test_a_page_has_a_sensible_size(memory: Ebbtide, limit: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.browse(limit=limit)
    assert caught.value.field == "limit"


def test_a_page_follows_a_memory_that_exists(memory: Ebbtide) -> None:
    with pytest.raises(NotFound):
        memory.browse(after=uuid4())
    with pytest.raises(InvalidInput) as caught:
        memory.browse(after="first")
    assert caught.value.field == "after"


def test_history_tells_every_image_and_its_interval(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    moments = [clock.advance(timedelta(days=1)) for _ in range(2)][1:]
    memory.revise(id_, "The ferry leaves at eight")
    moments.append(clock.advance(timedelta(days=1)))
    new = memory.remember("There is no ferry", supersedes=id_).memory
    assert history_of(memory, id_) == [
        (1, "The ferry leaves at seven", START, moments[0]),
        (2, "The ferry leaves at eight", moments[0], moments[1]),
        (3, "The ferry leaves at eight", moments[1], None),
    ]
    last = memory.history(id_)[-1]
    assert (last.maturity, last.superseded_by, last.status) == ("superseded", new.id, "active")


def test_a_revision_changes_what_is_given_and_is_found_by_its_new_words(memory: Ebbtide, clock: FixedClock) -> None:
    before = memory.remember(
        "The ferry leaves at seven", tags=["a"], labels=["factual"], metadata={"k": 1}, importance=0.3, speaker="Ana"
    ).memory
    clock.advance(timedelta(days=1))
    after = memory.revise(before.id, "The tram departs at eight", tags=["b"], importance=0.8)
    assert after == memory.get(before.id)
    assert (after.revision, after.updated_at, after.created_at) == (2, clock.now(), START)
    assert (after.tags, after.labels, after.metadata, after.importance) == (("b",), ("factual",), {"k": 1}, 0.8)
    assert (after.speaker, after.kind, after.confidence) == ("Ana", "fact", 0.7)
    answer = memory.recall("When does the tram depart?", trace=True)
    assert answer[0].similarity is not None
    assert answer[0].similarity > 0.3
    assert memory.recall("ferry", min_similarity=0.2).nothing_relevant


def test_a_revision_can_empty_a_list(memory: Ebbtide) -> None:
    id_ = memory.remember("x", tags=["a"], labels=["factual"], metadata={"k": 1}).memory.id
    after = memory.revise(id_, "x", tags=[], labels=[], metadata={})
    assert (after.tags, after.labels, after.metadata) == ((), (), {})


def test_a_revision_checks_its_values(memory: Ebbtide) -> None:
    anything: Any = memory
    id_ = memory.remember("x").memory.id
    refused: list[tuple[str, dict[str, Any]]] = [
        ("content", {"content": " "}),
        ("content", {"content": "\0"}),
        ("importance", {"importance": 2}),
        ("kind", {"kind": "rumour"}),
        ("tags", {"tags": [1]}),
        ("metadata", {"metadata": []}),
        ("vector", {"vector": [1.0]}),
        ("namespace", {"namespace": "vector.b"}),
        ("user", {"user": "mallory"}),
        ("expected_revision", {"expected_revision": "1"}),
        ("expected_revision", {"expected_revision": True}),
    ]
    for field, arguments in refused:
        with pytest.raises(InvalidInput) as caught:
            anything.revise(id_, **{"content": "y", **arguments})
        assert caught.value.field == field
        assert caught.value.remedy
    assert memory.get(id_).revision == 1


def test_a_revision_of_an_older_state_is_refused(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    memory.revise(id_, "y", expected_revision=1)
    with pytest.raises(StaleRevision, match="revision 2") as caught:
        memory.revise(id_, "z", expected_revision=1)
    assert caught.value.field == "expected_revision"
    assert memory.get(id_).content == "y"


def test_a_revision_into_another_live_memory_is_a_conflict(memory: Ebbtide) -> None:
    memory.remember("one")
    id_ = memory.remember("two").memory.id
    with pytest.raises(Conflict) as caught:
        memory.revise(id_, " one ")
    assert caught.value.field == "content"
    assert "one" not in caught.value.message.split()
    assert memory.get(id_).revision == 1
    assert len(memory.history(id_)) == 1


def test_nobody_becomes_another_by_revising(memory: Ebbtide) -> None:
    caller = memory.scoped(user="ana")
    id_ = caller.remember("x", metadata={"mine": 1}).memory.id
    after = caller.revise(id_, "y", metadata={"user_id": "mallory", "tenant_id": "other", "status": "confirmed"})
    assert (after.user, after.status, after.maturity, after.metadata) == ("ana", "active", "unconfirmed", {})


def test_the_audit_names_the_keys_that_a_revision_dropped(memory: Ebbtide, owner: Any) -> None:
    id_ = memory.remember("x").memory.id
    memory.revise(id_, "y", metadata={"user_id": "mallory"})
    row = owner.execute("SELECT detail FROM audit WHERE action = 'update'").fetchone()
    assert "user_id" in str(row[0])
    assert "mallory" not in str(row[0])


def test_a_stale_forget_changes_nothing(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    memory.revise(id_, "y")
    for revision in (1, 3):
        with pytest.raises(StaleRevision, match="revision 2"):
            memory.forget(id_, revision)
    for revision in (None, "2", True, 2.0):
        with pytest.raises(InvalidInput) as caught:
            memory.forget(id_, revision)  # type: ignore[arg-type]
        assert caught.value.field == "expected_revision"
    assert memory.get(id_).content == "y"
    assert len(memory.history(id_)) == 2


def test_forgetting_leaves_a_tombstone_of_nothing(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    caller = memory.scoped(user="ana", session="s1", chat="c1")
    secret: dict[str, Any] = {
        "tags": ["zebra"],
        "labels": ["zebra"],
        "metadata": {"k": "zebra"},
        "speaker": "zebra",
        "seq": 0,
    }
    id_ = caller.remember("zebra", subject="zebra", predicate="zebra", idempotency_key="k", **secret).memory.id
    clock.advance(timedelta(days=1))
    caller.revise(id_, "zebra crossing")
    caller.recall("zebra")
    gone = caller.forget(id_, 2)
    assert (gone.id, gone.revision, gone.forgotten_at) == (id_, 3, clock.now())
    tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ebbtide'").fetchall()
    for (table,) in tables:
        rows = owner.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))).fetchall()
        assert "zebra" not in str(rows), table
    assert owner.execute("SELECT status, revision FROM memory").fetchall() == [("tombstoned", 3)]
    assert owner.execute("SELECT count(*) FROM memory_version").fetchone() == (0,)
    assert owner.execute("SELECT session_id, revision FROM session").fetchall() == [("s1", 2)]


def test_what_is_forgotten_is_gone_for_every_verb(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    memory.forget(id_, 1)
    verbs = [
        lambda: memory.get(id_),
        lambda: memory.history(id_),
        lambda: memory.revise(id_, "y"),
        lambda: memory.forget(id_, 2),
        lambda: memory.explain("x", id_),
        lambda: memory.remember("y", supersedes=id_),
        lambda: memory.browse(after=id_),
    ]
    messages = set[str]()
    for verb in verbs:
        with pytest.raises(NotFound) as caught:
            verb()
        messages.add(caught.value.message)
    assert len(messages) == 2


def test_a_forgotten_memory_no_longer_counts_as_accessed(memory: Ebbtide, owner: Any) -> None:
    id_ = memory.remember("ferry").memory.id
    memory.recall("ferry")
    memory.forget(id_, 1)
    memory.close()
    assert owner.execute("SELECT count(*) FROM strength").fetchone() == (0,)


def test_a_closed_handle_says_so(memory: Ebbtide) -> None:
    scoped = memory.scoped(agent="b")
    memory.close()
    memory.close()
    for handle in (memory, scoped):
        with pytest.raises(EbbtideError, match="closed"):
            handle.browse()
