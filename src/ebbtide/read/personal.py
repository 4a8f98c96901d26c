"""Personal data in what is about to be returned: shown, redacted or withheld, as the rules and the profile say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.govern.personal import holds_personal_data, kinds_of, redact, redactions

if TYPE_CHECKING:
    from ebbtide.govern.personal import Statement
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.types.memory import Memory

__all__ = ["is_withheld", "mode_on", "name_shown", "shown"]

WITHHELD = ("drop", "quarantine")


def shown(memory: Memory, profile: Profile | None, rules: RuleBook) -> Memory | None:
    """The memory as a read may return it: itself, one with placeholders, or None where it is withheld."""
    mode = mode_on(memory.namespace, profile, rules)
    if mode == "redact":
        fields = redactions(memory)
        same = all(getattr(memory, name) == value for name, value in fields.items())
        return memory if same else memory.model_copy(update=fields)
    return None if is_withheld(memory, mode) else memory


def mode_on(namespace: str, profile: Profile | None, rules: RuleBook) -> str | None:
    """What is done with personal data that memories of a namespace hold; None for showing it.

    The rule on the namespace decides; where nothing is laid down, a profile that drops personal data does.
    """
    mode = rules.on(namespace).personal_data if rules.screens else None
    return "drop" if mode is None and profile is not None and profile.drop_personal_data else mode


def is_withheld(statement: Statement, mode: str | None) -> bool:
    """Whether what is said may not be returned at all."""
    return mode in WITHHELD and bool(kinds_of(statement))


def name_shown(name: str, mode: str | None) -> str | None:
    """A name as a read may return it: itself, one with placeholders, or None where it is withheld."""
    if mode == "redact":
        return redact(name)
    return None if mode in WITHHELD and holds_personal_data(name) else name
