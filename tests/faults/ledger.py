"""What a tenant must hold after a fault: everything acknowledged, and of the last deed all or nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import NotFound
from ebbtide.types.evidence import Receipt
from tests.faults.beside import Beside
from tests.faults.writer import SESSION


def own(records: Iterable[dict[str, Any]]) -> dict[UUID, dict[str, Any]]:
    """The records of what was said, and not made from that or read in a document."""
    return {UUID(one["id"]): one for one in records if "origins" not in one and "document" not in one}


def records_say_replaced(deed: Mapping[str, Any], found: list[UUID], records: Mapping[UUID, Mapping[str, Any]]) -> bool:
    """Whether what a deed wrote took the place of what it was about."""
    return "old" in deed and records[UUID(deed["old"])]["superseded_by"] == str(found[0])


@dataclass
class Entry:
    """One memory as it was acknowledged: everything it ever said, the last first, and what replaced it.

    What was replaced holds no longer, though its successor may be forgotten later. `relation` is what it says to hold,
    `told` that its facts were read, and `judged` how often it was found to be of use.
    """

    contents: list[str]
    successor: UUID | None = None
    holds: bool = True
    relation: str | None = None
    told: bool = False
    judged: int = 0


@dataclass
class Ledger:
    """The deeds of one tenant, as the program noted them, and the one that nobody knows the end of."""

    entries: dict[UUID, Entry] = field(default_factory=dict)
    forgotten: dict[UUID, list[str]] = field(default_factory=dict)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    open_deed: dict[str, Any] | None = None
    deeds: Counter[str] = field(default_factory=Counter[str])
    beside: Beside = field(default_factory=Beside)

    @classmethod
    def of(cls, notes: Iterable[dict[str, Any]]) -> Ledger:
        ledger = cls()
        for note in notes:
            if "tries" in note:
                ledger.open_deed = note
            elif "did" in note and ledger.open_deed is not None:
                ledger.deeds[ledger.open_deed["tries"]] += 1
                ledger.settle(ledger.open_deed | note, [UUID(id_) for id_ in note["did"]])
                if "receipt" in note:
                    ledger.receipts.append(note["receipt"])
        return ledger

    def settle(self, deed: Mapping[str, Any], ids: list[UUID]) -> None:
        """A deed took place."""
        self.open_deed = None
        contents = deed["contents"]
        if deed["tries"] == "revise":
            entry = self.entries[ids[0]]
            entry.contents.insert(0, contents[0])
            entry.relation, entry.told = None, False
        elif deed["tries"] == "supersede":
            old = self.head(UUID(deed["id"]))
            self.entries[ids[0]] = Entry([contents[0]])
            self.replace(old, ids[0])
        elif deed["tries"] == "forget":
            gone = self.entries.pop(ids[0])
            self.forgotten[ids[0]] = gone.contents
            for entry in self.entries.values():
                if entry.successor == ids[0]:
                    entry.successor = gone.successor
            self.beside.forgotten(ids[0])
        elif contents:
            self.entries |= {id_: Entry([content]) for id_, content in zip(ids, contents, strict=True)}
        self.beside.settle(deed, ids, self)

    def replace(self, old: UUID, new: UUID) -> None:
        self.entries[old].successor = new
        self.entries[old].holds = False

    def head(self, id_: UUID) -> UUID:
        while (following := self.entries[id_].successor) is not None:
            id_ = following
        return id_

    def resolve(self, memory: Ebbtide, records: Mapping[UUID, Mapping[str, Any]]) -> None:
        """Find out whether the deed without an end took place; it did in whole, or not at all."""
        deed = self.open_deed
        if deed is None:
            return
        self.open_deed = None
        saying = {record["content"]: id_ for id_, record in records.items()}
        found = [saying[content] for content in deed["contents"] if content in saying]
        if deed["tries"] == "forget":
            id_ = UUID(deed["id"])
            if id_ not in records:
                receipts = memory.receipts.list(about=id_)
                assert len(receipts) == 1, "a memory is gone without a receipt"
                self.receipts.append(receipts[0].model_dump(mode="json"))
                self.settle(deed, [id_])
        elif found:
            assert len(found) == len(deed["contents"]), f"half of {deed['tries']} took place"
            self.settle(deed | {"replaced": records_say_replaced(deed, found, records)}, found)
        elif not deed["contents"]:
            self.beside.resolve(deed, self, memory, records)

    def check(self, memory: Ebbtide) -> None:
        """Compare everything that can be read of a tenant with the ledger."""
        records = own(memory.export_records())
        self.resolve(memory, records)
        records = own(memory.export_records())
        assert set(records) == set(self.entries), "memories were lost, or came from nowhere"
        for id_, entry in self.entries.items():
            record = records[id_]
            said = [record["content"], *(one["content"] for one in record["versions"])]
            assert sorted(set(said)) == sorted(set(entry.contents)), f"{id_} says other things than were written"
            assert record["content"] == entry.contents[0]
            assert record["superseded_by"] == (None if entry.successor is None else str(entry.successor))
            assert record["vector"] is not None
        living = {one.id for one in memory.browse(limit=1000)}
        assert living & set(records) == {id_ for id_, entry in self.entries.items() if entry.holds}, "heads of chains"
        self.beside.check(memory, self, living)
        self.check_found(memory)
        self.check_forgotten(memory, json.dumps(list(records.values())))
        self.check_proofs(memory)

    def check_found(self, memory: Ebbtide) -> None:
        """The newest that holds is found by its words, and nothing that was forgotten is."""
        heads = [id_ for id_, entry in self.entries.items() if entry.holds]
        for id_ in heads[-1:]:
            hits = memory.recall(self.entries[id_].contents[0])
            assert id_ in {hit.id for hit in hits}
            assert not {hit.id for hit in hits} & set(self.forgotten)

    def check_forgotten(self, memory: Ebbtide, exported: str) -> None:
        past = memory.browse(limit=1000, include_superseded=True)
        assert not {one.id for one in past} & set(self.forgotten)
        for id_, contents in self.forgotten.items():
            for verb in (memory.get, memory.history):
                with pytest.raises(NotFound):
                    verb(id_)
            assert not [content for content in contents if f'"{content}"' in exported]
        for contents in list(self.forgotten.values())[-1:]:
            assert not {hit.content for hit in memory.recall(contents[0], min_score=0.0)} & set(contents)

    def check_proofs(self, memory: Ebbtide) -> None:
        assert memory.receipts.verify() == ()
        assert {UUID(receipt["id"]) for receipt in self.receipts} == set(self.forgotten)
        chain = [one for one in memory.receipts.list(limit=1000) if isinstance(one, Receipt)]
        # What was made from a memory, and passages that are in a document no more, go with receipts of their own.
        assert {one.id for one in chain} >= set(self.forgotten)
        assert not {one.id for one in chain} & set(self.entries)
        # Every forgetting of something of the session raises its revision once.
        assert len(self.receipts) <= memory.scoped(session=SESSION).session_revision() - 1 <= len(chain)
        for receipt in [*self.receipts, *chain[:20]]:
            check = memory.verify_receipt(receipt)
            assert check.valid, check.problems
        audited = memory.audit.verify()
        assert audited.valid, audited.problems
