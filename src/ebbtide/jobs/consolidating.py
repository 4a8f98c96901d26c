"""Every night, where the setting asks for it: near duplicates become one by rules."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ebbtide.errors import Conflict
from ebbtide.jobs.each import enqueue_each
from ebbtide.paths.consolidation import consolidate_all
from ebbtide.types.caller import Caller

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["CONSOLIDATE", "CONSOLIDATE_TENANT", "consolidate", "consolidate_tenant"]

CONSOLIDATE = "consolidate"
CONSOLIDATE_TENANT = "consolidate_tenant"

log = logging.getLogger("ebbtide")


async def consolidate(engine: Engine) -> None:
    """Ask for the consolidation of each tenant's memories."""
    if not engine.settings.consolidate_nightly:
        return
    await enqueue_each(engine, CONSOLIDATE_TENANT)


async def consolidate_tenant(engine: Engine, *, tenant: str) -> None:
    """Merge the near duplicates of each of a tenant's agents, as `consolidate` does by rules."""
    if not engine.settings.consolidate_nightly:
        return
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        agents = [agent for (agent,) in await transaction.all("curate.agents", tenant=tenant)]
    for agent in agents:
        try:
            await consolidate_all(engine, Caller(tenant, agent))
        except Conflict as error:
            log.info("an agent's near duplicates wait for the next night: %s", error.message)
