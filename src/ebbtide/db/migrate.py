"""Makes a database into a store, brings an older store up to date, and checks what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import namedtuple_row

from ebbtide.db.errors import translated
from ebbtide.db.location import address_of
from ebbtide.db.roles import can_set_up_roles, check_isolation, grant, set_up_roles
from ebbtide.db.statements import schema_text, statement
from ebbtide.errors import InvalidInput, ModelMismatch, SchemaOutdated, StoreUnsuitable

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.models.protocols import ModelIdentity
    from ebbtide.settings import Settings

__all__ = ["MIGRATIONS", "SCHEMA_VERSION", "StoreFacts", "prepare"]

# Each migration's file, in order; a store at version n has had the first n.
MIGRATIONS = ("0001_initial.sql",)
SCHEMA_VERSION = len(MIGRATIONS)

OLDEST_SERVER = 150_000
OLDEST_VECTOR = (0, 8)
LARGEST_DIMENSION = 4_000


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What an opened store is: the role of its transactions, the stemming of its words, the model of its vectors."""

    role: str | None
    text_search_configuration: str
    model_name: str | None
    model_dimension: int | None


async def prepare(
    dsn: str, settings: Settings, identity: ModelIdentity | None, *, now: datetime, migrate: bool = True
) -> StoreFacts:
    """Make sure the database at `dsn` is a store of this version that `identity`'s vectors fit.

    A fresh database becomes a store; an older store is migrated where `migrate` is set.

    Raises:
        StoreUnavailable: the server does not answer.
        StoreUnsuitable: the server is too old, or lacks an extension or a right.
        SchemaOutdated: the store is newer than this program, or older and `migrate` is not set.
        ModelMismatch: the store's vectors come from another model.
    """
    with translated(address_of(dsn)):
        timeout = max(1, int(settings.connect_timeout_seconds))
        async with await AsyncConnection.connect(
            dsn, autocommit=True, connect_timeout=timeout, row_factory=namedtuple_row
        ) as connection:
            await connection.execute("SET search_path = ebbtide, public; SET client_min_messages = warning")
            facts = await _facts(connection) if await _is_store(connection) else None
            if facts is None or not _is_current(facts, identity) or await can_set_up_roles(connection, facts):
                facts = await _bring_up_to_date(connection, settings, identity, now=now, migrate=migrate)
            check_isolation(facts)
            _check_model(facts, identity)
            return StoreFacts(
                role="ebbtide_app" if facts.has_role else None,
                text_search_configuration=facts.text_search_configuration,
                model_name=facts.model_name,
                model_dimension=facts.model_dimension,
            )


async def _one(connection: AsyncConnection[Any], name: str, **values: Any) -> Any:
    return await (await connection.execute(statement(f"migrate.{name}"), values)).fetchone()


async def _is_store(connection: AsyncConnection[Any]) -> bool:
    return bool((await _one(connection, "schema_exists"))[0])


async def _facts(connection: AsyncConnection[Any]) -> Any:
    return await _one(connection, "store")


def _is_current(facts: Any, identity: ModelIdentity | None) -> bool:
    return facts.schema_version == SCHEMA_VERSION and (identity is None or facts.model_name is not None)


async def _bring_up_to_date(
    connection: AsyncConnection[Any],
    settings: Settings,
    identity: ModelIdentity | None,
    *,
    now: datetime,
    migrate: bool,
) -> Any:
    await _check_server(connection)
    async with connection.transaction():
        await connection.execute(statement("migrate.lock"))
        if not await _is_store(connection):
            await _create(connection, settings, now=now)
        await _migrate(connection, migrate=migrate)
        await set_up_roles(connection, await _facts(connection))
        facts = await _facts(connection)
        check_isolation(facts)
        if identity is not None and facts.model_name is None:
            await _record_model(connection, identity)
        return await _facts(connection)


async def _check_server(connection: AsyncConnection[Any]) -> None:
    server = await _one(connection, "server_facts")
    if server.version < OLDEST_SERVER:
        raise StoreUnsuitable(
            f"The server is PostgreSQL {server.version // 10_000}; Ebbtide needs 15 or newer.",
            remedy="Upgrade the server.",
        )
    rows = await (await connection.execute(statement("migrate.extension_versions"))).fetchall()
    versions = {row.name: row.installed_version or row.default_version for row in rows}
    if "vector" not in versions:
        raise StoreUnsuitable(
            "The server has no pgvector.",
            remedy="Install pgvector 0.8 or newer on it (Debian: postgresql-<version>-pgvector).",
        )
    if tuple(int(part) for part in versions["vector"].split(".")[:2]) < OLDEST_VECTOR:
        raise StoreUnsuitable(
            f"The database has pgvector {versions['vector']}; Ebbtide needs 0.8 or newer.",
            remedy="Install a newer pgvector and run ALTER EXTENSION vector UPDATE.",
        )
    if "btree_gin" not in versions:
        raise StoreUnsuitable(
            "The server has no btree_gin.",
            remedy="Install PostgreSQL's contrib modules on it (Debian: part of postgresql-<version>).",
        )


async def _create(connection: AsyncConnection[Any], settings: Settings, *, now: datetime) -> None:
    """Everything a fresh database needs, in the transaction of the caller."""
    from procrastinate.schema import SchemaManager

    try:
        for step in ("create_schema", "create_vector", "create_btree_gin"):
            await connection.execute(statement(f"migrate.{step}"))
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreUnsuitable(
            "This user may not create Ebbtide's schema and extensions.",
            remedy="As a superuser: CREATE EXTENSION vector; CREATE EXTENSION btree_gin; "
            "GRANT CREATE ON DATABASE … TO this user.",
        ) from error
    await connection.execute(schema_text())
    await connection.execute(SchemaManager.get_schema().encode())
    configuration = settings.text_search_configuration
    if not (await _one(connection, "has_configuration", configuration=configuration))[0]:
        raise InvalidInput(
            f"The server has no text search configuration {configuration}.",
            field="text_search_configuration",
            remedy="Use one that it has, such as english, german or simple.",
        )
    values = {"version": SCHEMA_VERSION, "configuration": configuration, "now": now}
    await connection.execute(statement("migrate.record_store"), values)


async def _migrate(connection: AsyncConnection[Any], *, migrate: bool) -> None:
    version = (await _facts(connection)).schema_version
    if version > SCHEMA_VERSION:
        raise SchemaOutdated(
            f"The store is at schema version {version}, this program knows {SCHEMA_VERSION}.",
            remedy="Upgrade Ebbtide, then open it again.",
        )
    if version < SCHEMA_VERSION and not migrate:
        raise SchemaOutdated(
            f"The store is at schema version {version}, this program needs {SCHEMA_VERSION}.",
            remedy="Run `ebbtide migrate`.",
        )
    for name in MIGRATIONS[version:]:
        await connection.execute(schema_text(f"migrations/{name}"))
    if version < SCHEMA_VERSION:
        await connection.execute(statement("migrate.record_version"), {"version": SCHEMA_VERSION})
        if (await _facts(connection)).has_role:
            await grant(connection)


async def _record_model(connection: AsyncConnection[Any], identity: ModelIdentity) -> None:
    if identity.dimension > LARGEST_DIMENSION:
        raise StoreUnsuitable(
            f"The model {identity.name} gives {identity.dimension} dimensions; a store holds {LARGEST_DIMENSION}.",
            remedy="Choose a model of fewer dimensions.",
        )
    await connection.execute(sql.SQL("SET LOCAL ebbtide.dimension = {}").format(sql.Literal(identity.dimension)))
    await connection.execute(statement("migrate.set_vector_dimension"), {})
    await connection.execute(
        statement("migrate.record_model"), {"name": identity.name, "dimension": identity.dimension}
    )


def _check_model(facts: Any, identity: ModelIdentity | None) -> None:
    if identity is None or (facts.model_name, facts.model_dimension) == (identity.name, identity.dimension):
        return
    raise ModelMismatch(
        f"The store's vectors come from {facts.model_name} ({facts.model_dimension} dimensions), "
        f"the embedder is {identity.name} ({identity.dimension} dimensions).",
        field="embedder",
        remedy="Open the store with its own model, or `ebbtide export` it and `ebbtide import` into a new store.",
    )
