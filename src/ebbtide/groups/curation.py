"""The verbs of curation, which every handle has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ebbtide.paths import consolidation, markdown, repair
from ebbtide.read.where import Filter
from ebbtide.types.curation import Consolidation, MarkdownExport, Reconciliation
from ebbtide.types.recall import TagFilter

if TYPE_CHECKING:
    from ebbtide.groups.base import Handle

__all__ = ["CurationVerbs"]


class CurationVerbs:
    """Keeping a store in order: duplicates merged, derived rows repaired, memories written out for people."""

    async def consolidate(
        self: Handle,
        *,
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        by: str = "rules",
        dry_run: bool = True,
        token: str | None = None,
    ) -> Consolidation:
        """Show which near duplicates of a scope would become one and, with the token of that dry run, merge just these.

        Of two memories that were linked as near duplicates the fuller one stays: the one that a person confirmed, else
        the one of more words, else the longer. It gets the tags, labels, metadata and mentions of both, the
        greater importance and confidence, the earlier creation and the later mention, and supersedes the other, which
        `separate` brings back. Both have to say the same of one user, subject and time, word by word: a number, a name
        or a negation more keeps them apart. A hundred merges are a transaction; what was changed since the dry run is
        left as it was and is in `unmerged`.

        By a model, the chat model of the setting `consolidator` is asked for one text that keeps all that the near
        duplicates say. It is written as a memory of its own that supersedes them, with the marks and the relations of
        all, each in a transaction of its own, unless they changed meanwhile; `provenance` names them. It goes when one
        of them is forgotten, and the others hold again. A text that has another number, date, name or negation than its
        sources, leaves out what one says or adds to it is not taken: the group is left as it was and is in `unmerged`
        with the reason, as one for which the model failed. What a person confirmed is not told anew, nor are those
        that end at different moments. At most 50 groups are told in a call; `waiting` counts the others.

        Args:
            namespaces, kinds, labels, tags, where: as in `recall`.
            by: `rules` or `model`; a token is for the way that it was made by.
            dry_run: only show.
            token: what the dry run gave; it holds for 15 minutes.

        Raises:
            InvalidInput: a filter is malformed, a real run has no token, or no model is set.
            Conflict: the token has expired, or there is something else to merge now; nothing was done.
            Forbidden: the policy does not let the caller change one of them.
        """
        return await consolidation.consolidate(
            await self.engine(), self.caller, namespaces=namespaces, kinds=kinds, labels=labels, tags=tags,
            where=where, by=by, dry_run=dry_run, token=token,
        )  # fmt: skip

    async def reconcile(self: Handle, *, dry_run: bool = True) -> Reconciliation:
        """Repair what is derived from the tenant's memories: vectors, counts of tokens, rows that lost their reason.

        A dry run counts what would be repaired. Nothing that a memory says is changed, and a second run repairs
        nothing more.

        Raises:
            ModelError: the embedder failed; what was repaired until then stays so.
        """
        return await repair.reconcile(await self.engine(), self.caller, dry_run=dry_run)

    async def export_markdown(
        self: Handle,
        folder: str | Path,
        *,
        by: str = "namespace",
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> MarkdownExport:
        """Write the memories of a scope that hold now as Markdown, a file for each namespace, kind or entity.

        A file's front matter has the id, revision and dates of each memory; each is a quotation below its id. The
        same memories give the same bytes. The folder has its name only once it is whole; an earlier export
        is replaced, and nothing else ever is. What policies and rules keep from an export is not in it either.

        Args:
            folder: new, empty, or an earlier export.
            by: `namespace`, `kind` or `entity`; the last is a page for each entity, with all memories that mention it,
                what they say holds, and what they were made from. What mentions nobody is on none.
            namespaces, kinds, labels, tags, where: as in `recall`.
            progress: told now and then how many were written.

        Raises:
            InvalidInput: the folder holds something else or cannot be written, or an argument is malformed.
        """
        return await markdown.export_markdown(
            await self.engine(), self.caller, folder, by=by, namespaces=namespaces, kinds=kinds, labels=labels,
            tags=tags, where=where, progress=progress,
        )  # fmt: skip
