"""What every public value is: it never changes, and has no fields but its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator

from ebbtide.errors import InvalidInput
from ebbtide.text import shown

__all__ = ["Given", "Listed", "Page", "Spoken", "Value", "page_of", "trusted"]

Item = TypeVar("Item")

LONGEST_LINE = 80

Model = TypeVar("Model", bound=BaseModel)


class Page(list[Item]):
    """A part of a list, which knows whether the list goes on.

    `next` is what the call for the part behind it takes to continue, as `after` or, where numbers run down, as
    `before`: the last value's id, number or name. It is None where nothing follows.
    """

    def __init__(self, values: Iterable[Item] = (), *, next: UUID | int | str | None = None) -> None:  # noqa: A002
        super().__init__(values)
        # Of the one sort that the same verb takes, which no checker of types is told.
        self.next: Any = next


def page_of(found: list[Item], limit: int, mark: Callable[[Item], UUID | int | str]) -> Page[Item]:
    """The first `limit` values of those found, of which there is one more where the list goes on behind them."""
    page = found[:limit]
    return Page(page, next=mark(page[-1]) if len(found) > limit else None)


class Value(BaseModel):
    """A value that comes out of the engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Spoken(Value):
    """A value that says something: `str()` is its beginning in one line, behind its relevance where it has one."""

    def __str__(self) -> str:
        said: Any = self
        line = " ".join(said.content.split())
        line = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
        return f"{said.relevance:.2f} {line}" if hasattr(said, "relevance") else line


class Listed(Value):
    """A value of several others: `str()` is a line of each."""

    def __str__(self) -> str:
        hits: Any = self
        return "\n".join(map(str, hits)) or "nothing"


class Given(Value):
    """A value that a caller makes: what is wrong with it is an error like any other of the engine's.

    Raises:
        InvalidInput: a field is unknown, missing, or not of its type; the error names it.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _refuse(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            refused = refusal(cls, error)
        # Out here, so that not even its context holds the values that were refused.
        raise refused

    @classmethod
    def remedy_for(cls, field: str) -> str:
        """How to correct one of its fields."""
        return f"Correct {field}."


def refusal(model: type[Given], error: ValidationError) -> InvalidInput:
    """What is wrong with the first field of a value that is not acceptable; nothing of the value enters the message."""
    found = error.errors(include_url=False, include_input=False)
    # An unknown field is likelier the mistake than a missing one that it was meant to be.
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    # Between the names of fields stand those of pydantic's own steps, such as `function-wrap[…]`.
    steps = [str(step) for step in first["loc"] if "[" not in str(step)]
    name, field = model.__name__, ".".join(steps) or model.__name__.lower()
    if first["type"] == "extra_forbidden":
        message, remedy = f"{name} has no field {shown(field)}.", f"It has {', '.join(model.model_fields)}."
    elif first["type"] == "missing":
        message, remedy = f"{name} needs {field}.", f"Give {field}."
    else:
        message, remedy = f"{field} is not acceptable: {first['msg']}.", model.remedy_for(field)
    return InvalidInput(message, field=field, remedy=remedy)


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    """The names of all its fields; instances share the set, since pydantic copies it before it adds to one."""
    return set(model.model_fields)


def trusted(model: type[Model], /, **values: Any) -> Model:
    """An instance of a public model from values of our own making, all fields given, without validating them again.

    A recall makes twenty of them; validation, or pydantic's own `model_construct`, would cost as much as the ranking.
    """
    instance = model.__new__(model)
    object.__setattr__(instance, "__dict__", values)
    object.__setattr__(instance, "__pydantic_fields_set__", _all_fields(model))
    object.__setattr__(instance, "__pydantic_extra__", None)
    object.__setattr__(instance, "__pydantic_private__", None)
    return instance
