"""The values of forgetting and its proof: receipts, erasures, holds, and the audit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from pydantic import Field

from ebbtide.types.base import Value

__all__ = [
    "AUDIT_ACTIONS",
    "AuditAction",
    "AuditCheck",
    "AuditEntry",
    "Candidate",
    "Curve",
    "CurvePoint",
    "Erasure",
    "Faded",
    "FadingPlan",
    "FadingRun",
    "Forgetting",
    "Hold",
    "Receipt",
    "ReceiptCheck",
]

AuditAction = Literal["read", "write", "update", "delete", "status", "warning"]
AUDIT_ACTIONS: tuple[str, ...] = get_args(AuditAction)


class _Link(Value):
    """A link of a tenant's chain of receipts: digest = sha256(previous digest || body), both digests in hex."""

    receipt_id: UUID
    number: int = 0
    previous_digest: str = ""
    digest: str = ""


class Receipt(_Link):
    """Proof that one memory was forgotten.

    `revision` is the one that the tombstone raised it to. `cleaned` counts the rows that went, by place.
    `content_digest` is HMAC-SHA256 of the hash of what was forgotten under a key that the store did not keep: nobody
    can find the content by trying. `opening` is that key, in the copy alone that `forget` answered with; whoever keeps
    it can show later what the receipt is about. `audit_ids` are the audit's rows of the deed.
    """

    id: UUID
    revision: int
    forgotten_at: datetime
    agent: str
    cleaned: dict[str, int]
    content_digest: str
    audit_ids: tuple[UUID, ...]
    subject: Literal["memory"] = "memory"
    opening: str | None = Field(None, repr=False, exclude=True)


class Erasure(_Link):
    """Proof that everything of a user, or of a whole tenant, was erased.

    `memories` is how many there were; their own receipts have the numbers from `first_receipt` to `last_receipt`, None
    where there were none. `cleaned` counts the rows that went, by place.
    """

    subject: Literal["user", "tenant"]
    user: str | None = None
    memories: int
    first_receipt: int | None
    last_receipt: int | None
    cleaned: dict[str, int]
    forgotten_at: datetime
    audit_ids: tuple[UUID, ...]


class Candidate(Value):
    """A memory that a filter meets: its revision, its place, and the first 200 characters of what it says."""

    id: UUID
    revision: int
    namespace: str
    kind: str
    excerpt: str


class Forgetting(Value):
    """What `forget_where` would forget, or forgot.

    `count` memories meet the filter, `ids` are theirs and `candidates` the first hundred; `derived` are those that were
    made from them alone and go along. A dry run gives a `token`
    that confirms just these at these revisions until `expires_at`; None where ids have to be named first. `receipts`
    are those of a real run.
    """

    dry_run: bool
    count: int
    ids: tuple[UUID, ...]
    derived: tuple[UUID, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    token: str | None = None
    expires_at: datetime | None = None
    receipts: tuple[Receipt, ...] = ()


class Provenance(Value):
    """What a memory was made from and what was made from it, as far as the caller may see either.

    A `whole` one, such as a summary, goes when any of its `sources` is forgotten; another one with the last of them.
    Without sources it was said, and stands for itself.
    """

    id: UUID
    sources: tuple[UUID, ...]
    whole: bool
    derived: tuple[UUID, ...]


class ReceiptCheck(Value):
    """Whether a receipt holds: `problems` says what is left or altered, `places` counts the rows left in each."""

    valid: bool
    problems: tuple[str, ...]
    places: dict[str, int]


class Hold(Value):
    """What may not be forgotten while the hold lasts: memories by their ids, all of a user, or all that meet a filter.

    `covers` is the object that says which: `{"ids": […]}`, `{"user": …}`, or the arguments of a filter and its agent.
    """

    id: UUID
    reason: str
    covers: dict[str, Any]
    placed_at: datetime
    released_at: datetime | None = None


class AuditEntry(Value):
    """One row of the audit: who did what to which memory, and when; never what it says. Numbers rise with time."""

    number: int
    id: UUID
    at: datetime
    agent: str
    user: str | None
    action: AuditAction
    memory_id: UUID | None
    detail: dict[str, Any]


class AuditCheck(Value):
    """Whether the audit is as it was written.

    `rows` are there, `unsealed` of them not covered by any of the `seals` yet. `head` is the last seal's digest in hex:
    kept elsewhere, it shows later that nothing was cut off the end.
    """

    valid: bool
    rows: int
    seals: int
    unsealed: int
    head: str | None
    problems: tuple[str, ...]


class CurvePoint(Value):
    """A point of a forgetting curve: the moment, days since the last use, and P and effective confidence in [0, 1]."""

    at: datetime
    days: float
    recall_probability: float
    effective_confidence: float


class Curve(Value):
    """Where a memory is on its forgetting curve.

    `half_life` is in days; it, `difficulty` and `stability` are what they have decayed to by now. `last_used_at` is the
    last recall, change, or import; `idle_days` count from it. `points` go from then over `now` into the future.
    `spared_by` says why the memory never fades: confirmed, superseded, invalidated, importance, kind, hold, or its
    status. `soft_delete_at` is the first nightly run to find it faded if nobody uses it, None for never; that deletes
    it only where `enabled`, that is where forgetting is on for the tenant.
    """

    id: UUID
    status: str
    enabled: bool
    now: datetime
    half_life: float
    difficulty: float
    stability: float
    confidence: float
    access_count: int
    last_used_at: datetime
    idle_days: float
    recall_probability: float
    effective_confidence: float
    spared_by: str | None = None
    soft_delete_at: datetime | None = None
    points: tuple[CurvePoint, ...]


class Faded(Value):
    """A memory that the next nightly run finds faded: `reason` is `idle` if unused for too long, else `confidence`."""

    id: UUID
    agent: str
    namespace: str
    kind: str
    idle_days: float
    effective_confidence: float
    reason: Literal["confidence", "idle"]


class FadingPlan(Value):
    """What the nightly run `at` the coming 03:37 UTC changes if nothing is used before, were forgetting on: `enabled`.

    `decaying` curves will have whole days to lose, which changes nothing that a recall sees. `soft_deletions` memories
    will have faded, the first of which are `memories`; `held` others too, and a legal hold spares them.
    """

    at: datetime
    enabled: bool
    decaying: int
    soft_deletions: int
    held: int
    memories: tuple[Faded, ...]


class FadingRun(Value):
    """What a run changed: curves that decayed, and memories that were deleted softly."""

    decayed: int
    soft_deleted: int
