"""Personal data in a draft: kept and marked, redacted, dropped or quarantined, as the rules on its namespace say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ebbtide.govern.personal import kinds_of, redactions, refused
from ebbtide.write.naming import without_personal_data

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.write.validate import Checked

__all__ = ["KEPT", "Screened", "admitted", "screen"]

KEPT = "personal data was kept"
"""How the warning begins that tells which kinds a text holds, where nothing is laid down for them."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft as it may be stored, the kinds of personal data left in it, and what they mean for it."""

    draft: Checked
    kinds: tuple[str, ...] = ()
    verdict: Literal["keep", "quarantine", "drop"] = "keep"


def screen(draft: Checked, rules: RuleBook) -> Screened:
    """The draft after its namespace's rule: `allow`, `redact`, `drop`, `quarantine`, or none, which marks alone."""
    mode = rules.on(draft.namespace).personal_data if rules.screens else None
    if mode not in (None, "allow") and (draft.entities or draft.relation):
        entities, relation = without_personal_data(draft.entities, draft.relation)
        draft = replace(draft, entities=entities, relation=relation)
    kinds = kinds_of(draft)
    if not kinds:
        return Screened(draft)
    if mode == "redact":
        return Screened(redacted(draft))
    if mode == "drop" or mode == "quarantine":
        return Screened(draft, kinds, mode)
    if mode is None:
        draft = replace(draft, warnings=(*draft.warnings, f"{KEPT}: {', '.join(kinds)}"))
    return Screened(draft, kinds)


def admitted(draft: Checked, rules: RuleBook, field: str) -> Screened:
    """The same for a text that changes what is stored already, and so can only be kept or redacted.

    Raises:
        InvalidInput: the rule would drop or quarantine it; the error names the field and the kinds.
    """
    screened = screen(draft, rules)
    if screened.verdict != "keep":
        raise refused(screened.kinds, field)
    return screened


def redacted(draft: Checked) -> Checked:
    """The draft with placeholders in place of the values."""
    fields = redactions(draft)
    # A vector that was given is one of the text as it was: the values could be read out of it.
    same = fields["content"] == draft.content and fields["speaker"] == draft.speaker
    vector = draft.vector if same else None
    return replace(draft, **fields, vector=vector, warnings=(*draft.warnings, "personal data was redacted"))
