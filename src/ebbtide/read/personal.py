"""Personal data in what is about to be returned: shown, redacted or withheld, as the rules and the profile say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.personal import kinds_of, redactions

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.types import Memory

__all__ = ["shown"]


def shown(memory: Memory, profile: Profile | None, rules: RuleBook) -> Memory | None:
    """The memory as a read may return it: itself, one with placeholders, or None where it is withheld.

    The rule on its namespace decides; where nothing is laid down, a profile that drops personal data does.
    """
    mode = rules.on(memory.namespace).personal_data if rules.screens else None
    if mode is None and profile is not None and profile.drop_personal_data:
        mode = "drop"
    if mode == "redact":
        fields = redactions(memory)
        same = all(getattr(memory, name) == value for name, value in fields.items())
        return memory if same else memory.model_copy(update=fields)
    withheld = mode in ("drop", "quarantine") and kinds_of(memory)
    return None if withheld else memory
