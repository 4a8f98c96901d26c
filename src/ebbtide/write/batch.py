"""The drafts of one call on their way into the store, with all that is known of each before the transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.types.memory import Outcome
    from ebbtide.write.origins import Origin
    from ebbtide.write.relation import Relation
    from ebbtide.write.validate import Checked

__all__ = ["Batch", "Withheld"]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A draft of which nothing is stored: its place in the call, what became of it, and the kinds found in it."""

    place: int
    draft: Checked
    body: bytes
    outcome: Outcome
    personal_data: tuple[str, ...] = ()


@dataclass(slots=True)
class Batch:
    """The drafts that are to be memories, each at the same position in every list, and those that are not.

    Attributes:
        places: where each stood in the call.
        drafts: each as it will be stored.
        bodies: what must be the same when its idempotency key is used again; empty where it has none.
        hashes: of its content.
        vectors: of norm 1, None where there is none (yet).
        tokens: of its content, None where nobody counted; empty before they are.
        personal_data: the kinds of personal data that it holds.
        statuses: `active`, or `quarantined`.
        relations: what they are to other statements.
        compared: for those that state a property of a subject, by position, which memories state one of it too.
        origins: what each was made from, None where somebody said it.
        withheld: the drafts of which nothing is stored.
    """

    places: list[int] = field(default_factory=list[int])
    drafts: list[Checked] = field(default_factory=list["Checked"])
    bodies: list[bytes] = field(default_factory=list[bytes])
    hashes: list[bytes] = field(default_factory=list[bytes])
    vectors: list[NDArray[np.float32] | None] = field(default_factory=list["NDArray[np.float32] | None"])
    tokens: Sequence[int | None] = ()
    personal_data: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    statuses: list[str] = field(default_factory=list[str])
    relations: Sequence[Relation] = ()
    compared: Mapping[int, set[UUID]] = field(default_factory=dict[int, "set[UUID]"])
    origins: list[Origin | None] = field(default_factory=list["Origin | None"])
    withheld: list[Withheld] = field(default_factory=list[Withheld])

    def identities(self) -> list[tuple[str, bytes]]:
        """Namespace and hash of each draft: what makes two of them the same statement."""
        return [(draft.namespace, digest) for draft, digest in zip(self.drafts, self.hashes, strict=True)]
