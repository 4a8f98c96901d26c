"""What a draft says of entities, checked and made uniform."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput
from ebbtide.graph.names import name_hash, predicate_of
from ebbtide.text import fold, is_blank, shown
from ebbtide.types.base import trusted
from ebbtide.types.graph import ENTITY_TYPES, EntityType, Named, Related

__all__ = ["check_entities", "check_name", "check_named", "check_predicate", "check_related", "check_type"]

LONGEST_NAME = 200
MOST_ENTITIES = 100
MOST_ALIASES = 20
# What turns a line around, and what is no character of any text.
STEERING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def check_entities(value: Any, field: str) -> tuple[Named, ...]:
    """What a draft mentions, from `Named` and mappings of its fields; each name of a type once.

    Raises:
        InvalidInput: it is no list of those, or one is not acceptable; the error names it, as `entities[2].type`.
    """
    if value is None:
        return ()
    if isinstance(value, str | Mapping | Named) or not isinstance(value, Sequence):
        raise InvalidInput(
            f"{field} must be a list.", field=field, remedy='Give a list such as [{"name": "Sarah", "type": "person"}].'
        )
    listed = cast("Sequence[Any]", value)
    if len(listed) > MOST_ENTITIES:
        raise InvalidInput(
            f"{field} has {len(listed):,} entries; at most {MOST_ENTITIES} are kept.",
            field=field,
            remedy="Give those that the memory is about.",
        )
    checked = [check_named(one, f"{field}[{place}]") for place, one in enumerate(listed)]
    return tuple({(one.type, one.name, one.aliases): one for one in checked}.values())


def check_named(value: Any, field: str) -> Named:
    """One of them.

    Raises:
        InvalidInput: it is not acceptable; the error names the part of it.
    """
    given = _fields(value, Named, field)
    name = check_name(given.get("name"), f"{field}.name")
    aliases = given.get("aliases") or ()
    several = cast("Sequence[Any]", aliases)
    if isinstance(aliases, str) or not isinstance(aliases, Sequence) or len(several) > MOST_ALIASES:
        raise InvalidInput(
            f"{field}.aliases must be a list of at most {MOST_ALIASES} names.",
            field=f"{field}.aliases",
            remedy='Give a list such as ["Big Blue"].',
        )
    others = [check_name(alias, f"{field}.aliases[{place}]") for place, alias in enumerate(several)]
    unlike = {name_hash(alias): alias for alias in others if name_hash(alias) != name_hash(name)}
    return trusted(
        Named, name=name, type=check_type(given.get("type"), f"{field}.type"), aliases=tuple(unlike.values())
    )


def check_related(value: Any, field: str) -> Related:
    """What holds between two.

    Raises:
        InvalidInput: it is not acceptable; the error names the part of it.
    """
    given = _fields(value, Related, field)
    return trusted(
        Related,
        subject=check_named(given.get("subject"), f"{field}.subject"),
        predicate=check_predicate(given.get("predicate"), f"{field}.predicate"),
        object=check_named(given.get("object"), f"{field}.object"),
    )


def check_name(value: Any, field: str) -> str:
    """A name as it is kept: NFC, single spaces, without control characters.

    Raises:
        InvalidInput: it is no name.
    """
    name = fold(check_text(value, field, LONGEST_NAME))
    if is_blank(name):
        raise InvalidInput(f"{field} is empty.", field=field, remedy="Give the name that the text uses.")
    if any(unicodedata.category(character) == "Cc" for character in name) or STEERING.search(name):
        raise InvalidInput(f"{field} holds a control character.", field=field, remedy="Take it out.")
    return check_text(name, field, LONGEST_NAME)


def check_type(value: Any, field: str) -> EntityType:
    """A type of entities, in whatever case.

    Raises:
        InvalidInput: there is no such type.
    """
    type_ = value.strip().upper() if isinstance(value, str) else value
    if type_ not in ENTITY_TYPES:
        raise InvalidInput(
            f"{shown(value, 40)} is not a type of entities.",
            field=field,
            remedy=f"Use one of {', '.join(ENTITY_TYPES).lower()}.",
        )
    return cast("EntityType", type_)


def check_predicate(value: Any, field: str) -> str:
    """A predicate as it is kept, such as `works_at`.

    Raises:
        InvalidInput: it has no words.
    """
    predicate = predicate_of(check_text(value, field, LONGEST_NAME))
    if not predicate:
        raise InvalidInput(f"{field} has no words.", field=field, remedy="Give one such as works_at.")
    return predicate


def _fields(value: Any, model: type[Named | Related], field: str) -> Mapping[str, Any]:
    """The fields of a model, or of a mapping that has no others."""
    if isinstance(value, model):
        return dict(value)
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"{field} is {shown(value)}.", field=field, remedy=f"Give an object of {', '.join(model.model_fields)}."
        )
    given = cast("Mapping[Any, Any]", value)
    unknown = next((shown(name) for name in given if name not in model.model_fields), None)
    if unknown is not None:
        raise InvalidInput(
            f"{field} has no field {unknown}.", field=field, remedy=f"It has {', '.join(model.model_fields)}."
        )
    return given
