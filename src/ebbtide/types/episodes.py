"""The values of conversations: turns, the branches they are on, and what a summary tells of them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from ebbtide.types.base import Value
from ebbtide.types.memory import Memory

__all__ = ["Branch", "Chat", "Episode", "Turn", "role_of"]


class Turn(Value):
    """One turn of a conversation, which is a memory at a place.

    `branch` is the one it was said on, which others may share. `place` grows along a branch, from 0, with gaps. `role`
    is that of the memory's metadata, such as user or assistant, where it has one. `at` is when it was observed, or else
    written.
    """

    branch: str
    place: int
    role: str | None
    speaker: str | None
    content: str
    at: datetime
    memory: Memory

    @property
    def id(self) -> UUID:
        """The id of the memory."""
        return self.memory.id


class Branch(Value):
    """One branch of a conversation.

    It has the turns of its `parent` up to the place `forked_after`, -1 for none of them, and `turns` of its own. To a
    policed handle that is the last place of a turn that it may read.
    `main`, which every chat begins with, has no parent. `last_at` is when the last of its own turns was written.
    Its name may be read by whoever may read its `namespace`, None for `main`, or one of its own turns; where that is
    not so of its parent, `parent` is the nearest one back for which it is.
    """

    chat: str
    name: str
    parent: str | None
    forked_after: int | None
    namespace: str | None
    turns: int
    created_at: datetime | None
    last_at: datetime | None


class Chat(Value):
    """A conversation: how many branches and turns it has, and when the last turn was written."""

    chat: str
    branches: int
    turns: int
    last_at: datetime


class Episode(Value):
    """The summary of a branch, and what became of it.

    `stored` is new, `revised` goes on from the one before, `unchanged` had nothing new to tell; `nothing` was said, or
    may be read, so there is none; the rules on personal data `dropped` it or put it in `quarantined`. `turns` are all
    it tells of, `new_turns` those it did not before. `by` is the chat model, or the extraction of sentences.
    """

    outcome: Literal["stored", "revised", "unchanged", "nothing", "dropped", "quarantined"]
    memory: Memory | None
    turns: int = 0
    new_turns: int = 0
    topics: tuple[str, ...] = ()
    by: Literal["model", "extract"] | None = None


def role_of(memory: Memory) -> str | None:
    """Who spoke: what the metadata says, else the user in the input of a run and the assistant in its output."""
    given = memory.metadata.get("role")
    if isinstance(given, str):
        return given
    roles = (("run_input", "user"), ("run_output", "assistant"))
    return next((role for tag, role in roles if tag in memory.tags), None)
