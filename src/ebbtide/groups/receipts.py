"""handle.receipts: the proofs of what was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.checks import check_whole
from ebbtide.forget.receipts import NEVER, list_receipts, verify_chain
from ebbtide.govern.access import OPERATOR, authorise
from ebbtide.groups.base import Group
from ebbtide.identifiers import parse_id
from ebbtide.types.base import Page
from ebbtide.types.evidence import Erasure, Receipt

if TYPE_CHECKING:
    from ebbtide.engine import Engine

__all__ = ["AsyncReceipts"]

MOST_LISTED = 1_000


class AsyncReceipts(Group):
    """The tenant's receipts, one for each memory that was forgotten and one for each erasure."""

    async def _admitted(self) -> Engine:
        engine = await self.engine()
        await authorise(engine, self.caller, OPERATOR, verb="receipts")
        return engine

    async def list(
        self, about: UUID | str | None = None, *, before: int | None = None, limit: int = 50
    ) -> Page[Receipt | Erasure]:
        """Receipts, the newest first.

        Args:
            about: only the receipt of this id, or about the memory of this id.
            before: only those with a smaller number.
            limit: from 1 to 1,000.

        Raises:
            InvalidInput: an argument is not acceptable.
        """
        wanted = None if about is None else parse_id(about, "about")
        earlier = NEVER if before is None else check_whole(before, "before", 1, NEVER)
        most = check_whole(limit, "limit", 1, MOST_LISTED)
        engine = await self._admitted()
        async with engine.database.transaction(self.caller.tenant, snapshot=True) as transaction:
            return await list_receipts(transaction, self.caller.tenant, about=wanted, before=earlier, limit=most)

    async def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of all receipts; nothing where none was altered or removed."""
        engine = await self._admitted()
        async with engine.database.transaction(self.caller.tenant, snapshot=True) as transaction:
            return tuple(await verify_chain(transaction, self.caller.tenant))
