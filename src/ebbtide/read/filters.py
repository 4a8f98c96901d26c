"""The filter language of `where`: compiled to one jsonpath and its values, both parameters, never SQL text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ebbtide.checks import LONGEST_WORD, check_json, check_moment, check_text
from ebbtide.errors import InvalidInput
from ebbtide.read.where import Filter
from ebbtide.text import shown

__all__ = ["CLOCKS", "FIELDS", "CompiledFilter", "compile_filter"]

CLOCKS = frozenset(
    {"created_at", "updated_at", "observed_at", "valid_from", "invalidated_at", "expires_at", "last_mentioned_at"}
)
FIELDS = CLOCKS | {
    "importance", "confidence", "speaker", "subject", "predicate", "user", "task", "chat", "session", "seq", "source",
    "maturity", "revision",
}  # fmt: skip
COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
OPERATORS = (*COMPARISONS, "in", "contains", "exists")
DEEPEST = 20
LONGEST_PATH = 20_000
MOST_VALUES = 1_000
LARGEST_NUMBER = 10**100
# A step of a path: plain, or quoted as in JSON where the key itself holds a dot or begins with a quotation mark.
STEP = re.compile(r'(?:("(?:[^"\\]|\\.)+")|([^".][^.]*))(?:\.(?=.)|$)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A jsonpath predicate over `{"metadata", "field"}` and the values its variables stand for."""

    path: str
    values: dict[str, Any]


@dataclass(slots=True)
class _Compiler:
    timezone: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def variable(self, value: Any) -> str:
        if len(self.values) == MOST_VALUES:
            raise _refused("where compares with too many values", f"Give at most {MOST_VALUES:,}.")
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def expression(self, where: Any, depth: int = 0) -> str:
        where = where.form if isinstance(where, Filter) else where
        if not isinstance(where, Mapping) or not where or depth > DEEPEST:
            raise _refused(
                "where must be a non-empty object, nested at most 20 deep",
                'Write {"customer": 7} or {"and": [{…}, {…}]}.',
            )
        parts = [self.entry(_key(key), value, depth) for key, value in cast("Mapping[Any, Any]", where).items()]
        return self.short("(" + " && ".join(parts) + ")")

    @staticmethod
    def short(path: str) -> str:
        """The path itself, refused before nested negations can double it out of hand."""
        if len(path) > LONGEST_PATH:
            raise _refused("where is too long", "Ask for less at once.")
        return path

    def entry(self, key: str, value: Any, depth: int) -> str:
        if key in ("and", "or"):
            if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
                raise _refused(f"where.{key} must be a list of filters", f'Write {{"{key}": [{{…}}, {{…}}]}}.')
            joint = " && " if key == "and" else " || "
            return "(" + joint.join(self.expression(part, depth + 1) for part in cast("Sequence[Any]", value)) + ")"
        if key == "not":
            # A comparison with something absent is unknown, and so would its plain negation be; that of a negation not.
            part = self.expression(value, depth + 1)
            negated = isinstance(value, Mapping) and set(cast("Mapping[Any, Any]", value)) == {"not"}
            return self.short(f"(!{part})" if negated else f"(!({part}) || ({part}) is unknown)")
        if isinstance(value, Mapping):
            tests = cast("Mapping[Any, Any]", value)
            if not tests:
                raise _refused(f"where.{key} has no operator", f"Use one of {', '.join(OPERATORS)}.")
            return "(" + " && ".join(self.test(key, operator, operand) for operator, operand in tests.items()) + ")"
        return self.test(key, "eq", value)

    def test(self, key: str, operator: Any, operand: Any) -> str:
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise _refused(
                f"where.{key} has the unknown operator {shown(operator, 40)}", f"Use one of {', '.join(OPERATORS)}."
            )
        path = self.path(key)
        if operator == "exists":
            if not isinstance(operand, bool):
                raise _refused(f"where.{key}.exists must be true or false", f'Write {{"{key}": {{"exists": true}}}}.')
            present = f"exists({path} ? (@ != null))"
            return present if operand else f"!{present}"
        if operator == "in":
            if not isinstance(operand, Sequence) or isinstance(operand, str | bytes) or not operand:
                raise _refused(f"where.{key}.in must be a non-empty list", f'Write {{"{key}": {{"in": ["a", "b"]}}}}.')
            return "(" + " || ".join(self.test(key, "eq", value) for value in cast("Sequence[Any]", operand)) + ")"
        if operator == "contains":
            return self.contains(key, path, operand)
        return f"{path} {COMPARISONS[operator]} {self.variable(self.operand(key, operand))}"

    def contains(self, key: str, path: str, operand: Any) -> str:
        """An element of a list, or a piece of a text."""
        element = f"{path}[*] == {self.variable(self.operand(key, operand))}"
        if not isinstance(operand, str):
            return f"({element})"
        # An array's elements would be searched for the piece one by one.
        return f'({element} || ({path}.type() == "string" && {path} like_regex {json.dumps(operand)} flag "q"))'

    def operand(self, key: str, operand: Any) -> Any:
        if key in CLOCKS:
            moment = check_moment(operand, f"where.{key}", self.timezone)
            if moment is None:
                raise _refused(
                    f"where.{key} needs a date", f'To ask whether there is one, write {{"{key}": {{"exists": true}}}}.'
                )
            return moment.timestamp()
        if operand is not None and not isinstance(operand, str | int | float | bool):
            raise _refused(
                f"where.{key} compares with {type(operand).__name__}",
                "Compare with text, a number, true, false or null.",
            )
        if isinstance(operand, float) and (operand != operand or operand in (float("inf"), float("-inf"))):
            raise _refused(f"where.{key} compares with a number that is not finite", "Give a finite number.")
        if isinstance(operand, int) and abs(operand) > LARGEST_NUMBER:
            raise _refused(f"where.{key} compares with too large a number", "Give a number a memory could have.")
        check_json(operand, f"where.{key}")
        return str(operand) if key in FIELDS and key in ("user", "task", "chat", "session", "speaker") else operand

    def path(self, key: str) -> str:
        if key in FIELDS:
            return f'$.field."{key}"'
        return "$.metadata" + "".join(f".{json.dumps(step)}" for step in _steps(key.removeprefix("metadata.")))


def compile_filter(where: Filter | Mapping[str, Any] | None, *, timezone: str = "UTC") -> CompiledFilter | None:
    """The filter that `where` describes; None for none.

    A key names a field of the memory (its clocks, importance, confidence, speaker, subject, …) or else a path in its
    metadata (`customer` or `metadata.customer`; a key that holds a dot is quoted, `metadata."opening.hours"`). Its
    value is what the field must equal, or an object of operators: eq, ne, gt, gte, lt, lte, in, contains, exists.
    Entries are joined by and; `and`, `or` and `not` nest. At most 1,000 values are compared with. A `Filter`
    says the same as an expression.

    Raises:
        InvalidInput: the filter is malformed; the error names the entry.
    """
    if where is None:
        return None
    compiler = _Compiler(timezone)
    return CompiledFilter(compiler.expression(where), compiler.values)


def _key(key: Any) -> str:
    """A key of the filter, if it is one PostgreSQL can hold."""
    return check_text(key, "where", LONGEST_WORD)


def _steps(path: str) -> list[str]:
    """The keys that lead to a value in the metadata: joined by dots, each plain or in quotation marks."""
    steps: list[str] = []
    place = 0
    while found := STEP.match(path, place):
        try:
            steps.append(json.loads(found[1]) if found[1] else found[2])
        except ValueError:
            break
        place = found.end()
        if place == len(path):
            return steps
    raise _refused(
        f"where.{path[:60]} is not a path",
        "Join the steps by single dots; put one that holds a dot in quotation marks.",
    )


def _refused(message: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"{message}.", field="where", remedy=remedy)
