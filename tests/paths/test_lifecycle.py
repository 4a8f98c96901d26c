"""Supersede, invalidate, restore, confirm, importance, feedback: what they change, refuse, keep and write down."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any
from uuid import UUID, uuid4

import pytest

from ebbtide import Ebbtide, Settings
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, EbbtideError, InvalidInput, NotFound, StaleRevision
from tests.conftest import Opener
from tests.stores import SETTINGS, START

DAY = timedelta(days=1)


def contents(answer: Any) -> set[str]:
    return {found.content for found in answer}


def audit_of(owner: Any, id_: UUID) -> list[tuple[str, dict[str, Any]]]:
    """What was written down about a memory after its first writing, in the order of the transactions."""
    query = "SELECT action, detail FROM audit WHERE memory_id = %s AND action <> 'write' ORDER BY xmin::text::bigint"
    return owner.execute(query, [id_]).fetchall()


def test_supersede_is_remember_with_a_predecessor(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The channel is 72", importance=0.9).memory
    clock.advance(DAY)
    answer = memory.supersede(str(old.id), "The channel is 77", tags=["radio"], importance=0.4, valid_from=START + DAY)
    assert (answer.outcome, answer.memory.tags, answer.memory.importance) == ("superseded", ("radio",), 0.9)
    was = memory.get(old.id)
    assert (was.maturity, was.superseded_by, was.revision) == ("superseded", answer.memory.id, 2)
    assert was.invalidated_at == START + DAY
    assert contents(memory.recall("channel")) == {"The channel is 77"}
    assert contents(memory.browse(valid_at=START)) == {"The channel is 72"}


def test_one_of_predecessor_and_successor_is_true_at_any_moment(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The channel is 72").memory
    clock.advance(2 * DAY)
    assert memory.supersede(old.id, "The channel is 77").memory.valid_from == START + 2 * DAY
    newest = memory.supersede(old.id, "The channel is 16", observed_at=START + 3 * DAY).memory
    assert newest.valid_from == newest.observed_at == START + 3 * DAY
    told = [contents(memory.browse(valid_at=START + day * DAY)) for day in (-1, 1, 2, 3, 9)]
    assert told == [{f"The channel is {number}"} for number in (72, 72, 77, 16, 16)]
    assert memory.revise(newest.id, "The channel is 17").valid_from == START + 3 * DAY


def test_importance_is_inherited_as_a_floor(memory: Ebbtide) -> None:
    first = memory.remember("one", importance=0.7).memory
    assert memory.supersede(first.id, "two").memory.importance == 0.7
    assert memory.supersede(first.id, "three", importance=0.95).memory.importance == 0.95
    assert memory.update_importance(memory.supersede(first.id, "four").memory.id, 0.2).importance == 0.2
    assert memory.supersede(first.id, "five", importance=0.1).memory.importance == 0.2


def test_supersede_checks_its_arguments(memory: Ebbtide) -> None:
    id_ = memory.remember("x").memory.id
    refused: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("old_id", (None, "y"), {}),
        ("old_id", ("nonsense", "y"), {}),
        ("content", (id_, " "), {}),
        ("rumour", (id_, "y"), {"rumour": 1}),
        ("importance", (id_, "y"), {"importance": 7}),
    ]
    for field, positional, named in refused:
        with pytest.raises(InvalidInput) as caught:
            memory.supersede(*positional, **named)
        assert caught.value.field == field
    with pytest.raises(NotFound):
        memory.supersede(uuid4(), "y")
    assert contents(memory.browse()) == {"x"}


def test_what_was_wrong_is_recalled_at_no_moment_but_was_known(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    id_ = memory.remember("The ferry leaves at seven", valid_from=START - DAY).memory.id
    clock.advance(DAY)
    wrong = memory.invalidate(id_)
    assert (wrong.maturity, wrong.status, wrong.revision) == ("invalidated", "active", 2)
    assert wrong.invalidated_at == wrong.updated_at == START + DAY
    assert memory.get(id_) == wrong
    for moment in (None, START - DAY, START, START + DAY, START + 9 * DAY):
        assert contents(memory.recall("ferry", valid_at=moment, include_superseded=True)) == set()
        assert contents(memory.browse(valid_at=moment)) == set()
    assert contents(memory.recall("ferry", as_of=START)) == {"The ferry leaves at seven"}
    assert contents(memory.browse(as_of=START + DAY)) == set()
    assert [version.maturity for version in memory.history(id_)] == ["unconfirmed", "invalidated"]
    explained = memory.explain("ferry", id_)
    assert (explained.stage, explained.rule, explained.reason) == ("scope", "wrong", "It was found to be wrong.")
    assert audit_of(owner, id_) == [("status", {"from": "unconfirmed", "to": "invalidated", "revision": 2})]
    assert memory.invalidate(id_) == wrong


def test_what_ceased_to_be_true_stays_true_before(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    id_ = memory.remember("The ferry leaves at seven", valid_from=START - 5 * DAY).memory.id
    ended = memory.invalidate(id_, at=START - DAY, expected_revision=1)
    assert (ended.maturity, ended.invalidated_at, ended.revision) == ("unconfirmed", START - DAY, 2)
    assert contents(memory.browse()) == set()
    assert contents(memory.browse(valid_at=START - 2 * DAY)) == {"The ferry leaves at seven"}
    assert contents(memory.browse(valid_at=START - DAY)) == set()
    later = memory.invalidate(id_, "2026-03-04")
    assert later.invalidated_at is not None
    assert later.invalidated_at.isoformat() == "2026-03-04T00:00:00+00:00"
    assert len(memory.browse()) == 1
    clock.advance(3 * DAY)
    assert memory.browse() == []
    assert [detail["operation"] for _, detail in audit_of(owner, id_)] == ["invalidate", "invalidate"]
    with pytest.raises(InvalidInput) as caught:
        memory.invalidate(id_, at="2026")
    assert caught.value.field == "at"


def test_a_planned_end_does_not_outlive_a_successor(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The channel is 72").memory
    memory.invalidate(old.id, at=START + 30 * DAY)
    clock.advance(DAY)
    memory.supersede(old.id, "The channel is 77")
    assert memory.get(old.id).invalidated_at == START + DAY
    assert contents(memory.browse()) == {"The channel is 77"}


def test_what_is_restored_holds_again(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    memory.confirm(id_)
    memory.invalidate(id_)
    clock.advance(DAY)
    restored = memory.restore(id_)
    assert (restored.maturity, restored.status, restored.invalidated_at) == ("unconfirmed", "active", None)
    assert (restored.confirmed_at, restored.revision) == (None, 4)
    assert len(memory.recall("ferry")) == 1
    assert contents(memory.browse(as_of=START + DAY / 2)) == set()
    assert memory.restore(id_) == restored
    assert [(detail["from"], detail["to"]) for _, detail in audit_of(owner, id_)] == [
        ("unconfirmed", "confirmed"),
        ("confirmed", "invalidated"),
        ("invalidated", "unconfirmed"),
    ]


@pytest.mark.parametrize("status", ["archived", "quarantined", "deleted"])
def test_what_was_put_away_comes_back(memory: Ebbtide, owner: Any, status: str) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    memory.confirm(id_)
    owner.execute("UPDATE memory SET status = %s, deleted_at = updated_at WHERE id = %s", [status, id_])
    with pytest.raises(Conflict):
        memory.confirm(id_)
    restored = memory.restore(id_)
    assert (restored.status, restored.maturity) == ("active", "confirmed")
    assert owner.execute("SELECT deleted_at FROM memory").fetchone() == (None,)
    assert audit_of(owner, id_)[-1][1] == {"from": status, "to": "active", "revision": 3}


def test_what_expired_comes_back_without_an_end(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("The ferry leaves at seven", ttl_seconds=60).memory.id
    kept = memory.restore(id_)
    assert kept.expires_at is not None
    clock.advance(DAY)
    assert memory.browse() == []
    assert memory.restore(id_).expires_at is None
    assert len(memory.browse()) == 1


def test_what_was_said_anew_is_not_restored_beside_it(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    memory.invalidate(id_)
    clock.advance(DAY)
    again = memory.remember("The ferry leaves at seven")
    assert again.outcome == "stored"
    with pytest.raises(Conflict, match="says just that"):
        memory.restore(id_)
    assert memory.get(id_).status == "archived"
    memory.forget(again.memory.id, 1)
    assert memory.restore(id_).status == "active"


def test_a_predecessor_is_restored_only_when_nothing_holds_in_its_place(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The channel is 72").memory
    clock.advance(DAY)
    new = memory.supersede(old.id, "The channel is 77").memory
    with pytest.raises(Conflict, match=str(new.id)):
        memory.restore(old.id)
    memory.invalidate(new.id)
    restored = memory.restore(old.id)
    assert (restored.superseded_by, restored.invalidated_at, restored.maturity) == (None, None, "unconfirmed")
    assert contents(memory.recall("channel")) == {"The channel is 72"}
    newest = memory.supersede(old.id, "The channel is 16").memory
    memory.forget(newest.id, newest.revision)
    assert memory.restore(old.id).superseded_by is None


def test_a_predecessor_that_was_wrong_is_wrong_for_its_time_too(memory: Ebbtide, clock: FixedClock) -> None:
    old = memory.remember("The channel is 72").memory
    clock.advance(DAY)
    memory.supersede(old.id, "The channel is 77", valid_from=clock.now())
    assert contents(memory.browse(valid_at=START)) == {"The channel is 72"}
    wrong = memory.invalidate(old.id)
    assert (wrong.maturity, wrong.invalidated_at) == ("invalidated", START + DAY)
    assert contents(memory.browse(valid_at=START)) == set()
    assert memory.restore(old.id).maturity == "superseded"
    assert contents(memory.browse(valid_at=START)) == {"The channel is 72"}
    wrong = memory.remember("The gate is green").memory
    memory.invalidate(wrong.id)
    memory.supersede(wrong.id, "The gate is red")
    assert memory.get(wrong.id).maturity == "invalidated"
    assert "The gate is green" not in contents(memory.browse(include_superseded=True, valid_at=START))


def test_a_confirmation_is_dated_and_renewed(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    clock.advance(DAY)
    confirmed = memory.confirm(str(id_), expected_revision=1)
    assert (confirmed.maturity, confirmed.confirmed_at, confirmed.revision) == ("confirmed", START + DAY, 2)
    assert "confirmed by the user on 3/3/2026" in memory.context("ferry").text
    assert "confirmed by the user on" not in memory.context("ferry", as_of=START).text
    clock.advance(DAY)
    assert memory.confirm(id_).confirmed_at == START + 2 * DAY
    assert audit_of(owner, id_)[0] == ("status", {"from": "unconfirmed", "to": "confirmed", "revision": 2})


def test_only_what_holds_is_confirmed(memory: Ebbtide) -> None:
    old = memory.remember("one").memory
    memory.supersede(old.id, "two")
    with pytest.raises(Conflict, match="superseded"):
        memory.confirm(old.id)
    wrong = memory.remember("three").memory
    memory.invalidate(wrong.id)
    with pytest.raises(Conflict, match="invalidated"):
        memory.confirm(wrong.id)


def test_importance_is_overridden(memory: Ebbtide, owner: Any) -> None:
    id_ = memory.remember("x").memory.id
    changed = memory.update_importance(id_, 0.95)
    assert (changed.importance, changed.revision) == (0.95, 2)
    assert memory.update_importance(id_, 0.95).revision == 2
    assert memory.update_importance(id_, 0, expected_revision=2).importance == 0.0
    assert audit_of(owner, id_)[0] == ("update", {"operation": "importance", "from": 0.5, "to": 0.95, "revision": 2})
    for value in (-0.1, 1.1, "high", True, None, float("nan")):
        with pytest.raises(InvalidInput) as caught:
            memory.update_importance(id_, value)  # type: ignore[arg-type]
        assert caught.value.field == "value"


def test_usefulness_is_smoothed(memory: Ebbtide, clock: FixedClock, owner: Any) -> None:
    stored = memory.remember("x").memory
    assert stored.usefulness == 0.5
    expected = {"positive": Fraction(2, 3), "negative": Fraction(1, 2), "neutral": Fraction(1, 2)}
    clock.advance(DAY)
    for rating, value in expected.items():
        judged = memory.feedback(stored.id, rating)  # type: ignore[arg-type]
        assert judged.usefulness == pytest.approx(float(value), abs=1e-15)
    assert [memory.feedback(stored.id, "positive").usefulness for _ in range(3)] == pytest.approx([3 / 5, 4 / 6, 5 / 7])
    now = memory.get(stored.id)
    assert (now.revision, now.updated_at, now.content) == (1, START, "x")
    details = [detail for _, detail in audit_of(owner, stored.id)]
    assert [detail["rating"] for detail in details] == [*expected, *["positive"] * 3]
    assert all(detail["operation"] == "feedback" for detail in details)


def test_a_negative_rating_alone_gives_a_third(memory: Ebbtide) -> None:
    assert memory.feedback(memory.remember("x").memory.id, "negative").usefulness == pytest.approx(1 / 3)


def test_usefulness_weighs_in_a_ranking_that_asks_for_it(memory: Ebbtide) -> None:
    one, two = (memory.remember(f"ferry {word}").memory.id for word in ("alpha", "omega"))
    for _ in range(3):
        memory.feedback(one, "positive")
        memory.feedback(two, "negative")
    hits = memory.recall("ferry", profile="ibex", min_similarity=0.1)
    useful = {hit.id: hit.contributions["usefulness"] for hit in hits}
    assert useful[one] == pytest.approx(0.2 * 4 / 5)
    assert useful[two] == pytest.approx(0.2 * 1 / 5)


@pytest.mark.parametrize("rating", ["", "good", None, 1, "POSITIVE"])
def test_a_rating_is_one_of_three(memory: Ebbtide, rating: Any) -> None:
    id_ = memory.remember("x").memory.id
    with pytest.raises(InvalidInput) as caught:
        memory.feedback(id_, rating)
    assert caught.value.field == "rating"


VERBS: list[tuple[str, tuple[Any, ...]]] = [
    ("invalidate", ()),
    ("restore", ()),
    ("confirm", ()),
    ("update_importance", (0.7,)),
    ("feedback", ("positive",)),
    ("supersede", ("y",)),
]


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_nobody_touches_what_is_forgotten_foreign_or_nowhere(memory: Ebbtide, verb: str, more: tuple[Any, ...]) -> None:
    gone = memory.remember("x").memory
    memory.forget(gone.id, 1)
    foreign = memory.scoped(agent="other").remember("x").memory.id
    walled = memory.scoped(tenant="other").remember("x").memory.id
    for id_ in (gone.id, foreign, walled, uuid4()):
        with pytest.raises(NotFound):
            getattr(memory, verb)(id_, *more)
    for id_ in ("", 5, None, "' OR 1=1 --"):
        with pytest.raises(InvalidInput):
            getattr(memory, verb)(id_, *more)


@pytest.mark.parametrize(("verb", "more"), VERBS[:4])
def test_a_stale_revision_changes_nothing(memory: Ebbtide, owner: Any, verb: str, more: tuple[Any, ...]) -> None:
    id_ = memory.remember("x").memory.id
    now = memory.revise(id_, "y")
    with pytest.raises(StaleRevision, match="revision 2"):
        getattr(memory, verb)(id_, *more, expected_revision=1)
    with pytest.raises(InvalidInput):
        getattr(memory, verb)(id_, *more, expected_revision="2")
    assert memory.get(id_) == now
    assert len(audit_of(owner, id_)) == 1


def test_every_change_keeps_the_image_before_it(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("x").memory.id
    for change in (
        lambda: memory.confirm(id_),
        lambda: memory.update_importance(id_, 0.9),
        lambda: memory.invalidate(id_),
        lambda: memory.restore(id_),
    ):
        clock.advance(DAY)
        change()
    versions = memory.history(id_)
    assert [version.revision for version in versions] == [1, 2, 3, 4, 5]
    assert [version.maturity for version in versions] == [
        "unconfirmed", "confirmed", "confirmed", "invalidated", "unconfirmed",
    ]  # fmt: skip
    assert [version.until for version in versions[:-1]] == [version.since for version in versions[1:]]
    assert memory.browse(as_of=START + 2 * DAY)[0].importance == 0.9
    assert memory.browse(as_of=START + DAY)[0].importance == 0.5


def test_errors_say_nothing_of_the_content(memory: Ebbtide) -> None:
    old = memory.remember("The code is 4711").memory
    memory.supersede(old.id, "The code is 4712")
    for call in (lambda: memory.restore(old.id), lambda: memory.confirm(old.id)):
        with pytest.raises(EbbtideError) as caught:
            call()
        assert "471" not in str(caught.value)
        assert caught.value.remedy


def test_what_was_confirmed_is_not_confirmed_in_other_words(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("The ferry leaves at seven").memory.id
    memory.confirm(id_)
    clock.advance(DAY)
    same = memory.revise(id_, "The ferry leaves at  seven", tags=["ferry"])
    assert (same.maturity, same.confirmed_at) == ("confirmed", START)
    changed = memory.revise(id_, "The ferry leaves at eight")
    assert (changed.maturity, changed.confirmed_at) == ("unconfirmed", None)


def test_what_is_used_goes_on(open_store: Opener, clock: FixedClock) -> None:
    settings = Settings.from_environment({}, **{**SETTINGS.model_dump(), "expiry_refresh_seconds": 3600})

    def asked() -> dict[str, Any]:
        with open_store(settings=settings) as memory:
            return {hit.content: hit.memory.expires_at for hit in memory.recall("ferry")}

    with open_store(settings=settings) as memory:
        memory.remember("ferry for an hour", ttl_seconds=3600)
        memory.remember("ferry for a day", ttl_seconds=86_400)
        memory.remember("ferry for ever")
        memory.remember("train for an hour", ttl_seconds=3600)
    for _ in range(3):
        clock.advance(timedelta(minutes=40))
        assert set(asked()) >= {"ferry for an hour", "ferry for a day", "ferry for ever"}
    later = asked()
    assert later["ferry for an hour"] == clock.now() + timedelta(hours=1)
    assert later["ferry for a day"] == START + DAY
    assert later["ferry for ever"] is None
    with open_store(settings=settings) as memory:
        assert {one.content for one in memory.browse(as_of=START + timedelta(minutes=50))} >= {"ferry for an hour"}
        clock.advance(timedelta(hours=2))
        assert contents(memory.browse()) == {"ferry for a day", "ferry for ever"}


def test_what_is_used_ends_as_it_was_given_unless_that_is_asked_for(open_store: Opener, clock: FixedClock) -> None:
    with open_store() as memory:
        memory.remember("ferry", ttl_seconds=60)
        memory.recall("ferry")
    assert open_store().browse()[0].expires_at == START + timedelta(seconds=60)
