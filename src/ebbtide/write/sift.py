"""Personal data in what an import brings: every image of a memory passes the rule that a write passes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ebbtide.govern.personal import KINDS, kinds_of, redactions
from ebbtide.identifiers import document_of
from ebbtide.text import content_hash
from ebbtide.write.rows import place_in_chat

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.write.records import Incoming, VersionRow
    from ebbtide.write.rows import Row

__all__ = ["Sifted", "redacted_hash", "sift"]


@dataclass(frozen=True, slots=True)
class Sifted:
    """A record as it may be stored, None where it may not, and what the rules did to it.

    `redacted` says that something was taken out, of what it says or of its history; `quarantined` that an image of it
    was put where no recall finds it. `kinds` are those of the personal data that was found there.
    """

    incoming: Incoming | None
    redacted: bool = False
    quarantined: bool = False
    kinds: tuple[str, ...] = ()


def sift(incoming: Incoming, rules: RuleBook) -> Sifted:
    """The record after the rules on its namespaces. `drop` leaves out an earlier version alone, or the whole memory."""
    if not rules.screens:
        return Sifted(incoming)
    found = {row.memory.namespace: rules.on(row.memory.namespace).personal_data for row in incoming.rows}
    modes = [found[row.memory.namespace] for row in incoming.rows]
    held = [
        kinds_of(row.memory) if mode not in (None, "allow") else ()
        for row, mode in zip(incoming.rows, modes, strict=True)
    ]
    if not any(held):
        return Sifted(incoming)
    kinds = tuple(kind for kind in KINDS if any(kind in one for one in held))
    if held[0] and modes[0] == "drop":
        return Sifted(None, kinds=kinds)
    done = {mode for mode, one in zip(modes, held, strict=True) if one}
    row = screened(incoming.row, modes[0]) if held[0] else incoming.row
    versions: list[VersionRow] = []
    for version, mode, one in zip(incoming.versions, modes[1:], held[1:], strict=True):
        if not one:
            versions.append(version)
        elif mode != "drop":
            versions.append(replace(version, row=screened(version.row, mode)))
    kept = replace(incoming, row=row, versions=tuple(versions))
    return Sifted(kept, bool(done & {"redact", "drop"}), "quarantine" in done, kinds)


def screened(row: Row, mode: str | None) -> Row:
    """A row that holds personal data as a rule lets it be stored."""
    if mode == "quarantine":
        return replace(row, memory=row.memory.model_copy(update={"status": "quarantined"}), deleted_at=None)
    fields = redactions(row.memory)
    said = row.memory.model_copy(update=fields)
    same = (said.content, said.speaker) == (row.memory.content, row.memory.speaker)
    # The vectors are of the text as it was: the values could be read out of them.
    return replace(
        row,
        memory=said if same else said.model_copy(update={"embedding_pending": True}),
        content_hash=content_hash(
            said.content, said.chat, place_in_chat(said.kind, said.metadata, said.seq), document_of(said.source)
        ),
        embedding=row.embedding if same else None,
        personal_data=(),
    )


def redacted_hash(row: Row) -> bytes:
    """The hash of what a row would say if a rule had redacted it."""
    return screened(row, "redact").content_hash
