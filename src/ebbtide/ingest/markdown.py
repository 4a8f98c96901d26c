"""Markdown: its blocks as a CommonMark parser sees them, a stretch of the file at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ebbtide.ingest.blocks import Block, Sort

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["markdown_blocks", "paragraph_blocks"]

Line = tuple[int, str]
"""The number of a line, from 1, and its text without the break."""

# So many characters are parsed at once: from this on a heading may part two stretches, then a blank line, then any.
HEADING_FROM = 65_536
BLANK_FROM = 262_144
ANY_FROM = 1_048_576
HEADING = re.compile(r"#{1,6}(?:\s|$)")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
DATA_ADDRESS = re.compile(r"\bdata:[\w/+.-]+(?:;[\w=.-]+)*,[^\s)\"'>]{64,}")
SORTS: dict[str, Sort] = {
    "heading_open": "heading",
    "fence": "code",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "list",
    "table_open": "table",
}
TABLE_HEAD = 2


def markdown_blocks(lines: Iterable[Line]) -> Iterator[Block]:
    """The blocks of Markdown, each with its own source as text; a heading without its marks.

    Comments, scripts and images within the text are left out.
    """
    for stretch in stretches(lines):
        yield from parsed(stretch)


def stretches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines in stretches that a parser can take, cut where it sees no block, as far as there is such a place."""
    held: list[Line] = []
    size = 0
    fence = ""
    for line in lines:
        text = line[1]
        outside = not fence
        if (size >= HEADING_FROM and outside and HEADING.match(text)) or size >= ANY_FROM:
            yield held
            held, size = [], 0
        held.append(line)
        size += len(text) + 1
        fence = fence_after(fence, text)
        if size >= BLANK_FROM and outside and not text.strip():
            yield held
            held, size = [], 0
    if held:
        yield held


def fence_after(fence: str, text: str) -> str:
    """The mark of the fence that is open after a line, where `fence` was before it."""
    found = FENCE.match(text)
    if not found:
        return fence
    if not fence:
        return found[1]
    closed = found[1].startswith(fence) and not text.strip().strip(fence[0])
    return "" if closed else fence


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """CommonMark with tables. What is within a block stays as it is written, so it is not parsed."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark").enable("table")
    made.core.ruler.disable(["inline", "text_join"], ignoreInvalid=True)
    return made


def parsed(stretch: Sequence[Line]) -> Iterator[Block]:
    """The blocks of one stretch of lines; what the parser makes nothing of, such as addresses of links, is text."""
    source = [text for _, text in stretch]
    tokens = parser().parse("\n".join(source))
    done = 0
    for place, token in enumerate(tokens):
        if token.level != 0 or token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        yield from made("paragraph_open", stretch[done:start], "")
        content = tokens[place + 1].content if token.type == "heading_open" else token.content
        yield from made(token.type, stretch[start:end], content, token)
        done = end
    yield from made("paragraph_open", stretch[done:], "")


def made(sort: str, lines: Sequence[Line], content: str, token: Token | None = None) -> Iterator[Block]:
    """The block of some lines; none where they show nothing."""
    lines = trimmed(lines)
    if not lines:
        return
    first, last = lines[0][0], lines[-1][0]
    if sort == "heading_open" and token is not None:
        yield Block("heading", content, first, last, level=int(token.tag[1:]))
        return
    text = "\n".join(line for _, line in lines)
    if sort == "html_block":
        text = UNSEEN.sub("", COMMENT.sub("", text)).strip()
    if "data:" in text:
        text = DATA_ADDRESS.sub("data:…", text)
    if sort == "fence" and (mark := unclosed(text)):
        text = f"{text}\n{mark}"
    if text and sort != "hr":
        yield Block(SORTS.get(sort, "text"), text, first, last, head=TABLE_HEAD if sort == "table_open" else 0)


def unclosed(code: str) -> str:
    """The mark that would close a fence, where its last line does not."""
    opening, _, rest = code.partition("\n")
    mark = fence_after("", opening)
    return fence_after(mark, rest.rpartition("\n")[2]) if mark else ""


def trimmed(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without blank ones at either end."""
    start, end = 0, len(lines)
    while start < end and not lines[start][1].strip():
        start += 1
    while end > start and not lines[end - 1][1].strip():
        end -= 1
    return lines[start:end]


def paragraph_blocks(lines: Iterable[Line]) -> Iterator[Block]:
    """The paragraphs of plain text, parted by blank lines."""
    held: list[Line] = []
    for line in lines:
        if line[1].strip():
            held.append(line)
        elif held:
            yield Block("text", "\n".join(text for _, text in held), held[0][0], held[-1][0])
            held = []
        if len(held) >= LONGEST_PARAGRAPH:
            yield Block("text", "\n".join(text for _, text in held), held[0][0], held[-1][0])
            held = []
    if held:
        yield Block("text", "\n".join(text for _, text in held), held[0][0], held[-1][0])


LONGEST_PARAGRAPH = 1_000
"""So many lines are one paragraph at most: a list of a million words shall not be held at once."""
