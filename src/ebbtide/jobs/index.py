"""The vector index of a partition, built in the background once a scope outgrows exact search."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from psycopg import sql

from ebbtide.db.database import Transaction
from ebbtide.db.owner import owner_connection
from ebbtide.db.queue import enqueue
from ebbtide.db.statements import statement
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["BUILD_VECTOR_INDEX", "build_vector_index", "enqueue_index", "enqueue_outgrown"]

BUILD_VECTOR_INDEX = "build_vector_index"
PARTITION = re.compile(r"memory_\d+")
LOCK_RETRY_SECONDS = 1.0

BUILD_SETTINGS: dict[str, str | int] = {
    # A bound, not a reservation: the graph of a million memories takes about that much, and one that does not fit
    # builds several times more slowly.
    "maintenance_work_mem": "1GB",
    # A parallel build would reserve all of it as shared memory, which containers have little of.
    "max_parallel_maintenance_workers": 0,
}


async def enqueue_outgrown(engine: Engine) -> None:
    """Ask for an index for every tenant in which a recall met a scope too large for exact search."""
    for tenant in engine.outgrown.take():
        await enqueue_index(engine, tenant)


async def enqueue_index(engine: Engine, tenant: str) -> None:
    """Ask for the vector index of the tenant's partition, in a transaction of its own."""
    async with engine.database.transaction(tenant) as transaction:
        partition = (await transaction.one("recall.partition", tenant=tenant))[0]
        await enqueue(
            transaction.connection,
            BUILD_VECTOR_INDEX,
            queueing_lock=f"{BUILD_VECTOR_INDEX}:{partition}",
            lock=BUILD_VECTOR_INDEX,
            partition=partition,
        )


async def build_vector_index(engine: Engine, *, partition: str) -> None:
    """Build the HNSW index of a partition, such as `memory_3`, without stopping its readers and writers.

    From then on an insert into the partition costs several times more. What a killed build left behind is removed
    first. Only one index of a store is built at a time.

    Raises:
        InvalidInput: there is no partition of that name.
    """
    if not PARTITION.fullmatch(partition):
        raise InvalidInput(
            f"There is no partition {partition[:64]!r}.", field="partition", remedy="Name one, memory_0."
        )
    index = f"{partition}_vectors"
    names = {
        "index": sql.Identifier(index),
        "partition": sql.Identifier(partition),
        "width": sql.Literal(engine.settings.hnsw_ef_construction),
    }
    async with owner_connection(engine.database, BUILD_SETTINGS) as connection:
        owner = Transaction(connection)
        while not (await owner.one("jobs.lock_build"))[0]:  # noqa: ASYNC110 - another process holds it
            await asyncio.sleep(LOCK_RETRY_SECONDS)
        valid = await owner.one("jobs.index_is_valid", index=index)
        if valid is None or not valid[0]:
            await connection.execute(sql.SQL(statement("jobs.drop_vector_index")).format(**names))
            await connection.execute(sql.SQL(statement("jobs.create_vector_index")).format(**names))
    engine.scopes.clear()
