"""The narrower searches that come before the one of the whole scope: the time asked about, and the likely types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ebbtide.read.routing import restrict
from ebbtide.read.timed import FEWEST, enough_of_it, of_asked_time

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.rank.gates import Selection
    from ebbtide.rank.profile import Profile
    from ebbtide.read.scope import Scope
    from ebbtide.read.search import Search
    from ebbtide.read.searched import Routed, TimeFilter

__all__ = ["Narrowing", "narrowest"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What is searched now, `within` the memories of the asked time, within the scope; each may be the next one.

    `routed` is what routing by types did, None where the profile has none of it.
    """

    scope: Scope
    timed: Scope
    within: Scope
    routed: Routed | None

    def wider(self, selection: Selection, profile: Profile) -> Narrowing | None:
        """What to search next, as this did not suffice; None where it did, or there is no more."""
        if self.within.mentioning is not None and self.routed is not None:
            if len(selection.kept) >= min(FEWEST, profile.limit):
                return None
            return replace(self, within=self.timed, routed=replace(self.routed, outcome="too_few"))
        if self.within is self.scope or enough_of_it(selection, profile):
            return None
        return replace(self, within=self.scope)

    @property
    def time_filter(self) -> TimeFilter:
        """What became of the profile's time filter, None where it is none for the query."""
        return None if self.timed is self.scope else "too_few" if self.within is self.scope else "applied"


async def narrowest(transaction: Transaction, search: Search) -> Narrowing:
    """What is searched first."""
    scope = search.scope
    timed = of_asked_time(scope, search.profile, search.question) or scope
    within, routed = await restrict(transaction, timed, search.profile, search.terms, search.route)
    return Narrowing(scope, timed, within, routed)
