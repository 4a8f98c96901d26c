"""Every night: branches of conversations with enough new turns are summarised, where the setting asks for it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ebbtide.errors import Conflict, InvalidInput, ModelError, NotFound
from ebbtide.jobs.each import enqueue_each
from ebbtide.paths.summaries import summarise as summarise_branch
from ebbtide.types.caller import Caller

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["SUMMARISE", "SUMMARISE_TENANT", "summarise", "summarise_tenant"]

SUMMARISE = "summarise"
SUMMARISE_TENANT = "summarise_tenant"

log = logging.getLogger("ebbtide")


async def summarise(engine: Engine) -> None:
    """Ask for the summaries of each tenant's conversations."""
    if not engine.settings.episode_turns:
        return
    await enqueue_each(engine, SUMMARISE_TENANT)


async def summarise_tenant(engine: Engine, *, tenant: str) -> None:
    """Summarise a tenant's branches that have at least `episode_turns` new turns in a namespace.

    One that fails does not hold up the others; it is tried again with the whole job.

    Raises:
        ModelError: the summariser failed for one of them.
    """
    least = engine.settings.episode_turns
    if not least:
        return
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        due = await transaction.all("episodes.due", tenant=tenant, least=least)
    failed: ModelError | None = None
    for agent, chat, branch, namespace, user in due:
        try:
            caller = Caller(tenant, agent, user=user, chat=chat, branch=branch)
            await summarise_branch(engine, caller, namespace=namespace)
        except (Conflict, InvalidInput, NotFound) as error:
            # It changed meanwhile, or a rule keeps back what its summary would say now.
            log.info("a conversation was not summarised, and waits for the next night: %s", error.message)
        except ModelError as error:
            failed = error
    if failed is not None:
        raise failed
