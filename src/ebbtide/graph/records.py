"""What an import brings of entities: known again by their ids, or by names, and made anew under the same ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.graph.change import bring_name
from ebbtide.graph.resolve import Book, Known
from ebbtide.graph.write import Writing, candidates, learn, store_writing
from ebbtide.identifiers import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.types.graph import Named

__all__ = ["Mentioned", "Naming", "write_namings"]


@dataclass(frozen=True, slots=True)
class Mentioned:
    """An entity that a record mentions: its id where it came from, its names, and whether the first is its own.

    `added` and `removed` are names that a person gave it, or took from it.
    """

    id: UUID | None
    named: Named
    own: bool = True
    learnt: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Naming:
    """What a record mentions, and what it says holds: subject and object by their places among those."""

    entities: tuple[Mentioned, ...] = ()
    relations: tuple[tuple[int, str, int], ...] = ()


async def write_namings(
    transaction: Transaction,
    caller: Caller,
    namings: Sequence[tuple[UUID, Naming]],
    same_as: dict[UUID, UUID],
    now: datetime,
) -> None:
    """Write what imported memories mention. The caller holds the lock on the agent's entities.

    `same_as` learns which entities of the store those of the import are: the one of its id, or else the one that its
    name means by the rules of a write, or else a new one, of its id where that is free.
    """
    mentioned = [one for _, naming in namings for one in naming.entities]
    if not mentioned:
        return
    known = {one.id: one for one in await candidates(transaction, caller, [one.named for one in mentioned])}
    ids = {one.id for one in mentioned if one.id is not None} | set(same_as.values())
    rows = await transaction.all("graph.import_entities", tenant=caller.tenant, agent=caller.agent, ids=list(ids))
    taken = {row[0] for row in rows}
    for id_, type_, name, merged in rows:
        if type_ is not None and merged is None:
            known.setdefault(id_, Known(id_, type_, name))
    book, writing = Book(known.values()), Writing()
    by_hand: dict[tuple[UUID, str], tuple[Known, bool]] = {}
    for memory, naming in namings:
        meant = [_meant(book, known, taken, one, same_as, writing, memory, now) for one in naming.entities]
        for entity, one in zip(meant, naming.entities, strict=True):
            by_hand |= {(entity.id, name): (entity, False) for name in one.added}
            by_hand |= {(entity.id, name): (entity, True) for name in one.removed}
        writing.relations += [
            (new_id(now), meant[subject].id, predicate, meant[other].id, memory)
            for subject, predicate, other in naming.relations
        ]
    await store_writing(transaction, caller, writing, now)
    for (_, name), (entity, removed) in by_hand.items():
        await bring_name(transaction, caller, entity, name, now, removed=removed)


def _meant(
    book: Book,
    known: dict[UUID, Known],
    taken: set[UUID],
    one: Mentioned,
    same_as: dict[UUID, UUID],
    writing: Writing,
    memory: UUID,
    now: datetime,
) -> Known:
    found = _by_id(known, one, same_as) or book.find(one.named)
    if found is None:
        id_ = one.id if one.id is not None and one.id not in taken else new_id(now)
        found = known[id_] = Known(id_, one.named.type, one.named.name)
        taken.add(id_)
        writing.entities.append(found)
    elif one.own and found in writing.entities:
        found.name = one.named.name
    if one.id is not None:
        same_as[one.id] = found.id
    learn(book, found, [(one.named.name, one.own), *((name, True) for name in one.named.aliases)], writing, memory, now)
    learn(book, found, [(name, False) for name in one.learnt], writing, memory, now)
    return found


def _by_id(known: Mapping[UUID, Known], one: Mentioned, same_as: Mapping[UUID, UUID]) -> Known | None:
    found = known.get(same_as.get(one.id, one.id)) if one.id is not None else None
    return found if found is not None and found.type == one.named.type else None
