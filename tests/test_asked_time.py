"""When a query asks about, in a store: what ranks first, what a time filter leaves out, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidInput
from ebbtide.evaluate.baselines import FULL_TEXT, VECTOR
from ebbtide.rank.profile import Profile
from ebbtide.rank.strategies import BUILT_IN, STRATEGIES
from ebbtide.settings import Settings
from tests.conftest import Opener
from tests.stores import SETTINGS

NOW = datetime(2026, 3, 12, 3, 0, tzinfo=UTC)
# In Tokyo it is noon of the 12th of March; its yesterday ended at 15:00 UTC of the 11th.
LATE, EARLY = "2026-03-11T14:30:00Z", "2026-03-11T15:30:00Z"
FILTERING: Mapping[str, Any] = {
    "name": "of-that-time", "law": "sum", "factors": [{"factor": "similarity", "weight": 1}], "time_filter": "always",
}  # fmt: skip


@pytest.fixture
def memory(open_store: Opener) -> Ebbtide:
    return open_store(clock=FixedClock(NOW))


def two_evenings(memory: Ebbtide) -> tuple[UUID, UUID]:
    """What was done late yesterday and early today, as Tokyo sees it."""
    one = memory.remember("We painted the boat in the harbour", observed_at=LATE).memory
    two = memory.remember("We cleaned the boat in the harbour", observed_at=EARLY).memory
    assert one is not None
    assert two is not None
    return one.id, two.id


def test_yesterday_is_the_day_of_the_askers_zone(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    query = "what did we do yesterday"
    in_tokyo = memory.recall(query, timezone="Asia/Tokyo", trace=True)
    assert [hit.id for hit in in_tokyo] == [late]
    assert in_tokyo.trace is not None
    assert in_tokyo.trace.time_filter == "applied"
    [window] = in_tokyo.trace.asked_time
    assert (window.text, window.precision, window.guessed) == ("yesterday", "day", False)
    assert window.start == datetime(2026, 3, 10, 15, tzinfo=UTC)
    assert window.end == datetime(2026, 3, 11, 15, tzinfo=UTC)
    # In UTC both are of yesterday.
    assert {hit.id for hit in memory.recall(query)} == {late, early}
    handle = memory.scoped(timezone="Asia/Tokyo")
    assert [hit.id for hit in handle.recall(query)] == [late]
    assert handle.explain(query, early).rule == "asked_time"
    assert "painted" in handle.context(query).text
    assert "cleaned" not in handle.context(query).text


def test_a_time_beside_other_words_ranks_and_leaves_nothing_out(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    hits = memory.recall("what did we do to the boat yesterday", timezone="Asia/Tokyo")
    assert {hit.id for hit in hits} == {late, early}
    assert memory.explain("what did we clean yesterday", early, timezone="Asia/Tokyo").contributions["asked_time"] == 0


def test_a_speaker_whose_name_is_a_month_is_asked_about(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="weather")
    june = chat.remember("I am a carpenter", speaker="June", observed_at="2026-03-01").memory
    assert june is not None
    chat.remember("It rained in the mountains", speaker="Bob", observed_at="2025-06-10")
    answer = memory.recall("What does June do?", trace=True)
    assert june.id in {hit.id for hit in answer}
    assert answer.trace is not None
    assert (answer.trace.asked_time, answer.trace.time_filter) == ((), None)


def test_a_time_whose_hits_are_held_back_is_no_filter(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    memory.remember("what did we do", observed_at="2026-03-11T10:00:00Z")
    query = "what did we do yesterday"
    assert len(memory.recall(query, timezone="Asia/Tokyo")) == 2
    similar = memory.recall(query, timezone="Asia/Tokyo", min_similarity=0.5, trace=True)
    assert not {late, early} & {hit.id for hit in similar}
    assert similar.trace is not None
    assert similar.trace.time_filter == "too_few"


def test_where_nothing_is_of_the_only_thing_asked_all_is_searched(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    answer = memory.recall("what happened last year", trace=True)
    assert {hit.id for hit in answer} == {late, early}
    assert answer.trace is not None
    assert answer.trace.time_filter == "too_few"


def test_yesterday_is_known_of_memories_that_only_have_the_day_they_were_written(open_store: Opener) -> None:
    clock = FixedClock(datetime.fromisoformat(LATE))
    memory = open_store(clock=clock)
    memory.remember("We painted the boat in the harbour")
    clock.advance(datetime.fromisoformat(EARLY) - clock.now())
    memory.remember("We cleaned the boat in the harbour")
    clock.advance(NOW - clock.now())
    [hit] = memory.recall("what did we do yesterday", timezone="Asia/Tokyo")
    assert hit.content == "We painted the boat in the harbour"
    painted, cleaned = memory.recall("what did we paint yesterday", timezone="Asia/Tokyo")
    assert (painted.contributions["asked_time"] > 0, cleaned.contributions["asked_time"]) == (True, 0)


def test_a_memory_counts_by_when_it_is_true_where_nothing_observed_it(memory: Ebbtide) -> None:
    memory.remember("The ferry costs nine euros", valid_from="2025-05-03")
    memory.remember("The ferry costs eight euros")
    hits = memory.recall("What did the ferry cost in May?")
    assert [hit.contributions["asked_time"] > 0 for hit in hits] == [True, False]


def remember_months(memory: Ebbtide) -> None:
    for month in range(1, 13):
        memory.remember(f"Ferry report number {month}", observed_at=f"2025-{month:02}-10")
    for hour in range(3):
        memory.remember(f"Ferry note number {hour} of May", observed_at=f"2025-05-11T1{hour}:00:00Z")


def test_a_time_filter_searches_within_the_time_that_is_asked(memory: Ebbtide) -> None:
    remember_months(memory)
    answer = memory.recall("ferry report in May 2025", profile=FILTERING, trace=True)
    assert {hit.memory.observed_at.month for hit in answer if hit.memory.observed_at} == {5}
    assert len(answer) == 4
    assert answer.trace is not None
    assert answer.trace.time_filter == "applied"
    assert len(answer.trace.candidates) == 4
    # The caller's own filter holds within it.
    notes = memory.recall("ferry report in May 2025", profile=FILTERING, where={"observed_at": {"gte": "2025-05-11"}})
    assert {hit.content.split()[1] for hit in notes} == {"note"}
    assert len(notes) == 3


@pytest.mark.parametrize("settings", [SETTINGS, SETTINGS.model_copy(update={"exact_search_rows": 1})])
def test_a_filter_is_of_all_stretches_and_of_open_ones(open_store: Opener, settings: Settings) -> None:
    memory = open_store(clock=FixedClock(NOW), settings=settings)
    remember_months(memory)
    memory.remember("Ferry report of a price", valid_from="2025-02-20")
    memory.remember("Ferry report without a date")
    for query, months in (
        ("ferry report in May 2025 and in July 2025", {5, 7}),
        ("ferry report before April 2025", {1, 2, 3, None}),
        ("ferry report since November 1, 2025", {11, 12, None}),
    ):
        answer = memory.recall(query, profile=FILTERING, limit=20, trace=True)
        assert {hit.memory.observed_at and hit.memory.observed_at.month for hit in answer} == months
        assert answer.trace is not None
        assert answer.trace.time_filter == "applied"


@pytest.mark.parametrize("query", ["ferry report in June 2025", "ferry report on 2019-05-05", "ferry since 2026-01-01"])
def test_a_time_that_holds_too_little_is_no_filter(memory: Ebbtide, query: str) -> None:
    remember_months(memory)
    answer = memory.recall(query, profile=FILTERING, trace=True)
    assert len(answer) == 10
    assert answer.trace is not None
    assert answer.trace.time_filter == "too_few"
    # One hit is enough for who asks for one.
    assert len(memory.recall("ferry report in June 2025", profile=FILTERING, limit=1)) == 1


def test_a_query_without_a_time_and_a_profile_without_the_filter_are_not_filtered(memory: Ebbtide) -> None:
    remember_months(memory)
    for query, profile in (("ferry report", FILTERING), ("ferry report in May 2025", "tide")):
        answer = memory.recall(query, profile=profile, trace=True, limit=20)
        assert len(answer) == 15
        assert answer.trace is not None
        assert answer.trace.time_filter is None


@pytest.mark.parametrize("profile", [*sorted(set(BUILT_IN) - {"tide", "temporal"}), VECTOR, FULL_TEXT])
def test_no_other_ranking_filters(memory: Ebbtide, profile: str | Profile) -> None:
    remember_months(memory)
    for query in ("what did we do in May 2025", "ferry report in May 2025"):
        answer = memory.recall(query, profile=profile, trace=True)
        assert answer.trace is not None
        assert (len(answer.trace.asked_time), answer.trace.time_filter) == (1, None)


@pytest.mark.parametrize(("profile", "queries"), [("tide", 1), ("temporal", 2)])
def test_a_filter_is_for_queries_about_nothing_else_or_for_all(memory: Ebbtide, profile: str, queries: int) -> None:
    remember_months(memory)
    built_in = memory.profiles.get(profile)
    memory.profiles.save({**built_in.model_dump(mode="json"), "name": "kept"})
    assert memory.profiles.get("kept") == built_in.model_copy(update={"name": "kept"})
    filtered = 0
    for query in ("what did we do in May 2025", "ferry report in May 2025"):
        for name in (profile, "kept"):
            trace = memory.recall(query, profile=name, min_similarity=0, trace=True).trace
            assert trace is not None
            filtered += trace.time_filter == "applied"
    assert filtered == 2 * queries


def test_the_filter_is_explained(memory: Ebbtide) -> None:
    remember_months(memory)
    outside = memory.recall("Ferry report number 7", limit=1)[0]
    told = memory.explain("ferry report in May 2025", outside.id, profile=FILTERING)
    assert (told.returned, told.stage, told.rule) == (False, "time", "asked_time")
    assert str(told.value).startswith("2025-07-10")
    assert told.threshold == "May 2025 (2025-05-01T00:00:00+00:00 to 2025-06-01T00:00:00+00:00)"
    assert "May 2025" in told.reason
    assert memory.explain("ferry report in June 2025", outside.id, profile=FILTERING).returned


def test_the_filter_holds_in_the_past_too(memory: Ebbtide) -> None:
    remember_months(memory)
    answer = memory.recall("ferry report in May 2025", profile=FILTERING, as_of=NOW)
    assert len(answer) == 4


def test_the_strategy_for_questions_of_time_filters(memory: Ebbtide) -> None:
    remember_months(memory)
    answer = memory.recall(
        "When was ferry report number 5 in May 2025?", intent="temporal", min_similarity=0, trace=True
    )
    assert answer.trace is not None
    assert answer.trace.time_filter == "applied"


def test_a_boost_of_the_asked_time_is_a_factor_of_any_law(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    factor = {"factor": "asked_time", "weight": 0.3}
    profile = {"name": "dated", "law": "compound", "base": "similarity", "factors": [factor]}
    for query, boost in (("on 2026-03-11 the boat", 0.3), ("the boat", None)):
        for id_ in (late, early):
            told = memory.explain(query, id_, profile=profile)
            assert told.similarity is not None
            if boost is None:
                assert "asked_time" not in told.contributions
            else:
                assert told.contributions["asked_time"] == pytest.approx(boost * told.similarity)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_boosts_the_asked_time(memory: Ebbtide, strategy: str) -> None:
    late, early = two_evenings(memory)
    for id_, boosted in ((late, True), (early, False)):
        told = memory.explain("the boat yesterday", id_, profile=strategy, timezone="Asia/Tokyo", min_similarity=0)
        if strategy == "temporal" and not boosted:
            continue
        assert (told.contributions["asked_time"] > 0) == boosted


@pytest.mark.parametrize("timezone", ["Mars", "", "../UTC", "UTC\0", "\ud800", 5, b"UTC", [], object(), "x" * 999])
def test_what_is_no_zone_is_refused(memory: Ebbtide, timezone: Any) -> None:
    id_ = memory.remember("x").memory
    assert id_ is not None
    for ask in (
        lambda: memory.recall("yesterday", timezone=timezone),
        lambda: memory.context("yesterday", timezone=timezone),
        lambda: memory.explain("yesterday", id_.id, timezone=timezone),
    ):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert (caught.value.field, bool(caught.value.remedy)) == ("timezone", True)


@pytest.mark.parametrize(
    "query",
    ["February 30", "2026-13-45", "in the year 99999", "十万年前", "5 billion years ago", "0 days ago",
     "last 99999999999 weeks", "since 9999-12-31", "before 0001-01-01", "the end of 9999", "on 0000-00-00"],
)  # fmt: skip
def test_an_impossible_date_fails_no_recall(memory: Ebbtide, query: str) -> None:
    remember_months(memory)
    for profile in ("tide", "eryx", FILTERING):
        for timezone in ("Etc/GMT+12", "Pacific/Kiritimati"):
            answer = memory.recall(f"ferry report {query}", profile=profile, timezone=timezone, min_similarity=0)
            assert len(answer) > 0


def test_plain_dates_of_a_query_are_days_of_its_zone(memory: Ebbtide) -> None:
    late, early = two_evenings(memory)
    of_the_11th = {"observed_at": {"gte": "2026-03-11", "lt": "2026-03-12"}}
    assert {hit.id for hit in memory.recall("boat", where=of_the_11th)} == {late, early}
    assert {hit.id for hit in memory.recall("boat", where=of_the_11th, timezone="Asia/Tokyo")} == {late}
