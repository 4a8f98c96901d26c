"""Forgetting while others recall, revise, mention and seal: every receipt verifies, and nothing comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Receipt
from ebbtide.errors import EbbtideError
from ebbtide.read.reinforce import flush
from tests.forget.support import Owner


async def attempt(call: Any) -> Any:
    """The call's answer, or the refusal that another's being first brought about."""
    try:
        return await call
    except EbbtideError as error:
        return error


@pytest.mark.parametrize("seed", range(3))
async def test_races_leave_nothing_behind(async_memory: AsyncEbbtide, owner: Owner, seed: int) -> None:
    caller = async_memory.scoped(user="ana", session="s", chat=f"c{seed}")
    answers = await caller.remember_many(
        [{"content": f"secret {number} ferry", "seq": number, "idempotency_key": f"k{number}"} for number in range(12)]
    )
    ids = [answer.memory.id for answer in answers if answer.memory is not None]
    engine = await caller.engine()

    async def recall() -> None:
        for _ in range(6):
            await caller.recall("ferry", profile="agentium", min_score=0)
            await flush(engine)

    async def seal() -> None:
        for _ in range(6):
            await caller.audit.seal()

    done = await asyncio.gather(
        *(attempt(caller.forget(id_, 1)) for id_ in ids),
        *(attempt(caller.revise(id_, f"revised {number} {seed}")) for number, id_ in enumerate(ids[::3])),
        *(attempt(caller.remember(f"correction {number}", supersedes=id_)) for number, id_ in enumerate(ids[::4])),
        attempt(caller.remember("secret 5 ferry")),
        recall(),
        seal(),
    )
    await flush(engine)
    receipts = [one for one in done if isinstance(one, Receipt)]
    assert receipts
    for receipt in receipts:
        check = await caller.verify_receipt(receipt)
        assert check.valid, check.problems
    forgotten = {receipt.id for receipt in receipts}
    assert not forgotten & {hit.id for hit in await caller.recall("ferry", profile="agentium", min_score=0)}
    assert (await caller.audit.verify()).valid
    assert await caller.receipts.verify() == ()


async def test_two_erasures_at_once_are_both_whole(async_memory: AsyncEbbtide) -> None:
    ana = async_memory.scoped(user="ana")
    await ana.remember_many([f"statement {number}" for number in range(40)])
    proofs = await asyncio.gather(*(async_memory.erase_user("ana") for _ in range(3)))
    assert sum(proof.memories for proof in proofs) == 40
    for proof in proofs:
        assert (await async_memory.verify_receipt(proof)).valid
    assert await async_memory.receipts.verify() == ()


async def test_a_hold_and_a_forgetting_at_once_never_both_win(async_memory: AsyncEbbtide) -> None:
    for number in range(8):
        told = (await async_memory.remember(f"statement {number}")).memory
        assert told is not None
        held, gone = await asyncio.gather(
            attempt(async_memory.holds.place(ids=[told.id], reason="r")), attempt(async_memory.forget(told.id, 1))
        )
        assert isinstance(held, EbbtideError) != isinstance(gone, EbbtideError)
