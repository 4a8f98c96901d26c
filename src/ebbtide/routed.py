"""What routing by types of entities did in a search."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["Routing"]


class Routing(BaseModel):
    """What routing by types did in one search.

    `types` are those that the query was taken to be about, the likeliest first, and `entities` how many of these types
    the search was restricted to, at most 500. `outcome` is `restricted` where that gave the answer, `too_few` where it
    found too little and everything was searched after all, and `unsure` where no type was likelier than the others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: tuple[str, ...]
    entities: int
    outcome: Literal["restricted", "too_few", "unsure"]
