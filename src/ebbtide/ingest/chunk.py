"""From blocks to passages: sections by their headings, and within each as much as fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from ebbtide.ingest.blocks import Block
from ebbtide.ingest.split import Measure, pieces

__all__ = ["CHARACTERS_A_TOKEN", "SEPARATOR", "Passage", "chunked"]

SEPARATOR = " > "
CHARACTERS_A_TOKEN = 16
"""So many characters are a token at most, however few a tokenizer finds in them."""

CRUMB_CHARACTERS = 120
CRUMB_SHARE = 4
# A section of more than so many passages is cut into stretches that know nothing of each other, every 16 blocks or so.
LONG_SECTION = 8
LONGEST_SECTION = 64
STRETCH = 16
# A fence of code, also within a list or a quotation.
FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})")
ITEM = re.compile(r"^(\s*)(?:[-*+•]|\d{1,9}[.)])\s")


@dataclass(frozen=True, slots=True)
class Passage:
    """What one memory is made of: its text with the breadcrumb as first line, the headings above it, where it stands.

    `first` and `last` are lines or pages from 1, both included.
    """

    text: str
    headings: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Unit:
    """What is not cut any more, how much room it takes, and what parts it from the unit before."""

    text: str
    size: int
    first: int
    last: int
    glue: str = "\n\n"


class Chunker:
    """Makes passages of blocks, of which it holds those of one stretch.

    Where a section is cut depends on what stands near the cut, not on how far it is from the start: after an edit the
    cuts further on fall where they did.
    """

    def __init__(self, measure: Measure, limit: int, characters: int, title: str | None) -> None:
        self.limit = limit
        self.measure: Measure = lambda text: max(measure(text), -(-len(text) * limit // characters))
        self.title = title
        self.path: list[tuple[int, str]] = []
        self.owed: list[Unit] = []
        self.units: list[Unit] = []
        self.size = 0
        self.section_size = 0
        self.heading: Block | None = None
        self.first_line = self.crumb()

    @property
    def headings(self) -> tuple[str, ...]:
        """The title and the headings above what comes."""
        found = [text for _, text in self.path if text]
        if self.title and not (found and found[0].casefold() in self.title.casefold()):
            found.insert(0, self.title)
        return tuple(found)

    def add(self, block: Block) -> Iterator[Passage]:
        """Take one block; what it completes comes out."""
        if block.sort == "heading":
            yield from self.turn(block)
            return
        room = self.limit - self.measure(self.first_line[0]) - 2
        for unit in units_of(block, self.measure, max(room, self.limit // 2)):
            self.units.append(unit)
            self.size += unit.size
            self.section_size += unit.size
        parted = self.section_size > LONG_SECTION * self.limit and crc32(block.text.encode()) % STRETCH == 0
        if parted or self.size > LONGEST_SECTION * self.limit:
            yield from self.flush()

    def turn(self, block: Block) -> Iterator[Passage]:
        """Begin the section of a heading."""
        deeper = self.heading is not None and block.level > self.heading.level
        if self.units or not deeper:
            yield from self.flush()
        while self.path and self.path[-1][0] >= block.level:
            self.path.pop()
        text = " ".join(block.text.split())
        self.path.append((block.level, text))
        self.heading = block
        self.section_size = 0
        self.first_line = self.crumb()
        if text:
            self.owed.append(Unit(text, self.measure(text), block.first, block.last))

    def flush(self) -> Iterator[Passage]:
        """The passages of what is held; a heading alone is none, unless it is too long for a breadcrumb."""
        if not self.units and not self.owed:
            return
        crumb, shown = self.first_line
        missing = [unit for unit in self.owed if unit.text not in shown]
        first = min((unit.first for unit in self.owed), default=None)
        units = [part for unit in missing for part in cut_text(unit, self.measure, self.limit // 2)] + self.units
        self.owed, self.units, self.size = [], [], 0
        if not units:
            return
        # The heading's own line belongs to the first passage under it.
        if first is not None:
            units[0] = replace(units[0], first=min(first, units[0].first))
        room = self.limit - self.measure(crumb) - (2 if crumb else 0)
        for group in packed(units, room):
            yield from self.written(group, crumb)

    def written(self, units: Sequence[Unit], crumb: str) -> Iterator[Passage]:
        """One passage; or two, where the whole takes more room than its parts did."""
        body = "".join(unit.text if place == 0 else unit.glue + unit.text for place, unit in enumerate(units))
        text = f"{crumb}\n\n{body}" if crumb else body
        if self.measure(text) <= self.limit:
            yield Passage(text, self.headings, units[0].first, units[-1].last)
        elif len(units) > 1:
            half = len(units) // 2
            yield from self.written(units[:half], crumb)
            yield from self.written(units[half:], crumb)
        else:
            room = max(1, self.limit - self.measure(crumb) - 2) if crumb else self.limit
            for part in pieces(body, self.measure, room):
                whole = f"{crumb}\n\n{part}" if crumb else part
                yield Passage(whole, self.headings, units[0].first, units[-1].last)

    def crumb(self) -> tuple[str, set[str]]:
        """The first line of passages, in a quarter of their room, and which headings it shows in full.

        Where it is too long, the headings nearest to the passage stay.
        """
        headings = list(self.headings)
        cut = [one if len(one) <= CRUMB_CHARACTERS else f"{one[: CRUMB_CHARACTERS - 1]}…" for one in headings]
        start = 0
        while start < len(cut) and self.measure(SEPARATOR.join(cut[start:])) > self.limit // CRUMB_SHARE:
            start += 1
        shown = {one for one, made in zip(headings[start:], cut[start:], strict=True) if one == made}
        return SEPARATOR.join(cut[start:]), shown


def chunked(
    blocks: Iterable[Block], measure: Measure, limit: int, *, title: str | None = None, characters: int | None = None
) -> Iterator[Passage]:
    """The passages of a document in their order, each of at most `limit` by the measure.

    Args:
        blocks: what a reader made of the document.
        measure: counts the tokens of a text.
        limit: the most tokens of a passage with its breadcrumb.
        title: stands above all headings, unless the first of them says the same.
        characters: the most characters of a passage, 16 for each token unless given.
    """
    chunker = Chunker(measure, limit, characters or limit * CHARACTERS_A_TOKEN, title)
    for block in blocks:
        yield from chunker.add(block)
    yield from chunker.flush()


def packed(units: Sequence[Unit], room: int) -> Iterator[list[Unit]]:
    """Neighbouring units in groups that fit: all in one, or each cut where a group is half full at least.

    Of the places where it could end, the text before them chooses: every other one on average.
    """
    if sum(unit.size + 1 for unit in units) <= room:
        yield list(units)
        return
    group: list[Unit] = []
    size = 0
    for unit in units:
        if group and size + unit.size + len(group) > room:
            yield group
            group, size = [], 0
        group.append(unit)
        size += unit.size
        if size >= room / 2 and crc32(unit.text.encode()) % 2 == 0:
            yield group
            group, size = [], 0
    if group:
        yield group


def units_of(block: Block, measure: Measure, room: int) -> Iterator[Unit]:
    """A block whole where it fits; else an item, a row, some lines or some sentences at a time."""
    whole = Unit(block.text, measure(block.text), block.first, block.last)
    if whole.size <= room:
        yield whole
    elif block.sort == "code":
        yield from framed(block, measure, room, head=1, foot=1)
    elif block.sort == "table":
        yield from framed(block, measure, room, head=block.head, foot=0)
    elif block.sort == "list":
        yield from items(block, measure, room)
    else:
        yield from cut_text(whole, measure, room)


def cut_text(unit: Unit, measure: Measure, room: int) -> Iterator[Unit]:
    """A text in parts that fit; lines of a paragraph are told apart by where they stand."""
    line, spread = unit.first, unit.last > unit.first
    for part in pieces(unit.text, measure, room):
        last = min(unit.last, line + part.count("\n")) if spread else unit.last
        yield Unit(part, measure(part), line, last)
        line = last


def framed(block: Block, measure: Measure, room: int, *, head: int, foot: int) -> Iterator[Unit]:
    """Lines of code or rows of a table, as many as fit, each time within the fence or under the head."""
    lines = block.text.split("\n")
    top, bottom = lines[:head], lines[len(lines) - foot :] if foot and len(lines) > head else []
    body = lines[head : len(lines) - len(bottom)]
    frame = measure("\n".join([*top, *bottom]))
    if frame > room // 2:
        top, bottom, body, frame = [], [], lines, 0
    atoms = [Atom(line, measure(line), 1) for line in body]
    for part in runs(atoms, measure, max(1, room - frame - 2), block.first + len(top), block.last):
        yield replace(part, text="\n".join([*top, part.text, *bottom]), size=part.size + frame + 2, glue="\n\n")


@dataclass(frozen=True, slots=True)
class Atom:
    """A line, or the lines of one fence within a list; how much room it takes, and how many lines it is."""

    text: str
    size: int
    lines: int


def runs(atoms: Iterable[Atom], measure: Measure, room: int, line: int, last: int) -> Iterator[Unit]:
    """Lines from a number on, joined as long as they fit; one that is too long is cut like any text."""
    held: list[Atom] = []
    size = 0
    for atom in atoms:
        if held and size + atom.size + len(held) > room:
            yield _run(held, measure, line, last)
            line += sum(one.lines for one in held)
            held, size = [], 0
        if atom.size <= room:
            held.append(atom)
            size += atom.size
            continue
        whole = Block(
            "code" if atom.lines > 1 else "text", atom.text, min(line, last), min(line + atom.lines - 1, last)
        )
        parts = framed(whole, measure, room, head=1, foot=1) if atom.lines > 1 else units_of(whole, measure, room)
        yield from (replace(part, glue="\n") for part in parts)
        line += atom.lines
    if held:
        yield _run(held, measure, line, last)


def _run(held: Sequence[Atom], measure: Measure, line: int, last: int) -> Unit:
    text = "\n".join(one.text for one in held)
    return Unit(text, measure(text), min(line, last), min(line + sum(one.lines for one in held) - 1, last), "\n")


def items(block: Block, measure: Measure, room: int) -> Iterator[Unit]:
    """The items of a list, each with what is below it; one too long is cut between lines outside of fences."""
    lines = block.text.split("\n")
    outer = min((len(found[1]) for line in lines if (found := ITEM.match(line))), default=0)
    groups: list[list[str]] = []
    for line in lines:
        found = ITEM.match(line)
        if not groups or (found and len(found[1]) == outer):
            groups.append([])
        groups[-1].append(line)
    number = block.first
    for group in groups:
        text = "\n".join(group)
        unit = Unit(text, measure(text), min(number, block.last), min(number + len(group) - 1, block.last), "\n")
        if unit.size <= room:
            yield unit
        else:
            yield from runs(atoms_of(group, measure), measure, room, number, block.last)
        number += len(group)


def atoms_of(lines: Sequence[str], measure: Measure) -> Iterator[Atom]:
    """Lines one by one, and those of a fence all in one."""
    fence: list[str] = []
    mark = ""
    for line in lines:
        found = FENCE.match(line)
        if not fence and found:
            fence, mark = [line], found[1]
            continue
        if not fence:
            yield Atom(line, measure(line), 1)
            continue
        fence.append(line)
        if found and found[1].startswith(mark) and not line.strip().strip(mark[0]):
            text = "\n".join(fence)
            yield Atom(text, measure(text), len(fence))
            fence = []
    for line in fence:
        yield Atom(line, measure(line), 1)
