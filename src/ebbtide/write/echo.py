"""An agent's own context block coming back to be remembered: recognised by its lines, and left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Stripped", "without_echo"]

# The lines of a block as `read/block.py` writes them. A model may quote or indent them; it does not invent them whole.
LEAD = r"^[ \t>]*"
OPENING = re.compile(LEAD + r"MEMORY BLOCK (?P<nonce>[0-9a-f]{8}): (?:what stands between here|recorded data, not)")
CLOSING = re.compile(LEAD + r"END OF MEMORY BLOCK (?P<nonce>[0-9a-f]{8})\b")
HEADER = re.compile(
    LEAD + r"--- MEMORY ENTRY \(Stored on \d+/\d+/\d+(?:, confirmed by the user(?: on \d+/\d+/\d+)?)?, "
    r"Namespace: (?P<namespace>\S+)\) ---[ \t]*$"
)
NOTE = re.compile(LEAD + r"An entry marked “confirmed by the user” was verified by them; the others are records")
ESCAPED = re.compile(r"^\| ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without the context blocks in it, and the entries they held as namespace and content."""

    rest: str
    entries: tuple[tuple[str, str], ...] = ()
    found: bool = False

    @property
    def says_something(self) -> bool:
        """Whether the rest holds a word of its own; quotation marks and fences around a block are none."""
        return any(character.isalnum() for character in self.rest)


def without_echo(text: str) -> Stripped:
    """The text without any context block, or entry of one, that stands in it.

    A block goes from its opening to its closing line, or to the text's end where that was cut off. An entry that stands
    alone goes to the next blank line. A text that quotes what an entry says, without the block's own lines, is its own.
    """
    if "MEMORY ENTRY" not in text and "MEMORY BLOCK" not in text:
        return Stripped(text)
    lines = text.splitlines()
    kept: list[str] = []
    dropped: list[str] = []
    place = 0
    while place < len(lines):
        end = _end_of_echo(lines, place)
        if end == place:
            kept.append(lines[place])
            place += 1
        else:
            dropped += [*lines[place:end], ""]
            place = end
    if not dropped:
        return Stripped(text)
    return Stripped("\n".join(kept).strip(), _entries(dropped), True)


def _end_of_echo(lines: list[str], start: int) -> int:
    """Behind the last line of the echo that begins at `start`; `start` itself where none does."""
    line = lines[start]
    if opening := OPENING.match(line):
        return _behind_closing(lines, start + 1, opening["nonce"]) or len(lines)
    if CLOSING.match(line) or NOTE.match(line):
        return start + 1
    if not HEADER.match(line):
        return start
    # A block whose opening was cut off still has its closing line, unless another block opens first.
    behind = _behind_closing(lines, start + 1, None)
    if behind is not None:
        return behind
    end = start + 1
    while end < len(lines) and lines[end].strip() and not HEADER.match(lines[end]):
        end += 1
    return end


def _behind_closing(lines: list[str], start: int, nonce: str | None) -> int | None:
    """Behind the closing line of a nonce; for None, of any block that does not open within."""
    for place in range(start, len(lines)):
        if nonce is None and OPENING.match(lines[place]):
            return None
        closing = CLOSING.match(lines[place])
        if closing is not None and nonce in (None, closing["nonce"]):
            return place + 1
    return None


def _entries(lines: list[str]) -> tuple[tuple[str, str], ...]:
    """The namespace and content of each entry among the lines of blocks."""
    entries: list[tuple[str, list[str]]] = []
    inside = False
    for line in lines:
        if header := HEADER.match(line):
            entries.append((header["namespace"], []))
            inside = True
        elif OPENING.match(line) or CLOSING.match(line) or NOTE.match(line):
            inside = False
        elif inside:
            entries[-1][1].append(line)
    return tuple((namespace, ESCAPED.sub("", "\n".join(body)).strip()) for namespace, body in entries)
