"""Serendipity: beside what an exploring query finds, a memory or two of other topics, as far as the user cares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.rank.strategies import FACTS
from ebbtide.read.personal import mode_on, name_shown, shown

if TYPE_CHECKING:
    from random import Random

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.gather import Links
    from ebbtide.read.searched import Searched
    from ebbtide.types.memory import Memory

__all__ = ["LEAST_CONFIDENCE", "MOST_SPRINKLED", "Sprinkled", "choose", "is_asked_for", "is_wanted", "read_others"]

Other = tuple[UUID, str | None, Sequence[Any]]
"""An entity, its name as a memory that mentions it uses it, and the row of that."""

# Source: Eryx 6.3.
FEWEST_ENTITIES = 3
MOST_SPRINKLED = 2
LEAST_CONFIDENCE = 0.7
# A user who has not said anything yet is as likely to engage as not.
EVEN = 0.5
RECENT_TURNS = 20
# More than are shown, since rules may withhold some, and one entity is told of once.
CANDIDATES = 20
# How much of what an agent knows is looked at, each time from another place: of so many entities, so many memories, by
# lot from a window of so many.
SAMPLED_ENTITIES = 100
SAMPLED_MENTIONS = 10
WINDOW_MENTIONS = 50
LOT_BITS = 63
HASH_BYTES = 32


@dataclass(frozen=True, slots=True)
class Sprinkled:
    """A memory of another topic, and what that is called."""

    topic: str
    memory: Memory


def is_wanted(chance: Random, alpha: float, beta: float) -> bool:
    """Whether to bring in other topics: where a draw from Beta(α, β) says that the user rather engages than not.

    α - 1 is how often the user engaged, β - 1 how often not. Thompson sampling of one arm against indifference.
    """
    return chance.betavariate(alpha, beta) > EVEN


def is_asked_for(searched: Searched, links: Links) -> bool:
    """Whether a query leaves room for other topics: an exploring one of the present that retrieved three entities."""
    retrieved = {entity.id for several in links.mentioned.values() for entity in several}
    exploring = searched.purpose.intent == "exploratory" and searched.scope.as_of is None
    return exploring and len(retrieved) >= FEWEST_ENTITIES


async def read_others(transaction: Transaction, engine: Engine, searched: Searched) -> list[Other]:
    """Memories of entities that neither the hits nor the chat's last turns speak of; none where chance decides so."""
    scope = searched.scope
    alpha, beta = await _read_arm(transaction, scope.caller.tenant, scope.caller.user)
    if not is_wanted(engine.chance, alpha, beta):
        return []
    rows = await transaction.all(
        "serendipity.others", **scope.parameters(), ids=sorted(searched.memories), chat=scope.caller.chat,
        turns=RECENT_TURNS, told=list(FACTS), least=LEAST_CONFIDENCE, limit=CANDIDATES,
        start=engine.chance.randbytes(HASH_BYTES), entities=SAMPLED_ENTITIES, mentions=SAMPLED_MENTIONS,
        window=WINDOW_MENTIONS, share=engine.chance.random(), lot=engine.chance.getrandbits(LOT_BITS),
    )  # fmt: skip
    return [(entity, name, row) for entity, name, *row in rows]


async def _read_arm(transaction: Transaction, tenant: str, user: str | None) -> tuple[float, float]:
    row = await transaction.one("serendipity.arm", tenant=tenant, user=user or "")
    return (1.0, 1.0) if row is None else row


def choose(searched: Searched, found: Sequence[tuple[UUID, str | None, Memory]]) -> tuple[Sprinkled, ...]:
    """The first that may be shown, each of another entity, and each memory once."""
    entities: set[UUID] = set()
    chosen: dict[UUID, Sprinkled] = {}
    for entity, name, memory in found:
        made = shown(memory, searched.profile, searched.rules)
        told = _topic_of(memory, name)
        topic = None if told is None else name_shown(told, mode_on(memory.namespace, searched.profile, searched.rules))
        if made is None or topic is None or entity in entities or memory.id in chosen:
            continue
        entities.add(entity)
        chosen[memory.id] = Sprinkled(topic, made)
        if len(chosen) == MOST_SPRINKLED:
            break
    return tuple(chosen.values())


def _topic_of(memory: Memory, entity: str | None) -> str | None:
    """What a memory is about, in a word: its predicate or its kind where they tell, else the entity."""
    told = memory.predicate or (memory.kind if memory.kind != "fact" else None)
    return entity if told is None else told.replace("_", " ").capitalize()
