"""Entities, relations, pages, extraction and curation: what memories speak of, and what is made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError
from tests.isolation.base import Walk, actors, picks, places
from tests.isolation.chance import one_of, rule
from tests.isolation.model import NAMESPACES, Actor

SARAH = {"name": "Sarah Chen", "type": "person"}
HARBOUR = {"name": "Harbour Ltd", "type": "company"}
GROUP = {"name": "Sea Group", "type": "company"}

KINDS = ("named", "known_as", "employed", "part", "sentence")

Verb = Callable[[Ebbtide, Any], Any]

READ_ENTITY: dict[str, Verb] = {
    "get": lambda handle, one: handle.entities.get(one),
    "neighbourhood": lambda handle, one: handle.entities.neighbourhood(one),
    "relations": lambda handle, one: handle.relations.list(entity=one),
    "path": lambda handle, one: handle.relations.path(one, one),
}
CHANGE_ENTITY: dict[str, Verb] = {
    "page": lambda handle, one: handle.entities.page(one),
    "remove": lambda handle, one: handle.entities.remove_alias(one, "Harbour"),
    "split": lambda handle, one: handle.entities.split(one, aliases=["Sarah"], name="Sarah Miller"),
}
VERBS = READ_ENTITY | CHANGE_ENTITY


def captain(token: str) -> dict[str, Any]:
    """Somebody whom one statement alone speaks of."""
    return {"name": f"Captain {token}", "type": "person"}


class Knowledge(Walk):
    """What is known of whom, by whom."""

    def begin_knowledge(self, actor: Actor) -> None:
        """Somebody in every namespace, and what holds between them."""
        for place, kind in zip(NAMESPACES, KINDS, strict=True):
            self.speak_of(actor, place, kind)
        self.see_entities(actor)
        # Of whom everybody speaks, in a namespace that not everybody reads.
        self.on_entity(actor, "page", HARBOUR["name"])

    @rule(actor=actors, place=places, kind=one_of(KINDS))
    def speak_of(self, actor: Actor, place: str | None, kind: str) -> None:
        """Say something of somebody: of one whom only this names, or of one whom everybody knows by another name."""
        room = self.model.room(actor)
        token = self.model.token(room)
        said: dict[str, dict[str, Any]] = {
            "named": {"entities": [captain(token), HARBOUR]},
            "known_as": {"entities": [SARAH | {"aliases": [f"Sarah {token}"]}]},
            "employed": {"relation": {"subject": captain(token), "predicate": "works at", "object": HARBOUR}},
            "part": {"relation": {"subject": HARBOUR, "predicate": "part of", "object": GROUP}},
            "sentence": {},
        }
        content = f"{token.capitalize()} works at Harbour Ltd." if kind == "sentence" else f"{token} steers the ferry."
        answer = self.change(actor, lambda handle: handle.remember(content, namespace=place, **said[kind]))
        if not isinstance(answer, EbbtideError) and kind in ("named", "employed"):
            self.names.append(token)

    @rule(actor=actors)
    def see_entities(self, actor: Actor) -> None:
        listed = self.act(actor, lambda handle: handle.entities.list(limit=1_000), by_id=False)
        if not isinstance(listed, EbbtideError):
            self.others["entity"] += [one.id for one in listed][-4:]
        self.act(actor, lambda handle: handle.relations.list(limit=1_000), by_id=False)
        self.act(actor, lambda handle: handle.entities.list(text="zq"), by_id=False)
        way = ("Harbour Ltd", "Sea Group")
        self.act(actor, lambda handle: handle.relations.path(*way), by_id=False)
        self.act(actor, lambda handle: handle.entities.get("Sarah Chen"), by_id=False)

    @rule(actor=actors, number=picks, verb=one_of(list(VERBS)))
    def by_name(self, actor: Actor, number: int, verb: str) -> None:
        """A name that nothing readable uses means nobody."""
        if not self.names:
            return
        token = self.names[number % len(self.names)]
        seen = self.model.shows(actor, token, by_id=False)
        answer = self.on_entity(actor, verb, captain(token)["name"], token)
        if not seen:
            never = self.model.token(self.model.room(actor))
            absent = self.on_entity(actor, verb, captain(never)["name"], never)
            self.same_refusal(answer, absent, token, never)

    @rule(actor=actors, number=picks, verb=one_of(list(VERBS)))
    def by_entity(self, actor: Actor, number: int, verb: str) -> None:
        """The id of another agent's entity is nobody's."""
        known = self.others["entity"]
        if not known:
            return
        id_, never = known[number % len(known)], uuid4()
        answer = self.on_entity(actor, verb, id_)
        if self.model.seen_in[id_] != self.model.room(actor):
            self.same_refusal(answer, self.on_entity(actor, verb, never), id_, never)

    def on_entity(self, actor: Actor, verb: str, one: Any, *asked: str) -> Any:
        given = [one] if isinstance(one, UUID) else []
        answer = self.change(actor, lambda handle: VERBS[verb](handle, one), *given, asked=asked, by_id=verb == "page")
        self.sync(self.model.room(actor))
        return answer

    @rule(actor=actors, number=picks, other=picks)
    def put_right(self, actor: Actor, number: int, other: int) -> None:
        """Entities are merged and named by hand, and that is undone; another agent's changes are none."""
        known = [id_ for id_ in self.others["entity"] if self.model.seen_in[id_] == self.model.room(actor)]
        if not known:
            return
        one, another = known[number % len(known)], known[other % len(known)]
        token = self.model.token(self.model.room(actor))
        # Whoever sees an entity sees what people call it.
        for place in NAMESPACES:
            self.model.name(token, place)
        done = [
            self.change(actor, lambda handle: handle.entities.merge(one, another), one, another),
            self.change(actor, lambda handle: handle.entities.add_alias(one, f"Skipper {token}"), one),
        ]
        self.others["change"] += [change.id for change in done if not isinstance(change, EbbtideError)]
        self.act(actor, lambda handle: handle.entities.changes())

    @rule(actor=actors, number=picks)
    def undo(self, actor: Actor, number: int) -> None:
        changes = self.others["change"]
        if not changes:
            return
        id_, never = changes[number % len(changes)], uuid4()
        answer = self.change(actor, lambda handle: handle.entities.undo(id_), id_)
        if self.model.seen_in[id_] != self.model.room(actor):
            absent = self.change(actor, lambda handle: handle.entities.undo(never), never)
            self.same_refusal(answer, absent, id_, never)

    @rule(actor=actors)
    def refresh_pages(self, actor: Actor) -> None:
        self.change(actor, lambda handle: handle.entities.refresh_pages())
        self.sync(self.model.room(actor))

    @rule(actor=actors, place=places)
    def extract(self, actor: Actor, place: str | None) -> None:
        """Facts are read from what the caller may read, and lie where that lies."""
        room = self.model.room(actor)
        narrowed: dict[str, Any] = {"namespaces": place or "vector.*"}
        self.sync(room)
        self.change(actor, lambda handle: handle.extract(**narrowed), by_id=False)
        self.sync(room)

    @rule(actor=actors, place=one_of(NAMESPACES), ending=one_of((".", " now.", " today.")))
    def say_nearly_the_same(self, actor: Actor, place: str, ending: str) -> None:
        token = self.model.token(self.model.room(actor))
        text = f"All the ferries of the northern line are painted blue{ending}"
        self.change(actor, lambda handle: handle.remember(text, namespace=place, tags=[token], metadata={token: token}))

    @rule(actor=actors)
    def consolidate(self, actor: Actor) -> None:
        """Near duplicates become one where they lie; the token of a look means nothing to another tenant."""
        shown = self.act(actor, lambda handle: handle.consolidate(), by_id=False)
        if isinstance(shown, EbbtideError):
            return
        stranger = Actor(1 - actor.tenant, actor.agent, actor.user, False, False, False)
        token = shown.token
        if shown.count:
            stolen = self.change(stranger, lambda handle: handle.consolidate(dry_run=False, token=token))
            assert isinstance(stolen, EbbtideError), "a token holds in another tenant"
        self.change(actor, lambda handle: handle.consolidate(dry_run=False, token=token), by_id=False)
        self.sync(self.model.room(actor))

    @rule(actor=actors)
    def reconcile(self, actor: Actor) -> None:
        answer = self.change(actor, lambda handle: handle.reconcile(dry_run=False), tenants=True)
        assert isinstance(answer, EbbtideError) or answer.repaired == 0, answer

    @rule(actor=actors, by=one_of(("namespace", "kind")))
    def export_markdown(self, actor: Actor, by: str) -> None:
        folder = self.folder / f"export{len(list(self.folder.iterdir()))}"

        def written(handle: Ebbtide) -> list[str]:
            handle.export_markdown(folder, by=by)
            return [file.read_text() for file in folder.rglob("*") if file.is_file()]

        self.act(actor, written, by_id=False)
