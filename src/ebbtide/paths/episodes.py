"""Conversations: turns are added, branches go on from any of them, and each is read back as it went."""

from __future__ import annotations

import secrets
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import LONGEST_ID, check_caller, check_segment, check_text, check_whole, check_word
from ebbtide.errors import Conflict, InvalidInput, NotFound
from ebbtide.govern.access import READ, WRITE, authorise, rebound, requires, write_namespace
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.branches import FIRST_BRANCH, MARK, branch_of, known_names, known_parent, readable_places
from ebbtide.govern.namespaces import read_scope
from ebbtide.govern.personal import check_kept
from ebbtide.govern.rules import current_rules
from ebbtide.identifiers import parse_id
from ebbtide.paths.manage import note_read, read_memory
from ebbtide.read.personal import mode_on
from ebbtide.read.scope import make_scope
from ebbtide.read.seen import listed
from ebbtide.remember import remember_many
from ebbtide.text import shown
from ebbtide.types.base import Page, page_of
from ebbtide.types.episodes import Branch, Chat, Turn, role_of
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Remembered

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
        mode = mode_on(home, None, await current_rules(engine, caller.tenant))
        check_kept(check_segment(name, "name"), "name", mode)
    async with engine.database.transaction(caller.tenant) as transaction:
        parent = await branch_of(transaction, caller)
        if turn is not None:
            await read_memory(transaction, caller, turn)
        parent, place = await _read_fork(transaction, caller, parent, turn)
        values = {**of_chat(caller), "parent": parent, "forked_after": place, "namespace": home, "now": now}
        chosen = await _begin(transaction, caller, name, values)
        names = await known_names(transaction, caller)
        scope = make_scope(caller, now)
        (after,) = await readable_places(transaction, caller, scope.parameters(), [(parent, place)])
        await write_audit(transaction, caller, "write", [(turn, {"operation": "fork"})], now)
    return Branch(
        chat=caller.chat or "", name=chosen, parent=names.get(parent, FIRST_BRANCH), forked_after=after,
        namespace=home, turns=0, created_at=now, last_at=None,
    )  # fmt: skip


async def _begin(transaction: Transaction, caller: Caller, name: str | None, values: Mapping[str, Any]) -> str:
    """Begin a branch of a name, or of the next number that is free as far as the caller knows; answers with that name.

    Where only a branch of which the caller may not know has the name, the new one is stored by another.

    Raises:
        Conflict: a branch of which the caller knows has the name.
    """
    names = set((await known_names(transaction, caller)).values())
    free = (f"branch-{number}" for number in count(len(names) + 1))
    chosen = name if name is not None else next(one for one in free if one not in names)
    for stored in (chosen, f"{chosen}{MARK}{secrets.token_hex(4)}"):
        if chosen in names:
            break
        if await transaction.one("episodes.fork", **values, name=stored) is not None:
            return chosen
        # Somebody may have begun it at this moment.
        names = set((await known_names(transaction, caller)).values())
    raise Conflict(f"The chat has a branch {chosen!r} already.", field="name", remedy="Give the new one another name.")


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
        names = await known_names(transaction, caller)
        readable = read_scope(None, caller)
        known = [row for row in rows if row.namespace is None or row.turns or readable.covers(row.namespace)]
        parents = [known_parent(row, rows, {row.name for row in known}) for row in known]
        forks = [(parent, after) for parent, after in parents if parent is not None and after is not None]
        places = iter(await readable_places(transaction, caller, scope.parameters(), forks))
    told: list[Branch] = []
    for row, (parent, _) in zip(known, parents, strict=True):
        values: dict[str, Any] = {**row._asdict(), "name": names[row.name], "parent": None, "forked_after": None}
        if parent is not None:
            values |= {"parent": names[parent], "forked_after": next(places)}
        told.append(Branch(chat=caller.chat or "", **values))
    return told


@requires(READ)
async def chats(engine: Engine, caller: Caller, *, limit: int = 50, after: str | None = None) -> Page[Chat]:
    """The chats in which something was said, the last one first. See `AsyncEpisodes.chats`."""
    check_whole(limit, "limit", 1, MOST_CHATS)
    last = None if after is None else check_text(after, "after", LONGEST_ID)
    asked = make_scope(caller, engine.clock.now()).parameters()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        (before,) = (None,) if last is None else await transaction.one("episodes.last_said", **asked, chat=last)
        if last is not None and before is None:
            raise NotFound(f"There is no chat {shown(last)}.", field="after", remedy="Begin the list anew.")
        rows = await transaction.named("episodes.chats", **asked, after=last, before=before, limit=limit + 1)
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
    names = await known_names(transaction, caller) if any(MARK in row[0] for row in rows) else {}
    shown = {one.id: one for one in await listed(engine, transaction, caller, memories)}
    return [
        Turn(
            branch=names.get(row[0], str(row[0])),
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
