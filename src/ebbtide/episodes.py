"""Conversations: turns are added, branches go on from any of them, and each is read back as it went."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import LONGEST_ID, check_caller, check_text, check_whole, check_word
from ebbtide.conversation import Branch, Chat, Turn, role_of
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.govern.access import READ, WRITE, authorise, rebound, requires, write_namespace
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.branches import FIRST_BRANCH, branch_of, known_parent
from ebbtide.govern.namespaces import read_scope
from ebbtide.identifiers import parse_id
from ebbtide.manage import note_read, read_memory
from ebbtide.read.scope import make_scope
from ebbtide.read.seen import listed
from ebbtide.remember import remember_many
from ebbtide.values import Page, page_of
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types import Caller, Remembered

__all__ = ["ROLES", "add", "branches", "chats", "fork", "in_chat", "of_chat", "transcript", "turns_of"]

ROLES = ("user", "assistant", "system", "tool")
MOST_TURNS = 10_000
MOST_CHATS = 1_000


async def in_chat(
    engine: Engine, caller: Caller, verb: str, *scopes: str, chat: str | None, branch: str | None = None
) -> Caller:
    """The caller in a chat and on a branch of it, in place of its own where they are given, before its policy is read.

    Raises:
        InvalidInput: a name is not acceptable, or there is no chat.
        Forbidden: the caller is bound to another chat, or lacks one of the verb's scopes.
    """
    if chat is not None and chat != caller.chat:
        caller = await rebound(engine, replace(caller, branch=None), verb=verb, chat=chat)
    if caller.chat is None:
        await authorise(engine, caller, *scopes, verb=verb)
        raise InvalidInput("There is no chat.", field="chat", remedy="Say which chat is meant.")
    return caller if branch is None else check_caller(replace(caller, branch=branch))


async def add(
    engine: Engine,
    caller: Caller,
    content: str,
    *,
    role: str = "user",
    chat: str | None = None,
    branch: str | None = None,
    **fields: Any,
) -> Remembered:
    """Say something at the end of a branch. See `AsyncEpisodes.add`."""
    caller = await in_chat(engine, caller, "add", WRITE, chat=chat, branch=branch)
    check_word(role, "role", ROLES, "a role")
    reserved = next((name for name in ("kind", "seq", "supersedes", "metadata") if name in fields), None)
    if reserved is not None:
        raise InvalidInput(
            f"A turn has no {reserved} of the caller's.", field=reserved, remedy="Use remember in the chat for that."
        )
    session_revision, allow_pending = fields.pop("session_revision", None), fields.pop("allow_pending", False)
    draft: dict[str, Any] = {**fields, "content": content, "kind": "message", "metadata": {"role": role}}
    answers = await remember_many(
        engine, caller, [draft], allow_pending=allow_pending, session_revision=session_revision, appended=True
    )
    return answers[0]


async def _read_last(transaction: Transaction, caller: Caller) -> tuple[int, int]:
    """The last place of the caller's chat, and how many branches it has beside the first."""
    return await transaction.one("episodes.last_place", **of_chat(caller))


def of_chat(caller: Caller) -> dict[str, Any]:
    """The chat of a caller, as statements take it."""
    return {"tenant": caller.tenant, "agent": caller.agent, "chat": caller.chat}


async def fork(
    engine: Engine,
    caller: Caller,
    *,
    chat: str | None = None,
    at: UUID | str | None = None,
    branch: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
) -> Branch:
    """Begin a branch after a turn. See `AsyncEpisodes.fork`."""
    caller = await in_chat(engine, caller, "fork", WRITE, chat=chat, branch=branch)
    return await _fork(engine, caller, at, name, namespace)


@requires(WRITE)
async def _fork(
    engine: Engine, caller: Caller, at: UUID | str | None, name: str | None, namespace: str | None
) -> Branch:
    now = engine.clock.now()
    turn = None if at is None else parse_id(at, "at")
    home = write_namespace(namespace, caller, "namespace")
    if name is not None:
        check_caller(replace(caller, branch=name))
    async with engine.database.transaction(caller.tenant) as transaction:
        parent = await branch_of(transaction, caller)
        if turn is not None:
            await read_memory(transaction, caller, turn)
        parent, place = await _read_fork(transaction, caller, parent, turn)
        _, others = await _read_last(transaction, caller)
        chosen = f"branch-{others + 2}" if name is None else name
        values = {**of_chat(caller), "parent": parent, "forked_after": place, "namespace": home, "now": now}
        made = None
        if chosen != FIRST_BRANCH:
            made = await transaction.one("episodes.fork", **values, name=chosen)
        if made is None:
            raise Conflict(
                f"The chat has a branch {chosen!r} already.", field="name", remedy="Give the new one another name."
            )
        await write_audit(transaction, caller, "write", [(turn, {"operation": "fork"})], now)
    return Branch(
        chat=caller.chat or "", name=chosen, parent=parent, forked_after=place, namespace=home, turns=0, created_at=now,
        last_at=None,
    )  # fmt: skip


async def _read_fork(transaction: Transaction, caller: Caller, branch: str, turn: UUID | None) -> tuple[str, int]:
    """On which branch, and after which place, another one begins.

    Raises:
        NotFound: the branch, or where none is named the chat, has no such turn.
    """
    if turn is None:
        row = await transaction.one("episodes.last_told", **of_chat(caller), branch=branch)
        return branch, row[0]
    row = await transaction.one(
        "episodes.turn_at", **of_chat(caller), branch=branch, id=turn, within=caller.branch is not None
    )
    if row is None:
        raise NotFound(
            f"The chat has no turn {turn}.",
            field="at",
            remedy="Give the id of a turn that the transcript of the chat shows.",
        )
    return row


async def branches(engine: Engine, caller: Caller, *, chat: str | None = None) -> list[Branch]:
    """The branches of a chat, the first one first. See `AsyncEpisodes.branches`."""
    return await _branches(engine, await in_chat(engine, caller, "branches", READ, chat=chat))


@requires(READ)
async def _branches(engine: Engine, caller: Caller) -> list[Branch]:
    scope = make_scope(caller, engine.clock.now())
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named("episodes.branches", **scope.parameters(), chat=caller.chat, first=FIRST_BRANCH)
    readable = read_scope(None, caller)
    known = [row for row in rows if row.namespace is None or row.turns or readable.covers(row.namespace)]
    names = {row.name for row in known}
    return [_as_known(caller, row, *known_parent(row, rows, names)) for row in known]


def _as_known(caller: Caller, row: Any, parent: str | None, forked_after: int | None) -> Branch:
    values: dict[str, Any] = {**row._asdict(), "parent": parent, "forked_after": forked_after}
    return Branch(chat=caller.chat or "", **values)


@requires(READ)
async def chats(engine: Engine, caller: Caller, *, limit: int = 50, after: str | None = None) -> Page[Chat]:
    """The chats in which something was said, the last one first. See `AsyncEpisodes.list`."""
    check_whole(limit, "limit", 1, MOST_CHATS)
    last = None if after is None else check_text(after, "after", LONGEST_ID)
    scope = make_scope(caller, engine.clock.now())
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named("episodes.chats", **scope.parameters(), after=last, limit=limit + 1)
    return page_of([Chat(**row._asdict()) for row in rows], limit, lambda one: one.chat)


async def transcript(
    engine: Engine, caller: Caller, *, chat: str | None = None, branch: str | None = None, limit: int = 1_000
) -> list[Turn]:
    """The last turns of a branch, in their order. See `AsyncEpisodes.transcript`."""
    check_whole(limit, "limit", 1, MOST_TURNS)
    return await _transcript(engine, await in_chat(engine, caller, "transcript", READ, chat=chat, branch=branch), limit)


@requires(READ)
async def _transcript(engine: Engine, caller: Caller, limit: int) -> list[Turn]:
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        turns = await turns_of(engine, transaction, caller, limit=limit)
    note_read(engine, caller, "transcript", tuple(turn.id for turn in turns))
    return turns


async def turns_of(engine: Engine, transaction: Transaction, caller: Caller, *, limit: int) -> list[Turn]:
    """The last turns of the caller's branch as it may see them, in their order.

    Raises:
        NotFound: the chat has no such branch.
    """
    scope = make_scope(caller, engine.clock.now())
    branch = await branch_of(transaction, caller)
    rows = await transaction.all(
        "episodes.transcript", **scope.parameters(), chat=caller.chat, branch=branch, limit=limit
    )
    memories = [memory_of(row[2:]) for row in rows]
    shown = {one.id: one for one in await listed(engine, transaction, caller, memories)}
    return [
        Turn(
            branch=row[0],
            place=row[1],
            role=role_of(made),
            speaker=made.speaker,
            content=made.content,
            at=made.observed_at or made.created_at,
            memory=made,
        )
        for row, memory in zip(rows, memories, strict=True)
        if (made := shown.get(memory.id)) is not None
    ]
