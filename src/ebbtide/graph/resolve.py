"""Which known entity a name means, or none: pure, from names alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.graph.names import keys_asked, keys_of, marks_of, name_hash, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ebbtide.types.graph import Named

__all__ = ["LEAST_SIMILARITY", "Alias", "Book", "Known", "similarity"]

LEAST_SIMILARITY = 0.5
"""The Jaccard similarity of their words from which on two names may mean the same."""


@dataclass(slots=True)
class Alias:
    """A name of an entity.

    `given` names were given as such, by a text or a person, or are its own; others were learnt, since they are similar
    to a given one. A `removed` one is none, and is not learnt again.
    """

    name: str
    given: bool = False
    removed: bool = False
    id: UUID | None = None


@dataclass(slots=True)
class Known:
    """An entity with its names by their hashes; its own name is one of them."""

    id: UUID
    type: str
    name: str
    aliases: dict[bytes, Alias] = field(default_factory=dict[bytes, Alias])

    def compared(self) -> list[str]:
        """The names that others are compared with: its own, and given ones that say more than a part of that.

        Learnt ones are not: what is similar to something similar may be something else. A shorter form of its own name,
        such as Sarah for Sarah Chen, would make it similar to everyone who is called Sarah.
        """
        own = words_of(self.name)
        given = (alias.name for alias in self.aliases.values() if alias.given and not alias.removed)
        return [self.name, *(name for name in given if name != self.name and not words_of(name) <= own)]


def similarity(one: str, other: str) -> float:
    """The Jaccard similarity of the words of two names, from 0 to 1; 0 where they differ in what tells apart a series.

    That is a number, one of them none ("Room", "Room 101"), or different letters, months, points of the compass, ….
    """
    if not _compatible(one, other):
        return 0.0
    first, second = words_of(one), words_of(other)
    return len(first & second) / len(first | second)


def _compatible(one: str, other: str) -> bool:
    (numbers, marks), (other_numbers, other_marks) = marks_of(one), marks_of(other)
    return numbers == other_numbers and (not marks or not other_marks or marks == other_marks)


class Book:
    """Entities by the names they may be meant by. Those of one agent only are put into one book."""

    def __init__(self, known: Iterable[Known] = ()) -> None:
        self._by_hash: dict[tuple[str, bytes], dict[UUID, Known]] = defaultdict(dict)
        self._by_key: dict[int, dict[UUID, Known]] = defaultdict(dict)
        for one in known:
            self.add(one)

    def add(self, known: Known) -> None:
        """Put an entity in, or in again after it was given a name."""
        for digest in (name_hash(known.name), *known.aliases):
            self._by_hash[known.type, digest][known.id] = known
        for name in known.compared():
            for key in keys_of(known.type, words_of(name)):
                self._by_key[key][known.id] = known

    def find(self, named: Named) -> Known | None:
        """The entity that is meant, or None where none is known, or several could be.

        The first of these that finds any decides: its own name, one of its aliases, an alias given with the name, the
        most similar name from `LEAST_SIMILARITY` on. Never one of another type. Of several with the very same name of
        their own, it is the oldest.
        """
        digest = name_hash(named.name)
        same = self._by_hash.get((named.type, digest), {})
        own = [one for one in same.values() if name_hash(one.name) == digest]
        if own:
            return min(own, key=lambda one: one.id)
        known_as = [one for one in same.values() if not one.aliases[digest].removed]
        if known_as:
            return _only(known_as)
        given = [
            one
            for other in map(name_hash, named.aliases)
            for one in self._by_hash.get((named.type, other), {}).values()
            if _is_given(one, other) and _compatible(named.name, one.name)
        ]
        if given:
            return _only(given)
        return self._most_similar(named, digest)

    def _most_similar(self, named: Named, digest: bytes) -> Known | None:
        near = {
            one.id: one
            for key, most in keys_asked(named.type, words_of(named.name))
            for one in self._by_key.get(key, {}).values()
            if most > 0 and digest not in one.aliases
        }
        scored = [(max(similarity(named.name, name) for name in one.compared()), one) for one in near.values()]
        best = max((score for score, _ in scored), default=0.0)
        if best < LEAST_SIMILARITY:
            return None
        return _only([one for score, one in scored if score == best])


def _is_given(known: Known, digest: bytes) -> bool:
    alias = known.aliases.get(digest)
    return name_hash(known.name) == digest or (alias is not None and alias.given and not alias.removed)


def _only(known: list[Known]) -> Known | None:
    """The one there is; with several, any would be a guess."""
    return known[0] if len({one.id for one in known}) == 1 else None
