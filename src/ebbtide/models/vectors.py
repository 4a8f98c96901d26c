"""Texts and vectors on their way into and out of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["encodable", "unit_rows"]


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced by "?", so that it can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unit_rows(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Each row of the array (n, dimension) scaled to length 1.

    Raises `ValueError` where a row has a length that is zero or not finite, which no direction can be read from.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise ValueError("a vector has no direction: its length is zero or not finite")
    return np.asarray(rows / lengths, dtype=np.float32)
