"""Curation: what is merged and what never is, what is repaired, and that nothing is lost by either."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import psycopg
import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, EbbtideError, InvalidInput
from ebbtide.paths import consolidation
from ebbtide.types.curation import Consolidation
from tests.conftest import Opener
from tests.stores import SETTINGS
from tests.write.test_relations import direction

Owner = psycopg.Connection[Any]

SHORT = "User prefers dark mode in the editor."
FULL = "The user prefers the dark mode in the editor always"
NORTH = direction(1.0)


def remember_twice(memory: Ebbtide, first: str = SHORT, second: str = FULL, **more: Any) -> list[Any]:
    answers = [memory.remember(text, vector=NORTH, **more) for text in (first, second)]
    return [answer.memory for answer in answers]


def merge(memory: Ebbtide, **narrowed: Any) -> Consolidation:
    planned = memory.consolidate(**narrowed)
    return memory.consolidate(dry_run=False, token=planned.token, **narrowed)


def test_the_fuller_one_stays_with_the_marks_of_both(memory: Ebbtide, clock: FixedClock) -> None:
    first = memory.remember(
        SHORT, vector=NORTH, tags=["a"], labels=["x"], importance=0.9, metadata={"from": "chat", "n": 1}
    )
    clock.advance(timedelta(hours=1))
    second = memory.remember(FULL, vector=NORTH, tags=["b"], labels=["y"], confidence=0.95, metadata={"n": 2})
    clock.advance(timedelta(hours=1))
    planned = memory.consolidate()
    assert (planned.dry_run, planned.count) == (True, 1)
    assert len(memory.browse()) == 2
    done = memory.consolidate(dry_run=False, token=planned.token)
    assert (done.count, done.merges) == (1, planned.merges)
    [kept] = memory.browse()
    assert (kept.id, kept.content, kept.revision) == (second.memory.id, FULL, 2)
    assert (set(kept.tags), set(kept.labels)) == ({"a", "b"}, {"x", "y"})
    assert (kept.importance, kept.confidence) == (0.9, 0.95)
    assert dict(kept.metadata) == {"from": "chat", "n": 2}
    assert kept.created_at == first.memory.created_at
    assert kept.last_mentioned_at == second.memory.created_at
    gone = memory.get(first.memory.id)
    assert (gone.superseded_by, gone.maturity) == (kept.id, "superseded")
    assert memory.consolidate().count == 0


def test_what_the_shorter_one_says_holds_goes_on_to_hold(memory: Ebbtide) -> None:
    ann = {"name": "Ann", "type": "PERSON", "aliases": ["Annie"]}
    relation = {"subject": ann, "predicate": "likes", "object": {"name": "Vim", "type": "PRODUCT"}}
    for text in (SHORT, "The user prefers dark mode in the editor."):
        memory.remember(text, vector=NORTH, relation=relation)
    memory.remember(FULL, vector=NORTH)
    assert len(merge(memory).merges[0].merged) == 2
    [kept] = memory.browse()
    told = [(one.subject.name, one.predicate, one.object.name, one.memories) for one in memory.relations.list()]
    assert told == [("Ann", "likes", "Vim", (kept.id,))]
    assert memory.entities.get("Annie").facts == (kept,)


def test_a_turn_of_a_conversation_is_left_where_it_was_said(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c")
    answers = [chat.remember(text, vector=NORTH, kind="message") for text in (SHORT, FULL)]
    assert answers[1].outcome == "near_duplicate"
    assert merge(memory).count == 0
    assert [turn.memory.content for turn in chat.episodes.transcript()] == [SHORT, FULL]


def test_a_merge_is_written_down_and_taken_back(memory: Ebbtide, owner: Owner) -> None:
    short, full = remember_twice(memory)
    merge(memory)
    rows = dict(
        owner.execute("SELECT memory_id, detail FROM audit WHERE detail->>'operation' = 'consolidate'").fetchall()
    )
    assert rows[short.id]["by"] == str(full.id)
    assert rows[full.id]["merged"] == [str(short.id)]
    memory.separate(short.id)
    assert {one.content for one in memory.browse()} == {SHORT, FULL}
    assert [version.revision for version in memory.history(full.id)] == [1, 2]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"subject": "Ana"}),
        ({}, {"kind": "preference"}),
        ({"kind": "chunk"}, {"kind": "chunk"}),
        ({}, {"valid_from": "2025-01-01"}),
        ({"ttl_seconds": 86_400, "content": FULL}, {"content": SHORT}),
    ],
)
def test_what_says_something_else_stays(memory: Ebbtide, first: dict[str, Any], second: dict[str, Any]) -> None:
    drafts: list[dict[str, Any]] = [{"content": SHORT, **first}, {"content": FULL, **second}]
    memory.remember_many([{"vector": NORTH, **draft} for draft in drafts])
    assert memory.consolidate().count == 0


def test_two_rooms_and_two_users_are_never_merged(memory: Ebbtide, owner: Owner) -> None:
    remember_twice(memory, "Meeting in Room 101 at 9", "Meeting in Room 102 at 9")
    ids = [one.id for one in memory.browse()]
    owner.execute(
        "INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, created_at) "
        "VALUES ('default', %s, %s, 'near_duplicate', '2026-01-01')", ids
    )  # fmt: skip
    assert memory.consolidate().count == 0
    for user in ("ana", "bob"):
        memory.scoped(user=user).remember(
            SHORT if user == "ana" else FULL, vector=NORTH, namespace="vector.global.shared"
        )
    assert memory.consolidate().count == 0


def test_what_a_person_confirmed_stays(memory: Ebbtide) -> None:
    short, full = remember_twice(memory)
    memory.confirm(short.id)
    [one] = merge(memory).merges
    assert (one.kept, one.merged) == (short.id, (full.id,))


def test_a_held_memory_is_left_alone(memory: Ebbtide) -> None:
    short, full = remember_twice(memory)
    memory.holds.place(reason="a case", ids=[short.id])
    planned = memory.consolidate()
    assert (planned.count, planned.held) == (0, (short.id,))
    assert {one.id for one in memory.browse()} == {short.id, full.id}


def test_of_several_each_is_merged_once_and_one_stays(memory: Ebbtide) -> None:
    texts = [
        "User prefers dark mode in the editor",
        "The user prefers dark mode in an editor",
        "User prefers the dark mode in the editor.",
        FULL,
    ]
    for text in texts:
        memory.remember(text, vector=NORTH)
    done = merge(memory)
    assert sum(len(one.merged) for one in done.merges) == 3
    assert len(memory.browse()) == 1


@pytest.mark.parametrize(("token", "error"), [(None, InvalidInput), ("x", InvalidInput), ("1-a", Conflict)])
def test_nothing_is_merged_unseen(memory: Ebbtide, token: Any, error: type[EbbtideError]) -> None:
    remember_twice(memory)
    with pytest.raises(error) as caught:
        memory.consolidate(dry_run=False, token=token)
    assert caught.value.field == "token"
    assert len(memory.browse()) == 2


def test_a_token_ends_and_is_for_what_was_seen(memory: Ebbtide, clock: FixedClock) -> None:
    short, _ = remember_twice(memory)
    token = memory.consolidate().token
    memory.update_importance(short.id, 0.8)
    with pytest.raises(Conflict):
        memory.consolidate(dry_run=False, token=token)
    token = memory.consolidate().token
    clock.advance(timedelta(minutes=16))
    with pytest.raises(Conflict):
        memory.consolidate(dry_run=False, token=token)
    assert len(memory.browse()) == 2


def test_two_at_once_merge_once(memory: Ebbtide, open_store: Opener) -> None:
    remember_twice(memory)
    other = open_store()
    token = memory.consolidate().token

    def run(handle: Ebbtide) -> Any:
        try:
            return handle.consolidate(dry_run=False, token=token).count
        except Conflict:
            return "refused"

    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(run, (memory, other)))
    assert sorted(map(str, answers)) == ["1", "refused"]
    assert len(memory.browse()) == 1


def consolidate_and_die(dsn: str, token: str) -> None:
    """Stop for good in the middle of a merge, as a process does that is killed."""
    import ebbtide.paths.duplicates as module

    async def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async def run() -> None:
        from ebbtide.models.fake import FakeEmbedder
        from tests.stores import DIMENSION, START

        async with AsyncEbbtide.open(
            dsn, clock=FixedClock(START), settings=SETTINGS, embedder=FakeEmbedder(DIMENSION)
        ) as handle:
            await handle.consolidate(dry_run=False, token=token)

    module.supersede = die
    asyncio.run(run())


def test_after_a_kill_there_is_all_or_nothing(memory: Ebbtide, dsn: str) -> None:
    remember_twice(memory)
    before = memory.browse()
    token = memory.consolidate().token
    process = multiprocessing.get_context("spawn").Process(target=consolidate_and_die, args=(dsn, token))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert memory.browse() == before
    assert memory.consolidate(dry_run=False, token=token).count == 1


def remember_groups(memory: Ebbtide, count: int) -> list[list[Any]]:
    """So many pairs of near duplicates, each in a namespace of its own."""
    return [remember_twice(memory, namespace=f"vector.room.{number}") for number in range(count)]


def test_an_interruption_keeps_what_is_merged_and_the_rest_is_merged_later(
    memory: Ebbtide, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = remember_groups(memory, 5)
    real, begun = consolidation.merge, count()

    async def stopped(*given: Any) -> None:
        await real(*given)
        if next(begun) == 1:
            raise InterruptedError

    token = memory.consolidate().token
    with monkeypatch.context() as patched:
        patched.setattr(consolidation, "MERGED_AT_ONCE", 2)
        patched.setattr(consolidation, "merge", stopped)
        with pytest.raises(InterruptedError):
            memory.consolidate(dry_run=False, token=token)
    assert len(memory.browse(limit=100)) == 8
    with pytest.raises(Conflict):
        memory.consolidate(dry_run=False, token=token)
    assert merge(memory).count == 3
    kept = {one.namespace: one.id for one in memory.browse(limit=100)}
    assert kept == {f"vector.room.{number}": full.id for number, (_, full) in enumerate(groups)}


@pytest.mark.parametrize("change", ["forget", "revise"])
@pytest.mark.parametrize("place", [0, 1], ids=["the one that goes", "the one that stays"])
def test_what_is_changed_while_others_are_merged_is_left_alone(
    memory: Ebbtide, open_store: Opener, monkeypatch: pytest.MonkeyPatch, change: str, place: int
) -> None:
    groups, other = remember_groups(memory, 3), open_store()
    going, staying = groups[1]
    changed = groups[1][place]
    act = partial(other.forget, changed.id, 1) if change == "forget" else partial(other.revise, changed.id, "Light.")
    check = consolidation.check_token

    def checked(*given: Any) -> None:
        check(*given)
        act()

    token = memory.consolidate().token
    monkeypatch.setattr(consolidation, "check_token", checked)
    done = memory.consolidate(dry_run=False, token=token)
    assert {one.kept for one in done.merges} == {full.id for _, full in (groups[0], groups[2])}
    assert [one.ids for one in done.unmerged] == [(staying.id, going.id)]
    said = {one.content for one in memory.browse(namespaces="vector.room.1")}
    assert said == {groups[1][1 - place].content} | ({"Light."} if change == "revise" else set())


def test_a_merged_fact_goes_with_the_last_source(memory: Ebbtide, owner: Owner) -> None:
    sources = [memory.remember(text).memory for text in ("A long talk on editors", "Another chat on colours")]
    short, full = remember_twice(memory)
    for fact, source in zip((short, full), sources, strict=True):
        owner.execute(
            "INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at) "
            "VALUES ('default', %s, %s, false, '2026-01-01')", (fact.id, source.id)
        )  # fmt: skip
    merge(memory)
    memory.forget(sources[1].id, 1)
    assert memory.get(full.id).content == FULL
    memory.forget(sources[0].id, 1)
    assert FULL not in {one.content for one in memory.browse()}


def vectors_of(owner: Owner) -> tuple[list[Any], list[float]]:
    """Ids and counts of tokens, and all numbers of the vectors that are there."""
    rows = owner.execute(
        "SELECT id, tokens, embedding::text, context_embedding::text FROM memory ORDER BY id"
    ).fetchall()
    numbers = [number for row in rows for vector in row[2:] if vector is not None for number in json.loads(vector)]
    return [(row[0], row[1], row[3] is None) for row in rows], numbers


def test_reconcile_repairs_what_is_derived_and_nothing_twice(memory: Ebbtide, owner: Owner) -> None:
    chat = memory.scoped(chat="c")
    turns = chat.remember_many(
        [{"content": f"turn {place} of the talk", "kind": "message", "seq": place} for place in range(3)]
    )
    ids = [answer.memory.id for answer in turns]
    plain = memory.remember("The gate code is 4711").memory
    before, numbers = vectors_of(owner)
    owner.execute("UPDATE memory SET context_embedding = NULL WHERE id = %s", [ids[1]])
    owner.execute("UPDATE memory SET context_embedding = embedding WHERE id = %s", [ids[2]])
    owner.execute("UPDATE memory SET tokens = NULL, counted_by = NULL WHERE id = %s", [ids[0]])
    owner.execute("UPDATE memory SET embedding = NULL WHERE id = %s", [plain.id])
    owner.execute(
        "INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, confidence, created_at) "
        "VALUES ('default', %s, %s, 'update', 0.8, '2026-01-01')", [plain.id, ids[0]]
    )  # fmt: skip
    planned = memory.reconcile()
    assert planned.model_dump(include={"vectors", "tokens", "context_vectors", "update_links", "pending"}) == {
        "vectors": 1, "tokens": 1, "context_vectors": 2, "update_links": 1, "pending": 1,
    }  # fmt: skip
    done = memory.reconcile(dry_run=False)
    assert done.model_dump(exclude={"dry_run", "pending"}) == planned.model_dump(exclude={"dry_run", "pending"})
    assert (done.repaired, done.pending) == (5, 0)
    after, repaired = vectors_of(owner)
    assert after == before
    # What is made of rounded vectors is right to two digits.
    assert repaired == pytest.approx(numbers, abs=4e-3)
    assert memory.reconcile().repaired == 0
    assert memory.reconcile(dry_run=False).repaired == 0
    assert owner.execute("SELECT count(*) FROM audit WHERE detail->>'operation' = 'reconcile'").fetchone() == (1,)


def test_reconcile_removes_what_names_the_forgotten(memory: Ebbtide, owner: Owner) -> None:
    gone, other = memory.remember("The gate code is 4711").memory, memory.remember("Tea is at four").memory
    memory.forget(gone.id, 1)
    owner.execute("INSERT INTO strength (tenant_id, memory_id) VALUES ('default', %s)", [gone.id])
    owner.execute(
        "INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, created_at) "
        "VALUES ('default', %s, %s, 'near_duplicate', '2026-01-01')", [other.id, gone.id]
    )  # fmt: skip
    assert memory.reconcile(dry_run=False).leftovers == 2
    assert memory.reconcile().leftovers == 0


def test_without_an_embedder_the_vectors_stay_missing(open_store: Opener) -> None:
    memory = open_store(embedder=None)
    memory.remember("The gate code is 4711")
    report = memory.reconcile(dry_run=False)
    assert (report.vectors, report.pending) == (0, 1)
