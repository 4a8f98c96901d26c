"""Near duplicates: which there are, which of them may become one, and how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.forget.holds import held_among
from ebbtide.govern.access import check_changeable
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.confirmation import Deed
from ebbtide.graph.write import Writing, store_writing
from ebbtide.identifiers import new_id
from ebbtide.paths.manage import missing
from ebbtide.write.rows import memory_of
from ebbtide.write.stale import facts_changed
from ebbtide.write.supersede import Successor, supersede
from ebbtide.write.wording import differ, plain_words, read_wording

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = [
    "CONSOLIDATION",
    "EXCERPT_CHARACTERS",
    "Found",
    "Plan",
    "find",
    "gather_knowledge",
    "may_go",
    "meant_by",
    "merge",
    "plan_of",
    "say_the_same",
]

EXCERPT_CHARACTERS = 200
CONSOLIDATION = Deed("A consolidation", "what would be merged", "nothing was merged")

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
    left = {row[0] for row in await transaction.all("curate.stand_alone", tenant=tenant, **asked)}
    await supersede(transaction, tenant, [Successor(other, kept, now) for kept, other in pairs], now)
    gone = [(other, {"to": "superseded", "by": str(kept), "operation": "consolidate"}) for kept, other in pairs]
    await write_audit(transaction, caller, "status", gone, now)
    stayed = [
        (kept, {"operation": "consolidate", "merged": list(map(str, others)), "revision": memories[kept].revision + 1})
        for kept, others in plan.items()
    ]
    await write_audit(transaction, caller, "update", stayed, now)
    await facts_changed(transaction, caller, [other for _, other in pairs], now, sources=left)


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


def meant_by(by: str, scope: Scope, found: Found, texts: Sequence[str] = ()) -> list[Any]:
    """What a token is for: just these memories as they were, merged by rules, or by a model to these texts."""
    memories = found.memories
    plan = [
        [str(kept), memories[kept].revision, [[str(id_), memories[id_].revision] for id_ in others]]
        for kept, others in found.plan.items()
    ]
    return [by, scope.narrowing(), plan, list(texts)]
