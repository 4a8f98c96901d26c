"""Feedback that names a recall: what is logged of one, who may judge it, what a judgement replaces, when it goes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.jobs.upkeep import tidy_tenant
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.replay import replayed, signature_of
from tests.forget.support import Owner, fill, holding

RATED = "SELECT memory_id, rating, rated_at FROM recall_hit WHERE rating IS NOT NULL ORDER BY memory_id"


def asked(memory: Ebbtide, query: str = "ferry", **how: Any) -> tuple[UUID, list[UUID]]:
    """The id of a recall, and of what came back."""
    answer = memory.recall(query, **how)
    assert answer.recall_id is not None
    return answer.recall_id, [hit.id for hit in answer]


def counts(owner: Owner) -> list[tuple[int, int]]:
    return owner.execute("SELECT positive, negative FROM strength ORDER BY memory_id").fetchall()


def test_the_log_has_ids_and_numbers_and_nothing_that_was_said(memory: Ebbtide, owner: Owner) -> None:
    fill(memory, "The ferry leaves at seven", "The ferry is blue")
    recall_id, ids = asked(memory, "When does the zebra ferry leave?", profile="agentium", min_score=0)
    memory.audit.entries()
    (row,) = owner.execute("SELECT id, profile, signature FROM recall_log").fetchall()
    assert row == (recall_id, "agentium", signature_of(PRESETS["agentium"]))
    hits = owner.execute("SELECT memory_id, place, relevance, readings FROM recall_hit ORDER BY place").fetchall()
    assert [hit[0] for hit in hits] == ids
    for _, _, relevance, readings in hits:
        import numpy as np

        assert replayed(PRESETS["agentium"], np.array([readings]))[0] == pytest.approx(relevance, rel=1e-5)
    assert holding(owner, "zebra") == set()
    assert "ferry" not in str(owner.execute("SELECT l::text, h::text FROM recall_log l, recall_hit h").fetchall())


@pytest.mark.parametrize("profile", ["tide", "ontheia", "ibex", "eryx", "temporal"])
def test_what_every_law_read_is_logged(memory: Ebbtide, owner: Owner, profile: str) -> None:
    fill(memory, "The ferry leaves at seven", "The ferry is blue")
    asked(memory, profile=profile, min_score=0, min_similarity=0)
    memory.audit.entries()
    lengths = owner.execute("SELECT cardinality(readings) FROM recall_hit").fetchall()
    known = memory.profiles.get(profile)
    expected = 9 if known.law == "listwise" else len(known.factors) + (known.law != "sum")
    assert lengths == [(expected,)] * 2


def test_a_memory_of_another_age_is_logged_though_hardly_anything_is_left_of_it(memory: Ebbtide, owner: Owner) -> None:
    memory.remember("The ferry leaves at seven", valid_from="2006-05-01")
    recall_id, _ = asked(memory, "When does the ferry leave?", profile="agentium", min_score=0)
    memory.audit.entries()
    rows = owner.execute("SELECT readings FROM recall_hit WHERE recall_id = %s", [recall_id]).fetchall()
    assert 0.0 in rows[0][0]


def test_a_block_names_its_recall_too(memory: Ebbtide, owner: Owner) -> None:
    (id_,) = fill(memory, "The ferry leaves at seven")
    block = memory.context("ferry")
    assert block.recall_id is not None
    assert memory.feedback(id_, "positive", recall=block.recall_id).usefulness == pytest.approx(2 / 3)
    assert owner.execute("SELECT cardinality(readings) FROM recall_hit").fetchall() == [(9,)]


def test_where_no_log_is_kept_a_recall_has_no_id(open_store: Any, settings: Any) -> None:
    memory = open_store(settings=settings.model_copy(update={"recall_log_days": 0}))
    (id_,) = fill(memory, "The ferry leaves at seven")
    assert memory.recall("ferry").recall_id is None
    assert memory.context("ferry").recall_id is None
    with pytest.raises(NotFound):
        memory.feedback(id_, "positive", recall=uuid4())


def test_where_nothing_is_to_be_learnt_no_readings_are_logged(open_store: Any, settings: Any, owner: Owner) -> None:
    memory = open_store(settings=settings.model_copy(update={"judgement_days": 0}))
    (id_,) = fill(memory, "The ferry leaves at seven")
    recall_id, _ = asked(memory)
    memory.feedback(id_, "positive", recall=recall_id)
    assert owner.execute("SELECT signature, readings, rating FROM recall_log, recall_hit").fetchall() == [
        (None, None, "positive")
    ]


def test_a_hit_has_one_rating_which_another_replaces(memory: Ebbtide, owner: Owner, clock: FixedClock) -> None:
    (id_,) = fill(memory, "The ferry leaves at seven")
    recall_id, _ = asked(memory)
    started = clock.now()
    for rating, useful in (
        ("positive", 2 / 3), ("positive", 2 / 3), ("negative", 1 / 3), ("neutral", 1 / 2), ("negative", 1 / 3),
    ):  # fmt: skip
        assert memory.feedback(id_, rating, recall=str(recall_id)).usefulness == pytest.approx(useful)  # type: ignore[arg-type]
        clock.advance(timedelta(minutes=1))
    assert owner.execute(RATED).fetchall() == [(id_, "negative", started + timedelta(minutes=4))]
    assert counts(owner) == [(0, 1)]
    told = [entry.detail for entry in memory.audit.entries(action="update")]
    assert [detail["rating"] for detail in told] == ["negative", "neutral", "negative", "positive"]
    assert {detail["recall"] for detail in told} == {str(recall_id)}
    # Without a recall, feedback adds up as before.
    assert memory.feedback(id_, "positive").usefulness == pytest.approx(1 / 2)


def refused(memory: Ebbtide, id_: UUID, recall: UUID) -> str:
    with pytest.raises(NotFound) as caught:
        memory.feedback(id_, "positive", recall=recall)
    assert caught.value.field == "recall"
    return str(caught.value).replace(str(recall), "…")


def test_a_recall_that_is_not_the_callers_is_refused_as_one_that_never_was(memory: Ebbtide, owner: Owner) -> None:
    ana = memory.scoped(user="ana")
    id_, other = fill(memory, "The ferry leaves at seven", "The kettle is cold")
    mine, _ = asked(ana, limit=1)
    memory.policies.set("default", Policy(read=["vector.*"], write="vector.global.memory", allow_write=True))
    scopes = ["memory:read", "memory:write"]
    elsewhere = memory.scoped(tenant="elsewhere")
    (theirs,) = fill(elsewhere, "The ferry leaves at seven")
    told = {
        refused(ana, id_, uuid4()),
        refused(ana, other, mine),
        refused(memory, id_, mine),
        refused(memory.scoped(user="ben"), id_, mine),
        refused(memory.as_agent("default", scopes, user="ben"), id_, mine),
        refused(elsewhere.scoped(user="ana"), theirs, mine),
    }
    assert len(told) == 1
    agent = memory.scoped(agent="another", user="ana")
    (same,) = fill(agent, "The ferry leaves at seven")
    assert refused(agent, same, mine) in told
    assert owner.execute(RATED).fetchall() == []
    assert memory.as_agent("default", scopes, user="ana").feedback(id_, "negative", recall=mine).usefulness < 0.5


def test_an_unacceptable_recall_is_named(memory: Ebbtide) -> None:
    (id_,) = fill(memory, "The ferry leaves at seven")
    with pytest.raises(InvalidInput) as caught:
        memory.feedback(id_, "positive", recall="yesterday's")
    assert caught.value.field == "recall"


def test_forgetting_a_memory_takes_its_ratings_along(memory: Ebbtide, owner: Owner) -> None:
    one, two = fill(memory, "The ferry leaves at seven", "The ferry is blue")
    recall_id, _ = asked(memory)
    for id_ in (one, two):
        memory.feedback(id_, "positive", recall=recall_id)
    receipt = memory.forget(one, 1)
    assert receipt.cleaned["recall log"] == 1
    assert memory.verify_receipt(receipt).valid
    assert [row[0] for row in owner.execute(RATED).fetchall()] == [two]
    with pytest.raises(NotFound):
        memory.feedback(one, "negative", recall=recall_id)


def test_erasing_a_user_takes_the_users_ratings_along(memory: Ebbtide, owner: Owner) -> None:
    ids = fill(memory, "The ferry leaves at seven")
    for user in ("ana", "ben"):
        caller = memory.scoped(user=user)
        caller.feedback(ids[0], "positive", recall=asked(caller)[0])
    memory.erase_user("ana")
    assert owner.execute(
        "SELECT r.user_id, h.rating FROM recall_log r, recall_hit h WHERE r.id = h.recall_id"
    ).fetchall() == [("ben", "positive")]


async def test_what_was_rated_is_kept_until_it_was_learnt_from(
    async_memory: AsyncEbbtide, owner: Owner, clock: FixedClock
) -> None:
    told = (await async_memory.remember("The ferry leaves at seven")).memory
    assert told is not None
    judged = (await async_memory.recall("ferry")).recall_id
    await async_memory.recall("ferry")
    await async_memory.feedback(told.id, "negative", recall=judged)
    engine = await async_memory.engine()
    for days, kept in ((29, 2), (2, 1), (333, 1), (2, 0)):
        clock.advance(timedelta(days=days))
        await tidy_tenant(engine, tenant="default")
        for table in ("recall_log", "recall_hit"):
            assert owner.execute(f"SELECT count(*) FROM {table}").fetchone() == (kept,)  # noqa: S608 (one of two names)


async def test_ratings_given_at_once_count_once(async_memory: AsyncEbbtide, owner: Owner) -> None:
    told = (await async_memory.remember("The ferry leaves at seven")).memory
    assert told is not None
    answer = await async_memory.recall("ferry")
    ratings = ["positive", "negative"] * 8
    judged = [async_memory.feedback(told.id, rating, recall=answer.recall_id) for rating in ratings]  # type: ignore[arg-type]
    await asyncio.gather(*judged)
    (rating,) = [row[1] for row in owner.execute(RATED).fetchall()]
    assert counts(owner) == [(int(rating == "positive"), int(rating == "negative"))]


async def test_a_recall_that_is_being_written_down_can_be_judged(async_memory: AsyncEbbtide) -> None:
    told = (await async_memory.remember("The ferry leaves at seven")).memory
    assert told is not None
    for _ in range(5):
        answers = await asyncio.gather(*(async_memory.recall("ferry") for _ in range(4)))
        await asyncio.gather(
            *(async_memory.feedback(told.id, "positive", recall=answer.recall_id) for answer in answers)
        )
    assert (await async_memory.get(told.id)).usefulness == pytest.approx(21 / 22)
