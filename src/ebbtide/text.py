"""Text as the store compares, searches and quotes it: hashing, folding, and words in any script."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

__all__ = [
    "content_hash",
    "embedding_text",
    "fold",
    "is_blank",
    "month_names",
    "search_text",
    "shown",
    "shows_all",
    "words_text",
]

month_names = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

# Scripts written without spaces between words: Han, kana, hangul, Thai, Lao, Khmer, Burmese.
UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
ACCENTS = re.compile("[\u0300-\u036f]")
# What PostgreSQL's parser would otherwise glue into one host, path, address or signed number.
GLUE = re.compile(r"(?<=\w)[/\\@:=_](?=\w)|(?<=[^\W\d])\.(?=[^\W\d])|(?<=\w)-(?=\d)")
VISIBLE_CATEGORIES = frozenset("LNPS")
# The blank pattern of Braille and the fillers of Hangul are a symbol and letters to Unicode, and show nothing.
INVISIBLE = frozenset("\u2800\u115f\u1160\u3164\uffa0")
# Marks that change nothing one can see: the grapheme joiner, those of Mongolian and the variation selectors.
UNSEEN_MARKS = re.compile("[\u034f\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
LONGEST_SHOWN_BITS = 128
SEARCHED_BYTES = 400_000


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: only white space, fillers, marks without a base, format or control characters."""
    return not any(
        unicodedata.category(character)[0] in VISIBLE_CATEGORIES and character not in INVISIBLE for character in text
    )


def shows_all(name: str) -> bool:
    """Whether every character of a name can be seen, so that no two names look alike but for what cannot."""
    return name.isprintable() and INVISIBLE.isdisjoint(name) and UNSEEN_MARKS.search(name) is None


def shown(value: Any, most: int = 60) -> str:
    """Any value as an error quotes it, a text cut to `most` characters; what is neither text nor number by its type.

    It never fails, whatever the value's own methods do, and never shows what lies inside of it.
    """
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return str.__repr__(str.__getitem__(value, slice(most)))
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, int) and int.bit_length(value) <= LONGEST_SHOWN_BITS:
        return int.__repr__(value)
    return "so large a number" if isinstance(value, int) else f"a value of type {type(value).__name__[:most]}"


def fold(text: str) -> str:
    """NFC, trimmed, inner white space folded to single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def content_hash(
    text: str, chat: str | None = None, seq: int | str | None = None, document: UUID | None = None
) -> bytes:
    """SHA-256 of the folded text.

    Two equal turns at different places of a conversation are two statements, and so are two equal passages of different
    documents: each goes with its own. So are the summaries of two branches of one, for which `seq` is the branch.
    """
    place = f"\0{chat}\0{seq}" if chat is not None and seq is not None else ""
    place += f"\0document\0{document}" if document is not None else ""
    return hashlib.sha256((fold(text) + place).encode()).digest()


def _pairs(run: str, *, asking: bool) -> str:
    """Overlapping pairs of a run. A memory keeps its last character too, so that a one-character query finds it."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return " ".join(pairs if asking and pairs else [*pairs, run[-1]])


def _symbols_as_words(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        f" u{ord(c):x} " if unicodedata.category(c) == "So" else "" if unicodedata.category(c) == "Cf" else c
        for c in text
    )


def words_text(text: str, *, asking: bool = False) -> str:
    """A text made ready for PostgreSQL's parser; `asking` for a query, else for a memory.

    NFKC; accents of alphabetic scripts folded; runs of scripts without spaces become pairs of characters; symbols such
    as emoji become words; signs that would glue words together become spaces. English text is otherwise untouched.
    """
    plain = unicodedata.normalize("NFKC", text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", ACCENTS.sub("", unicodedata.normalize("NFD", plain)))
        plain = UNSPACED.sub(lambda run: f" {_pairs(run.group(), asking=asking)} ", _symbols_as_words(plain))
    return GLUE.sub(" ", plain)


def search_text(content: str, *, speaker: str | None = None, observed_at: datetime | None = None) -> str:
    """What full text searches of one memory: the day it was observed, who said it, and what it says.

    At most 400,000 bytes, which is some 57,000 ideographs: PostgreSQL indexes at most 1 MB of distinct words a row.
    """
    day = f"{observed_at.day} {month_names[observed_at.month - 1]} {observed_at.year} " if observed_at else ""
    encoded = words_text(f"{day}{embedding_text(content, speaker)}").encode()
    return encoded[:SEARCHED_BYTES].decode(errors="ignore")


def embedding_text(content: str, speaker: str | None = None) -> str:
    """What is embedded of one memory: the content, led by its speaker where the content does not name them first."""
    if not speaker or content.startswith(speaker):
        return content
    return f"{speaker}: {content}"
