"""Personal data in what is about to be returned: shown, redacted or withheld, as the rules and the profile say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.personal import kinds_of, redactions

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.types import Memory

__all__ = ["shown"]


def shown(memory: Memory, profile: Profile, rules: RuleBook) -> Memory | None:
    """The memory as a recall may return it: as it is, with placeholders, or None where it is withheld.

    The rule on its namespace decides; where nothing is laid down, a profile that drops personal data does.
    """
    mode = rules.on(memory.namespace).personal_data if rules.screens else None
    if mode is None and profile.drop_personal_data:
        mode = "drop"
    if mode is None or mode == "allow" or not kinds_of(memory):
        return memory
    return memory.model_copy(update=redactions(memory)) if mode == "redact" else None
