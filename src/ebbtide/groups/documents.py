"""Ingesting files, which every handle does, and handle.documents: what is remembered of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from ebbtide.govern.access import by_tool
from ebbtide.groups.base import Group
from ebbtide.paths import documents
from ebbtide.types.base import Page
from ebbtide.types.documents import Document, Ingested
from ebbtide.types.evidence import Forgetting

if TYPE_CHECKING:
    from ebbtide.groups.base import Handle

__all__ = ["AsyncDocuments", "IngestVerbs"]


class IngestVerbs:
    """Remembering files."""

    async def ingest(
        self: Handle,
        source: str | Path | None = None,
        *,
        text: str | None = None,
        name: str | None = None,
        namespace: str | None = None,
        kind: Literal["chunk", "note"] = "chunk",
        title: str | None = None,
        tags: Sequence[str] | str = (),
        labels: Sequence[str] | str = (),
        observed_at: Any = None,
        max_tokens: int | None = None,
        include: Sequence[str] | str = (),
        exclude: Sequence[str] | str = (),
        sync: bool = False,
        token: str | None = None,
        dry_run: bool = False,
        allow_pending: bool = False,
        progress: Callable[[int, int], None] | None = None,
        tool: bool = False,
    ) -> Ingested:
        """Remember Markdown, plain text, HTML or PDF as passages, each with its headings and its place.

        A document is known by its namespace and path. Another version of it takes the place of the one before: what
        is in both is neither written nor embedded again, what is gone is forgotten for good. A killed ingest is
        completed by the next one. In a folder each file has an outcome of its own, and sub-folders are sub-namespaces;
        links are not followed.

        Args:
            source: the path of a file or a folder; a string with a line break is a text.
            text: a text, Markdown unless its name says otherwise.
            name: what the document is called in place of the path as given; a text has a name made of its hash.
            namespace: where it goes, as for `remember`.
            kind: chunk, which a context block shows among files, or note.
            title: of the document; else its front matter, its page or its first heading say it.
            tags, labels, observed_at: of every passage, as for `remember`; front matter adds its own tags and date.
            max_tokens: of a passage, from 16 to 4,096; 250 unless given, which is what the local model reads.
            include, exclude: patterns of paths or names in a folder, such as `*.md` and `drafts/*`.
            sync: also say which documents of the folder have no file any more, and with `token` forget those.
            token: what the look with `sync` gave; it holds for 15 minutes.
            dry_run: only say which files would be stored or updated.
            allow_pending: store passages although the embedder fails; a job makes the vectors later.
            progress: told the bytes that are read, and how many there are.
            tool: a language model's tool asks for it, which may give texts and no paths.

        Raises:
            InvalidInput: an argument is not acceptable, or there is nothing at the path.
            Forbidden: a tool gave a path.
            Conflict: the token has expired, or other files are gone now.
            ModelError: the embedder failed; ingesting it again goes on from there.
        """
        return await documents.ingest(
            await self.engine(), by_tool(self.caller, tool), source, text=text, name=name, namespace=namespace,
            kind=kind, title=title, tags=tags, labels=labels, observed_at=observed_at, max_tokens=max_tokens,
            include=include, exclude=exclude, sync=sync, token=token, dry_run=dry_run, allow_pending=allow_pending,
            progress=progress,
        )  # fmt: skip


class AsyncDocuments(Group):
    """Documents: the files and texts that were ingested. Of an earlier version nothing is kept."""

    async def list(
        self,
        *,
        namespaces: Sequence[str] | str | None = None,
        limit: int = 50,
        after: UUID | str | None = None,
        tool: bool = False,
    ) -> Page[Document]:
        """The documents in the order of namespace and path; `namespaces` are patterns as in `recall`.

        `limit` goes from 1 to 1,000, `after` is the id of the last one seen.

        Raises:
            InvalidInput: a pattern is malformed, or the limit out of range.
            NotFound: there is no document `after`.
        """
        return await documents.list_documents(
            await self.engine(), by_tool(self.caller, tool), namespaces=namespaces, limit=limit, after=after
        )

    async def get(
        self,
        document: UUID | str,
        *,
        namespace: str | None = None,
        limit: int = 50,
        after: UUID | str | None = None,
    ) -> Document:
        """A document by its id or its path, with the first of its passages in their order.

        `passages` of the answer says how many there are. `limit` goes from 1 to 1,000, `after` is the id of the last
        passage seen, to go on behind it.

        Raises:
            NotFound: the agent has no such document, or the document no passage `after`.
            InvalidInput: several namespaces have one at that path, and `namespace` does not say which is meant.
        """
        return await documents.get_document(
            await self.engine(), self.caller, document, namespace=namespace, limit=limit, after=after
        )

    async def forget(self, document: UUID | str, *, namespace: str | None = None, tool: bool = False) -> Forgetting:
        """Forget a document for good, with all its passages and what was made from them; answers with the receipts.

        A thousand passages go in a transaction; after an interruption the call can be repeated.

        Raises:
            NotFound: the agent has no such document.
            InvalidInput: several namespaces have one at that path, and `namespace` does not say which is meant.
            Held: a legal hold covers one of the passages; nothing was done.
        """
        return await documents.forget_document(
            await self.engine(), by_tool(self.caller, tool), document, namespace=namespace
        )
