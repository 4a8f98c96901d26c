"""What verbs on single things read in a store of thousands: little else than those, whatever the server knows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest

from ebbtide import AsyncEbbtide
from ebbtide.clock import FixedClock
from tests.plans import filled, made
from tests.stores import SETTINGS, START, connected

MOST_READ = 1_000
"""Rows of a table that such a verb may look at; less than a tenth of the smallest table here."""

READ = """
SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
WHERE schemaname = 'ebbtide' AND n_live_tup > 0"""

Verb = Callable[[AsyncEbbtide], Awaitable[Any]]


@pytest.fixture(scope="module")
def filled_dsn(server: str, template: str) -> Iterator[str]:
    with filled(server, template) as dsn:
        yield dsn


@pytest.fixture
async def large(filled_dsn: str) -> AsyncGenerator[AsyncEbbtide]:
    """A handle with two connections, whose reading is counted, and which knows already how large its scope is."""
    settings = SETTINGS.model_copy(update={"pool_connections": 2})
    async with AsyncEbbtide.open(filled_dsn, settings=settings, embedder=None, clock=FixedClock(START)) as handle:
        await handle.recall("w1")
        yield handle


async def rows_read(handle: AsyncEbbtide, owner: psycopg.Connection[Any]) -> Counter[str]:
    """How many rows of each table were read so far."""
    database = (await handle.engine()).database
    async with database.connection() as one, database.connection() as other:
        await one.execute("SELECT pg_stat_force_next_flush()")
        await other.execute("SELECT pg_stat_force_next_flush()")
    owner.execute("SELECT pg_stat_clear_snapshot()")
    return Counter(dict(owner.execute(READ).fetchall()))


def memory(number: int) -> str:
    return str(made(number, "m"))


def entity(number: int) -> str:
    return str(made(number, "e"))


async def separated(handle: AsyncEbbtide) -> None:
    await handle.supersede(memory(18), "another thing")
    await handle.separate(memory(18))


async def restored(handle: AsyncEbbtide) -> None:
    await handle.invalidate(memory(19))
    await handle.restore(memory(19))


async def rated(handle: AsyncEbbtide) -> None:
    found = await handle.recall("w33", limit=1)
    await handle.feedback(found.hits[0].id, "positive")


RELATION = {
    "subject": {"name": "name e5001", "type": "PERSON"},
    "predicate": "works_at",
    "object": {"name": "name e5003", "type": "PERSON"},
}

VERBS: dict[str, Verb] = {
    "get": lambda handle: handle.get(memory(11)),
    "browse": lambda handle: handle.browse(limit=20),
    "history": lambda handle: handle.history(memory(11)),
    "recall": lambda handle: handle.recall("w33"),
    "context": lambda handle: handle.context("w33"),
    "explain": lambda handle: handle.explain("w33", memory(33)),
    "remember": lambda handle: handle.remember("said anew", entities=[{"name": "name e5005", "type": "PERSON"}]),
    "remember a relation": lambda handle: handle.remember("related anew", relation=RELATION),
    "remember a subject": lambda handle: handle.remember("It is red", subject="car", predicate="colour"),
    "revise": lambda handle: handle.revise(memory(12), "revised"),
    "supersede": lambda handle: handle.supersede(memory(13), "superseded"),
    "invalidate": lambda handle: handle.invalidate(memory(14)),
    "confirm": lambda handle: handle.confirm(memory(15)),
    "importance": lambda handle: handle.update_importance(memory(15), 0.7),
    "restore": restored,
    "separate": separated,
    "provenance": lambda handle: handle.provenance(memory(50)),
    "feedback": rated,
    "forget": lambda handle: handle.forget(memory(16), 1),
    "forget a source": lambda handle: handle.forget(memory(99), 1),
    "forget some": lambda handle: handle.forget_where(ids=[memory(17)], dry_run=True),
    "conflicts": lambda handle: handle.conflicts.list(),
    "consolidate": lambda handle: handle.consolidate(),
    "record_run": lambda handle: handle.scoped(session="s").record_run("I live in Oslo", "Noted"),
    "entities.list": lambda handle: handle.entities.list(limit=20),
    "entities.list of a text": lambda handle: handle.entities.list(text="e77", limit=20),
    "entities.get": lambda handle: handle.entities.get(entity(21)),
    "entities.get by name": lambda handle: handle.entities.get("name e21"),
    "entities.neighbourhood": lambda handle: handle.entities.neighbourhood(entity(21)),
    "entities.add_alias": lambda handle: handle.entities.add_alias(entity(21), "another name"),
    "entities.remove_alias": lambda handle: handle.entities.remove_alias(entity(21), "another name"),
    "entities.merge": lambda handle: handle.entities.merge(entity(41), entity(43)),
    "entities.changes": lambda handle: handle.entities.changes(limit=20),
    "entities.page": lambda handle: handle.entities.page(entity(23), namespace="v.n1"),
    "relations.list": lambda handle: handle.relations.list(limit=20),
    "relations.path": lambda handle: handle.relations.path(entity(21), entity(23)),
    "ingest": lambda handle: handle.ingest("# Title\n\nA passage", namespace="v.docs"),
    "documents.list": lambda handle: handle.documents.list(),
    "episodes.add": lambda handle: handle.scoped(chat="c21").episodes.add("Hello"),
    "episodes.fork": lambda handle: handle.scoped(chat="c21").episodes.fork("b"),
    "episodes.branches": lambda handle: handle.episodes.branches("c1"),
    "fading.show": lambda handle: handle.forgetting.show(memory(11)),
    "holds": lambda handle: handle.holds.place(reason="a case", ids=[memory(18)]),
    "receipts": lambda handle: handle.receipts.list(),
    "audit": lambda handle: handle.audit.entries(),
}


@pytest.mark.parametrize("name", VERBS)
async def test_a_verb_on_single_things_reads_little_else(large: AsyncEbbtide, filled_dsn: str, name: str) -> None:
    with connected(filled_dsn) as owner:
        before = await rows_read(large, owner)
        await VERBS[name](large)
        read = await rows_read(large, owner) - before
    assert max(read.values(), default=0) <= MOST_READ, read.most_common(5)
