"""What a rule on namespaces would change for a query, before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.govern.access import ADMIN, READ, requires
from ebbtide.govern.rules import as_rule, covers
from ebbtide.read.scope import ASKED, check_known
from ebbtide.recall import search
from ebbtide.types.rules import RuledHit, RulePreview

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.read.searched import Searched
    from ebbtide.types.caller import Caller
    from ebbtide.types.rules import Rule

__all__ = ["preview"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Ranks of the hits, from 1, and relevance of the candidates, by id."""

    ranks: Mapping[UUID, int]
    relevance: Mapping[UUID, float]

    @classmethod
    def of(cls, searched: Searched) -> Standing:
        """As one search left them."""
        ids = cast("tuple[UUID, ...]", searched.found.candidates.ids)
        kept = searched.selection.kept.tolist()
        return cls(
            {ids[place]: rank for rank, place in enumerate(kept, start=1)},
            dict(zip(ids, searched.scored.values.tolist(), strict=True)),
        )


@requires(ADMIN, READ, search=True)
async def preview(
    engine: Engine, caller: Caller, rule: Rule | Mapping[str, Any], query: str, **asked: Any
) -> RulePreview:
    """The hits of a query under the rules as they are, and with one more; nothing is saved or counted.

    A rule with the id of a saved one stands in its place.

    Raises:
        InvalidInput: the rule or an argument is not acceptable; the error names it.
        ModelError: the query could not be embedded.
    """
    check_known(asked, ASKED)
    trial = as_rule(rule)
    without = await search(engine, caller, query, **asked)
    with_it = await search(engine, caller, query, trial=trial, **asked)
    before, after = Standing.of(without), Standing.of(with_it)
    memories = {**with_it.memories, **without.memories}
    return RulePreview(
        rule=trial,
        query=query,
        hits=tuple(
            RuledHit(
                id=id_,
                content=memories[id_].content,
                namespace=memories[id_].namespace,
                covered=covers(trial, memories[id_].namespace),
                rank_before=before.ranks.get(id_),
                rank_after=after.ranks.get(id_),
                relevance_before=before.relevance.get(id_),
                relevance_after=after.relevance.get(id_),
                instruction_before=without.rules.on(memories[id_].namespace).instruction,
                instruction_after=with_it.rules.on(memories[id_].namespace).instruction,
            )
            for id_ in dict.fromkeys([*after.ranks, *before.ranks])
        ),
    )
