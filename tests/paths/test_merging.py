"""Near duplicates that a model makes one text of: what is taken, what is left, and what happens when a source goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from anyio import to_thread

from ebbtide import Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, EbbtideError, InvalidInput
from ebbtide.models.consolidator import MOST_CHARACTERS
from ebbtide.models.fake import FakeConsolidator
from ebbtide.paths.merging import CHANGED, MOST_GROUPS, read_texts, write_texts
from ebbtide.types.curation import Consolidation
from tests.conftest import Opener
from tests.meanwhile import in_the_middle
from tests.models.endpoint import Endpoint, Reply, serve
from tests.models.test_extractor import said
from tests.stores import SETTINGS
from tests.write.test_relations import direction

Owner = psycopg.Connection[Any]

FIRST = "User prefers dark mode in the blue editor."
SECOND = "The user prefers the calm dark mode in the editor"
MERGED = "The user prefers the calm dark mode in the editor (blue)"
NORTH = direction(1.0)


@pytest.fixture
def memory(open_store: Opener) -> Ebbtide:
    """A store whose near duplicates the shipped fake makes one text of."""
    return open_store(settings=SETTINGS.model_copy(update={"consolidator": "fake"}))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


def told_by(open_store: Opener, endpoint: Endpoint) -> Ebbtide:
    changed = {"consolidator": f"{endpoint.url}#merger", "consolidator_timeout_seconds": 5.0}
    return open_store(settings=SETTINGS.model_copy(update=changed))


def remember_twice(memory: Ebbtide, first: str = FIRST, second: str = SECOND, **more: Any) -> list[Any]:
    return [memory.remember(text, vector=NORTH, **more).memory for text in (first, second)]


def merge(memory: Ebbtide) -> Consolidation:
    return memory.consolidate(by="model", dry_run=False, token=memory.consolidate(by="model").token)


def contents(memory: Ebbtide) -> set[str]:
    return {one.content for one in memory.browse()}


def test_one_text_takes_the_place_of_all_with_their_marks(memory: Ebbtide, clock: FixedClock) -> None:
    ann = {
        "subject": {"name": "Ann", "type": "PERSON"},
        "predicate": "likes",
        "object": {"name": "Vim", "type": "PRODUCT"},
    }
    one = memory.remember(FIRST, vector=NORTH, tags=["a"], importance=0.9, metadata={"n": 1, "from": "chat"})
    clock.advance(timedelta(hours=1))
    other = memory.remember(SECOND, vector=NORTH, tags=["b"], confidence=0.95, metadata={"n": 2}, relation=ann)
    planned = memory.consolidate(by="model")
    [shown] = planned.merges
    assert (shown.kept, shown.text, set(shown.merged)) == (None, MERGED, {one.memory.id, other.memory.id})
    assert contents(memory) == {FIRST, SECOND}

    done = memory.consolidate(by="model", dry_run=False, token=planned.token)
    [made] = memory.browse()
    assert (done.count, done.merges[0].kept, done.merges[0].text) == (1, made.id, MERGED)
    assert (made.content, set(made.tags), made.importance, made.confidence) == (MERGED, {"a", "b"}, 0.9, 0.95)
    assert dict(made.metadata) == {"n": 2, "from": "chat", "consolidator": "model:fake"}
    assert set(memory.provenance(made.id).sources) == {one.memory.id, other.memory.id}
    assert memory.provenance(made.id).whole
    assert {memory.get(id_).superseded_by for id_ in (one.memory.id, other.memory.id)} == {made.id}
    assert [(one.subject.name, one.object.name) for one in memory.relations.list()] == [("Ann", "Vim")]
    assert {one.name for one in memory.entities.list()} == {"Ann", "Vim"}
    assert memory.consolidate(by="model").count == 0


def test_a_merge_is_written_down_and_taken_back(memory: Ebbtide, owner: Owner) -> None:
    first, second = remember_twice(memory)
    made = merge(memory).merges[0].kept
    rows = dict(owner.execute("SELECT memory_id, detail FROM audit WHERE detail->>'operation' = 'consolidate'"))
    assert set(rows[made]["merged"]) == {str(first.id), str(second.id)}
    memory.separate(first.id)
    memory.separate(second.id)
    memory.forget(str(made), 1)
    assert contents(memory) == {FIRST, SECOND}


def test_when_a_source_is_forgotten_the_text_goes_and_the_others_hold_again(memory: Ebbtide) -> None:
    first, second = remember_twice(memory)
    made = str(merge(memory).merges[0].kept)
    memory.forget(first.id, memory.get(first.id).revision)
    [left] = memory.browse()
    assert (left.id, left.content, left.maturity, left.invalidated_at) == (second.id, SECOND, "unconfirmed", None)
    assert [version.maturity for version in memory.history(second.id)] == ["unconfirmed", "superseded", "unconfirmed"]
    assert SECOND in {hit.memory.content for hit in memory.recall("dark mode in the editor").hits}
    with pytest.raises(EbbtideError):
        memory.get(made)
    assert memory.reconcile().repaired == 0


def test_when_the_text_itself_is_forgotten_its_sources_do_not_come_back(memory: Ebbtide) -> None:
    first, _ = remember_twice(memory)
    made = merge(memory).merges[0].kept
    memory.forget(str(made), 1)
    assert contents(memory) == set()
    memory.restore(first.id)
    assert contents(memory) == {FIRST}


def test_a_successor_of_the_text_stays_in_its_place(memory: Ebbtide) -> None:
    first, _ = remember_twice(memory)
    made = merge(memory).merges[0].kept
    memory.supersede(str(made), "The user prefers light mode")
    memory.forget(first.id, memory.get(first.id).revision)
    assert contents(memory) == {"The user prefers light mode"}


@pytest.mark.parametrize("change", ["forget", "revise", "hold", "confirm"])
def test_what_happens_meanwhile_wins(memory: Ebbtide, change: str) -> None:
    first, _ = remember_twice(memory)
    token = memory.consolidate(by="model").token
    if change == "forget":
        memory.forget(first.id, 1)
    elif change == "revise":
        memory.revise(first.id, f"{FIRST} Always.")
    elif change == "hold":
        memory.holds.place(reason="a case", ids=[first.id])
    else:
        memory.confirm(first.id)
    before = contents(memory)
    with pytest.raises(Conflict):
        memory.consolidate(by="model", dry_run=False, token=token)
    assert contents(memory) == before


@pytest.mark.parametrize(
    ("change", "left"),
    [("forget", {SECOND}), ("revise", {SECOND, "Light."}), ("hold", {FIRST, SECOND})],
)
@pytest.mark.parametrize("text", [MERGED, SECOND])
def test_what_happens_between_the_check_and_the_write_wins(
    open_store: Opener,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    left: set[str],
    text: str,
) -> None:
    import ebbtide.paths.merging as module

    # Without its one word, the first says no more than the second.
    memory = told_by(open_store, endpoint)
    one = FIRST if text == MERGED else FIRST.replace("blue ", "")
    first, _ = remember_twice(memory, one)
    endpoint.script = [said({"text": text})]
    other, name = open_store(), "_replace" if text == MERGED else "_keep"
    real = getattr(module, name)
    acts: dict[str, Callable[[], Any]] = {
        "forget": lambda: other.forget(first.id, 1),
        "revise": lambda: other.revise(first.id, "Light."),
        "hold": lambda: other.holds.place(reason="a case", ids=[first.id]),
    }

    async def late(*given: Any) -> Any:
        await to_thread.run_sync(acts[change])
        return await real(*given)

    token = memory.consolidate(by="model").token
    monkeypatch.setattr(module, name, late)
    done = memory.consolidate(by="model", dry_run=False, token=token)
    assert (done.count, len(done.unmerged)) == (0, 1)
    assert contents(memory) == {one if content == FIRST else content for content in left}


@pytest.mark.parametrize(
    "step", ["ebbtide.paths.erase:forget_all", "ebbtide.paths.manage:lock_memory"], ids=["forget", "revise"]
)
@pytest.mark.parametrize("place", [0, 1], ids=["the fullest", "the other"])
def test_a_source_that_is_just_forgotten_or_revised_does_not_come_back(
    memory: Ebbtide, open_store: Opener, owner: Owner, monkeypatch: pytest.MonkeyPatch, place: int, step: str
) -> None:
    first, second = remember_twice(memory)
    source, left = ((second, FIRST), (first, SECOND))[place]
    other, token = open_store(), memory.consolidate(by="model").token
    change = partial(other.forget, source.id, 1) if "erase" in step else partial(other.revise, source.id, "Light.")
    merging = partial(memory.consolidate, by="model", dry_run=False, token=token)
    done = in_the_middle(monkeypatch, owner, step, change, merging).result()
    assert (done.count, [one.reason for one in done.unmerged]) == (0, [CHANGED])
    assert contents(memory) == {left} | ({"Light."} if "manage" in step else set())


def test_what_lives_otherwise_or_was_confirmed_is_not_told(memory: Ebbtide) -> None:
    memory.remember(FIRST, vector=NORTH)
    memory.remember(SECOND, vector=NORTH, ttl_seconds=86_400)
    assert memory.consolidate(by="model").count == 0
    first, _ = remember_twice(memory, namespace="vector.global.shared")
    assert memory.consolidate(by="model").count == 1
    memory.confirm(first.id)
    assert memory.consolidate(by="model").count == 0


def test_users_and_namespaces_are_never_mixed(memory: Ebbtide) -> None:
    for user, text in (("ana", FIRST), ("bob", SECOND)):
        memory.scoped(user=user).remember(text, vector=NORTH, namespace="vector.global.shared")
    memory.remember(FIRST, vector=NORTH)
    memory.remember(SECOND, vector=NORTH, namespace="vector.global.other")
    assert memory.consolidate(by="model").count == 0
    ana = memory.scoped(user="ana")
    ana.remember(SECOND + " always", vector=NORTH, namespace="vector.global.shared")
    made = merge(memory).merges[0]
    assert memory.get(str(made.kept)).user == "ana"


def test_what_a_rule_withholds_is_not_told(memory: Ebbtide) -> None:
    remember_twice(
        memory, "Write to ann@example.org about the calm editor", "Write to ann@example.org about the blue editor",
        namespace="vector.global.shared",
    )  # fmt: skip
    assert memory.consolidate(by="model").count == 1
    memory.rules.add("vector.global.*", personal_data="redact")
    planned = memory.consolidate(by="model")
    assert (planned.count, planned.unmerged[0].text) == (0, None)
    assert "personal data" in planned.unmerged[0].reason


REFUSED = {
    "a number": ("The door code is 4711 still", "The front door code is 4711", "The front door code is still"),
    "another number": (
        "The door code is 4711 still",
        "The front door code is 4711",
        "The front door code is 4712 still",
    ),
    "a date": ("Review on 3 May in the calm room", "The review is on 3 May", "The review in the calm room is in May"),
    "a name": ("Rent the calm flat in Oslo", "Rent the flat in Oslo soon", "Rent the calm flat soon"),
    "another name": (
        "Rent the calm flat in Oslo",
        "Rent the flat in Oslo soon",
        "Ann, rent the calm flat in Oslo soon",
    ),
    "a negation": ("She does not eat meat", "She does not eat any meat", "She does eat any meat"),
    "words": ("Rent the calm flat in Oslo", "Rent the flat in Oslo soon", "Rent the flat in Oslo"),
    "an invention": (
        "Rent the calm flat in Oslo",
        "Rent the flat in Oslo soon",
        "Rent the cheap calm flat in Oslo soon",
    ),
    "one word": ("Rent the calm flat in Oslo", "Rent the flat in Oslo soon", "text"),
}


@pytest.mark.parametrize(("first", "second", "text"), REFUSED.values(), ids=REFUSED)
def test_a_text_that_does_not_say_what_its_sources_say_is_left(
    first: str, second: str, text: str, open_store: Opener, endpoint: Endpoint
) -> None:
    memory = told_by(open_store, endpoint)
    ids = {one.id for one in remember_twice(memory, first, second)}
    endpoint.script = [said({"text": text})]
    planned = memory.consolidate(by="model")
    [left] = planned.unmerged
    assert (planned.count, set(left.ids), left.text) == (0, ids, text)
    done = memory.consolidate(by="model", dry_run=False, token=planned.token)
    assert done.count == 0
    assert contents(memory) == {first, second}


def test_what_was_shown_is_written_and_the_model_is_asked_once(open_store: Opener, endpoint: Endpoint) -> None:
    memory = told_by(open_store, endpoint)
    remember_twice(memory, "Rent the calm flat in Oslo", "Rent the flat in Oslo soon")
    endpoint.script = [said("prose"), said({"text": "Rent the calm flat in Oslo soon"})]
    assert merge(memory).count == 1
    assert contents(memory) == {"Rent the calm flat in Oslo soon"}
    assert len(endpoint.requests) == 2
    system, *_, asked = endpoint.requests[0]["messages"]
    assert set(json.loads(asked["content"]).values()) == {"Rent the calm flat in Oslo", "Rent the flat in Oslo soon"}
    assert "Oslo" not in system["content"]
    assert endpoint.requests[0]["response_format"]["json_schema"]["schema"]["required"] == ["text"]


def test_a_text_that_one_says_already_merges_by_rules(open_store: Opener, endpoint: Endpoint) -> None:
    memory = told_by(open_store, endpoint)
    first, second = remember_twice(memory, "Rent the calm flat in Oslo", "Rent the flat in Oslo")
    endpoint.script = [said({"text": first.content})]
    [done] = merge(memory).merges
    assert (done.kept, done.merged) == (first.id, (second.id,))
    assert contents(memory) == {first.content}
    memory.separate(second.id)
    assert len(contents(memory)) == 2


@pytest.mark.parametrize("reply", [Reply(body=b"{}", status=503), said("prose")], ids=["down", "prose"])
def test_a_model_that_fails_loses_nothing_and_says_so(reply: Reply, open_store: Opener, endpoint: Endpoint) -> None:
    memory = told_by(open_store, endpoint)
    remember_twice(memory, "Rent the calm flat in Oslo", "Rent the flat in Oslo soon")
    endpoint.script = [reply] * 3
    planned = memory.consolidate(by="model")
    assert planned.count == 0
    assert "consolidator" in planned.unmerged[0].reason
    assert len(contents(memory)) == 2


def test_a_group_that_a_model_does_not_take_keeps_no_other_from_it(
    open_store: Opener, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ebbtide.paths.merging as module

    monkeypatch.setattr(module, "REQUESTS_AT_ONCE", 1)
    memory = told_by(open_store, endpoint)
    remember_twice(
        memory, "Rent the calm old flat in Oslo", "Rent the old flat in Oslo soon", namespace="vector.global.shared"
    )
    remember_twice(memory, "Rent the calm flat in Rome", "Rent the flat in Rome soon")
    endpoint.script = [Reply(body=b"{}", status=400)] * 2 + [said({"text": "Rent the calm flat in Rome soon"})]
    planned = memory.consolidate(by="model")
    assert (planned.count, len(planned.unmerged)) == (1, 1)
    assert "status 400" in planned.unmerged[0].reason


def test_a_token_is_for_what_was_shown_alone(memory: Ebbtide, clock: FixedClock) -> None:
    remember_twice(memory)
    token = str(memory.consolidate(by="model").token)
    with pytest.raises(Conflict):
        memory.consolidate(dry_run=False, token=token)
    with pytest.raises(InvalidInput):
        memory.consolidate(by="model", dry_run=False, token=memory.consolidate().token)
    [kept] = read_texts(token)
    forged = f"{token.partition('.')[0]}.{write_texts({kept: MERGED + ' of today'})}"
    with pytest.raises(Conflict):
        memory.consolidate(by="model", dry_run=False, token=forged)
    for wrong in (None, "", "1.", "1-a.x", f"{token.partition('.')[0]}.eJw=", 7):
        with pytest.raises(InvalidInput) as caught:
            memory.consolidate(by="model", dry_run=False, token=wrong)  # pyright: ignore[reportArgumentType]
        assert caught.value.field == "token"
    clock.advance(timedelta(minutes=16))
    with pytest.raises(Conflict):
        memory.consolidate(by="model", dry_run=False, token=token)
    assert contents(memory) == {FIRST, SECOND}


def test_without_a_model_it_says_which_setting_names_one(open_store: Opener) -> None:
    with pytest.raises(InvalidInput, match="consolidates") as refused:
        open_store().consolidate(by="model")
    assert refused.value.field == "by"
    with pytest.raises(InvalidInput):
        open_store().consolidate(by="magic")
    with pytest.raises(InvalidInput) as refused:
        open_store(settings=SETTINGS.model_copy(update={"consolidator": "on"}))
    assert refused.value.field == "consolidator"


def test_a_token_takes_the_texts_of_as_many_groups_as_are_told_in_any_script() -> None:
    texts = {UUID(int=number): "\u6f22" * MOST_CHARACTERS for number in range(MOST_GROUPS)}
    assert read_texts(f"1-a.{write_texts(texts)}") == texts


def test_groups_that_may_not_be_told_keep_no_other_waiting(memory: Ebbtide, monkeypatch: pytest.MonkeyPatch) -> None:
    import ebbtide.paths.merging as module

    monkeypatch.setattr(module, "MOST_GROUPS", 1)
    remember_twice(
        memory, "Write to ann@example.org about the calm editor", "Write to ann@example.org about the blue editor",
        namespace="vector.global.shared",
    )  # fmt: skip
    memory.rules.add("vector.global.shared", personal_data="redact")
    remember_twice(memory)
    remember_twice(memory, namespace="vector.global.other")
    planned = memory.consolidate(by="model")
    assert (planned.count, len(planned.unmerged), planned.waiting) == (1, 1, 1)
    assert merge(memory).count == 1
    assert memory.consolidate(by="model").waiting == 0


async def test_the_fake_keeps_every_word() -> None:
    assert await FakeConsolidator().merge([FIRST, SECOND]) == MERGED
    assert await FakeConsolidator().merge(["Ann likes tea.", "Ann likes hot tea."]) == "Ann likes hot tea."


def test_a_policed_caller_merges_its_own_alone(memory: Ebbtide) -> None:
    shared = "vector.global.shared"
    memory.policies.set("helper", Policy(read=[shared], write=shared, allow_write=True))
    helper = memory.as_agent("helper", ["memory:read", "memory:write"])
    for user in ("ana", None):
        remember_twice(
            memory.scoped(agent="helper", user=user), f"{FIRST} {user}", f"{SECOND} {user}", namespace=shared
        )
    planned = helper.consolidate(by="model")
    assert [one.reason for one in planned.unmerged] == ["They are another user's."]
    [done] = helper.consolidate(by="model", dry_run=False, token=planned.token).merges
    assert helper.get(str(done.kept)).user is None
