"""Erasing a user and a tenant: everything of theirs goes, nothing of anybody else's, and each erasure is proven."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput, NotFound
from tests.forget.support import Owner, contents, fill, holding, tables

KEPT = {"tombstone", "receipt", "audit", "audit_seal", "tenant"}


def test_everything_of_a_user_goes_whichever_agent_has_it(memory: Ebbtide, owner: Owner) -> None:
    ana = memory.scoped(user="ana", session="s", chat="c")
    fill(ana, "likes oranges", "lives in Oslo")
    memory.scoped(agent="b", user="ana").remember("rows on Fridays")
    fill(memory, "said by ana", namespace="vector.user.ana.diary")
    memory.remember("plays chess", namespace="vector.agent.ana")
    gone = ana.remember("was here").memory
    ana.forget(gone.id, 1)
    ana.recall("oranges")
    bystanders = [
        memory.scoped(user="bob"),
        memory.scoped(user="anan"),
        memory.scoped(user="a_a"),
        memory.scoped(tenant="t", user="ana"),
    ]
    for handle in bystanders:
        handle.remember("likes oranges")
    memory.remember("Ana is a user", namespace="vector.agent.anatole.x")
    proof = memory.erase_user("ana")
    assert (proof.memories, proof.user, proof.subject) == (5, "ana", "user")
    assert proof.cleaned["recall log"] > 0
    assert memory.verify_receipt(proof).valid
    assert holding(owner, "oranges") == {"memory"}
    # What is left of the name is who did it, and the proof.
    assert holding(owner, "ana,") | holding(owner, "ana.") <= {"receipt", "audit", "memory"}
    assert owner.execute("SELECT count(*) FROM memory WHERE user_id = 'ana' AND tenant_id = 'default'").fetchone() == (
        0,
    )
    for handle in bystanders:
        assert contents(handle.browse()) == ["likes oranges"]
    assert contents(memory.browse(namespaces="vector.agent.anatole.*")) == ["Ana is a user"]


def test_each_memory_has_a_receipt(memory: Ebbtide) -> None:
    ids = fill(memory.scoped(user="ana"), *(f"statement {number}" for number in range(25)))
    proof = memory.erase_user("ana")
    listed = memory.receipts.list(limit=1000)
    assert listed[0].model_dump() == proof.model_dump()
    assert (proof.first_receipt, proof.last_receipt, proof.number) == (1, 25, 26)
    for id_ in ids:
        receipt = memory.receipts.list(id_)[0]
        assert memory.verify_receipt(receipt).valid
        with pytest.raises(NotFound):
            memory.get(id_)


def test_a_user_without_memories_has_a_proof_too(memory: Ebbtide) -> None:
    proof = memory.erase_user("nobody")
    assert (proof.memories, proof.first_receipt, proof.last_receipt) == (0, None, None)
    assert memory.verify_receipt(proof).valid


@pytest.mark.parametrize("user", ["", "a.b", "*", None, "a b", 7])
def test_a_user_is_a_name(memory: Ebbtide, user: Any) -> None:
    memory.scoped(user="ana").remember("x")
    with pytest.raises(InvalidInput) as caught:
        memory.erase_user(user)
    assert caught.value.field == "user"
    assert len(memory.scoped(user="ana").browse()) == 1


def test_conversations_around_the_user_stay_whole(memory: Ebbtide, owner: Owner) -> None:
    ana, bob = memory.scoped(user="ana", chat="c"), memory.scoped(user="bob", chat="c")
    ana.remember("alpha one", seq=0)
    bob.remember("beta two", seq=1)
    ana.remember("gamma three", seq=2)
    bob.remember("delta four", seq=3)
    memory.erase_user("ana")
    rows = owner.execute("SELECT sequence, context_embedding IS NULL FROM memory ORDER BY sequence").fetchall()
    assert rows == [(1, True), (3, False)]


def test_a_later_tamper_shows_in_the_erasures_proof(memory: Ebbtide, owner: Owner) -> None:
    id_ = memory.scoped(user="ana").remember("x").memory.id
    proof = memory.erase_user("ana")
    owner.execute("DELETE FROM tombstone WHERE id = %s", [id_])
    assert not memory.verify_receipt(proof).valid


def test_a_tenant_goes_whole_and_alone(memory: Ebbtide, owner: Owner) -> None:
    fill(memory.scoped(user="ana", session="s", chat="c"), "one", "two")
    fill(memory.scoped(agent="b"), "three")
    memory.recall("one")
    memory.rules.add("vector.*", bonus=0.1)
    memory.profiles.save({**memory.profiles.get("ibex").model_dump(mode="json"), "name": "own"})
    other = memory.scoped(tenant="other")
    other.remember("one")
    for confirm in ("", "other", "DEFAULT"):
        with pytest.raises(InvalidInput) as caught:
            memory.erase_tenant(confirm=confirm)
        assert caught.value.field == "confirm"
    proof = memory.erase_tenant(confirm="default")
    assert (proof.subject, proof.memories) == ("tenant", 3)
    assert memory.verify_receipt(proof).valid
    assert memory.audit.verify().valid
    assert memory.audit.verify().unsealed == 0
    for table in tables(owner):
        columns = owner.execute("SELECT * FROM information_schema.columns WHERE table_name = %s", [table]).fetchall()
        if table in KEPT or not any("tenant_id" in column for column in columns):
            continue
        left = owner.execute(
            sql.SQL("SELECT count(*) FROM {} WHERE tenant_id = 'default'").format(sql.Identifier(table))
        )
        assert left.fetchone() == (0,), table
    assert contents(other.browse()) == ["one"]
    assert memory.rules.list() == []
    assert memory.remember("one").outcome == "stored"
