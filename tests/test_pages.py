"""Lists in parts: each part says truly whether the list goes on, and how; together they are the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ebbtide import Ebbtide, Page
from ebbtide.errors import NotFound

COUNT = 4


@pytest.fixture
def full(memory: Ebbtide) -> Ebbtide:
    """A store in which every list holds four things at least."""
    for number in range(COUNT):
        name = f"Ada Nr{number}"
        person, company = {"name": name, "type": "person"}, {"name": "Northwind", "type": "company"}
        memory.remember(
            f"{name} works at Northwind",
            entities=[person, company],
            relation={"subject": person, "predicate": "works_at", "object": company},
        )
        memory.ingest(text=f"# Part {number}\n\nSome text of part {number}.", name=f"{number}.md")
        memory.scoped(chat=f"chat-{number}").episodes.add(f"Hello from chat {number}")
        memory.remember(f"Person{number} lives in Rome", subject=f"Person{number}", predicate="home")
        memory.remember(f"Person{number} lives in Oslo", subject=f"Person{number}", predicate="home")
        memory.entities.add_alias(name, f"Nr{number}")
    for one in memory.browse(limit=COUNT):
        memory.forget(one.id, one.revision)
    return memory


LISTS: dict[str, tuple[Callable[[Ebbtide], Callable[..., Any]], str]] = {
    "browse": (lambda memory: memory.browse, "after"),
    "documents": (lambda memory: memory.documents.list, "after"),
    "entities": (lambda memory: memory.entities.list, "after"),
    "changes": (lambda memory: memory.entities.changes, "after"),
    "relations": (lambda memory: memory.relations.list, "after"),
    "conflicts": (lambda memory: memory.conflicts.list, "after"),
    "chats": (lambda memory: memory.episodes.chats, "after"),
    "receipts": (lambda memory: memory.receipts.list, "before"),
    "audit": (lambda memory: memory.audit.entries, "before"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_its_parts(full: Ebbtide, name: str) -> None:
    verb, argument = LISTS[name][0](full), LISTS[name][1]
    asked: dict[str, Any] = {"action": "delete"} if name == "audit" else {}
    whole: Page[Any] = verb(**asked)
    assert (len(whole) >= 3, whole.next) == (True, None)
    for size in (1, 2, len(whole) - 1, len(whole), len(whole) + 1):
        parts: list[Any] = []
        mark: Any = None
        while True:
            part: Page[Any] = verb(**asked, limit=size, **({} if mark is None else {argument: mark}))
            parts += part
            assert len(part) <= size
            assert (part.next is None) == (len(parts) == len(whole))
            if part.next is None:
                break
            mark = part.next
        assert parts == list(whole)


@pytest.mark.parametrize("name", ["browse", "documents", "conflicts", "chats"])
def test_no_list_ends_because_the_last_one_seen_was_forgotten(full: Ebbtide, name: str) -> None:
    verb = LISTS[name][0](full)
    mark = verb(limit=2).next
    assert len(verb(after=mark)) >= 1
    if name == "documents":
        full.documents.forget(mark)
    else:
        for one in full.browse(limit=1_000):
            if name == "conflicts" or mark in (one.id, one.chat):
                full.forget(one.id, one.revision)
    with pytest.raises(NotFound):
        verb(after=mark)


def test_the_passages_of_a_document_are_its_parts(memory: Ebbtide) -> None:
    text = "\n\n".join(f"# Part {number}\n\nText of part {number}." for number in range(3))
    memory.ingest(text=text, name="parts.md")
    whole = memory.documents.get("parts.md")
    assert (len(whole.contents), whole.next) == (3, None)
    first = memory.documents.get("parts.md", limit=2)
    rest = memory.documents.get("parts.md", limit=2, after=first.next)
    assert ((*first.contents, *rest.contents), rest.next) == (whole.contents, None)
    assert memory.documents.get("parts.md", limit=3).next is None


def test_jobs_are_listed_in_parts(memory: Ebbtide) -> None:
    for said in ("Ann lives in Rome.", "Bob lives in Oslo."):
        memory.record_run(said * 10, said, extract=True)
    newest, oldest = memory.jobs.list()
    part = memory.jobs.list(limit=1)
    assert (list(part), part.next) == ([newest], newest.id)
    rest = memory.jobs.list(limit=1, before=part.next)
    assert (list(rest), rest.next) == ([oldest], None)


def test_what_is_beyond_a_part_is_not_noted_as_read(memory: Ebbtide) -> None:
    memory.remember_many(["The ferry leaves at seven", "Breakfast is at eight"])
    [shown] = memory.browse(limit=1)
    read = memory.audit.entries(action="read")
    assert [one.detail["memories"] for one in read] == [[str(shown.id)]]
