"""Data sets: what is read from both formats, and what each bad file is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import InvalidInput
from ebbtide.evaluate.datasets import EvaluationScope, Question, load_dataset, merge


def memory(name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "text": f"What {name} says",
        "kind": "fact",
        "namespace": "vector.shop.rent",
        "observed_at": "2026-03-01T09:00:00Z",
        **more,
    }


def question(name: str, evidence: list[str], **more: Any) -> dict[str, Any]:
    return {"id": name, "text": f"What of {name}?", "evidence": evidence, "type": "keyword", **more}


def scope(name: str = "shop") -> dict[str, Any]:
    return {
        "scope": name,
        "description": "A shop",
        "memories": [memory("m1"), memory("m2", supersedes="m1", chat="c1", seq=3, speaker="Ada", labels=["factual"])],
        "questions": [
            question("q1", ["m2", "m1", "m2"], asked_at="2026-04-01T10:00:00+02:00"),
            question("q2", [], type="none"),
        ],
    }


def saved(folder: Path, content: object, name: str = "data.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def refused(path: Path, form: str = "ebbtide") -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        load_dataset(path, form)
    assert caught.value.remedy
    return caught.value


def test_a_scope_has_its_memories_and_questions(tmp_path: Path) -> None:
    [read] = load_dataset(saved(tmp_path, scope()))
    assert (read.name, read.description, len(read.items)) == ("shop", "A shop", 2)
    item = read.items[1]
    assert (item.id, item.text, item.kind, item.namespace) == ("m2", "What m2 says", "fact", "vector.shop.rent")
    assert (item.chat, item.sequence, item.speaker, item.labels) == ("c1", 3, "Ada", ("factual",))
    assert (item.supersedes, item.observed_at) == ("m1", datetime(2026, 3, 1, 9, tzinfo=UTC))
    asked, unanswerable = read.questions
    assert asked == Question(
        id="q1",
        text="What of q1?",
        evidence=("m2", "m1"),
        type="keyword",
        scope="shop",
        asked_at=datetime(2026, 4, 1, 8, tzinfo=UTC),
    )
    assert (asked.measurable, unanswerable.measurable) == (True, False)


def test_everything_else_a_memory_may_carry(tmp_path: Path) -> None:
    content = scope()
    content["memories"][0] |= {
        "tags": ["lease"],
        "metadata": {"page": 4},
        "importance": 1,
        "confidence": 0.5,
        "subject": "shop",
        "predicate": "rent",
        "valid_from": "2026-01-01T00:00:00Z",
        "expires_at": "2027-01-01T00:00:00Z",
    }
    item = load_dataset(saved(tmp_path, content))[0].items[0]
    assert (item.tags, item.metadata, item.importance, item.confidence) == (("lease",), {"page": 4}, 1.0, 0.5)
    assert (item.subject, item.predicate) == ("shop", "rent")
    assert item.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    assert item.expires_at == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    saved(tmp_path, scope("second"), "b.json")
    saved(tmp_path, scope("first"), "a.json")
    (tmp_path / "README.md").write_text("Not a scope.")
    assert [read.name for read in load_dataset(tmp_path)] == ["first", "second"]


def broken(place: str, **change: Any) -> dict[str, Any]:
    """A scope whose first memory or question has other values; `None` takes a key out."""
    content = scope()
    row: dict[str, Any] = content[place][0]
    row.update(change)
    content[place][0] = {key: value for key, value in row.items() if value is not None}
    return content


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (broken("memories", kind=None), "memories[0].kind", "Field required"),
        (broken("memories", kind="rumour"), "memories[0].kind", "should be 'fact'"),
        (broken("memories", text=" "), "memories[0].text", "at least 1 character"),
        (broken("memories", suprsedes="m2"), "memories[0].suprsedes", "not permitted"),
        (broken("memories", observed_at="2026-03-01T09:00:00"), "memories[0].observed_at", "timezone"),
        (broken("memories", observed_at=1772355600), "memories[0].observed_at", "valid datetime"),
        (broken("memories", importance=1.5), "memories[0].importance", "less than or equal to 1"),
        (broken("memories", id="m2"), "memories", "'m2' occurs twice"),
        (broken("memories", supersedes="m9"), "memories[0].supersedes", "no memory has the id 'm9'"),
        (broken("memories", supersedes="m1"), "memories[0].supersedes", "cannot supersede itself"),
        (broken("questions", id="q2"), "questions", "'q2' occurs twice"),
        (broken("questions", evidence=["m1", "m7"]), "questions[0].evidence", "no memory has the id 'm7'"),
        (broken("questions", asked_at="2026-03-01T09:00:00"), "questions[0].asked_at", "timezone"),
        ({"scope": "shop", "questions": []}, "memories", "Field required"),
    ],
)
def test_a_bad_file_is_told_the_place(tmp_path: Path, content: object, place: str, message: str) -> None:
    path = saved(tmp_path, content)
    error = refused(path)
    assert error.field == place
    assert str(path) in error.message
    assert message in error.message


def test_malformed_json_is_told_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"scope": "shop",\n "memories": [}')
    assert "line 2 column 15" in refused(path).message


def test_two_files_of_one_scope_are_refused(tmp_path: Path) -> None:
    saved(tmp_path, scope(), "a.json")
    saved(tmp_path, scope(), "b.json")
    assert "also the scope of a.json" in refused(tmp_path).message


def test_an_empty_folder_a_missing_file_and_another_encoding_are_refused(tmp_path: Path) -> None:
    assert "holds no .json file" in refused(tmp_path).message
    assert "cannot be read" in refused(tmp_path / "missing.json").message
    (tmp_path / "latin.json").write_bytes(b'{"scope": "caf\xe9"}')
    assert "is not UTF-8 text" in refused(tmp_path / "latin.json").message


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    error = refused(tmp_path, "csv")
    assert error.field == "format"
    assert "ebbtide, locomo" in str(error)


def turn(name: str, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"dia_id": name, "speaker": speaker, "text": text, **more}


def sample() -> dict[str, Any]:
    return {
        "sample_id": "conv 1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Grace",
            "session_10_date_time": "12:05 am on 1 June, 2024",
            "session_10": [turn("D10:1", "Grace", "The boat is in.")],
            "session_2_date_time": "1:56 pm on 8 May, 2024",
            "session_2": [
                turn("D2:1", "Ada", "Look at this!", blip_caption="a red boat", img_url=["unused"]),
                turn("D2:2", "Grace", "Lovely."),
            ],
            "session_11_date_time": "1:00 pm on 2 June, 2024",
        },
        "qa": [
            {"question": "What colour?", "answer": "red", "evidence": ["D2:1; D10:1", "D2:1"], "category": 1},
            {"question": "When?", "answer": 2024, "evidence": ["D:10:1", "D9:9"], "category": 2},
            {"question": "Who sank it?", "evidence": ["D2:2"], "category": 5, "adversarial_answer": "Ada"},
        ],
    }


def test_a_turn_of_locomo_is_a_memory(tmp_path: Path) -> None:
    [read] = load_dataset(saved(tmp_path, [sample()]), "locomo")
    assert (read.name, read.description) == ("conv 1", "A conversation of Ada and Grace")
    assert [(item.id, item.text, item.chat, item.sequence) for item in read.items] == [
        ("D2:1", "Ada: Look at this! [shares a red boat]", "session_2", 1),
        ("D2:2", "Grace: Lovely.", "session_2", 2),
        ("D10:1", "Grace: The boat is in.", "session_10", 1),
    ]
    assert {(item.kind, item.namespace) for item in read.items} == {("message", "vector.locomo.conv_1")}
    assert read.items[0].observed_at == datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
    assert read.items[2].observed_at == datetime(2024, 6, 1, 0, 5, tzinfo=UTC)


def test_evidence_of_locomo_is_every_turn_it_names(tmp_path: Path) -> None:
    [read] = load_dataset(saved(tmp_path, [sample()]), "locomo")
    assert [(asked.type, asked.evidence, asked.measurable) for asked in read.questions] == [
        ("multi-hop", ("D2:1", "D10:1"), True),
        ("temporal", (), False),
        ("adversarial", ("D2:2",), False),
    ]


def test_a_bad_file_of_locomo_is_told_the_place(tmp_path: Path) -> None:
    content = sample()
    content["conversation"]["session_2_date_time"] = "8 May"
    error = refused(saved(tmp_path, [content]), "locomo")
    assert (error.field, "'8 May' is not a date" in error.message) == ("[0].conversation.session_2_date_time", True)

    content = sample()
    del content["conversation"]["session_2_date_time"]
    assert "is missing" in refused(saved(tmp_path, [content]), "locomo").message

    content = sample()
    del content["conversation"]["session_2"][1]["speaker"]
    assert refused(saved(tmp_path, [content]), "locomo").field == "[0].conversation.session_2[1].speaker"

    content = sample()
    content["conversation"]["session_2"][1]["dia_id"] = "D2:1"
    assert "'D2:1' occurs twice" in refused(saved(tmp_path, [content]), "locomo").message

    content = sample()
    content["qa"][0]["category"] = 6
    assert refused(saved(tmp_path, [content]), "locomo").field == "[0].qa[0].category"

    assert refused(saved(tmp_path, scope()), "locomo")


def test_merging_keeps_ids_and_chats_apart(tmp_path: Path) -> None:
    saved(tmp_path, scope("one"), "a.json")
    saved(tmp_path, scope("two"), "b.json")
    merged = merge(load_dataset(tmp_path))
    assert [item.id for item in merged.items] == ["one/m1", "one/m2", "two/m1", "two/m2"]
    assert [(item.chat, item.supersedes) for item in merged.items[1::2]] == [("one/c1", "one/m1"), ("two/c1", "two/m1")]
    assert [(asked.id, asked.evidence, asked.scope) for asked in merged.questions[::2]] == [
        ("one/q1", ("one/m2", "one/m1"), "one"),
        ("two/q1", ("two/m2", "two/m1"), "two"),
    ]


def test_merging_two_scopes_of_one_name_is_refused() -> None:
    empty = EvaluationScope("one", "", (), ())
    with pytest.raises(InvalidInput, match="same name"):
        merge([empty, empty])
