"""Near duplicates: which there are, which of them may become one, how, and the token that confirms just those."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import Conflict
from ebbtide.forget.holds import held_among
from ebbtide.forget.selection import TOKEN_LIFE, confirmed_until
from ebbtide.govern.access import check_changeable
from ebbtide.govern.audit import write as write_audit
from ebbtide.graph.write import Writing, store_writing
from ebbtide.identifiers import new_id
from ebbtide.manage import missing
from ebbtide.write.rows import memory_of
from ebbtide.write.stale import hide_pages
from ebbtide.write.supersede import Successor, supersede
from ebbtide.write.wording import differ, plain_words, read_wording

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.read.scope import Scope
    from ebbtide.types import Caller, Memory

__all__ = [
    "EXCERPT_CHARACTERS",
    "Found",
    "Plan",
    "check_token",
    "end_of_token",
    "find",
    "gather_knowledge",
    "may_go",
    "merge",
    "plan_of",
    "say_the_same",
    "something_else",
    "token_of",
]

EXCERPT_CHARACTERS = 200

Plan = dict[UUID, list[UUID]]
"""The memories that stay, and those that each takes the place of."""
MayGo = Callable[["Memory", "Memory"], bool]
"""Whether a memory, the first, may be given up for another, the second."""


@dataclass(frozen=True, slots=True)
class Found:
    """What would become one, the memories meant, and those that a legal hold leaves out."""

    plan: Plan
    memories: Mapping[UUID, Memory]
    held: tuple[UUID, ...]

    @property
    def touched(self) -> list[UUID]:
        """Every memory of the plan."""
        return [*self.plan, *(id_ for ids in self.plan.values() for id_ in ids)]


async def find(
    transaction: Transaction, scope: Scope, now: datetime, may_go: MayGo, among: Sequence[UUID] | None = None
) -> Found:
    """The near duplicates of a scope that may become one; of certain memories `among` them alone, where they are given.

    Raises:
        Forbidden: the policy does not let the caller change one of them.
    """
    caller = scope.caller
    pairs = await transaction.all("curate.near_duplicates", **scope.parameters(), among=among)
    ids = sorted({id_ for pair in pairs for id_ in pair})
    rows = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=ids)
    memories = {row[0]: memory_of(row) for row in rows}
    for memory in memories.values():
        check_changeable(caller, memory.namespace, missing(memory.id))
    held = await held_among(transaction, caller.tenant, ids, now)
    free = [(one, other) for one, other in pairs if one not in held and other not in held]
    return Found(plan_of(free, memories, may_go), memories, tuple(sorted(held)))


def plan_of(pairs: Sequence[tuple[UUID, UUID]], memories: Mapping[UUID, Memory], may_go: MayGo) -> Plan:
    """Which memories stay, and which each takes the place of: the fullest one of those that are linked to it.

    Each is in one merge at most, and is compared with the one that stays.
    """
    linked: dict[UUID, set[UUID]] = defaultdict(set)
    for one, other in pairs:
        linked[one].add(other)
        linked[other].add(one)
    plan: Plan = {}
    taken: set[UUID] = set()
    fuller: set[UUID] = set()
    for id_ in sorted(linked, key=lambda id_: fullness(memories[id_])):
        if id_ in taken:
            continue
        going = [other for other in sorted(linked[id_] - taken - fuller) if may_go(memories[other], memories[id_])]
        fuller.add(id_)
        if going:
            plan[id_] = going
            taken.update((id_, *going))
    return plan


def fullness(memory: Memory) -> tuple[Any, ...]:
    """What sorts the fuller statement first: confirmed by a person, more words that mean something, longer, older."""
    wording = read_wording(memory.content)
    words = len(plain_words(wording)) + wording.numbers.total()
    return memory.maturity != "confirmed", -words, -len(memory.content), memory.created_at, memory.id


def may_go(memory: Memory, kept: Memory) -> bool:
    """Whether a memory says nothing that the one that stays does not say, for as long.

    What lives longer is never given up for what expires.
    """
    outlived = kept.expires_at is not None and (memory.expires_at is None or memory.expires_at > kept.expires_at)
    return not outlived and say_the_same(memory, kept)


def say_the_same(memory: Memory, other: Memory) -> bool:
    """Whether two memories differ neither in a number or a name nor in a negation, word by word."""
    return not differ(read_wording(memory.content), read_wording(other.content))


async def merge(transaction: Transaction, caller: Caller, found: Found, now: datetime) -> None:
    """Give what stays the marks of the others, and let it supersede them; the graph is locked before."""
    plan, memories, tenant = found.plan, found.memories, caller.tenant
    if not plan:
        return
    pairs = [(kept, other) for kept, others in plan.items() for other in others]
    asked = {"kept_ids": [kept for kept, _ in pairs], "other_ids": [other for _, other in pairs]}
    await transaction.run("remember.keep_version", tenant=tenant, ids=list(plan), now=now)
    await transaction.run("curate.gather", tenant=tenant, now=now, **asked)
    await gather_knowledge(transaction, caller, pairs, now)
    await transaction.run("curate.gather_origins", tenant=tenant, now=now, **asked)
    await transaction.run("curate.stand_alone", tenant=tenant, **asked)
    await supersede(transaction, tenant, [Successor(other, kept, now) for kept, other in pairs], now)
    gone = [(other, {"to": "superseded", "by": str(kept), "operation": "consolidate"}) for kept, other in pairs]
    await write_audit(transaction, caller, "status", gone, now)
    stayed = [
        (kept, {"operation": "consolidate", "merged": list(map(str, others)), "revision": memories[kept].revision + 1})
        for kept, others in plan.items()
    ]
    await write_audit(transaction, caller, "update", stayed, now)
    await hide_pages(transaction, caller, [other for _, other in pairs], now)


async def gather_knowledge(
    transaction: Transaction, caller: Caller, pairs: Sequence[tuple[UUID, UUID]], now: datetime
) -> None:
    """Let the first of each pair mention whom the other one does, by the same names, and say what that says holds."""
    asked = {"kept_ids": [kept for kept, _ in pairs], "other_ids": [other for _, other in pairs]}
    await transaction.run("curate.gather_mentions", tenant=caller.tenant, **asked)
    rows = await transaction.all("curate.relations_said", tenant=caller.tenant, **asked)
    relations = [(new_id(now), subject, predicate, other, kept) for kept, subject, predicate, other in rows]
    if relations:
        await store_writing(transaction, caller, Writing(relations=relations), now)


def end_of_token(now: datetime) -> datetime:
    """The moment until which a token of now confirms what it is for."""
    return (now + TOKEN_LIFE).replace(microsecond=0)


def token_of(found: Found, ends: datetime, texts: Sequence[str] = ()) -> str:
    """What confirms that just these memories, at the revisions they had, are meant, and these texts for them."""
    seconds = int(ends.timestamp())
    memories = found.memories
    meant = [
        [str(kept), memories[kept].revision, [[str(id_), memories[id_].revision] for id_ in others]]
        for kept, others in found.plan.items()
    ]
    return f"{seconds}-{hashlib.sha256(json.dumps([seconds, meant, *texts]).encode()).hexdigest()}"


def check_token(token: Any, found: Found, now: datetime, texts: Sequence[str] = ()) -> None:
    """Accept the token of a dry run that saw what there is now.

    Raises:
        InvalidInput: it is no token.
        Conflict: it has expired, or there is something else to merge now.
    """
    ends = confirmed_until(token, now, "A consolidation", "what would be merged")
    if not hmac.compare_digest(token_of(found, ends, texts).encode(), token.encode(errors="replace")):
        raise something_else()


def something_else() -> Conflict:
    """What a consolidation ends with that finds nothing as the dry run saw it."""
    return Conflict(
        "There is something else to merge than the dry run saw.",
        field="token",
        remedy="Look again by a dry run; nothing was merged.",
    )
