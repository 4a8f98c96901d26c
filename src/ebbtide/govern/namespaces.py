"""Namespaces: what a path may look like, what a pattern matches, and which rules bear on a path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ebbtide.types import Caller

__all__ = ["NamespaceScope", "Rule", "bonus_of", "check_namespace", "default_namespace", "instruction_of", "read_scope"]

LONGEST = 500
FORBIDDEN = re.compile(r"[*${}\s\x00-\x1f\x7f]")
TEMPLATE = re.compile(r"\$\{[a-z_]+\}")


@dataclass(frozen=True, slots=True)
class NamespaceScope:
    """The namespaces of a read, as the parameters of its statements.

    `everything` reads all; otherwise a namespace must equal one of `exact`, start with one of `prefixes` or match
    one of `expressions`. In any case it must not start with one of `foreign` unless it starts with one of `own`.
    """

    everything: bool
    exact: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def covers(self, namespace: str) -> bool:
        """Whether the namespace is read by this scope."""
        named = (
            self.everything
            or namespace in self.exact
            or namespace.startswith(self.prefixes)
            or any(re.fullmatch(expression[1:-1], namespace) for expression in self.expressions)
        )
        return named and (not namespace.startswith(self.foreign) or namespace.startswith(self.own))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule on the namespaces that `pattern` covers: a bonus to relevance, an instruction for the context block."""

    pattern: str
    bonus: float = 0.0
    instruction: str | None = None


def check_namespace(namespace: str, field: str = "namespace") -> str:
    """The namespace itself, if it is a dotted path.

    Raises:
        InvalidInput: it is empty, too long, has an empty segment, or holds white space or one of `* $ { }`.
    """
    if not namespace or len(namespace) > LONGEST:
        raise InvalidInput(
            f"A namespace has 1 to {LONGEST} characters.",
            field=field,
            remedy="Use a dotted path such as vector.team.howto.",
        )
    if FORBIDDEN.search(namespace) or not all(namespace.split(".")):
        raise InvalidInput(
            f"The namespace {namespace[:80]!r} is not a dotted path.",
            field=field,
            remedy="Use segments joined by single dots, without white space or any of * $ { }.",
        )
    return namespace


def default_namespace(caller: Caller) -> str:
    """Where a caller writes unless told otherwise: the user's own memory, or the shared one."""
    return f"vector.agent.{caller.user}.memory" if caller.user else "vector.global.memory"


def read_scope(patterns: Sequence[str] | str | None, caller: Caller) -> NamespaceScope:
    """The namespaces a read covers.

    Without patterns: all of the agent's, except the own memory of other users (`vector.agent.<user>.…`,
    `vector.user.<user>.…`) where the caller speaks for one user. A pattern without `*` is exact; a trailing `*`
    covers every deeper namespace; an inner `*` stands for one or more segments. `_` and `%` are plain characters.

    Raises:
        InvalidInput: a pattern is empty or malformed.
    """
    if patterns is None:
        if caller.user is None:
            return NamespaceScope(everything=True)
        personal = ("vector.agent.", "vector.user.")
        return NamespaceScope(
            everything=True, foreign=personal, own=tuple(f"{prefix}{caller.user}." for prefix in personal)
        )
    listed = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(listed, list | tuple | set | frozenset) or not listed:
        raise InvalidInput(
            "namespaces must be one pattern or a list of at least one.",
            field="namespaces",
            remedy="Leave namespaces out to read all, or name at least one.",
        )
    exact, prefixes, expressions = list[str](), list[str](), list[str]()
    for pattern in listed:
        body = _checked_pattern(pattern)
        if body == "*":
            return NamespaceScope(everything=True)
        if "*" not in body:
            exact.append(body)
        elif body.endswith(".*") and "*" not in body[:-1]:
            prefixes.append(body[:-1])
        else:
            expressions.append(_expression(body))
    return NamespaceScope(False, tuple(exact), tuple(prefixes), tuple(expressions))


def _checked_pattern(pattern: str) -> str:
    segments = check_text(pattern, "namespaces", LONGEST).split(".")
    plain = "x".join(pattern.split("*"))
    if any("*" in segment and segment != "*" for segment in segments):
        raise InvalidInput(
            f"The pattern {pattern[:80]!r} has a * inside a segment.",
            field="namespaces",
            remedy="Use * for whole segments only, as in vector.team.*.",
        )
    check_namespace(plain, "namespaces")
    return pattern


def _expression(pattern: str) -> str:
    """An anchored regular expression that means the same to PostgreSQL and to Python."""
    segments = [
        r"[^.]+(\.[^.]+)*" if segment == "*" else re.sub(r"([^\w])", r"\\\1", segment) for segment in pattern.split(".")
    ]
    return "^" + r"\.".join(segments) + "$"


@lru_cache(maxsize=4096)
def _rule_expression(pattern: str) -> re.Pattern[str]:
    """A rule covers what its pattern matches and everything below: `${…}` is one segment, `*` any remainder."""
    parts = [
        "[^.]+" if TEMPLATE.fullmatch(segment) else r"[^.]+(?:\.[^.]+)*" if segment == "*" else re.escape(segment)
        for segment in pattern.split(".")
    ]
    return re.compile(r"\.".join(parts) + r"(?:\..+)?")


def _matching(rules: Iterable[Rule], namespace: str) -> list[Rule]:
    return [rule for rule in rules if _rule_expression(rule.pattern).fullmatch(namespace)]


def bonus_of(rules: Iterable[Rule], namespace: str) -> float:
    """Σ of the bonuses of every rule that covers the namespace."""
    return sum(rule.bonus for rule in _matching(rules, namespace))


def instruction_of(rules: Iterable[Rule], namespace: str) -> Rule | None:
    """The rule whose instruction governs the namespace: of several, the one with the longest pattern.

    Longest means the most segments, then the most literal characters.
    """
    instructed = [rule for rule in _matching(rules, namespace) if rule.instruction]
    return max(
        instructed,
        key=lambda rule: (rule.pattern.count("."), len(TEMPLATE.sub("", rule.pattern).replace("*", ""))),
        default=None,
    )
