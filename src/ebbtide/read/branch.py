"""A read on a branch of a conversation: its own turns and the past it shares, and nothing of other futures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.govern.branches import branch_of, read_apart
from ebbtide.read.scope import make_scope
from ebbtide.text import fold

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller

__all__ = ["asked_turn", "on_branch"]


async def on_branch(transaction: Transaction, scope: Scope, without: Collection[UUID] = ()) -> Scope:
    """The scope without what the caller's branch, where it names one, does not share of its chat, and `without` others.

    Raises:
        NotFound: the chat has no such branch.
    """
    others = () if scope.caller.branch is None else await read_apart(transaction, scope.caller)
    apart = tuple(dict.fromkeys((*others, *without)))
    return replace(scope, apart=apart) if apart else scope


async def asked_turn(transaction: Transaction, caller: Caller, now: datetime, query: str) -> tuple[UUID, str] | None:
    """The turn of the caller's chat that is the query itself, and what it says: the one said last, in the same words.

    None where there is no chat, or where the last turn of it that the caller may read says something else.
    """
    if caller.chat is None:
        return None
    newest = await transaction.one(
        "episodes.newest", **make_scope(caller, now).parameters(), chat=caller.chat,
        branch=await branch_of(transaction, caller), within=caller.branch is not None,
    )  # fmt: skip
    return newest if newest is not None and fold(newest[1]) == fold(query) else None
