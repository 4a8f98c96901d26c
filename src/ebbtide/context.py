"""A context block for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.errors import InvalidInput
from ebbtide.govern.access import READ, of_itself, requires
from ebbtide.read.block import render_block
from ebbtide.read.scope import ASKED, check_known
from ebbtide.recall import note_access, search_and_revive

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types import Caller, ContextBlock

__all__ = ["context"]


@requires(READ, search=True)
async def context(
    engine: Engine, caller: Caller, query: str, *, budget: int | None = None, **asked: Any
) -> ContextBlock:
    """The memories for a query as a block of at most `budget` tokens. See `AsyncEbbtide.context`."""
    check_known(asked, ASKED)
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise InvalidInput(
            "budget must be a whole number of tokens, 0 or more.", field="budget", remedy="Leave it out for no limit."
        )
    searched = await search_and_revive(engine, of_itself(caller), query, **asked)
    return render_block(
        note_access(engine, searched),
        searched.rules,
        count_tokens=engine.counter.count,
        budget=budget,
        timezone=caller.timezone,
    )
