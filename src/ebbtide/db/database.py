"""The database: a pool of connections and the transaction every path works in."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor, sql
from psycopg.pq import Format
from psycopg.rows import namedtuple_row
from psycopg_pool import AsyncConnectionPool

from ebbtide.db.errors import translated
from ebbtide.db.statements import compiled
from ebbtide.db.vectors import register_vectors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from ebbtide.settings import Settings

__all__ = ["SCHEMA", "Database", "Transaction"]

SCHEMA = "ebbtide"

# Executions after which the driver prepares a statement by itself; the named ones ask for it at once.
ONLY_WHEN_ASKED = 1_000_000

# A recall's plans are the same for every caller of a statement, and planning one costs as much as running it.
SESSION = (
    "SET search_path = ebbtide, public; SET plan_cache_mode = force_generic_plan; SET jit = off; "
    "SET max_parallel_workers_per_gather = 0; SET timezone = 'UTC'; "
    "SET default_transaction_isolation = 'read committed'"
)


class Transaction:
    """One open transaction, seen as one tenant."""

    __slots__ = ("connection",)

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self.connection = connection

    async def run(self, name: str, /, **values: Any) -> AsyncRawCursor[Any]:
        """Execute the statement `name` with `values`; binary results, prepared on first use.

        Raises:
            StoreError: whatever the driver raised, translated.
        """
        cursor = AsyncRawCursor(self.connection)
        cursor.format = Format.BINARY
        statement = compiled(name)
        with translated():
            await cursor.execute(statement.query, [values[name] for name in statement.names], prepare=True)
        return cursor

    async def all(self, name: str, /, **values: Any) -> Sequence[Any]:
        """Every row of a statement, each a tuple."""
        return await (await self.run(name, **values)).fetchall()

    async def one(self, name: str, /, **values: Any) -> Any:
        """The first row of a statement, or None."""
        return await (await self.run(name, **values)).fetchone()

    async def named(self, name: str, /, **values: Any) -> Sequence[Any]:
        """Every row of a statement, each a named tuple."""
        cursor = await self.run(name, **values)
        cursor.row_factory = namedtuple_row
        return await cursor.fetchall()


class Database:
    """Connections to one store. The only place that opens, configures and closes them.

    `written` are the tenants that transactions wrote to since someone last emptied it.
    """

    def __init__(self, dsn: str, settings: Settings, *, role: str | None) -> None:
        self.dsn = dsn
        self.settings = settings
        self.role = role
        self.written: set[str] = set()
        self._pool = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=settings.pool_connections,
            open=False,
            timeout=settings.connect_timeout_seconds,
            configure=self._configure,
            # A connection is left inside a failed transaction only when the server went away; the pool replaces it.
            kwargs={"autocommit": True, "prepare_threshold": ONLY_WHEN_ASKED, "application_name": "ebbtide"},
        )

    async def open(self) -> None:
        """Open the pool and wait for its first connection.

        Raises:
            StoreUnavailable: the server does not answer in time.
        """
        with translated():
            await self._pool.open(wait=True, timeout=self.settings.connect_timeout_seconds)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        timeout = int(self.settings.statement_timeout_seconds * 1000)
        await connection.execute(SESSION)
        await connection.execute(sql.SQL("SET statement_timeout = {}").format(sql.Literal(timeout)))
        await register_vectors(connection)
        if self.role is not None:
            await connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(self.role)))

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[AsyncConnection[Any]]:
        """A pooled connection outside any transaction."""
        with translated():
            async with self._pool.connection() as connection:
                yield connection

    @asynccontextmanager
    async def transaction(
        self,
        tenant: str,
        *,
        snapshot: bool = False,
        settings: Mapping[str, str | int] | None = None,
        durable: bool = True,
        upkeep: bool = False,
    ) -> AsyncGenerator[Transaction]:
        """A transaction that sees `tenant` alone.

        `snapshot` reads everything as of one moment and cannot write. `settings` are set for this transaction.
        A transaction that is not `durable` may lose its last moments when the server crashes, and commits faster. One
        for `upkeep` leaves nothing to see to afterwards.

        Raises:
            StoreError: whatever the driver raised inside the block, translated.
        """
        local: dict[str, str | int] = {"ebbtide.tenant": tenant, **(settings or {})}
        if not durable:
            local["synchronous_commit"] = "off"
        async with self.connection() as connection:
            await connection.execute(opening(snapshot, tuple(local.items())), prepare=False)
            try:
                yield Transaction(connection)
            except BaseException:
                await roll_back(connection)
                raise
            await connection.execute("COMMIT", prepare=False)
        if not (snapshot or upkeep):
            self.written.add(tenant)


@lru_cache(maxsize=1024)
def opening(snapshot: bool, local: tuple[tuple[str, str | int], ...]) -> bytes:
    """BEGIN and its SET LOCALs as one message: literals, since set_config() does not reach the shards of a cluster."""
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if snapshot else "BEGIN"
    settings = [
        sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(*name.split(".")), sql.Literal(value)).as_bytes(None)
        for name, value in local
    ]
    return b"; ".join([begin.encode(), *settings])


async def roll_back(connection: AsyncConnection[Any]) -> None:
    """End a failed transaction; a connection that cannot even do that is closed, and the pool replaces it."""
    try:
        await connection.execute("ROLLBACK", prepare=False)
    except psycopg.Error:
        await connection.close()
