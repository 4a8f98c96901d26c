"""The plans of the read path, as the role of every handle runs it: each lookup by the index that was made for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg import sql

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from ebbtide.db.database import SESSION, Transaction
from ebbtide.jobs.index import build_vector_index
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.scope import make_scope
from ebbtide.settings import Settings
from ebbtide.types.caller import Caller
from tests.plans import nodes, prepared
from tests.stores import DIMENSION, SETTINGS, START, connected, database_of, fresh_database, separate_server

ROWS = 2_500
LARGE = Settings.from_environment({}, **{**SETTINGS.model_dump(), "exact_search_rows": 500})


def vectors(count: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)


@pytest.fixture(scope="module", params=["superuser", "maker of roles"])
def large_dsn(server: str, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A store of one agent with 2,500 memories, beside a smaller one; its vectors have an index.

    Once it is that of a superuser, once that of a user who may do no more than make roles.
    """

    async def fill(dsn: str) -> None:
        embedder = FakeEmbedder(DIMENSION)
        async with AsyncEbbtide.open(dsn, settings=LARGE, embedder=embedder, clock=FixedClock(START)) as memory:
            chat = memory.scoped(chat="c1")
            made = vectors(ROWS, 1)
            await chat.remember_many(
                [
                    {
                        "content": f"w{place} w{place % 97} common",
                        "seq": place,
                        "vector": made[place],
                        "namespace": f"v.n{place % 40}",
                    }
                    for place in range(ROWS)
                ]
            )
            other = memory.scoped(agent="small")
            await other.remember_many(
                [{"content": f"small w{place}", "vector": vector} for place, vector in enumerate(vectors(50, 2))]
            )
            engine = await memory.engine()
            async with engine.database.transaction("default", snapshot=True) as transaction:
                partition = (await transaction.one("recall.partition", tenant="default"))[0]
            await build_vector_index(engine, partition=partition)

    with ExitStack() as stack:
        if request.param == "superuser":
            dsn = stack.enter_context(fresh_database(server, template))
        else:
            separate = stack.enter_context(separate_server("plain"))
            with connected(separate) as connection:
                connection.execute("CREATE ROLE plain LOGIN NOSUPERUSER NOBYPASSRLS CREATEROLE")
            dsn = stack.enter_context(database_of(separate, "plain"))
        asyncio.run(fill(dsn))
        with connected(dsn) as connection:
            connection.execute("ANALYZE ebbtide.memory")
        yield dsn


@pytest.fixture
def reader(large_dsn: str) -> Any:
    """A session as the engine configures it, within the tenant `default`."""
    with connected(large_dsn) as connection:
        connection.execute(SESSION.encode())
        connection.execute("SET ROLE ebbtide_app; SET ebbtide.tenant = 'default'")
        yield connection


def finds_words_by_index(plan: dict[str, Any]) -> bool:
    """Whether the index of words looks up the words themselves, and not the tenant and the agent alone."""
    return any(
        node.get("Index Name", "").endswith("agent_id_search_idx") and "@@" in node.get("Index Cond", "")
        for node in nodes(plan)
    )


@pytest.mark.parametrize(
    ("profile", "statement"),
    [
        ("tide", "recall.indexed"),
        ("agentium", "recall.indexed_weighed"),
        ("tide", "recall.worded"),
        ("agentium", "recall.worded_weighed"),
    ],
)
@pytest.mark.parametrize(("ending", "narrowed"), [("_whole", {}), ("", {"kinds": ["fact", "note"]})])
async def test_a_large_scope_is_searched_by_its_indexes(
    large_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
    profile: str,
    statement: str,
    ending: str,
    narrowed: dict[str, Any],
) -> None:
    plans: dict[str, dict[str, Any]] = {}
    statement += ending
    original = Transaction.run

    async def run(self: Transaction, name: str, /, **values: Any) -> Any:
        if name == statement:
            prepare, explain = prepared(name, values)
            await self.connection.execute(prepare)
            row = await (await self.connection.execute(explain)).fetchone()
            assert row is not None
            plans[name] = row[0][0]["Plan"]
        return await original(self, name, **values)

    monkeypatch.setattr(Transaction, "run", run)
    embedder = None if statement.startswith("recall.worded") else FakeEmbedder(DIMENSION)
    async with AsyncEbbtide.open(large_dsn, settings=LARGE, embedder=embedder, clock=FixedClock(START)) as memory:
        await memory.recall("w17 w4", profile=profile, **narrowed)
    plan = plans[statement]
    assert finds_words_by_index(plan)
    text = json.dumps(plan)
    for index in ("chat_id_sequence_idx" if profile == "tide" else "_pkey", "_vectors" if embedder else "_pkey"):
        assert index in text, index
    assert "Subplans Removed" in text


LOOKUPS: list[tuple[str, dict[str, Any]]] = [
    ("memory.by_ids", {"ids": [UUID(int=1)]}),
    ("memory.history", {"id": UUID(int=1)}),
    ("memory.for_update", {"id": UUID(int=1)}),
    ("remember.find_duplicates", {"namespaces": ["v.n1"], "hashes": [b"x"]}),
    ("remember.neighbours", {"places": [0], "chats": ["c1"], "sequences": [5]}),
    ("memory.following_turns", {"chat": "c1", "sequence": 5}),
    ("recall.rows", {"ids": [UUID(int=1)], "counter": "fake"}),
    ("fade.curve", {"id": UUID(int=1)}),
    ("fade.decay", {"after": UUID(int=0), "limit": 5_000}),
    ("fade.reinforce", {"ids": [UUID(int=1)], "counts": [1], "moments": [START]}),
    (
        "fade.remembered",
        {
            **make_scope(Caller("default", "default"), START).parameters(),
            "terms": ["'w17'"],
            "any_term": "'w17'",
            "idfs": [1.0],
            "hits": [UUID(int=1)],
            "enough": 3,
            "limit": 10,
        },
    ),
]


@pytest.mark.parametrize(("name", "values"), LOOKUPS)
def test_no_lookup_reads_a_whole_partition(reader: psycopg.Connection[Any], name: str, values: dict[str, Any]) -> None:
    # What matters is that an index can serve the lookup; on tables this small, reading all may be as cheap.
    reader.execute("SET enable_seqscan = off")
    prepare, explain = prepared(name, {"tenant": "default", "agent": "default", "as_of": None, "now": START, **values})
    reader.execute(prepare)
    row = reader.execute(explain).fetchone()
    assert row is not None
    assert [node["Relation Name"] for node in nodes(row[0][0]["Plan"]) if node["Node Type"] == "Seq Scan"] == []
    assert "Index Cond" in json.dumps(row[0])


async def search(dsn: str, settings: Settings, agent: str, vector: Any, **narrowed: Any) -> Any:
    handle = AsyncEbbtide.open(
        dsn, agent=agent, settings=settings, embedder=FakeEmbedder(DIMENSION), clock=FixedClock(START)
    )
    async with handle as memory:
        asked: dict[str, Any] = {"profile": "agentium", "limit": 10, "min_score": 0, "trace": True, **narrowed}
        return await memory.recall("x", vector=vector, **asked)


EXACT = Settings.from_environment({}, **{**SETTINGS.model_dump(), "exact_search_rows": 1_000_000})


async def test_the_indexed_route_finds_what_the_exact_one_does(large_dsn: str) -> None:
    shared = 0
    for vector in vectors(10, 4):
        indexed = await search(large_dsn, LARGE, "default", vector)
        exact = await search(large_dsn, EXACT, "default", vector)
        assert (indexed.trace.route, exact.trace.route) == ("indexed", "exact")
        shared += len({hit.id for hit in indexed} & {hit.id for hit in exact})
    assert shared >= 95


async def test_a_narrow_scope_in_a_large_store_is_full(large_dsn: str) -> None:
    vector = vectors(1, 5)[0]
    for narrowed in ({"namespaces": ["v.n7"]}, {"namespaces": ["v.n7"], "where": {"seq": {"lt": 1_500}}}):
        found = await search(large_dsn, LARGE, "default", vector, **narrowed)
        exact = await search(large_dsn, EXACT, "default", vector, **narrowed)
        assert len(found) == 10
        assert [hit.id for hit in found] == [hit.id for hit in exact]
    small = await search(large_dsn, LARGE, "small", vector)
    assert len(small) == 10
    assert small.trace.route == "exact"


async def test_a_filtered_search_of_a_large_scope_is_full(large_dsn: str) -> None:
    vector = vectors(1, 6)[0]
    narrowed: dict[str, Any] = {"where": {"seq": {"gte": 2_300}}}
    found = await search(large_dsn, LARGE, "default", vector, **narrowed)
    exact = await search(large_dsn, EXACT, "default", vector, **narrowed)
    assert found.trace.route == "indexed"
    assert len(found) == 10
    assert len({hit.id for hit in found} & {hit.id for hit in exact}) >= 9


def test_a_template_never_grows_an_index_by_itself(large_dsn: str) -> None:
    with connected(large_dsn) as connection:
        rows = connection.execute(
            sql.SQL("SELECT count(*) FROM pg_indexes WHERE schemaname = 'ebbtide' AND indexdef LIKE {}").format(
                sql.Literal("%hnsw%")
            )
        ).fetchone()
    assert rows == (1,)
