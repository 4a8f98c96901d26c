"""An agent's own context block coming back to be remembered: recognised by its lines, and left out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from ebbtide.errors import InvalidInput
from ebbtide.govern.namespaces import read_scope
from ebbtide.text import content_hash
from ebbtide.types import Remembered
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.engine import Engine
    from ebbtide.types import Caller, Memory
    from ebbtide.write.validate import Checked

__all__ = ["Stripped", "known_echoes", "without_block", "without_blocks", "without_echo"]

# The lines of a block as `read/block.py` writes them. A model may quote or indent them; it does not invent them whole.
LEAD = r"^[ \t>]*"
BEGINNING = re.compile(r"MEMORY BLOCK (?P<nonce>[0-9a-f]{8}): (?:what stands between here|recorded data, not)")
OPENING = re.compile(LEAD + BEGINNING.pattern)
CLOSING = re.compile(LEAD + r"END OF MEMORY BLOCK (?P<nonce>[0-9a-f]{8})\b")
HEADER = re.compile(
    LEAD + r"--- MEMORY ENTRY \(Stored on \d+/\d+/\d+(?:, confirmed by the user(?: on \d+/\d+/\d+)?)?, "
    r"Namespace: (?P<namespace>\S+)\) ---[ \t]*$"
)
SECTION = re.compile(
    LEAD + r"## (?:SELECTED BY THE USER|KNOWLEDGE ABOUT USER|RELATIONSHIPS|MEMORY SPRINKLE \(from older topics\)"
    r"|RECENT DISCUSSIONS|FROM FILES|FROM NOTES|FROM THE PROJECT):[ \t]*$"
)
NOTE = re.compile(LEAD + r"An entry marked “confirmed by the user” was verified by them; the others are records")
# Messages, their parts, and the texts of these.
DEEPEST = 6
MESSAGE_KEYS = frozenset({"role", "type", "content", "text", "messages"})
ESCAPED = re.compile(r"^\| ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without the context blocks in it, and the entries they held as namespace and content."""

    rest: str
    entries: tuple[tuple[str, str], ...] = ()
    found: bool = False

    @property
    def own(self) -> str:
        """The rest, if it holds a word; quotation marks and fences around a block are none."""
        return self.rest if any(character.isalnum() for character in self.rest) else ""


def without_echo(text: str) -> Stripped:
    """The text without any context block that stands in it.

    A block goes from its opening to its closing line, or to the text's end where that was cut off; or from its first
    entry, or its first section, where the opening was. A text that quotes what an entry says, or an entry alone, is its
    own. What stands before or behind a whole block on its first and last line is the text's. Of messages as JSON what
    they say is looked at.
    """
    if "MEMORY ENTRY" not in text and "MEMORY BLOCK" not in text:
        return Stripped(text)
    said = _said(text)
    if said is not None:
        stripped = without_echo(said)
        return stripped if stripped.found else Stripped(text)
    lines = _lines_of(text)
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
            # Blank lines stood on both sides of the block; one side's are enough.
            while place < len(lines) and not lines[place].strip() and not (kept and kept[-1].strip()):
                place += 1
    if not dropped:
        return Stripped(text)
    return Stripped("\n".join(kept).strip(), _entries(dropped), True)


def _lines_of(text: str) -> list[str]:
    """The lines of a text; what stands on one with the beginning or the end of a whole block is a line of its own."""
    lines = text.splitlines()
    closed = {closing["nonce"] for line in lines if (closing := CLOSING.match(line))}
    return [part for line in lines for part in _parted(line, closed)] if closed else lines


def _parted(line: str, closed: set[str]) -> list[str]:
    opening = BEGINNING.search(line)
    if opening is not None and opening["nonce"] in closed and not OPENING.match(line):
        return [line[: opening.start()].rstrip(), line[opening.start() :]]
    closing = CLOSING.match(line)
    behind = "" if closing is None else line[closing.end() :]
    return [line.removesuffix(behind), behind.strip()] if any(map(str.isalnum, behind)) else [line]


def _said(text: str) -> str | None:
    """What messages say that were written down as JSON, such as a block's own; None of any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    said = _texts(value, 0)
    return "\n\n".join(said) if said else None


def _texts(value: Any, depth: int) -> list[str] | None:
    """The texts of messages: their contents, and the texts of the parts of these. None where there is anything else,
    which would be lost."""
    texts: list[str] = []
    if isinstance(value, list) and depth < DEEPEST:
        for inner in cast("list[Any]", value):
            found = _texts(inner, depth + 1)
            if found is None:
                return None
            texts += found
        return texts
    if not isinstance(value, dict) or depth >= DEEPEST or not value.keys() <= MESSAGE_KEYS:
        return None
    for name, inner in cast("dict[str, Any]", value).items():
        if isinstance(inner, str) and name != "messages":
            texts += [inner] if name in ("content", "text") else []
        elif name not in ("content", "messages") or (found := _texts(inner, depth + 1)) is None:
            return None
        else:
            texts += found
    return texts


def _end_of_echo(lines: list[str], start: int) -> int:
    """Behind the last line of the echo that begins at `start`; `start` itself where none does."""
    line = lines[start]
    if opening := OPENING.match(line):
        return _behind_closing(lines, start + 1, opening["nonce"]) or len(lines)
    if not HEADER.match(line) and not SECTION.match(line):
        return start
    # A block whose opening was cut off still has its closing line. A header alone proves nothing: anybody writes one.
    return _behind_closing(lines, start + 1, None) or start


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
        elif OPENING.match(line) or CLOSING.match(line) or NOTE.match(line) or SECTION.match(line):
            inside = False
        elif inside:
            entries[-1][1].append(line)
    return tuple((namespace, ESCAPED.sub("", "\n".join(body)).strip()) for namespace, body in entries)


def bare_entries(text: str) -> tuple[tuple[str, str], ...]:
    """The entries of a text that begins with an entry's header, as namespace and content; none of any other text."""
    if "MEMORY ENTRY" not in text:
        return ()
    lines = text.strip().splitlines()
    return _entries(lines) if lines and HEADER.match(lines[0]) else ()


def without_blocks(drafts: Sequence[Checked]) -> list[Checked]:
    """The drafts without the context blocks in them; one that is nothing else stays as it is."""
    return [_without_block(draft, without_echo(draft.content)) for draft in drafts]


def without_block(draft: Checked, field: str) -> Checked:
    """The draft of a text that takes another's place, without the context blocks in it.

    Raises:
        InvalidInput: it is nothing else, and would put what memories say already in place of one of them.
    """
    stripped = without_echo(draft.content)
    if stripped.found and not stripped.own:
        raise InvalidInput(
            f"{field} is a context block, which repeats what memories say.",
            field=field,
            remedy="Say what holds now, without the block.",
        )
    return _without_block(draft, stripped)


def _without_block(draft: Checked, stripped: Stripped) -> Checked:
    if not stripped.found or not stripped.own:
        return draft
    warning = "a context block within the content was left out"
    # A vector that was given is one of the whole text.
    return replace(draft, content=stripped.own, vector=None, warnings=(*draft.warnings, warning))


async def known_echoes(engine: Engine, caller: Caller, drafts: Sequence[Checked]) -> dict[int, Remembered]:
    """The answers to the drafts that are nothing but a context block, by place: the memory that the block shows first.

    No memory where none that the caller can see says so: it was another's, or was forgotten meanwhile. A draft that is
    nothing but entries without their block is an echo where the caller's memories do say what they claim.
    """
    echoes = {place: stripped for place, draft in enumerate(drafts) if (stripped := without_echo(draft.content)).found}
    echoes |= {
        place: Stripped("", bare_entries(draft.content)) for place, draft in enumerate(drafts) if place not in echoes
    }
    echoes = {place: echo for place, echo in echoes.items() if echo.found or echo.entries}
    if not echoes:
        return {}
    repeated = await _repeated(engine, caller, [entry for echo in echoes.values() for entry in echo.entries])
    return {
        place: Remembered(
            outcome="echo", memory=next((repeated[entry] for entry in echo.entries if entry in repeated), None)
        )
        for place, echo in echoes.items()
        if echo.found or all(entry in repeated for entry in echo.entries)
    }


async def _repeated(
    engine: Engine, caller: Caller, entries: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Memory]:
    """The memories that entries show, by namespace and content, of those that the caller can see."""
    seen = read_scope(None, caller)
    asked = [entry for entry in entries if seen.covers(entry[0])]
    if not asked:
        return {}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all(
            "lifecycle.repeated",
            tenant=caller.tenant,
            agent=caller.agent,
            namespaces=sorted({namespace for namespace, _ in asked}),
            hashes=[content_hash(content) for _, content in asked],
            bodies=[content for _, content in asked],
        )
    by_hash: dict[tuple[str, bytes], Memory] = {}
    for memory in map(memory_of, rows):
        by_hash.setdefault((memory.namespace, content_hash(memory.content)), memory)
    found = {entry: by_hash.get((entry[0], content_hash(entry[1]))) for entry in asked}
    return {entry: memory for entry, memory in found.items() if memory is not None}
