"""Legal holds: what may not be forgotten while they last."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_caller, check_text, check_texts
from ebbtide.errors import Held, InvalidInput, NotFound
from ebbtide.forget.selection import check_ids, filter_form, is_empty, user_patterns
from ebbtide.identifiers import new_id, parse_id
from ebbtide.read.scope import make_scope
from ebbtide.text import is_blank
from ebbtide.types.caller import Caller
from ebbtide.types.evidence import Hold

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.read.where import Filter

__all__ = ["as_hold", "covers_of", "held_among", "is_held", "keep_hold", "list_holds", "refuse_held", "release_hold"]

LONGEST_REASON = 2_000


def covers_of(
    caller: Caller,
    now: datetime,
    *,
    where: Filter | Mapping[str, Any] | None,
    ids: Sequence[UUID | str] | None,
    user: str | None,
    narrowed: Mapping[str, Any],
) -> dict[str, Any]:
    """What a hold covers, as it is kept: ids, a user, or the arguments of a filter and the agent it is about.

    Raises:
        InvalidInput: none or several of the three were given, or one is malformed.
    """
    narrowing: dict[str, Any] = {
        name: value for name, value in {"where": filter_form(where), **narrowed}.items() if value is not None
    }
    if sum([ids is not None, user is not None, bool(narrowing)]) != 1:
        raise InvalidInput(
            "A hold covers ids, or a user, or what meets a filter.", field="where", remedy="Give just one of them."
        )
    if ids is not None:
        return {"ids": [str(id_) for id_ in check_ids(ids)]}
    if user is not None:
        return {"user": check_caller(Caller(caller.tenant, caller.agent, user)).user}
    if is_empty(make_scope(caller, now, **narrowing), None) and "namespaces" not in narrowing:
        raise InvalidInput(
            "The filter is empty.", field="where", remedy="Say what is held, or the namespaces * for all."
        )
    kept: dict[str, Any] = {
        name: value if isinstance(value, str | Mapping) else list(check_texts(value, name))
        for name, value in narrowing.items()
    }
    # As it will be read again: moments are texts then.
    return json.loads(json.dumps({"agent": caller.agent, "speaks_for": caller.user, "arguments": kept}, default=str))


async def keep_hold(
    transaction: Transaction, tenant: str, reason: Any, covers: Mapping[str, Any], now: datetime
) -> Hold:
    """Begin a hold.

    Raises:
        InvalidInput: there is no reason.
        NotFound: an id is of no memory.
    """
    text = check_text(reason, "reason", LONGEST_REASON).strip()
    if is_blank(text):
        raise InvalidInput("A hold needs a reason.", field="reason", remedy="Say why, or name the case.")
    if "ids" in covers:
        ids = [UUID(id_) for id_ in covers["ids"]]
        known = {row.id for row in await transaction.named("forget.doomed", tenant=tenant, ids=ids)}
        unknown = next((id_ for id_ in ids if id_ not in known), None)
        if unknown is not None:
            raise NotFound(f"There is no memory {unknown}.", field="ids", remedy="Hold what is there.")
    hold = Hold(id=new_id(now), reason=text, covers=dict(covers), placed_at=now)
    await transaction.run(
        "forget.place_hold", tenant=tenant, id=hold.id, reason=text, covers=json.dumps(hold.covers), now=now
    )
    return hold


async def list_holds(transaction: Transaction, tenant: str, *, released: bool = False) -> list[Hold]:
    """Holds, the newest first: those that last, or with `released` all there ever were."""
    return [as_hold(row) for row in await transaction.named("forget.holds", tenant=tenant, released=released)]


async def release_hold(transaction: Transaction, tenant: str, hold_id: UUID | str, now: datetime) -> Hold:
    """End a hold.

    Raises:
        NotFound: no such hold lasts.
    """
    id_ = parse_id(hold_id, "hold_id")
    rows = await transaction.named("forget.release_hold", tenant=tenant, id=id_, now=now)
    if not rows:
        raise NotFound(f"No hold {id_} lasts.", field="hold_id", remedy="List the holds to see which do.")
    return as_hold(rows[0])


def as_hold(row: Any) -> Hold:
    """A hold from its row."""
    return Hold(**row._asdict())


async def held_among(transaction: Transaction, tenant: str, ids: Sequence[UUID], now: datetime) -> dict[UUID, Hold]:
    """Which of the memories may not be forgotten, each with a hold that says so."""
    held: dict[UUID, Hold] = {}
    if ids:
        for hold in await list_holds(transaction, tenant):
            for id_ in await _covered(transaction, tenant, hold, ids, now):
                held.setdefault(id_, hold)
    return held


async def _covered(transaction: Transaction, tenant: str, hold: Hold, ids: Sequence[UUID], now: datetime) -> list[UUID]:
    covers = hold.covers
    if "ids" in covers:
        named = set(covers["ids"])
        return [id_ for id_ in ids if str(id_) in named]
    if "user" in covers:
        found = await transaction.all(
            "forget.of_user_among", tenant=tenant, user=covers["user"], ids=list(ids), **user_patterns(covers["user"])
        )
    else:
        caller = Caller(tenant, covers["agent"], covers["speaks_for"])
        scope = make_scope(caller, now, **covers["arguments"])
        found = await transaction.all("forget.matching_among", **scope.parameters(), ids=list(ids))
    return [row[0] for row in found]


async def refuse_held(transaction: Transaction, tenant: str, ids: Sequence[UUID], now: datetime) -> None:
    """Refuse to go on where a hold covers one of the memories.

    Raises:
        Held: naming a hold, never its reason.
    """
    held = await held_among(transaction, tenant, ids, now)
    if held:
        first, hold = next(iter(held.items()))
        raise is_held(f"{len(held)} of {len(ids)} memories are" if len(ids) > 1 else f"The memory {first} is", hold)


def is_held(what: str, hold: Hold) -> Held:
    """The error that names a hold."""
    return Held(f"{what} under the legal hold {hold.id}.", field="hold", remedy="Release the hold first, if you may.")
