"""Documents and passages page by page: nothing twice, nothing left out, nothing that its reader may not see."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.types.memory import Memory


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
    files.policies.set("default", Policy(read=("vector.a", "vector.b"), write="vector.a", allow_write=True))
    agent = files.as_agent("default", "memory:read,memory:write,memory:delete")
    agent.ingest(text="The gate.", name="a@example.com", namespace="vector.a")
    (named,) = (one for one in files.documents.list() if "@" in one.path)
    rule = files.rules.add("vector.a", personal_data="drop")
    assert [one.path for one in agent.documents.list(namespaces="vector.a", limit=2)] == ["a.md", "z.md"]
    for call in (agent.documents.get, agent.documents.forget, lambda one: agent.documents.list(after=one)):
        for one in (named.id, named.path):
            with pytest.raises((NotFound, InvalidInput)):
                call(one)
    # The owner sees it by both ways, as it is stored, and can put it right.
    assert named in files.documents.list()
    assert files.documents.get(named.id).path == files.documents.get(named.path).path == "a@example.com"
    assert rule.id is not None
    files.rules.remove(rule.id)
    files.rules.add("vector.a", personal_data="redact")
    assert [one.path for one in agent.documents.list()] == ["a.md", "[EMAIL]", "z.md", "a.md", "z.md"]
    assert agent.documents.get(named.id).path == "[EMAIL]"
    assert files.documents.forget(named.id).count == 1
    files.policies.set("default", Policy(read=("vector.b",)))
    reader = files.as_agent("default", "memory:read")
    assert [one.path for one in in_pages(reader.documents.list, 1)] == ["a.md", "z.md"]
    with pytest.raises(NotFound):
        reader.documents.list(after=files.documents.list()[0].id)


def test_a_folder_tells_a_policed_handle_of_no_name_that_is_withheld(
    files: Ebbtide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    for name in ("ana@example.com (old).md", "plan.md"):
        (tmp_path / "papers" / name).write_text(f"The text of {name[:3]}.")
    files.ingest("papers", namespace="vector.a")
    for one in (tmp_path / "papers").iterdir():
        one.unlink()
    files.rules.add("vector.a", personal_data="drop")
    files.policies.set("default", Policy(read=("vector.a",), write="vector.a", allow_write=True))
    agent = files.as_agent("default", "memory:read,memory:write,memory:delete")
    looked = agent.ingest("papers", namespace="vector.a", sync=True)
    assert [one.path for one in looked.gone] == ["papers/plan.md"]
    done = agent.ingest("papers", namespace="vector.a", sync=True, token=looked.token)
    assert len(done.forgotten) == 1
    assert [one.path for one in files.ingest("papers", namespace="vector.a").gone] == [
        "papers/ana@example.com (old).md"
    ]


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
