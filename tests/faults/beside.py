"""What must be there beside memories after a fault: the graph, conversations, documents, facts, judgements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import NotFound
from tests.faults.deeds import CHAT, GROUP, HARBOUR, document

if TYPE_CHECKING:
    from tests.faults.ledger import Ledger


@dataclass
class Branch:
    """The turns of a branch's own, and the past that it shares."""

    parent: str | None = None
    past: list[UUID] = field(default_factory=list)
    turns: list[UUID] = field(default_factory=list)


@dataclass
class Beside:
    """What the acknowledged deeds of a tenant came to, apart from what memories say."""

    branches: dict[str, Branch] = field(default_factory=lambda: {"main": Branch()})
    files: dict[str, list[str]] = field(default_factory=dict)
    aliases: list[str] = field(default_factory=list)
    united: set[tuple[str, str]] = field(default_factory=set)
    profiles: list[str] = field(default_factory=list)
    pages: bool = False
    summarised: set[str] = field(default_factory=set)

    def settle(self, deed: Mapping[str, Any], ids: list[UUID], ledger: Ledger) -> None:
        """A deed took place; what it wrote is in the ledger already."""
        done = getattr(self, f"did_{deed['tries']}", None)
        if done is not None:
            done(deed, ids, ledger)

    def did_speak(self, deed: Mapping[str, Any], ids: list[UUID], ledger: Ledger) -> None:
        ledger.entries[ids[0]].relation = "part_of" if deed["part"] else "works_at"

    def did_page(self, _deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.pages = True

    def did_rename(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.aliases.append(deed["alias"])

    def did_unite(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.united.add((deed["one"], deed["other"]))

    def did_part(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.united.discard((deed["one"], deed["other"]))

    def did_forget(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        # What nothing speaks of any more goes with all of its names; one of a later time has others.
        if not deed.get("harbour"):
            self.aliases.clear()

    def did_say(self, deed: Mapping[str, Any], ids: list[UUID], _ledger: Ledger) -> None:
        self.branches[deed["branch"]].turns.append(ids[0])

    def did_fork(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.branches[deed["branch"]] = Branch(deed["parent"], self.line(deed["parent"]))

    def did_summarise(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        # It may be that of a branch whose past is shared.
        if deed["of"] is not None:
            self.summarised.add(deed["of"])

    def did_ingest(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.files[deed["name"]] = deed["sections"]

    def did_forget_file(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        del self.files[deed["name"]]

    def did_extract(self, deed: Mapping[str, Any], _ids: list[UUID], ledger: Ledger) -> None:
        entry = ledger.entries[UUID(deed["id"])]
        entry.told = f"works at {HARBOUR}" in entry.contents[0]

    def did_judge(self, deed: Mapping[str, Any], _ids: list[UUID], ledger: Ledger) -> None:
        ledger.entries[UUID(deed["id"])].judged += 1

    def did_keep_profile(self, deed: Mapping[str, Any], _ids: list[UUID], _ledger: Ledger) -> None:
        self.profiles.append(deed["name"])

    def did_renew(self, deed: Mapping[str, Any], ids: list[UUID], ledger: Ledger) -> None:
        if deed["replaced"]:
            ledger.replace(UUID(deed["old"]), ids[0])

    def did_consolidate(self, deed: Mapping[str, Any], _ids: list[UUID], ledger: Ledger) -> None:
        for kept, merged in deed["merges"].items():
            for id_ in merged:
                ledger.replace(UUID(id_), UUID(kept))

    def did_separate(self, deed: Mapping[str, Any], _ids: list[UUID], ledger: Ledger) -> None:
        entry = ledger.entries[UUID(deed["id"])]
        entry.successor, entry.holds = None, True

    def line(self, branch: str) -> list[UUID]:
        return [*self.branches[branch].past, *self.branches[branch].turns]

    def forgotten(self, id_: UUID) -> None:
        """A turn goes from every branch, and a branch with its last turn, and what that one went on from with it."""
        emptied: str | None = None
        for name, branch in self.branches.items():
            if id_ in branch.turns:
                emptied = name
                # A summary goes with any turn that it tells of.
            if id_ in self.line(name):
                self.summarised.discard(name)
            branch.past = [one for one in branch.past if one != id_]
            branch.turns = [one for one in branch.turns if one != id_]
        while emptied not in (None, "main") and not self.branches[emptied].turns:
            if any(branch.parent == emptied for branch in self.branches.values()):
                return
            emptied = self.branches.pop(emptied).parent

    def resolve(
        self, deed: Mapping[str, Any], ledger: Ledger, memory: Ebbtide, records: Mapping[UUID, Mapping[str, Any]]
    ) -> None:
        """Find out whether a deed that wrote no memory took place, and settle it; what goes by steps is completed."""
        took = {
            "rename": lambda: self.entity_of(memory, deed["alias"]) is not None,
            "unite": lambda: not self.is_there(memory, deed["other"]),
            "part": lambda: self.is_there(memory, deed["other"]),
            "fork": lambda: deed["branch"] in {one.name for one in memory.episodes.branches(CHAT)},
            "judge": lambda: judged(memory, UUID(deed["id"])) > ledger.entries[UUID(deed["id"])].judged,
            "keep_profile": lambda: deed["name"] in {one.name for one in memory.profiles.list()},
            "consolidate": lambda: self.consolidated(deed, records),
            "separate": lambda: records[UUID(deed["id"])]["superseded_by"] is None,
            "ingest": lambda: self.complete(deed, memory),
            "forget_file": lambda: self.forget_whole(deed, memory),
        }.get(deed["tries"])
        if took is not None and took():
            ledger.settle(dict(deed), [])

    def consolidated(self, deed: Mapping[str, Any], records: Mapping[UUID, Mapping[str, Any]]) -> bool:
        wanted = {UUID(id_): kept for kept, merged in deed["merges"].items() for id_ in merged}
        found = {records[id_]["superseded_by"] == kept for id_, kept in wanted.items()}
        assert len(found) <= 1, "half of a consolidation took place"
        return found == {True}

    def complete(self, deed: Mapping[str, Any], memory: Ebbtide) -> bool:
        """Of a document that was being read there are passages of either version; the next reading completes it."""
        sections = set(deed["sections"]) | set(self.files.get(deed["name"], ()))
        for one in memory.documents.list():
            if one.path == deed["name"]:
                there = memory.documents.get(one.id)
                assert {passage.content.splitlines()[0] for passage in there.contents} <= sections
        memory.ingest(text=document(deed["sections"]), name=deed["name"])
        return True

    def forget_whole(self, deed: Mapping[str, Any], memory: Ebbtide) -> bool:
        try:
            there = memory.documents.get(deed["name"])
        except NotFound:
            return True
        assert {passage.content.splitlines()[0] for passage in there.contents} <= set(self.files[deed["name"]])
        memory.documents.forget(deed["name"])
        return True

    def entity_of(self, memory: Ebbtide, name: str) -> Any:
        try:
            return memory.entities.get(name).entity
        except NotFound:
            return None

    def is_there(self, memory: Ebbtide, id_: str) -> bool:
        try:
            memory.entities.get(id_)
        except NotFound:
            return False
        return True

    def check(self, memory: Ebbtide, ledger: Ledger, living: set[UUID]) -> None:
        self.check_graph(memory, ledger)
        self.check_pages(memory, ledger)
        self.check_conversations(memory, ledger, living)
        self.check_documents(memory)
        for id_, entry in ledger.entries.items():
            assert judged(memory, id_) == entry.judged, f"{id_} was judged otherwise"
            if entry.told and entry.holds:
                assert memory.provenance(id_).derived, "a fact that was read is lost"
        assert {one.name for one in memory.profiles.list()} >= set(self.profiles)
        found = memory.reconcile()
        assert found.repaired == 0, found

    def check_graph(self, memory: Ebbtide, ledger: Ledger) -> None:
        """What holding memories say holds, and what follows from that, is there, and nothing else."""
        said = {id_: entry.relation for id_, entry in ledger.entries.items() if entry.holds and entry.relation}
        # What an extraction read in a text holds as well, and what several say is told once.
        relations = memory.relations.list(limit=1000)
        plain = [one for one in relations if not one.derived]
        assert {id_: one.predicate for one in plain for id_ in one.memories if id_ in ledger.entries} == said
        employed = {id_ for id_, relation in said.items() if relation == "works_at"}
        parts = {id_ for id_, relation in said.items() if relation == "part_of"}
        premises = [set(one.memories) for one in relations if one.derived]
        follows = {pair for one in premises for pair in product(one & employed, one & parts)}
        assert follows == set(product(employed, parts)), "what follows"
        if said:
            harbour = self.entity_of(memory, HARBOUR)
            assert harbour is not None
            assert parts == set() or self.entity_of(memory, GROUP) is not None
            assert set(self.aliases) <= set(harbour.aliases), "a name that somebody gave is lost"
            there = {str(one.id) for one in memory.entities.list(limit=1000)}
            assert not {other for _, other in self.united} & there, "what was united is two again"
        else:
            self.aliases.clear()

    def check_pages(self, memory: Ebbtide, ledger: Ledger) -> None:
        """A page tells of all that mentions its entity and holds, and of nothing that is forgotten."""
        told = [entry.contents[0] for entry in ledger.entries.values() if entry.holds and entry.relation]
        if not self.pages or not told:
            return
        page = memory.entities.page(HARBOUR)
        assert page is not None
        lines = page.content.splitlines()
        assert {f"- {content}" for content in told} <= set(lines) or len(told) > 40, "a page leaves something out"
        gone = {content for contents in ledger.forgotten.values() for content in contents}
        assert not [line for line in lines if line.removeprefix("- ") in gone], "a page tells of what is forgotten"

    def check_conversations(self, memory: Ebbtide, ledger: Ledger, living: set[UUID]) -> None:
        assert {one.name for one in memory.episodes.branches(CHAT)} == set(self.branches)
        for name in self.branches:
            turns = [turn.id for turn in memory.episodes.transcript(CHAT, name)]
            assert turns == [id_ for id_ in self.line(name) if id_ in living], f"the branch {name} goes otherwise"
        gone = {content for contents in ledger.forgotten.values() for content in contents}
        summaries = memory.browse(kinds="episode", limit=1000)
        assert not [one for one in summaries if gone & set(one.content.splitlines())], "a summary tells of it"
        assert {one.metadata["branch"] for one in summaries} >= self.summarised, "a summary is lost"

    def check_documents(self, memory: Ebbtide) -> None:
        there = {one.path: one for one in memory.documents.list()}
        assert set(there) == set(self.files), "documents"
        for path, sections in self.files.items():
            found = memory.documents.get(there[path].id)
            assert found.complete
            assert [one.content.splitlines()[0] for one in found.contents] == sections, f"{path} says otherwise"
        with pytest.raises(NotFound):
            memory.documents.get("never.md")


def judged(memory: Ebbtide, id_: UUID) -> int:
    """How often a memory was found to be of use: usefulness is (n + 1) / (n + 2) where nobody said otherwise."""
    usefulness = memory.get(id_).usefulness
    return round((2 * usefulness - 1) / (1 - usefulness))
