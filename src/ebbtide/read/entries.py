"""What was found as the entries of a context block, in the order of their precedence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from ebbtide.read.block import Entry
from ebbtide.read.escape import BAR, escape, escape_bullet, label_of, looks_like_marker, name_of
from ebbtide.read.gather import Links
from ebbtide.text import is_blank
from ebbtide.types.episodes import role_of

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.read.serendipity import Sprinkled
    from ebbtide.types.context import Section
    from ebbtide.types.graph import Entity, Relation
    from ebbtide.types.memory import Memory
    from ebbtide.types.recall import Hit

__all__ = ["Gathered", "Writer", "entries_of", "section_of"]

SORTS: dict[str, Section] = {"episode": "episodes", "chunk": "chunks", "note": "notes"}
CONFIRMED = "(confirmed by the user) "
OUTDATED = "(no longer so) "
# What an entity's best hit lends to its relations: they go in where there is room, and never before the hit itself.
LENT = 0.5
MOST_TOPICS = 5


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a block may show: what was selected, the hits, those of the project, and what they are about.

    `tokens` are the lengths of contents that are known, `places` where in documents hits stand, `sprinkled` memories of
    other topics.
    """

    hits: Sequence[Hit]
    selected: Sequence[Memory] = ()
    project: Sequence[Hit] = ()
    links: Links = field(default_factory=Links)
    tokens: Mapping[UUID, int] = field(default_factory=dict[UUID, int])
    places: Mapping[UUID, str] = field(default_factory=dict[UUID, str])
    sprinkled: Sequence[Sprinkled] = ()

    @property
    def titled(self) -> bool:
        """Whether the block needs sections: not for hits of one sort, and nothing else."""
        sorts = {section_of(hit.memory) for hit in self.hits}
        return len(sorts) > 1 or bool(self.selected or self.project or self.links.about)


def section_of(memory: Memory) -> Section:
    """The section of a hit, by its kind."""
    return SORTS.get(memory.kind, "facts")


@dataclass(frozen=True, slots=True)
class Writer:
    """How entries are written: with the instructions of which rules, in which time zone, without which nonce.

    `titled` says that they stand in sections, beside lists.
    """

    rules: RuleBook
    zone: ZoneInfo
    nonce: str
    titled: bool = False

    def under_header(
        self, memory: Memory, section: Section, worth: float, tokens: int | None, *, outdated: bool = False
    ) -> Entry:
        """The memory under a header of its own. Its date is the day it was written, in the caller's zone."""
        written = day(memory.created_at, self.zone)
        mark = ", no longer so" if outdated else ""
        if memory.maturity == "confirmed":
            confirmed = day(memory.confirmed_at, self.zone) if memory.confirmed_at is not None else written
            mark += ", confirmed by the user" + (f" on {confirmed}" if confirmed != written else "")
        header = f"--- MEMORY ENTRY (Stored on {written}{mark}, Namespace: {memory.namespace}) ---\n"
        body = self.said(memory, escape(memory.content, self.nonce, beside_items=self.titled))
        instruction = self.rules.on(memory.namespace).instruction
        known = tokens if body == memory.content else None
        return Entry(memory.id, section, header, body, worth, instruction=instruction, tokens=known)

    def as_item(
        self, memory: Memory, section: Section, lead: str, worth: float, tokens: int | None, *, outdated: bool = False
    ) -> Entry:
        """The memory as an item of a list, behind its lead."""
        body = self.said(memory, escape_bullet(memory.content, self.nonce))
        mark = (OUTDATED if outdated else "") + (CONFIRMED if memory.maturity == "confirmed" else "")
        known = tokens if body == memory.content else None
        return Entry(memory.id, section, lead + mark, body, worth, tokens=known)

    def said(self, memory: Memory, body: str) -> str:
        """What a memory says, behind whoever said it where it is a message: its speaker, or else the role."""
        by = (memory.speaker or role_of(memory)) if memory.kind == "message" else None
        if by is None or is_blank(by):
            return body
        lead = f"{name_of(by, self.nonce).strip()}: "
        if body.startswith(lead):
            return body
        return f"{BAR if looks_like_marker(lead + body.partition(chr(10))[0]) else ''}{lead}{body}"

    def with_topics(self, item: Entry, memory: Memory) -> Entry:
        """An episode with a line of what it was about, where its metadata tells."""
        given = memory.metadata.get("topics")
        named = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
        topics = [name_of(one, self.nonce).strip() for one in named[:MOST_TOPICS] if isinstance(one, str)]
        told = ", ".join(topic for topic in topics if topic)
        return replace(item, body=f"{item.body}\n  Topics: {told}", tokens=None) if told else item

    def lead(self, memory: Memory, section: Section, places: Mapping[UUID, str]) -> str:
        """What an item begins with: the day of an episode, the place in a file, a note's title or namespace."""
        if section == "episodes":
            return f"- {iso_day(memory.observed_at or memory.valid_from or memory.created_at, self.zone)}: "
        if section == "chunks":
            given = places.get(memory.id) or memory.metadata.get("path") or memory.source
        else:
            given = memory.metadata.get("title") or places.get(memory.id)
        label = given if isinstance(given, str) and not is_blank(given) else memory.namespace
        return f"- ({label_of(label, self.nonce)}) "

    def entity(self, entity: Entity, *, by_type: bool) -> str:
        """The line above what is known of an entity; with its type where another one has its name."""
        name = name_of(entity.name, self.nonce)
        known = f"{name}, {name_of(entity.type, self.nonce)}" if by_type else name
        return f"[{known}] — confidence: {entity.confidence or 0.0:.0%}"

    def relation(self, relation: Relation, worth: float) -> Entry:
        """What holds between two entities, as an item of a list."""
        subject, predicate, other = (
            name_of(text, self.nonce) for text in (relation.subject.name, relation.predicate, relation.object.name)
        )
        first, *others = relation.memories
        return Entry(first, "relations", "- ", f"{subject} — {predicate} {other}", worth, others=tuple(others))


def entries_of(gathered: Gathered, writer: Writer) -> list[Entry]:
    """The entries: what was selected in its order, then everything else by its relevance; each memory once."""
    tokens = gathered.tokens.get
    selected = {
        memory.id: writer.under_header(memory, "selected", 1.0, tokens(memory.id)) for memory in gathered.selected
    }
    others = {
        hit.id: writer.under_header(hit.memory, "project", hit.relevance, tokens(hit.id), outdated=hit.outdated)
        for hit in gathered.project
    }
    links = gathered.links
    stated = {relation.memories[0] for relation in links.relations if not relation.derived}
    heads = _heads(links, writer)
    for hit in gathered.hits:
        if hit.id not in others and not (hit.kind == "relation" and hit.id in stated):
            others[hit.id] = _entry(hit, gathered, heads, writer)
    ranked = [entry for id_, entry in others.items() if id_ not in selected] + _relations(gathered, writer)
    ranked += [one for one in _sprinkled(gathered, writer) if one.id not in selected and one.id not in others]
    return [*selected.values(), *sorted(ranked, key=lambda entry: -entry.worth)]


def _entry(hit: Hit, gathered: Gathered, heads: Mapping[Entity, str], writer: Writer) -> Entry:
    """A hit as its section writes it; under a header where an instruction goes with it, or where nothing else does."""
    memory, section, tokens = hit.memory, section_of(hit.memory), gathered.tokens.get(hit.id)
    about = gathered.links.about.get(hit.id)
    headed = not writer.titled or writer.rules.on(memory.namespace).instruction is not None
    if headed or (section == "facts" and about is None):
        return writer.under_header(memory, section, hit.relevance, tokens, outdated=hit.outdated)
    if about is not None and section == "facts":
        item = writer.as_item(memory, section, "  - ", hit.relevance, tokens, outdated=hit.outdated)
        return replace(item, head=heads[about], about=about.id)
    lead = writer.lead(memory, section, gathered.places)
    item = writer.as_item(memory, section, lead, hit.relevance, tokens, outdated=hit.outdated)
    return writer.with_topics(item, memory) if section == "episodes" else item


def _heads(links: Links, writer: Writer) -> dict[Entity, str]:
    """The line above each entity's facts; one that is redacted for some of them has two."""
    entities = set(links.about.values())
    names = Counter(name_of(entity.name, writer.nonce).casefold() for entity in entities)
    return {
        entity: writer.entity(entity, by_type=names[name_of(entity.name, writer.nonce).casefold()] > 1)
        for entity in entities
    }


def _relations(gathered: Gathered, writer: Writer) -> list[Entry]:
    """The relations: each is worth half of the best hit that mentions a side of it, or as much as its own memory."""
    own = {hit.id: hit.relevance for hit in gathered.hits if hit.kind == "relation"}
    lent: dict[UUID, float] = {}
    for hit in gathered.hits:
        for entity in gathered.links.mentioned.get(hit.id, ()):
            lent[entity.id] = max(lent.get(entity.id, 0.0), LENT * hit.relevance)
    return [
        writer.relation(
            relation,
            max(
                0.0 if relation.derived else own.get(relation.memories[0], 0.0),
                lent.get(relation.subject.id, 0.0),
                lent.get(relation.object.id, 0.0),
            ),
        )
        for relation in gathered.links.relations
    ]


def _sprinkled(gathered: Gathered, writer: Writer) -> list[Entry]:
    """Memories of other topics: each is worth half of the hit that is worth least."""
    worth = LENT * max(min((hit.relevance for hit in (*gathered.hits, *gathered.project)), default=0.0), 0.0)
    return [
        writer.as_item(
            one.memory, "serendipity", f"- [{name_of(one.topic, writer.nonce)}]: ", worth,
            gathered.tokens.get(one.memory.id),
        )
        for one in gathered.sprinkled
    ]  # fmt: skip


def day(moment: datetime, zone: ZoneInfo) -> str:
    """A day as an entry's header writes it: 1/19/2026."""
    local = _local(moment, zone)
    return f"{local.month}/{local.day}/{local.year}"


def iso_day(moment: datetime, zone: ZoneInfo) -> str:
    """A day as a list of episodes writes it: 2026-01-19."""
    return _local(moment, zone).date().isoformat()


def _local(moment: datetime, zone: ZoneInfo) -> datetime:
    try:
        return moment.astimezone(zone)
    except OverflowError:
        # The zone is ahead of the last year there is, or behind the first.
        return moment
