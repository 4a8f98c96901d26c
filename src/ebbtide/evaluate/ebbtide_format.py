"""The ebbtide format: one JSON file a scope, so that anybody can measure on data of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from ebbtide.evaluate.files import parse, refusal, refuse_repeats
from ebbtide.evaluate.scope import EvaluationScope, Item, Question
from ebbtide.types.memory import Kind

__all__ = ["read_ebbtide"]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _MemoryRow(_Row):
    id: Text
    text: Text
    kind: Kind
    namespace: Text
    observed_at: AwareDatetime | None = None
    valid_from: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None
    speaker: Text | None = None
    chat: Text | None = None
    seq: int | None = None
    labels: list[Text] = []
    tags: list[Text] = []
    metadata: dict[str, Any] = {}
    importance: Share | None = None
    confidence: Share | None = None
    subject: Text | None = None
    predicate: Text | None = None
    supersedes: Text | None = None


class _QuestionRow(_Row):
    id: Text
    text: Text
    evidence: list[Text]
    type: Text
    asked_at: AwareDatetime | None = None
    # For people who read the file; nothing is measured with them.
    answer: str = ""
    note: str = ""


class _File(BaseModel):
    scope: Text
    description: str = ""
    memories: list[_MemoryRow]
    questions: list[_QuestionRow]


def read_ebbtide(path: Path) -> list[EvaluationScope]:
    """The scopes of a file, or of every `.json` file of a folder in the order of their names.

    Raises `InvalidInput` that names the file, the place and the remedy: for JSON that is malformed, a key that is
    missing or unknown, a time without a zone, an id or a scope that occurs twice, and evidence or `supersedes`
    that no memory of the file has as its id.
    """
    paths = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not paths:
        raise refusal(path, "", "holds no .json file", "Name a data set, or the folder that has its files.")
    scopes = [_read_file(file) for file in paths]
    names: dict[str, Path] = {}
    for scope, file in zip(scopes, paths, strict=True):
        if first := names.get(scope.name):
            raise refusal(file, "scope", f"{scope.name!r} is also the scope of {first.name}", "Rename one of them.")
        names[scope.name] = file
    return scopes


def _read_file(path: Path) -> EvaluationScope:
    content = parse(path, _File)
    refuse_repeats(path, "memories", (row.id for row in content.memories))
    refuse_repeats(path, "questions", (row.id for row in content.questions))
    _refuse_unknown_ids(path, content)
    return EvaluationScope(
        name=content.scope,
        description=content.description,
        items=tuple(map(_item, content.memories)),
        questions=tuple(_question(content.scope, row) for row in content.questions),
    )


def _refuse_unknown_ids(path: Path, content: _File) -> None:
    known = {row.id for row in content.memories}
    remedy = "Name the id of a memory of this file."
    for position, memory in enumerate(content.memories):
        place = f"memories[{position}].supersedes"
        if memory.supersedes == memory.id:
            raise refusal(path, place, "a memory cannot supersede itself", remedy)
        if memory.supersedes is not None and memory.supersedes not in known:
            raise refusal(path, place, f"no memory has the id {memory.supersedes!r}", remedy)
    for position, question in enumerate(content.questions):
        for name in question.evidence:
            if name not in known:
                raise refusal(path, f"questions[{position}].evidence", f"no memory has the id {name!r}", remedy)


def _item(row: _MemoryRow) -> Item:
    return Item(
        id=row.id,
        text=row.text,
        kind=row.kind,
        namespace=row.namespace,
        observed_at=row.observed_at,
        valid_from=row.valid_from,
        expires_at=row.expires_at,
        speaker=row.speaker,
        chat=row.chat,
        sequence=row.seq,
        labels=tuple(row.labels),
        tags=tuple(row.tags),
        metadata=row.metadata,
        importance=row.importance,
        confidence=row.confidence,
        subject=row.subject,
        predicate=row.predicate,
        supersedes=row.supersedes,
    )


def _question(scope: str, row: _QuestionRow) -> Question:
    return Question(
        id=row.id,
        text=row.text,
        evidence=tuple(dict.fromkeys(row.evidence)),
        type=row.type,
        scope=scope,
        asked_at=row.asked_at,
    )
