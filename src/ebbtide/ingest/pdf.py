"""PDF: the text of its pages, and the headings of its outline."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ebbtide.ingest.blocks import Block
from ebbtide.ingest.reading import Unreadable
from ebbtide.text import is_blank

if TYPE_CHECKING:
    from pypdf import PdfReader

__all__ = ["pdf_blocks"]

MOST_PAGES = 20_000
MOST_ENTRIES = 10_000
DEEPEST = 6
HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-öø-ÿ])")
BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")

Entry = tuple[int, str]
"""The level of a heading of the outline, from 1, and its text."""


def pdf_blocks(stream: BinaryIO, *, most_characters: int, warnings: list[str]) -> list[Block]:
    """The blocks of a PDF, placed by page. Pages that cannot be read are named in `warnings`.

    All pages are read before anything is answered, so that a broken file is remembered whole or not at all.

    Raises:
        Unreadable: it is damaged, encrypted, has no text, or grows beyond any measure as it is unpacked.
    """
    from pypdf import PdfReader
    from pypdf.errors import LimitReachedError, PyPdfError

    # What it has to say of a damaged file is said by the outcome.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    stream.seek(0)
    try:
        reader = PdfReader(stream, strict=False)
        decrypt(reader)
        count = len(reader.pages)
        outline = outline_of(reader)
        texts = page_texts(reader, min(count, MOST_PAGES), most_characters, warnings)
    except LimitReachedError as error:
        raise Unreadable("too large", "It grows beyond measure as it is unpacked.") from error
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        # A damaged file may break the parser anywhere.
        raise Unreadable("damaged", f"It cannot be read as a PDF: {type(error).__name__}.") from None
    if count > MOST_PAGES:
        warnings.append(f"pages after the {MOST_PAGES:,}th were left out")
    if all(is_blank(text) for text in texts):
        raise Unreadable("no text", f"Its {count} pages hold no text; scanned ones have to be recognised first.")
    return [block for number, text in enumerate(texts, 1) for block in page_blocks(text, number, outline[number])]


def decrypt(reader: PdfReader) -> None:
    """Open what opens without a password.

    Raises:
        Unreadable: it does not.
    """
    from pypdf.errors import DependencyError, PyPdfError

    if not reader.is_encrypted:
        return
    try:
        opened = bool(reader.decrypt(""))
    except (DependencyError, PyPdfError, RuntimeError, ValueError):
        opened = False
    if not opened:
        raise Unreadable("encrypted", "It is encrypted; save it without a password first.")


def page_texts(reader: PdfReader, count: int, most_characters: int, warnings: list[str]) -> list[str]:
    """The text of each page, empty for one that cannot be read.

    Raises:
        Unreadable: together they are too much.
        LimitReachedError: one of them is.
    """
    from pypdf.errors import LimitReachedError

    texts: list[str] = []
    size = 0
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except LimitReachedError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged page breaks the parser anywhere, and costs itself alone
            warnings.append(f"page {number + 1} cannot be read: {type(error).__name__}")
            text = ""
        size += len(text)
        if size > most_characters:
            raise Unreadable("too large", f"Its text has more than {most_characters:,} characters.")
        texts.append(text.replace("\0", "\ufffd").encode("utf-8", "replace").decode())
    return texts


def outline_of(reader: PdfReader) -> dict[int, list[Entry]]:
    """The headings of the outline by their pages, from 1; none where it has no sound one."""
    from pypdf.errors import PyPdfError

    found: dict[int, list[Entry]] = defaultdict(list)
    try:
        waiting: list[tuple[int, Any]] = [(1, one) for one in reversed(cast("list[Any]", reader.outline))]
        seen = 0
        while waiting and seen < MOST_ENTRIES:
            level, entry = waiting.pop()
            if isinstance(entry, list):
                waiting += [(level + 1, one) for one in reversed(cast("list[Any]", entry))]
                continue
            seen += 1
            page = reader.get_destination_page_number(entry)
            title = " ".join(str(entry.title or "").split())
            if page is not None and title:
                found[page + 1].append((min(level, DEEPEST), title))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # A broken outline costs the headings, not the text.
        return defaultdict(list)
    return found


def page_blocks(text: str, page: int, headings: Sequence[Entry]) -> Iterator[Block]:
    """The paragraphs of a page, each heading where its text stands, or else at the top."""
    rest = HYPHEN.sub("", text)
    for level, title in headings:
        at = place_of(title, rest)
        if at is not None:
            yield from paragraphs(rest[: at[0]], page)
            rest = rest[at[1] :]
        yield Block("heading", title, page, page, level)
    yield from paragraphs(rest, page)


def place_of(title: str, text: str) -> tuple[int, int] | None:
    """Where the lines that are a heading start and end in a text."""
    words = r"\s+".join(re.escape(word) for word in title.split()[:50])
    found = re.search(rf"(?im)^[ \t]*(?:[\dIVX]+(?:\.\d+)*\.?[ \t]+)?{words}[ \t]*$", text)
    return found.span() if found else None


def paragraphs(text: str, page: int) -> Iterator[Block]:
    """What blank lines part; a page without any is one."""
    for part in BLANK_LINES.split(text):
        lines = [line.strip() for line in part.split("\n")]
        if made := "\n".join(line for line in lines if line):
            yield Block("text", made, page, page)
