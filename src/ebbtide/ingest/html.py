"""HTML: its text in blocks, without what a reader of the page would not see. Nothing that it links to is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser

from ebbtide.ingest.blocks import Block, Sort

__all__ = ["html_blocks"]

DROPPED = frozenset({
    "script", "style", "nav", "template", "noscript", "svg", "math", "canvas", "iframe", "object", "select", "button",
    "audio", "video", "map", "dialog",
})  # fmt: skip
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BREAKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "aside", "blockquote", "figure", "figcaption", "body",
    "form", "fieldset", "address", "dl", "dt", "dd", "details", "summary", "hr", "center", "head", "html", "caption",
    "thead", "tbody", "tfoot", "legend", "label",
})  # fmt: skip
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
LISTS = ("ul", "ol", "menu")
HIDDEN_STYLES = ("display:none", "visibility:hidden")
# A table is one block as long as it has at most so many rows; a list, so many items.
MOST_ROWS = 2_000
COMMENT = "<!--"
WHOLE_TAG = re.compile("<[^<>]*>")
# A picture may stand within a tag as text. At the end of a page, what is open is no tag but a mistake.
LONGEST_TAG = 4_000_000
LONGEST_END = 1_000


@dataclass(slots=True)
class List:
    """A list that is open: its tag, how many items it has, and whether the last one has no text yet."""

    name: str
    count: int = 0
    fresh: bool = True


class Reader(HTMLParser):
    """Collects blocks as the text goes by; no tree is built, so no depth of nesting costs anything."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title: list[str] = []
        self.text: list[str] = []
        self.first = 1
        self.skipping = ""
        self.depth = 0
        self.in_title = False
        self.level = 0
        self.verbatim = 0
        self.lists: list[List] = []
        self.items: list[str] = []
        self.rows: list[str] = []
        self.row: list[list[str]] | None = None
        self.tables = 0
        self.started = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin what the tag begins."""
        if self.skipping:
            self.depth += tag == self.skipping
            return
        if tag not in VOID and (tag in DROPPED or is_hidden(attrs)):
            self.end_text()
            self.skipping, self.depth = tag, 1
        elif tag == "title":
            self.in_title = not self.title
        elif tag in HEADINGS:
            self.end_block()
            self.level = HEADINGS[tag]
        elif tag == "br":
            self.text.append("\n" if self.verbatim else " ")
        elif tag == "pre":
            self.end_text()
            self.verbatim += 1
        elif tag == "table":
            self.end_block() if not self.tables else self.end_text()
            self.tables += 1
        elif tag == "tr" and self.tables == 1:
            self.end_row()
            self.started = self.started if self.rows else self.getpos()[0]
            self.row = []
        elif tag in ("td", "th") and self.tables == 1:
            self.end_text()
            self.row = [*(self.row or []), []]
        elif tag in LISTS:
            self.end_text()
            self.started = self.started if self.lists else self.getpos()[0]
            self.lists.append(List(tag))
        elif tag == "li":
            self.end_text()
            if self.lists:
                self.lists[-1].count += 1
                self.lists[-1].fresh = True
        elif tag in BREAKS:
            self.end_text()
        elif tag == "img":
            said = dict(attrs).get("alt")
            self.text.append(f" {said} " if said else "")

    def handle_endtag(self, tag: str) -> None:
        """End what the tag ends."""
        if self.skipping:
            self.depth -= tag == self.skipping
            if self.depth == 0:
                self.skipping = ""
        elif tag == "title":
            self.in_title = False
        elif tag in HEADINGS:
            self.end_text()
            self.level = 0
        elif tag == "pre" and self.verbatim:
            self.end_text()
            self.verbatim -= 1
        elif tag in ("td", "th") and self.tables:
            self.end_text()
        elif tag == "tr" and self.tables == 1:
            self.end_row()
        elif tag == "table" and self.tables:
            self.end_row() if self.tables == 1 else self.end_text()
            self.tables -= 1
            if not self.tables:
                self.end_table()
        elif tag in LISTS and self.lists:
            self.end_text()
            self.lists.pop()
            if not self.lists:
                self.end_list()
        elif tag == "li" or tag in BREAKS:
            self.end_text()

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self.in_title:
            self.title.append(data)
        elif not self.skipping:
            if not self.text:
                self.first = self.getpos()[0]
            self.text.append(data)

    def end_text(self) -> None:
        """The text up to here is a heading, a paragraph, code, an item of a list or a part of a cell."""
        text, self.text = "".join(self.text), []
        if self.verbatim and not self.tables:
            text = text.strip("\n").rstrip()
            if text.strip():
                mark = "`" * max(3, longest_run(text) + 1)
                self.add("code", f"{mark}\n{text}\n{mark}")
            return
        text = " ".join(text.split())
        if not text:
            return
        if self.row is not None:
            self.row = self.row or [[]]
            self.row[-1].append(text)
        elif self.level:
            self.add("heading", text, self.level)
        elif self.lists:
            self.item(text)
        else:
            self.add("text", text)

    def item(self, text: str) -> None:
        """A paragraph within a list: the first one of an item has its mark."""
        inner = self.lists[-1]
        mark = "  " if not inner.fresh else f"{inner.count}. " if inner.name == "ol" else "- "
        inner.fresh = False
        self.items.append(f"{'  ' * (len(self.lists) - 1)}{mark}{text}")
        if len(self.items) >= MOST_ROWS:
            self.end_list()

    def end_row(self) -> None:
        """The row up to here is whole."""
        self.end_text()
        cells, self.row = self.row, None
        texts = [" ".join(cell).replace("|", "\\|") for cell in cells or []]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            self.rows.append(f"| {' | '.join(texts)} |")
        if len(self.rows) >= MOST_ROWS:
            self.end_table()

    def end_table(self) -> None:
        """The rows up to here are a block."""
        rows, self.rows = self.rows, []
        if rows:
            self.blocks.append(Block("table", "\n".join(rows), self.started, self.getpos()[0], head=1))

    def end_list(self) -> None:
        """The items up to here are a block."""
        items, self.items = self.items, []
        if items:
            self.blocks.append(Block("list", "\n".join(items), self.started, self.getpos()[0]))
            self.started = self.getpos()[0]

    def end_block(self) -> None:
        """Whatever was open is a block."""
        self.end_text()
        if not self.tables:
            self.end_list()

    def add(self, sort: Sort, text: str, level: int = 0) -> None:
        """Keep a block, after what came before it in a list."""
        self.end_list()
        self.blocks.append(Block(sort, text, self.first, self.getpos()[0], level))

    def settle(self, most: int) -> None:
        """Wait no longer for the end of a comment or a tag of more than so many characters.

        The parser would look for it again from each sign within. Of a comment nothing is shown; the rest is text.
        """
        rest = self.rawdata
        if len(rest) <= most:
            return
        if rest.startswith(COMMENT):
            self.rawdata = f"{COMMENT} {rest[-2:]}"
            return
        self.rawdata = ""
        self.handle_data(unescape(WHOLE_TAG.sub(" ", rest)))

    def finish(self) -> None:
        """The page ends, whatever is still open."""
        self.settle(LONGEST_END)
        self.close()
        self.end_row()
        self.end_table()
        self.end_text()
        self.end_list()

    def drain(self) -> list[Block]:
        """The blocks that are whole, which are let go."""
        blocks, self.blocks = self.blocks, []
        return blocks


def html_blocks(pieces: Iterable[str]) -> Iterator[Block | str]:
    """The blocks of a page, and its title as a plain text once it is known."""
    reader = Reader()
    titled = False
    for piece in pieces:
        reader.feed(piece)
        reader.settle(LONGEST_TAG)
        if not titled and reader.title and not reader.in_title:
            titled = True
            yield " ".join("".join(reader.title).split())
        yield from reader.drain()
    reader.finish()
    yield from reader.drain()


def is_hidden(attributes: list[tuple[str, str | None]]) -> bool:
    """Whether an element is not shown: text that a reader does not see shall not be remembered as if it was said."""
    for name, value in attributes:
        if name == "hidden" and (value or "").lower() != "until-found":
            return True
        if name == "style" and any(one in (value or "").replace(" ", "").lower() for one in HIDDEN_STYLES):
            return True
    return False


def longest_run(text: str) -> int:
    """The most backticks in a row."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
