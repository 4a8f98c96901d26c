"""After the answer: what came back is held more firmly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["flush"]


async def flush(engine: Engine) -> None:
    """Write the accesses counted since the last flush, a transaction a tenant, without waiting for the disk."""
    for tenant, accesses in engine.accesses.take().items():
        ids = sorted(accesses)
        async with engine.database.transaction(tenant, durable=False) as transaction:
            await transaction.run(
                "recall.reinforce",
                tenant=tenant,
                ids=ids,
                counts=[accesses[id_].count for id_ in ids],
                moments=[accesses[id_].last for id_ in ids],
            )
