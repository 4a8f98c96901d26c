"""What is searched for, where and how: what every step reads from the candidates on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.read.words import Terms
    from ebbtide.settings import Settings

__all__ = ["Search"]


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for, where and how.

    `terms` are the words of the question. `directions` are its vector and those of its parts as the driver sends them,
    None for one that cannot be made.
    """

    scope: Scope
    profile: Profile
    question: Question
    terms: Terms
    directions: Sequence[Any]
    route: Route
    rules: RuleBook
    settings: Settings

    @property
    def vector(self) -> Any:
        """The vector of the question itself."""
        return self.directions[0]

    @property
    def moment(self) -> float:
        """The moment it is of, in seconds since 1970 UTC."""
        return (self.scope.as_of or self.scope.now).timestamp()
