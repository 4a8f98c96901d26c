"""The two faces: the same verbs with the same signatures, scopes, lifetimes and answers as JSON."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import ebbtide
from ebbtide import AsyncEbbtide, Ebbtide, Settings
from ebbtide.blocking import Documents, Fading, Profiles
from ebbtide.clock import FixedClock
from ebbtide.errors import EbbtideError, InvalidInput, ModelUnavailable, NotFound
from ebbtide.groups.documents import AsyncDocuments
from ebbtide.groups.fading import AsyncFading
from ebbtide.groups.profiles import AsyncProfiles
from ebbtide.models.fake import FakeEmbedder
from tests.conftest import Opener
from tests.stores import DIMENSION, SETTINGS

VERBS = [
    "remember", "remember_many", "recall", "context", "explain", "get", "browse", "history", "revise", "forget",
    "supersede", "invalidate", "restore", "confirm", "update_importance", "feedback", "record_run", "session_revision",
    "ingest", "provenance", "separate", "consolidate", "reconcile", "export_markdown", "extract",
]  # fmt: skip


OF_ONE_CALL: Any = {"recall_id": True, "trace": {"milliseconds"}}


@pytest.mark.parametrize(
    ("blocking", "asynchronous", "verbs"),
    [
        (Ebbtide, AsyncEbbtide, VERBS),
        (Profiles, AsyncProfiles, ["save", "list", "get", "tune", "keep"]),
        (Documents, AsyncDocuments, ["list", "get", "forget"]),
        (Fading, AsyncFading, ["enable", "disable", "show", "plan", "run"]),
    ],
)
def test_both_faces_have_the_same_verbs(blocking: type, asynchronous: type, verbs: list[str]) -> None:
    for verb in verbs:
        one, two = getattr(blocking, verb), getattr(asynchronous, verb)
        assert inspect.signature(one) == inspect.signature(two), verb
        assert one.__doc__ == two.__doc__
        assert len(two.__doc__) > 20
        assert inspect.iscoroutinefunction(two)


def test_both_faces_open_alike() -> None:
    assert inspect.signature(Ebbtide.open).parameters == inspect.signature(AsyncEbbtide.open).parameters
    names = list(inspect.signature(Ebbtide.open).parameters)
    assert names[:8] == ["location", "tenant", "agent", "user", "task", "chat", "session", "timezone"]


def test_everything_public_is_there() -> None:
    for name in ebbtide.__all__:
        assert getattr(ebbtide, name).__doc__, name


def test_a_bound_verb_shows_its_signature(memory: Ebbtide) -> None:
    assert "namespaces" in inspect.signature(memory.recall).parameters
    assert memory.recall.__doc__ == AsyncEbbtide.recall.__doc__


async def test_the_asynchronous_face_answers_as_the_blocking_one(dsn: str, async_memory: AsyncEbbtide) -> None:
    clock = FixedClock(SETTINGS and (await async_memory.engine()).clock.now())

    def ask() -> list[str]:
        with Ebbtide.open(dsn, settings=SETTINGS, embedder=FakeEmbedder(DIMENSION), clock=clock) as memory:
            return [memory.recall("ferry", trace=True).model_dump_json(exclude=OF_ONE_CALL)]

    await async_memory.remember_many(["The ferry leaves at seven", "Ana likes oranges"])
    blocking = await asyncio.to_thread(ask)
    mine = await async_memory.recall("ferry", trace=True)
    assert [mine.model_dump_json(exclude=OF_ONE_CALL)] == blocking


def test_a_recall_as_json(memory: Ebbtide) -> None:
    memory.remember("The ferry leaves at seven")
    shown = json.loads(memory.recall("ferry").model_dump_json())
    assert set(shown) == {"hits", "nothing_relevant", "trace", "recall_id"}
    assert set(shown["hits"][0]) == {
        "id", "content", "namespace", "kind", "similarity", "relevance", "source", "contributions", "duplicates",
    }  # fmt: skip
    traced = json.loads(memory.recall("ferry", trace=True).model_dump_json())["trace"]
    assert {"query", "candidates", "drops", "milliseconds", "profile"} <= set(traced)


def test_a_remembered_as_json(memory: Ebbtide) -> None:
    shown = json.loads(memory.remember("The ferry leaves at seven", tags=["a"]).model_dump_json())
    assert {"outcome", "memory"} <= set(shown)
    assert shown["memory"]["tags"] == ["a"]
    assert shown["memory"]["created_at"].endswith(("Z", "+00:00"))


def test_a_recall_is_a_sequence_of_its_hits(memory: Ebbtide) -> None:
    memory.remember_many(["ferry one", "ferry two"])
    answer = memory.recall("ferry")
    assert list(answer) == list(answer.hits)
    assert (len(answer), answer[0], answer[-1]) == (2, answer.hits[0], answer.hits[1])


def test_a_scope_changes_who_asks_and_nothing_else(memory: Ebbtide) -> None:
    scoped = memory.scoped(user="ana", task="t", chat="c", session="s", timezone="Asia/Tokyo", tenant="x", agent="y")
    caller = scoped.caller
    assert (caller.user, caller.task, caller.chat, caller.session) == ("ana", "t", "c", "s")
    assert (caller.timezone, caller.tenant, caller.agent) == ("Asia/Tokyo", "x", "y")
    assert (memory.caller.user, memory.caller.tenant) == (None, "default")
    assert scoped.scoped(user=None).caller.user is None
    with pytest.raises(InvalidInput) as caught:
        memory.scoped(usr="ana")
    assert caught.value.field == "usr"


def test_leaving_a_scope_leaves_the_store_open(memory: Ebbtide) -> None:
    with memory.scoped(user="ana") as scoped:
        scoped.remember("x")
    assert len(memory.browse()) == 1
    scoped.close()
    assert len(memory.browse()) == 1


async def test_a_closed_asynchronous_handle_says_so(dsn: str, embedder: FakeEmbedder) -> None:
    memory = await AsyncEbbtide.open(dsn, settings=SETTINGS, embedder=embedder)
    scoped = memory.scoped(agent="b")
    await memory.remember("x")
    await memory.close()
    await memory.close()
    for handle in (memory, scoped):
        with pytest.raises(InvalidInput, match="closed"):
            await handle.browse()


def test_many_threads_share_a_handle(memory: Ebbtide) -> None:
    def work(number: int) -> int:
        memory.remember(f"ferry {number}")
        return len(memory.recall("ferry", limit=50))

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(24)))
    assert all(count >= 1 for count in counts)
    assert len(memory.browse()) == 24


async def test_many_tasks_share_a_handle(async_memory: AsyncEbbtide) -> None:
    await asyncio.gather(*(async_memory.remember(f"ferry {number}") for number in range(24)))
    answers = await asyncio.gather(*(async_memory.recall("ferry", limit=50) for _ in range(12)))
    assert {len(answer) for answer in answers} == {24}


def test_a_cancelled_call_leaves_the_handle_sound(dsn: str, embedder: FakeEmbedder) -> None:
    async def run() -> int:
        async with AsyncEbbtide.open(dsn, settings=SETTINGS, embedder=embedder) as memory:
            await memory.remember("ferry")
            for delay in (0, 0.001, 0.002, 0.004, 0.008):
                task = asyncio.create_task(memory.remember_many([f"ferry {delay} {n}" for n in range(50)]))
                await asyncio.sleep(delay)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                assert len(await memory.browse(limit=1000)) % 50 == 1
            return len(await memory.recall("ferry", limit=10))

    assert asyncio.run(run()) >= 1


def test_a_handle_leaves_no_thread_behind(open_store: Opener) -> None:
    before = threading.active_count()
    memory = open_store()
    memory.remember("x")
    memory.close()
    assert threading.active_count() <= before


def test_the_setting_says_where_the_store_is(dsn: str, monkeypatch: pytest.MonkeyPatch, embedder: FakeEmbedder) -> None:
    monkeypatch.setenv("EBBTIDE_STORE", dsn)
    monkeypatch.setenv("EBBTIDE_EMBEDDER", "fake:384")
    monkeypatch.setenv("EBBTIDE_IN_PROCESS_WORKER", "false")
    with Ebbtide.open() as memory:
        assert memory.remember("x").memory.embedding_pending is False


@pytest.mark.parametrize("location", ["", "  ", "a\0b"])
def test_a_location_that_is_none_is_refused(location: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ebbtide.open(location, embedder=None)
    assert caught.value.field == "location"


def test_an_embedder_that_is_none_is_refused() -> None:
    for spec in ("unheard-of", "fake:3", "http://nowhere"):
        with pytest.raises(InvalidInput) as caught:
            Ebbtide.open("postgresql://nowhere.invalid/x", embedder=spec)
        assert caught.value.field == "embedder"


def test_a_folder_makes_a_store_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "mémoire d'Ana"
    settings = Settings.from_environment({}, in_process_worker=False)
    for round_ in range(2):
        with Ebbtide.open(folder, settings=settings, embedder=FakeEmbedder(DIMENSION)) as memory:
            assert len(memory.browse()) == round_
            memory.remember(f"ferry {round_}")


class Failing(FakeEmbedder):
    """A model that does not answer."""

    async def embed(self, texts: Any) -> Any:
        raise ModelUnavailable("The endpoint does not answer.", remedy="Start it.")


def test_a_model_that_fails_writes_nothing_unless_that_is_allowed(open_store: Opener, owner: Any) -> None:
    memory = open_store(embedder=Failing(DIMENSION))
    with pytest.raises(ModelUnavailable):
        memory.remember("ferry")
    with pytest.raises(ModelUnavailable):
        memory.recall("ferry")
    assert memory.browse() == []
    stored = memory.remember("ferry", allow_pending=True)
    assert stored.outcome == "stored"
    assert stored.memory.embedding_pending is True
    jobs = owner.execute("SELECT task_name, status::text, args ->> 'tenant' FROM procrastinate_jobs").fetchall()
    assert jobs == [("embed_pending", "todo", "default")]
    memory.remember("another ferry", allow_pending=True)
    assert owner.execute("SELECT count(*) FROM procrastinate_jobs").fetchone() == (1,)


def test_a_model_that_fails_spares_what_needs_no_vector(open_store: Opener) -> None:
    open_store().remember("ferry")
    memory = open_store(embedder=Failing(DIMENSION))
    assert memory.remember("ferry").outcome == "duplicate"
    assert len(memory.recall("ferry", vector=[1.0] + [0.0] * (DIMENSION - 1))) == 1


def test_accesses_are_written_while_the_store_is_open(open_store: Opener, clock: FixedClock, owner: Any) -> None:
    settings = Settings.from_environment({}, **{**SETTINGS.model_dump(), "flush_seconds": 0.05})
    memory = open_store(settings=settings)
    memory.remember("ferry")
    clock.advance(timedelta(minutes=1))
    memory.recall("ferry")
    row = None
    for _ in range(100):
        row = owner.execute("SELECT access_count, last_accessed_at FROM strength").fetchone()
        if row:
            break
        threading.Event().wait(0.02)
    assert row == (1, clock.now())


def test_an_error_has_one_shape(memory: Ebbtide) -> None:
    shapes = list[dict[str, Any]]()
    calls = [
        lambda: memory.remember(""),
        lambda: memory.get("00000000-0000-0000-0000-000000000000"),
        lambda: memory.recall(""),
    ]
    for call in calls:
        with pytest.raises(EbbtideError) as caught:
            call()
        shapes.append(caught.value.to_dict()["error"])
        assert str(caught.value) == f"{caught.value.message} {caught.value.remedy}"
    assert [shape["code"] for shape in shapes] == ["invalid_input", "not_found", "invalid_input"]
    assert all(set(shape) == {"code", "message", "field", "remedy"} for shape in shapes)
    assert (InvalidInput.status, NotFound.status) == (400, 404)
