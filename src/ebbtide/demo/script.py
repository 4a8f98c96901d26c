"""What the demo remembers and asks, read from the files beside this module."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Any, cast

__all__ = ["Script", "Told", "load_script"]

# What a line of the file says about a memory beside the fields of a draft.
NOT_OF_A_DRAFT = ("ref", "chat", "supersedes")


@dataclass(frozen=True, slots=True)
class Told:
    """One memory of the year: its name in the story, the chat it was said in, what it corrects, and its draft."""

    ref: str
    observed_at: datetime
    chat: str | None
    supersedes: str | None
    draft: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """The whole story: the present moment in it, its memories in order, its questions, and the scenes on them."""

    now: datetime
    description: str
    memories: tuple[Told, ...]
    questions: tuple[Mapping[str, Any], ...]
    scenes: Mapping[str, Mapping[str, Any]]


def load_script() -> Script:
    """The bundled story."""
    folder = resources.files("ebbtide.demo")
    told = [_told(json.loads(line)) for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()]
    script = cast("dict[str, Any]", json.loads((folder / "questions.json").read_text(encoding="utf-8")))
    return Script(
        now=datetime.fromisoformat(script["now"]),
        description=script["description"],
        memories=tuple(told),
        questions=tuple(script["questions"]),
        scenes={name: script[name] for name in ("supersession", "profiles", "why_not", "context")},
    )


def _told(line: dict[str, Any]) -> Told:
    return Told(
        ref=line["ref"],
        observed_at=datetime.fromisoformat(line["observed_at"]),
        chat=line.get("chat"),
        supersedes=line.get("supersedes"),
        draft={name: value for name, value in line.items() if name not in NOT_OF_A_DRAFT},
    )
