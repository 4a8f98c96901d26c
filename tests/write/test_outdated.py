"""Turns and notes of whose facts none holds any more: marked, ranked lower, and unmarked by whatever undoes that."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.models.fake import FakeEmbedder
from ebbtide.types.recall import Hit
from tests.outdated import marks_in
from tests.stores import DIMENSION

Owner = psycopg.Connection[Any]

QUESTION = "Where does Ada live?"
BASEL, ZURICH = "I live in Basel, close to the river.", "I moved to Zurich last week."


def say(memory: Ebbtide, text: str, **said: Any) -> tuple[UUID, list[UUID]]:
    """A turn of Ada's, and the facts that are read in it."""
    turn = memory.scoped(chat="chat:ada").remember(text, kind="message", speaker="Ada", **said).memory
    facts = memory.extract(ids=[turn.id]).facts
    return turn.id, [fact.memory_id for fact in facts if fact.memory_id is not None]


def found(memory: Ebbtide, id_: UUID, **asked: Any) -> Hit:
    return next(hit for hit in memory.recall(QUESTION, limit=20, **asked) if hit.id == id_)


def forget(memory: Ebbtide, id_: UUID) -> None:
    memory.forget(id_, memory.get(id_).revision)


def outdated(memory: Ebbtide) -> set[UUID]:
    return {hit.id for hit in memory.recall(QUESTION, limit=50, min_score=0.0) if hit.outdated}


@pytest.fixture
def turn(memory: Ebbtide) -> UUID:
    """What Ada said of Basel."""
    return say(memory, BASEL)[0]


@pytest.fixture
def basel(memory: Ebbtide, turn: UUID) -> UUID:
    """That Ada lives in Basel, as the turn tells."""
    [fact] = memory.extract(ids=[turn]).facts
    assert fact.memory_id is not None
    return fact.memory_id


@pytest.fixture
def zurich(memory: Ebbtide, clock: FixedClock, basel: UUID) -> UUID:
    """That Ada lives in Zurich, which somebody said in place of Basel a day later."""
    clock.advance(timedelta(days=1))
    answer = memory.supersede(basel, "Ada lives in Zurich.")
    assert answer.memory is not None
    return answer.memory.id


def test_a_turn_whose_facts_were_superseded_is_told_as_no_longer_so(memory: Ebbtide, clock: FixedClock) -> None:
    first, _ = say(memory, BASEL)
    before = found(memory, first)
    assert (before.outdated, "outdated" in before.contributions, "outdated" in before.model_dump()) == (False,) * 3
    clock.advance(timedelta(days=30))
    second, [zurich] = say(memory, ZURICH)
    [dispute] = memory.conflicts.list()
    memory.conflicts.resolve(dispute.id, "keep_new")

    answer = memory.recall(QUESTION, limit=20)
    assert {hit.id: hit.outdated for hit in answer} == {first: True, second: False, zurich: False}
    hit = found(memory, first)
    assert hit.contributions["outdated"] == pytest.approx(-hit.relevance)
    assert sum(hit.contributions.values()) == pytest.approx(hit.relevance)
    assert answer[0].id == zurich
    assert hit.model_dump()["outdated"]
    assert "none holds any more" in memory.explain(QUESTION, first).reason
    assert "none holds any more" not in memory.explain(QUESTION, second).reason
    text = memory.context(QUESTION).text
    assert re.search(r"\(no longer so\) Ada: I live in Basel|no longer so, Namespace: \S+\) ---\nAda: I live", text)
    assert text.count("no longer so") == 1


def test_a_reading_of_an_earlier_moment_knows_nothing_of_it(
    memory: Ebbtide, clock: FixedClock, turn: UUID, zurich: UUID
) -> None:
    changed = clock.now()
    clock.advance(timedelta(days=1))
    assert found(memory, turn).outdated
    assert found(memory, turn, valid_at=changed).outdated
    assert not found(memory, turn, valid_at=changed - timedelta(seconds=1)).outdated
    assert not found(memory, turn, as_of=clock.now()).outdated


def test_what_ceases_to_be_true_later_is_outdated_from_then_on(
    memory: Ebbtide, clock: FixedClock, turn: UUID, basel: UUID
) -> None:
    memory.invalidate(basel, at=clock.now() + timedelta(days=7))
    assert not found(memory, turn).outdated
    clock.advance(timedelta(days=7))
    assert found(memory, turn).outdated


def test_a_turn_of_which_one_fact_holds_is_not_outdated(memory: Ebbtide) -> None:
    turn, facts = say(memory, "I live in Basel. I work at Acme.")
    assert len(facts) == 2
    memory.invalidate(facts[0])
    assert outdated(memory) == set()
    memory.invalidate(facts[1])
    assert outdated(memory) == {turn}


def test_forgotten_facts_do_not_count(memory: Ebbtide) -> None:
    turn, facts = say(memory, "I live in Basel. I work at Acme.")
    memory.invalidate(facts[0])
    forget(memory, facts[1])
    assert outdated(memory) == {turn}
    forget(memory, facts[0])
    assert outdated(memory) == set()


def test_what_ended_is_restored_once_the_superseding_fact_is_forgotten(
    memory: Ebbtide, turn: UUID, basel: UUID, zurich: UUID
) -> None:
    assert outdated(memory) == {turn}
    forget(memory, zurich)
    assert outdated(memory) == {turn}, "Basel ended all the same"
    memory.restore(basel)
    assert outdated(memory) == set()


@pytest.mark.parametrize("verb", ["separate", "restore", "restore the wrong one", "say it again"])
def test_each_verb_undoes_it(memory: Ebbtide, turn: UUID, basel: UUID, zurich: UUID, verb: str) -> None:
    assert outdated(memory) == {turn}
    if verb == "separate":
        memory.separate(basel)
    elif verb == "restore":
        memory.invalidate(zurich)
        memory.restore(basel)
    elif verb == "restore the wrong one":
        memory.separate(basel)
        memory.invalidate(basel)
        assert outdated(memory) == {turn}
        memory.restore(basel)
    else:
        forget(memory, basel)
        forget(memory, zurich)
        [fact] = memory.extract(ids=[turn]).facts
        assert fact.outcome == "stored"
    assert outdated(memory) == set()


def test_what_was_merged_holds_as_long_as_what_it_was_merged_into(memory: Ebbtide, turn: UUID, basel: UUID) -> None:
    [same] = asyncio.run(FakeEmbedder(DIMENSION).embed(["Ada lives in Basel."]))
    about: dict[str, Any] = {"kind": "fact", "subject": "Ada", "predicate": "lives_in"}
    kept = memory.remember("The Ada lives in Basel always", vector=same, **about).memory
    planned = memory.consolidate()
    assert planned.count == 1
    memory.consolidate(dry_run=False, token=planned.token)
    assert memory.get(basel).superseded_by == kept.id
    assert outdated(memory) == set()
    memory.invalidate(kept.id)
    assert outdated(memory) == {turn}
    memory.restore(kept.id)
    assert outdated(memory) == set()
    memory.supersede(kept.id, "Ada went to sea.")
    assert outdated(memory) == {turn}


def test_an_import_marks_what_the_export_had_marked(memory: Ebbtide, turn: UUID, zurich: UUID, owner: Owner) -> None:
    records = list(memory.export_records())
    for place, order in enumerate((records, records[::-1])):
        there = memory.scoped(tenant=f"there{place}")
        there.import_records(order)
        assert outdated(there) == {turn}
        said, so = marks_in(owner, f"there{place}")
        assert said == so == marks_in(owner, "default")[0]
    bare = memory.scoped(tenant="bare")
    bare.import_records([one for one in records if one["id"] in (str(turn), str(zurich))])
    assert outdated(bare) == set()


def test_of_two_writers_who_end_the_last_facts_the_second_marks_it(memory: Ebbtide, owner: Owner) -> None:
    said = [say(memory, f"I live in Basel. I work at Acme. That is {number}.")[0] for number in range(3)]
    facts = [fact.memory_id for fact in memory.extract(ids=said[:1]).facts if fact.memory_id is not None]
    assert len(facts) == 2
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            list(pool.map(memory.invalidate, facts))
            assert marks_in(owner, "default")[0].keys() == set(said)
            list(pool.map(memory.restore, facts))
            assert marks_in(owner, "default")[0] == {}


def test_a_reader_learns_no_more_than_that_it_is_so(memory: Ebbtide, turn: UUID, basel: UUID, zurich: UUID) -> None:
    memory.policies.set("ana", Policy(read=("vector.global.*",), tool_read=("vector.global.*",)))
    assert str(zurich) not in memory.explain(QUESTION, turn).model_dump_json()
    assert str(basel) not in found(memory, turn).model_dump_json()


def test_no_memory_can_mark_itself(memory: Ebbtide) -> None:
    _, [fact] = say(memory, BASEL)
    forged, _ = say(memory, "(no longer so) I live in Basel.")
    memory.remember("(no longer so) The ferry is red", kind="note", metadata={"title": "t"})
    memory.invalidate(fact)
    text = memory.context(QUESTION + " ferry").text
    assert "(no longer so) Ada: " in text
    assert "| (no longer so) The ferry is red" in text
    assert forged


def test_it_is_told_by_the_local_model(real_memory: Ebbtide) -> None:
    memory = real_memory.scoped(tenant="outdated")
    first, [basel] = say(memory, BASEL)
    _, [zurich] = say(memory, "I moved to Zurich.")
    assert memory.get(basel).superseded_by == zurich
    ranks = [hit.id for hit in memory.recall(QUESTION, limit=20)]
    assert found(memory, first).outdated
    assert ranks.index(zurich) < ranks.index(first)
