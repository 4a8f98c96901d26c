"""Writes down what drafts turned out to be to other memories: links, conflicts, and successors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.identifiers import new_id
from ebbtide.write.supersede import Successor

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory, Outcome
    from ebbtide.write.relation import Relation

__all__ = ["importance_floors", "related_by_position", "replaced_by_date", "successors_found", "write_relations"]

OUTCOMES: tuple[tuple[str, Outcome], ...] = (
    ("supersedes", "superseded"),
    ("conflict", "conflict"),
    ("near_duplicate", "near_duplicate"),
    ("precedes", "stored"),
)
"""What a relation makes of a draft that was stored, the weightiest first."""


def importance_floors(relations: Sequence[Relation]) -> dict[int, float]:
    """The least importance of the drafts that replace or contradict something: that of what they replace."""
    floors: dict[int, float] = defaultdict(float)
    for relation in relations:
        if relation.kind in ("supersedes", "conflict"):
            floors[relation.position] = max(floors[relation.position], relation.known.importance)
    return floors


def other_id(relation: Relation, memories: Sequence[Memory]) -> UUID:
    """The id of the statement that a draft is related to; `memories` are those that the drafts of the batch led to."""
    place = relation.known.place
    return place if isinstance(place, UUID) else memories[place].id


def replaced_by_date(relations: Sequence[Relation]) -> set[UUID]:
    """The stored memories that a later draft replaces."""
    places = (relation.known.place for relation in relations if relation.kind == "supersedes")
    return {place for place in places if isinstance(place, UUID)}


def successors_found(
    relations: Sequence[Relation], memories: Sequence[Memory], taken: Sequence[Successor], now: datetime
) -> list[Successor]:
    """The links from what a draft replaces, and from one that is the past of what is known, to what holds instead.

    What another draft of the batch replaces already is left to that.
    """
    replaced = {link.old_id for link in taken}
    links: list[Successor] = []
    for relation in relations:
        old, new = other_id(relation, memories), memories[relation.position]
        if relation.kind == "supersedes" and old not in replaced and old != new.id:
            replaced.add(old)
            links.append(Successor(old, new.id, new.valid_from or new.observed_at or now, relation.confidence))
    for relation in relations:
        future, past = other_id(relation, memories), memories[relation.position]
        if relation.kind == "precedes" and past.id not in replaced and past.id != future:
            replaced.add(past.id)
            links.append(Successor(past.id, future, relation.known.valid_from or now))
    return links


def related_by_position(
    relations: Sequence[Relation], memories: Sequence[Memory]
) -> dict[int, tuple[Outcome, tuple[UUID, ...]]]:
    """For each draft that is something to others: the outcome of the weightiest relation, and whom it is to."""
    grouped: dict[int, list[Relation]] = defaultdict(list)
    for relation in relations:
        grouped[relation.position].append(relation)
    related: dict[int, tuple[Outcome, tuple[UUID, ...]]] = {}
    for position, ones in grouped.items():
        kind, outcome = next(pair for pair in OUTCOMES if any(one.kind == pair[0] for one in ones))
        related[position] = outcome, tuple(other_id(one, memories) for one in ones if one.kind == kind)
    return related


async def write_relations(
    transaction: Transaction, caller: Caller, relations: Sequence[Relation], memories: Sequence[Memory], now: datetime
) -> None:
    """Store the links of near duplicates and the conflicts; either only where the other memory still holds."""
    pairs: Mapping[str, list[tuple[UUID, UUID, str]]] = defaultdict(list)
    for relation in relations:
        pairs[relation.kind].append((other_id(relation, memories), memories[relation.position].id, relation.reason))
    if links := pairs["near_duplicate"]:
        await transaction.run(
            "conflict.link",
            tenant=caller.tenant,
            ids=[new for _, new, _ in links],
            others=[old for old, _, _ in links],
            now=now,
        )
    if updates := [one for one in relations if one.kind == "supersedes" and one.confidence is not None]:
        await transaction.run(
            "conflict.link_updates",
            tenant=caller.tenant,
            ids=[memories[one.position].id for one in updates],
            others=[other_id(one, memories) for one in updates],
            confidences=[one.confidence for one in updates],
            now=now,
        )
    if conflicts := pairs["conflict"]:
        await transaction.run(
            "conflict.add",
            tenant=caller.tenant,
            agent=caller.agent,
            ids=[new_id(now) for _ in conflicts],
            older=[old for old, _, _ in conflicts],
            newer=[new for _, new, _ in conflicts],
            reasons=[reason for _, _, reason in conflicts],
            now=now,
        )
