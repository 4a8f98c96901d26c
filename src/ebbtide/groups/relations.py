"""handle.relations: what memories say holds between entities."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ebbtide.govern.access import by_tool
from ebbtide.groups.base import Group
from ebbtide.paths import relations as steps
from ebbtide.types.base import Page
from ebbtide.types.graph import GraphPath, Relation

__all__ = ["AsyncRelations"]


class AsyncRelations(Group):
    """Relations: each holds as long as the memory that says it does, and is seen by those who may read that.

    Some are derived from two others by `ebbtide.graph.derive.RULES`, and hold while both do.
    """

    async def list(
        self,
        *,
        entity: UUID | str | None = None,
        predicate: str | None = None,
        derived: bool = True,
        limit: int = 50,
        after: UUID | str | None = None,
        tool: bool = False,
        **scope: Any,
    ) -> Page[Relation]:
        """What holds: of an entity by its id or a name, on either side; with a predicate; with or without derived ones.

        `limit` goes from 1 to 1,000, `after` is the id of the last one seen. The scope is `entities.list`'s; `valid_at`
        asks for what held then.

        Raises:
            NotFound: there is no such entity, or no readable memory mentions it.
            InvalidInput: an argument is not acceptable; the error names it.
        """
        return await steps.list_relations(
            await self.engine(), by_tool(self.caller, tool), entity=entity, predicate=predicate, derived=derived,
            limit=limit, after=after, **scope,
        )  # fmt: skip

    async def path(
        self, start: UUID | str, end: UUID | str, *, max_hops: int = 4, tool: bool = False, **scope: Any
    ) -> GraphPath | None:
        """The shortest way between two entities in at most `max_hops`, from 1 to 6, relations; None without one.

        Relations are followed in both directions, those that were said and not derived ones; at most 2,000 a hop, the
        oldest first. An entity is at no distance from itself. The scope is `entities.list`'s.

        Raises:
            NotFound: there is no such entity, or no readable memory mentions it.
            InvalidInput: an argument is not acceptable; the error names it.
        """
        return await steps.find_path(
            await self.engine(), by_tool(self.caller, tool), start, end, max_hops=max_hops, **scope
        )
