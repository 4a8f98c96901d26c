"""What is told of documents: the files that were read, and what is remembered of them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ebbtide.types.base import Value

__all__ = ["Document", "FileStatus", "Ingested", "IngestedFile", "Passage"]

FileStatus = Literal["stored", "updated", "unchanged", "skipped", "failed"]


class Passage(Value):
    """A passage of a document: the memory it is, and where it stands.

    `position` counts from 0. `first` and `last` are lines, or pages of a PDF, from 1, both included. All three are None
    for one that the document holds no more and that a legal hold keeps. `breadcrumb` are the headings above it.
    """

    id: UUID
    position: int | None
    first: int | None
    last: int | None
    breadcrumb: str
    content: str


class Document(Value):
    """A file or a text whose passages are remembered.

    `passages` is how many there are. It is not `complete` while it is being read, after that was interrupted, where it
    came by an import, and where a legal hold kept something of an earlier version: ingesting it again completes it.
    `contents` are the passages in their order, where one document was asked for, and `next` is the `after` of the
    following ones, None where there are no more.
    """

    id: UUID
    path: str
    namespace: str
    title: str
    media: str
    passages: int
    complete: bool
    created_at: datetime
    updated_at: datetime
    contents: tuple[Passage, ...] = Field((), exclude_if=lambda value: not value)
    next: UUID | None = None


class IngestedFile(Value):
    """What became of one file.

    `stored` is new, `updated` another version of what was there, `unchanged` the same one. A `skipped` file is none
    that is read: `hidden`, `link`, `binary`, `empty`, `excluded`, `not included`, `no document`. A `failed` one could
    not be: `unreadable`, `damaged`, `encrypted`, `no text`, `wrong type`, `too large`, or the code of an error such as
    `forbidden`. What is remembered of an earlier version of it stays. `reason` is that word and `message` says it in a
    sentence.

    Of its passages `new` were stored now, and `kept` were there already and were not embedded again; `forgotten` were
    in the earlier version alone, of which a legal hold kept `held`. `dropped` were not stored and `quarantined` are not
    found, both for the personal data in them.
    """

    path: str
    namespace: str
    status: FileStatus
    document: UUID | None = None
    media: str | None = None
    reason: str | None = None
    message: str | None = None
    new: int = 0
    kept: int = 0
    forgotten: int = 0
    held: int = 0
    dropped: int = 0
    quarantined: int = 0
    warnings: tuple[str, ...] = ()


class Ingested(Value):
    """What became of everything that was to be ingested.

    `gone` are documents whose files are in their folder no more: they stay, unless they were `forgotten` because
    `sync` was given the `token` of a look at them.
    """

    files: tuple[IngestedFile, ...]
    gone: tuple[Document, ...] = ()
    forgotten: tuple[UUID, ...] = ()
    token: str | None = None
    dry_run: bool = False

    @property
    def failed(self) -> tuple[IngestedFile, ...]:
        """The files of which nothing could be remembered."""
        return tuple(one for one in self.files if one.status == "failed")
