"""The names a query may hold: every short run of its words, as entities are looked up by them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ebbtide.graph.names import name_hash
from ebbtide.text import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["name_hashes"]

WORD = re.compile(r"\w+[+#]*")
MOST_WORDS = 5
MOST_CHARACTERS = 6
MOST_NAMES = 200


def name_hashes(text: str) -> list[bytes]:
    """The hashes of the runs of up to 5 words of a text, the longer ones first; at most 200.

    In a script without spaces, of up to 6 characters.
    """
    pieces = sorted({piece for piece in _pieces(text) if piece.strip()}, key=lambda piece: (-len(piece), piece))
    return [name_hash(piece) for piece in pieces[:MOST_NAMES]]


def _pieces(text: str) -> Iterator[str]:
    words = [found.span() for found in WORD.finditer(text)]
    for first, (start, _) in enumerate(words):
        for _, end in words[first : first + MOST_WORDS]:
            yield text[start:end]
    for run in UNSPACED.findall(text):
        for start in range(len(run)):
            for end in range(start + 1, min(start + MOST_CHARACTERS, len(run)) + 1):
                yield run[start:end]
