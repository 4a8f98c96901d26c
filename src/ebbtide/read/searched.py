"""Everything one search came to know; hits, traces and explanations are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.gates import Selection
    from ebbtide.rank.profile import Profile
    from ebbtide.rank.score import Scored
    from ebbtide.read.candidates import Found, Terms
    from ebbtide.read.question import Question
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.types import Memory

__all__ = ["Searched"]


@dataclass(frozen=True, slots=True)
class Searched:
    """Everything one search came to know; hits, traces and explanations are made of it."""

    scope: Scope
    profile: Profile
    question: Question
    terms: Terms
    route: Route
    vector: Any
    found: Found
    scored: Scored
    selection: Selection
    memories: Mapping[UUID, Memory]
    rules: RuleBook
    notes: tuple[str, ...]
    milliseconds: Mapping[str, float]
