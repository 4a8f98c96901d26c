"""What happens to a memory after it was written: replaced, invalidated, restored, confirmed, weighed, judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ebbtide.checks import check_flag, check_moment, check_text, check_word
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.govern.access import WRITE, rebound, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.identifiers import parse_id
from ebbtide.paths.manage import lock_memory, memory_seen, read_memory
from ebbtide.read.reinforce import flush
from ebbtide.read.seen import hidden_among
from ebbtide.remember import remember_many
from ebbtide.types.memory import Draft
from ebbtide.write.context import refresh_around
from ebbtide.write.echo import without_echo
from ebbtide.write.fence import read_session_revision
from ebbtide.write.stale import facts_changed
from ebbtide.write.validate import check_share
from ebbtide.write.wanted import extraction_of

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory, Remembered

__all__ = [
    "SHORTEST_RUN_INPUT",
    "confirm",
    "feedback",
    "invalidate",
    "record_run",
    "restore",
    "separate",
    "supersede",
    "update_importance",
]

RATINGS = ("positive", "negative", "neutral")
SHORTEST_RUN_INPUT = 80
"""Characters that a request must have to be kept: shorter ones are commands, such as “show mails”."""

STATE = ("status", "maturity", "confirmed_at", "invalidated_at", "expires_at", "superseded_by", "importance")


@dataclass(frozen=True, slots=True)
class Change:
    """New values of a memory's state, and the audit row that tells of them."""

    values: Mapping[str, Any]
    action: Literal["status", "update"]
    detail: Mapping[str, Any]


Decide = Callable[["Transaction", "Memory"], Awaitable[Change | None]]


async def change(
    engine: Engine,
    caller: Caller,
    memory_id: UUID | str,
    expected_revision: int | None,
    decide: Decide,
    now: datetime,
) -> Memory:
    """Lock a memory, decide on its new state, keep the old image, and write down what was done; None changes nothing.

    Raises:
        NotFound: the agent has no such memory, or it was forgotten.
        StaleRevision: it is not at `expected_revision`.
        Conflict: its state does not allow the change, or another live memory says the same.
    """
    id_ = parse_id(memory_id, "memory_id")
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("remember.lock", tenant=caller.tenant, ids=[id_])
        await lock_memory(transaction, caller, id_, expected_revision)
        before = await read_memory(transaction, caller, id_)
        shown = await memory_seen(engine, transaction, caller, id_)
        decided = await decide(transaction, before)
        if decided is None:
            return shown
        state = {name: decided.values.get(name, getattr(before, name)) for name in STATE}
        await transaction.run("remember.keep_version", tenant=caller.tenant, ids=[id_], now=now)
        try:
            await transaction.run(
                "lifecycle.change", tenant=caller.tenant, agent=caller.agent, id=id_, now=now, **state
            )
        except Conflict as error:
            raise Conflict(
                "Another live memory of this namespace says just that.",
                field="memory_id",
                remedy="Keep that one, or forget or supersede it first.",
            ) from error
        if state["status"] != before.status:
            await refresh_around(transaction, caller.tenant, [id_])
        detail = {**decided.detail, "revision": before.revision + 1}
        await write_audit(transaction, caller, decided.action, [(id_, detail)], now)
        after = await memory_seen(engine, transaction, caller, id_)
        if any(state[name] != getattr(before, name) for name in ("invalidated_at", "maturity", "superseded_by")):
            await facts_changed(transaction, caller, [id_], now)
    engine.scopes.forget(caller.tenant)
    return after


@requires(WRITE)
async def supersede(
    engine: Engine,
    caller: Caller,
    old_id: UUID | str,
    content: str,
    *,
    allow_pending: bool = False,
    session_revision: int | None = None,
    **fields: Any,
) -> Remembered:
    """Remember what holds in the place of a memory. See `AsyncEbbtide.supersede`."""
    draft = {**fields, "content": content, "supersedes": parse_id(old_id, "old_id")}
    return (
        await remember_many(engine, caller, [draft], allow_pending=allow_pending, session_revision=session_revision)
    )[0]


@requires(WRITE)
async def invalidate(
    engine: Engine, caller: Caller, memory_id: UUID | str, *, at: Any = None, expected_revision: int | None = None
) -> Memory:
    """Say that a memory was wrong, or `at` which moment it ceased to be true. See `AsyncEbbtide.invalidate`."""
    now = engine.clock.now()
    moment = check_moment(at, "at", caller.timezone)

    async def decide(_transaction: Transaction, memory: Memory) -> Change | None:
        if moment is not None:
            detail = {"operation": "invalidate", "from": _iso(memory.invalidated_at), "to": moment.isoformat()}
            return Change({"invalidated_at": moment}, "update", detail)
        if memory.maturity == "invalidated":
            return None
        # A superseded memory's validity has its end already, which a restoration needs again.
        ended = memory.invalidated_at if memory.superseded_by is not None else now
        return Change({"maturity": "invalidated", "invalidated_at": ended}, "status", _moved(memory, "invalidated"))

    return await change(engine, caller, memory_id, expected_revision, decide, now)


@requires(WRITE)
async def restore(
    engine: Engine, caller: Caller, memory_id: UUID | str, *, expected_revision: int | None = None
) -> Memory:
    """Let a memory hold again. See `AsyncEbbtide.restore`."""
    now = engine.clock.now()

    async def decide(transaction: Transaction, memory: Memory) -> Change | None:
        values: dict[str, Any] = {"status": "active"}
        successor = await _live_successor(transaction, caller, memory, now)
        if successor is not None and memory.maturity != "invalidated":
            hidden = await hidden_among(transaction, caller, [successor])
            raise Conflict(
                f"The memory was superseded by {'another' if hidden else successor}, which holds in its place.",
                field="memory_id",
                remedy="Where both hold, `separate` it; where it alone does, invalidate or forget the successor first.",
            )
        if successor is not None:
            values["maturity"] = "superseded"
        else:
            await transaction.run("conflict.unlink_update", tenant=caller.tenant, old_id=memory.id)
            values |= {"superseded_by": None, "invalidated_at": None}
            if memory.maturity in ("invalidated", "superseded"):
                values |= {"maturity": "unconfirmed", "confirmed_at": None}
        if memory.expires_at is not None and memory.expires_at <= now:
            values["expires_at"] = None
        if all(getattr(memory, name) == value for name, value in values.items()):
            return None
        maturity = values.get("maturity", memory.maturity)
        to = maturity if maturity != memory.maturity else "active"
        return Change(values, "status", _moved(memory, to))

    return await change(engine, caller, memory_id, expected_revision, decide, now)


@requires(WRITE)
async def separate(
    engine: Engine, caller: Caller, memory_id: UUID | str, *, expected_revision: int | None = None
) -> Memory:
    """Say that a memory was not replaced by its successor. See `AsyncEbbtide.separate`."""
    now = engine.clock.now()

    async def decide(transaction: Transaction, memory: Memory) -> Change | None:
        if memory.superseded_by is None:
            raise Conflict(
                "Nothing superseded the memory.", field="memory_id", remedy="Restore it if it holds no longer."
            )
        await transaction.run("conflict.unlink_update", tenant=caller.tenant, old_id=memory.id)
        values: dict[str, Any] = {"superseded_by": None}
        if memory.maturity == "superseded":
            values |= {"maturity": "unconfirmed", "confirmed_at": None, "invalidated_at": None}
        detail = {**_moved(memory, values.get("maturity", memory.maturity)), "operation": "separate"}
        return Change(values, "status", {**detail, "by": str(memory.superseded_by)})

    return await change(engine, caller, memory_id, expected_revision, decide, now)


@requires(WRITE)
async def confirm(
    engine: Engine, caller: Caller, memory_id: UUID | str, *, expected_revision: int | None = None
) -> Memory:
    """Say that a person has verified a memory. See `AsyncEbbtide.confirm`."""
    now = engine.clock.now()

    async def decide(_transaction: Transaction, memory: Memory) -> Change | None:
        if memory.maturity in ("superseded", "invalidated") or memory.status != "active":
            state = memory.maturity if memory.status == "active" else memory.status
            raise Conflict(
                f"The memory is {state}; only what holds can be confirmed.",
                field="memory_id",
                remedy="Restore it first, or confirm its successor.",
            )
        return Change({"maturity": "confirmed", "confirmed_at": now}, "status", _moved(memory, "confirmed"))

    return await change(engine, caller, memory_id, expected_revision, decide, now)


@requires(WRITE)
async def update_importance(
    engine: Engine, caller: Caller, memory_id: UUID | str, value: float, *, expected_revision: int | None = None
) -> Memory:
    """Override how much a memory matters. See `AsyncEbbtide.update_importance`."""
    now = engine.clock.now()
    if value is None:
        raise InvalidInput("value must be a number from 0 to 1.", field="value", remedy="Give a number such as 0.7.")
    importance = check_share(value, 0.0, "value")

    async def decide(_transaction: Transaction, memory: Memory) -> Change | None:
        if memory.importance == importance:
            return None
        detail = {"operation": "importance", "from": memory.importance, "to": importance}
        return Change({"importance": importance}, "update", detail)

    return await change(engine, caller, memory_id, expected_revision, decide, now)


@requires(WRITE)
async def feedback(
    engine: Engine, caller: Caller, memory_id: UUID | str, rating: str, *, recall: UUID | str | None = None
) -> Memory:
    """Record how useful a memory was, once a recall where one is named. See `AsyncEbbtide.feedback`."""
    now = engine.clock.now()
    id_ = parse_id(memory_id, "memory_id")
    recall_id = None if recall is None else parse_id(recall, "recall")
    check_word(rating, "rating", RATINGS, "a rating")
    if recall_id is not None:
        # The recall may be so recent that the log does not have it yet.
        await flush(engine, caller.tenant)
    async with engine.database.transaction(caller.tenant) as transaction:
        await lock_memory(transaction, caller, id_, None)
        before = None if recall_id is None else await _rate(transaction, caller, recall_id, id_, rating, now)
        counts = {name: (rating == name) - (before == name) for name in ("positive", "negative")}
        if any(counts.values()):
            await transaction.run("lifecycle.feedback", tenant=caller.tenant, id=id_, **counts)
        if recall_id is None or rating != before:
            named = {} if recall_id is None else {"recall": str(recall_id)}
            detail = {"operation": "feedback", "rating": rating, **named}
            await write_audit(transaction, caller, "update", [(id_, detail)], now)
        return await memory_seen(engine, transaction, caller, id_)


async def _rate(
    transaction: Transaction, caller: Caller, recall_id: UUID, memory_id: UUID, rating: str, now: datetime
) -> str | None:
    """Rate a hit of a recall, and answer with its rating before, None for none. The memory is locked already.

    Raises:
        NotFound: the caller made no such recall, or the memory did not come back in it; nothing tells which.
    """
    row = await transaction.one(
        "lifecycle.rate", tenant=caller.tenant, agent=caller.agent, user=caller.user, recall=recall_id, id=memory_id,
        rating=rating, now=now,
    )  # fmt: skip
    if row is None:
        raise NotFound(
            f"No recall {recall_id} of this caller is logged in which the memory came back.",
            field="recall",
            remedy="Give the recall_id of the answer it came back in, by a handle of the same agent and user; one "
            "of another program after flush_seconds.",
        )
    return row[0]


async def record_run(
    engine: Engine,
    caller: Caller,
    input: str,  # noqa: A002 - the public name
    output: str,
    *,
    succeeded: bool = True,
    task: str | None = None,
    chat: str | None = None,
    session_revision: int | None = None,
    extract: bool | None = None,
) -> list[Remembered]:
    """Remember what was asked and answered in a run. See `AsyncEbbtide.record_run`."""
    place = await rebound(engine, caller, verb="record_run", task=task, chat=chat)
    check_flag(succeeded, "succeeded")
    longest = engine.settings.max_content_characters
    asked = without_echo(check_text(input, "input", longest)).own.strip()
    said = without_echo(check_text(output, "output", longest))
    # An answer that is nothing but a context block is told to be an echo.
    answered = output if said.found and not said.own else said.own.strip()
    drafts = [
        Draft(content=text, kind="message", labels=("episodic",), tags=(tag,))
        for text, tag, shortest in ((asked, "run_input", SHORTEST_RUN_INPUT), (answered, "run_output", 1))
        if len(text) >= shortest
    ]
    if not succeeded or not drafts:
        return []
    wanted = engine.settings.extractor != "off" if extract is None else check_flag(extract, "extract")
    if not wanted:
        return await remember_many(engine, place, drafts, session_revision=session_revision)
    captured = session_revision
    if captured is None and place.session is not None:
        async with engine.database.transaction(place.tenant, snapshot=True) as transaction:
            captured = await read_session_revision(transaction, place)
    follow = extraction_of(place, by_model=engine.extractor is not None, session_revision=captured)
    return await remember_many(engine, place, drafts, session_revision=session_revision, follow=follow)


async def _live_successor(transaction: Transaction, caller: Caller, memory: Memory, now: datetime) -> UUID | None:
    """What holds in the place of a superseded memory, None where nothing does any more."""
    if memory.superseded_by is None:
        return None
    row = await transaction.one("lifecycle.live_successor", tenant=caller.tenant, id=memory.superseded_by, now=now)
    return None if row is None else row[0]


def _moved(memory: Memory, to: str) -> dict[str, str]:
    """The detail of a change of status or maturity: from what, to what."""
    return {"from": memory.maturity if memory.status == "active" else memory.status, "to": to}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
