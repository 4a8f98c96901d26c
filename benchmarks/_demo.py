"""The bundled demo as texts to embed and as a data set, for machines that have no other."""

from __future__ import annotations

import json
import re
from datetime import datetime
from importlib.resources import files
from typing import Any

from ebbtide.evaluate.scope import EvaluationScope, Item, Question

FOLDER = files("ebbtide") / "demo"


def memories() -> list[dict[str, Any]]:
    """The demo's memories."""
    return [json.loads(line) for line in (FOLDER / "memories.jsonl").read_text(encoding="utf-8").splitlines()]


def texts() -> list[str]:
    """Its memories' texts, then the sentences of these; no two alike, over 600 in all."""
    whole = [memory["content"] for memory in memories()]
    sentences = [sentence for text in whole for sentence in re.findall(r"[^.!?]+[.!?]", text) if len(sentence) > 30]
    return list(dict.fromkeys(text.strip() for text in (*whole, *sentences)))


def questions(count: int) -> list[str]:
    """Questions about its memories."""
    return [f"What do we know about {' '.join(text.split()[:9])}?" for text in texts()[:count]]


def scope() -> EvaluationScope:
    """Its memories, and the questions that it tells the answers of."""
    story = json.loads((FOLDER / "questions.json").read_text(encoding="utf-8"))
    asked = [question for question in story["questions"] if question.get("evidence")]
    return EvaluationScope(
        name="demo",
        description=story["description"],
        items=tuple(map(_item, memories())),
        questions=tuple(
            Question(
                id=question["id"],
                text=question["text"],
                evidence=tuple(question["evidence"]),
                type=question["type"],
                scope="demo",
            )
            for question in asked
        ),
    )


def _item(memory: dict[str, Any]) -> Item:
    return Item(
        id=memory["ref"],
        text=memory["content"],
        kind=memory["kind"],
        namespace=memory["namespace"],
        observed_at=datetime.fromisoformat(memory["observed_at"]),
        labels=tuple(memory.get("labels", ())),
        tags=tuple(memory.get("tags", ())),
        importance=memory.get("importance"),
        supersedes=memory.get("supersedes"),
    )
