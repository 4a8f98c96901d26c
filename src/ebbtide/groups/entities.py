"""handle.entities: whom and what memories speak of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from ebbtide.govern.access import by_tool
from ebbtide.groups.base import Group
from ebbtide.paths import entities as steps
from ebbtide.paths import pages
from ebbtide.paths.relations import find_neighbourhood
from ebbtide.types.base import Page
from ebbtide.types.graph import Entity, EntityChange, EntityPage, Neighbourhood
from ebbtide.types.memory import Memory

__all__ = ["AsyncEntities"]


class AsyncEntities(Group):
    """Entities: persons, companies, projects, skills, events, places, products and topics that memories mention.

    A reader sees them as far as memories mention them that it may read.
    """

    async def list(
        self,
        *,
        types: Sequence[str] | str | None = None,
        text: str | None = None,
        limit: int = 50,
        after: UUID | str | None = None,
        tool: bool = False,
        **scope: Any,
    ) -> Page[Entity]:
        """The entities that memories mention, in the order in which they became known.

        `types` are some of person, company, project, skill, event, place, product, topic; `text` is how a word of a
        name begins. `limit` goes from 1 to 1,000, `after` is the id of the last one seen. `namespaces`, `kinds`,
        `labels`, `tags`, `where`, `as_of`, `valid_at` and `include_superseded` are `recall`'s, of those memories.

        Raises:
            InvalidInput: an argument is not acceptable; the error names it.
        """
        return await steps.list_entities(
            await self.engine(), by_tool(self.caller, tool), types=types, text=text, limit=limit, after=after, **scope
        )

    async def get(
        self,
        entity: UUID | str,
        *,
        type: str | None = None,  # noqa: A002 - what it is called everywhere
        limit: int = 50,
        tool: bool = False,
        **scope: Any,
    ) -> EntityPage:
        """One entity by its id or a name, with its newest facts and what holds between it and others.

        `type` tells apart two of one name. `limit`, from 1 to 1,000, is for the facts and for the relations. The scope
        is `list`'s.

        Raises:
            NotFound: there is no such entity, or no readable memory mentions it.
            Conflict: several have that name; the error names their ids.
        """
        return await steps.get_entity(
            await self.engine(), by_tool(self.caller, tool), entity, type=type, limit=limit, **scope
        )

    async def neighbourhood(
        self,
        entity: UUID | str,
        *,
        type: str | None = None,  # noqa: A002 - what it is called everywhere
        hops: int = 2,
        limit: int = 40,
        tool: bool = False,
        **scope: Any,
    ) -> Neighbourhood:
        """An entity with the others at `hops`, 1 or 2, relations from it, and what was said to hold between them all.

        `limit`, from 1 to 200, is for the entities around it; the nearest and the oldest come first. The rest is as
        for `get`.

        Raises:
            NotFound: there is no such entity, or no readable memory mentions it.
            Conflict: several have that name; the error names their ids.
        """
        return await find_neighbourhood(
            await self.engine(), by_tool(self.caller, tool), entity, type=type, hops=hops, limit=limit, **scope
        )

    async def page(self, entity: UUID | str, *, namespace: str | None = None) -> Memory | None:
        """The page of an entity: a memory of kind `entity` with its names, its confidence and its 50 newest facts.

        It says what memories of its namespace say, that where the handle writes unless given, and is made where there
        is none. A job rewrites it within an hour after they change, as a revision; where one that it was made from is
        revised, superseded or invalidated, it is invalid from that moment until then. It goes as soon as a memory is
        forgotten that it was ever made from, and is made anew of what is left. None where it has no facts.

        Raises:
            NotFound: there is no such entity, or no readable memory mentions it.
            Conflict: its page is in another namespace.
            StaleRevision: others changed the page again and again meanwhile.
            Forbidden: the policy does not let the caller write there.
        """
        return await pages.entity_page(await self.engine(), self.caller, entity, namespace=namespace)

    async def refresh_pages(self) -> int:
        """Bring the agent's pages up to date now; answers with how many were rewritten."""
        return await pages.refresh_pages(await self.engine(), self.caller)

    async def merge(self, entity: UUID | str, other: UUID | str) -> EntityChange:
        """Make two entities one, `entity`: what mentions `other` mentions it, and what `other` is called, it is.

        Raises:
            NotFound: one is not there.
            InvalidInput: they are the same, or of different types.
        """
        return await steps.merge_entities(await self.engine(), self.caller, entity, other)

    async def split(
        self,
        entity: UUID | str,
        *,
        memories: Sequence[UUID | str] = (),
        aliases: Sequence[str] | str = (),
        name: str | None = None,
    ) -> EntityChange:
        """Make the part of an entity one of its own that some memories mention, or that goes by some of its names.

        `memories` are ids, `aliases` names that go with it, and the memories that use no other name of it. The new
        entity, `counterpart` of the answer, is called `name`, or as the first of the aliases.

        Raises:
            NotFound: it is not there, has no such name, or no such memory mentions it.
            InvalidInput: nothing would be left on one side, or the new entity lacks a name.
        """
        return await steps.split_entity(
            await self.engine(), self.caller, entity, memories=memories, aliases=aliases, name=name
        )

    async def add_alias(self, entity: UUID | str, alias: str) -> EntityChange:
        """Give an entity another name, by which memories will mean it.

        Raises:
            NotFound: it is not there.
            Conflict: it has that name, or the name is another entity's own.
        """
        return await steps.add_entity_alias(await self.engine(), self.caller, entity, alias)

    async def remove_alias(self, entity: UUID | str, alias: str) -> EntityChange:
        """Take a name from an entity; it is not learnt again. Memories that used it go on mentioning the entity.

        Raises:
            NotFound: it is not there, or has no such name.
            InvalidInput: it is the entity's own.
        """
        return await steps.remove_entity_alias(await self.engine(), self.caller, entity, alias)

    async def undo(self, change_id: UUID | str) -> EntityChange:
        """Put back what a merge, a split, or a change of names did, as it was.

        Raises:
            NotFound: there is no such change.
            Conflict: it was undone, a later change stands in the way, or what it was about is forgotten.
        """
        return await steps.undo_entity_change(await self.engine(), self.caller, change_id)

    async def changes(
        self, *, entity: UUID | str | None = None, limit: int = 50, after: UUID | str | None = None
    ) -> Page[EntityChange]:
        """What was done to entities by hand, newest first; those that have to do with the entity of an id.

        Raises:
            InvalidInput: the limit is not from 1 to 1,000, or the id is none.
        """
        return await steps.entity_changes(await self.engine(), self.caller, entity=entity, limit=limit, after=after)
