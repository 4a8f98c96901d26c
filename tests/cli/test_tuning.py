"""tune: the table, what is saved and what is refused, as JSON and for people; and feedback on a recall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

MINE = {
    "name": "mine", "law": "sum",
    "factors": [{"factor": "similarity", "weight": 0.95}, {"factor": "importance", "weight": 0.05}],
}  # fmt: skip


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Of two memories that are worded alike, the important one answers each question."""
    memories: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for number in range(30):
        for side, importance in (("a", 0.1), ("b", 0.9)):
            text = f"box {number} holds {'many ' if side == 'b' else ''}things"
            named = {"id": f"{number}{side}", "text": text, "kind": "fact", "namespace": "vector.global.memory"}
            memories.append({**named, "importance": importance})
        questions.append({"id": str(number), "text": f"box {number} holds", "evidence": [f"{number}b"], "type": "any"})
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps({"scope": "boxes", "description": "", "memories": memories, "questions": questions}))
    return path


def test_tune_fits_a_data_set_and_saves_what_is_better(ebbtide: Run, dataset: Path) -> None:
    ebbtide("remember", "The lamp oil is in the shed.")
    assert ebbtide("profiles", "save", stdin=json.dumps(MINE)).code == 0
    shown = ebbtide("tune", "mine", "--from", dataset)
    assert shown.code == 0, shown.err
    assert [line.split()[0] for line in shown.out.splitlines()[1:6]] == ["trained", "tuned", "held", "tuned", "gain"]
    assert shown.out.endswith("saved  mine-tuned\n")
    assert "search: 30 of 30" in shown.err
    ran = ebbtide("tune", "mine", "--from", dataset, "--save", "boxes", "--seed", "4", "--json")
    assert (ran.code, ran.json["saved"], ran.json["seed"], ran.json["source"]) == (0, "boxes", 4, "boxes.json")
    assert ran.json["tuned_held_out"]["mrr"] > ran.json["baseline_held_out"]["mrr"]
    kept = ebbtide("profiles", "get", "boxes").json
    assert kept["provenance"]["tuned_from"] == "mine"
    again = ebbtide("tune", "boxes", "--from", dataset, "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "not_tuned")
    people = ebbtide("tune", "boxes", "--from", dataset)
    assert (people.code, "held out" in people.out, "no more than noise" in people.err) == (1, True, True)
    assert ebbtide("profiles", "get", "boxes-tuned").code == 1
    # A name that cannot be taken is refused before the minutes that a run may take.
    refused = ebbtide("tune", "mine", "--from", dataset, "--save", "tide")
    assert (refused.code, "search" in refused.err) == (2, False)


def test_a_built_in_ranking_is_tried_without_a_store(run: Run, dataset: Path) -> None:
    ran = run("tune", "agentium", "--from", dataset, "--dry-run", "--json")
    assert (ran.code, ran.json["tuned_from"], ran.json["saved"]) == (0, "agentium", None)
    assert run("tune", "agentium", "--from", dataset, "--json").json["error"]["code"] == "not_found"
    assert run("tune", "agentium", "--from", "nowhere.json", "--dry-run", "--json").code == 2


def test_too_little_feedback_is_told(ebbtide: Run) -> None:
    told = ebbtide("remember", "The lamp oil is in the shed.", "--json").json["memory"]["id"]
    recall = ebbtide("recall", "lamp oil", "--json").json["recall_id"]
    assert ebbtide("recall", "lamp oil").out.splitlines()[-1].startswith("recall ")
    judged = ebbtide("feedback", told, "positive", "--recall", recall, "--json")
    assert judged.json["usefulness"] == pytest.approx(2 / 3)
    stranger = ebbtide("feedback", told, "positive", "--recall", recall, "--user", "ana", "--json")
    assert (stranger.code, stranger.json["error"]["field"]) == (1, "recall")
    refused = ebbtide("tune", "tide", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_tuned")
    assert "All 1 judgements under tide are positive" in refused.json["error"]["message"]
    assert ebbtide("tune", "tide", "--save", "tide", "--json").code == 2
