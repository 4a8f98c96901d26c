"""The fence of a session: what was derived from it before something of it was forgotten is not written afterwards."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ebbtide.checks import check_whole
from ebbtide.errors import InvalidInput, StaleRevision
from ebbtide.govern.audit import warn
from ebbtide.write.claim import hold_claim
from ebbtide.write.origins import FIELD as ORIGINS
from ebbtide.write.origins import check_sources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.write.claim import Claim
    from ebbtide.write.origins import Origin

__all__ = ["check_session_revision", "fenced", "read_session_revision"]

FIELD = "session_revision"
LAST_REVISION = 2**31 - 1


def check_session_revision(caller: Caller, revision: int | None) -> None:
    """Whether a write may be held against a session's revision.

    Raises:
        InvalidInput: it is no revision, or the caller has no session.
    """
    if revision is None:
        return
    check_whole(revision, FIELD, 1, LAST_REVISION)
    session_of(caller)


def session_of(caller: Caller) -> str:
    """The session of a caller.

    Raises:
        InvalidInput: it has none.
    """
    if caller.session is None:
        raise InvalidInput("The handle has no session.", field="session", remedy="Say which session is meant.")
    return caller.session


async def read_session_revision(transaction: Transaction, caller: Caller) -> int:
    """The revision of the caller's session, from 1 on: work captures it when it begins, or is asked for.

    Raises:
        InvalidInput: the caller has no session.
    """
    row = await transaction.one(
        "forget.session_revision", tenant=caller.tenant, agent=caller.agent, session=session_of(caller)
    )
    return row[0]


@asynccontextmanager
async def fenced(
    engine: Engine,
    caller: Caller,
    revision: int | None,
    origins: Sequence[Origin | None] = (),
    document: Claim | None = None,
) -> AsyncGenerator[Transaction]:
    """A transaction to write in, which begins only where the session still is at the revision that was captured.

    The sources of what is written are held to what was read of them in the same way, and the document that it is a part
    of to its claim. Nothing of the tenant is forgotten
    until it ends: a forgetting waits before it locks anything, and so does this.

    Raises:
        StaleRevision: something of them was forgotten since; nothing was written, and the audit warns of it.
    """
    try:
        async with engine.database.transaction(caller.tenant) as transaction:
            if revision is not None:
                await transaction.run("forget.lock_shared", tenant=caller.tenant)
                await _check(transaction, caller, revision)
            await check_sources(transaction, caller, origins)
            if document is not None:
                await hold_claim(transaction, caller, document)
            yield transaction
    except StaleRevision as error:
        if error.field in (FIELD, ORIGINS):
            await warn(engine, caller, None, {"operation": "write", "refused": error.code, "field": error.field})
        raise


async def _check(transaction: Transaction, caller: Caller, captured: int) -> None:
    current = await read_session_revision(transaction, caller)
    if current != captured:
        raise StaleRevision(
            f"The session is at revision {current}, not {captured}: something of it was forgotten.",
            field=FIELD,
            remedy="Read again what is left of the session, and derive anew what you still want to write.",
        )
