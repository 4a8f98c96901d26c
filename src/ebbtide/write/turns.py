"""Turns: messages of a chat become turns of one of its branches as they are written, each at a place of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.govern.branches import branch_of
from ebbtide.text import content_hash
from ebbtide.write.rows import place_in_chat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.write.batch import Batch
    from ebbtide.write.validate import Checked

__all__ = ["Said", "hash_of", "lock_chats", "note_turns", "placed"]

NEXT = "\0next"

Said = tuple[UUID, str | None, int | None]
"""A message, its chat, and its sequence there."""


def hash_of(draft: Checked, caller: Caller) -> bytes:
    """What makes two drafts the same statement; one whose place in its chat is still to come is like no other."""
    place = NEXT if draft.appended and draft.seq is None else place_in_chat(draft.kind, draft.metadata, draft.seq)
    return content_hash(draft.content, caller.chat, place, draft.document)


async def placed(transaction: Transaction, caller: Caller, batch: Batch) -> Batch:
    """The batch with the places of what is appended to the caller's chat, which nobody else gives any until the end.

    Called before anything of memories is locked.
    """
    chat = caller.chat
    if chat is None or all(draft.kind != "message" or draft.seq is not None for draft in batch.drafts):
        return batch
    await lock_chats(transaction, caller, [chat])
    if not any(draft.appended for draft in batch.drafts):
        return batch
    row = await transaction.one("episodes.last_place", tenant=caller.tenant, agent=caller.agent, chat=chat)
    last: int = row[0]
    drafts: list[Checked] = []
    for draft in batch.drafts:
        last += draft.appended
        drafts.append(replace(draft, seq=last) if draft.appended else draft)
    return replace(batch, drafts=drafts, hashes=[hash_of(draft, caller) for draft in drafts])


async def lock_chats(transaction: Transaction, caller: Caller, chats: Sequence[str]) -> None:
    """Let one writer at a time find the next places of chats."""
    await transaction.run("episodes.lock_chats", tenant=caller.tenant, agent=caller.agent, chats=sorted(set(chats)))


async def note_turns(transaction: Transaction, caller: Caller, said: Sequence[Said]) -> None:
    """Make messages turns of the caller's branch, or of the first one; those of no chat are left alone.

    Raises:
        NotFound: the chat has no such branch.
    """
    turns = [one for one in said if one[1] is not None]
    if turns:
        await transaction.run(
            "episodes.note_turns",
            tenant=caller.tenant,
            agent=caller.agent,
            branch=await branch_of(transaction, caller),
            ids=[id_ for id_, _, _ in turns],
            chats=[chat for _, chat, _ in turns],
            sequences=[sequence for _, _, sequence in turns],
        )
