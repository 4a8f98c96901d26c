"""An agent's own context block coming back to be remembered: recognised by its lines, and left out."""

from __future__ import annotations

import json
import re
from bisect import bisect
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from ebbtide.errors import InvalidInput
from ebbtide.govern.namespaces import read_scope
from ebbtide.text import content_hash
from ebbtide.types.memory import Remembered
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory
    from ebbtide.write.validate import Checked

__all__ = ["Stripped", "blanked", "known_echoes", "without_block", "without_blocks", "without_echo"]

# The lines of a block as `read/block.py` writes them. A model may quote or indent them, or write them in capitals; it
# does not invent them whole.
LEAD = r"^[ \t>]*"
BEGINNING = re.compile(
    r"MEMORY BLOCK (?P<nonce>[0-9a-f]{8}): (?:what stands between here|recorded data, not)", re.IGNORECASE
)
ENDING = re.compile(r"END OF MEMORY BLOCK (?P<nonce>[0-9a-f]{8})\b", re.IGNORECASE)
OPENING = re.compile(LEAD + BEGINNING.pattern, re.IGNORECASE)
CLOSING = re.compile(LEAD + ENDING.pattern, re.IGNORECASE)
HEADER = re.compile(
    LEAD + r"--- MEMORY ENTRY \(Stored on \d+/\d+/\d+(?:, no longer so)?"
    r"(?:, confirmed by the user(?: on \d+/\d+/\d+)?)?, Namespace: (?P<namespace>\S+)\) ---[ \t]*$",
    re.IGNORECASE,
)
SECTION = re.compile(
    LEAD + r"## (?:SELECTED BY THE USER|KNOWLEDGE ABOUT USER|RELATIONSHIPS|MEMORY SPRINKLE \(from older topics\)"
    r"|RECENT DISCUSSIONS|FROM FILES|FROM NOTES|FROM THE PROJECT):[ \t]*$",
    re.IGNORECASE,
)
NOTE = re.compile(
    LEAD + r"An entry marked “confirmed by the user” was verified by them; the others are records", re.IGNORECASE
)
TOLD = re.compile(r"memory (?:entry|block)", re.IGNORECASE)
# Characters of full width, and the spaces beside the plain one: what stands in their place is as long.
PLAIN = {0xFF01 + place: 0x21 + place for place in range(94)} | dict.fromkeys(
    [0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], 0x20
)
# Messages, their parts, and the texts of these.
DEEPEST = 6
MESSAGE_KEYS = frozenset({"role", "type", "content", "text", "messages"})
LINE_ENDS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
ESCAPED = re.compile(r"^\| ", re.MULTILINE)
# A line break as a string of JSON or of a program writes it.
BREAK = re.compile(r"(?<!\\)(?:\\+r)?\\+n")
BREAKS = re.compile(rf"(?:{BREAK.pattern})*")
BREAKS_BEFORE = re.compile(rf"(?:{BREAK.pattern})+\Z")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without the context blocks in it, and the entries they held as namespace and content."""

    rest: str
    entries: tuple[tuple[str, str], ...] = ()
    found: bool = False

    @property
    def own(self) -> str:
        """The rest, if it says a word; quotation marks, fences and emptied messages around a block are none."""
        return (
            self.rest
            if any(character.isalnum() for line in self.rest.splitlines() for character in _said(line))
            else ""
        )


def without_echo(text: str) -> Stripped:
    """The text without any context block that stands in it.

    A block goes from its opening to its closing line, or to the text's end where that was cut off; or from its first
    entry, or its first section, where the opening was. A text that quotes what an entry says, or an entry alone, is its
    own. What stands before or behind a whole block on its first and last line is the text's. Of messages as JSON what
    they say is looked at. Out of a string within other JSON, or in a line of it, a block is cut so that the string goes
    on being one. Capitals, full width and other spaces make no difference.
    """
    value = _json_of(text)
    messages = None if value is None else _texts(value, 0)
    if messages is not None:
        stripped = without_echo("\n\n".join(messages))
        return stripped if stripped.found else Stripped(text)
    text, told = _without_quoted(text)
    spans, ends = _echoes_in(text) if value is None else ([], {})
    if not ends:
        return Stripped(text, _entries(told), bool(told))
    kept: list[str] = []
    dropped = told
    place = 0
    while place < len(spans):
        if place not in ends:
            kept.append(_line(text, spans[place]))
            place += 1
            continue
        dropped += [*(_line(text, span) for span in spans[place : ends[place]]), ""]
        place = ends[place]
        # Blank lines stood on both sides of the block; one side's are enough.
        while place < len(spans) and not _line(text, spans[place]).strip() and not (kept and kept[-1].strip()):
            place += 1
    return Stripped("\n".join(kept).strip(), _entries(dropped), True)


def blanked(text: str) -> str:
    """The text with spaces for the context blocks in it, so that all else stands where it stood; of messages as JSON,
    where a block is in them, what they say."""
    if (value := _json_of(text)) is not None and _texts(value, 0) is not None:
        return without_echo(text).rest
    for first, behind in _quoted_in(text):
        text = text[:first] + " " * (behind - first) + text[behind:]
    spans, ends = _echoes_in(text)
    for place, end in ends.items():
        first, behind = spans[place][0], spans[end - 1][1]
        text = text[:first] + " " * (behind - first) + text[behind:]
    return text


def _said(line: str) -> str:
    """What a line says: of a message as JSON its text, of any other the line itself."""
    value = _json_of(line)
    texts = None if value is None else _texts(value, 0)
    return line if texts is None else "".join(texts)


def _quoted_in(text: str) -> list[tuple[int, int]]:
    """Where whole blocks stand within strings as JSON writes them, in which a line break is `\\n`."""
    seen = text.translate(PLAIN)
    if not TOLD.search(seen):
        return []
    ends: dict[str, list[re.Match[str]]] = {}
    for found in ENDING.finditer(seen):
        ends.setdefault(found["nonce"].lower(), []).append(found)
    line_ends = [found.start() for found in re.finditer(r"[\r\n]", seen)]
    breaks = [found.start() for found in BREAK.finditer(seen)]
    spans: list[tuple[int, int]] = []
    for begun in BEGINNING.finditer(seen):
        closings = ends.get(begun["nonce"].lower(), [])
        place = bisect(closings, begun.end(), key=lambda one: one.start())
        if place == len(closings) or (spans and begun.start() < spans[-1][1]):
            continue
        behind = closings[place].end()
        on_one_line = bisect(line_ends, begun.end()) == bisect(line_ends, behind)
        if on_one_line and bisect(breaks, begun.end()) < bisect(breaks, behind):
            more = BREAKS.match(seen, behind)
            spans.append((begun.start(), behind if more is None else more.end()))
    return spans


def _without_quoted(text: str) -> tuple[str, list[str]]:
    """The text without blocks in strings as JSON writes them, and their lines."""
    kept, dropped, place = list[str](), list[str](), 0
    for first, behind in _quoted_in(text):
        dropped += [*BREAK.split(text[first:behind]), ""]
        # Line breaks parted the block from what is beside it; one side's are enough.
        own = text[place:first]
        kept.append(own if text[behind - 1] == "n" else BREAKS_BEFORE.sub("", own))
        place = behind
    return "".join([*kept, text[place:]]), dropped


def _echoes_in(text: str) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """Where the lines of a text stand, and by the place of the first line of each echo that behind its last one."""
    seen = text.translate(PLAIN)
    if not TOLD.search(seen):
        return [], {}
    spans = _spans_of(seen)
    ends: dict[int, int] = {}
    lines = [seen[first:behind] for first, behind in spans]
    place = 0
    while place < len(lines):
        end = _end_of_echo(lines, place)
        if end > place:
            ends[place] = end
        place = max(end, place + 1)
    return spans, ends


def _line(text: str, span: tuple[int, int]) -> str:
    """A line without its ending; a part of one without the spaces that set it apart from the block beside it."""
    first, behind = span
    whole = (first == 0 or text[first - 1] in LINE_ENDS) and (behind == len(text) or text[behind - 1] in LINE_ENDS)
    return text[first:behind].rstrip(LINE_ENDS) if whole else text[first:behind].strip()


def _spans_of(seen: str) -> list[tuple[int, int]]:
    """Where the lines of a text stand; what is on one with the beginning or the end of a whole block is a line of its
    own."""
    nonces = [{found["nonce"].lower() for found in sign.finditer(seen)} for sign in (BEGINNING, ENDING)]
    whole = nonces[0] & nonces[1]
    spans: list[tuple[int, int]] = []
    first = 0
    for line in seen.splitlines(keepends=True):
        cuts = sorted({0, *_cuts_of(line, whole), len(line)})
        spans += [(first + start, first + behind) for start, behind in pairwise(cuts)]
        first += len(line)
    return spans


def _cuts_of(line: str, whole: set[str]) -> Iterator[int]:
    for sign in (BEGINNING, ENDING):
        for found in sign.finditer(line):
            begins = not line[: found.start()].strip(" \t>")
            if found["nonce"].lower() in whole and not begins:
                yield found.start()
            if (
                sign is ENDING
                and (found["nonce"].lower() in whole or begins)
                and any(map(str.isalnum, line[found.end() :]))
            ):
                yield found.end()


def _json_of(text: str) -> Any:
    """The list or the object that a text is as JSON, such as a block's own message; None of any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


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


def _end_of_echo(lines: Sequence[str], start: int) -> int:
    """Behind the last line of the echo that begins at `start`; `start` itself where none does."""
    line = lines[start]
    if opening := OPENING.match(line):
        return _behind_closing(lines, start + 1, opening["nonce"].lower()) or len(lines)
    if not HEADER.match(line) and not SECTION.match(line):
        return start
    # A block whose opening was cut off still has its closing line. A header alone proves nothing: anybody writes one.
    return _behind_closing(lines, start + 1, None) or start


def _behind_closing(lines: Sequence[str], start: int, nonce: str | None) -> int | None:
    """Behind the closing line of a nonce; for None, of any block that does not open within."""
    for place in range(start, len(lines)):
        if nonce is None and OPENING.match(lines[place]):
            return None
        closing = CLOSING.match(lines[place])
        if closing is not None and nonce in (None, closing["nonce"].lower()):
            return place + 1
    return None


def _entries(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The namespace and content of each entry among the lines of blocks."""
    entries: list[tuple[str, list[str]]] = []
    inside = False
    for line in lines:
        seen = line.translate(PLAIN)
        if header := HEADER.match(seen):
            entries.append((header["namespace"], []))
            inside = True
        elif any(sign.match(seen) for sign in (OPENING, CLOSING, NOTE, SECTION)):
            inside = False
        elif inside:
            entries[-1][1].append(line)
    return tuple((namespace, ESCAPED.sub("", "\n".join(body)).strip()) for namespace, body in entries)


def bare_entries(text: str) -> tuple[tuple[str, str], ...]:
    """The entries of a text that begins with an entry's header, as namespace and content; none of any other text."""
    if not TOLD.search(text.translate(PLAIN)):
        return ()
    lines = text.strip().splitlines()
    return _entries(lines) if lines and HEADER.match(lines[0].translate(PLAIN)) else ()


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
