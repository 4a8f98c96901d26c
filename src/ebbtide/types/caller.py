"""Who asks, and what a policy grants him."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

__all__ = [
    "Access",
    "Caller",
    "Grant",
]


@dataclass(frozen=True, slots=True)
class Grant:
    """What an agent's policy grants one caller, its templates filled in; the fields are those of `Policy`.

    `lacking` names the placeholder for which the caller gave no value, where `write` is None for that. `top_k` is None
    where no policy says it. `revision` is the tenant's when the policy was read.
    """

    read: tuple[str, ...] = ()
    tool_read: tuple[str, ...] = ()
    write: str | None = None
    allowed_write: tuple[str, ...] = ()
    lacking: str | None = None
    top_k: int | None = None
    min_score: float | None = None
    relative_cutoff: float | None = None
    profile: str | None = None
    allow_write: bool = False
    allow_tool_write: bool = False
    allow_tool_delete: bool = False
    revision: UUID | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a policed caller may do: its scopes, whether a tool asks for it, and what its policy grants once looked up.

    Without a grant nothing is readable and nothing writable.
    """

    scopes: frozenset[str]
    tool: bool = False
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the tenant is the wall, the agent owns the memories, the rest says on whose behalf and where.

    `access` polices the caller; without it, it is the owner's and may do everything. `branch` is one of the chat's.
    """

    tenant: str
    agent: str
    user: str | None = None
    task: str | None = None
    chat: str | None = None
    session: str | None = None
    timezone: str = "UTC"
    access: Access | None = None
    branch: str | None = None
