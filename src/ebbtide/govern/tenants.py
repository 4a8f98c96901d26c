"""The tenants a store knows, so that scheduled work finds each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.owner import owner_transaction

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine

__all__ = ["know_tenant", "list_tenants"]


async def know_tenant(engine: Engine, transaction: Transaction, tenant: str, now: datetime) -> None:
    """Note that a tenant exists, unless this engine has done so; after the commit, add it to `engine.tenants`."""
    if tenant not in engine.tenants:
        await transaction.run("govern.know_tenant", tenant=tenant, now=now)


async def list_tenants(engine: Engine) -> list[str]:
    """Every tenant that has ever written, by name; read as the owner."""
    async with owner_transaction(engine.database) as transaction:
        return [row[0] for row in await transaction.all("govern.tenants")]
