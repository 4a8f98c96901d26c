"""The facts of what runs said, read in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import ModelUnavailable, StaleRevision
from ebbtide.paths.extraction import extract_from
from ebbtide.types.caller import Caller
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.engine import Engine

__all__ = ["extract_memories"]


async def extract_memories(
    engine: Engine, *, tenant: str, agent: str, ids: Sequence[str], by_model: bool, session_revision: int | None
) -> None:
    """Find and write the facts of memories that a run wrote, unless something was forgotten since.

    Raises:
        StaleRevision: none of them is left, or something of their session was forgotten since `session_revision`.
        ModelError: the model failed, or this worker has none.
    """
    if by_model and engine.extractor is None:
        raise ModelUnavailable(
            "This worker has no model to extract with.", remedy="Run one with the setting `extractor`."
        )
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        rows = await transaction.all("memory.by_ids", tenant=tenant, agent=agent, ids=[UUID(one) for one in ids])
    memories = [memory for row in rows if (memory := memory_of(row)).status == "active"]
    if not memories:
        raise StaleRevision(
            "What was to be read was forgotten.", field="ids", remedy="Nothing is left to do: nothing was written."
        )
    model = engine.extractor if by_model else None
    await extract_from(engine, Caller(tenant, agent), memories, model, session_revision)
