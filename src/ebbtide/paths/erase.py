"""Forgetting by id, by filter, by user and by tenant: what is meant is checked, and then goes with proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from ebbtide.checks import check_caller, check_flag
from ebbtide.errors import Conflict, InvalidInput
from ebbtide.forget.along import derived_seen, refuse_held_along
from ebbtide.forget.deed import forget_all
from ebbtide.forget.holds import is_held, list_holds
from ebbtide.forget.receipts import issue
from ebbtide.forget.selection import (
    check_ids,
    filter_form,
    is_empty,
    user_patterns,
)
from ebbtide.forget.tombstone import lock
from ebbtide.govern import audit
from ebbtide.govern.access import ADMIN, DELETE, READ, check_changeable, requires
from ebbtide.govern.confirmation import Deed, check_token, end_of_token, make_token
from ebbtide.govern.personal import redact
from ebbtide.govern.rules import rules_in
from ebbtide.identifiers import new_id, parse_id
from ebbtide.paths.manage import lock_memory, missing, note_read
from ebbtide.read.reinforce import flush
from ebbtide.read.report import hits_of
from ebbtide.read.scope import ASKED, Scope, check_known, make_scope
from ebbtide.recall import search
from ebbtide.types.caller import Caller
from ebbtide.types.evidence import Candidate, Erasure, Forgetting, Receipt

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.read.where import Filter

__all__ = ["erase_tenant", "erase_user", "forget", "forget_where"]

BATCH = 1_000
MOST_CANDIDATES = 100
EXCERPT_CHARACTERS = 200

BY_FILTER = Deed("Forgetting by a filter", "what would go", "nothing was forgotten")

Matched = list[tuple[UUID, int]]


@asynccontextmanager
async def refusals_audited(
    engine: Engine, caller: Caller, operation: str, memory_id: UUID | None = None
) -> AsyncGenerator[None]:
    """Note in the audit that what the block was to do was refused, and by which error."""
    try:
        yield
    except (Conflict, InvalidInput) as error:
        detail = {"operation": operation, "refused": error.code, "field": error.field}
        await audit.warn(engine, caller, memory_id, detail)
        raise


@requires(DELETE)
async def forget(engine: Engine, caller: Caller, memory_id: UUID | str, expected_revision: int) -> Receipt:
    """Forget a memory for good: a tombstone in its place, and everything derived from it gone, in one transaction.

    Raises:
        NotFound: there is no such memory, or it is forgotten already.
        StaleRevision: it is not at `expected_revision`; nothing was changed.
        Held: a legal hold covers it.
    """
    now = engine.clock.now()
    id_ = parse_id(memory_id, "memory_id")
    if expected_revision is None:
        raise InvalidInput(
            "forget needs the revision you read.",
            field="expected_revision",
            remedy="Give the revision that get returned.",
        )
    async with (
        refusals_audited(engine, caller, "forget", id_),
        engine.database.transaction(caller.tenant) as transaction,
    ):
        await lock(transaction, caller.tenant)
        await lock_memory(transaction, caller, id_, expected_revision, deletes=True)
        receipts = await forget_all(transaction, caller, [id_], now, operation="forget")
    engine.scopes.forget(caller.tenant)
    engine.reranks.forget(caller.tenant)
    return next(one for one in receipts if one.id == id_)


@requires(DELETE, READ)
async def forget_where(
    engine: Engine,
    caller: Caller,
    where: Filter | Mapping[str, Any] | None = None,
    *,
    query: str | None = None,
    ids: Sequence[UUID | str] | None = None,
    dry_run: bool = True,
    token: str | None = None,
    **narrowed: Any,
) -> Forgetting:
    """Show what a filter meets, or with the token of that forget just this. See `AsyncEbbtide.forget_where`."""
    async with refusals_audited(engine, caller, "forget where"):
        check_flag(dry_run, "dry_run")
        now = engine.clock.now()
        if query is not None:
            return await _preview_query(engine, caller, query, dry_run, {"where": where, **narrowed})
        scope = make_scope(caller, now, where=filter_form(where), **narrowed)
        named = None if ids is None else check_ids(ids)
        if is_empty(scope, named):
            raise InvalidInput(
                "The filter is empty: it would meet everything.",
                field="where",
                remedy="Say which memories are meant; everything of a user or a tenant goes by erasing it.",
            )
        if dry_run:
            return await _preview(engine, scope, named, now)
        return await _forget_matching(engine, caller, scope, named, token, now)


async def _matching(transaction: Transaction, scope: Scope, ids: Sequence[UUID] | None) -> Matched:
    if ids is None:
        rows = await transaction.all("forget.matching", **scope.parameters())
    else:
        rows = await transaction.all("forget.matching_among", **scope.parameters(), ids=list(ids))
    for id_, _, namespace in rows:
        check_changeable(scope.caller, namespace, missing(id_), deletes=True)
    return [(row[0], row[1]) for row in rows]


def _meant(scope: Scope, ids: Sequence[UUID] | None, matched: Matched) -> list[Any]:
    """What a token is for: just the memories that were seen, at the revisions they had."""
    return [scope.narrowing(), ids, [[str(id_), revision] for id_, revision in matched]]


async def _candidates(
    engine: Engine, transaction: Transaction, caller: Caller, ids: Sequence[UUID]
) -> tuple[Candidate, ...]:
    """How what would go begins; a policed caller sees no personal data in it that the rules keep from a read."""
    rules = None if caller.access is None else await rules_in(engine, transaction, caller.tenant)
    # What is cut in the middle of a value could not be found in it.
    longest = EXCERPT_CHARACTERS if rules is None else engine.settings.max_content_characters
    rows = await transaction.named(
        "forget.excerpts", tenant=caller.tenant, ids=list(ids[:MOST_CANDIDATES]), characters=longest
    )
    candidates = (Candidate(**row._asdict()) for row in rows)
    return tuple(candidates if rules is None else (_redacted(one, rules) for one in candidates))


def _redacted(candidate: Candidate, rules: RuleBook) -> Candidate:
    allowed = rules.on(candidate.namespace).personal_data in (None, "allow")
    excerpt = candidate.excerpt if allowed else redact(candidate.excerpt)
    return candidate.model_copy(update={"excerpt": excerpt[:EXCERPT_CHARACTERS]})


async def _preview(engine: Engine, scope: Scope, ids: Sequence[UUID] | None, now: datetime) -> Forgetting:
    async with engine.database.transaction(scope.caller.tenant, snapshot=True) as transaction:
        matched = await _matching(transaction, scope, ids)
        met = tuple(id_ for id_, _ in matched)
        derived, _ = await derived_seen(transaction, scope.caller, met)
        candidates = await _candidates(engine, transaction, scope.caller, met)
    ends = end_of_token(now)
    token = make_token(BY_FILTER, scope.caller, _meant(scope, ids, matched), ends)
    return Forgetting(
        dry_run=True, count=len(met), ids=met, derived=derived, candidates=candidates, token=token,
        expires_at=ends,
    )  # fmt: skip


async def _preview_query(
    engine: Engine, caller: Caller, query: str, dry_run: bool, narrowed: Mapping[str, Any]
) -> Forgetting:
    """What a question finds: never forgotten by it, since the nearest may not be what is meant."""
    if not dry_run:
        raise InvalidInput(
            "A query finds what is near, which may not be what is meant.",
            field="query",
            remedy="Look at the candidates by a dry run, and repeat with the ids of those to forget.",
        )
    check_known(narrowed, ASKED)
    hits = hits_of(await search(engine, caller, query, **narrowed))
    note_read(engine, caller, "forget_where", tuple(hit.id for hit in hits))
    return Forgetting(
        dry_run=True,
        count=len(hits),
        ids=tuple(hit.id for hit in hits),
        candidates=tuple(
            Candidate(
                id=hit.id,
                revision=hit.memory.revision,
                namespace=hit.namespace,
                kind=hit.kind,
                excerpt=hit.content[:EXCERPT_CHARACTERS],
            )
            for hit in hits
        ),
    )


async def _forget_matching(
    engine: Engine, caller: Caller, scope: Scope, ids: Sequence[UUID] | None, token: str | None, now: datetime
) -> Forgetting:
    """Forget what the dry run saw, in one transaction: all of it or, where anything changed since, nothing."""
    async with engine.database.transaction(caller.tenant) as transaction:
        await lock(transaction, caller.tenant)
        matched = await _matching(transaction, scope, ids)
        check_token(token, BY_FILTER, scope.caller, _meant(scope, ids, matched), now)
        named = [id_ for id_, _ in matched]
        derived, hidden = await derived_seen(transaction, caller, named)
        receipts = await forget_all(transaction, caller, named, now, operation="forget where")
        met = set(named)
        if [(one.id, one.revision - 1) for one in receipts if one.id in met] != matched:
            raise Conflict("A memory changed at this moment.", field="token", remedy="Look again by a dry run.")
    engine.scopes.forget(caller.tenant)
    engine.reranks.forget(caller.tenant)
    return Forgetting(
        dry_run=False,
        count=len(named),
        ids=tuple(named),
        derived=derived,
        receipts=tuple(one for one in receipts if one.id not in hidden),
    )


@requires(ADMIN)
async def erase_user(engine: Engine, caller: Caller, user: str) -> Erasure:
    """Erase everything of a user, whichever agent's it is. See `AsyncEbbtide.erase_user`.

    Raises:
        Held: a legal hold covers the user, or one of the memories; nothing was erased.
    """
    name = check_caller(Caller(caller.tenant, caller.agent, user)).user
    if name is None:
        raise InvalidInput("user is missing.", field="user", remedy="Name the user to erase.")
    whose = {"user": name, **user_patterns(name)}
    async with refusals_audited(engine, caller, "erase user"):
        return await _erase(engine, caller, "user", "forget.of_user", whose)


@requires(ADMIN)
async def erase_tenant(engine: Engine, caller: Caller, confirm: str) -> Erasure:
    """Erase everything of the handle's tenant. See `AsyncEbbtide.erase_tenant`.

    Raises:
        InvalidInput: `confirm` is not the tenant's name.
        Held: a legal hold lasts; nothing was erased.
    """
    async with refusals_audited(engine, caller, "erase tenant"):
        if not isinstance(confirm, str) or confirm != caller.tenant:
            raise InvalidInput(
                f"Erasing the tenant {caller.tenant} has to be confirmed.",
                field="confirm",
                remedy="Give that name.",
            )
        return await _erase(engine, caller, "tenant", "forget.of_tenant", {})


async def _erase(
    engine: Engine,
    caller: Caller,
    subject: Literal["user", "tenant"],
    statement: str,
    whose: Mapping[str, Any],
) -> Erasure:
    """Erase memories a thousand a transaction, each with its receipt, and then what else there is of the subject."""
    now = engine.clock.now()
    user: str | None = whose.get("user")
    # What was asked until now belongs to what is erased, or to the audit that is sealed at the end.
    await flush(engine, caller.tenant)
    await _refuse_where_held(engine, caller, user, statement, whose, now)
    cleaned: Counter[str] = Counter()
    numbers: list[int] = []
    while ids := await _next_ids(engine, caller, statement, whose):
        for start in range(0, len(ids), BATCH):
            async with engine.database.transaction(caller.tenant) as transaction:
                await lock(transaction, caller.tenant)
                receipts = await forget_all(
                    transaction, caller, ids[start : start + BATCH], now, operation=f"erase {subject}", remove=True
                )
            numbers += [one.number for one in receipts]
            for one in receipts:
                cleaned.update(one.cleaned)
    async with engine.database.transaction(caller.tenant) as transaction:
        await lock(transaction, caller.tenant)
        if user is not None:
            rows = await transaction.named("forget.clean_user", tenant=caller.tenant, user=user, **user_patterns(user))
        else:
            rows = await transaction.named("forget.clean_tenant", tenant=caller.tenant)
        cleaned.update({place.replace("_", " "): count for place, count in rows[0]._asdict().items() if count})
        detail = {"operation": f"erase {subject}", "memories": len(numbers)}
        audited = await audit.write(transaction, caller, "delete", [(None, detail)], now)
        proof = Erasure(
            receipt_id=new_id(now), subject=subject, user=user, memories=len(numbers),
            first_receipt=min(numbers, default=None), last_receipt=max(numbers, default=None), cleaned=dict(cleaned),
            forgotten_at=now, audit_ids=tuple(audited),
        )  # fmt: skip
        issued = await issue(transaction, caller.tenant, [proof], now)
    engine.scopes.forget(caller.tenant)
    engine.reranks.forget(caller.tenant)
    engine.governance.forget(caller.tenant)
    engine.intents.forget(caller.tenant)
    await audit.seal(engine, caller.tenant)
    return issued[0]


async def _next_ids(engine: Engine, caller: Caller, statement: str, whose: Mapping[str, Any]) -> list[UUID]:
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        return [row[0] for row in await transaction.all(statement, tenant=caller.tenant, **whose)]


async def _refuse_where_held(
    engine: Engine, caller: Caller, user: str | None, statement: str, whose: Mapping[str, Any], now: datetime
) -> None:
    """Refuse before anything goes where a hold covers a part: an erasure is whole or not at all."""
    ids = await _next_ids(engine, caller, statement, whose)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        for hold in await list_holds(transaction, caller.tenant):
            if user is None or hold.covers.get("user") == user:
                raise is_held("What was to be erased is" if user is None else "The user is", hold)
        await refuse_held_along(transaction, caller.tenant, ids, now)
