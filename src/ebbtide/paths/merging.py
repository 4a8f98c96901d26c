"""Merges by a chat model: one text of several near duplicates, held to them by rules, which takes their place."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.errors import Conflict, InvalidInput, ModelError, ModelUnavailable
from ebbtide.forget.holds import held_among
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.confirmation import check_token, end_of_token, make_token
from ebbtide.models.batches import run_batches
from ebbtide.models.consolidator import MOST_CHARACTERS
from ebbtide.paths.duplicates import (
    CONSOLIDATION,
    EXCERPT_CHARACTERS,
    Found,
    find,
    gather_knowledge,
    meant_by,
    merge,
    say_the_same,
)
from ebbtide.read.seen import listed
from ebbtide.remember import remember_many
from ebbtide.types.curation import Consolidation, Merge, Unmerged
from ebbtide.types.memory import Draft
from ebbtide.write.merged import what_is_amiss
from ebbtide.write.origins import Origin, check_sources
from ebbtide.write.stale import facts_changed
from ebbtide.write.supersede import Successor, supersede

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.models.consolidator import Consolidator
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = ["CHANGED", "consolidate_by_model"]

MOST_GROUPS = 50
REQUESTS_AT_ONCE = 4
# A character of JSON has six bytes at most, and a text a few characters more than all that it is made of.
MOST_TOKEN_BYTES = 8 * MOST_GROUPS * MOST_CHARACTERS
CHANGED = "They were changed or forgotten meanwhile."
WITHHELD = "The rules on personal data keep something of them back."
ELSEWHERE = "They are another user's."
HELD = "A legal hold covers one of them."


class _LeftAlone(Exception):
    """Leaves the transaction of a merge, with the reason, and everything as it was."""


@dataclass(frozen=True, slots=True)
class Group:
    """Near duplicates, the fullest first, and what a model made of them, or why nothing was made."""

    memories: Sequence[Memory]
    text: str | None = None
    reason: str | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Their ids, the fullest first."""
        return tuple(one.id for one in self.memories)

    @property
    def contents(self) -> list[str]:
        """What they say."""
        return [one.content for one in self.memories]


async def consolidate_by_model(
    engine: Engine, scope: Scope, now: datetime, *, dry_run: bool, token: str | None
) -> Consolidation:
    """Show what a chat model would make of near duplicates, or with the token of that write just these texts.

    Raises:
        InvalidInput: no model is set, or a real run has no token.
        Conflict: the token has expired, or there is something else to merge now; nothing was done.
        Forbidden: the policy does not let the caller change one of them.
    """
    caller = scope.caller
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await find(transaction, scope, now, may_be_told_in_one)
        shown = await listed(engine, transaction, caller, [found.memories[id_] for id_ in found.touched])
    seen = {one.id: one.content for one in shown}
    groups = [
        Group([found.memories[kept], *(found.memories[id_] for id_ in others)]) for kept, others in found.plan.items()
    ]
    checked = [replace(one, reason=_why_not(caller, one, seen)) for one in groups]
    if dry_run:
        return await _planned(engine, scope, found, checked, now)
    texts = read_texts(token)
    chosen = {kept: others for kept, others in found.plan.items() if kept in texts}
    meant = meant_by("model", scope, replace(found, plan=chosen), list(texts.values()))
    check_token((token or "").partition(".")[0], CONSOLIDATION, caller, meant, now)
    told = [replace(one, text=texts[one.ids[0]]) for one in checked if one.ids[0] in texts]
    try:
        done = [await _write(engine, caller, one) for one in told]
    finally:
        engine.scopes.forget(caller.tenant)
        engine.reranks.forget(caller.tenant)
    return _report(done, found, dry_run=False)


def may_be_told_in_one(memory: Memory, kept: Memory) -> bool:
    """Whether one text may stand for two memories: both end at the same moment, and no person confirmed either."""
    plain = "confirmed" not in (memory.maturity, kept.maturity) and memory.invalidated_at is None
    return plain and memory.expires_at == kept.expires_at and say_the_same(memory, kept)


def _why_not(caller: Caller, group: Group, seen: Mapping[UUID, str]) -> str | None:
    """Why nothing of a group may be told to a model, None where it may."""
    if any(seen.get(one.id) != one.content for one in group.memories):
        return WITHHELD
    if sum(map(len, group.contents)) > MOST_CHARACTERS:
        return f"They have more than {MOST_CHARACTERS:,} characters together."
    if caller.access is not None and group.memories[0].user != caller.user:
        return ELSEWHERE
    return None


async def _planned(engine: Engine, scope: Scope, found: Found, groups: Sequence[Group], now: datetime) -> Consolidation:
    """What a model would make of the first groups that it may be told, and the token of just that."""
    model = engine.consolidator
    if model is None:
        raise InvalidInput(
            "No model consolidates here.", field="by", remedy="Set `consolidator` to an endpoint with its model."
        )
    # Those that no model may be told cost nothing, and keep none of the others waiting.
    untold = [one for one in groups if one.reason is not None]
    free = [one for one in groups if one.reason is None]
    told = [*untold, *await _told(model, free[:MOST_GROUPS])]
    texts = {one.ids[0]: one.text for one in told if one.text is not None and one.reason is None}
    ends = end_of_token(now)
    plan = {kept: others for kept, others in found.plan.items() if kept in texts}
    meant = meant_by("model", scope, replace(found, plan=plan), list(texts.values()))
    token = f"{make_token(CONSOLIDATION, scope.caller, meant, ends)}.{write_texts(texts)}"
    report = _report([(one, None) for one in told], found, dry_run=True)
    return report.model_copy(update={"waiting": len(groups) - len(told), "token": token, "expires_at": ends})


async def _told(model: Consolidator, groups: Sequence[Group]) -> list[Group]:
    """Groups with what the model says for each, or why it cannot be taken; one that does not answer is left."""
    told = list(groups)
    unavailable: list[str] = []

    async def tell(place: int) -> None:
        group = told[place]
        if unavailable:
            told[place] = replace(group, reason=unavailable[0])
            return
        try:
            text = await model.merge(group.contents)
        except ModelError as error:
            if isinstance(error, ModelUnavailable):
                unavailable.append(error.message)
            told[place] = replace(group, reason=error.message)
        else:
            told[place] = replace(group, text=text, reason=what_is_amiss(text, group.contents))

    await run_batches(range(len(told)), tell, REQUESTS_AT_ONCE)
    return told


def _report(told: Iterable[tuple[Group, UUID | None]], found: Found, *, dry_run: bool) -> Consolidation:
    """What was, or would be, merged; a group with a reason was not."""
    merges: list[Merge] = []
    unmerged: list[Unmerged] = []
    for group, kept in told:
        if group.reason is not None or group.text is None:
            unmerged.append(Unmerged(ids=group.ids, reason=group.reason or CHANGED, text=group.text))
            continue
        first = group.memories[0]
        merged = tuple(id_ for id_ in group.ids if id_ != kept)
        excerpt = group.text[:EXCERPT_CHARACTERS]
        merges.append(Merge(kept=kept, merged=merged, namespace=first.namespace, excerpt=excerpt, text=group.text))
    return Consolidation(
        dry_run=dry_run, count=len(merges), merges=tuple(merges), held=found.held, unmerged=tuple(unmerged)
    )


async def _write(engine: Engine, caller: Caller, group: Group) -> tuple[Group, UUID | None]:
    """Let one text take the place of a group, in a transaction of its own; answers with the id of its memory.

    A group that changed meanwhile, or whose text cannot be kept, is left as it was, with the reason.
    """
    text = group.text or ""
    reason = group.reason or what_is_amiss(text, group.contents)
    if reason is not None:
        return replace(group, reason=reason), None
    try:
        same = next((one for one in group.memories if one.content == text), None)
        if same is not None:
            return group, await _keep(engine, caller, group, same)
        return group, await _replace(engine, caller, group, text)
    except (Conflict, ModelError, InvalidInput) as error:
        return replace(group, reason=CHANGED if isinstance(error, Conflict) else error.message), None
    except _LeftAlone as left:
        return replace(group, reason=str(left)), None


async def _keep(engine: Engine, caller: Caller, group: Group, same: Memory) -> UUID:
    """Merge a group by rules into the one of it that says all already.

    Raises:
        StaleRevision: one was changed or forgotten since.
    """
    others = [id_ for id_ in group.ids if id_ != same.id]
    found = Found({same.id: others}, {one.id: one for one in group.memories}, ())
    async with engine.database.transaction(caller.tenant) as transaction:
        await check_sources(transaction, caller, [_origin(group)])
        await transaction.run("remember.lock", tenant=caller.tenant, ids=list(group.ids))
        await check_sources(transaction, caller, [_origin(group)])
        now = engine.clock.now()
        await _check_free(transaction, caller, group, now)
        # Not each of a group was near to this one; that its text says what they say is the model's word.
        near = {"ids": [same.id] * len(others), "others": others}
        await transaction.run("conflict.link", tenant=caller.tenant, now=now, **near)
        await merge(transaction, caller, found, now)
    return same.id


async def _replace(engine: Engine, caller: Caller, group: Group, text: str) -> UUID:
    """Write a text as a memory that rests on all of a group and supersedes them.

    Raises:
        StaleRevision: one was changed or forgotten since.
        ModelError: the embedder failed.
    """
    writer = _writer(caller, group.memories)
    draft = _draft(text, group.memories, engine.consolidator.name if engine.consolidator is not None else "model")
    follow = partial(_take_place, writer, group)
    (answer,) = await remember_many(engine, writer, [draft], origins=[_origin(group)], follow=follow)
    if answer.memory is None:
        raise _LeftAlone(WITHHELD)
    return answer.memory.id


async def _take_place(writer: Caller, group: Group, transaction: Transaction, new: Sequence[Memory]) -> None:
    """Give the memory of a merged text what the others mention, and let it supersede them."""
    if len(new) != 1:
        raise _LeftAlone("The text is not written: another memory says it, or a rule on personal data holds it back.")
    (made,) = new
    await _check_free(transaction, writer, group, made.created_at)
    reason = what_is_amiss(made.content, group.contents)
    if reason is not None:
        raise _LeftAlone(reason)
    tenant, now, others = writer.tenant, made.created_at, list(group.ids[1:])
    await transaction.run("remember.lock", tenant=tenant, ids=others)
    # Locked, they are held to what was read once more; the first has been superseded, which is a revision of its own.
    revisions = {one.id: one.revision for one in group.memories}
    revisions[group.ids[0]] += 1
    await check_sources(transaction, writer, [Origin(revisions, whole=True)])
    starts = made.valid_from or made.observed_at or now
    await supersede(transaction, tenant, [Successor(id_, made.id, starts) for id_ in others], now)
    await gather_knowledge(transaction, writer, [(made.id, id_) for id_ in group.ids], now)
    gone = [(id_, {"to": "superseded", "by": str(made.id), "operation": "consolidate"}) for id_ in others]
    await write_audit(transaction, writer, "status", gone, now)
    detail = {"operation": "consolidate", "merged": list(map(str, group.ids)), "revision": made.revision}
    await write_audit(transaction, writer, "update", [(made.id, detail)], now)
    await facts_changed(transaction, writer, others, now)


async def _check_free(transaction: Transaction, caller: Caller, group: Group, now: datetime) -> None:
    """Make sure that no hold was placed on a group since it was found."""
    if await held_among(transaction, caller.tenant, group.ids, now):
        raise _LeftAlone(HELD)


def _origin(group: Group) -> Origin:
    return Origin({one.id: one.revision for one in group.memories}, whole=True)


def _writer(caller: Caller, memories: Sequence[Memory]) -> Caller:
    """Who writes: the owner in the place that all of them share; a policed caller as itself."""
    if caller.access is not None:
        return caller

    def shared(name: str) -> str | None:
        values = {getattr(one, name) for one in memories}
        return values.pop() if len(values) == 1 else None

    places = {name: shared(name) for name in ("user", "task", "chat", "session")}
    return replace(caller, **places, branch=None)


def _draft(text: str, memories: Sequence[Memory], consolidator: str) -> Draft:
    """A text with the marks of those that it stands for, the fullest of which it says to replace."""
    first = memories[0]
    metadata: dict[str, Any] = {}
    for one in reversed(memories):
        metadata |= dict(one.metadata)
    noticed = [one.observed_at for one in memories if one.observed_at is not None]
    return Draft(
        content=text,
        namespace=first.namespace,
        kind=first.kind,
        labels=_joined(one.labels for one in memories),
        tags=_joined(one.tags for one in memories),
        metadata={**metadata, "consolidator": consolidator},
        importance=max(one.importance for one in memories),
        confidence=max(one.confidence for one in memories),
        subject=first.subject,
        predicate=first.predicate,
        speaker=first.speaker,
        observed_at=max(noticed, default=None),
        valid_from=first.valid_from,
        expires_at=first.expires_at,
        supersedes=first.id,
    )


def _joined(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for several in lists for one in several))


def write_texts(texts: Mapping[UUID, str]) -> str:
    """Texts as a part of a token: what a dry run showed is written word for word, and nothing is kept meanwhile."""
    told = json.dumps({str(id_): text for id_, text in texts.items()}, ensure_ascii=False)
    return base64.urlsafe_b64encode(zlib.compress(told.encode(errors="replace"))).decode()


def read_texts(token: Any) -> dict[UUID, str]:
    """The texts in a token, by the first memory of each group.

    Raises:
        InvalidInput: it is no token of a dry run by a model.
    """
    wrong = InvalidInput(
        "A consolidation by a model needs the token of a dry run by a model.",
        field="token",
        remedy="Look first by a dry run at what would be merged, and repeat with its token.",
    )
    if not isinstance(token, str):
        raise wrong
    try:
        packed = base64.b64decode(token.partition(".")[2].encode(), altchars=b"-_", validate=True)
        told = json.loads(zlib.decompressobj().decompress(packed, MOST_TOKEN_BYTES))
        return {UUID(id_): text for id_, text in told.items() if isinstance(text, str)}
    except (AttributeError, ValueError, TypeError, zlib.error, binascii.Error, RecursionError):
        raise wrong from None
