"""Packing: the entries that are worth most within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Item", "Packing", "pack"]

# More items than these are packed by their worth a token: the exact way would take more than a few milliseconds.
MOST_EXACT = 200
# Larger budgets are counted in steps of several tokens, rounded so that everything still fits.
MOST_STEPS = 4_096


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be packed.

    `worth` is above 0, `cost` a number of tokens. `heads` are the lines that must stand above it, the outermost first;
    items of one head share it, and its cost is paid once.
    """

    worth: float
    cost: int
    heads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """A head whose cost is still to be paid, and what may stand below it."""

    cost: int
    below: list[Node]


Node: TypeAlias = int | Head
Keep: TypeAlias = tuple[NDArray[np.bool_], "list[Keep]"]


def pack(items: Sequence[Item], budget: int, costs: Mapping[str, int] | None = None) -> list[int]:
    """The places of the items that are packed, ascending; `costs` are those of the heads, 0 for one that is not there.

    The most worthy item that fits is always among them, since whoever asks expects the best answer first; of all ways
    to fill the rest of the budget it is the one that is worth most. Of equals under the same heads the earlier one is
    taken.
    """
    packing = Packing(items, budget, costs or {})
    packing.take_best(range(len(items)))
    packing.take_most(range(len(items)))
    return sorted(packing.taken)


@dataclass(slots=True)
class Packing:
    """A budget on its way to being spent: what is taken, which heads are paid for, and how many tokens are left."""

    items: Sequence[Item]
    left: int
    costs: Mapping[str, int]
    taken: set[int] = field(default_factory=set[int])
    opened: set[str] = field(default_factory=set[str])

    def price(self, place: int) -> int:
        """What an item costs now, with those of its heads that are still to be paid for."""
        item = self.items[place]
        return item.cost + sum(self.costs.get(head, 0) for head in item.heads if head not in self.opened)

    def take(self, place: int) -> None:
        """Take an item, whatever it costs."""
        self.left -= self.price(place)
        self.opened.update(self.items[place].heads)
        self.taken.add(place)

    def take_best(self, places: Iterable[int]) -> int | None:
        """Take the most worthy of the items that fits, and answer with its place; None where none does."""
        fitting = [place for place in places if place not in self.taken and self.price(place) <= self.left]
        best = max(fitting, key=lambda place: self.items[place].worth, default=None)
        if best is not None:
            self.take(best)
        return best

    def take_most(self, places: Iterable[int], most: int | None = None) -> None:
        """Take those of the items that are worth most together, for at most so many tokens; None for all that are left.

        Exact for at most 200 items in at most 4,096 tokens; else within a step of it, or by worth a token.
        """
        room = max(0, self.left if most is None else min(most, self.left))
        open_ = [place for place in places if place not in self.taken and self.price(place) <= room]
        everything = sum(self.items[place].cost for place in open_) + sum(
            self.costs.get(head, 0)
            for head in {head for place in open_ for head in self.items[place].heads} - self.opened
        )
        end = self.left - room
        if everything <= room:
            chosen = open_
        elif len(open_) <= MOST_EXACT:
            chosen = self._optimum(open_, room)
        else:
            chosen = []
        for place in chosen:
            self.take(place)
        for place in sorted(open_, key=lambda place: -self.items[place].worth / max(self.items[place].cost, 1)):
            if place not in self.taken and self.price(place) <= self.left - end:
                self.take(place)

    def _optimum(self, places: Sequence[int], room: int) -> list[int]:
        """The places worth most together within the room, by dynamic programming over the tokens."""
        step = -(-room // MOST_STEPS) or 1
        nodes = self._tree(places, 0, step)
        _, keeps = self._solve(nodes, np.zeros(room // step + 1), step)
        chosen: list[int] = []
        self._replay(nodes, keeps, room // step, step, chosen)
        return chosen

    def _tree(self, places: Sequence[int], depth: int, step: int) -> list[Node]:
        """The items that have no unpaid head from a depth on, then those below each such head."""
        nodes: list[Node] = []
        below: dict[str, list[int]] = {}
        for place in places:
            heads = [head for head in self.items[place].heads if head not in self.opened]
            if depth == len(heads):
                nodes.append(place)
            else:
                below.setdefault(heads[depth], []).append(place)
        for head, members in below.items():
            nodes.append(Head(-(-self.costs.get(head, 0) // step), self._tree(members, depth + 1, step)))
        return nodes

    def _solve(
        self, nodes: Sequence[Node], after: NDArray[np.float64], step: int
    ) -> tuple[NDArray[np.float64], list[Keep]]:
        """The most that nodes and what comes after them are worth, by the tokens left; and where each is taken."""
        keeps: list[Keep] = []
        for node in reversed(nodes):
            keep = np.zeros(len(after), dtype=np.bool_)
            if isinstance(node, Head):
                inside, below = self._solve(node.below, after, step)
                cost, gain = node.cost, inside
            else:
                cost, below = -(-self.items[node].cost // step), list[Keep]()
                gain = after + self.items[node].worth
            end = len(after) - cost
            if end > 0:
                with_it, without = gain[:end], after[cost:]
                # An item goes in where that is no worse; a head only where it gains something.
                keep[cost:] = with_it > without if isinstance(node, Head) else with_it >= without
                after = np.concatenate((after[:cost], np.maximum(with_it, without)))
            keeps.append((keep, below))
        return after, keeps[::-1]

    def _replay(self, nodes: Sequence[Node], keeps: Sequence[Keep], left: int, step: int, chosen: list[int]) -> int:
        """Walk the nodes with the tokens left, note the items that are taken, and answer with what is left then."""
        for node, (keep, below) in zip(nodes, keeps, strict=True):
            if not keep[left]:
                continue
            if isinstance(node, Head):
                left = self._replay(node.below, below, left - node.cost, step, chosen)
            else:
                left -= -(-self.items[node].cost // step)
                chosen.append(node)
        return left
