"""Which memories are meant to be forgotten, and the token that confirms just these."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.errors import Conflict, InvalidInput
from ebbtide.govern.namespaces import read_scope
from ebbtide.identifiers import parse_id
from ebbtide.read.where import Filter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ebbtide.read.scope import Scope

__all__ = [
    "TOKEN_LIFE",
    "check_ids",
    "check_token",
    "confirmed_until",
    "filter_form",
    "is_empty",
    "make_token",
    "user_patterns",
]

TOKEN_LIFE = timedelta(minutes=15)
MOST_IDS = 100_000
LONGEST_MOMENT = len("99999999999")
UNRELATED = ("now", "valid_at", "as_of", "with_superseded")


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


def make_token(scope: Scope, ids: Sequence[UUID] | None, matched: Sequence[tuple[UUID, int]], ends: datetime) -> str:
    """What confirms that just the memories that were seen, at the revisions they had, are meant.

    It keeps from haste, not from malice: whoever may forget could make one.
    """
    asked = {name: value for name, value in scope.parameters().items() if name not in UNRELATED}
    meant = [asked, None if ids is None else [str(id_) for id_ in ids], [[str(id_), at] for id_, at in matched]]
    seconds = int(ends.timestamp())
    text = json.dumps([seconds, *meant], sort_keys=True, default=str)
    return f"{seconds}-{hashlib.sha256(text.encode()).hexdigest()}"


def confirmed_until(token: Any, now: datetime, deed: str, seen: str) -> datetime:
    """The moment until which the token of a dry run of `deed`, which showed what is `seen`, confirms it.

    Raises:
        InvalidInput: it is no token.
        Conflict: it has expired.
    """
    seconds = token.partition("-")[0] if isinstance(token, str) else ""
    if not (seconds.isascii() and seconds.isdigit()) or len(seconds) > LONGEST_MOMENT:
        raise InvalidInput(
            f"{deed} needs the token of a dry run.",
            field="token",
            remedy=f"Look first by a dry run at {seen}, and repeat with its token.",
        )
    ends = now + timedelta(seconds=int(seconds) - now.timestamp())
    if ends <= now:
        raise Conflict("The token has expired.", field="token", remedy="Look again by a dry run.")
    return ends


def check_token(
    token: Any, scope: Scope, ids: Sequence[UUID] | None, matched: Sequence[tuple[UUID, int]], now: datetime
) -> None:
    """Accept the token of a dry run that saw what there is now.

    Raises:
        InvalidInput: it is no token.
        Conflict: it has expired, or other memories, or other revisions of them, meet the filter now.
    """
    ends = confirmed_until(token, now, "Forgetting by a filter", "what would go")
    if not hmac.compare_digest(make_token(scope, ids, matched, ends).encode(), token.encode(errors="replace")):
        raise Conflict(
            "What the filter meets is not what the dry run saw.",
            field="token",
            remedy="Look again by a dry run; nothing was forgotten.",
        )
