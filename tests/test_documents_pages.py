"""Documents and passages page by page: nothing twice, nothing left out, nothing that its reader may not see."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.types import Memory


def in_pages(read: Any, size: int) -> list[Any]:
    """Everything that is read so many at a time."""
    found: list[Any] = []
    while page := read(limit=size, after=found[-1].id if found else None):
        assert len(page) <= size
        found += page
    return found


@pytest.fixture
def files(memory: Ebbtide) -> Ebbtide:
    for namespace in ("vector.b", "vector.a", "vector.a.c"):
        for name in ("z.md", "a.md"):
            memory.ingest(text=f"# {name}\n\nIn {namespace}.\n", name=name, namespace=namespace)
    return memory


@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_documents_come_in_pages(files: Ebbtide, size: int) -> None:
    found = in_pages(files.documents.list, size)
    assert [(one.namespace, one.path) for one in found] == [
        (namespace, name) for namespace in ("vector.a", "vector.a.c", "vector.b") for name in ("a.md", "z.md")
    ]
    assert found == files.documents.list()
    narrow = in_pages(lambda **page: files.documents.list(namespaces=["vector.b", "vector.a.*"], **page), size)
    assert [one.namespace for one in narrow] == ["vector.a.c"] * 2 + ["vector.b"] * 2


def test_what_is_withheld_is_made_up_for(files: Ebbtide) -> None:
    files.ingest(text="The gate.", name="a@example.com", namespace="vector.a")
    files.rules.add("vector.a", personal_data="drop")
    assert [one.path for one in files.documents.list(namespaces="vector.a", limit=2)] == ["a.md", "z.md"]
    files.policies.set("default", Policy(read=("vector.b",)))
    reader = files.as_agent("default", "memory:read")
    assert [one.path for one in in_pages(reader.documents.list, 1)] == ["a.md", "z.md"]
    with pytest.raises(NotFound):
        reader.documents.list(after=files.documents.list()[0].id)


def test_passages_come_in_pages(memory: Ebbtide) -> None:
    text = "".join(f"# Part {number}\n\nText {number}.\n\n" for number in range(7))
    memory.ingest(text=text, name="book.md")
    whole = memory.documents.get("book.md")
    assert [one.position for one in whole.contents] == list(range(7))
    for size in (1, 3, 7):
        read = in_pages(lambda **page: list(memory.documents.get("book.md", **page).contents), size)
        assert tuple(read) == whole.contents
    assert memory.documents.get("book.md", limit=2).passages == 7
    memory.holds.place(reason="a case", kinds=["chunk"])
    memory.ingest(text=text.replace("Text 2", "Other").replace("Text 5", "Another"), name="book.md")
    whole = memory.documents.get("book.md")
    assert [one.position for one in whole.contents] == [*range(7), None, None]
    for size in (1, 2, 8):
        read = in_pages(lambda **page: list(memory.documents.get("book.md", **page).contents), size)
        assert tuple(read) == whole.contents


def test_a_wrong_page_is_refused(files: Ebbtide) -> None:
    stored = files.remember("No passage").memory
    assert isinstance(stored, Memory)
    (document, *_) = files.documents.list()
    for limit in (0, 1_001, True):
        with pytest.raises(InvalidInput, match="limit"):
            files.documents.list(limit=limit)
        with pytest.raises(InvalidInput, match="limit"):
            files.documents.get(document.id, limit=limit)
    for after in (uuid4(), stored.id):
        with pytest.raises(NotFound):
            files.documents.list(after=after)
        with pytest.raises(NotFound):
            files.documents.get(document.id, after=after)
