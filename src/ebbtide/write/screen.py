"""Personal data in a draft: kept and marked, redacted, dropped or quarantined, as the rules on its namespace say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from ebbtide.govern.personal import personal_data_in, redact, redact_value, value_texts

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.write.validate import Checked

__all__ = ["Screened", "screen"]


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft as it may be stored, the kinds of personal data that were found in it, and what that means for it."""

    draft: Checked
    kinds: tuple[str, ...] = ()
    verdict: Literal["keep", "quarantine", "drop"] = "keep"


def screen(draft: Checked, rules: RuleBook) -> Screened:
    """The draft after its namespace's rule on personal data: `allow`, `redact`, `drop`, `quarantine`, or none.

    A redacted draft loses a vector that was given with it, since that is one of the text as it was.
    """
    kinds = kinds_in(draft)
    if not kinds:
        return Screened(draft)
    mode = rules.on(draft.namespace).personal_data
    if mode == "redact":
        return Screened(redacted(draft))
    return Screened(draft, kinds, {"drop": "drop", "quarantine": "quarantine"}.get(mode or "", "keep"))  # type: ignore[arg-type]


def kinds_in(draft: Checked) -> tuple[str, ...]:
    """The kinds of personal data in everything that a draft says."""
    kinds = personal_data_in(draft.content)
    beside = [text for text in (draft.subject, draft.predicate, draft.speaker, *draft.labels, *draft.tags) if text]
    if not beside and not draft.metadata:
        return kinds
    more = chain.from_iterable(map(personal_data_in, chain(beside, value_texts(draft.metadata))))
    return tuple(dict.fromkeys((*kinds, *more)))


def redacted(draft: Checked) -> Checked:
    """The draft with placeholders in place of the values."""
    content = redact(draft.content)
    return replace(
        draft,
        content=content,
        vector=draft.vector if content == draft.content else None,
        subject=redact(draft.subject) if draft.subject else None,
        predicate=redact(draft.predicate) if draft.predicate else None,
        speaker=redact(draft.speaker) if draft.speaker else None,
        labels=tuple(map(redact, draft.labels)),
        tags=tuple(map(redact, draft.tags)),
        metadata=redact_value(draft.metadata),
        warnings=(*draft.warnings, "personal data was redacted"),
    )
