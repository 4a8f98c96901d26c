"""Turns a draft into the row it will be, or says which field is not acceptable and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.checks import LONGEST_ID, check_json, check_moment, check_text, check_texts, check_vector, check_word
from ebbtide.errors import InvalidInput
from ebbtide.govern.access import write_namespace
from ebbtide.graph.check import check_entities, check_related
from ebbtide.identifiers import parse_id
from ebbtide.text import is_blank
from ebbtide.types.caller import Caller
from ebbtide.types.memory import KINDS, Draft

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ebbtide.govern.rules import RuleBook
    from ebbtide.settings import Settings
    from ebbtide.types.graph import Named, Related

__all__ = ["DEFAULT_KIND", "RESERVED_METADATA", "Checked", "check_share", "validate", "with_kind"]

DEFAULT_KIND = "fact"
DEFAULT_IMPORTANCE = 0.5
DEFAULT_CONFIDENCE = 0.7
LARGEST_SEQUENCE = 2**31 - 1
LONGEST_LIFE_SECONDS = 100 * 366 * 86_400

# The names of a memory's own columns: what they hold is not for the writer of metadata to say.
RESERVED_METADATA = frozenset({
    "tenant", "tenant_id", "id", "agent", "agent_id", "namespace", "user", "user_id", "task", "task_id", "chat",
    "chat_id", "session", "session_id", "seq", "sequence", "speaker", "kind", "content", "content_hash", "search",
    "embedding", "context_embedding", "embedding_pending", "labels", "tags", "metadata", "source", "subject",
    "predicate", "personal_data", "importance", "confidence", "usefulness", "status", "maturity", "confirmed_at",
    "revision", "superseded_by", "created_at", "updated_at", "last_mentioned_at", "observed_at", "valid_from",
    "invalidated_at", "expires_at", "deleted_at", "current_since", "access_count", "last_accessed_at",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft whose every value is acceptable. Times are UTC; `vector`, where given, has norm 1.

    `kind` is None where it was not given, until `with_kind` asks the rules. `document` is what it is a passage of. What
    is `appended` gets its `seq` when it is written: the next place of its chat.
    """

    content: str
    namespace: str
    kind: str | None
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    importance: float
    confidence: float
    subject: str | None
    predicate: str | None
    speaker: str | None
    seq: int | None
    observed_at: datetime | None
    valid_from: datetime | None
    expires_at: datetime | None
    # Its end as the caller put it: a moment, or a time to live that counts from each try anew.
    life: str | None
    supersedes: UUID | None
    vector: NDArray[np.float32] | None
    idempotency_key: str | None
    entities: tuple[Named, ...]
    relation: Related | None
    warnings: tuple[str, ...]
    document: UUID | None = None
    appended: bool = False


def validate(
    draft: Draft,
    caller: Caller,
    settings: Settings,
    *,
    now: datetime,
    dimension: int | None,
    place: str = "",
    document: UUID | None = None,
) -> Checked:
    """The draft with every default filled in.

    `place` leads the names of fields in errors, such as `drafts[3].`.

    Raises:
        InvalidInput: a value is not acceptable; the error names its field and the remedy.
    """
    metadata, warnings = _metadata(draft.metadata, settings, f"{place}metadata")
    return Checked(
        content=_content(draft.content, settings, f"{place}content"),
        namespace=write_namespace(
            None if draft.namespace is None else check_text(draft.namespace, f"{place}namespace", LONGEST_ID * 3),
            caller,
            f"{place}namespace",
        ),
        kind=None if draft.kind is None else check_word(draft.kind, f"{place}kind", KINDS, "a kind of memory"),
        labels=check_texts(draft.labels, f"{place}labels"),
        tags=check_texts(draft.tags, f"{place}tags"),
        metadata=metadata,
        importance=check_share(draft.importance, DEFAULT_IMPORTANCE, f"{place}importance"),
        confidence=check_share(draft.confidence, DEFAULT_CONFIDENCE, f"{place}confidence"),
        subject=_optional_text(draft.subject, f"{place}subject"),
        predicate=_optional_text(draft.predicate, f"{place}predicate"),
        speaker=_optional_text(draft.speaker, f"{place}speaker"),
        seq=_sequence(draft.seq, f"{place}seq"),
        observed_at=check_moment(draft.observed_at, f"{place}observed_at", caller.timezone),
        valid_from=check_moment(draft.valid_from, f"{place}valid_from", caller.timezone),
        expires_at=(expires_at := _expiry(draft, caller, now, place)),
        life=str(expires_at) if draft.ttl_seconds is None else f"{draft.ttl_seconds} s",
        supersedes=parse_id(draft.supersedes, f"{place}supersedes") if draft.supersedes is not None else None,
        vector=check_vector(draft.vector, dimension, f"{place}vector") if draft.vector is not None else None,
        idempotency_key=_optional_text(draft.idempotency_key, f"{place}idempotency_key"),
        entities=check_entities(draft.entities, f"{place}entities"),
        relation=None if draft.relation is None else check_related(draft.relation, f"{place}relation"),
        warnings=tuple(warnings),
        document=document,
    )


def with_kind(draft: Checked, rules: RuleBook) -> Checked:
    """The draft with the kind that the rules on its namespace give to what comes without one, or `fact`."""
    return draft if draft.kind else replace(draft, kind=rules.on(draft.namespace).default_kind or DEFAULT_KIND)


def _content(text: Any, settings: Settings, field: str) -> str:
    checked = check_text(text, field, settings.max_content_characters)
    if is_blank(checked):
        raise InvalidInput(
            "A memory needs content that shows something.",
            field=field,
            remedy="Give text that is not only white space.",
        )
    return checked


def _optional_text(text: Any, field: str) -> str | None:
    if text is None:
        return None
    checked = check_text(text, field, LONGEST_ID)
    if is_blank(checked):
        raise InvalidInput(f"{field} is empty.", field=field, remedy="Leave it out, or give it a value.")
    return checked.strip()


def check_share(value: Any, default: float, field: str) -> float:
    """A number from 0 to 1; the default for None."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{field} must be a number from 0 to 1.", field=field, remedy="Give a number such as 0.7.")
    return float(value)


def _sequence(value: Any, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_SEQUENCE:
        raise InvalidInput(
            f"{field} must be a whole number from 0 on.", field=field, remedy="Count the turns of the chat from 0."
        )
    return value


def _expiry(draft: Draft, caller: Caller, now: datetime, place: str) -> datetime | None:
    if draft.ttl_seconds is None:
        return check_moment(draft.expires_at, f"{place}expires_at", caller.timezone)
    field = f"{place}ttl_seconds"
    if draft.expires_at is not None:
        raise InvalidInput(
            "A memory has one end: ttl_seconds or expires_at.", field=field, remedy="Give only one of the two."
        )
    seconds = draft.ttl_seconds
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_LIFE_SECONDS:
        raise InvalidInput(
            f"{field} must be a positive number of seconds, at most 100 years.",
            field=field,
            remedy="Give seconds from now, such as 86400.",
        )
    return now + timedelta(seconds=seconds)


def _metadata(metadata: Any, settings: Settings, field: str) -> tuple[dict[str, Any], list[str]]:
    if metadata is None:
        return {}, []
    if not isinstance(metadata, Mapping):
        raise InvalidInput(
            "metadata must be an object.", field=field, remedy='Give a dictionary such as {"customer": 7}.'
        )
    given = dict(cast("Mapping[Any, Any]", metadata))
    reserved = sorted(key for key in given if isinstance(key, str) and key.casefold() in RESERVED_METADATA)
    kept = {key: value for key, value in given.items() if key not in reserved}
    check_json(kept, field)
    try:
        encoded = json.dumps(kept, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "metadata is not JSON.",
            field=field,
            remedy="Use only text, finite numbers, booleans, null, lists and objects.",
        ) from None
    if len(encoded.encode()) > settings.max_metadata_bytes:
        raise InvalidInput(
            f"metadata has more than {settings.max_metadata_bytes:,} bytes.",
            field=field,
            remedy="Keep large data elsewhere and store a reference.",
        )
    # As a later read will give it: keys are text, tuples are lists.
    return json.loads(encoded), [f"metadata key {key!r} is reserved and was dropped" for key in reserved]
