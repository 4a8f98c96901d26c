"""What is learnt from a recall: what the profile weighed of each memory that came back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ebbtide.rank.replay import readings_of as weighed_of
from ebbtide.rank.replay import signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from numpy.typing import NDArray

    from ebbtide.caches import Readings
    from ebbtide.rank.candidates import Floats
    from ebbtide.rank.profile import Profile
    from ebbtide.read.searched import Searched

__all__ = ["readings_of"]


def readings_of(searched: Searched, ids: Sequence[UUID]) -> Readings | None:
    """The readings of what comes back, to be worked out after the answer; None where a reranker had the last word."""
    if searched.rerank_scores is not None:
        return None
    kept = searched.selection.kept
    # A copy of the rows that came back: all candidates would be held in memory until they are written down.
    contributions = searched.scored.contributions[kept]
    places: list[int] = kept.tolist()
    returned = [searched.found.candidates.ids[place] for place in places]
    return partial(_readings, searched.profile, searched.scored.names, contributions, returned, ids)


def _readings(
    profile: Profile, names: tuple[str, ...], contributions: Floats, returned: Sequence[object], ids: Sequence[UUID]
) -> tuple[bytes, list[list[float] | None]]:
    weighed = dict(zip(returned, _single(weighed_of(profile, names, contributions)).tolist(), strict=True))
    return signature_of(profile), [weighed.get(id_) for id_ in ids]


def _single(values: Floats) -> NDArray[np.float32]:
    """The values as the log keeps them, in single precision; what is beyond it becomes its nearest, such as 0."""
    largest = np.finfo(np.float32).max
    with np.errstate(under="ignore"):
        return np.clip(values, -largest, largest).astype(np.float32)
