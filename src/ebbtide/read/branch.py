"""A read on a branch of a conversation: its own turns and the past it shares, and nothing of other futures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.govern.branches import read_apart

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.read.scope import Scope

__all__ = ["on_branch"]


async def on_branch(transaction: Transaction, scope: Scope) -> Scope:
    """The scope without what the caller's branch does not share of its chat; the same where the caller names none.

    Raises:
        NotFound: the chat has no such branch.
    """
    if scope.caller.branch is None:
        return scope
    return replace(scope, apart=await read_apart(transaction, scope.caller) or None)
