"""The verbs of a memory's later life, which every handle has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from ebbtide.paths import context as contexts
from ebbtide.paths import lifecycle, manage, sessions
from ebbtide.types.context import Engagement
from ebbtide.types.evidence import Provenance
from ebbtide.types.memory import Memory, Remembered

if TYPE_CHECKING:
    from ebbtide.groups.base import Handle

__all__ = ["LifecycleVerbs"]


class LifecycleVerbs:
    """What can be done with a memory after it was written. Each change keeps the old image and raises the revision."""

    async def provenance(self: Handle, memory_id: UUID | str) -> Provenance:
        """What a memory was made from, such as the turns of a summary, and what was made from it.

        What was made goes when its sources are forgotten: a `whole` memory with any of them, another with the last.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
        """
        return await manage.provenance(await self.engine(), self.caller, memory_id)

    async def supersede(
        self: Handle,
        old_id: UUID | str,
        content: str,
        *,
        allow_pending: bool = False,
        session_revision: int | None = None,
        **fields: Any,
    ) -> Remembered:
        """Remember what holds in the place of a memory, or of what replaced it meanwhile.

        The old one's validity ends where the new one's starts; it stays readable by its id, and in the past. The new
        one inherits at least its importance. `fields` are the other arguments of `remember`.

        Raises:
            InvalidInput: a value is not acceptable; the error names the field.
            NotFound: the agent has no memory `old_id`, or it was forgotten.
            StaleRevision: something of the handle's session was forgotten since `session_revision`.
            ModelError: the embedder failed.
        """
        return await lifecycle.supersede(
            await self.engine(), self.caller, old_id, content, allow_pending=allow_pending,
            session_revision=session_revision, **fields,
        )  # fmt: skip

    async def invalidate(
        self: Handle, memory_id: UUID | str, at: Any = None, expected_revision: int | None = None
    ) -> Memory:
        """Say that a memory was wrong: it is recalled no more, and no `valid_at` gives it as true.

        Only `as_of` a moment before still shows it, since that is what the store knew then; `get` and `history` keep
        it. Where `at` is given the memory was not wrong but ceased to be true: it is recalled for moments before `at`,
        and keeps its maturity.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
            StaleRevision: it is not at `expected_revision`.
        """
        return await lifecycle.invalidate(
            await self.engine(), self.caller, memory_id, at=at, expected_revision=expected_revision
        )

    async def restore(self: Handle, memory_id: UUID | str, expected_revision: int | None = None) -> Memory:
        """Let a memory hold again that was invalidated, archived, quarantined or soft-deleted, or has expired.

        It becomes active and unconfirmed, with an open end. What was superseded can be restored once its successor
        holds no longer, that is, was forgotten, invalidated or put away, or has expired. What holds already is left
        alone.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten: that cannot be undone.
            StaleRevision: it is not at `expected_revision`.
            Conflict: its successor holds, or another live memory of the namespace says just that.
        """
        return await lifecycle.restore(await self.engine(), self.caller, memory_id, expected_revision=expected_revision)

    async def separate(self: Handle, memory_id: UUID | str, expected_revision: int | None = None) -> Memory:
        """Say that a memory was not replaced by its successor, which the store may have found by itself: both hold.

        It is unconfirmed and has an open end again; whether it is active stays as it was. The successor is left alone.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
            StaleRevision: it is not at `expected_revision`.
            Conflict: nothing superseded it, or another live memory of the namespace says just that.
        """
        return await lifecycle.separate(
            await self.engine(), self.caller, memory_id, expected_revision=expected_revision
        )

    async def confirm(self: Handle, memory_id: UUID | str, expected_revision: int | None = None) -> Memory:
        """Say that a person has verified a memory, as the context block will tell; confirming again renews the date.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
            StaleRevision: it is not at `expected_revision`.
            Conflict: it was superseded, invalidated or put away.
        """
        return await lifecycle.confirm(await self.engine(), self.caller, memory_id, expected_revision=expected_revision)

    async def update_importance(
        self: Handle, memory_id: UUID | str, value: float, expected_revision: int | None = None
    ) -> Memory:
        """Override how much a memory matters, from 0 to 1; what supersedes it inherits at least that.

        Raises:
            InvalidInput: the value is not a number from 0 to 1.
            NotFound: the agent has no such memory, or it was forgotten.
            StaleRevision: it is not at `expected_revision`.
        """
        return await lifecycle.update_importance(
            await self.engine(), self.caller, memory_id, value, expected_revision=expected_revision
        )

    async def feedback(
        self: Handle,
        memory_id: UUID | str,
        rating: Literal["positive", "negative", "neutral"],
        *,
        recall: UUID | str | None = None,
    ) -> Memory:
        """Record whether a memory was of use where it came back; neither its content nor its revision changes.

        Usefulness is (positive + 1) / (positive + negative + 2): 0.5 at first, 2/3 after one positive rating. A neutral
        one is in the audit and moves nothing. `recall` is the `recall_id` of the answer that the memory came back in:
        a hit has one rating, which another one replaces and the same one again leaves alone, and `profiles.tune` learns
        from it.

        Raises:
            InvalidInput: the rating is none of the three.
            NotFound: the agent has no such memory, or it was forgotten; or the memory did not come back in a recall
                of that id that the handle's agent and user made and the log still has.
        """
        return await lifecycle.feedback(await self.engine(), self.caller, memory_id, rating, recall=recall)

    async def engaged(self: Handle, memory_ids: Sequence[UUID | str] | UUID | str, engaged: bool = True) -> Engagement:
        """Record that the user engaged with memories of other topics in a context block, or did not.

        `memory_ids` are those that the block names in `serendipity`; one call is one engagement. The next block has
        such memories where a draw from Beta(α, β) of all of them lies above a half.

        Raises:
            InvalidInput: no id is given, or one is none.
            NotFound: the agent has no such memory, or it was forgotten.
        """
        return await contexts.engaged(await self.engine(), self.caller, memory_ids, engaged)

    async def record_run(
        self: Handle,
        input: str,  # noqa: A002 - the name it has for the caller
        output: str,
        *,
        succeeded: bool = True,
        task: str | None = None,
        chat: str | None = None,
        session_revision: int | None = None,
        extract: bool | None = None,
    ) -> list[Remembered]:
        """Remember what was asked and answered in a run of the agent, in the default namespace; answers in that order.

        The request is kept from 80 characters on, the answer always, neither where the run failed. Both are messages,
        labelled episodic and tagged `run_input` and `run_output`. A context block within them is left out, and an
        answer that is nothing else is an echo. `task` and `chat` say where the run was, in place of the handle's.
        `extract` has a job read the facts of what is new, as `extract` does; without, the setting `extractor` decides.

        Raises:
            InvalidInput: a text or a name is not acceptable.
            StaleRevision: something of the handle's session was forgotten since `session_revision`.
            ModelError: the embedder failed.
        """
        return await lifecycle.record_run(
            await self.engine(), self.caller, input, output, succeeded=succeeded, task=task, chat=chat,
            session_revision=session_revision, extract=extract,
        )  # fmt: skip

    async def session_revision(self: Handle) -> int:
        """The revision of the handle's session, from 1 on; each forgetting of one of its memories raises it.

        Work that derives something from a session's memories captures this before it reads them, and gives it to
        `remember`, `remember_many`, `supersede`, `revise` or `record_run`: what comes late is refused with
        `StaleRevision`. Sessions of the same name of two agents have nothing to do with each other.

        Raises:
            InvalidInput: the handle has no session.
        """
        return await sessions.session_revision(await self.engine(), self.caller)
