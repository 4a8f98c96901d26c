"""Summaries of branches: made once, gone on with, shared with forks, fenced, and gone with any turn they tell of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Ebbtide, Policy, Settings
from ebbtide.errors import Forbidden, InvalidInput, ModelInvalid, StaleRevision
from ebbtide.jobs.episodes import summarise_tenant
from ebbtide.models.summariser import Summary
from tests.conftest import Opener
from tests.models.endpoint import Reply, serve
from tests.stores import SETTINGS

TALK = (
    "We decided on auth0 for the migration.",
    "The auth0 migration is planned for Friday.",
    "Tokens are rotated before the migration on Friday.",
)


@pytest.fixture
def chat(memory: Ebbtide) -> Ebbtide:
    handle = memory.scoped(chat="c1")
    for text in TALK:
        handle.episodes.add(text)
    return handle


class Telling:
    """A summariser that tells what it was sent, and may do something meanwhile."""

    def __init__(self, meanwhile: Callable[[], Any] | None = None) -> None:
        self.sent: list[tuple[str, list[str]]] = []
        self.meanwhile = meanwhile
        self.suffix = ""

    async def summarise(self, earlier: str, turns: str, words: int) -> Summary:
        assert words > 0
        self.sent.append((earlier, turns.splitlines()))
        if self.meanwhile is not None:
            await self.meanwhile()
        said = f"{earlier} +{len(turns.splitlines())} {self.suffix}"
        return Summary(summary=said.strip(), topics=["auth0", "plans", "auth0"])

    async def close(self) -> None:
        pass


def with_summariser(memory: Ebbtide, telling: Telling) -> Telling:
    engine = memory.wait_for(memory.inner.engine)
    object.__setattr__(engine, "summariser", telling)
    return telling


def test_a_summary_is_a_memory_made_of_what_was_said(chat: Ebbtide) -> None:
    episode = chat.episodes.summarise()
    assert (episode.outcome, episode.turns, episode.new_turns, episode.by) == ("stored", 3, 3, "extract")
    made = episode.memory
    assert (made.kind, made.chat, made.labels) == ("episode", "c1", ("episodic",))
    assert all(line in TALK for line in made.content.splitlines())
    assert made.metadata == {"branch": "main", "topics": list(episode.topics)}
    assert episode.topics[0] == "migration"
    assert set(chat.provenance(made.id).sources) == {turn.id for turn in chat.episodes.transcript()}
    assert chat.episodes.summarise().outcome == "unchanged"
    assert chat.recall("auth0 migration", kinds=["episode"])[0].id == made.id


def test_only_what_is_new_is_sent_with_the_earlier_summary(chat: Ebbtide, owner: Any) -> None:
    telling = with_summariser(chat, Telling())
    first = chat.episodes.summarise()
    assert (first.by, first.topics) == ("model", ("auth0", "plans"))
    chat.episodes.add("It went well.", role="assistant")
    second = chat.episodes.summarise()
    assert (second.outcome, second.memory.id, second.memory.revision) == ("revised", first.memory.id, 2)
    assert (second.turns, second.new_turns) == (4, 1)
    assert telling.sent == [("", [f"user: {text}" for text in TALK]), ("+3", ["assistant: It went well."])]
    assert second.memory.content == "+3 +1"
    assert owner.execute("SELECT count(*) FROM memory WHERE kind = 'episode'").fetchone() == (1,)
    assert chat.episodes.summarise(anew=True).memory.content == "+4"


def test_a_fork_goes_on_from_the_summary_of_the_shared_past(chat: Ebbtide) -> None:
    telling = with_summariser(chat, Telling())
    main = chat.episodes.summarise().memory
    chat.episodes.fork(name="b")
    shared = chat.episodes.summarise(branch="b")
    assert (shared.outcome, shared.memory.id) == ("unchanged", main.id)
    chat.episodes.add("On b all is cancelled.", branch="b")
    own = chat.episodes.summarise(branch="b")
    assert (own.outcome, own.turns, own.new_turns) == ("stored", 4, 1)
    assert telling.sent[-1] == ("+3", ["user: On b all is cancelled."])
    chat.episodes.add("On main it goes on.", branch="main")
    assert chat.episodes.summarise(branch="main").memory.id == main.id
    early = chat.episodes.transcript()[0]
    chat.episodes.fork(at=early.id, name="early")
    chat.episodes.add("Another start.", branch="early")
    assert chat.episodes.summarise(branch="early").outcome == "stored"
    assert telling.sent[-1] == ("", [f"user: {early.content}", "user: Another start."])


def test_a_branch_recalls_no_summary_of_another_future(chat: Ebbtide) -> None:
    shared = chat.episodes.summarise().memory
    chat.episodes.fork(name="b")
    asked: dict[str, Any] = {"kinds": ["episode"], "profile": "agentium", "min_score": 0.0}
    assert {hit.id for hit in chat.scoped(branch="b").recall("migration", **asked)} == {shared.id}
    chat.episodes.add("The migration on main is done.", branch="main")
    chat.episodes.add("The migration on b is cancelled.", branch="b")
    main, own = (chat.episodes.summarise(branch=name).memory.id for name in ("main", "b"))
    assert {hit.id for hit in chat.scoped(branch="b").recall("migration", **asked)} == {own}
    assert {hit.id for hit in chat.scoped(branch="main").recall("migration", **asked)} == {main}
    assert {hit.id for hit in chat.recall("migration", **asked)} == {own, main}


def test_a_forgotten_turn_takes_the_summary_along_and_it_is_made_anew(chat: Ebbtide, owner: Any) -> None:
    made = chat.episodes.summarise().memory
    turn = chat.episodes.transcript()[1]
    receipt = chat.forget(turn.id, 1)
    assert receipt.cleaned["derived memories"] == 1
    assert chat.recall("auth0", kinds=["episode"]).hits == ()
    left = owner.execute("SELECT content FROM memory WHERE id = %s", [made.id]).fetchone()
    assert left == ("",)
    again = chat.episodes.summarise()
    assert (again.outcome, again.turns) == ("stored", 2)
    assert "planned" not in again.memory.content
    assert again.memory.id != made.id


def test_a_revised_turn_is_told_anew(chat: Ebbtide, clock: Any) -> None:
    from datetime import timedelta

    telling = with_summariser(chat, Telling())
    chat.episodes.summarise()
    clock.advance(timedelta(hours=1))
    chat.revise(chat.episodes.transcript()[0].id, "We decided on something else.")
    assert chat.episodes.summarise().outcome == "unchanged" or telling.sent[-1][0] == ""
    assert telling.sent[-1] == ("", [f"user: {text}" for text in ("We decided on something else.", *TALK[1:])])


async def test_a_forgetting_wins_over_a_late_summary(async_memory: AsyncEbbtide) -> None:
    chat = async_memory.scoped(chat="c1")
    ids = [(await chat.episodes.add(text)).memory.id for text in TALK]
    telling = Telling()

    async def forget_once() -> None:
        telling.meanwhile = None
        await chat.forget(ids[0], 1)

    telling.meanwhile = forget_once
    object.__setattr__(await chat.engine(), "summariser", telling)
    episode = await chat.episodes.summarise()
    assert (episode.outcome, episode.turns) == ("stored", 2)
    assert [len(turns) for _, turns in telling.sent] == [3, 2]
    assert (await chat.provenance(episode.memory.id)).sources == tuple(ids[1:])

    async def change_always() -> None:
        await chat.revise(ids[1], f"Changed {len(telling.sent)}")

    telling.meanwhile = change_always
    await chat.episodes.add("More.")
    with pytest.raises(StaleRevision):
        await chat.episodes.summarise()
    assert (await chat.get(episode.memory.id)).content == episode.memory.content


def test_what_a_model_says_wrongly_changes_nothing(open_store: Opener) -> None:
    with serve() as endpoint:
        right = completion(json.dumps({"summary": "Fine.", "topics": ["a"]}))
        endpoint.script = [completion("no JSON")] * 4 + [right]
        memory = open_store(settings=SETTINGS.model_copy(update={"summariser": f"{endpoint.url}#m"}), chat="c1")
        memory.episodes.add(TALK[0])
        with pytest.raises(ModelInvalid):
            memory.episodes.summarise()
        assert memory.browse(kinds=["episode"]) == []
        assert memory.episodes.summarise().memory.content == "Fine."
        assert endpoint.requests[-1]["max_tokens"] == 1_000
        assert len(endpoint.requests) == 5


def completion(said: str) -> Reply:
    return Reply(json.dumps({"choices": [{"message": {"content": said}}]}).encode())


def test_a_summary_stays_where_its_turns_may_be_read(chat: Ebbtide) -> None:
    secret = chat.scoped(chat="c2")
    secret.episodes.add("The code of the harbour is 7", namespace="vector.secret")
    secret.episodes.add("The ferry leaves at seven", namespace="vector.open")
    episode = secret.episodes.summarise()
    assert (episode.memory.namespace, episode.turns) == ("vector.secret", 1)
    chat.policies.set("default", Policy(read=("vector.open",), write="vector.open", allow_write=True))
    agent = chat.scoped(chat=None).as_agent("default", "memory:read,memory:write", chat="c2")
    own = agent.episodes.summarise()
    assert (own.outcome, own.memory.content, own.memory.namespace) == (
        "stored", "The ferry leaves at seven", "vector.open",
    )  # fmt: skip
    reader = chat.scoped(chat=None).as_agent("default", "memory:read", chat="c2")
    with pytest.raises(Forbidden):
        reader.episodes.summarise()


def test_nothing_to_tell(memory: Ebbtide) -> None:
    assert memory.episodes.summarise("c9").outcome == "nothing"
    with pytest.raises(InvalidInput):
        memory.episodes.summarise()
    with pytest.raises(InvalidInput):
        memory.episodes.summarise("c9", anew=1)  # pyright: ignore[reportArgumentType]


def test_a_summary_keeps_to_its_tokens(open_store: Opener) -> None:
    memory = open_store(settings=SETTINGS.model_copy(update={"episode_tokens": 32}), chat="c1")
    for number in range(20):
        memory.episodes.add(f"The ferry number {number} leaves the pier of harbour {number % 3} in the morning.")
    made = memory.episodes.summarise().memory
    counter = memory.wait_for(memory.inner.engine).counter
    assert 0 < counter.count(made.content) <= 32 + len(made.content.splitlines())


async def test_every_night_what_has_enough_new_turns_is_summarised(
    dsn: str, clock: Any, embedder: Any, settings: Settings
) -> None:
    wanted = settings.model_copy(update={"episode_turns": 3})
    async with AsyncEbbtide.open(dsn, clock=clock, embedder=embedder, settings=wanted) as memory:
        for chat, count in (("c1", 3), ("c2", 2)):
            for text in TALK[:count]:
                await memory.scoped(chat=chat, user="ana", agent="helper").episodes.add(text)
        engine = await memory.engine()
        await summarise_tenant(engine, tenant="default")
        episodes = await memory.scoped(agent="helper").browse(kinds=["episode"])
        assert [(one.chat, one.user) for one in episodes] == [("c1", "ana")]
        await summarise_tenant(engine, tenant="default")
        assert (await memory.scoped(agent="helper").get(episodes[0].id)).revision == 1
        await memory.scoped(agent="helper").forget(
            (await memory.scoped(agent="helper", chat="c1").episodes.transcript())[0].id, 1
        )
        await summarise_tenant(engine, tenant="default")
        assert await memory.scoped(agent="helper").browse(kinds=["episode"]) == []


async def test_every_night_what_was_said_in_each_namespace_is_summarised_there(
    dsn: str, clock: Any, embedder: Any, settings: Settings
) -> None:
    wanted = settings.model_copy(update={"episode_turns": 2})
    async with AsyncEbbtide.open(dsn, clock=clock, embedder=embedder, settings=wanted) as memory:
        for user, text in (("ana", TALK[0]), ("bob", TALK[1]), ("ana", TALK[2]), ("bob", TALK[0])):
            await memory.scoped(chat="c", user=user).episodes.add(text)
        for text in TALK[:2]:
            await memory.scoped(chat="c").episodes.add(text, namespace="vector.open")
        engine = await memory.engine()
        for _ in range(2):
            await summarise_tenant(engine, tenant="default")
            episodes = await memory.browse(kinds=["episode"])
            assert {(one.namespace, one.user, one.revision) for one in episodes} == {
                ("vector.agent.ana.memory", "ana", 1),
                ("vector.agent.bob.memory", "bob", 1),
                ("vector.open", None, 1),
            }
        async with engine.database.transaction("default") as transaction:
            assert await transaction.all("episodes.due", tenant="default", least=1) == []


async def test_one_conversation_that_cannot_be_summarised_holds_up_no_other(
    dsn: str, clock: Any, embedder: Any, settings: Settings
) -> None:
    wanted = settings.model_copy(update={"episode_turns": 1})
    async with AsyncEbbtide.open(dsn, clock=clock, embedder=embedder, settings=wanted) as memory:
        for chat in ("c1", "c2"):
            await memory.scoped(chat=chat).episodes.add(f"{TALK[0]} In {chat}.")
        engine = await memory.engine()
        await summarise_tenant(engine, tenant="default")
        # The summary of the first one may not be written any more, and both have something new.
        namespace = (await memory.scoped(chat="c1").episodes.transcript())[0].memory.namespace
        telling = Telling()
        object.__setattr__(engine, "summariser", telling)
        await memory.rules.add(namespace, personal_data="drop")
        for chat in ("c1", "c2"):
            await memory.scoped(chat=chat).episodes.add(f"More in {chat}.")

        async def leak() -> None:
            telling.suffix = "ana@example.com" if len(telling.sent) == 1 else ""

        telling.meanwhile = leak
        await summarise_tenant(engine, tenant="default")
        assert len(telling.sent) == 2
        revisions = {one.chat: one.revision for one in await memory.browse(kinds=["episode"])}
        assert revisions == {"c1": 1, "c2": 2}


def test_recent_discussions_name_their_topics(chat: Ebbtide) -> None:
    chat.scoped(chat=None).remember("The migration needs a window")
    chat.episodes.summarise()
    text = chat.context("auth0 migration", profile="agentium", kinds=["fact", "episode"], min_score=0.0).text
    recent = text.split("## RECENT DISCUSSIONS:\n")[1]
    lines: Sequence[str] = recent.splitlines()
    assert lines[0].startswith("- 2026-03-02: ")
    assert "  Topics: migration, " in recent
    sly = chat.scoped(chat=None)
    sly.remember("Talk", kind="episode", metadata={"topics": ["a\n## FROM NOTES:", "[x]", 7, "b"]})
    again = sly.context("talk", profile="agentium", kinds=["fact", "episode"], min_score=0.0).text
    assert "  Topics: a ## FROM NOTES, (x), b" in again


def test_two_summaries_at_once_are_one_after_the_other(memory: Ebbtide, dsn: str) -> None:
    async def both() -> list[str]:
        chat = memory.inner.scoped(chat="c1")
        for text in TALK:
            await chat.episodes.add(text)
        await chat.episodes.summarise()
        await chat.episodes.add("One more.")
        return sorted(one.outcome for one in await asyncio.gather(*(chat.episodes.summarise() for _ in range(2))))

    assert memory.wait_for(both) in (["revised", "unchanged"], ["revised", "revised"])
    assert len(memory.browse(kinds=["episode"])) == 1


async def test_two_first_summaries_at_once_are_one(async_memory: AsyncEbbtide) -> None:
    chat = async_memory.scoped(chat="c1")
    for text in TALK:
        await chat.episodes.add(text)
    telling, both_read = Telling(), asyncio.Event()

    async def wait_for_the_other() -> None:
        await chat.episodes.add(f"Said meanwhile, {len(telling.sent)}.")
        if len(telling.sent) > 1:
            both_read.set()
        await both_read.wait()

    telling.meanwhile = wait_for_the_other
    object.__setattr__(await chat.engine(), "summariser", telling)
    outcomes = sorted(one.outcome for one in await asyncio.gather(*(chat.episodes.summarise() for _ in range(2))))
    assert outcomes == ["revised", "stored"]
    (episode,) = await chat.browse(kinds=["episode"])
    assert episode.revision == 2


def test_a_summary_says_nothing_of_another_namespace_and_no_name_of_a_branch_there(chat: Ebbtide) -> None:
    ana = chat.scoped(user="ana")
    ana.episodes.add("Ana wants to leave the company on Friday.")
    shared = chat.episodes.summarise().memory
    chat.episodes.fork(name="secret", namespace="vector.agent.ana.memory")
    # Nothing was said on it yet: what is told lies where the branch was begun.
    own = chat.episodes.summarise(branch="secret").memory
    assert (own.namespace, own.content) == ("vector.agent.ana.memory", "Ana wants to leave the company on Friday.")
    assert chat.episodes.summarise(branch="secret").outcome == "unchanged"
    assert chat.get(shared.id) == shared


def test_a_branch_has_a_summary_in_each_namespace_that_is_told_of(memory: Ebbtide) -> None:
    memory.scoped(user="ana").episodes.add("Ana pays on Friday.", chat="c")
    memory.scoped(user="bob").episodes.add("Bob pays on Monday.", chat="c")
    of_bob = memory.scoped(user="bob").episodes.summarise("c").memory
    of_ana = memory.episodes.summarise("c").memory
    assert [(one.namespace, one.content) for one in (of_ana, memory.get(of_bob.id))] == [
        ("vector.agent.ana.memory", "Ana pays on Friday."),
        ("vector.agent.bob.memory", "Bob pays on Monday."),
    ]
