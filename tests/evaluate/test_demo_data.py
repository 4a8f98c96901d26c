"""The bundled demo: a year of memories that hang together, and questions that they answer."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from ebbtide.evaluate.datasets import load_dataset
from ebbtide.govern.namespaces import check_namespace

DEMO = files("ebbtide") / "demo"
MEMORIES: list[dict[str, Any]] = [
    json.loads(line) for line in (DEMO / "memories.jsonl").read_text(encoding="utf-8").splitlines()
]
STORY: dict[str, Any] = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
BY_REF = {memory["ref"]: memory for memory in MEMORIES}
SUPERSEDED = {memory["supersedes"] for memory in MEMORIES if "supersedes" in memory}
HALF_LIFE_LABELS = {"factual", "procedural", "preference", "behavioral", "episodic"}


def test_there_are_a_few_hundred_and_no_two_alike() -> None:
    assert 320 <= len(MEMORIES) <= 400
    assert len(BY_REF) == len(MEMORIES)
    assert len({" ".join(memory["content"].casefold().split()) for memory in MEMORIES}) == len(MEMORIES)


def test_they_cover_every_month_of_one_year_in_order() -> None:
    times = [datetime.fromisoformat(memory["observed_at"]) for memory in MEMORIES]
    assert times == sorted(times)
    assert all(time.utcoffset() == timedelta(0) for time in times)
    assert datetime(2025, 9, 1, tzinfo=UTC) <= times[0] <= times[-1] <= datetime.fromisoformat(STORY["now"])
    assert len({(time.year, time.month) for time in times}) == 12


def test_namespaces_are_paths_of_one_tree() -> None:
    for memory in MEMORIES:
        assert check_namespace(memory["namespace"]).startswith("vector.tern.")


def test_a_correction_follows_what_it_corrects_and_each_is_corrected_once() -> None:
    replaced = [memory["supersedes"] for memory in MEMORIES if "supersedes" in memory]
    assert len(replaced) == len(set(replaced)) >= 15
    for memory in MEMORIES:
        if "supersedes" in memory:
            assert BY_REF[memory["supersedes"]]["observed_at"] < memory["observed_at"]


def test_the_words_are_the_engines_own() -> None:
    assert {label for memory in MEMORIES for label in memory.get("labels", ())} <= HALF_LIFE_LABELS
    shares = [memory[key] for memory in MEMORIES for key in ("importance", "confidence") if key in memory]
    assert all(0 <= share <= 1 for share in shares)


def test_a_conversation_is_numbered_from_one_in_the_order_of_time() -> None:
    chats: dict[str, list[int]] = {}
    for memory in MEMORIES:
        if "chat" in memory:
            assert memory["speaker"]
            chats.setdefault(memory["chat"], []).append(memory["seq"])
    assert len(chats) == 3
    assert all(numbers == [*range(1, len(numbers) + 1)] for numbers in chats.values())


def test_four_languages_are_spoken() -> None:
    spoken = Counter(memory.get("metadata", {}).get("language", "en") for memory in MEMORIES)
    assert min(spoken["de"], spoken["es"], spoken["ja"]) >= 3


def test_every_question_is_answered_by_a_memory_that_still_holds() -> None:
    questions = STORY["questions"]
    assert 12 <= len(questions) <= 15
    assert len({question["id"] for question in questions}) == len(questions)
    for question in questions:
        assert set(question["evidence"]) <= BY_REF.keys() - SUPERSEDED
        assert bool(question["evidence"]) == (question["type"] != "none")


@pytest.mark.parametrize(
    "kind", ["paraphrase", "keyword", "update", "temporal", "preference", "negation", "multi", "none"]
)
def test_each_sort_of_question_is_asked(kind: str) -> None:
    assert kind in {question["type"] for question in STORY["questions"]}


def test_the_set_pieces_point_at_memories() -> None:
    supersession, why_not = STORY["supersession"], STORY["why_not"]
    assert BY_REF[supersession["new"]]["supersedes"] == supersession["old"]
    assert why_not["reason"] == "superseded"
    assert why_not["ref"] in SUPERSEDED
    assert {"tide", "ontheia"} <= set(STORY["profiles"]["profiles"])
    assert STORY["context"]["max_tokens"] > 0


def test_the_demo_is_also_a_data_set_to_measure_on(tmp_path: Path) -> None:
    memories = [{**memory, "id": memory["ref"], "text": memory["content"]} for memory in MEMORIES]
    for memory in memories:
        del memory["ref"], memory["content"]
    content = {
        "scope": "tern",
        "description": STORY["description"],
        "memories": memories,
        "questions": STORY["questions"],
    }
    path = tmp_path / "tern.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    [scope] = load_dataset(path)
    assert len(scope.items) == len(MEMORIES)
    assert sum(question.measurable for question in scope.questions) == len(STORY["questions"]) - 1
