"""handle.episodes: conversations with branches."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ebbtide.groups.base import Group
from ebbtide.paths import episodes, summaries
from ebbtide.types.base import Page
from ebbtide.types.episodes import Branch, Chat, Episode, Turn
from ebbtide.types.memory import Remembered

__all__ = ["AsyncEpisodes"]


class AsyncEpisodes(Group):
    """Conversations as trees of turns. A turn is a memory of kind `message`; a branch shares the past of another one.

    `chat` and `branch` are the handle's unless given; the first branch of every chat is `main`.
    """

    async def add(
        self, content: str, *, role: str = "user", chat: str | None = None, branch: str | None = None, **fields: Any
    ) -> Remembered:
        """Say something at the end of a branch; messages remembered in a chat become turns of it too.

        `role` is user, assistant, system or tool. `fields` are arguments of `remember`, such as `speaker`,
        `observed_at`, `namespace` or `idempotency_key`.

        Raises:
            InvalidInput: a value is not acceptable, or there is no chat.
            NotFound: the chat has no such branch.
            ModelError: the embedder failed.
        """
        return await episodes.add(
            await self.engine(), self.caller, content, role=role, chat=chat, branch=branch, **fields
        )

    async def fork(
        self,
        chat: str | None = None,
        at: UUID | str | None = None,
        *,
        branch: str | None = None,
        name: str | None = None,
        namespace: str | None = None,
    ) -> Branch:
        """Begin a branch that goes on after the turn `at`, or else after the last one of `branch`.

        To give an answer anew, fork at the turn before it. The new branch has everything said until then, and nothing
        that was said afterwards. It is called `name`, or by its number. Who may read what lies in `namespace`, that
        where the handle writes unless given, may know of it, and so may who reads what is said on it; to others there
        is no such branch.

        Raises:
            InvalidInput: a name is not acceptable, or holds personal data that the namespace does not keep, or there is
                no chat.
            NotFound: the chat has no such turn or branch.
            Conflict: the chat has a branch of that name of which the caller may know.
            Forbidden: the policy does not let the caller write there.
        """
        return await episodes.fork(
            await self.engine(), self.caller, chat=chat, at=at, branch=branch, name=name, namespace=namespace
        )

    async def branches(self, chat: str | None = None) -> list[Branch]:
        """The branches of a chat, `main` first, then in the order in which they were begun.

        Those of which nothing may be read, neither a turn nor where they were begun, are left out.

        Raises:
            InvalidInput: there is no chat.
        """
        return await episodes.branches(await self.engine(), self.caller, chat=chat)

    async def chats(self, *, limit: int = 50, after: str | None = None) -> Page[Chat]:
        """The chats in which something was said, the last one first.

        `limit` goes from 1 to 1,000, `after` is the name of the last one seen.

        Raises:
            InvalidInput: the limit is out of its range.
            NotFound: nothing is left of the last one seen that may be read.
        """
        return await episodes.chats(await self.engine(), self.caller, limit=limit, after=after)

    async def transcript(self, chat: str | None = None, branch: str | None = None, *, limit: int = 1_000) -> list[Turn]:
        """The last turns of a branch in their order, the past that it shares among them; `limit` is at most 10,000.

        Turns that no recall would show, such as expired or quarantined ones, are left out.

        Raises:
            InvalidInput: there is no chat, or the limit is out of its range.
            NotFound: the chat has no such branch.
        """
        return await episodes.transcript(await self.engine(), self.caller, chat=chat, branch=branch, limit=limit)

    async def summarise(self, chat: str | None = None, branch: str | None = None, *, anew: bool = False) -> Episode:
        """Summarise a branch, or go on with its summary: only turns that it does not tell of are read for that.

        The summary is one memory of kind `episode`, which is revised as the branch goes on, and goes with any turn
        that it tells of. It stands in the namespace of the first turn that was said on the branch, or where the branch
        was begun while nothing was, and tells of the turns there. The chat model that the setting `summariser` names
        writes it; without one it is made of the sentences of the turns. A branch without a summary goes on from that of
        the past that it shares. `anew` tells everything again.

        Raises:
            InvalidInput: there is no chat.
            NotFound: the chat has no such branch.
            Forbidden: the policy does not let the caller write there.
            StaleRevision: turns were forgotten or changed again and again meanwhile.
            ModelError: the model or the embedder failed; the summary is as it was.
        """
        return await summaries.summarise(await self.engine(), self.caller, chat=chat, branch=branch, anew=anew)
