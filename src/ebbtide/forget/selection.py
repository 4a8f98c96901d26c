"""Which memories are meant to be forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.errors import InvalidInput
from ebbtide.govern.namespaces import read_scope
from ebbtide.identifiers import parse_id
from ebbtide.read.where import Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.read.scope import Scope

__all__ = [
    "check_ids",
    "filter_form",
    "is_empty",
    "user_patterns",
]

MOST_IDS = 100_000


def check_ids(ids: Any) -> list[UUID]:
    """Ids from UUIDs or their texts, each once, in order.

    Raises:
        InvalidInput: it is no list of at least one id.
    """
    listed = isinstance(ids, Iterable) and not isinstance(ids, str)
    given: list[Any] = list(islice(cast("Iterable[Any]", ids), MOST_IDS + 1)) if listed else []
    if not 0 < len(given) <= MOST_IDS:
        raise InvalidInput("ids must be a list of ids.", field="ids", remedy=f"Give 1 to {MOST_IDS:,} of them.")
    return sorted({parse_id(id_, "ids") for id_ in given})


def filter_form(given: Filter | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A filter as the object that says it; None for an empty one, and what is none as it is, to be refused."""
    form = given.form if isinstance(given, Filter) else given
    return None if isinstance(form, Mapping) and not form else form


def is_empty(scope: Scope, ids: Sequence[UUID] | None) -> bool:
    """Whether nothing narrows down which of the memories that the caller can read are meant."""
    everywhere = scope.namespaces.everything or scope.namespaces == read_scope(None, scope.caller)
    return ids is None and scope.unfiltered and everywhere


def user_patterns(user: str) -> dict[str, list[str]]:
    """The namespaces that are a user's own: `vector.agent.<user>`, `vector.user.<user>` and all below."""
    roots = [f"vector.agent.{user}", f"vector.user.{user}"]
    return {"exact": roots, "prefixes": [f"{root}." for root in roots]}
