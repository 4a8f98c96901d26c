"""What a memory speaks of once it says something else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.graph.names import fold_name
from ebbtide.graph.write import Said, write_graph
from ebbtide.text import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["RELATION_DROPPED", "drop_unspoken", "lost_names", "speak_anew"]

RELATION_DROPPED = "relation: the text changed, and nothing says that it still holds; give it again"


async def speak_anew(
    transaction: Transaction,
    caller: Caller,
    said: Said,
    *,
    given: bool,
    before: str,
    after: str,
    now: datetime,
) -> tuple[str, ...]:
    """Let a memory speak of what it says now; answers with warnings about what it says no more.

    What is `given` takes the place of all that it spoke of. Otherwise a new text keeps what it mentions, save those
    whose names stood in the old text and do not in the new, and loses its relation, which may not hold any more. The
    caller has called `lock` before.
    """
    if not given and before == after:
        return ()
    rows = await transaction.all("graph.spoken_of", tenant=caller.tenant, memory=said.memory_id)
    entities = {entity for entity, _, _ in rows}
    names: dict[UUID, tuple[UUID, str]] = {id_: (entity, alias) for entity, id_, alias in rows if id_ is not None}
    lost = set(names) if given else lost_names({id_: alias for id_, (_, alias) in names.items()}, before, after)
    kept = {entity for id_, (entity, _) in names.items() if id_ not in lost}
    left = entities - kept if given else {names[id_][0] for id_ in lost} - kept
    relations = await transaction.one(
        "graph.unsay", tenant=caller.tenant, memory=said.memory_id, entities=sorted(left), aliases=sorted(lost)
    )
    if given:
        await write_graph(transaction, caller, [said], now)
    # Only now: what is spoken of again has kept its entity, with all that else is known of it.
    used, mentioned = dict.fromkeys(lost, said.memory_id), dict.fromkeys(entities, said.memory_id)
    await drop_unspoken(transaction, caller.tenant, used, mentioned)
    return (RELATION_DROPPED,) if relations[0] and said.relation is None else ()


def lost_names(names: Mapping[UUID, str], before: str, after: str) -> set[UUID]:
    """Those of some names that stand in one text and not in another."""
    old, new = fold_name(before), fold_name(after)
    return {id_ for id_, name in names.items() if _stands_in(name, old) and not _stands_in(name, new)}


def _stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a folded text as words of it, or anywhere where its script sets no words apart."""
    folded = fold_name(name)
    if UNSPACED.search(folded):
        return folded in text
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text) is not None


async def drop_unspoken(
    transaction: Transaction, tenant: str, names: Mapping[UUID, UUID], mentioned: Mapping[UUID, UUID]
) -> list[UUID]:
    """Take away the names that no memory uses any more, and the entities that none mentions.

    Both come with the memory that used or mentioned them; answers with that of each entity that went.
    """
    asked = dict(mentioned)
    if names:
        for entity, alias in await transaction.all("forget.drop_names", tenant=tenant, aliases=list(names)):
            asked.setdefault(entity, names[alias])
    if not asked:
        return []
    await transaction.run("forget.rename_entities", tenant=tenant, entities=list(asked))
    rows = await transaction.all("forget.drop_entities", tenant=tenant, entities=list(asked))
    # What was merged into one that was mentioned goes as a part of it.
    return [asked[entity] for (entity,) in rows if entity in asked]
