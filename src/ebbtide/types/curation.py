"""The values of curation: merges of near duplicates, repairs, and exports for people."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ebbtide.types.base import Value

__all__ = ["Consolidation", "MarkdownExport", "Merge", "Reconciliation", "Unmerged"]


class Merge(Value):
    """One memory that stays, the fullest of those that say nearly the same, and the others, which it supersedes.

    What a model makes is a `text` that is written as a memory of its own, which supersedes all of `merged`; before it
    is written, `kept` is None.
    """

    kept: UUID | None
    merged: tuple[UUID, ...]
    namespace: str
    excerpt: str
    text: str | None = None


class Unmerged(Value):
    """Near duplicates that were not made one, the reason, and the text that a model said for them if any."""

    ids: tuple[UUID, ...]
    reason: str
    text: str | None = None


class Consolidation(Value):
    """What a consolidation would merge, or has merged.

    `held` are near duplicates that a legal hold leaves as they are, `unmerged` those of which no model's text could be
    taken or that were changed meanwhile, and `waiting` counts the groups that a model was not asked about in this call.
    A dry run has a `token` that confirms just this until `expires_at`.
    """

    dry_run: bool
    count: int
    merges: tuple[Merge, ...] = ()
    held: tuple[UUID, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()
    waiting: int = 0
    token: str | None = None
    expires_at: datetime | None = None


class Reconciliation(Value):
    """What was wrong or missing in the tenant's derived rows and was repaired; a dry run only counts.

    Attributes:
        vectors: memories without a vector, which were embedded.
        tokens: memories whose tokens nobody counted, or another counter.
        context_vectors: turns of conversations without the vector in the light of the turn before, or with a wrong one.
        derived_relations: relations that lost one of the two that they follow from.
        update_links: notes of found updates that are none any more.
        leftovers: rows that name a forgotten memory.
        pending: memories that are still without a vector, since there is no embedder or they changed meanwhile.
    """

    dry_run: bool
    vectors: int = 0
    tokens: int = 0
    context_vectors: int = 0
    derived_relations: int = 0
    update_links: int = 0
    leftovers: int = 0
    pending: int = 0

    @property
    def repaired(self) -> int:
        """How many rows there were to repair."""
        return sum(
            (self.vectors, self.tokens, self.context_vectors, self.derived_relations, self.update_links, self.leftovers)
        )


class MarkdownExport(Value):
    """The files that were written, below `folder`, and how many memories are in them."""

    folder: str
    files: tuple[str, ...]
    memories: int
