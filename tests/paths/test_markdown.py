"""The export to Markdown: whole, the same each time, under safe names, and of what the caller may see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.errors import Forbidden, InvalidInput
from ebbtide.paths.markdown import MARK, file_name


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}


def front_matter(text: str) -> list[dict[str, Any]]:
    head = text.split("---\n")[1]
    return [json.loads(line.removeprefix("  - ")) for line in head.splitlines() if line.startswith("  - ")]


def test_there_is_a_file_for_each_namespace_with_what_holds(memory: Ebbtide, tmp_path: Path) -> None:
    old = memory.remember("Tea is at four", namespace="vector.house").memory
    new = memory.remember("Tea is at five", supersedes=old.id, namespace="vector.house", tags=["tea"]).memory
    memory.remember("The gate code is 4711", namespace="vector.gate", observed_at="2026-01-05")
    told: list[int] = []
    done = memory.export_markdown(tmp_path / "out", progress=told.append)
    assert (done.files, done.memories, told) == (("vector.gate.md", "vector.house.md"), 2, [2])
    files = read(tmp_path / "out")
    [entry] = front_matter(files["vector.house.md"])
    assert (entry["id"], entry["revision"], entry["tags"]) == (str(new.id), 1, ["tea"])
    assert files["vector.house.md"].endswith(f"\n## {new.id}\n\n> Tea is at five\n")
    assert "2026-01-05" in front_matter(files["vector.gate.md"])[0]["observed_at"]
    assert memory.export_markdown(tmp_path / "kinds", by="kind").files == ("fact.md",)


def test_the_same_memories_give_the_same_bytes(memory: Ebbtide, tmp_path: Path) -> None:
    memory.remember_many([f"statement number {number}" for number in range(20)])
    memory.export_markdown(tmp_path / "one")
    first = read(tmp_path / "one")
    memory.export_markdown(tmp_path / "one")
    assert read(tmp_path / "one") == first
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_no_memory_forges_another(memory: Ebbtide, tmp_path: Path) -> None:
    forged = "harmless\n\n## 00000000-0000-0000-0000-000000000000\n---\nid: x\r## more\u2028## still"
    kept = memory.remember(forged, namespace="vector.a").memory
    memory.export_markdown(tmp_path / "out")
    text = read(tmp_path / "out")["vector.a.md"]
    assert [line for line in text.splitlines() if line.startswith("#")] == [f"## {kept.id}"]
    assert text.count("---\n") == 3


def test_no_mark_of_a_memory_ends_the_front_matter(memory: Ebbtide, tmp_path: Path) -> None:
    odd = [
        "a\u2028---\u2028x: y",
        "a\x85---\x85x: y",
        "x\u2029- y",
        "q\x7fz",
        "q\x9bz",
        "\ufeffx",
        "x\ufffez",
        "#: {[}]",
        '"---',
    ]
    memory.remember("It says this", namespace="vector.a", tags=odd, subject=odd[0])
    memory.export_markdown(tmp_path / "out")
    _, front, _ = read(tmp_path / "out")["vector.a.md"].split("---\n", 2)
    assert not set(front) & set("\x7f\x85\x9b\u2028\u2029\ufeff\ufffe")
    (line,) = [line for line in front.split("\n") if line.startswith("  - ")]
    said = json.loads(line.removeprefix("  - "))
    assert (said["tags"], said["subject"]) == (odd, odd[0])


def test_nothing_but_an_earlier_export_is_replaced(memory: Ebbtide, tmp_path: Path) -> None:
    memory.remember("The gate code is 4711")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "mine", tmp_path / "file", "\0", 3):
        with pytest.raises(InvalidInput) as caught:
            memory.export_markdown(folder)  # type: ignore[arg-type]
        assert caught.value.field == "folder"
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    (tmp_path / "empty").mkdir()
    assert memory.export_markdown(tmp_path / "empty").memories == 1
    assert (tmp_path / "empty" / MARK).is_file()


def test_a_failure_leaves_the_earlier_export(memory: Ebbtide, tmp_path: Path) -> None:
    memory.remember("The gate code is 4711")
    memory.export_markdown(tmp_path / "out")
    before = read(tmp_path / "out")

    def fail(_: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        memory.export_markdown(tmp_path / "out", progress=fail)
    assert read(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_rules_and_policies_hold(memory: Ebbtide, tmp_path: Path) -> None:
    memory.remember("Ask ana@example.com", namespace="vector.open.mail")
    memory.remember("The gate code is 4711", namespace="vector.secret")
    memory.rules.add("vector.open.*", personal_data="redact")
    memory.policies.set("default", {"read": ["vector.open.*"]})
    reader = memory.as_agent("default", ["memory:read"])
    assert reader.export_markdown(tmp_path / "some").files == ("vector.open.mail.md",)
    assert "> Ask [EMAIL]\n" in read(tmp_path / "some")["vector.open.mail.md"]
    assert memory.export_markdown(tmp_path / "all").memories == 2
    with pytest.raises(Forbidden):
        memory.as_agent("default", ["memory:write"]).export_markdown(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(Forbidden):
        reader.consolidate()
    with pytest.raises(Forbidden):
        reader.reconcile()


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_a_file_name_is_safe_and_of_one_name(one: str, other: str) -> None:
    name = file_name(one)
    assert name
    assert Path(name).name == name
    assert not name.startswith(".")
    assert len(name.encode()) <= 170
    assert all(letter.isalnum() or letter in "._-" or letter.isalpha() or ord(letter) > 127 for letter in name)
    assert one == other or name.casefold() != file_name(other).casefold()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("vector.A", "vector.a"),
        ("a/b", "a_b"),
        ("..", "."),
        ("CON", "con"),
        ("café", "cafe\u0301"),
        ("a🙂", "a🙃"),
        ("ſ", "s"),
        ("K", "k"),
    ],
)
def test_names_that_look_alike_have_files_of_their_own(one: str, other: str) -> None:
    assert file_name(one).casefold() != file_name(other).casefold()


@pytest.mark.parametrize("name", ["../../etc/passwd", "con", "NUL.txt", "a\0b", "/", "x" * 300, "\udc80"])
def test_no_name_leads_elsewhere(name: str) -> None:
    made = file_name(name)
    assert "/" not in made
    assert "\0" not in made
    assert made.split(".")[0].casefold() not in ("con", "nul", "")
    made.encode()


def test_there_is_a_page_for_each_entity_with_facts_relations_and_sources(memory: Ebbtide, tmp_path: Path) -> None:
    sarah, deepmind = {"name": "Sarah Chen", "type": "person"}, {"name": "DeepMind", "type": "company"}
    works = memory.remember(
        "Sarah works at DeepMind", relation={"subject": sarah, "predicate": "works at", "object": deepmind}
    ).memory
    plays = memory.remember("Sarah plays\n## chess", entities=[sarah]).memory
    other = memory.remember("Another Sarah sings", entities=[{"name": "Sarah Chen", "type": "project"}]).memory
    memory.remember("Nobody is here")
    gone = memory.remember("Sarah sleeps", entities=[sarah]).memory
    memory.invalidate(gone.id)
    done = memory.export_markdown(tmp_path / "out", by="entity")
    assert done.memories == 3
    assert len(done.files) == 3
    files = read(tmp_path / "out")
    id_ = memory.entities.get("Sarah Chen", type="person").entity.id
    page = files[file_name(f"sarah_chen.{str(id_)[-8:]}") + ".md"]
    assert page.startswith(f'---\nentity: "Sarah Chen"\ntype: "PERSON"\nid: "{id_}"\ncount: 2\nmemories:\n')
    assert [entry["id"] for entry in front_matter(page)] == [str(works.id), str(plays.id)]
    assert front_matter(page)[0]["relations"] == [["Sarah Chen", "works_at", "DeepMind"]]
    assert page.endswith(
        f"\n## {works.id}\n\n> Sarah works at DeepMind\n\n- Sarah Chen works_at DeepMind\n"
        f"\n## {plays.id}\n\n> Sarah plays\n> ## chess\n"
    )
    (company,) = (text for name, text in files.items() if name.startswith("deepmind"))
    assert [entry["id"] for entry in front_matter(company)] == [str(works.id)]
    assert sum(str(other.id) in text for text in files.values()) == 1
    memory.export_markdown(tmp_path / "out", by="entity")
    assert read(tmp_path / "out") == files


def test_a_page_tells_where_a_passage_stands_and_what_a_memory_was_made_from(memory: Ebbtide, tmp_path: Path) -> None:
    said = memory.remember("Ann works at Acme and lives in Oslo.").memory
    memory.ingest(text="The ferry is steered by Ann.", name="ferries.md")
    (passage,) = memory.documents.get("ferries.md").contents
    memory.extract(ids=[said.id], extractor="rules")
    memory.revise(passage.id, "Ann steers the ferry.", entities=[{"name": "Ann", "type": "person"}])
    memory.export_markdown(tmp_path / "out", by="entity")
    (page,) = (text for name, text in read(tmp_path / "out").items() if name.startswith("ann."))
    assert "- from ferries.md, line 1\n" in page
    assert f"- from {said.id}\n" in page
    assert ["ferries.md, line 1"] in [entry.get("sources") for entry in front_matter(page)]
