"""The revision of a session, which work captures before it derives anything from the session's memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.access import WRITE, requires
from ebbtide.write.fence import read_session_revision

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["session_revision"]


@requires(WRITE)
async def session_revision(engine: Engine, caller: Caller) -> int:
    """The revision of the caller's session. See `AsyncEbbtide.session_revision`."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        return await read_session_revision(transaction, caller)
