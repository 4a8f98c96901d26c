"""Extraction from texts and from stored memories: what it tells, what it writes, and what it leaves alone."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, Found
from ebbtide.errors import Forbidden, InvalidInput, NotFound, StaleRevision
from ebbtide.models import FakeEmbedder
from ebbtide.settings import Settings
from tests.conftest import Opener
from tests.jobs.support import Owner
from tests.meanwhile import in_the_middle
from tests.stores import DIMENSION

RUN = (
    "I live in Oslo now, and I love skiing in the mountains whenever there is fresh snow on the slopes. I work at Acme."
)


def contents(memory: Ebbtide) -> set[str]:
    return {one.content for one in memory.browse(limit=100)}


def id_of(fact: Found) -> UUID:
    assert fact.memory_id is not None
    return fact.memory_id


def test_a_text_is_read_and_its_facts_are_remembered(memory: Ebbtide) -> None:
    text = "Hello. Ann works at Acme. Does Bob live in Oslo?"
    answer = memory.extract(text)

    assert (answer.extractor, answer.read, answer.failed) == ("rules/1", 1, 0)
    (fact,) = answer.facts
    assert (fact.content, fact.outcome, fact.evidence) == ("Ann works at Acme.", "stored", "Ann works at Acme")
    assert text[fact.start : fact.end] == fact.evidence
    stored = memory.get(id_of(fact))
    assert (stored.subject, stored.predicate, stored.kind) == ("Ann", "works_at", "fact")
    assert stored.metadata == {"extractor": "rules/1", "span": [7, 24]}
    assert stored.importance == pytest.approx(0.7)


def test_nothing_is_written_where_only_an_answer_is_wanted(memory: Ebbtide) -> None:
    answer = memory.extract("I prefer tea over coffee.", speaker="Ann", write=False)

    assert [(fact.content, fact.kind, fact.outcome) for fact in answer.facts] == [
        ("Ann prefers tea over coffee.", "preference", None)
    ]
    assert contents(memory) == set()


def test_facts_of_a_memory_lie_where_it_does_and_name_it_as_their_source(memory: Ebbtide) -> None:
    note = memory.remember("Met Ann. Ann lives in Oslo and works at Acme.", namespace="vector.team.notes").memory
    answer = memory.extract(ids=[note.id])

    assert [fact.outcome for fact in answer.facts] == ["stored", "stored"]
    for fact in answer.facts:
        assert memory.get(id_of(fact)).namespace == "vector.team.notes"
        assert memory.provenance(id_of(fact)).sources == (note.id,)


def test_extracting_again_writes_nothing_new(memory: Ebbtide) -> None:
    note = memory.remember("We had lunch. Ann lives in Oslo and works at Acme.").memory
    first = memory.extract(ids=note.id)
    before = contents(memory)
    second = memory.extract(namespaces="vector.global.memory")

    assert contents(memory) == before
    assert {fact.outcome for fact in second.facts} == {"duplicate"}
    assert [fact.memory_id for fact in second.facts] == [fact.memory_id for fact in first.facts]


def test_what_a_text_says_of_then_and_now_stands_side_by_side(open_store: Opener) -> None:
    alike = {"used": "moved", "live": "moved", "in": "to", "berlin": "oslo"}
    memory = open_store(embedder=FakeEmbedder(DIMENSION, vocabulary=alike))
    text = "Ann moved from Berlin to Oslo. Ann moved to Rome in 2031. Ann moved to Turin in 2033."
    first = memory.extract(text, observed_at="2034-01-01").facts
    second = memory.extract(text, observed_at="2034-01-01").facts

    assert [fact.content for fact in first[:2]] == ["Ann used to live in Berlin.", "Ann moved to Oslo."]
    assert [fact.outcome for fact in first] == ["stored", "stored", "conflict", "superseded"]
    assert [(fact.outcome, fact.memory_id) for fact in second] == [("duplicate", fact.memory_id) for fact in first]
    assert "Ann used to live in Berlin." in contents(memory)


def test_a_memory_that_says_just_the_fact_is_not_doubled(memory: Ebbtide, owner: Owner) -> None:
    note = memory.remember("Ann works at Acme").memory
    answer = memory.extract(ids=note.id)

    assert [(fact.outcome, fact.memory_id) for fact in answer.facts] == [("noted", note.id)]
    assert contents(memory) == {"Ann works at Acme"}
    named = owner.execute("SELECT name FROM entity ORDER BY name").fetchall()
    assert [row[0] for row in named] == ["Acme", "Ann"]
    assert owner.execute("SELECT predicate, memory_id FROM relation").fetchall() == [("works_at", note.id)]


def test_mentions_of_the_source_are_written_down(memory: Ebbtide, owner: Owner) -> None:
    note = memory.remember("We talked about it on the trip to Lisbon with Dr. Smith.").memory
    memory.extract(ids=note.id)

    rows = owner.execute(
        "SELECT e.name, e.type FROM mention n JOIN entity e ON e.id = n.entity_id WHERE n.memory_id = %s ORDER BY 1",
        [note.id],
    ).fetchall()
    assert rows == [("Lisbon", "PLACE"), ("Smith", "PERSON")]


def test_of_a_source_that_is_just_revised_nothing_is_made_of_its_old_text(
    memory: Ebbtide, open_store: Opener, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    mentioning = memory.remember("We talked about it on the trip to Lisbon with Dr. Smith.").memory
    telling = memory.remember("We had lunch. Ann lives in Oslo and works at Acme.").memory
    other = open_store()
    for source in (mentioning, telling):
        answer = in_the_middle(
            monkeypatch,
            owner,
            "ebbtide.paths.manage:lock_memory",
            partial(other.revise, source.id, f"It sings, {source.id}."),
            partial(memory.extract, ids=[source.id]),
        )
        assert isinstance(answer.exception(), StaleRevision)
    assert contents(memory) == {f"It sings, {source.id}." for source in (mentioning, telling)}
    assert memory.entities.list() == []


def test_a_derived_fact_goes_with_the_last_memory_that_says_it(memory: Ebbtide) -> None:
    one = memory.remember("First note: Ann lives in Oslo, she said so herself today.").memory
    two = memory.remember("Second note. Ann lives in Oslo.").memory
    assert memory.extract(ids=[one.id], write=False).facts == ()
    three = memory.remember("Third note. Ann lives in Oslo. It is cold.").memory
    answer = memory.extract(ids=[two.id, three.id])
    fact = id_of(answer.facts[0])

    assert {found.memory_id for found in answer.facts} == {fact}
    memory.forget(two.id, expected_revision=memory.get(two.id).revision)
    assert memory.get(fact).content == "Ann lives in Oslo."
    memory.forget(three.id, expected_revision=memory.get(three.id).revision)
    with pytest.raises(NotFound):
        memory.get(fact)


def test_dates_say_since_when_a_fact_holds_and_the_later_one_supersedes(memory: Ebbtide) -> None:
    earlier = memory.extract("Ann has lived in Oslo since 2019.", observed_at="2021-06-01T00:00:00Z")
    later = memory.extract("Ann moved to Lisbon in March 2023.", observed_at="2024-06-01T00:00:00Z")

    assert earlier.facts[0].valid_from == datetime(2019, 1, 1, tzinfo=UTC)
    assert later.facts[0].valid_from == datetime(2023, 3, 1, tzinfo=UTC)
    assert later.facts[0].outcome == "superseded"
    assert memory.get(id_of(earlier.facts[0])).superseded_by == later.facts[0].memory_id


def test_a_relative_date_counts_from_when_it_was_said_or_not_at_all(memory: Ebbtide) -> None:
    text = "Ann moved to Lisbon last year."
    dated = memory.extract(text, observed_at="2024-06-01T00:00:00Z", write=False)
    undated = memory.extract(text, write=False)

    assert dated.facts[0].valid_from == datetime(2023, 1, 1, tzinfo=UTC)
    assert undated.facts[0].valid_from is None


def test_facts_of_an_unknown_day_conflict_rather_than_replace(memory: Ebbtide) -> None:
    memory.extract("Ann lives in Oslo.")
    later = memory.extract("Ann lives in Lisbon.")

    assert later.facts[0].outcome == "conflict"


def test_many_values_of_one_kind_do_not_conflict(memory: Ebbtide) -> None:
    answer = memory.extract("Ann speaks French and German. Ann is allergic to nuts. Ann is allergic to milk.")

    assert {fact.outcome for fact in answer.facts} <= {"stored", "near_duplicate"}


def test_progress_is_told_page_by_page(memory: Ebbtide) -> None:
    memory.remember_many([f"Note {number}. Ann likes tea number {number}." for number in range(450)])
    told: list[int] = []
    answer = memory.extract(namespaces="vector.*", write=False, progress=told.append)

    assert told == [200, 400, 450]
    assert answer.read == 450


@pytest.mark.parametrize(
    "given",
    [{}, {"text": "x", "ids": []}, {"text": "x", "namespaces": "vector.*"}, {"text": "x", "extractor": "magic"},
     {"text": "x", "extractor": "model"}, {"namespaces": "vector.*", "speaker": "Ann"}, {"text": 3}, {"ids": "no id"},
     {"text": "x", "write": "yes"}],
)  # fmt: skip
def test_bad_input_is_refused(memory: Ebbtide, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.extract(**given)


def test_a_memory_that_is_not_there_is_not_found(memory: Ebbtide) -> None:
    with pytest.raises(NotFound):
        memory.extract(ids="0190a0c0-0000-7000-8000-000000000000")


def test_an_agent_without_leave_to_write_may_only_look(memory: Ebbtide) -> None:
    note = memory.remember("Lunch. Ann works at Acme.", namespace="vector.agent.u.memory").memory
    memory.policies.set("default", {"read": ["vector.agent.${user_id}.*"], "allow_write": False})
    handle = memory.as_agent("default", ["memory:read", "memory:write"], user="u")

    assert [fact.content for fact in handle.extract(ids=note.id, write=False).facts] == ["Ann works at Acme."]
    with pytest.raises(Forbidden):
        handle.extract(ids=note.id)


def test_an_agent_that_may_only_read_somewhere_writes_no_mention_there(memory: Ebbtide, owner: Owner) -> None:
    note = memory.remember("We took a trip to Lisbon.", namespace="vector.shared").memory
    memory.policies.set("default", {"read": ["vector.shared"], "write": "vector.own", "allow_write": True})
    handle = memory.as_agent("default", ["memory:read", "memory:write"])

    with pytest.raises(Forbidden):
        handle.extract(ids=note.id)
    assert owner.execute("SELECT name FROM entity").fetchall() == []


def test_those_who_speak_are_known_by_their_names(memory: Ebbtide) -> None:
    chat = memory.scoped(chat="c")
    chat.remember("Mel is great at that.", kind="message", speaker="Caro", seq=0)
    chat.remember("Thank you so much!", kind="message", speaker="Mel", seq=1)
    answer = chat.extract(namespaces="vector.*", write=False)

    assert [(name.name, name.type) for text in answer.texts for name in text.names] == [("Mel", "PERSON")]


def test_an_agent_cannot_read_the_facts_of_what_it_cannot_read(memory: Ebbtide) -> None:
    note = memory.remember("Lunch. Ann works at Acme.", namespace="vector.secret").memory
    memory.policies.set("default", {"read": ["vector.open"], "allow_write": True})
    handle = memory.as_agent("default", ["memory:read", "memory:write"], user="u")

    with pytest.raises(NotFound):
        handle.extract(ids=note.id)


def test_a_session_that_forgot_something_is_not_written_to(memory: Ebbtide) -> None:
    session = memory.scoped(session="s")
    note = session.remember("Lunch. Ann works at Acme.").memory
    other = session.remember("Something to forget.").memory
    captured = session.session_revision()
    session.forget(other.id, expected_revision=other.revision)

    with pytest.raises(StaleRevision):
        session.extract(ids=note.id, session_revision=captured)
    assert contents(memory) == {"Lunch. Ann works at Acme."}


@pytest.fixture
def fake_settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"extractor": "fake"})


def test_a_model_is_used_where_one_is_set(open_store: Any, fake_settings: Settings) -> None:
    memory = open_store(settings=fake_settings)
    answer = memory.extract("So. Ann knows Bob. I live in Oslo.")

    assert answer.extractor == "model:fake"
    assert [fact.content for fact in answer.facts] == ["Ann knows Bob."]
    assert memory.get(id_of(answer.facts[0])).metadata["extractor"] == "model:fake"
    assert [fact.content for fact in memory.extract("I live in Oslo.", extractor="rules").facts] == ["I live in Oslo."]


async def test_the_audit_tells_that_a_memory_was_read_and_nothing_of_what_it_says(
    async_memory: AsyncEbbtide, owner: Owner
) -> None:
    note = (await async_memory.remember("Lunch. Ann works at Acme.")).memory
    await async_memory.extract(ids=note.id)

    rows = owner.execute("SELECT detail FROM audit WHERE detail->>'operation' = 'extract'").fetchall()
    assert rows == [({"operation": "extract", "extractor": "rules/1", "facts": 1, "rejected": 0},)]
