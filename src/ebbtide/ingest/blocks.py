"""What a reader makes of a file: headings, and blocks of text that say what may be cut in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Block", "Sort"]

Sort = Literal["heading", "text", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """One block, and the lines or pages it stands on, counted from 1.

    A heading has a `level` from 1 on. The first line of code opens its fence and the last one closes it; the first
    `head` lines of a table are repeated where it has to be cut.
    """

    sort: Sort
    text: str
    first: int
    last: int
    level: int = 0
    head: int = 0
