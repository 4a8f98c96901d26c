"""The machine: random verbs of random callers, each answer and each error held against the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError
from ebbtide.types.memory import RESOLUTIONS, Dispute
from ebbtide.write.context import refresh_around
from tests.isolation.base import actors, flags, picks, places
from tests.isolation.chance import one_of, rule, some_of
from tests.isolation.conversations import Conversations
from tests.isolation.knowledge import Knowledge
from tests.isolation.model import AGENTS, NAMESPACES, POLICIES, USERS, Actor

FADE = """
UPDATE ebbtide.memory SET status = 'deleted', deleted_at = %s
WHERE tenant_id = %s AND agent_id = %s AND status = 'active' AND get_byte(content_hash, 0) %% %s = 0
RETURNING id"""

READS = ("get", "history", "explain", "after", "curve", "provenance")
MARKS = ("invalidate", "restore", "separate", "confirm", "importance", "feedback", "engaged", "extract")

profiles = one_of(("tide", "ibex", "ontheia"))


class Isolation(Knowledge, Conversations):
    """Every verb on memories and on what governs them, beside those on entities, conversations and documents."""

    def begin(self) -> None:
        """Everybody has said something everywhere."""
        for room in self.model.rooms:
            self.set_policy(Actor(self.model.tenants.index(room[0]), room[1], None, False, False, False), "own")
            for user in USERS:
                actor = Actor(self.model.tenants.index(room[0]), room[1], user, False, False, False)
                self.remember_in(actor, NAMESPACES)
                self.begin_knowledge(actor)
                self.begin_conversations(actor)

    @rule(actor=actors, place=places, subject=flags, key=one_of((None, 0, 1, 2, 3)))
    def remember(self, actor: Actor, place: str | None, subject: bool, key: int | None) -> None:
        about: dict[str, Any] = {"subject": "ferry", "predicate": "leaves at"} if subject else {}
        name = None if key is None else f"key{key}"
        self.write(actor, lambda handle, text: handle.remember(text, namespace=place, idempotency_key=name, **about))

    @rule(actor=actors, place=places, key=one_of((None, 0, 1)))
    def say_what_others_say(self, actor: Actor, place: str | None, key: int | None) -> None:
        name = None if key is None else f"shared{key}"
        before = self.rooms()
        self.act(actor, lambda handle: handle.remember("All ferries are blue.", namespace=place, idempotency_key=name))
        self.unchanged(before, actor)

    @rule(actor=actors, places_=some_of(NAMESPACES, 3))
    def remember_many(self, actor: Actor, places_: list[str]) -> None:
        self.remember_in(actor, places_)

    def remember_in(self, actor: Actor, places_: Sequence[str]) -> None:
        texts = [f"{self.model.token(self.model.room(actor))} the ferry sails" for _ in places_]
        drafts = [{"content": text, "namespace": place} for text, place in zip(texts, places_, strict=True)]
        self.change(actor, lambda handle: handle.remember_many(drafts))

    @rule(actor=actors)
    def record_run(self, actor: Actor) -> None:
        self.write(actor, lambda handle, text: handle.record_run(f"{text} " * 4, f"{text} was the answer"))

    @rule(actor=actors, profile=profiles, pattern=places, superseded=flags)
    def recall(self, actor: Actor, profile: str, pattern: str | None, superseded: bool) -> None:
        asked: dict[str, Any] = {"namespaces": pattern} if pattern else {}
        answer = self.act(
            actor,
            lambda handle: handle.recall(
                "When does the ferry leave?", profile=profile, trace=True, limit=50, min_score=0.0,
                include_superseded=superseded, **asked,
            ),
            by_id=pattern is not None and not actor.policed,
        )  # fmt: skip
        if not isinstance(answer, EbbtideError):
            named = pattern is not None and not actor.policed
            seen = [
                id_ for id_ in self.model.living(self.model.room(actor)) if self.model.visible(actor, id_, by_id=named)
            ]
            assert answer.trace.scope_rows <= len(seen), f"{actor} counts rows of others"
            if answer.recall_id is not None:
                self.recalls.append((answer.recall_id, actor, tuple(hit.id for hit in answer)))

    @rule(actor=actors, share=one_of((1, 2, 3)))
    def fade(self, actor: Actor, share: int) -> None:
        """Some of a room was deleted softly; a recall brings back what its caller may see, and nothing that is gone."""
        tenant, agent = self.model.room(actor)
        self.store.scoped(tenant=tenant, agent=agent).forgetting.enable()
        faded = [row[0] for row in self.owner.execute(FADE, [self.clock.now(), tenant, agent, share])]

        async def seen_without() -> None:
            async with (await self.store.inner.engine()).database.transaction(tenant) as transaction:
                await refresh_around(transaction, tenant, faded)

        self.store.wait_for(seen_without)
        before = self.rooms()
        answer = self.act(actor, lambda handle: handle.recall("When does the ferry leave?", trace=True, limit=50))
        self.unchanged(before, actor, reading=True)
        if not isinstance(answer, EbbtideError):
            for id_ in answer.trace.resurrected:
                assert self.model.visible(actor, id_, by_id=False), f"{actor} brought {id_} back"
        self.act(actor, lambda handle: handle.forgetting.plan(), tenants=True)

    @rule(actor=actors)
    def context(self, actor: Actor) -> None:
        of_itself = Actor(actor.tenant, actor.agent, actor.user, actor.policed, False, actor.reader)
        self.act(of_itself, lambda handle: handle.context("When does the ferry leave?"), by_id=False)

    @rule(actor=actors, past=flags, superseded=flags)
    def browse(self, actor: Actor, past: bool, superseded: bool) -> None:
        moment = self.clock.now() - timedelta(minutes=5) if past else None
        call = lambda handle: handle.browse(limit=1000, as_of=moment, include_superseded=superseded)  # noqa: E731
        self.act(actor, call, by_id=False)

    @rule(actor=actors)
    def export(self, actor: Actor) -> None:
        answer = self.act(actor, lambda handle: list(handle.export_records()), by_id=False)
        if isinstance(answer, list):
            self.exported = answer or self.exported

    @rule(actor=actors, number=picks, verb=one_of(READS))
    def read_by_id(self, actor: Actor, number: int, verb: str) -> None:
        self.by_id(actor, number, verb)

    @rule(actor=actors, number=picks, verb=one_of(("revise", "supersede", "supersedes", "forget", "stale")))
    def replace_by_id(self, actor: Actor, number: int, verb: str) -> None:
        self.by_id(actor, number, verb)

    @rule(
        actor=actors,
        number=picks,
        verb=one_of(MARKS),
    )
    def mark_by_id(self, actor: Actor, number: int, verb: str) -> None:
        self.by_id(actor, number, verb)

    @rule(actor=actors, number=picks)
    def forget_by_id(self, actor: Actor, number: int) -> None:
        self.by_id(actor, number, "forget")

    def by_id(self, actor: Actor, number: int, verb: str) -> None:
        """A verb on an id: of a memory that the caller may not see it says the same as of one that never was."""
        id_, never = self.pick(actor, number), uuid4()
        token = self.model.token(self.model.room(actor))
        call = self.verb_on(verb, token)
        if self.model.visible(actor, id_):
            self.sync(self.model.room(actor))
            if verb == "revise":
                self.model.carry(self.model.room(actor), id_, token)
            answer = self.change(actor, lambda handle: call(handle, id_), id_)
            if verb == "forget" and not isinstance(answer, EbbtideError):
                self.others["receipt"].append(answer.receipt_id)
                self.model.forget(self.model.room(actor), [id_])
            self.sync(self.model.room(actor))
            return
        foreign = self.change(actor, lambda handle: call(handle, id_), id_)
        absent = self.act(actor, lambda handle: call(handle, never), never)
        self.same_refusal(foreign, absent, id_, never)

    def verb_on(self, verb: str, token: str) -> Callable[[Ebbtide, UUID], Any]:
        words = f"{token} the ferry left"
        verbs: dict[str, Callable[[Ebbtide, UUID], Any]] = {
            "get": lambda handle, id_: handle.get(id_),
            "history": lambda handle, id_: handle.history(id_),
            "explain": lambda handle, id_: handle.explain("When does the ferry leave?", id_),
            "curve": lambda handle, id_: handle.forgetting.show(id_),
            "after": lambda handle, id_: handle.browse(after=id_),
            "provenance": lambda handle, id_: handle.provenance(id_),
            "revise": lambda handle, id_: handle.revise(id_, words),
            "supersede": lambda handle, id_: handle.supersede(id_, words),
            "supersedes": lambda handle, id_: handle.remember(words, supersedes=id_),
            "invalidate": lambda handle, id_: handle.invalidate(id_),
            "restore": lambda handle, id_: handle.restore(id_),
            "confirm": lambda handle, id_: handle.confirm(id_),
            "importance": lambda handle, id_: handle.update_importance(id_, 0.9),
            "separate": lambda handle, id_: handle.separate(id_),
            "feedback": lambda handle, id_: handle.feedback(id_, "positive"),
            "engaged": lambda handle, id_: handle.engaged([id_]),
            "extract": lambda handle, id_: handle.extract(ids=[id_]),
            "forget": lambda handle, id_: handle.forget(id_, handle.get(id_).revision),
            "stale": lambda handle, id_: handle.forget(id_, 9999),
        }
        return verbs[verb]

    @rule(actor=actors, namespace=one_of(NAMESPACES), really=flags, number=picks)
    def forget_where(self, actor: Actor, namespace: str, really: bool, number: int) -> None:
        id_ = self.pick(actor, number)
        narrowed: dict[str, Any] = {"namespaces": namespace, "ids": [id_]}
        before = self.rooms()
        shown = self.act(actor, lambda handle: handle.forget_where(**narrowed), id_)
        if isinstance(shown, EbbtideError):
            return
        assert self.model.visible(actor, id_) or shown.count == 0, f"{actor} may forget {id_}"
        stranger = Actor(1 - actor.tenant, actor.agent, actor.user, False, False, False)
        token = shown.token
        stolen = self.act(stranger, lambda handle: handle.forget_where(**narrowed, dry_run=False, token=token), id_)
        assert isinstance(stolen, EbbtideError), "a token holds in another tenant"
        assert self.rooms() == before
        if really:
            self.sync(self.model.room(actor))
            done = self.change(actor, lambda handle: handle.forget_where(**narrowed, dry_run=False, token=token), id_)
            if not isinstance(done, EbbtideError):
                self.others["receipt"] += [one.receipt_id for one in done.receipts]
                self.model.forget(self.model.room(actor), done.ids)

    @rule(actor=actors, user=one_of(USERS), often=one_of(range(10)))
    def erase_user(self, actor: Actor, user: str, often: int) -> None:
        if often:
            return
        self.sync(*self.model.rooms)
        before = self.rooms()
        answer = self.act(actor, lambda handle: handle.erase_user(user), tenants=True)
        self.unchanged(before, actor, whole_tenant=True)
        if not isinstance(answer, EbbtideError):
            self.others["receipt"].append(answer.receipt_id)
            self.model.forget_user(self.model.tenants[actor.tenant], user)

    @rule(actor=actors, same_tenant=flags)
    def import_records(self, actor: Actor, same_tenant: bool) -> None:
        """An export comes back to where it was, or its ids come to another tenant with other statements."""
        room = self.model.room(actor)
        ids = [UUID(record["id"]) for record in self.exported]
        if not ids or actor.policed:
            return
        taken = {
            id_ for id_ in ids if any(id_ in self.model.kept[one] for one in self.model.rooms if one[0] == room[0])
        }
        records = [
            {
                "id": str(id_),
                "content": f"{self.model.token(room)} the ferry came over",
                "namespace": "vector.team.notes",
            }
            for id_ in ids
            if (id_ in taken) == same_tenant
        ][:3]
        given = [UUID(record["id"]) for record in records]
        answer = self.change(actor, lambda handle: handle.import_records(records), *given)
        assert isinstance(answer, EbbtideError) == bool(same_tenant and records), repr(answer)
        if not isinstance(answer, EbbtideError):
            handle = actor.handle(self.store, self.model.tenants)
            for id_ in given:
                self.model.learn(room, handle.get(id_))

    @rule(actor=actors, name=one_of(list(POLICIES)))
    def set_policy(self, actor: Actor, name: str) -> None:
        answer = self.act(actor, lambda handle: handle.policies.set(actor.agent, POLICIES[name]), tenants=True)
        if not isinstance(answer, EbbtideError):
            self.model.policies[self.model.room(actor)] = name

    @rule(actor=actors)
    def delete_policy(self, actor: Actor) -> None:
        answer = self.act(actor, lambda handle: handle.policies.delete(actor.agent), tenants=True)
        if not isinstance(answer, EbbtideError):
            del self.model.policies[self.model.room(actor)]

    @rule(actor=actors)
    def see_policies(self, actor: Actor) -> None:
        answer = self.act(actor, lambda handle: handle.policies.effective(actor.agent), tenants=True)
        if not isinstance(answer, EbbtideError):
            assert answer.exists == (self.model.room(actor) in self.model.policies)

    @rule(actor=actors, place=one_of(NAMESPACES))
    def lay_down(self, actor: Actor, place: str) -> None:
        tenant = self.model.tenants[actor.tenant]
        made = self.act(
            actor, lambda handle: handle.rules.add(place, 0.1, instruction=f"as {tenant} does"), tenants=True
        )
        if not isinstance(made, EbbtideError):
            self.others["rule"].append(made.id)
        listed = self.act(actor, lambda handle: handle.rules.list(), tenants=True)
        if not isinstance(listed, EbbtideError):
            assert all(one.instruction == f"as {tenant} does" for one in listed)
        question = "When does the ferry leave?"
        self.act(actor, lambda handle: handle.rules.preview({"pattern": place, "bonus": 1.0}, question), by_id=False)

    @rule(actor=actors)
    def profiles(self, actor: Actor) -> None:
        tenant = self.model.tenants[actor.tenant]
        body = {"name": f"of {tenant}", "law": "sum", "factors": [{"factor": "similarity", "weight": 1}]}
        self.act(actor, lambda handle: handle.profiles.save(body), tenants=True)
        listed = self.act(actor, lambda handle: handle.profiles.list(), tenants=True)
        if not isinstance(listed, EbbtideError):
            assert not {one.name for one in listed} & {f"of {other}" for other in self.model.tenants if other != tenant}
        of_other = f"of {self.model.tenants[1 - actor.tenant]}"
        foreign = self.act(actor, lambda handle: handle.profiles.get(of_other), tenants=True)
        absent = self.act(actor, lambda handle: handle.profiles.get("of nobody"), tenants=True)
        self.same_refusal(foreign, absent, of_other, "of nobody")

    @rule(actor=actors, place=places, number=picks)
    def conflicts(self, actor: Actor, place: str | None, number: int) -> None:
        about: dict[str, Any] = {"namespace": place, "subject": "ferry", "predicate": "leaves at"}
        for _ in range(2):
            self.write(actor, lambda handle, text: handle.remember(text, **about))
        listed = self.act(actor, lambda handle: handle.conflicts.list())
        if isinstance(listed, EbbtideError):
            return
        self.others["conflict"] += [one.id for one in listed]
        tenant, other = self.model.tenants[actor.tenant], self.model.tenants[1 - actor.tenant]
        for id_ in [id_ for id_ in self.others["conflict"] if self.model.seen_by[id_] == other][-1:]:
            never = uuid4()
            foreign, absent = (
                self.change(actor, lambda handle, asked=asked: handle.conflicts.resolve(asked, "keep_new"), asked)
                for asked in (id_, never)
            )
            self.same_refusal(foreign, absent, id_, never)
        if listed:
            self.settle(actor, listed[number % len(listed)], RESOLUTIONS[number % len(RESOLUTIONS)])
        assert all(self.model.seen_by[one.id] == tenant for one in listed)

    def settle(self, actor: Actor, dispute: Dispute, choice: str) -> None:
        room = self.model.room(actor)
        token = self.model.token(room)
        self.model.name(token, dispute.older.namespace)
        merged = f"{token} the ferry leaves twice" if choice == "merge" else None
        answer = self.change(actor, lambda handle: handle.conflicts.resolve(dispute.id, choice, merged=merged))
        if isinstance(answer, list):
            for memory in answer:
                self.model.learn(room, memory)

    @rule(actor=actors, number=picks)
    def operate(self, actor: Actor, number: int) -> None:
        """The operator's verbs tell of the tenant alone, and never what a memory says."""
        id_ = self.pick(actor, number)
        entries = self.act(actor, lambda handle: handle.audit.entries(limit=200), tenants=True)
        if not isinstance(entries, EbbtideError):
            assert {one.agent for one in entries} <= set(AGENTS)
        about = self.act(actor, lambda handle: handle.audit.entries(memory_id=id_), tenants=True)
        tenant = self.model.tenants[actor.tenant]
        here = any(id_ in self.model.kept[room] for room in self.model.rooms if room[0] == tenant)
        if not isinstance(about, EbbtideError) and not here:
            # A refusal names what was asked for; nobody is told by it that there is such a memory elsewhere.
            assert {one.action for one in about} <= {"warning"}
        self.act(actor, lambda handle: handle.receipts.list(), tenants=True)
        jobs = self.act(actor, lambda handle: handle.jobs.list(), tenants=True)
        if not isinstance(jobs, EbbtideError):
            assert {one.tenant for one in jobs} <= {tenant}

    @rule(actor=actors, number=picks)
    def receipts(self, actor: Actor, number: int) -> None:
        tenant = self.model.tenants[actor.tenant]
        self.act(actor, lambda handle: handle.receipts.list(), tenants=True)
        if self.others["receipt"]:
            id_, never = self.others["receipt"][-1], uuid4()
            answer = self.act(actor, lambda handle: handle.verify_receipt(id_), id_, tenants=True)
            if self.model.seen_by[id_] == tenant:
                assert isinstance(answer, EbbtideError) == actor.policed or answer.valid
            else:
                absent = self.act(actor, lambda handle: handle.verify_receipt(never), never, tenants=True)
                self.same_refusal(answer, absent, id_, never)

    @rule(actor=actors, table=picks)
    def around_the_verbs(self, actor: Actor, table: int) -> None:
        """The role that every verb works in, held against one table: the other tenant's rows are not there."""
        mine, other = self.model.tenants[actor.tenant], self.model.tenants[1 - actor.tenant]
        name = sql.Identifier(self.tables[table % len(self.tables)])
        self.application.execute(sql.SQL("SET ebbtide.tenant = {}").format(sql.Literal(mine)))
        seen = self.application.execute(sql.SQL("SELECT count(*) FROM {} WHERE tenant_id <> %s").format(name), [mine])
        assert seen.fetchone() == (0,)
        before = self.rooms()
        touched = [
            self.application.execute("UPDATE memory SET content = 'z' WHERE tenant_id = %s", [other]).rowcount,
            self.application.execute("DELETE FROM memory_version WHERE tenant_id = %s", [other]).rowcount,
        ]
        assert touched == [0, 0]
        with suppress(psycopg.errors.InsufficientPrivilege):
            self.application.execute("UPDATE memory SET tenant_id = %s", [other])
        assert self.rooms() == before
