"""Documents: ingested, known again, changed and forgotten, with everything that a memory has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbtide import AsyncEbbtide, Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import Forbidden, InvalidInput, ModelUnavailable, NotFound
from ebbtide.models.fake import FakeEmbedder
from tests.conftest import Opener
from tests.ingest.pdfs import pdf_of
from tests.stores import DIMENSION, SETTINGS

GUIDE = """# Guide

The ferry leaves at seven.

## Setup

### Linux

Install it with apt.

### Mac

Install it with brew.
"""
SPACE = "vector.files"


class Counting(FakeEmbedder):
    """Counts the texts that it embeds, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.texts: list[str] = []
        self.fails_after: int | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise ModelUnavailable("The embedder is away.", remedy="Wait.")
        self.texts += texts
        return await super().embed(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


def ingest(memory: Ebbtide, text: str, **more: Any) -> Any:
    given: dict[str, Any] = {"name": "guide.md", "namespace": SPACE, **more}
    (file,) = memory.ingest(text=text, **given).files
    return file


def contents(memory: Ebbtide, document: Any = "guide.md") -> list[str]:
    return [one.content for one in memory.documents.get(document).contents]


def counts(owner: Any) -> list[int]:
    return [
        owner.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - names of this file
        for table in ("document", "passage", "memory WHERE status <> 'tombstoned'")
    ]


def test_a_document_and_its_passages(memory: Ebbtide) -> None:
    file = ingest(memory, GUIDE, tags=["travel"], labels="procedural")
    assert (file.status, file.new, file.media) == ("stored", 3, "markdown")
    (listed,) = memory.documents.list()
    assert (listed.path, listed.namespace, listed.title, listed.passages, listed.complete) == (
        "guide.md", SPACE, "Guide", 3, True,
    )  # fmt: skip
    found = memory.documents.get(listed.id)
    assert [(one.position, one.first, one.last, one.breadcrumb) for one in found.contents] == [
        (0, 1, 3, "Guide"), (1, 5, 9, "Guide > Setup > Linux"), (2, 11, 13, "Guide > Setup > Mac"),
    ]  # fmt: skip
    hit = memory.recall("apt")[0].memory
    assert hit.content == "Guide > Setup > Linux\n\nInstall it with apt."
    assert (hit.kind, hit.source, hit.tags, hit.labels) == ("chunk", str(listed.id), ("travel",), ("procedural",))
    assert hit.metadata == {"path": "guide.md", "breadcrumb": "Guide > Setup > Linux"}
    # The headings are found too, though the text below them does not repeat them.
    assert memory.recall("linux setup")[0].memory.id == hit.id


def test_the_same_version_is_left_alone(memory: Ebbtide, embedder: Counting) -> None:
    ingest(memory, GUIDE)
    before = len(embedder.texts)
    assert ingest(memory, GUIDE).status == "unchanged"
    assert len(embedder.texts) == before == 3


def test_only_what_is_new_is_embedded_and_what_is_gone_is_forgotten(
    memory: Ebbtide, embedder: Counting, owner: Any
) -> None:
    ingest(memory, GUIDE)
    ids = {one.content: one.id for one in memory.documents.get("guide.md").contents}
    embedder.texts.clear()
    file = ingest(memory, GUIDE.replace("seven", "eight").replace("# Guide\n", "# Guide\n\n"))
    assert (file.status, file.new, file.kept, file.forgotten) == ("updated", 1, 2, 1)
    assert embedder.texts == ["Guide\n\nThe ferry leaves at eight."]
    found = memory.documents.get("guide.md").contents
    assert [(one.first, one.last) for one in found] == [(1, 4), (6, 10), (12, 14)]
    assert [one.id for one in found[1:]] == [ids[one.content] for one in found[1:]]
    # For good: a tombstone, a receipt, and its reason in the audit.
    gone = ids["Guide\n\nThe ferry leaves at seven."]
    with pytest.raises(NotFound):
        memory.get(gone)
    assert memory.verify_receipt(memory.receipts.list(gone)[0]).valid
    assert memory.audit.entries(action="delete")[0].detail["operation"] == "document changed"
    assert counts(owner) == [1, 3, 3]


def test_a_passage_that_moves_stays_the_same_memory(memory: Ebbtide, embedder: Counting) -> None:
    ingest(memory, "# A\n\none\n\n# B\n\ntwo\n")
    ids = {one.content: one.id for one in memory.documents.get("guide.md").contents}
    embedder.texts.clear()
    file = ingest(memory, "# B\n\ntwo\n\n# A\n\none\n")
    assert (file.new, file.kept, file.forgotten, embedder.texts) == (0, 2, 0, [])
    found = memory.documents.get("guide.md").contents
    assert [(one.content, one.id, one.first) for one in found] == [
        ("B\n\ntwo", ids["B\n\ntwo"], 1), ("A\n\none", ids["A\n\none"], 5),
    ]  # fmt: skip
    assert memory.get(found[0].id).revision == 1


def test_equal_passages_of_two_documents_are_two_and_each_goes_with_its_own(memory: Ebbtide, owner: Any) -> None:
    memory.remember("# A\n\none", namespace=SPACE)
    ingest(memory, "same words", name="a.md")
    ingest(memory, "same words", name="b.md")
    ingest(memory, "same words\n\n# h\n\nx\n\n# h\n\nx", name="a.md")
    assert counts(owner) == [2, 3, 4]
    # One of them comes back, and names the other.
    assert len(memory.recall("same words")[0].duplicates) == 1
    memory.documents.forget("a.md")
    assert contents(memory, "b.md") == ["same words"]
    assert counts(owner) == [1, 1, 2]


def test_forgetting_a_document(memory: Ebbtide, owner: Any) -> None:
    document = ingest(memory, GUIDE).document
    forgotten = memory.documents.forget(document)
    assert forgotten.count == len(forgotten.receipts) == 3
    assert (memory.documents.list(), counts(owner)) == ([], [0, 0, 0])
    assert [one.cleaned.get("documents") for one in forgotten.receipts] == [None, None, 1]
    assert all(memory.verify_receipt(one).valid for one in forgotten.receipts)
    with pytest.raises(NotFound):
        memory.documents.get(document)
    assert ingest(memory, GUIDE).status == "stored"


def test_a_document_is_found_by_its_path_where_that_is_clear(memory: Ebbtide) -> None:
    ingest(memory, GUIDE)
    ingest(memory, GUIDE, namespace="vector.other")
    with pytest.raises(InvalidInput) as caught:
        memory.documents.get("guide.md")
    assert caught.value.field == "namespace"
    assert memory.documents.get("guide.md", namespace="vector.other").namespace == "vector.other"
    assert [one.namespace for one in memory.documents.list(namespaces="vector.fil*es".replace("*", ""))] == [SPACE]


def test_front_matter_becomes_title_tags_and_date(memory: Ebbtide) -> None:
    file = ingest(memory, "---\ntitle: The harbour\ntags: [a, b]\ndate: 2026-03-01\n---\nShips come in.\n", tags="c")
    assert file.warnings == ()
    hit = memory.recall("ships")[0].memory
    assert (hit.content, hit.tags) == ("The harbour\n\nShips come in.", ("c", "a", "b"))
    assert hit.observed_at.isoformat() == "2026-03-01T00:00:00+00:00"
    assert memory.documents.list()[0].title == "The harbour"
    assert "date" in ingest(memory, "---\ndate: someday\n---\nShips come in.").warnings[0]


def test_other_tags_are_given_to_what_stays_without_embedding_it(memory: Ebbtide, embedder: Counting) -> None:
    ingest(memory, "---\ntags: a\n---\nShips come in.\n")
    before = memory.recall("ships")[0].memory
    embedder.texts.clear()
    file = ingest(memory, "---\ntags: b\ndate: 2026-03-01\n---\nShips come in.\n", labels="episodic")
    assert (file.kept, file.new, file.forgotten, embedder.texts) == (1, 0, 0, [])
    after = memory.recall("ships", tags=["b"])[0].memory
    assert (after.id, after.tags, after.labels, after.revision) == (before.id, ("b",), ("episodic",), 2)
    assert [one.revision for one in memory.history(before.id)] == [1, 2]
    assert memory.recall("march")[0].memory.id == before.id


def test_notes_are_passages_of_another_kind(memory: Ebbtide) -> None:
    ingest(memory, "# Berth\n\nKeys are with Ana.", kind="note")
    memory.remember("The ferry leaves at seven")
    assert memory.recall("keys")[0].kind == "note"
    assert "## FROM NOTES:\n- (guide.md, lines 1–3) Berth" in memory.context("keys ferry").text


def test_the_context_block_cites_lines_and_pages(memory: Ebbtide, tmp_path: Path) -> None:
    memory.remember("The ferry leaves at seven")
    ingest(memory, GUIDE)
    (tmp_path / "paper.pdf").write_bytes(pdf_of([["About whales."], ["About herring."]]))
    memory.ingest(tmp_path / "paper.pdf", name="paper.pdf", namespace=SPACE)
    block = memory.context("ferry apt whales herring").text
    assert "- (guide.md, lines 5–9) Guide > Setup > Linux" in block
    assert "- (paper.pdf, pages 1–2) About whales." in block


def test_html_and_text(memory: Ebbtide) -> None:
    page = "<!doctype html><title>Fleet</title><nav>menu</nav><h1>Ships</h1><p>Two ferries.<script>x()</script>"
    assert ingest(memory, page, name="fleet.html").media == "html"
    assert contents(memory, "fleet.html") == ["Fleet > Ships\n\nTwo ferries."]
    assert ingest(memory, "# no heading\nhere", name="a.txt").media == "text"
    assert contents(memory, "a.txt") == ["# no heading\nhere"]


def test_a_text_without_a_name_has_one_of_its_hash(memory: Ebbtide) -> None:
    (one,) = memory.ingest("First line.\nSecond line.").files
    assert one.path.startswith("text-")
    assert memory.ingest(text="First line.\nSecond line.").files[0].status == "unchanged"


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("source", {}),
        ("source", {"source": "no-such-file.md"}),
        ("source", {"source": "a", "text": "b"}),
        ("source", {"source": 7}),
        ("source", {"source": "a\0b"}),
        ("text", {"text": b"bytes"}),
        ("kind", {"text": "x", "kind": "fact"}),
        ("max_tokens", {"text": "x", "max_tokens": 3}),
        ("name", {"text": "x", "name": " "}),
        ("namespace", {"text": "x", "namespace": "a..b"}),
        ("sync", {"text": "x", "sync": True}),
        ("token", {"text": "x", "token": "1-a"}),
        ("observed_at", {"text": "x", "observed_at": "2026"}),
        ("dry_run", {"text": "x", "dry_run": "yes"}),
    ],
)
def test_what_is_not_acceptable(memory: Ebbtide, field: str, given: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.ingest(**given)
    assert (caught.value.field, bool(caught.value.remedy)) == (field, True)


def test_a_dry_run_writes_nothing(memory: Ebbtide, owner: Any) -> None:
    assert ingest(memory, GUIDE, dry_run=True).status == "stored"
    assert counts(owner) == [0, 0, 0]
    ingest(memory, GUIDE)
    assert ingest(memory, GUIDE + "more", dry_run=True).status == "updated"
    assert ingest(memory, GUIDE).status == "unchanged"


def test_what_is_empty_leaves_the_earlier_version(memory: Ebbtide) -> None:
    ingest(memory, GUIDE)
    assert ingest(memory, "").reason == "empty"
    assert len(contents(memory)) == 3
    assert memory.documents.list()[0].complete


@pytest.mark.parametrize("text", ["# Empty", "# One\n\n## Two\n", "---\ntitle: x\n---\n"])
def test_headings_alone_are_nothing_to_remember_and_replace_what_was_there(
    memory: Ebbtide, owner: Any, text: str
) -> None:
    alone = ingest(memory, text)
    assert (alone.status, alone.reason, alone.document) == ("skipped", "empty", None)
    assert counts(owner) == [0, 0, 0]
    ingest(memory, GUIDE)
    replaced = ingest(memory, text)
    assert (replaced.status, replaced.reason, replaced.document) == ("updated", "empty", None)
    assert (replaced.forgotten, replaced.kept, memory.documents.list()) == (3, 0, [])
    assert counts(owner)[0] == 0
    assert ingest(memory, text).status == "skipped"


def test_headings_alone_leave_what_is_held(memory: Ebbtide) -> None:
    document = ingest(memory, GUIDE).document
    assert document is not None
    held = memory.documents.get(document).contents[0].id
    hold = memory.holds.place(ids=[held], reason="a case")
    replaced = ingest(memory, "# Empty")
    assert (replaced.reason, replaced.forgotten, replaced.held, replaced.document) == ("empty", 2, 1, document)
    memory.holds.release(hold.id)
    assert ingest(memory, "# Empty").forgotten == 1
    assert memory.documents.list() == []


def test_a_failing_embedder_is_gone_on_from(open_store: Opener, embedder: Counting, owner: Any) -> None:
    memory = open_store(settings=SETTINGS.model_copy(update={"max_batch_drafts": 2}))
    text = "\n\n".join(f"# h{number}\n\ntext {number}" for number in range(9))
    embedder.fails_after = 5
    with pytest.raises(ModelUnavailable):
        ingest(memory, text)
    (half,) = memory.documents.list()
    assert (half.complete, half.passages) == (False, 4)
    embedder.fails_after = None
    file = ingest(memory, text)
    assert (file.status, file.kept, file.new) == ("updated", 4, 5)
    assert len(embedder.texts) == 9
    assert memory.documents.list()[0].complete
    # Or the vectors come later.
    embedder.fails_after = 0
    assert ingest(memory, "later", name="b.md", allow_pending=True).new == 1
    assert memory.browse(limit=1)[0].embedding_pending


async def test_two_at_once_end_with_one_set(dsn: str, clock: FixedClock, embedder: Counting, owner: Any) -> None:
    texts = ["\n\n".join(f"# h{n}\n\n{word} {n}" for n in range(40)) for word in ("one", "two", "one", "one")]
    small = SETTINGS.model_copy(update={"max_batch_drafts": 7})
    handles = [await AsyncEbbtide.open(dsn, clock=clock, settings=small, embedder=embedder) for _ in texts]
    try:
        done = await asyncio.gather(
            *(one.ingest(text=text, name="a.md") for one, text in zip(handles, texts, strict=True))
        )
        last = (await handles[0].documents.get("a.md")).contents
    finally:
        for one in handles:
            await one.close()
    assert {one.files[0].status for one in done} <= {"stored", "updated", "unchanged"}
    assert counts(owner) == [1, 40, 40]
    words = {one.content.split()[1] for one in last}
    assert len(words) == 1


async def test_many_at_once_share_the_connections(async_memory: AsyncEbbtide) -> None:
    done = await asyncio.gather(*(async_memory.ingest(text=f"text {n}", name=f"{n}.md") for n in range(12)))
    assert {one.files[0].status for one in done} == {"stored"}
    assert len(await async_memory.documents.list()) == 12


def test_personal_data_is_screened_and_what_was_redacted_is_known_again(memory: Ebbtide, embedder: Counting) -> None:
    memory.rules.add(SPACE, personal_data="redact")
    text = "# A\n\nWrite to ana@example.com today.\n\n# B\n\nplain"
    file = ingest(memory, text)
    assert file.new == 2
    assert "ana@example.com" not in memory.documents.get("guide.md").model_dump_json()
    embedder.texts.clear()
    file = ingest(memory, text + "\n\n# C\n\nnew")
    assert (file.new, file.kept, file.forgotten, embedder.texts) == (1, 2, 0, ["C\n\nnew"])
    memory.rules.add("vector.strict", personal_data="drop")
    file = ingest(memory, text, namespace="vector.strict")
    assert (file.new, file.dropped) == (1, 1)
    file = ingest(memory, "# A\n\nWrite to ana@example.com today.", namespace="vector.strict", name="b.md")
    assert (file.dropped, file.document) == (1, None)
    assert "b.md" not in {one.path for one in memory.documents.list()}
    memory.rules.add("vector.quarantine", personal_data="quarantine")
    assert ingest(memory, text, namespace="vector.quarantine").quarantined == 1


def test_a_policy_says_where_files_go_and_what_is_seen(memory: Ebbtide, tmp_path: Path) -> None:
    memory.policies.set("clerk", Policy(read=[SPACE], tool_read=[SPACE], write=SPACE, allow_write=True,
                                        allow_tool_write=True))  # fmt: skip
    clerk = memory.as_agent("clerk", ["memory:read", "memory:write"])
    assert ingest(clerk, GUIDE, namespace=None).namespace == SPACE
    assert ingest(clerk, GUIDE, namespace="vector.elsewhere").reason == "forbidden"
    assert ingest(clerk, GUIDE).status == "unchanged"
    # A new version forgets, and that is another scope.
    assert ingest(clerk, GUIDE + "\nmore").reason == "forbidden"
    assert contents(clerk) == contents(clerk, clerk.documents.list()[0].id)
    deleter = memory.as_agent("clerk", ["memory:read", "memory:write", "memory:delete"])
    assert ingest(deleter, GUIDE + "\nmore").status == "updated"
    with pytest.raises(Forbidden):
        clerk.documents.forget("guide.md")
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(Forbidden):
        deleter.ingest(tmp_path / "a.md", tool=True)
    with pytest.raises(Forbidden):
        deleter.ingest("/no/such/file", tool=True)
    assert ingest(deleter, "by a tool", name="t.md", tool=True).status == "stored"
    assert ingest(deleter, "by a tool again", name="t.md", tool=True).reason == "forbidden"
    memory.policies.set("reader", Policy(read=["vector.none"]))
    reader = memory.as_agent("reader", ["memory:read"])
    assert reader.documents.list() == []
    # Another agent's documents are another's.
    with pytest.raises(NotFound):
        memory.documents.get("guide.md")


def test_another_rule_on_personal_data_is_applied_to_the_same_version(memory: Ebbtide, embedder: Counting) -> None:
    text = "# A\n\nWrite to ana@example.com today.\n\n# B\n\nplain"
    ingest(memory, text)
    rule = memory.rules.add(SPACE, personal_data="redact")
    embedder.texts.clear()
    file = ingest(memory, text)
    assert (file.status, file.new, file.kept, file.forgotten) == ("updated", 1, 1, 1)
    assert embedder.texts == ["A\n\nWrite to [EMAIL] today."]
    assert ingest(memory, text).status == "unchanged"
    assert rule.id is not None
    memory.rules.remove(rule.id)
    assert ingest(memory, text).new == 1
    assert contents(memory) == ["A\n\nWrite to ana@example.com today.", "B\n\nplain"]
    memory.rules.add(SPACE, personal_data="drop")
    file = ingest(memory, text)
    assert (file.dropped, file.kept, file.forgotten, contents(memory)) == (1, 1, 1, ["B\n\nplain"])


def test_a_correction_of_a_passage_stands_although_the_document_changes(memory: Ebbtide) -> None:
    ingest(memory, GUIDE)
    linux, mac = (memory.recall(word)[0].memory for word in ("apt", "brew"))
    memory.supersede(linux.id, "Install it with dnf.")
    memory.invalidate(mac.id)
    file = ingest(memory, GUIDE + "\n## More\n\nmore\n")
    assert (file.new, file.kept, file.forgotten) == (1, 3, 0)
    found = {one.content for one in memory.recall("install")}
    assert found >= {"Install it with dnf."}
    assert not found & {linux.content, mac.content}


def test_passages_are_not_taken_for_conflicting_statements(memory: Ebbtide) -> None:
    ingest(memory, "# A\n\nThe gate is open.\n\n# B\n\nThe gate is not open.\n\n# C\n\nThe gate is open now.")
    assert memory.conflicts.list() == []
    assert len(contents(memory)) == 3
    # Nor is a fact held against one.
    assert memory.remember("The gate is not open.", namespace=SPACE).outcome == "stored"


def test_export_and_import_keep_passages(memory: Ebbtide, open_store: Opener) -> None:
    ingest(memory, GUIDE)
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    assert other.import_records(records).imported == 3
    assert {one.metadata["path"] for one in other.browse()} == {"guide.md"}
    assert other.import_records(records).skipped == 3
    # The document too: it is completed by its file, and nothing of it is there twice.
    here, there = memory.documents.get("guide.md"), other.documents.get("guide.md")
    assert there.contents == here.contents
    assert there == here.model_copy(update={"complete": False, "updated_at": there.updated_at})
    assert list(other.export_records()) == records
    file = ingest(other, GUIDE)
    assert (file.status, file.new, file.kept, other.documents.get("guide.md").complete) == ("updated", 0, 3, True)


def test_an_imported_document_does_not_take_the_place_of_another(memory: Ebbtide) -> None:
    ingest(memory, GUIDE)
    records = list(memory.export_records())
    other = memory.scoped(tenant="other")
    own = ingest(other, "# Own\n\nwords").document
    assert other.import_records(records).imported == 3
    assert [one.id for one in other.documents.list()] == [own]
    assert contents(other) == ["Own\n\nwords"]
    for field, wrong in (
        ("source", {"source": "a book"}),
        ("document.path", {"document": {**records[0]["document"], "path": "a\0b"}}),
        ("document.first", {"document": {**records[0]["document"], "first": 0}}),
    ):
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(tenant="third").import_records([{**records[0], **wrong}])
        assert caught.value.field == field


def test_an_export_leaves_out_a_document_whose_name_is_personal(memory: Ebbtide) -> None:
    memory.policies.set("clerk", Policy(read=[SPACE], write=SPACE, allow_write=True))
    clerk = memory.as_agent("clerk", ["memory:read", "memory:write"])
    for name in ("guide.md", "to ana@example.com"):
        ingest(clerk, f"A text of {name[:3]}", name=name)
    memory.rules.add(SPACE, personal_data="redact")
    records = list(clerk.export_records())
    assert [one["document"]["path"] for one in records if "document" in one] == ["guide.md"]
    assert "ana@example.com" not in str(records)
