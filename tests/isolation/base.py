"""What every part of the machine does: it calls a verb as somebody, and holds the answer against the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import psycopg

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import EbbtideError
from tests.isolation.chance import one_of
from tests.isolation.model import AGENTS, NAMESPACES, USERS, Actor, Model, Room
from tests.outdated import marks_in

# Whatever a verb may change, by whose it is and where it lies; what lies in no namespace is the agent's.
STATE = """
SELECT tenant_id, agent_id, namespace, md5(string_agg(state, ',' ORDER BY state)) FROM (
    SELECT tenant_id, agent_id, namespace,
           concat_ws('|', id, revision, status, maturity, content, importance, tags, metadata) AS state
    FROM ebbtide.memory
    UNION ALL SELECT tenant_id, agent_id, '', concat_ws('|', id, name, merged_into, memory_id) FROM ebbtide.entity
    UNION ALL SELECT tenant_id, agent_id, '', concat_ws('|', id, entity_id, alias, given, added, removed)
              FROM ebbtide.entity_alias
    UNION ALL SELECT tenant_id, agent_id, '', concat_ws('|', id, subject_id, predicate, object_id) FROM ebbtide.relation
    UNION ALL SELECT tenant_id, agent_id, '', concat_ws('|', chat_id, name, parent, forked_after) FROM ebbtide.branch
    UNION ALL SELECT tenant_id, agent_id, '', concat_ws('|', chat_id, branch, place, memory_id) FROM ebbtide.turn
    UNION ALL SELECT tenant_id, agent_id, namespace, concat_ws('|', id, path, title, content_hash)
              FROM ebbtide.document
    UNION ALL SELECT l.tenant_id, l.agent_id, '', concat_ws('|', h.recall_id, h.memory_id, h.rating)
              FROM ebbtide.recall_hit h JOIN ebbtide.recall_log l ON l.tenant_id = h.tenant_id AND l.id = h.recall_id
              WHERE h.rating IS NOT NULL
) parts WHERE tenant_id = ANY(%s) GROUP BY 1, 2, 3"""

MADE = """
SELECT m.id, array_agg(o.source_id) FILTER (WHERE o.source_id IS NOT NULL), coalesce(bool_or(o.whole), false)
FROM ebbtide.memory m LEFT JOIN ebbtide.memory_origin o ON o.tenant_id = m.tenant_id AND o.memory_id = m.id
WHERE m.tenant_id = %s AND m.agent_id = %s AND m.status <> 'tombstoned' GROUP BY m.id"""

Place = tuple[str, str, str]
"""A tenant, an agent and a namespace."""

numbers = count()
flags = one_of((False, True))
picks = one_of(range(10_000))
places = one_of((None, *NAMESPACES))


def actors(chance: Random) -> Actor:
    """Anybody, through any kind of handle."""
    return Actor(
        tenant=chance.randrange(2),
        agent=chance.choice(AGENTS),
        user=chance.choice((None, *USERS)),
        policed=chance.random() < 0.5,
        tool=chance.random() < 0.5,
        reader=chance.random() < 0.25,
    )


@dataclass
class Paper:
    """A document: whose it is, where it lies, and the passages that it had last."""

    room: Room
    namespace: str
    path: str
    passages: set[UUID]


class Walk:
    """Two tenants with two agents and two users each, side by side in one store."""

    def __init__(
        self,
        store: Ebbtide,
        clock: FixedClock,
        owner: psycopg.Connection[Any],
        application: psycopg.Connection[Any],
        tables: list[str],
        folder: Path,
    ) -> None:
        self.store, self.clock, self.owner, self.application = store, clock, owner, application
        self.tables, self.folder = tables, folder
        life = next(numbers)
        self.model = Model((f"tide{life}", f"ebb{life}"))
        self.known: list[UUID] = []
        self.others: dict[str, list[UUID]] = defaultdict(list)
        self.recalls: list[tuple[UUID, Actor, tuple[UUID, ...]]] = []
        self.names: list[str] = []
        self.branches: list[str] = []
        self.papers: dict[UUID, Paper] = {}
        self.exported: list[dict[str, Any]] = []

    def act(
        self,
        actor: Actor,
        call: Callable[[Ebbtide], Any],
        *given: UUID,
        by_id: bool = True,
        tenants: bool = False,
        asked: Sequence[str] = (),
    ) -> Any:
        """Call a verb; whatever it answers or raises must be the caller's to see, save what was given or asked for."""
        self.clock.advance(timedelta(minutes=1))
        self.model.asked[self.model.tenants[actor.tenant]] |= set(given)
        try:
            answer = call(actor.handle(self.store, self.model.tenants))
        except EbbtideError as error:
            answer = error
        if not isinstance(answer, EbbtideError):
            self.learn(actor, answer)
        if tenants:
            self.model.check_tenants(actor, answer, frozenset(given))
        else:
            self.model.check_agents(actor, answer, frozenset(given), by_id=by_id, asked=frozenset(asked))
        return answer

    def learn(self, actor: Actor, answer: Any) -> None:
        """What a write answered with is the room's; what was there already has to be its own."""
        for one in answer if isinstance(answer, list) else [answer]:
            memory = getattr(one, "memory", None)
            outcome = getattr(one, "outcome", None)
            if memory is None or outcome is None:
                continue
            room = self.model.room(actor)
            if outcome in ("duplicate", "echo"):
                assert memory.id in self.model.living(room), f"{actor} is told of a memory of another"
            else:
                self.known.append(memory.id)
            self.model.learn(room, memory)

    def write(self, actor: Actor, call: Callable[[Ebbtide, str], Any], *given: UUID) -> Any:
        """Have a statement written that nobody else makes; its token says whose it is."""
        before = self.rooms()
        text = f"{self.model.token(self.model.room(actor))} the ferry leaves at {next(numbers) % 24}"
        answer = self.act(actor, lambda handle: call(handle, text), *given)
        self.unchanged(before, actor)
        return answer

    def change(self, actor: Actor, call: Callable[[Ebbtide], Any], *given: UUID, **checked: Any) -> Any:
        before = self.rooms()
        answer = self.act(actor, call, *given, **checked)
        self.unchanged(before, actor)
        return answer

    def rooms(self) -> dict[Place, str]:
        rows = self.owner.execute(STATE, [list(self.model.tenants)])
        return {(tenant, agent, namespace): state for tenant, agent, namespace, state in rows}

    def unchanged(
        self, before: dict[Place, str], actor: Actor, *, whole_tenant: bool = False, reading: bool = False
    ) -> None:
        """Nothing changed but in the actor's room, and there where it may write; a read brings back what faded."""
        after = self.rooms()
        room = self.model.room(actor)
        for place in before.keys() | after.keys():
            own = place[:2] == room and (reading or not place[2] or self.model.writes(actor, place[2]))
            if not own and not (whole_tenant and place[0] == room[0]):
                assert before.get(place) == after.get(place), f"{actor} changed {place}"

    def owner_of(self, room: Room) -> Ebbtide:
        """A handle to which nothing of a room is hidden."""
        return self.store.scoped(tenant=room[0], agent=room[1])

    def sync(self, *rooms: Room) -> None:
        """Learn what was made from memories; whatever else is there was written by somebody, and is known."""
        for room in rooms:
            for id_, made_from, whole in self.owner.execute(MADE, room).fetchall():
                sources: set[UUID] = set(made_from or ())
                kept = self.model.kept[room].get(id_)
                if kept is None:
                    assert sources, f"{id_} came from nowhere"
                    self.known.append(id_)
                if sources:
                    self.model.derive(room, self.owner_of(room).get(id_), sources, whole)
                elif kept is not None:
                    kept.sources = set()

    def pick(self, actor: Actor, number: int) -> UUID:
        """A memory, every other time one of the actor's room."""
        own = [id_ for id_ in self.known if id_ in self.model.living(self.model.room(actor))]
        known = own if own and number % 2 else self.known
        return known[number // 2 % len(known)]

    def same_refusal(self, foreign: Any, absent: Any, id_: Any, never: Any) -> None:
        assert isinstance(foreign, EbbtideError), f"{id_} of another was answered with {foreign!r}"
        assert isinstance(absent, EbbtideError)
        assert str(foreign.to_dict()).replace(str(id_), "") == str(absent.to_dict()).replace(str(never), "")
        assert type(foreign) is type(absent)

    def end(self) -> None:
        """What lies in each room is what was written there and not forgotten, and nothing of it needs repair."""
        self.sync(*self.model.rooms)
        for room in self.model.rooms:
            there = {UUID(record["id"]) for record in self.owner_of(room).export_records()}
            assert there == set(self.model.living(room)), f"what lies in {room}"
        for tenant in self.model.tenants:
            found = self.store.scoped(tenant=tenant).reconcile()
            assert found.repaired == 0, found
            said, so = marks_in(self.owner, tenant)
            assert said == so, f"what is outdated in {tenant}"
