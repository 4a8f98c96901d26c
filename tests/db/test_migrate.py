"""Making a store: once, by whoever is first; the same by migrations as by the schema; and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.db.migrate import MIGRATIONS, SCHEMA_VERSION, prepare
from ebbtide.db.statements import schema_text, statement
from ebbtide.errors import (
    EbbtideError,
    ModelMismatch,
    SchemaOutdated,
    StoreError,
    StoreUnavailable,
    StoreUnsuitable,
)
from ebbtide.models.fake import FakeEmbedder
from tests.conftest import Opener
from tests.stores import SETTINGS, START, connected, fresh_database

CATALOGUE = """
SELECT 'column', c.relname, a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, pg_get_expr(d.adbin, d.adrelid))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'ebbtide'::regnamespace
UNION ALL
SELECT 'table', relname, relkind::text,
       concat_ws(' ', relrowsecurity, relforcerowsecurity, reloptions::text, pg_get_partkeydef(oid))
FROM pg_class WHERE relnamespace = 'ebbtide'::regnamespace
UNION ALL
SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'ebbtide'
UNION ALL
SELECT 'view', viewname, '', definition FROM pg_views WHERE schemaname = 'ebbtide'
UNION ALL
SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'ebbtide'::regnamespace AND contype <> 'n'
UNION ALL
SELECT 'policy', polrelid::regclass::text, polname,
       concat_ws(' ', polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
FROM pg_policy
ORDER BY 1, 2, 3, 4
"""


def catalogue(dsn: str, scripts: list[str]) -> list[tuple[Any, ...]]:
    """What a database holds after the scripts, as its catalogue tells it."""
    with connected(dsn) as connection:
        for step in ("create_schema", "create_vector", "create_btree_gin"):
            connection.execute(statement(f"migrate.{step}"))
        connection.execute("SET search_path = ebbtide, public")
        for script in scripts:
            connection.execute(script.encode())
        return connection.execute(CATALOGUE.encode()).fetchall()


def test_the_schema_is_what_the_migrations_make(server: str) -> None:
    with fresh_database(server) as one, fresh_database(server) as two:
        whole = catalogue(one, [schema_text()])
        stepwise = catalogue(two, [schema_text(f"migrations/{name}") for name in MIGRATIONS])
    assert len(whole) > 300
    assert whole == stepwise


def test_migrations_are_numbered_in_order() -> None:
    assert [int(name[:4]) for name in MIGRATIONS] == list(range(1, SCHEMA_VERSION + 1))


def test_opening_a_store_that_is_up_to_date_writes_nothing(dsn: str, open_store: Opener) -> None:
    open_store().close()
    with connected(dsn) as connection:
        before = connection.execute("SELECT xmin, ctid, * FROM ebbtide.store").fetchall()
        counts = "SELECT relname, n_tup_ins, n_tup_upd FROM pg_stat_user_tables ORDER BY relname"
        connection.execute("SELECT pg_stat_force_next_flush()")
        statistics = connection.execute(counts).fetchall()
        open_store().close()
        open_store(embedder=None).close()
        assert connection.execute("SELECT xmin, ctid, * FROM ebbtide.store").fetchall() == before
        assert connection.execute(counts).fetchall() == statistics


async def test_first_openings_at_once_make_one_store(empty_dsn: str) -> None:
    async def open_and_write(number: int) -> None:
        async with AsyncEbbtide.open(empty_dsn, settings=SETTINGS, embedder=FakeEmbedder(384)) as memory:
            await memory.remember(f"of {number}")

    await asyncio.gather(*(open_and_write(number) for number in range(5)))
    async with AsyncEbbtide.open(empty_dsn, settings=SETTINGS, embedder=FakeEmbedder(384)) as memory:
        assert len(await memory.browse()) == 5
    with connected(empty_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM ebbtide.store").fetchone() == (1,)


async def test_one_handle_opens_once_however_many_ask(dsn: str, embedder: FakeEmbedder) -> None:
    memory = AsyncEbbtide.open(dsn, settings=SETTINGS, embedder=embedder)
    engines = await asyncio.gather(*(memory.engine() for _ in range(5)))
    assert len({id(engine) for engine in engines}) == 1
    await memory.close()


def test_a_newer_store_is_left_alone(owner: psycopg.Connection[Any], open_store: Opener) -> None:
    owner.execute("UPDATE store SET schema_version = schema_version + 1")
    with pytest.raises(SchemaOutdated, match=f"version {SCHEMA_VERSION + 1}") as caught:
        open_store()
    assert "Upgrade" in (caught.value.remedy or "")


async def test_an_older_store_is_migrated_only_where_that_is_wanted(owner: psycopg.Connection[Any], dsn: str) -> None:
    owner.execute("UPDATE store SET schema_version = 0")
    with pytest.raises(SchemaOutdated) as caught:
        await prepare(dsn, SETTINGS, None, now=START, migrate=False)
    assert "ebbtide migrate" in (caught.value.remedy or "")


@pytest.mark.parametrize("other", [FakeEmbedder(768), FakeEmbedder(384, name="another")])
def test_another_model_is_refused_by_name(memory: Ebbtide, open_store: Opener, other: FakeEmbedder) -> None:
    memory.remember("x")
    with pytest.raises(ModelMismatch) as caught:
        open_store(embedder=other)
    error = caught.value
    assert "fake (384 dimensions)" in error.message
    assert f"{other.identity.name} ({other.identity.dimension} dimensions)" in error.message
    assert error.field == "embedder"
    assert "export" in (error.remedy or "")
    assert len(open_store(embedder=None).browse()) == 1


def test_a_store_takes_the_first_model_that_opens_it(empty_dsn: str, open_store: Opener) -> None:
    bare = open_store(empty_dsn, embedder=None)
    id_ = bare.remember("ferry").memory.id
    assert bare.get(id_).embedding_pending
    with_model = open_store(empty_dsn, embedder=FakeEmbedder(64))
    assert with_model.remember("ferry two").memory.embedding_pending is False
    with pytest.raises(ModelMismatch):
        open_store(empty_dsn, embedder=FakeEmbedder(384))


def test_a_model_of_too_many_dimensions_is_refused(empty_dsn: str, open_store: Opener) -> None:
    with pytest.raises(StoreUnsuitable, match="4001"):
        open_store(empty_dsn, embedder=FakeEmbedder(4001))


UNREACHABLE = [
    "postgresql://nobody@127.0.0.1:1/none",
    "postgresql://ebbtide.invalid/none",
    "host=/nowhere/at/all dbname=none",
    "postgresql:///none?host=/nowhere",
]


@pytest.mark.parametrize("location", UNREACHABLE)
def test_a_server_that_does_not_answer_is_named_so(open_store: Opener, location: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        open_store(location)
    assert caught.value.remedy


def test_a_database_that_is_not_there_or_not_ours_is_an_error(server: str, dsn: str, open_store: Opener) -> None:
    with pytest.raises(StoreError):
        open_store(make_conninfo(server, dbname="no_such_database"))
    for broken in ("postgresql://host:notaport/x", "postgresql://x?no_such_option=1"):
        with pytest.raises(EbbtideError):
            open_store(broken)


def test_a_password_is_never_told(open_store: Opener) -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://ana:s3cret@127.0.0.1:1/none")
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in str(caught.value.to_dict())


@pytest.mark.parametrize(
    ("missing", "words"), [("vector", "pgvector"), ("btree_gin", "contrib"), ("old vector", "0.8 or newer")]
)
async def test_a_server_that_lacks_something_is_told_what(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch, missing: str, words: str
) -> None:
    from ebbtide.db import migrate

    found = {"vector": "0.8.1", "btree_gin": "1.3"}
    found.pop(missing, None)
    if missing == "old vector":
        found["vector"] = "0.7.4"
    rows = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {}::text AS name, NULL AS installed_version, {}::text AS default_version").format(
            sql.Literal(name), sql.Literal(version)
        )
        for name, version in found.items()
    )
    monkeypatch.setattr(
        migrate, "statement", lambda name: rows if name == "migrate.extension_versions" else statement(name)
    )
    with pytest.raises(StoreUnsuitable) as caught:
        await prepare(empty_dsn, SETTINGS, None, now=START)
    assert words in str(caught.value)
    with connected(empty_dsn) as connection:
        assert connection.execute("SELECT to_regnamespace('ebbtide')").fetchone() == (None,)


async def test_a_user_without_rights_is_told_which(server: str, empty_dsn: str) -> None:
    with connected(empty_dsn) as connection:
        connection.execute("CREATE ROLE ebbtide_test_powerless NOLOGIN")
    try:
        powerless = make_conninfo(empty_dsn, options="-c role=ebbtide_test_powerless")
        with pytest.raises(StoreUnsuitable) as caught:
            await prepare(powerless, SETTINGS, None, now=START)
        assert "CREATE EXTENSION" in (caught.value.remedy or "")
    finally:
        with connected(empty_dsn) as connection:
            connection.execute("DROP ROLE ebbtide_test_powerless")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Any, open_store: Opener) -> None:
    path = tmp_path / "store"
    path.write_text("not a folder")
    with pytest.raises(StoreError) as caught:
        open_store(str(path))
    assert caught.value.remedy
    assert path.read_text() == "not a folder"
