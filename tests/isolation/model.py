"""What a small Python model knows: whose each id and each statement is, and who may see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from ebbtide import Ebbtide, Policy
from ebbtide.govern.access import SCOPES

AGENTS = ("one", "two")
USERS = ("ana", "bob")
NAMESPACES = (
    "vector.agent.ana.memory",
    "vector.agent.bob.memory",
    "vector.user.bob.notes",
    "vector.team.notes",
    "vector.global.memory",
)
POLICIES: dict[str, Policy] = {
    "own": Policy.default(),
    "team": Policy(
        read=("vector.team.notes",),
        tool_read=("vector.team.*", "vector.agent.${user_id}.memory"),
        write="vector.team.notes",
        allowed_write=("vector.agent.${user_id}.memory",),
        allow_write=True,
        allow_tool_write=True,
        allow_tool_delete=True,
    ),
    "wide": Policy(read=("*",), tool_read=("vector.global.*",), write="vector.global.memory", allow_write=True),
}
# Letters alone, so that rules take a capitalised one for a name.
TOKEN = re.compile(r"zq[a-j]{6}", re.IGNORECASE)
IDENTIFIER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Room = tuple[str, str]
"""A tenant and an agent: the walls that every verb has to keep."""


@dataclass(frozen=True)
class Actor:
    """Who calls a verb, and through which kind of handle."""

    tenant: int
    agent: str
    user: str | None
    policed: bool
    tool: bool
    reader: bool

    def handle(self, store: Ebbtide, tenants: tuple[str, str]) -> Ebbtide:
        owner = store.scoped(tenant=tenants[self.tenant], agent=self.agent, user=self.user)
        if not self.policed:
            return owner
        return owner.as_agent(self.agent, ("memory:read",) if self.reader else SCOPES, user=self.user, tool=self.tool)


@dataclass
class Kept:
    """One memory of a room: where it lies, on whose behalf it was said, and every statement and name it ever used.

    `sources` are what it was made from: it goes with any of them where it is `whole`, else with the last.
    """

    namespace: str
    user: str | None
    tokens: set[str] = field(default_factory=set)
    gone: bool = False
    sources: set[UUID] = field(default_factory=set)
    whole: bool = False


def walk(answer: Any) -> Iterable[str]:
    """Every text, name and number in an answer or an error, fields that are left out of its JSON too."""
    if isinstance(answer, BaseException):
        yield f"{answer!r} {getattr(answer, 'to_dict', str)()!r}"
        for behind in (answer.__cause__, answer.__context__):
            if behind is not None:
                yield repr(behind)
    elif isinstance(answer, BaseModel):
        yield from walk(answer.__dict__)
    elif isinstance(answer, Mapping):
        for key, value in answer.items():
            yield str(key)
            yield from walk(value)
    elif isinstance(answer, list | tuple | set | frozenset):
        for value in answer:
            yield from walk(value)
    else:
        yield str(answer)


def tokens_of(answer: Any) -> set[str]:
    """Every token in an answer."""
    return {one.lower() for one in TOKEN.findall(" ".join(walk(answer)))}


def successors_in(answer: Any) -> Iterable[str]:
    """Every id in an answer that stands as what replaced a memory."""
    if isinstance(answer, BaseModel):
        yield from successors_in(answer.__dict__)
    elif isinstance(answer, Mapping):
        for key, value in answer.items():
            if key == "superseded_by" and value is not None:
                yield str(value)
            yield from successors_in(value)
    elif isinstance(answer, list | tuple):
        for value in answer:
            yield from successors_in(value)


class Model:
    """Whose each statement and each id is, across the rooms of two tenants."""

    def __init__(self, tenants: tuple[str, str]) -> None:
        self.tenants = tenants
        self.rooms = [(tenant, agent) for tenant in tenants for agent in AGENTS]
        self.policies: dict[Room, str] = {}
        self.said: dict[str, Room] = {}
        self.carriers: dict[str, set[UUID]] = {}
        self.places: dict[str, set[str]] = {}
        self.kept: dict[Room, dict[UUID, Kept]] = {room: {} for room in self.rooms}
        self.seen_by: dict[UUID, str] = {}
        self.seen_in: dict[UUID, Room] = {}
        self.asked: dict[str, set[UUID]] = {tenant: set() for tenant in tenants}

    def room(self, actor: Actor) -> Room:
        return self.tenants[actor.tenant], actor.agent

    def token(self, room: Room) -> str:
        made = "zq" + "".join("abcdefghij"[int(digit)] for digit in f"{len(self.said):06d}")
        self.said[made] = room
        return made

    def name(self, token: str, namespace: str) -> None:
        """A name that stands in a namespace beside what its memories say, such as a branch's."""
        self.places.setdefault(token, set()).add(namespace)

    def learn(self, room: Room, memory: Any) -> Kept:
        """A write answered with this memory; it is the room's from now on."""
        kept = self.kept[room].setdefault(memory.id, Kept(memory.namespace, memory.user))
        assert kept.namespace == memory.namespace
        for token in tokens_of(memory):
            assert self.said[token] == room, f"{room} wrote what {self.said[token]} said"
            self.carry(room, memory.id, token)
        return kept

    def carry(self, room: Room, id_: UUID, token: str) -> None:
        """A memory says, or is about to say, something; its namespace stays."""
        self.carriers.setdefault(token, set()).add(id_)
        self.kept[room][id_].tokens.add(token)

    def derive(self, room: Room, memory: Any, sources: set[UUID], whole: bool) -> None:
        """There is a memory that was made from others: it says what they say, where they say it."""
        for token in tokens_of(memory):
            said_there = {self.kept[room][id_].namespace for id_ in self.carriers.get(token, ()) if id_ in sources}
            there = said_there | self.places.get(token, set())
            assert memory.namespace in there, f"{token} came into {memory.namespace} by {memory.id}"
        for id_ in sources:
            assert id_ in self.living(room), f"{memory.id} is made from what is not there"
            assert self.kept[room][id_].namespace == memory.namespace, f"{memory.id} is made from another namespace"
        kept = self.learn(room, memory)
        kept.sources, kept.whole = sources, whole

    def forget(self, room: Room, ids: Iterable[UUID]) -> None:
        """Memories go, and with them what was made from them."""
        for id_ in ids:
            self.kept[room][id_].gone = True
        while resting := [
            kept
            for kept in self.living(room).values()
            if kept.sources and (any if kept.whole else all)(self.kept[room][one].gone for one in kept.sources)
        ]:
            for kept in resting:
                kept.gone = True

    def forget_user(self, tenant: str, user: str) -> None:
        for room in self.rooms:
            if room[0] == tenant:
                own = (f"vector.agent.{user}.", f"vector.user.{user}.")
                mine = [i for i, kept in self.kept[room].items() if kept.user == user or kept.namespace.startswith(own)]
                self.forget(room, mine)

    def living(self, room: Room) -> dict[UUID, Kept]:
        return {id_: kept for id_, kept in self.kept[room].items() if not kept.gone}

    def reads(self, actor: Actor, namespace: str | None, *, by_id: bool) -> bool:
        """Whether an actor's readings, or its verbs that take ids, may show what lies in a namespace of its room."""
        if namespace is None:
            return False
        if not actor.policed:
            foreign = tuple(
                f"vector.{kind}.{user}." for kind in ("agent", "user") for user in USERS if user != actor.user
            )
            return by_id or actor.user is None or not namespace.startswith(foreign)
        if self.room(actor) not in self.policies:
            return False
        policy = POLICIES[self.policies[self.room(actor)]]
        lists = (policy.read, policy.tool_read) if by_id else (policy.tool_read if actor.tool else policy.read,)
        return any(covers(pattern, actor.user, namespace) for patterns in lists for pattern in patterns or ())

    def writes(self, actor: Actor, namespace: str) -> bool:
        """Whether an actor may change what lies in a namespace of its room."""
        if not actor.policed:
            return True
        if self.room(actor) not in self.policies:
            return False
        policy = POLICIES[self.policies[self.room(actor)]]
        patterns = (policy.write or "", *(policy.allowed_write or ()))
        return any(covers(pattern, actor.user, namespace) for pattern in patterns)

    def visible(self, actor: Actor, id_: UUID, *, by_id: bool = True) -> bool:
        kept = self.kept[self.room(actor)].get(id_)
        return kept is not None and not kept.gone and self.reads(actor, kept.namespace, by_id=by_id)

    def shows(self, actor: Actor, token: str, *, by_id: bool) -> bool:
        """Whether anything that an actor may read says a token or has it as a name."""
        if self.said[token] != self.room(actor):
            return False
        return any(self.visible(actor, id_, by_id=by_id) for id_ in self.carriers.get(token, ())) or any(
            self.reads(actor, place, by_id=by_id) for place in self.places.get(token, ())
        )

    def check_agents(
        self, actor: Actor, answer: Any, given: frozenset[UUID], *, by_id: bool, asked: frozenset[str] = frozenset()
    ) -> None:
        """Nothing in an agent's answer is another's, or out of its policy's reach, or forgotten."""
        text = " ".join(walk(answer))
        room = self.room(actor)
        for token in {one.lower() for one in TOKEN.findall(text)} - asked:
            assert self.said[token] == room, f"{actor} sees a statement of {self.said[token]}"
            assert self.shows(actor, token, by_id=by_id), f"{actor} sees {token}"
        successors = set(map(UUID, successors_in(answer)))
        for id_ in set(map(UUID, IDENTIFIER.findall(text))) - given:
            if any(id_ in kept for kept in self.kept.values()):
                assert id_ in self.kept[room], f"{actor} sees the id of a memory of another"
                # What replaced a memory is told of by its id to whoever could ask for it by that.
                assert self.visible(actor, id_, by_id=by_id or id_ in successors), f"{actor} sees the id {id_}"
            else:
                assert self.seen_in.setdefault(id_, room) == room, f"{actor} sees the id {id_} of another agent"
                self.check_tenants_id(actor, id_)

    def check_tenants(self, actor: Actor, answer: Any, given: frozenset[UUID] = frozenset()) -> None:
        """Nothing in an operator's answer says what any memory says, or is of another tenant."""
        text = " ".join(walk(answer))
        assert not TOKEN.search(text), f"{actor} reads a statement where only metadata belongs"
        tenant = self.tenants[actor.tenant]
        # A refusal in the audit names what was asked for, be it another's or nobody's.
        for id_ in set(map(UUID, IDENTIFIER.findall(text))) - given - self.asked[tenant]:
            if any(id_ in kept for kept in self.kept.values()):
                assert any(id_ in self.kept[room] for room in self.rooms if room[0] == tenant), f"{actor} sees {id_}"
            else:
                self.check_tenants_id(actor, id_)

    def check_tenants_id(self, actor: Actor, id_: UUID) -> None:
        tenant = self.tenants[actor.tenant]
        assert self.seen_by.setdefault(id_, tenant) == tenant, f"{actor} sees the id {id_} of another tenant"


def covers(pattern: str, user: str | None, namespace: str) -> bool:
    """Whether a policy's pattern covers a namespace, for a user."""
    if user is None and "${user_id}" in pattern:
        return False
    filled = pattern.replace("${user_id}", user or "")
    return filled in ("*", namespace) or (filled.endswith(".*") and namespace.startswith(filled[:-1]))
