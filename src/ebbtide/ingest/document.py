"""One file from its bytes to its passages, whatever its type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from typing import BinaryIO

from ebbtide.ingest.blocks import Block
from ebbtide.ingest.chunk import Passage, chunked
from ebbtide.ingest.html import html_blocks
from ebbtide.ingest.markdown import markdown_blocks, paragraph_blocks
from ebbtide.ingest.matter import MOST_LINES, read_matter
from ebbtide.ingest.pdf import pdf_blocks
from ebbtide.ingest.reading import Examined, read_lines, read_text
from ebbtide.ingest.split import Measure

__all__ = ["Reading", "Sizes", "read_document"]

LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large passages may be, in tokens as `measure` counts them and in characters, and how much text a file."""

    measure: Measure
    tokens: int
    characters: int
    most_characters: int


@dataclass(slots=True)
class Reading:
    """A document as it is read: what it says of itself, and its passages, which are made as they are asked for."""

    title: str | None
    tags: tuple[str, ...] = ()
    observed_at: datetime | None = None
    warnings: list[str] = field(default_factory=list[str])
    passages: Iterator[Passage] = field(default_factory=lambda: iter(()))


def read_document(stream: BinaryIO, examined: Examined, sizes: Sizes, *, title: str | None, timezone: str) -> Reading:
    """Begin to read a document; `title` stands in place of what it calls itself.

    Raises:
        Unreadable: it is a PDF that cannot be read.
    """
    reading = Reading(title)
    blocks: Iterable[Block]
    if examined.media == "markdown":
        blocks = markdown(stream, examined, reading, timezone)
    elif examined.media == "html":
        blocks = html(stream, examined, reading)
    elif examined.media == "pdf":
        blocks = pdf_blocks(stream, most_characters=sizes.most_characters, warnings=reading.warnings)
    else:
        blocks = paragraph_blocks(read_lines(stream, examined.encoding))
    reading.title = title or reading.title
    reading.passages = chunked(blocks, sizes.measure, sizes.tokens, title=reading.title, characters=sizes.characters)
    return reading


def markdown(stream: BinaryIO, examined: Examined, reading: Reading, timezone: str) -> Iterator[Block]:
    """The blocks of Markdown after its front matter, which `reading` learns."""
    lines = read_lines(stream, examined.encoding)
    head = list(islice(lines, MOST_LINES))
    matter = read_matter([text for _, text in head], timezone)
    reading.title, reading.tags, reading.observed_at = matter.title, matter.tags, matter.observed_at
    reading.warnings += matter.warnings
    return markdown_blocks(chain(head[matter.lines :], lines))


def html(stream: BinaryIO, examined: Examined, reading: Reading) -> Iterator[Block]:
    """The blocks of a page; `reading` learns its title where that comes first, as it should."""
    found = html_blocks(read_text(stream, examined.encoding))
    first = next(found, None)
    if isinstance(first, str):
        reading.title = first[:LONGEST_TITLE] or None
    rest = chain([] if first is None else [first], found)
    return (block for block in rest if isinstance(block, Block))
