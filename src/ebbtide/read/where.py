"""Filters as expressions: `(where("customer") == 7) & ~where("city").contains("Berg")`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ebbtide.errors import InvalidInput
from ebbtide.text import shown

__all__ = ["Field", "Filter", "where"]

JOINTS = ("and", "or", "not")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a memory's fields and metadata, made with `where` and joined by `&`, `|` and `~`.

    `form` is the same as the object that `where=` takes otherwise.
    """

    form: Mapping[str, Any]

    def __and__(self, other: Filter) -> Filter:
        return _joined("and", self, other)

    def __or__(self, other: Filter) -> Filter:
        return _joined("or", self, other)

    def __invert__(self) -> Filter:
        return Filter({"not": self.form})

    def __bool__(self) -> bool:
        raise InvalidInput(
            "A filter is neither true nor false by itself.",
            field="where",
            remedy="Join filters with & | ~ rather than and, or, not; put each comparison in parentheses.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a memory or a path in its metadata. Comparing it makes a `Filter`; an absent one compares as false."""

    name: str
    # Equal to nothing, since comparing makes a filter.
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, value: object) -> Filter:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._test("eq", value)

    def __ne__(self, value: object) -> Filter:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._test("ne", value)

    def __gt__(self, value: Any) -> Filter:
        return self._test("gt", value)

    def __ge__(self, value: Any) -> Filter:
        return self._test("gte", value)

    def __lt__(self, value: Any) -> Filter:
        return self._test("lt", value)

    def __le__(self, value: Any) -> Filter:
        return self._test("lte", value)

    def one_of(self, values: Sequence[Any]) -> Filter:
        """Whether it equals one of the values."""
        return self._test("in", values)

    def contains(self, value: Any) -> Filter:
        """Whether a list holds the value, or a text the piece of text."""
        return self._test("contains", value)

    def exists(self, present: bool = True) -> Filter:
        """Whether it is there and not null; or, for False, whether it is not."""
        return self._test("exists", present)

    def _test(self, operator: str, operand: Any) -> Filter:
        return Filter({self.name: {operator: operand}})


def where(name: str) -> Field:
    """A field of a memory, such as `importance` or `observed_at`, or else a path in its metadata, such as `order.id`.

    Raises:
        InvalidInput: the name is no text.
    """
    if not isinstance(name, str):
        raise InvalidInput("A field's name must be text.", field="where", remedy='Write where("customer") == 7.')
    # In an object these would join filters; in an expression nothing else can be meant than the metadata.
    return Field(f"metadata.{name}" if name in JOINTS else name)


def _joined(joint: Literal["and", "or"], one: Filter, other: Filter) -> Filter:
    """Both under one joint; a chain of one joint stays one list, however long."""
    if not isinstance(other, Filter):
        raise InvalidInput(
            f"A filter cannot be joined with {shown(other)}.",
            field="where",
            remedy='Put each comparison in parentheses: (where("a") == 1) & (where("b") == 2).',
        )
    parts = [part for side in (one.form, other.form) for part in (side[joint] if set(side) == {joint} else [side])]
    return Filter({joint: parts})
