"""What memories speak of becomes entities, mentions and relations, in the transaction that writes the memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.graph.derive import derive
from ebbtide.graph.names import fold_name, keys_asked, keys_of, name_hash, rests_of, words_of
from ebbtide.graph.resolve import Alias, Book, Known
from ebbtide.identifiers import new_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.types.graph import Named, Related

__all__ = ["Said", "Writing", "candidates", "learn", "lock", "store_writing", "write_graph"]

MOST_CANDIDATES = 50
"""How many names are looked at for each key; where so many are similar, none of them is meant for sure."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory mentions, and what it says holds."""

    memory_id: UUID
    entities: Sequence[Named] = ()
    relation: Related | None = None

    @property
    def named(self) -> list[Named]:
        """Everything it names."""
        sides = () if self.relation is None else (self.relation.subject, self.relation.object)
        return [*self.entities, *sides]


@dataclass(slots=True)
class Writing:
    """The rows that are to be written."""

    entities: list[Known] = field(default_factory=list[Known])
    aliases: list[tuple[UUID, bytes, Alias]] = field(default_factory=list[tuple[UUID, bytes, Alias]])
    given: list[UUID] = field(default_factory=list[UUID])
    keys: list[tuple[int, int, UUID]] = field(default_factory=list[tuple[int, int, UUID]])
    mentions: dict[tuple[UUID, UUID], None] = field(default_factory=dict[tuple[UUID, UUID], None])
    sources: dict[tuple[UUID, UUID], None] = field(default_factory=dict[tuple[UUID, UUID], None])
    relations: list[tuple[UUID, UUID, str, UUID, UUID]] = field(
        default_factory=list[tuple[UUID, UUID, str, UUID, UUID]]
    )


async def lock(transaction: Transaction, caller: Caller) -> None:
    """Let one writer at a time to the agent's entities; called before any memory is locked."""
    await transaction.run("graph.lock", tenant=caller.tenant, agent=caller.agent)


async def write_graph(transaction: Transaction, caller: Caller, said: Sequence[Said], now: datetime) -> None:
    """Write what memories speak of: the entities they name, those not known made anew, and the relations between them.

    The caller has called `lock` before.
    """
    named = [one for memory in said for one in memory.named]
    if not named:
        return
    book = Book(await candidates(transaction, caller, named))
    writing = Writing()
    for memory in said:
        meant = [_meant(book, one, writing, memory.memory_id, now) for one in memory.named]
        if memory.relation is not None:
            subject, other = meant[-2:]
            relation = (new_id(now), subject.id, memory.relation.predicate, other.id, memory.memory_id)
            writing.relations.append(relation)
    await store_writing(transaction, caller, writing, now)


async def candidates(transaction: Transaction, caller: Caller, named: Iterable[Named]) -> list[Known]:
    """The entities that names may mean."""
    hashes = {name_hash(name) for one in named for name in (one.name, *one.aliases)}
    keys = {key: most for one in named for key, most in keys_asked(one.type, words_of(one.name))}
    rows = await transaction.all(
        "graph.candidates",
        tenant=caller.tenant,
        agent=caller.agent,
        hashes=list(hashes),
        keys=list(keys),
        sizes=list(keys.values()),
        limit=MOST_CANDIDATES,
    )
    known: dict[UUID, Known] = {}
    for id_, type_, name, alias_id, alias, digest, given, removed in rows:
        one = known.setdefault(id_, Known(id_, type_, name))
        one.aliases[bytes(digest)] = Alias(alias, given, removed, alias_id)
    return list(known.values())


def _meant(book: Book, named: Named, writing: Writing, memory_id: UUID, now: datetime) -> Known:
    """The entity that a name means, made where there is none; it learns the names that were used."""
    known = book.find(named)
    if known is None:
        known = Known(new_id(now), named.type, named.name)
        writing.entities.append(known)
    learn(book, known, [(named.name, False), *((alias, True) for alias in named.aliases)], writing, memory_id, now)
    return known


def learn(
    book: Book,
    known: Known,
    names: Iterable[tuple[str, bool]],
    writing: Writing,
    memory_id: UUID,
    now: datetime,
) -> None:
    """Note that a memory mentions an entity by these names, each with whether it was given as one of its names."""
    own = name_hash(known.name)
    for name, is_given in names:
        digest = name_hash(name)
        alias = known.aliases.get(digest)
        given = is_given or digest == own
        if alias is None:
            alias = known.aliases[digest] = Alias(name, given, id=new_id(now))
            writing.aliases.append((known.id, digest, alias))
            writing.keys += keys_of_alias(known, alias)
        elif given and not alias.given and not alias.removed:
            alias.given = True
            writing.given += [] if alias.id is None else [alias.id]
            writing.keys += keys_of_alias(known, alias)
        if alias.id is not None and not alias.removed:
            writing.sources[memory_id, alias.id] = None
    book.add(known)
    writing.mentions[memory_id, known.id] = None


def keys_of_alias(known: Known, alias: Alias) -> list[tuple[int, int, UUID]]:
    """The keys of a name that others are compared with, each with how many words the name has."""
    if alias.id is None or not alias.given or alias.name not in known.compared():
        return []
    words = words_of(alias.name)
    return [(key, len(words), alias.id) for key in keys_of(known.type, words)]


async def store_writing(transaction: Transaction, caller: Caller, writing: Writing, now: datetime) -> None:
    """Store the rows, and what follows from the relations among them."""
    place = {"tenant": caller.tenant, "agent": caller.agent}
    if writing.entities:
        await transaction.run(
            "graph.insert_entities",
            **place,
            now=now,
            ids=[one.id for one in writing.entities],
            types=[one.type for one in writing.entities],
            names=[one.name for one in writing.entities],
            hashes=[name_hash(one.name) for one in writing.entities],
        )
    if writing.aliases:
        await insert_aliases(transaction, caller, writing.aliases, now)
    if writing.given:
        await transaction.run("graph.give_aliases", tenant=caller.tenant, ids=writing.given)
    if writing.keys:
        await insert_keys(transaction, caller, writing.keys)
    await transaction.run(
        "graph.insert_mentions",
        tenant=caller.tenant,
        memories=[memory for memory, _ in writing.mentions],
        entities=[entity for _, entity in writing.mentions],
        source_memories=[memory for memory, _ in writing.sources],
        aliases=[alias for _, alias in writing.sources],
    )
    if writing.relations:
        ids, subjects, predicates, objects, memories = map(list, zip(*writing.relations, strict=True))
        new = await transaction.all(
            "graph.insert_relations", **place, now=now, ids=ids, subjects=subjects, predicates=predicates,
            objects=objects, memories=memories,
        )  # fmt: skip
        await derive(transaction, caller, [row[0] for row in new])


async def insert_aliases(
    transaction: Transaction,
    caller: Caller,
    aliases: Sequence[tuple[UUID, bytes, Alias]],
    now: datetime,
    *,
    added: bool = False,
) -> None:
    """Store names, each with its entity and its hash; those that a person `added` stay whatever memories say."""
    folded = [fold_name(alias.name) for _, _, alias in aliases]
    words = [
        (rest, entity, alias.id)
        for (entity, _, alias), name in zip(aliases, folded, strict=True)
        for rest in rests_of(name)
    ]
    await transaction.run(
        "graph.insert_aliases",
        tenant=caller.tenant,
        agent=caller.agent,
        ids=[alias.id for _, _, alias in aliases],
        entities=[entity for entity, _, _ in aliases],
        aliases=[alias.name for _, _, alias in aliases],
        folded=folded,
        hashes=[digest for _, digest, _ in aliases],
        given=[alias.given for _, _, alias in aliases],
        rests=[rest for rest, _, _ in words],
        word_entities=[entity for _, entity, _ in words],
        word_aliases=[alias for _, _, alias in words],
        added=added,
        now=now,
    )


async def insert_keys(transaction: Transaction, caller: Caller, keys: Sequence[tuple[int, int, UUID]]) -> None:
    """Store the keys of names, each with its size and the name's id."""
    await transaction.run(
        "graph.insert_keys",
        tenant=caller.tenant,
        agent=caller.agent,
        keys=[key for key, _, _ in keys],
        sizes=[size for _, size, _ in keys],
        aliases=[alias for _, _, alias in keys],
    )
