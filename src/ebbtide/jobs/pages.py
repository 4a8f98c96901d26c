"""Every hour: entity pages are brought up to date with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.db.queue import enqueue, lock_of
from ebbtide.govern.tenants import list_tenants
from ebbtide.pages import FIRST, refresh_tenant_pages

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["REFRESH_PAGES", "REFRESH_TENANT_PAGES", "refresh", "refresh_tenant"]

REFRESH_PAGES = "refresh_pages"
REFRESH_TENANT_PAGES = "refresh_tenant_pages"


async def refresh(engine: Engine) -> None:
    """Ask for the refreshing of each tenant's pages, where it has any."""
    for tenant in await list_tenants(engine):
        async with engine.database.transaction(tenant) as transaction:
            if await transaction.one("graph.paged", tenant=tenant, after=FIRST, limit=1):
                lock = lock_of(REFRESH_TENANT_PAGES, tenant)
                await enqueue(
                    transaction.connection, REFRESH_TENANT_PAGES, queueing_lock=lock, lock=lock, tenant=tenant
                )


async def refresh_tenant(engine: Engine, *, tenant: str) -> None:
    """Bring a tenant's pages up to date."""
    await refresh_tenant_pages(engine, tenant)
