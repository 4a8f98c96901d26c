"""The verb that reads facts from texts, which every handle has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.govern.access import by_tool
from ebbtide.paths import extraction
from ebbtide.read.where import Filter
from ebbtide.types.extraction import Extraction
from ebbtide.types.recall import TagFilter

if TYPE_CHECKING:
    from ebbtide.groups.base import Handle

__all__ = ["ExtractVerbs"]


class ExtractVerbs:
    """What reads facts from texts."""

    async def extract(
        self: Handle,
        text: str | None = None,
        *,
        ids: Sequence[UUID | str] | UUID | str | None = None,
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        write: bool = True,
        extractor: str | None = None,
        speaker: str | None = None,
        observed_at: Any = None,
        namespace: str | None = None,
        session_revision: int | None = None,
        progress: Callable[[int], None] | None = None,
        tool: bool = False,
    ) -> Extraction:
        """Find the facts that a text or stored memories state, and remember each as a memory of its own.

        Each comes with the characters that say it. Facts go through the write path as any draft does: what is known
        already is a duplicate, so that this can be repeated, and what changed supersedes or conflicts. A fact of a
        stored memory lies in its namespace, and goes when the last memory that says it is forgotten. Who and what
        the memories mention is written down too.

        Args:
            text: what to read; or else
            ids: the memories to read; or else
            namespaces, kinds, labels, tags, where: which memories to read, as in `recall`.
            write: remember what is found; without, it is only told.
            extractor: `rules` or `model`; else the model where the setting `extractor` names one, and rules otherwise.
            speaker: whose "I" it is in a given text.
            observed_at: when a given text was noticed.
            namespace: where the facts of a given text go.
            session_revision: what `session_revision()` was when the work on this began.
            progress: called with how many texts are read.
            tool: a language model's tool asks for it.

        Raises:
            InvalidInput: a value is not acceptable, or not exactly one of a text, ids and a scope is given.
            NotFound: the agent has no memory of one of the ids.
            StaleRevision: a memory was changed or forgotten while it was read.
            Forbidden: the policy does not let the caller read or write there.
        """
        return await extraction.extract(
            await self.engine(), by_tool(self.caller, tool), text, ids=ids, namespaces=namespaces, kinds=kinds,
            labels=labels, tags=tags, where=where, write=write, extractor=extractor, speaker=speaker,
            observed_at=observed_at, namespace=namespace, session_revision=session_revision, progress=progress,
        )  # fmt: skip
