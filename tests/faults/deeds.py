"""What is done beside writing memories: entities, pages, conversations, documents, facts, judgements, curation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from ebbtide import Ebbtide
from tests.faults.writer import Writer

CHAT = "c"
HARBOUR, GROUP = "Harbour Ltd", "Sea Group"
QUESTION = "What is there?"
THEMES = ("graph", "talk", "files", "facts", "judged", "curated")


def company(name: str) -> dict[str, str]:
    return {"name": name, "type": "company"}


class Deeds(Writer):
    """Deeds of every kind; each tenant has two themes, so that they come one after another."""

    def __init__(self, memory: Ebbtide, notes: int, tenant: str) -> None:
        super().__init__(memory, notes, tenant)
        self.chat = self.memory.scoped(chat=CHAT)
        self.themes = self.random.sample(THEMES, 2)
        self.done = 0
        self.names: list[str] = []
        self.branches = ["main"]
        self.files: list[str] = []
        self.replaced: list[UUID] = []

    def act(self) -> None:
        super().act()
        self.done += 1

    def deeds_now(self) -> list[Callable[[], None]]:
        themes: dict[str, list[Callable[[], None]]] = {
            "graph": [self.speak, self.speak, self.page, self.rename, self.unite],
            "talk": [self.say, self.say, self.fork, self.summarise],
            "files": [self.ingest, self.ingest, self.forget_file],
            "facts": [self.tell, self.extract, self.extract],
            "judged": [self.judge, self.judge, self.engage, self.keep_profile],
            "curated": [self.repeat, self.renew, self.consolidate, self.separate, self.reconcile],
        }
        several = [deed for theme in self.themes for deed in themes[theme]]
        always: list[Callable[[], None]] = [self.remember]
        if self.revisions:
            always += [self.revise, self.supersede, self.forget]
        return [*several, *always, *(super().deeds_now() if self.random.random() < 0.1 else [])]

    def forget(self) -> None:
        """A branch may go with its last turn."""
        super().forget()
        self.branches = [one.name for one in self.chat.episodes.branches()]

    def left(self) -> dict[str, Any]:
        return {"harbour": HARBOUR in {one.name for one in self.memory.entities.list()}}

    def wrote(self, answer: Any, **more: Any) -> None:
        assert answer.outcome in ("stored", "near_duplicate", "superseded", "conflict"), answer.outcome
        self.revisions[answer.memory.id] = answer.memory.revision
        self.note(did=[answer.memory.id], **more)

    def speak(self) -> None:
        """Say who works where, or of what that is a part; what follows is derived."""
        part = self.random.random() < 0.3
        content = self.text()
        name = f"Captain {content.split()[0]}"
        subject = company(HARBOUR) if part else {"name": name, "type": "person"}
        relation = {
            "subject": subject,
            "predicate": "part of" if part else "works at",
            "object": company(GROUP if part else HARBOUR),
        }
        self.note(tries="speak", contents=[content], part=part)
        self.wrote(self.memory.remember(content, relation=relation))
        if not part:
            self.names.append(name)

    def page(self) -> None:
        if HARBOUR not in {one.name for one in self.memory.entities.list()}:
            return
        self.note(tries="page", contents=[])
        self.memory.entities.page(HARBOUR)
        self.note(did=[])

    def rename(self) -> None:
        if HARBOUR not in {one.name for one in self.memory.entities.list()}:
            return
        alias = f"Dock {self.text().split()[0]}"
        self.note(tries="rename", contents=[], alias=alias)
        self.memory.entities.add_alias(HARBOUR, alias)
        self.note(did=[])

    def unite(self) -> None:
        """Two become one, or the last time that was done is undone."""
        there = [one for one in self.memory.entities.list(types="person", limit=1000) if one.name in self.names]
        if len(there) < 2:
            return
        one, other = self.random.sample(there, 2)
        self.note(tries="unite", contents=[], one=one.id, other=other.id)
        change = self.memory.entities.merge(one.id, other.id)
        self.note(did=[])
        if self.random.random() < 0.5:
            self.note(tries="part", contents=[], one=one.id, other=other.id)
            self.memory.entities.undo(change.id)
            self.note(did=[])

    def say(self) -> None:
        content, branch = self.text(), self.random.choice(self.branches)
        self.note(tries="say", contents=[content], branch=branch)
        self.wrote(self.chat.episodes.add(content, branch=branch))

    def fork(self) -> None:
        """Begin a branch; those of which the last turn was forgotten are there no more."""
        there = [one.name for one in self.chat.episodes.branches()]
        parent, name = self.random.choice(there), self.text().split()[0]
        self.note(tries="fork", contents=[], branch=name, parent=parent)
        self.chat.episodes.fork(branch=parent, name=name)
        self.branches = [*there, name]
        self.note(did=[])

    def summarise(self) -> None:
        there = [one.name for one in self.chat.episodes.branches()]
        branch = self.random.choice(there)
        self.branches = there
        self.note(tries="summarise", contents=[], branch=branch)
        made = self.chat.episodes.summarise(branch=branch).memory
        self.note(did=[], of=None if made is None else made.metadata["branch"])

    def ingest(self) -> None:
        """A new document, or another version of one of which one section stays."""
        text = self.text()
        name = self.random.choice([*self.files, f"{text.split()[0]}.md"])
        sections = [f"stays in {name}", *(f"{text} part {number}" for number in range(self.random.randint(1, 12)))]
        self.note(tries="ingest", contents=[], name=name, sections=sections)
        self.memory.ingest(text=document(sections), name=name)
        self.files = sorted({*self.files, name})
        self.note(did=[])

    def forget_file(self) -> None:
        if not self.files:
            return
        name = self.files.pop()
        self.note(tries="forget_file", contents=[], name=name)
        self.memory.documents.forget(name)
        self.note(did=[])

    def tell(self) -> None:
        words = self.text()
        content = f"{words} is what they said. {words.split()[0].capitalize()} works at {HARBOUR}."
        self.note(tries="tell", contents=[content])
        self.wrote(self.memory.remember(content, kind="note"))

    def extract(self) -> None:
        id_ = self.pick() if self.revisions else None
        if id_ is None:
            return
        self.note(tries="extract", id=id_, contents=[])
        self.memory.extract(ids=[id_])
        self.note(did=[])

    def judge(self) -> None:
        found = self.memory.recall(QUESTION, min_score=0.0)
        hits = [hit for hit in found if hit.id in self.revisions]
        if not hits:
            return
        id_ = self.random.choice(hits).id
        self.note(tries="judge", id=id_, contents=[])
        self.memory.feedback(id_, "positive", recall=found.recall_id)
        self.note(did=[])

    def engage(self) -> None:
        if not self.revisions:
            return
        self.note(tries="engage", contents=[])
        self.memory.engaged([self.pick()])
        self.note(did=[])

    def keep_profile(self) -> None:
        name = self.text().split()[0]
        self.note(tries="keep_profile", contents=[], name=name)
        self.memory.profiles.save({"name": name, "law": "sum", "factors": [{"factor": "similarity", "weight": 1}]})
        self.note(did=[])

    def repeat(self) -> None:
        """Say nearly the same twice."""
        words = self.text()
        for content in (f"{words} all the boats are blue", f"{words} all boats are blue"):
            self.note(tries="repeat", contents=[content])
            self.wrote(self.memory.remember(content, tags=[content.split()[0]]))

    def renew(self) -> None:
        """Say something, and what has become of it; that this replaces it, the store finds out."""
        words = self.text()
        self.note(tries="repeat", contents=[f"{words} boats are blue"])
        old = self.memory.remember(f"{words} boats are blue")
        self.wrote(old)
        self.note(tries="renew", contents=[f"{words} boats are blue now"], old=old.memory.id)
        new = self.memory.remember(f"{words} boats are blue now")
        self.wrote(new, replaced=new.outcome == "superseded")
        if new.outcome == "superseded":
            self.replaced.append(old.memory.id)

    def consolidate(self) -> None:
        look = self.memory.consolidate()
        merges = {str(one.kept): [str(id_) for id_ in one.merged] for one in look.merges}
        self.note(tries="consolidate", contents=[], merges=merges)
        self.memory.consolidate(dry_run=False, token=look.token)
        self.note(did=[])

    def separate(self) -> None:
        there = [id_ for id_ in self.replaced if id_ in self.revisions]
        there = [id_ for id_ in there if self.memory.get(id_).superseded_by is not None]
        if not there:
            return
        id_ = self.random.choice(there)
        self.note(tries="separate", id=id_, contents=[])
        self.memory.separate(id_)
        self.note(did=[])

    def reconcile(self) -> None:
        self.note(tries="reconcile", contents=[])
        found = self.memory.reconcile(dry_run=False)
        assert found.repaired == 0, found
        self.note(did=[])


def document(sections: list[str]) -> str:
    """A text of which each section is a passage."""
    return "\n\n".join(f"# {section}\n\n{section}" for section in sections)
