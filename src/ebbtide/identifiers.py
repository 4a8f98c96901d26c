"""Identifiers: UUIDv7, so that ids made later sort later."""

from __future__ import annotations

import secrets
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import InvalidInput
from ebbtide.text import shown

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["document_of", "new_id", "parse_id"]


class _Sequence:
    """The last id's time, so that the ids of one moment keep the order in which they were made."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._moment = self._value = -1

    def next(self, microseconds: int) -> int:
        """60 bits: milliseconds and the fraction of one in 12 bits, counted on within one moment."""
        milliseconds, rest = divmod(microseconds, 1_000)
        with self._lock:
            started = milliseconds << 12 | rest * 4096 // 1000
            self._value = self._value + 1 if microseconds == self._moment else started
            self._moment = microseconds
            return self._value


_sequence = _Sequence()


def new_id(moment: datetime) -> UUID:
    """A new UUIDv7 (RFC 9562 §5.7, method 3): milliseconds, the fraction of one in 12 bits, 62 random bits.

    Ids made one after another at the same moment by one process sort in that order. The form has no time before 1970:
    the ids of earlier moments are those of its beginning.
    """
    milliseconds, fraction = divmod(_sequence.next(max(0, int(moment.timestamp() * 1_000_000))), 4096)
    bits = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | secrets.randbits(62)
    return UUID(int=bits)


def parse_id(value: Any, field: str) -> UUID:
    """The id in a UUID or its text.

    Raises:
        InvalidInput: it is neither.
    """
    if isinstance(value, UUID):
        return value
    try:
        if isinstance(value, str):
            return UUID(value)
    except ValueError:
        pass
    raise InvalidInput(
        f"{field} is not an id: {shown(value)}.",
        field=field,
        remedy="Give the whole UUID as it was shown: ids that were made within a minute begin alike.",
    )


def document_of(source: str | None) -> UUID | None:
    """The document that a memory is a passage of, where its source is the id of one."""
    try:
        return UUID(source) if source else None
    except ValueError:
        return None
