"""Databases for tests: one server a run, one prepared template on it, a clone of that for each test."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from procrastinate.schema import SchemaManager
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ebbtide.db.embedded import EmbeddedServer
from ebbtide.db.migrate import prepare
from ebbtide.db.statements import schema_text, statements
from ebbtide.models.fake import FakeEmbedder
from ebbtide.settings import Settings

FOLDER_VARIABLE = "EBBTIDE_TEST_FOLDER"
SERVER_VARIABLE = "EBBTIDE_TEST_DSN"
DIMENSION = 384
SETTINGS = Settings.from_environment(
    {}, in_process_worker=False, scope_cache_seconds=0, pool_connections=4, connect_timeout_seconds=10
)
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_numbers = count()


def reserve_folder() -> None:
    """Choose the folder of the run's server, in memory where there is room, and let worker processes know it."""
    if os.environ.get(SERVER_VARIABLE):
        return
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30
    os.environ[FOLDER_VARIABLE] = tempfile.mkdtemp(prefix="ebbtide-tests-", dir=memory if roomy else None)


def remove_folder() -> None:
    """Leave nothing of the run's server behind."""
    folder = os.environ.pop(FOLDER_VARIABLE, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_server() -> Generator[str]:
    """The DSN of the run's server: the one that the environment names, or an embedded one for all worker processes."""
    given = os.environ.get(SERVER_VARIABLE)
    if given:
        yield given
        return
    server = EmbeddedServer(Path(os.environ[FOLDER_VARIABLE]) / "server")
    dsn = server.start()
    with connected(dsn) as connection:
        # Nothing here has to outlive the run, and a vacuum in a template would hold up its cloning.
        for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield dsn
    finally:
        server.stop()


@contextmanager
def separate_server(*logins: str) -> Generator[str]:
    """The DSN of a server of its own, where no store made its roles yet; `logins` may log in once they are roles."""
    folder = Path(tempfile.mkdtemp(prefix="ebbtide-tests-", dir=os.environ.get(FOLDER_VARIABLE)))
    server = EmbeddedServer(folder / "server")
    dsn = server.start()
    try:
        with (folder / "server" / "data" / "pg_hba.conf").open("a", encoding="utf-8") as rules:
            rules.write("".join(f"local all {login} trust\n" for login in logins))
        with connected(dsn) as connection:
            connection.execute("SELECT pg_reload_conf()")
        yield dsn
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database_of(server: str, login: str) -> Generator[str]:
    """The DSN of a new database for a role that may make a store in it, and is no superuser; with the extensions."""
    with fresh_database(server) as dsn:
        with connected(dsn) as connection:
            name = sql.Identifier(connection.info.dbname)
            connection.execute("CREATE EXTENSION vector; CREATE EXTENSION btree_gin")
            connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(name, sql.Identifier(login)))
        yield make_conninfo(dsn, user=login)


@contextmanager
def connected(dsn: str) -> Generator[psycopg.Connection[Any]]:
    """An autocommitting connection."""
    with contextlib.closing(psycopg.connect(dsn, autocommit=True)) as connection:
        yield connection


def prepared_template(server: str) -> str:
    """The name of a database that is an empty store for `FakeEmbedder(384)`; made by the first process that asks."""
    made_of = f"{schema_text()}{sorted(statements().items())}{SchemaManager.get_schema()}"
    name = f"ebbtide_template_{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"
    with connected(server) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext('ebbtide tests'))")
        known = connection.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [name]
        ).fetchone()
        if known is None or known[0] != "ready":
            drop_database(connection, name)
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
            make_store(make_conninfo(server, dbname=name))
            connection.execute(sql.SQL("COMMENT ON DATABASE {} IS 'ready'").format(sql.Identifier(name)))
    return name


def make_store(dsn: str, dimension: int = DIMENSION) -> None:
    """Make an empty database into a store, as opening it would."""
    asyncio.run(prepare(dsn, SETTINGS, FakeEmbedder(dimension).identity, now=START))


@contextmanager
def fresh_database(server: str, template: str = "template0") -> Generator[str]:
    """The DSN of a new database, dropped afterwards with whatever is still connected to it."""
    name = f"ebbtide_test_{os.getpid()}_{next(_numbers)}"
    # Copying files is quickest in memory; elsewhere its checkpoints cost a second.
    strategy = sql.SQL("FILE_COPY" if os.environ.get(FOLDER_VARIABLE, "").startswith("/dev/shm") else "WAL_LOG")
    with connected(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY {}").format(
                sql.Identifier(name), sql.Identifier(template), strategy
            )
        )
        try:
            yield make_conninfo(server, dbname=name)
        finally:
            drop_database(connection, name)


def drop_database(connection: psycopg.Connection[Any], name: str) -> None:
    """Drop a database if it is there, whoever is connected."""
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
