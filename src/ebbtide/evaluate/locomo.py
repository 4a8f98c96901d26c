"""LoCoMo: long conversations of two people, one turn a memory (Maharana et al., ACL 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from ebbtide.evaluate.files import OTHER_REMEDY, REMEDIES, parse, refusal, refuse_repeats, spell
from ebbtide.evaluate.scope import EvaluationScope, Item, Question

__all__ = ["read_locomo"]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SESSION = re.compile(r"session_(\d+)")
EVIDENCE = re.compile(r"D\d+:\d+")
NOT_IN_A_SEGMENT = re.compile(r"[^\w-]+")


class _Turn(BaseModel):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Asked(BaseModel):
    question: str
    evidence: list[str]
    category: int


class _Sample(BaseModel):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[_Asked]


def read_locomo(path: Path) -> list[EvaluationScope]:
    """The conversations of a file, a scope each: its turns as memories of kind "message", a session as a chat.

    Evidence strings are often malformed: every `D<session>:<turn>` in them counts, and one that names no turn is
    ignored. Raises `InvalidInput` that names the file, the place and the remedy for a file of another form.
    """
    samples = parse(path, list[_Sample])
    refuse_repeats(path, "", (sample.sample_id for sample in samples))
    return [_scope(path, position, sample) for position, sample in enumerate(samples)]


def _scope(path: Path, position: int, sample: _Sample) -> EvaluationScope:
    place = f"[{position}].conversation"
    namespace = f"vector.locomo.{NOT_IN_A_SEGMENT.sub('_', sample.sample_id)}"
    items = tuple(_items(path, place, namespace, sample.conversation))
    refuse_repeats(path, place, (item.id for item in items))
    known = {item.id for item in items}
    questions = [
        _question(path, f"[{position}].qa[{number}]", f"{number + 1}", sample.sample_id, asked, known)
        for number, asked in enumerate(sample.qa)
    ]
    speakers = dict.fromkeys(item.speaker for item in items if item.speaker)
    return EvaluationScope(
        name=sample.sample_id,
        description=f"A conversation of {' and '.join(speakers)}",
        items=items,
        questions=tuple(questions),
    )


def _items(path: Path, place: str, namespace: str, conversation: dict[str, Any]) -> Iterator[Item]:
    # A date without turns is common in the data and means nothing; turns without a date are an error.
    numbers = sorted(int(found[1]) for key in conversation if (found := SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        observed_at = _date(path, f"{place}.{session}_date_time", conversation.get(f"{session}_date_time"))
        turns = _turns(path, f"{place}.{session}", conversation[session])
        for sequence, turn in enumerate(turns, start=1):
            yield Item(
                id=turn.dia_id,
                text=_text(turn),
                kind="message",
                namespace=namespace,
                observed_at=observed_at,
                speaker=turn.speaker,
                chat=session,
                sequence=sequence,
            )


def _turns(path: Path, place: str, value: object) -> list[_Turn]:
    try:
        return TypeAdapter(list[_Turn]).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        remedy = REMEDIES.get(first["type"], OTHER_REMEDY)
        raise refusal(path, spell((place, *first["loc"])), first["msg"], remedy) from None


def _text(turn: _Turn) -> str:
    caption = f" [shares {turn.blip_caption}]" if turn.blip_caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"


def _date(path: Path, place: str, value: object) -> datetime:
    try:
        return datetime.strptime(str(value), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        what = "is missing" if value is None else f"{value!r} is not a date"
        raise refusal(path, place, what, "Write it like 1:56 pm on 8 May, 2023.") from None


def _question(path: Path, place: str, name: str, scope: str, asked: _Asked, known: set[str]) -> Question:
    if asked.category not in CATEGORIES:
        raise refusal(path, f"{place}.category", f"{asked.category} is no category", "Use 1 to 5.")
    named = dict.fromkeys(found for text in asked.evidence for found in EVIDENCE.findall(text))
    return Question(
        id=name,
        text=asked.question,
        evidence=tuple(evidence for evidence in named if evidence in known),
        type=CATEGORIES[asked.category],
        scope=scope,
    )
