"""Conversations, documents and recalls: what is said on which branch, read in which file, and judged by whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError, NotFound
from tests.isolation.base import Paper, Walk, actors, flags, picks, places
from tests.isolation.chance import one_of, rule
from tests.isolation.model import NAMESPACES, Actor, tokens_of

CHAT = "crossing"
PATHS = ("timetable.md", "prices.md")

ON_BRANCH: dict[str, Callable[[Ebbtide, str], Any]] = {
    "transcript": lambda handle, branch: handle.episodes.transcript(CHAT, branch),
    "summarise": lambda handle, branch: handle.episodes.summarise(CHAT, branch),
    "add": lambda handle, branch: handle.episodes.add("Yes.", chat=CHAT, branch=branch),
    "fork": lambda handle, branch: handle.episodes.fork(CHAT, branch=branch, name="later"),
}
ON_DOCUMENT: dict[str, Callable[[Ebbtide, Any], Any]] = {
    "get": lambda handle, one: handle.documents.get(one),
    "forget": lambda handle, one: handle.documents.forget(one),
}


class Conversations(Walk):
    """Chats of one name, files of one path and questions of one wording, in every room."""

    def begin_conversations(self, actor: Actor) -> None:
        """A chat with a branch that others know nothing of, and a file."""
        for number in range(3):
            self.say(actor, None, 0)
            self.fork(actor, 0, by_turn=False)
            self.say(actor, NAMESPACES[number], number)
        self.ingest(actor, NAMESPACES[0], PATHS[0], alone=False)
        self.ingest(actor, NAMESPACES[3], PATHS[1], alone=True)

    @rule(actor=actors, place=places, number=picks)
    def say(self, actor: Actor, place: str | None, number: int) -> None:
        """A turn of the chat that all rooms have, on a branch that the caller knows of."""
        known = [None, *(one for one in self.branches if self.model.shows(actor, one, by_id=False))]
        branch = known[number % len(known)]
        room = self.model.room(actor)
        text = f"{self.model.token(room)} said the mate."
        answer = self.change(actor, lambda handle: handle.episodes.add(text, chat=CHAT, branch=branch, namespace=place))
        if not isinstance(answer, EbbtideError) and branch is not None:
            # A turn tells on which branch it was said.
            self.model.carry(room, answer.memory.id, branch)

    @rule(actor=actors, number=picks, by_turn=flags)
    def fork(self, actor: Actor, number: int, by_turn: bool) -> None:
        room = self.model.room(actor)
        name = self.model.token(room)
        at = self.pick(actor, number) if by_turn else None
        given = [] if at is None else [at]
        answer = self.change(actor, lambda handle: handle.episodes.fork(CHAT, at, name=name), *given, asked=[name])
        if at is not None and not self.model.visible(actor, at):
            never = uuid4()
            absent = self.change(actor, lambda handle: handle.episodes.fork(CHAT, never, name=name), never)
            self.same_refusal(answer, absent, at, never)
        if not isinstance(answer, EbbtideError):
            self.branches.append(name)
            self.model.name(name, self.home_of(actor))

    def home_of(self, actor: Actor) -> str:
        """The namespace that an actor writes to where it names none."""
        probe = self.model.token(self.model.room(actor))
        answer = self.change(actor, lambda handle: handle.remember(f"{probe} is where I write."))
        assert not isinstance(answer, EbbtideError)
        return answer.memory.namespace

    @rule(actor=actors)
    def see_chats(self, actor: Actor) -> None:
        self.act(actor, lambda handle: handle.episodes.chats(), by_id=False)
        self.act(actor, lambda handle: handle.episodes.branches(CHAT), by_id=False)
        self.act(actor, lambda handle: handle.episodes.transcript(CHAT), by_id=False)

    @rule(actor=actors, number=picks, verb=one_of(list(ON_BRANCH)))
    def on_branch(self, actor: Actor, number: int, verb: str) -> None:
        """A branch whose name nothing readable tells is not there."""
        if not self.branches:
            return
        name = self.branches[number % len(self.branches)]
        room = self.model.room(actor)
        shown = self.model.shows(actor, name, by_id=True)
        self.sync(room)
        call = ON_BRANCH[verb]
        answer = self.change(actor, lambda handle: call(handle, name), asked=[name], by_id=verb == "add")
        if not shown and not isinstance(answer, EbbtideError):
            raise AssertionError(f"{actor} is answered on the branch {name}: {answer}")
        if not shown:
            never = self.model.token(room)
            absent = self.change(actor, lambda handle: call(handle, never), asked=[never])
            self.same_refusal(answer, absent, name, never)
        if verb == "add" and not isinstance(answer, EbbtideError):
            self.model.carry(room, answer.memory.id, name)
        if verb == "fork" and not isinstance(answer, EbbtideError):
            self.model.name(name, self.home_of(actor))
        self.sync(room)

    @rule(actor=actors)
    def summarise(self, actor: Actor) -> None:
        room = self.model.room(actor)
        self.sync(room)
        self.change(actor, lambda handle: handle.episodes.summarise(CHAT))
        self.sync(room)

    @rule(actor=actors, place=one_of(NAMESPACES), path=one_of(PATHS), alone=flags)
    def ingest(self, actor: Actor, place: str, path: str, alone: bool) -> None:
        """A file of a path that others have too, or of one of its own; in another version, where there was one."""
        room = self.model.room(actor)
        token = self.model.token(room)
        name = f"{token}.md" if alone else path
        text = f"# {token} ferries\n\nThe {token} sails.\n\n# Prices\n\nThey are as they were.\n"
        self.sync(room)
        answer = self.change(actor, lambda handle: handle.ingest(text=text, name=name, namespace=place), asked=[token])
        if isinstance(answer, EbbtideError) or answer.files[0].document is None:
            return
        document = self.owner_of(room).documents.get(answer.files[0].document)
        passages = {one.id for one in document.contents}
        for id_ in passages:
            self.model.learn(room, self.owner_of(room).get(id_))
            self.known.append(id_)
        before = self.papers.get(document.id)
        assert before is None or before.room == room
        if before is not None:
            self.model.forget(room, [id_ for id_ in before.passages - passages if not self.model.kept[room][id_].gone])
        self.papers[document.id] = Paper(room, place, name, passages)
        # The title is of the document; it goes with the passages that say it.
        assert tokens_of(document) <= {token for id_ in passages for token in self.model.kept[room][id_].tokens}

    @rule(actor=actors)
    def see_documents(self, actor: Actor) -> None:
        listed = self.act(actor, lambda handle: handle.documents.list(), by_id=False)
        if not isinstance(listed, EbbtideError):
            assert {one.id for one in listed} <= {id_ for id_, one in self.papers.items() if self.left(one)}

    def left(self, paper: Paper) -> bool:
        return any(not self.model.kept[paper.room][id_].gone for id_ in paper.passages)

    @rule(actor=actors, number=picks, verb=one_of(list(ON_DOCUMENT)))
    def on_document(self, actor: Actor, number: int, verb: str) -> None:
        if not self.papers:
            return
        id_ = list(self.papers)[number % len(self.papers)]
        paper = self.papers[id_]
        room, call = self.model.room(actor), ON_DOCUMENT[verb]
        seen = paper.room == room and self.left(paper) and self.model.reads(actor, paper.namespace, by_id=True)
        self.sync(room)
        answer = self.change(actor, lambda handle: call(handle, id_), id_)
        if not seen:
            never = uuid4()
            self.same_refusal(answer, self.change(actor, lambda handle: call(handle, never), never), id_, never)
        elif verb == "forget" and not isinstance(answer, EbbtideError):
            self.model.forget(room, paper.passages)
            assert isinstance(self.act(actor, lambda handle: handle.documents.get(id_), id_), NotFound)

    @rule(actor=actors, number=picks, again=flags)
    def judge(self, actor: Actor, number: int, again: bool) -> None:
        """A hit is judged by those who asked, agent and user; to others there was no such recall."""
        if not self.recalls:
            return
        id_, asker, hits = self.recalls[number % len(self.recalls)]
        visible = [one for one in hits if self.model.visible(actor, one)]
        own = [one for one in self.model.living(self.model.room(actor)) if self.model.visible(actor, one)]
        memory = next(iter(visible or own), None)
        if memory is None:
            return
        same = replace(asker, policed=False, tool=False, reader=False) == replace(
            actor, policed=False, tool=False, reader=False
        )
        answer = self.change(actor, lambda handle: handle.feedback(memory, "negative", recall=id_), id_, memory)
        if not same:
            never = UUID(int=uuid4().int)
            absent = self.change(actor, lambda handle: handle.feedback(memory, "negative", recall=never), never, memory)
            self.same_refusal(answer, absent, id_, never)
        if again:
            self.act(actor, lambda handle: handle.profiles.tune("tide", dry_run=True), tenants=True)
