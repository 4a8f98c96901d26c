"""Documents and forgetting: passages go like any memory, and the last one takes everything that tells of the file."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.errors import Held
from ebbtide.jobs.upkeep import tidy_tenant
from tests.forget.support import Owner, holding

SPACE = "vector.files"
TEXT = "# Zebra\n\nzebra one\n\n# Second\n\nzebra two\n"


def ingest(memory: Ebbtide, text: str = TEXT, **more: Any) -> Any:
    given: dict[str, Any] = {"name": "zebra.md", "namespace": SPACE, **more}
    return memory.ingest(text=text, **given).files[0]


def made_from(owner: Owner, memory: Ebbtide, passage: Any) -> Any:
    """A fact that was made from a passage alone."""
    fact = memory.remember("A fact of the zebra").memory
    owner.execute(
        "INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at)"
        " VALUES ('default', %s, %s, false, '2026-01-01Z')",
        [fact.id, passage.id],
    )
    return fact


def test_the_last_passage_takes_the_document_along(memory: Ebbtide, owner: Owner) -> None:
    ingest(memory)
    first, last = memory.documents.get("zebra.md").contents
    receipt = memory.forget(first.id, 1)
    assert receipt.cleaned == {"passages": 1}
    assert holding(owner, "zebra.md") == {"document", "memory"}
    receipt = memory.forget(last.id, 1)
    assert receipt.cleaned == {"passages": 1, "documents": 1}
    assert holding(owner, "zebra") == set()
    assert all(memory.verify_receipt(one).valid for one in memory.receipts.list())


def test_a_forgotten_passage_does_not_come_back_with_the_same_version(memory: Ebbtide) -> None:
    ingest(memory)
    memory.forget(memory.documents.get("zebra.md").contents[0].id, 1)
    assert ingest(memory).status == "unchanged"
    assert len(memory.documents.get("zebra.md").contents) == 1


def test_forget_where(memory: Ebbtide, owner: Owner) -> None:
    ingest(memory)
    seen = memory.forget_where(namespaces=SPACE)
    memory.forget_where(namespaces=SPACE, dry_run=False, token=seen.token)
    assert holding(owner, "zebra") == set()


def test_erasing_a_user(memory: Ebbtide, owner: Owner) -> None:
    memory.scoped(user="ana").ingest(text=TEXT, name="zebra.md")
    ingest(memory, name="stays.md")
    memory.erase_user("ana")
    assert "document" not in holding(owner, "zebra.md")
    assert [one.path for one in memory.documents.list()] == ["stays.md"]
    memory.erase_tenant(confirm="default")
    assert holding(owner, "stays.md") == set()


def test_retention(memory: Ebbtide, owner: Owner, clock: FixedClock) -> None:
    memory.rules.add(SPACE, retention_days=30)
    ingest(memory)
    clock.advance(timedelta(days=31))

    async def tidied() -> None:
        await tidy_tenant(await memory.inner.engine(), tenant="default")

    memory.wait_for(tidied)
    assert holding(owner, "zebra") == set()


def test_what_is_held_stays_and_is_told(memory: Ebbtide) -> None:
    ingest(memory)
    held = memory.documents.get("zebra.md").contents[0]
    hold = memory.holds.place(ids=[held.id], reason="a case")
    with pytest.raises(Held):
        memory.documents.forget("zebra.md")
    assert memory.documents.get("zebra.md").complete
    file = ingest(memory, "# Second\n\nzebra two\n")
    assert (file.status, file.held, file.forgotten, file.kept) == ("updated", 1, 0, 1)
    document = memory.documents.get("zebra.md")
    assert [(one.content, one.position) for one in document.contents] == [
        ("Second\n\nzebra two", 0), (held.content, None),
    ]  # fmt: skip
    # It is gone from the document, so it goes as soon as it may.
    assert not document.complete
    memory.holds.release(hold.id)
    file = ingest(memory, "# Second\n\nzebra two\n")
    assert (file.held, file.forgotten) == (0, 1)
    assert memory.documents.get("zebra.md").complete


def test_what_was_made_from_a_passage_goes_with_it(memory: Ebbtide, owner: Owner) -> None:
    ingest(memory)
    passage = memory.documents.get("zebra.md").contents[0]
    made_from(owner, memory, passage)
    file = ingest(memory, "# Second\n\nzebra two\n")
    assert file.forgotten == 1
    assert memory.browse(kinds="fact") == []
    assert [one.detail.get("operation") for one in memory.audit.entries(action="delete")] == ["document changed"] * 2


def test_a_document_goes_with_what_was_made_from_it_or_not_at_all(
    memory: Ebbtide, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ebbtide.paths.documents.FORGOTTEN_AT_ONCE", 1)
    ingest(memory)
    passages = memory.documents.get("zebra.md").contents
    fact = made_from(owner, memory, passages[-1])
    hold = memory.holds.place(reason="the case of the zebra", ids=[fact.id])
    with pytest.raises(Held):
        memory.documents.forget("zebra.md")
    assert len(memory.documents.get("zebra.md").contents) == 2
    memory.holds.release(hold.id)
    gone = memory.documents.forget("zebra.md")
    assert (gone.count, set(gone.ids)) == (2, {one.id for one in passages})
    assert gone.derived == (fact.id,)
    assert {one.id for one in gone.receipts} == {*gone.ids, fact.id}


def test_a_document_that_is_forgotten_while_it_is_read_stays_forgotten(memory: Ebbtide, owner: Owner) -> None:
    """The reader finds its claim gone at its next write, and what it had written goes too."""
    other = memory.scoped()
    document = ingest(memory, "# Zebra\n\nzebra one\n").document
    engine = memory.wait_for(memory.inner.engine)
    embed, done = engine.embedder.embed, list[bool]()

    async def forget_meanwhile(texts: Any) -> Any:
        if not done:
            done.append(True)
            await other.inner.documents.forget(document)
        return await embed(texts)

    engine.embedder.embed = forget_meanwhile
    file = ingest(memory, "# Zebra\n\nzebra new\n")
    assert (file.status, file.reason) == ("failed", "stale_revision")
    assert holding(owner, "zebra") == set()


def test_a_title_goes_with_the_last_passage_that_says_it(memory: Ebbtide, owner: Owner) -> None:
    ingest(memory, "# Zebra\n\nOne.\n\n## Zebra feet\n\nTwo.\n\n# Horse\n\nThree.\n", name="notes/animals.md")
    first, second, _ = memory.documents.get("notes/animals.md").contents
    memory.forget(first.id, 1)
    assert memory.documents.list()[0].title == "Zebra"
    memory.forget(second.id, 1)
    assert memory.documents.list()[0].title == "animals"
    assert holding(owner, "Zebra") == set()
