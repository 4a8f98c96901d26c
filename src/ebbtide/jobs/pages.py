"""Every hour: entity pages are brought up to date with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.tenants import list_tenants
from ebbtide.paths.pages import FIRST, refresh_tenant_pages
from ebbtide.write.stale import REFRESH_TENANT_PAGES, enqueue_refresh

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["REFRESH_PAGES", "REFRESH_TENANT_PAGES", "refresh", "refresh_tenant"]

REFRESH_PAGES = "refresh_pages"


async def refresh(engine: Engine) -> None:
    """Ask for the refreshing of each tenant's pages, where it has any."""
    for tenant in await list_tenants(engine):
        async with engine.database.transaction(tenant) as transaction:
            if await transaction.one("graph.paged", tenant=tenant, after=FIRST, limit=1):
                await enqueue_refresh(transaction, tenant)


async def refresh_tenant(engine: Engine, *, tenant: str) -> None:
    """Bring a tenant's pages up to date."""
    await refresh_tenant_pages(engine, tenant)
