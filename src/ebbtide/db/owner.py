"""Work that only the owner of the schema may do: the job queue, scheduled walks over tenants, building indexes."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from psycopg import AsyncConnection, sql

from ebbtide.db.database import SCHEMA, Transaction
from ebbtide.db.errors import translated
from ebbtide.db.location import address_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from procrastinate import PsycopgConnector

    from ebbtide.db.database import Database

__all__ = ["owner_connection", "owner_transaction", "queue_connector"]

QUEUE_CONNECTIONS = 2
# Closing a store must not wait long for a server that is gone.
QUEUE_TIMEOUT_SECONDS = 5.0


async def _use_schema(connection: AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
    await connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(SCHEMA)))


@asynccontextmanager
async def owner_connection(
    database: Database, settings: Mapping[str, str | int] | None = None
) -> AsyncGenerator[AsyncConnection[Any]]:
    """A connection of its own as the owner, outside any transaction, without a time limit; `settings` hold throughout.

    Raises:
        StoreError: whatever the driver raised inside the block, translated.
    """
    timeout = max(1, int(database.settings.connect_timeout_seconds))
    with translated(address_of(database.dsn)):
        async with await AsyncConnection.connect(
            database.dsn, autocommit=True, connect_timeout=timeout, application_name="ebbtide"
        ) as connection:
            await _use_schema(connection)
            for name, value in {"statement_timeout": 0, "timezone": "UTC", **(settings or {})}.items():
                await connection.execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
            yield connection


@asynccontextmanager
async def owner_transaction(database: Database) -> AsyncGenerator[Transaction]:
    """A transaction as the owner, on a connection of its own.

    Raises:
        StoreError: whatever the driver raised inside the block, translated.
    """
    async with owner_connection(database) as connection, connection.transaction():
        yield Transaction(connection)


def queue_connector(database: Database) -> PsycopgConnector:
    """How a worker reaches the queue: at most two connections as the owner, and one more that listens."""
    from procrastinate import PsycopgConnector

    return PsycopgConnector(
        conninfo=database.dsn,
        min_size=1,
        max_size=QUEUE_CONNECTIONS,
        timeout=QUEUE_TIMEOUT_SECONDS,
        num_workers=1,
        configure=_use_schema,
        kwargs={"application_name": "ebbtide worker"},
    )
