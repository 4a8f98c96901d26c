"""The tokens of contents that are about to be stored, counted once so that no context block has to."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.errors import ModelError

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.write.batch import Batch

__all__ = ["count_tokens", "counts_of"]

log = logging.getLogger("ebbtide")


async def counts_of(engine: Engine, contents: Sequence[str]) -> Sequence[int | None]:
    """The tokens of each content. A counter that fails costs no write: a context block counts what nobody did."""
    try:
        return await engine.counter.count_each(contents)
    except ModelError as error:
        log.warning("tokens were not counted: %s", error)
        return [None] * len(contents)


async def count_tokens(engine: Engine, batch: Batch, known: set[tuple[str, bytes]]) -> Batch:
    """The batch with the tokens of each draft that is new."""
    new = [position for position, identity in enumerate(batch.identities()) if identity not in known]
    counts: list[int | None] = [None] * len(batch.drafts)
    for position, count in zip(
        new, await counts_of(engine, [batch.drafts[position].content for position in new]), strict=True
    ):
        counts[position] = count
    return replace(batch, tokens=counts)
