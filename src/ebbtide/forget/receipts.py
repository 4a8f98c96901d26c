"""Receipts: each erasure's proof, chained to the one before, and the check that nothing came back."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from pydantic import ValidationError

from ebbtide.errors import InvalidInput, NotFound
from ebbtide.identifiers import new_id, parse_id
from ebbtide.types.base import Page, page_of
from ebbtide.types.evidence import Erasure, Receipt, ReceiptCheck

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.forget.tombstone import Gone

__all__ = ["as_receipt", "issue", "list_receipts", "receipt_of", "verify_chain", "verify_receipt"]

Proof = TypeVar("Proof", Receipt, Erasure)

GENESIS = bytes(32)
CHAIN = {"number", "previous_digest", "digest"}
KEY_BYTES = 32
MOST_PROBLEMS = 100
NEVER = 2**62
"""Beyond the number of any receipt."""


def receipt_of(gone: Gone, audit_id: UUID, now: datetime) -> Receipt:
    """The receipt for one memory that went, not yet in the chain."""
    key = secrets.token_bytes(KEY_BYTES)
    return Receipt(
        receipt_id=new_id(now),
        id=gone.id,
        revision=gone.revision,
        forgotten_at=now,
        agent=gone.agent,
        cleaned=dict(gone.cleaned),
        content_digest=hmac.digest(key, gone.content_hash, "sha256").hex(),
        audit_ids=(audit_id,),
        opening=key.hex(),
    )


def body_of(proof: Receipt | Erasure) -> str:
    """What a digest is over: the proof without its place in the chain, as JSON with sorted keys and no white space."""
    return json.dumps(proof.model_dump(mode="json", exclude=CHAIN), sort_keys=True, separators=(",", ":"))


async def issue(transaction: Transaction, tenant: str, proofs: Sequence[Proof], now: datetime) -> list[Proof]:
    """Add proofs to the end of the tenant's chain, which the caller has locked; answers with them as links."""
    if not proofs:
        return []
    last = await transaction.one("forget.last_receipt", tenant=tenant)
    number, previous = (last[0], bytes(last[1])) if last is not None else (0, GENESIS)
    bodies = [body_of(proof) for proof in proofs]
    digests: list[bytes] = []
    for body in bodies:
        digests.append(hashlib.sha256((digests[-1] if digests else previous) + body.encode()).digest())
    befores = [previous, *digests[:-1]]
    numbers = list(range(number + 1, number + 1 + len(proofs)))
    await transaction.run(
        "forget.keep_receipts",
        tenant=tenant,
        receipt_ids=[proof.receipt_id for proof in proofs],
        numbers=numbers,
        ids=[proof.id if isinstance(proof, Receipt) else None for proof in proofs],
        bodies=bodies,
        previous_digests=befores,
        digests=digests,
        now=now,
    )
    return [
        proof.model_copy(update={"number": place, "previous_digest": before.hex(), "digest": digest.hex()})
        for proof, place, before, digest in zip(proofs, numbers, befores, digests, strict=True)
    ]


async def list_receipts(
    transaction: Transaction,
    tenant: str,
    *,
    about: UUID | None = None,
    before: int = NEVER,
    limit: int = 50,
) -> Page[Receipt | Erasure]:
    """Links of the chain, the newest first; or the one with an id, its own or its memory's."""
    if about is not None:
        rows = await transaction.named("forget.receipts_by", tenant=tenant, id=about)
    else:
        rows = await transaction.named("forget.receipts", tenant=tenant, before=before, limit=limit + 1)
    chained = (
        {
            **json.loads(row.body),
            "number": row.number,
            "previous_digest": row.previous_digest.hex(),
            "digest": row.digest.hex(),
        }
        for row in rows
    )
    return page_of([as_receipt(values) for values in chained], limit, lambda one: one.number)


def as_receipt(values: Any) -> Receipt | Erasure:
    """A receipt from itself or from its fields.

    Raises:
        InvalidInput: it is none.
    """
    if isinstance(values, Receipt | Erasure):
        return values
    fields = dict(cast("Mapping[str, Any]", values)) if isinstance(values, Mapping) else dict[str, Any]()
    model = Erasure if fields.get("subject") in ("user", "tenant") else Receipt
    try:
        return model.model_validate(fields)
    except ValidationError:
        raise InvalidInput(
            "That is not a receipt.", field="receipt", remedy="Give what forget answered with, or its id."
        ) from None


async def verify_chain(transaction: Transaction, tenant: str) -> list[str]:
    """What is wrong with the tenant's chain of receipts."""
    broken = await transaction.all("forget.broken_receipts", tenant=tenant, limit=MOST_PROBLEMS)
    return [f"receipt {number} ({id_}) was altered, or the one before is gone" for number, id_ in broken]


async def verify_receipt(transaction: Transaction, tenant: str, given: Any) -> ReceiptCheck:
    """Whether what a receipt says went is gone from every place, and the receipt itself is as it was issued.

    Raises:
        InvalidInput: it is neither a receipt nor the id of one.
        NotFound: there is no receipt of that id.
    """
    by_id = isinstance(given, UUID | str)
    proof = None if by_id else as_receipt(given)
    id_ = parse_id(given, "receipt") if proof is None else proof.receipt_id
    stored = await list_receipts(transaction, tenant, about=id_)
    if not stored:
        raise NotFound(f"There is no receipt {id_}.", field="receipt", remedy="Check its id and the tenant.")
    proof = proof or stored[0]
    problems = await verify_chain(transaction, tenant)
    if proof.model_dump() != stored[0].model_dump():
        problems.append("the receipt is not as it was issued")
    ids = await _subjects(transaction, tenant, stored[0])
    places = (await transaction.named("forget.traces", tenant=tenant, ids=ids))[0]._asdict()
    tombstones = places.pop("tombstones")
    if tombstones != len(ids):
        problems.append(f"{len(ids) - tombstones} tombstones are gone")
    problems += [f"{count} rows are left in {place.replace('_', ' ')}" for place, count in places.items() if count]
    audited = await transaction.all("forget.audited", tenant=tenant, ids=list(stored[0].audit_ids))
    if len(audited) != len(stored[0].audit_ids):
        problems.append("the audit's rows of the deed are gone")
    return ReceiptCheck(valid=not problems, problems=tuple(problems), places=places)


async def _subjects(transaction: Transaction, tenant: str, proof: Receipt | Erasure) -> list[UUID]:
    """The memories that a proof says went."""
    if isinstance(proof, Receipt):
        return [proof.id]
    if proof.first_receipt is None:
        return []
    rows = await transaction.all("forget.numbered", tenant=tenant, first=proof.first_receipt, last=proof.last_receipt)
    return [row[0] for row in rows]
