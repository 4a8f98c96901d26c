"""Data sets to measure recall on, whatever their format."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ebbtide.errors import InvalidInput
from ebbtide.evaluate.ebbtide_format import read_ebbtide
from ebbtide.evaluate.locomo import read_locomo
from ebbtide.evaluate.scope import EvaluationScope, Item, Question, merge

__all__ = ["FORMATS", "EvaluationScope", "Item", "Question", "load_dataset", "merge"]

READERS = {"ebbtide": read_ebbtide, "locomo": read_locomo}
FORMATS = tuple(READERS)


def load_dataset(path: str | PathLike[str], format: str = "ebbtide") -> list[EvaluationScope]:  # noqa: A002 (the option's name)
    """The scopes of a data set: a file or a folder of files ("ebbtide"), or one file ("locomo").

    Raises `InvalidInput` for an unknown format, and for a file that is not of it, naming the place and the remedy.
    """
    read = READERS.get(format)
    if read is None:
        raise InvalidInput(
            f"{format!r} is no format of data sets.", field="format", remedy=f"Use one of: {', '.join(FORMATS)}."
        )
    return read(Path(path))
