"""Namespaces: what a path may look like, and what a pattern matches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from ebbtide.checks import check_composed, check_text, written_json
from ebbtide.errors import InvalidInput
from ebbtide.text import shows_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.types.caller import Access, Caller

__all__ = [
    "TEMPLATE",
    "NamespaceScope",
    "check_namespace",
    "check_pattern",
    "default_namespace",
    "expression_of",
    "granted_scope",
    "read_scope",
    "rule_specificity",
]

LONGEST = 500
MOST_PATTERNS = 200
FORBIDDEN = re.compile(r"[*${}\s\x00-\x1f\x7f]")
TEMPLATE = re.compile(r"\$\{([a-z_]+)\}")


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

    def intersect(self, other: NamespaceScope) -> NamespaceScope:
        """The namespaces that both scopes cover. Neither may have `foreign` ones.

        Exact paths and prefixes stay such; what only an expression can say becomes one with a lookahead.
        """
        if self.everything or other.everything:
            return other if self.everything else self
        exact = {path for path in self.exact if other.covers(path)} | {
            path for path in other.exact if self.covers(path)
        }
        prefixes = {prefix for prefix in self.prefixes if prefix.startswith(other.prefixes)}
        prefixes |= {prefix for prefix in other.prefixes if prefix.startswith(self.prefixes)}
        expressions = {
            f"^(?={one[1:]}){two[1:]}"
            for ones, twos in ((self.expressions, other.expressions + other._prefix_expressions),
                               (self._prefix_expressions, other.expressions))
            for one in ones
            for two in twos
        }  # fmt: skip
        return NamespaceScope(False, tuple(sorted(exact)), tuple(sorted(prefixes)), tuple(sorted(expressions)))

    @property
    def _prefix_expressions(self) -> tuple[str, ...]:
        return tuple(f"^{expression_of(prefix + '*')}$" for prefix in self.prefixes)


def check_namespace(namespace: str, field: str = "namespace") -> str:
    """The namespace itself, if it is a dotted path.

    Raises:
        InvalidInput: it is no text, empty, too long, has an empty segment, or holds white space, what is invisible,
            or one of `* $ { }`.
    """
    if not isinstance(namespace, str) or not namespace or len(namespace) > LONGEST:
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
    if not shows_all(namespace):
        raise InvalidInput(
            f"The namespace {namespace[:80]!r} holds an invisible character.",
            field=field,
            remedy="Write it anew: two namespaces that look alike would not be one.",
        )
    return check_composed(namespace, field)


def default_namespace(caller: Caller) -> str:
    """Where the owner writes unless told otherwise: the user's own memory, or the shared one."""
    return f"vector.agent.{caller.user}.memory" if caller.user else "vector.global.memory"


def read_scope(patterns: Sequence[str] | str | None, caller: Caller) -> NamespaceScope:
    """The namespaces a read covers.

    Without patterns: all of the agent's, except the own memory of other users (`vector.agent.<user>.…`,
    `vector.user.<user>.…`) where the caller speaks for one user. A pattern without `*` is exact; a trailing `*`
    covers every deeper namespace; an inner `*` stands for one or more segments. `_` and `%` are plain characters.

    A policed caller reads what its policy grants, by `tool_read` where a tool asks; patterns can only narrow that.

    Raises:
        InvalidInput: a pattern is empty or malformed.
    """
    if caller.access is not None:
        asked = NamespaceScope(everything=True) if patterns is None else _asked_scope(patterns)
        return granted_scope(caller.access, tool=caller.access.tool).intersect(asked)
    if patterns is None:
        if caller.user is None:
            return NamespaceScope(everything=True)
        personal = ("vector.agent.", "vector.user.")
        return NamespaceScope(
            everything=True, foreign=personal, own=tuple(f"{prefix}{caller.user}." for prefix in personal)
        )
    return _asked_scope(patterns)


def granted_scope(access: Access, *, tool: bool) -> NamespaceScope:
    """What a policy lets a caller read, automatically or by a tool."""
    if access.grant is None:
        return NamespaceScope(everything=False)
    return _compiled_scope(access.grant.tool_read if tool else access.grant.read)


def _asked_scope(patterns: Sequence[str] | str) -> NamespaceScope:
    listed = written_json(patterns, list) or [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(listed, list | tuple | set | frozenset) or not listed:
        raise InvalidInput(
            "namespaces must be one pattern or a list of at least one.",
            field="namespaces",
            remedy="Leave namespaces out to read all, or name at least one.",
        )
    if len(listed) > MOST_PATTERNS:
        raise InvalidInput(
            f"namespaces has {len(listed):,} patterns; at most {MOST_PATTERNS} are read at once.",
            field="namespaces",
            remedy="Name what they have in common by a pattern with *, or ask several times.",
        )
    return _compiled_scope(tuple(check_pattern(pattern, "namespaces") for pattern in listed))


@lru_cache(maxsize=1024)
def _compiled_scope(patterns: tuple[str, ...]) -> NamespaceScope:
    exact, prefixes, expressions = list[str](), list[str](), list[str]()
    for pattern in patterns:
        if pattern == "*":
            return NamespaceScope(everything=True)
        if "*" not in pattern:
            exact.append(pattern)
        elif pattern.endswith(".*") and "*" not in pattern[:-1]:
            prefixes.append(pattern[:-1])
        else:
            expressions.append(f"^{expression_of(pattern)}$")
    return NamespaceScope(False, tuple(exact), tuple(prefixes), tuple(expressions))


def check_pattern(
    pattern: str,
    field: str,
    *,
    templates: Literal["any", "none"] | frozenset[str] = "none",
    wildcards: bool = True,
) -> str:
    """The pattern itself, if every segment is a literal, a `*` where there may be `wildcards`, or a template.

    `templates` says which `${…}` may stand for a segment: none, any, or those named.

    Raises:
        InvalidInput: naming the field, and what is wrong with the pattern.
    """
    segments = check_text(pattern, field, LONGEST).split(".")
    for segment in segments:
        if "*" in segment and (segment != "*" or not wildcards):
            raise InvalidInput(
                f"The pattern {pattern[:80]!r} has a * {'inside a segment' if wildcards else 'in it'}.",
                field=field,
                remedy="Use * for whole segments only, as in vector.team.*."
                if wildcards
                else "Name the namespace in full; only what is read may be a pattern.",
            )
        if "$" in segment and templates != "none":
            name = TEMPLATE.fullmatch(segment)
            if name is None or (templates != "any" and name[1] not in templates):
                known = "${user_id}" if templates == "any" else ", ".join(f"${{{one}}}" for one in sorted(templates))
                raise InvalidInput(
                    f"{segment[:80]!r} cannot stand for a segment of a namespace.",
                    field=field,
                    remedy=f"Use {known} as a whole segment, or a plain one.",
                )
    plain = ["x" if segment == "*" or (templates != "none" and TEMPLATE.fullmatch(segment)) else segment
             for segment in segments]  # fmt: skip
    check_namespace(".".join(plain), field)
    return pattern


def expression_of(pattern: str) -> str:
    """A regular expression that means the same to PostgreSQL and to Python: `${…}` is one segment, `*` one or more."""
    return r"\.".join(_segment_expression(segment) for segment in pattern.split("."))


def _segment_expression(segment: str) -> str:
    if segment == "*":
        return r"[^.]+(\.[^.]+)*"
    return r"[^.]+" if TEMPLATE.fullmatch(segment) else re.sub(r"([^\w])", r"\\\1", segment)


def rule_specificity(pattern: str) -> tuple[int, int, int, str]:
    """What makes one pattern longer than another: its segments, then its literal characters.

    Of equals, the one with fewer `*` is the longer, and at last the alphabet decides, so that there is always one.
    """
    return pattern.count("."), len(TEMPLATE.sub("", pattern).replace("*", "")), -pattern.count("*"), pattern
