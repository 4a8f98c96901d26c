"""The values of the graph: who and what memories speak of, and what they say holds between those."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

__all__ = ["ENTITY_TYPES", "EntityType", "Named", "Related"]


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


EntityType = Literal["PERSON", "COMPANY", "PROJECT", "SKILL", "EVENT", "PLACE", "PRODUCT", "TOPIC"]
ENTITY_TYPES: tuple[str, ...] = get_args(EntityType)


class _Public(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(_Public):
    """Somebody or something that a text names: the name it uses, what sort of thing that is, and its other names.

    A name has 1 to 200 characters. `aliases` are names that the text itself says, or its writer knows, mean the same;
    at most 20.
    """

    name: str
    type: Annotated[EntityType, BeforeValidator(_upper)]
    aliases: tuple[str, ...] = ()


class Related(_Public):
    """What a text says holds between two: subject, predicate, object, such as Sarah, `works_at`, Anthropic.

    It holds as long as the memory that says it does. A predicate is kept in lower case, its words joined by `_`.
    """

    subject: Named
    predicate: str
    object: Named
