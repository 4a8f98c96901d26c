"""How much room each part of a context block has, and in which order its sections stand, by the intent of the query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from ebbtide.rank.strategies import FACTS
from ebbtide.types.context import SECTIONS, Section
from ebbtide.types.memory import Kind
from ebbtide.types.recall import Intent

__all__ = ["TOTAL_TOKENS", "WINDOWS", "Part", "Shares", "Window", "part_of", "shares_of"]

Part: TypeAlias = Literal["selected", "memory", "project", "files"]

# Source: Eryx 8.1.
TOTAL_TOKENS = 16_000
PROJECT_TOKENS = 3_000
FILES_TOKENS = 4_000
SELECTED_TOKENS = 1_500
MEMORY_TOKENS = 1_500

PARTS: Mapping[Section, Part] = MappingProxyType({"selected": "selected", "chunks": "files", "project": "project"})

KINDS_OF: Mapping[Section, tuple[Kind, ...]] = MappingProxyType(
    {"facts": FACTS, "relations": ("relation",), "episodes": ("episode",), "chunks": ("chunk",), "notes": ("note",)}
)


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens of memories, and the sections that come first, in their order."""

    memory_tokens: int
    first: tuple[Section, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of memory that the sections which come first are made of."""
        return tuple(dict.fromkeys(kind for section in self.first for kind in KINDS_OF.get(section, ())))

    @property
    def order(self) -> tuple[Section, ...]:
        """Every section: what the user selected, those that the intent asks for, the others, the project."""
        rest: list[Section] = [section for section in SECTIONS if section not in (*self.first, "selected", "project")]
        return ("selected", *self.first, *rest, "project")


# Source: Eryx 8.2 for decision, exploratory and temporal; the others are ours in the same form: two things that are
# compared need twice the room of one.
WINDOWS: Mapping[Intent, Window] = MappingProxyType(
    {
        "decision": Window(2_000, ("facts", "relations", "episodes", "chunks")),
        "comparative": Window(2 * MEMORY_TOKENS, ("facts", "relations", "chunks", "notes")),
        "relationship": Window(MEMORY_TOKENS, ("relations", "facts", "episodes", "chunks")),
        "temporal": Window(2_000, ("episodes", "facts", "relations", "chunks")),
        "exploratory": Window(3_000, ("facts", "relations", "chunks", "serendipity")),
        "factual": Window(MEMORY_TOKENS, ("facts", "relations", "chunks", "notes")),
    }
)


@dataclass(frozen=True, slots=True)
class Shares:
    """The most tokens of a whole block, and those of each part of it beside the block's own lines.

    Where it is not `strict`, what one part leaves over goes to the others.
    """

    whole: int
    parts: Mapping[Part, int]
    strict: bool


def part_of(section: Section) -> Part:
    """The part of the budget that a section draws on: files for chunks, and memory for most."""
    return PARTS.get(section, "memory")


def shares_of(window: Window, present: Collection[Part], budget: int | None) -> Shares:
    """The shares of the parts that have something to say.

    Without a budget each part has its default, and the whole 16,000; a block of one part is no larger than that part. A
    budget is shared among them in the proportion of their defaults.
    """
    defaults: dict[Part, int] = {
        "selected": SELECTED_TOKENS,
        "memory": window.memory_tokens,
        "project": PROJECT_TOKENS,
        "files": FILES_TOKENS,
    }
    given: dict[Part, int] = {part: tokens for part, tokens in defaults.items() if part in present}
    total = sum(given.values())
    if budget is None:
        return Shares(TOTAL_TOKENS if len(given) > 1 else total, given, True)
    shared: dict[Part, int] = {part: budget * tokens // total for part, tokens in given.items()}
    return Shares(budget, shared, False)
