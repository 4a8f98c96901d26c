"""Records: a memory as one line of JSON with everything the store has of it, written and read."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from uuid import UUID

import numpy as np
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ebbtide.checks import LONGEST_ID, check_caller, check_moment, check_text, check_texts, check_vector
from ebbtide.errors import InvalidInput
from ebbtide.govern.access import write_namespace
from ebbtide.govern.branches import FIRST_BRANCH
from ebbtide.govern.personal import kinds_of
from ebbtide.graph.records import Naming
from ebbtide.identifiers import document_of, new_id
from ebbtide.ingest.reading import Media
from ebbtide.types.memory import Draft, Memory, Resolution
from ebbtide.write.naming import EntityRecord, RelationRecord, naming_of
from ebbtide.write.places import Place
from ebbtide.write.rows import Row
from ebbtide.write.standing import Place as Turn
from ebbtide.write.standing import Standing, Twig, check_standing
from ebbtide.write.ties import Tie
from ebbtide.write.validate import Checked, validate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["Incoming", "Strength", "VersionRow", "read_record", "record_line", "record_value", "told_of_line"]

# Half precision rounds a vector's norm by less than this; what is further from 1 was never normalised.
NORM_TOLERANCE = 0.01


def _written_out(value: Any) -> Any:
    """A moment from its text. A number, or a text of digits alone, could be seconds or a year: it would be a guess."""
    if isinstance(value, str) and value[4:5] == "-":
        return datetime.fromisoformat(value)
    if value is None or isinstance(value, datetime):
        return value
    raise ValueError("it is not a full date and time")


Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]
Clocked = TypeVar("Clocked", bound=BaseModel)
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Numbers = list[Annotated[float, Field(allow_inf_nan=False)]]


class _Image(BaseModel):
    """What a memory said, or says, at one revision. What `remember` checks is checked as there."""

    model_config = ConfigDict(extra="forbid")

    content: str
    namespace: str | None = None
    kind: str = "fact"
    user: str | None = None
    task: str | None = None
    chat: str | None = None
    session: str | None = None
    seq: int | None = None
    speaker: str | None = None
    labels: list[str] = []
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    source: str | None = None
    subject: str | None = None
    predicate: str | None = None
    personal_data: list[str] = []
    importance: float | None = None
    confidence: float | None = None
    status: Literal["active", "archived", "quarantined", "deleted"] = "active"
    maturity: Literal["unconfirmed", "confirmed", "superseded", "invalidated"] = "unconfirmed"
    confirmed_at: Moment | None = None
    # Every change adds one to it, in a column of 32 bits.
    revision: Annotated[int, Field(ge=1, le=10**9)] = 1
    superseded_by: UUID | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    last_mentioned_at: Moment | None = None
    observed_at: Moment | None = None
    valid_from: Moment | None = None
    invalidated_at: Moment | None = None
    expires_at: Moment | None = None
    deleted_at: Moment | None = None
    current_since: Moment | None = None
    vector: Numbers | None = None
    context_vector: Numbers | None = None


class _Version(_Image):
    current_until: Moment


class Strength(BaseModel):
    """How firmly a memory is held: its accesses, the parameters of its forgetting curve, and what users made of it."""

    model_config = ConfigDict(extra="forbid")

    access_count: Count = 0
    last_accessed_at: Moment | None = None
    stability: Positive = 1.0
    difficulty: Positive = 2.5
    half_life: Positive = 30.0
    decayed_at: Moment | None = None
    positive: Count = 0
    negative: Count = 0


class _Link(BaseModel):
    model_config = ConfigDict(extra="forbid")

    older: UUID
    created_at: Moment


class _Conflict(_Link):
    id: UUID
    reason: str
    resolution: Resolution | None = None
    resolved_at: Moment | None = None


class _Origin(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: UUID
    whole: bool
    created_at: Moment


class _Place(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    title: Annotated[str, Field(max_length=200)] = ""
    media: Media = "text"
    is_file: bool = False
    created_at: Moment
    position: Count
    first: Annotated[int, Field(ge=1, le=2**31 - 1)]
    last: Annotated[int, Field(ge=1, le=2**31 - 1)]


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    chat: str
    branch: str = FIRST_BRANCH
    place: Annotated[int, Field(ge=0, le=2**53)]


class _Branch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    chat: str
    name: str
    parent: str = FIRST_BRANCH
    forked_after: Annotated[int, Field(ge=-1, le=2**53)]
    namespace: str | None = None
    created_at: Moment | None = None


class _Record(_Image, Strength):
    id: UUID | None = None
    agent: str | None = None
    model: str | None = None
    versions: list[_Version] = []
    conflicts: list[_Conflict] = []
    near_duplicates: list[_Link] = []
    origins: list[_Origin] = []
    entities: list[EntityRecord] = []
    relations: list[RelationRecord] = []
    document: _Place | None = None
    turns: list[_Turn] = []
    branches: list[_Branch] = []


@dataclass(frozen=True, slots=True)
class VersionRow:
    """An earlier image of a memory, and until when it was current."""

    row: Row
    current_until: datetime


@dataclass(frozen=True, slots=True)
class Incoming:
    """One line that was read: its number from 1, and what it becomes.

    That is a row, its strength, its earlier images, its ties, whom and what it mentions, and where it stands in which
    document, or in which conversations.
    """

    line: int
    row: Row
    strength: Strength
    versions: tuple[VersionRow, ...]
    ties: tuple[Tie, ...] = ()
    naming: Naming = field(default_factory=Naming)
    place: Place | None = None
    standing: Standing = field(default_factory=Standing)

    @property
    def id(self) -> UUID:
        """The id of the memory."""
        return self.row.memory.id

    @property
    def rows(self) -> tuple[Row, ...]:
        """The memory's row and those of its earlier images."""
        return (self.row, *(version.row for version in self.versions))

    def with_rows(self, rows: Sequence[Row]) -> Incoming:
        """The same with other rows, in the order of `rows`."""
        versions = (replace(version, row=row) for version, row in zip(self.versions, rows[1:], strict=True))
        return replace(self, row=rows[0], versions=tuple(versions))


def record_value(value: Any) -> Any:
    """A value of the store as JSON has it; of a vector, the shortest numbers that give the same half-precision ones."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if hasattr(value, "to_numpy"):
        return [float(f"{number:.5g}") for number in value.to_numpy().astype(np.float64).tolist()]
    return value


def record_line(record: Mapping[str, Any]) -> str:
    """A record as its line in a file, without the line break; keys are sorted, so equal records give equal lines."""
    return json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)


def read_record(
    engine: Engine, caller: Caller, record: str | bytes | Mapping[str, Any], line: int, now: datetime
) -> Incoming:
    """The rows that a line, or an object of the same fields, becomes. What is left out takes the default of `remember`.

    Raises:
        InvalidInput: the line cannot be a memory of this caller; the error names the line, the field and the remedy.
    """
    with told_of_line(line):
        parsed = _in_utc(_parse(record), "")
        versions = [_in_utc(version, f"versions[{place}].") for place, version in enumerate(parsed.versions)]
        return _incoming(engine, caller, parsed.model_copy(update={"versions": versions}), line, now)


@contextmanager
def told_of_line(line: int) -> Generator[None]:
    """Name the line that what the block refuses is about."""
    try:
        yield
    except InvalidInput as error:
        field = error.field or f"line {line}"
        raise InvalidInput(f"Line {line}: {error.message}", field=field, remedy=error.remedy) from error


def _parse(record: str | bytes | Mapping[str, Any]) -> _Record:
    try:
        text = record if isinstance(record, str | bytes) else json.dumps(dict(record), default=record_value)
        return _Record.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(step) for step in first["loc"])
        remedy = "Write one JSON object a line." if first["type"] == "json_invalid" else "Correct that value."
        if first["type"] == "extra_forbidden":
            remedy = "Correct its spelling, or take it out; free data belongs in metadata."
        raise InvalidInput(f"{field or 'The record'}: {first['msg']}.", field=field or None, remedy=remedy) from None
    except (TypeError, ValueError, RecursionError, OverflowError):
        raise InvalidInput("The record is not JSON.", remedy="Give an object of JSON values.") from None


def _in_utc(image: Clocked, place: str) -> Clocked:
    """The same with every moment in UTC, if that has a year from 1 to 9999 there."""
    moments = {name: check_moment(value, f"{place}{name}") for name, value in image if isinstance(value, datetime)}
    return image.model_copy(update=moments)


def _incoming(engine: Engine, caller: Caller, record: _Record, line: int, now: datetime) -> Incoming:
    if record.agent not in (None, caller.agent):
        raise InvalidInput(
            "The memory belongs to another agent.", field="agent", remedy="Import it through a handle of that agent."
        )
    id_ = record.id or new_id(record.created_at or now)
    if record.superseded_by == id_:
        raise InvalidInput("A memory cannot supersede itself.", field="superseded_by", remedy="Leave it out.")
    versions = sorted(record.versions, key=lambda version: version.revision)
    revisions = [version.revision for version in versions] + [record.revision]
    if len(set(revisions)) < len(revisions) or max(revisions) > record.revision:
        raise InvalidInput(
            "Every version needs a revision of its own, below the memory's.",
            field="versions",
            remedy="Number them as they were written.",
        )
    row = _row(engine, caller, record, id_, record.model, now, "")
    return Incoming(
        line,
        row,
        Strength.model_validate({name: getattr(record, name) for name in Strength.model_fields}),
        tuple(
            VersionRow(
                _row(engine, caller, version, id_, record.model, now, f"versions[{place}]."), version.current_until
            )
            for place, version in enumerate(versions)
        ),
        tuple(_ties(record, id_)),
        naming_of(record.entities, record.relations),
        _place(record),
        _standing(caller, record, row.memory.namespace),
    )


def _standing(caller: Caller, record: _Record, namespace: str) -> Standing:
    """Where a record is a turn; a branch that does not say so itself was begun where the record lies."""
    turns = tuple(Turn(**dict(one)) for one in record.turns)
    branches: list[Twig] = []
    for place, one in enumerate(record.branches):
        field = f"branches[{place}]."
        values: dict[str, Any] = dict(_in_utc(one, field))
        values["namespace"] = write_namespace(one.namespace or namespace, caller, f"{field}namespace")
        branches.append(Twig(**values))
    return check_standing(caller, Standing(turns, tuple(branches)))


def _place(record: _Record) -> Place | None:
    if record.document is None:
        return None
    document = document_of(record.source)
    if document is None:
        raise InvalidInput(
            "A passage's source is the id of its document.", field="source", remedy="Correct it, or leave document out."
        )
    at = _in_utc(record.document, "document.")
    check_text(at.path, "document.path", 1_000)
    check_text(at.title, "document.title", 200)
    return Place(document, **dict(at))


def _ties(record: _Record, id_: UUID) -> Iterator[Tie]:
    for name, ties in (("conflicts", record.conflicts), ("near_duplicates", record.near_duplicates)):
        for place, tie in enumerate(ties):
            values = dict(_in_utc(tie, f"{name}[{place}]."))
            if "reason" in values:
                check_text(values["reason"], f"{name}[{place}].reason", LONGEST_ID)
            yield Tie(id_, **values)
    for place, origin in enumerate(record.origins):
        at = _in_utc(origin, f"origins[{place}].")
        yield Tie(id_, at.source, at.created_at, whole=at.whole)


def _row(engine: Engine, caller: Caller, image: _Image, id_: UUID, model: str | None, now: datetime, place: str) -> Row:
    place_of = replace(caller, user=image.user, task=image.task, chat=image.chat, branch=None, session=image.session)
    check_caller(place_of)
    checked = validate(_draft(image), place_of, engine.settings, now=now, dimension=engine.dimension, place=place)
    created = image.created_at or now
    updated = image.updated_at or created
    vector = _vector(engine, image.vector, model, f"{place}vector")
    memory = _memory(image, checked, place_of, id_, created, updated).model_copy(
        update={"embedding_pending": vector is None}
    )
    return replace(
        Row.of(memory, vector, _vector(engine, image.context_vector, model, f"{place}context_vector")),
        personal_data=check_texts(image.personal_data, f"{place}personal_data")
        if "personal_data" in image.model_fields_set
        else kinds_of(memory),
        current_since=image.current_since or (updated if image.revision > 1 else created),
        deleted_at=image.deleted_at,
    )


def _draft(image: _Image) -> Draft:
    shared = Draft.model_fields.keys() & _Image.model_fields.keys() - {"vector"}
    return Draft.model_construct(**{name: getattr(image, name) for name in shared})


def _memory(
    image: _Image, checked: Checked, place_of: Caller, id_: UUID, created: datetime, updated: datetime
) -> Memory:
    source = image.source if image.source is None else check_text(image.source, "source", LONGEST_ID)
    taken = {name: getattr(checked, name) for name in Checked.__slots__ if name in Memory.model_fields}
    carried = {
        name: getattr(image, name)
        for name in (
            "status", "maturity", "confirmed_at", "revision", "superseded_by", "last_mentioned_at", "invalidated_at"
        )
    }  # fmt: skip
    return Memory.model_construct(
        id=id_,
        agent=place_of.agent,
        user=place_of.user,
        task=place_of.task,
        chat=place_of.chat,
        session=place_of.session,
        source=source,
        created_at=created,
        updated_at=updated,
        **taken,
        **carried,
    )


def _vector(engine: Engine, numbers: list[float] | None, model: str | None, field: str) -> NDArray[np.float32] | None:
    """A carried vector, digit by digit; None where it comes from another model, or was cut to another dimension."""
    if numbers is None or model is None or model != engine.facts.model_name or len(numbers) != engine.dimension:
        return None
    checked = check_vector(numbers, engine.dimension, field)
    exact = np.array(numbers, dtype=np.float32)
    return exact if abs(float(np.linalg.norm(exact)) - 1.0) < NORM_TOLERANCE else checked
