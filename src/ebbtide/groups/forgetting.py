"""The verbs of forgetting, which every handle has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.forget.receipts import verify_receipt
from ebbtide.govern.access import READ, authorise
from ebbtide.paths import erase
from ebbtide.read.where import Filter
from ebbtide.types.evidence import Erasure, Forgetting, Receipt, ReceiptCheck
from ebbtide.types.recall import TagFilter

if TYPE_CHECKING:
    from ebbtide.groups.base import Handle

__all__ = ["ForgetVerbs"]


class ForgetVerbs:
    """Forgetting: for good, with everything that was made from it, and with proof."""

    async def forget(self: Handle, memory_id: UUID | str, expected_revision: int) -> Receipt:
        """Forget a memory for good, at the revision that was read; answers with the receipt.

        In the same transaction go its versions, links, words, vectors, counts, kept answers, and what else was made
        from it. A tombstone of its id and revision stays.

        Raises:
            NotFound: the agent has no such memory, or it is forgotten already.
            StaleRevision: it has changed meanwhile; nothing was done.
            Held: a legal hold covers it; nothing was done.
        """
        return await erase.forget(await self.engine(), self.caller, memory_id, expected_revision)

    async def forget_where(
        self: Handle,
        where: Filter | Mapping[str, Any] | None = None,
        *,
        query: str | None = None,
        ids: Sequence[UUID | str] | None = None,
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
        dry_run: bool = True,
        token: str | None = None,
    ) -> Forgetting:
        """Show which memories meet a filter and, with the token of that dry run, forget just these.

        Archived, expired and superseded ones meet it too. A real run forgets all in one transaction, and nothing where
        the memories or their revisions are not those that the dry run saw.

        Args:
            query: shows what a question finds; nothing is forgotten by it, so repeat with `ids`.
            ids: of these memories alone.
            namespaces, kinds, labels, tags, where: as in `recall`.
            dry_run: only show.
            token: what the dry run gave; it holds for 15 minutes.

        Raises:
            InvalidInput: the filter is empty or malformed, or a real run has no token.
            Conflict: the token has expired, or other memories meet the filter now; nothing was done.
            Held: a legal hold covers one of them; nothing was done.
        """
        return await erase.forget_where(
            await self.engine(), self.caller, where, query=query, ids=ids, namespaces=namespaces, kinds=kinds,
            labels=labels, tags=tags, dry_run=dry_run, token=token,
        )  # fmt: skip

    async def erase_user(self: Handle, user: str) -> Erasure:
        """Erase everything of a user in the tenant, whichever agent remembered it.

        These are the memories said on the user's behalf and those below `vector.agent.<user>` and `vector.user.<user>`,
        the log of the user's recalls, and the name in sessions. Each memory has a receipt, and the erasure one of its
        own. The audit keeps who did what, as evidence. A thousand memories go in a transaction; after an interruption
        the call can be repeated.

        Raises:
            InvalidInput: that is no name of a user.
            Held: a legal hold covers the user or a memory; nothing was done.
        """
        return await erase.erase_user(await self.engine(), self.caller, user)

    async def erase_tenant(self: Handle, *, confirm: str) -> Erasure:
        """Erase everything of the handle's tenant but tombstones, receipts and the sealed audit.

        `confirm` is the tenant's name once more. Its policies, rules, profiles and keys go too.

        Raises:
            InvalidInput: `confirm` is another name.
            Held: a legal hold lasts; nothing was done.
        """
        return await erase.erase_tenant(await self.engine(), self.caller, confirm)

    async def verify_receipt(self: Handle, receipt: Receipt | Erasure | Mapping[str, Any] | UUID | str) -> ReceiptCheck:
        """Check that what a receipt says went is gone from every place, and that the receipt is genuine.

        The chain of all the tenant's receipts is checked too.

        Raises:
            InvalidInput: it is neither a receipt nor an id.
            NotFound: the tenant has no such receipt.
        """
        engine = await self.engine()
        await authorise(engine, self.caller, READ, verb="verify_receipt")
        async with engine.database.transaction(self.caller.tenant, snapshot=True) as transaction:
            return await verify_receipt(transaction, self.caller.tenant, receipt)
