"""The values of rules on namespaces, and of what they would change."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from ebbtide.types.base import Given, Value
from ebbtide.types.memory import Kind

__all__ = [
    "PERSONAL_DATA_MODES",
    "PersonalDataMode",
    "Rule",
    "RulePreview",
    "RuledHit",
]

PersonalDataMode = Literal["allow", "redact", "drop", "quarantine"]


PERSONAL_DATA_MODES: tuple[str, ...] = get_args(PersonalDataMode)


class Rule(Given):
    """What is laid down for the namespaces that `pattern` covers, and for all below them.

    In a pattern `${…}` is exactly one segment and `*` any remainder. `bonus`, from -1 to 10, is a share of the
    relevance: 0.1 adds a tenth; those of all matching rules add up. Of the others the longest pattern that sets one
    decides: `instruction` heads the memories in a context block (`{{content}}` stands for them), `default_kind` is the
    kind of a memory written without one, `personal_data` what is done with e-mail addresses, phone numbers and the
    like, `retention_days` for how long a memory is kept. `id` is None until the rule is saved.
    """

    pattern: str
    bonus: float = 0.0
    instruction: str | None = None
    default_kind: Kind | None = None
    personal_data: PersonalDataMode | None = None
    retention_days: int | None = None
    id: UUID | None = None
    created_at: datetime | None = None


class RuledHit(Value):
    """One memory under the rules as they are, and as they would be.

    Ranks count from 1 and are None where it does not come back; so is a relevance where it is no candidate.
    """

    id: UUID
    content: str
    namespace: str
    covered: bool
    rank_before: int | None
    rank_after: int | None
    relevance_before: float | None
    relevance_after: float | None
    instruction_before: str | None
    instruction_after: str | None


class RulePreview(Value):
    """What a rule would change for a query: every memory that comes back without it or with it, best first with it."""

    rule: Rule
    query: str
    hits: tuple[RuledHit, ...]

    @property
    def changed(self) -> tuple[RuledHit, ...]:
        """The hits that the rule moves, brings in, drops or puts under another instruction."""
        return tuple(
            hit
            for hit in self.hits
            if hit.rank_before != hit.rank_after
            or hit.relevance_before != hit.relevance_after
            or hit.instruction_before != hit.instruction_after
        )
