"""Identifiers: UUIDv7, so that ids made later sort later."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["new_id", "parse_id"]


def new_id(moment: datetime) -> UUID:
    """A new UUIDv7 (RFC 9562 §5.7, method 3): milliseconds, the fraction of one in 12 bits, 62 random bits."""
    milliseconds, rest = divmod(int(moment.timestamp() * 1_000_000), 1_000)
    bits = milliseconds << 80 | 0x7 << 76 | (rest * 4096 // 1000) << 64 | 0x2 << 62 | secrets.randbits(62)
    return UUID(int=bits)


def parse_id(value: Any, field: str) -> UUID:
    """The id in a UUID or its text.

    Raises:
        InvalidInput: it is neither.
    """
    if isinstance(value, UUID):
        return value
    try:
        return UUID(str(value))
    except ValueError as error:
        raise InvalidInput(
            f"{field} is not an id: {str(value)[:60]!r}.", field=field, remedy="Give the UUID that remember returned."
        ) from error
