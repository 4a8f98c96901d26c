"""The time filter: a query about a time is answered from that time, unless it holds too little."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ebbtide.rank.gates import Stage

if TYPE_CHECKING:
    from ebbtide.rank.gates import Selection
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.scope import Scope

__all__ = ["FEWEST", "enough_of_it", "of_asked_time"]

# With fewer hits than that, or than are asked for, the time is no filter.
FEWEST = 3
# What is not among the hits because one of them says it already, or is newer.
ANSWERED = (Stage.KEPT, Stage.SUPERSEDED, Stage.DUPLICATE)


def of_asked_time(scope: Scope, profile: Profile, question: Question) -> Scope | None:
    """The scope's memories of the time a query asks about; None where that is no filter.

    The profile says for which queries it is one: for none, for those that ask about nothing but a time, or for all.
    """
    window = question.window
    if window is None or not (profile.time_filter == "always" or (profile.time_filter == "alone" and window.alone)):
        return None
    return replace(scope, of_time=tuple((span.start, span.end) for span in window.spans))


def enough_of_it(selection: Selection, profile: Profile) -> bool:
    """Whether the hits of the asked time are an answer: at least three or as many as are asked for.

    Under a profile whose filter is for queries about nothing but a time fewer are one too, where no threshold held
    anything of it back.
    """
    hits = len(selection.kept)
    if hits >= min(FEWEST, profile.limit):
        return True
    return hits > 0 and profile.time_filter == "alone" and bool(np.isin(selection.stage, ANSWERED).all())
