"""Arrays written as the server reads them: the driver takes ten times as long over a list, and a recall sends eight."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

__all__ = ["plain_array", "text_array"]


def text_array(texts: Iterable[str]) -> str:
    """An array of texts, each in quotation marks; for a parameter that is cast to `text[]` or `tsquery[]`."""
    return "{" + ",".join(['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]) + "}"


def plain_array(values: Iterable[float | UUID]) -> str:
    """An array of what needs no quotation marks; for a parameter that is cast to `float8[]` or `uuid[]`."""
    return "{" + ",".join([str(value) for value in values]) + "}"
