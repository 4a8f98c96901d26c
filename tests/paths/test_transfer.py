"""Export and import: nothing is lost, an import can be repeated, and a bad line says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, InvalidInput, Tombstoned
from ebbtide.models.fake import FakeEmbedder
from ebbtide.write.records import record_line
from tests import stores

Opener = Callable[..., Ebbtide]


@pytest.fixture
def elsewhere(server: str, template: str, open_store: Opener) -> Iterator[Ebbtide]:
    """A second, empty store."""
    with stores.fresh_database(server, template) as name:
        handle = open_store(name)
        yield handle
        handle.close()


def lines(handle: Ebbtide, **scope: Any) -> list[str]:
    return [record_line(record) for record in handle.export_records(**scope)]


def fill(memory: Ebbtide, clock: FixedClock) -> dict[str, Any]:
    """Memories of every sort: corrected, revised, recalled, spoken, expired."""
    old = memory.remember(
        "Mara drinks green tea", tags=["drink", "été"], labels=["preference"], metadata={"z": [1, None, 1.5], "a": "ü"},
        importance=0.31, observed_at="2025-11-05", subject="Mara", predicate="drinks",
    ).memory  # fmt: skip
    clock.advance(timedelta(days=3, microseconds=7))
    new = memory.remember("Mara drinks black tea", supersedes=old.id).memory
    memory.remember("The code is 4711", ttl_seconds=60)
    chat = memory.scoped(user="mara", task="t-1", chat="c-1", session="s-1")
    chat.remember_many([{"content": f"turn {seq} about tea", "seq": seq, "speaker": "Mara"} for seq in range(5)])
    memory.revise(new.id, "Mara drinks only black tea", tags=["drink"])
    clock.advance(timedelta(hours=1))
    memory.recall("What does Mara drink?")
    return {"old": old, "new": new}


def test_a_round_trip_gives_the_same_bytes(memory: Ebbtide, elsewhere: Ebbtide, clock: FixedClock) -> None:
    fill(memory, clock)
    exported = lines(memory)
    clock.advance(timedelta(days=30))
    assert elsewhere.import_records(exported).imported == len(exported) == 8
    assert lines(elsewhere) == exported


def test_a_store_that_was_imported_answers_alike(memory: Ebbtide, elsewhere: Ebbtide, clock: FixedClock) -> None:
    made = fill(memory, clock)
    elsewhere.import_records(memory.export_records())
    question = "What does Mara drink?"
    first, second = memory.recall(question), elsewhere.recall(question)
    assert [(hit.id, hit.relevance, hit.similarity) for hit in first] == [
        (hit.id, hit.relevance, hit.similarity) for hit in second
    ]
    assert elsewhere.history(made["new"].id) == memory.history(made["new"].id)
    past = made["old"].created_at + timedelta(hours=1)
    assert [hit.content for hit in elsewhere.recall(question, as_of=past)] == ["Mara drinks green tea"]


def test_counts_and_curve_are_carried(memory: Ebbtide, owner: Any, clock: FixedClock) -> None:
    made = fill(memory, clock)
    list(memory.export_records())
    owner.execute(
        "UPDATE strength SET stability = 3.25, half_life = 12, positive = 4, negative = 1, decayed_at = now()"
    )
    record = next(record for record in memory.export_records() if record["id"] == str(made["new"].id))
    assert (record["access_count"], record["positive"], record["half_life"]) == (1, 4, 12.0)
    memory.scoped(tenant="other").import_records([record])
    assert lines(memory.scoped(tenant="other")) == [record_line(record)]


def test_an_import_can_be_repeated(memory: Ebbtide, elsewhere: Ebbtide, clock: FixedClock) -> None:
    fill(memory, clock)
    exported = lines(memory)
    elsewhere.import_records(exported[:3])
    again = elsewhere.import_records(["", *exported])
    assert (again.imported, again.skipped) == (5, 3)
    assert lines(elsewhere) == exported


def test_a_scope_is_exported_alone(memory: Ebbtide) -> None:
    memory.remember("one", namespace="vector.team.a")
    memory.remember("two", namespace="vector.team.b", kind="note")
    assert [record["content"] for record in memory.export_records(namespaces="vector.team.a")] == ["one"]
    assert [record["content"] for record in memory.export_records(kinds="note")] == ["two"]
    assert list(memory.scoped(agent="another").export_records()) == []


def test_forgotten_memories_are_never_exported_and_never_come_back(memory: Ebbtide) -> None:
    kept = memory.remember("a secret").memory
    exported = lines(memory)
    memory.forget(kept.id, kept.revision)
    assert lines(memory) == []
    with pytest.raises(Tombstoned, match="Line 1"):
        memory.import_records(exported)


def test_only_content_is_needed(memory: Ebbtide, clock: FixedClock) -> None:
    told = memory.import_records([{"content": "Sailing is on Tuesdays"}, b'{"content": "Rowing is on Fridays"}'])
    assert (told.imported, told.reembedded) == (2, 2)
    hit = memory.recall("When is sailing?")[0]
    assert (hit.memory.created_at, hit.memory.embedding_pending, hit.memory.confidence) == (clock.now(), False, 0.7)


def test_the_same_words_under_a_new_id_are_a_duplicate(memory: Ebbtide) -> None:
    kept = memory.remember("Tea at four").memory
    successor = uuid4()
    told = memory.import_records(
        [
            {"content": "Tea at three", "superseded_by": str(successor)},
            {"content": "Tea  at four", "id": str(successor)},
        ]
    )
    assert (told.imported, told.duplicates) == (1, 1)
    old = next(record for record in memory.export_records() if record["content"] == "Tea at three")
    assert old["superseded_by"] == str(kept.id)


def test_vectors_of_another_model_are_made_anew(memory: Ebbtide, elsewhere: Ebbtide, clock: FixedClock) -> None:
    fill(memory, clock)
    exported = [record | {"model": "another", "vector": [0.1, 0.2]} for record in memory.export_records()]
    told = elsewhere.import_records(exported)
    assert (told.imported, told.reembedded) == (8, 8)
    assert [record["vector"] for record in elsewhere.export_records()] == [
        record["vector"] for record in memory.export_records()
    ]
    assert sum(record["context_vector"] is not None for record in elsewhere.export_records()) == 4


def test_without_an_embedder_vectors_are_carried_or_pending(memory: Ebbtide, open_store: Opener) -> None:
    memory.remember("one")
    exported = [*memory.export_records(), {"content": "two"}]
    blind = open_store(embedder=None).scoped(tenant="other")
    assert blind.import_records(exported).reembedded == 0
    pending = {record["content"]: record["vector"] is None for record in blind.export_records()}
    assert pending == {"one": False, "two": True}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ('{"id": 7, "content": "x"}', "id"),
        ("{}", "content"),
        ('{"content": " "}', "content"),
        ('{"content": "x", "colour": "red"}', "colour"),
        ('{"content": "x", "created_at": "2026-01-01T00:00:00"}', "created_at"),
        ('{"content": "x", "agent": "another"}', "agent"),
        ('{"content": "x", "chat": "a.b"}', "chat"),
        ('{"content": "x", "importance": 2}', "importance"),
        ('{"content": "x", "status": "tombstoned"}', "status"),
        ('{"content": "x", "versions": [{"content": "y"}]}', "versions.0.current_until"),
        (
            '{"content": "x", "revision": 2, "versions": [{"content": "", "current_until": "2026-01-01T00:00:00Z"}]}',
            "versions[0].content",
        ),
        ('{"content": "x", "versions": [{"content": "y", "current_until": "2026-01-01T00:00:00Z"}]}', "versions"),
        (b'{"content": "\xff"}', "line 2"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_stored(memory: Ebbtide, line: str | bytes, field: str) -> None:
    with pytest.raises(InvalidInput, match="Line 2: ") as caught:
        memory.import_records(['{"content": "fine"}', line])
    assert caught.value.field == field
    assert caught.value.remedy
    assert lines(memory) == []


def test_an_id_in_use_for_something_else_is_refused(memory: Ebbtide) -> None:
    kept = memory.remember("one").memory
    foreign = memory.scoped(agent="another").remember("two").memory
    for taken in (kept, foreign):
        with pytest.raises(Conflict, match="Line 1: "):
            memory.import_records([{"id": str(taken.id), "content": "something else"}])


def test_lines_must_be_lines(memory: Ebbtide) -> None:
    with pytest.raises(InvalidInput, match="records must be lines"):
        memory.import_records('{"content": "x"}')


def test_more_than_a_page_and_a_batch(memory: Ebbtide, elsewhere: Ebbtide) -> None:
    told: list[int] = []
    drafts = [{"content": f"memory number {number}", "vector": [1.0] * stores.DIMENSION} for number in range(1_203)]
    memory.remember_many(drafts)
    exported = lines(memory)
    assert [json.loads(line)["id"] for line in exported] == sorted(json.loads(line)["id"] for line in exported)
    assert elsewhere.import_records(iter(exported), progress=told.append).imported == 1_203
    assert told == [1_000, 1_203]
    assert lines(elsewhere) == exported


def test_an_export_that_is_left_gives_its_connection_back(memory: Ebbtide) -> None:
    memory.remember("one")
    for _ in range(10):
        records = memory.export_records()
        next(records)
        records.close()
    assert len(lines(memory)) == 1


async def test_both_directions_without_blocking(async_memory: AsyncEbbtide, embedder: FakeEmbedder) -> None:
    await async_memory.remember("one")
    other = async_memory.scoped(tenant="other")
    told = await other.import_records(async_memory.export_records())
    assert told.imported == 1
    assert [record async for record in other.export_records()] == [
        record async for record in async_memory.export_records()
    ]
