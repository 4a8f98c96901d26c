"""The branches of a conversation: which there are, and what one of them has no part in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import NotFound
from ebbtide.govern.access import is_readable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = [
    "FIRST_BRANCH",
    "MARK",
    "branch_of",
    "known_names",
    "known_parent",
    "names_told",
    "read_apart",
    "readable_places",
    "title_of",
]

FIRST_BRANCH = "main"
"""The branch that every chat begins with."""


MARK = "."
"""What no name that a caller gives holds. Behind it stands what tells apart branches of one name in a chat.

There are such where whoever began the later one may not know of the earlier one: a refusal would tell of it.
"""


def title_of(branch: str) -> str:
    """The name that a branch was given, of the one that it is stored by."""
    return branch.partition(MARK)[0]


async def known_names(transaction: Transaction, caller: Caller) -> dict[str, str]:
    """The branches of the caller's chat that it may know of, by the names they are stored by, each as it knows it.

    A branch may be known of by whoever may read where it was begun, or one of its turns. It is known by the name that
    it was given; of several that were given one, the others by the names they are stored by.
    """
    of_chat = {"tenant": caller.tenant, "agent": caller.agent, "chat": caller.chat}
    rows = await transaction.all("episodes.branch_namespaces", **of_chat)
    return names_told([name for name, namespaces in rows if any(is_readable(caller, one) for one in namespaces)])


def names_told(branches: Sequence[str]) -> dict[str, str]:
    """How somebody who knows of some branches, in the order in which they were begun, is told of each."""
    told: dict[str, str] = {}
    for name in [FIRST_BRANCH, *sorted(branches, key=lambda one: MARK in one)]:
        told[name] = name if title_of(name) in told.values() else title_of(name)
    return told


async def branch_of(transaction: Transaction, caller: Caller) -> str:
    """The name that the caller's branch is stored by, that of the first one where it names none.

    Raises:
        NotFound: its chat has no such branch that the caller may know of.
    """
    branch = caller.branch or FIRST_BRANCH
    if branch == FIRST_BRANCH:
        return branch
    names = await known_names(transaction, caller)
    found = next((name for name, told in names.items() if branch == told), branch)
    if found not in names:
        raise NotFound(
            f"The chat {caller.chat!r} has no branch {branch!r}.",
            field="branch",
            remedy="Fork it first, or take one of the branches that the chat has.",
        )
    return found


def known_parent(row: Any, rows: Sequence[Any], known: Collection[str]) -> tuple[str | None, int | None]:
    """What a branch goes on from as its reader knows it, and after which place: of those between, none is told.

    `rows` are all branches of its chat with name, parent and forked_after; `known` are names, that of the first one or
    not.
    """
    by_name = {one.name: one for one in rows}
    parent, after = row.parent, row.forked_after
    while parent not in (None, FIRST_BRANCH) and parent not in known:
        between = by_name[parent]
        parent, after = between.parent, min(after, between.forked_after)
    return parent, after


async def readable_places(
    transaction: Transaction, caller: Caller, readable: Mapping[str, Any], forks: Sequence[tuple[str, int]]
) -> list[int]:
    """Places on branches of the caller's chat as it may know them: the last ones before of which it may read a turn.

    -1 stands for none. `readable` says what it may read, as the parameters of a statement.
    """
    if caller.access is None or not forks:
        return [place for _, place in forks]
    names, places = zip(*forks, strict=True)
    asked = {**readable, "chat": caller.chat, "branches": list(names), "places": list(places)}
    return [place for (place,) in await transaction.all("episodes.last_readable", **asked)]


async def read_apart(transaction: Transaction, caller: Caller) -> tuple[UUID, ...]:
    """The memories of the caller's chat that its branch does not share.

    Raises:
        NotFound: its chat has no such branch.
    """
    branch = await branch_of(transaction, caller)
    rows = await transaction.all(
        "episodes.apart", tenant=caller.tenant, agent=caller.agent, chat=caller.chat, branch=branch
    )
    return tuple(row[0] for row in rows)
