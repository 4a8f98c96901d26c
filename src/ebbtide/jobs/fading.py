"""Every night: forgetting curves decay, and what has faded is deleted softly where a tenant wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.forget.decay import NIGHT, decay, soft_delete
from ebbtide.jobs.each import enqueue_each

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["FADE", "FADE_SCHEDULE", "FADE_TENANT", "fade", "fade_tenant"]

FADE = "fade"
FADE_TENANT = "fade_tenant"
FADE_SCHEDULE = f"{NIGHT.minute} {NIGHT.hour} * * *"


async def fade(engine: Engine) -> None:
    """Ask for the fading of each tenant's memories."""
    await enqueue_each(engine, FADE_TENANT)


async def fade_tenant(engine: Engine, *, tenant: str) -> None:
    """Let a tenant's curves decay, and delete softly what has faded where forgetting is on."""
    await decay(engine, tenant)
    await soft_delete(engine, tenant)
