"""Filling a context block: which entries go in, measured as the block will be, and what became of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ebbtide.read.block import Entry, Layout, assemble, framed, heads_of, section_texts, shorter
from ebbtide.read.pack import Item, Packing
from ebbtide.read.shares import Part, Shares, part_of
from ebbtide.types.context import Omission

if TYPE_CHECKING:
    from ebbtide.types.context import Reason, Section

__all__ = ["Filled", "fill"]

# The tokens of parts do not always add up to those of the whole: so often a block is packed anew, or one more tried.
TRIES = 8
# How far the sum of an entry's parts may lie above what it adds to the whole.
MARGIN = 4
# A memory that is worth nothing came back all the same.
LEAST_WORTH = 1e-6


@dataclass(frozen=True, slots=True)
class Filled:
    """A block's text and tokens, those of each section, the entries in it, and what is not, or not whole."""

    text: str
    tokens: int
    sections: dict[Section, int]
    entries: tuple[Entry, ...]
    left_out: tuple[Omission, ...]


def fill(entries: Sequence[Entry], layout: Layout, shares: Shares, count_tokens: Callable[[str], int]) -> Filled:
    """The block of the entries that are worth most together, at most so many tokens with all its own lines.

    What the user selected is considered first, then the best of the others, then each part of the budget by itself;
    what a part leaves over goes to the others, where the shares are not strict. Each time the choice is that which is
    worth most, by relevance. An entry that is too large is skipped. Of what was selected, and of everything, one entry
    is cut at a sentence, or after some words, where none fits whole.
    """
    filling = _Filling(entries, layout, shares, count_tokens)
    chosen, text = filling.filled()
    kept = sorted(chosen)
    texts = section_texts([filling.entries[place] for place in kept], layout)
    sections: dict[Section, int] = {section: filling.count(part) for section, part in texts.items()}
    return Filled(
        text,
        filling.count(text) if text else 0,
        sections,
        tuple(filling.entries[place] for place in kept),
        tuple(
            filling.omission(place, shown=place in chosen)
            for place in range(len(entries))
            if place not in chosen or place in filling.cut
        ),
    )


class _Filling:
    """Entries in the order of their precedence, on their way into a block of limited size."""

    def __init__(
        self, entries: Sequence[Entry], layout: Layout, shares: Shares, count_tokens: Callable[[str], int]
    ) -> None:
        self.entries = list(entries)
        self.layout = layout
        self.shares = shares
        # Headers repeat, and a block is measured more than once; both are forgotten with the filling.
        self.count = cache(count_tokens)
        self.gap = self.count("\n\n")
        self.frames = {terse: self.count(framed([], layout.nonce, terse=terse)) for terse in (False, True)}
        self.costs: dict[str, int] = {}
        self.items = [self.item_of(entry) for entry in entries]
        self.prices = [self.price(item) for item in self.items]
        self.cut: set[int] = set()

    def item_of(self, entry: Entry) -> Item:
        """An entry as it is packed: its length is the sum of those of its parts."""
        heads = heads_of(entry, self.layout)
        for name, text in heads.items():
            if name not in self.costs:
                self.costs[name] = self.count(text) + self.gap
        body = self.count(entry.body) if entry.tokens is None else entry.tokens
        return Item(max(entry.worth, LEAST_WORTH), self.count(entry.lead) + body + self.gap, tuple(heads))

    def price(self, item: Item) -> int:
        """What an entry costs that stands alone, with all the heads above it."""
        return item.cost + sum(self.costs[head] for head in item.heads)

    def limits(self, inside: int) -> dict[Part, int]:
        """What each part may have of the tokens inside the block's own lines."""
        parts = self.shares.parts
        if len(parts) == 1:
            return dict.fromkeys(parts, inside)
        if self.shares.strict:
            return {part: min(share, inside) for part, share in parts.items()}
        return {part: inside * share // max(self.shares.whole, 1) for part, share in parts.items()}

    def filled(self) -> tuple[set[int], str]:
        """The places in the block and its text: whole entries, else the beginning of one, else none."""
        self.cut_selected()
        chosen, text = self.packed(terse=False)
        best = max(range(len(self.items)), key=lambda place: self.items[place].worth, default=None)
        if best not in chosen:
            # Fewer words about the block are a small price for what is worth most in it.
            brief, brief_text = self.packed(terse=True)
            if not chosen or best in brief:
                chosen, text = brief, brief_text
        if chosen:
            return chosen, text
        for place in range(len(self.entries)):
            for terse in (False, True):
                if text := self.cut_to_fit(place, terse):
                    return {place}, text
        return set(), ""

    def packed(self, *, terse: bool) -> tuple[set[int], str]:
        """The block of whole entries, packed anew with less where it proves too large."""
        whole, inside = self.shares.whole, self.shares.whole - self.frames[terse]
        chosen = set[int]()
        for _ in range(TRIES):
            packing = self.choice(inside)
            chosen, text = packing.taken, self.text_of(packing.taken, terse)
            tokens = self.count(text)
            if tokens <= whole:
                return self.topped_up(packing, text, whole - tokens, terse)
            inside -= tokens - whole
        while chosen and self.count(self.text_of(chosen, terse)) > whole:
            chosen.remove(min(chosen, key=lambda place: self.items[place].worth))
        return chosen, self.text_of(chosen, terse)

    def choice(self, inside: int) -> Packing:
        """The choice of entries for so many tokens inside the block's own lines."""
        packing = Packing(self.items, inside, self.costs)
        limits = self.limits(inside)
        parts: list[Part] = [part_of(entry.section) for entry in self.entries]
        fitting = [place for place, part in enumerate(parts)
                   if not self.shares.strict or self.prices[place] <= limits[part]]  # fmt: skip
        for selected in (True, False):
            left = packing.left
            best = packing.take_best(place for place in fitting if (parts[place] == "selected") is selected)
            if best is not None:
                limits[parts[best]] -= left - packing.left
        for part, limit in limits.items():
            packing.take_most([place for place in range(len(parts)) if parts[place] == part], limit)
        if not self.shares.strict:
            packing.take_most(range(len(parts)))
        return packing

    def topped_up(self, packing: Packing, text: str, slack: int, terse: bool) -> tuple[set[int], str]:
        """The same with what goes in besides, because the whole has fewer tokens than its parts."""
        chosen = packing.taken
        if slack <= packing.left or (self.shares.strict and len(self.shares.parts) > 1):
            return chosen, text
        left = sorted(set(range(len(self.items))) - chosen, key=lambda place: -self.items[place].worth)
        for place in [place for place in left if packing.price(place) <= slack + MARGIN][:TRIES]:
            larger = self.text_of(chosen | {place}, terse)
            if self.count(larger) <= self.shares.whole:
                chosen, text = chosen | {place}, larger
        return chosen, text

    def text_of(self, chosen: set[int], terse: bool) -> str:
        """The block of the entries at these places."""
        return assemble([self.entries[place] for place in sorted(chosen)], self.layout, terse=terse)

    def cut_selected(self) -> None:
        """Cut the first of what was selected where none of it fits whole."""
        selected = [place for place, entry in enumerate(self.entries) if entry.section == "selected"]
        room = self.limits(self.shares.whole - self.frames[False])["selected"] if selected else 0
        if not selected or any(self.prices[place] <= room for place in selected):
            return
        place = selected[0]
        above = self.prices[place] - self.items[place].cost
        for entry in self.shorter(place):
            item = self.item_of(entry)
            if item.cost + above <= room:
                self.entries[place], self.items[place], self.prices[place] = entry, item, item.cost + above
                self.cut.add(place)
                return

    def cut_to_fit(self, place: int, terse: bool) -> str:
        """The block of one entry's longest beginning that fits; empty where none does."""
        whole, part = self.shares.whole, part_of(self.entries[place].section)
        room = self.limits(whole - self.frames[terse])[part] if self.shares.strict else whole - self.frames[terse]
        above = self.prices[place] - self.items[place].cost
        # A lower bound, since the tokens of parts can be more than those of the whole.
        if (above + self.count(self.entries[place].lead)) * 3 // 4 > room:
            return ""
        for entry in self.shorter(place):
            text = assemble([entry], self.layout, terse=terse)
            if self.count(text) <= min(whole, room + self.frames[terse]):
                self.entries[place] = entry
                self.cut.add(place)
                return text
        return ""

    def shorter(self, place: int) -> Iterator[Entry]:
        """The entry with its body cut, the longest form first."""
        entry = self.entries[place]
        return (replace(entry, body=body, tokens=None) for body in shorter(entry.body))

    def omission(self, place: int, *, shown: bool) -> Omission:
        """Why an entry is not in the block, or not whole although it is shown."""
        entry, price = self.entries[place], self.prices[place]
        inside = self.shares.whole - self.frames[True]
        reason: Reason = "no room left"
        if shown:
            reason = "cut"
        elif price > inside:
            reason = "over the whole budget"
        elif self.shares.strict and price > self.limits(inside)[part_of(entry.section)]:
            reason = "too large for the section"
        return Omission(id=entry.id, section=entry.section, tokens=self.items[place].cost, reason=reason)
