"""Policies: what an agent may read and write, for its tasks field by field, with templates filled in at run time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
)

from ebbtide.checks import LONGEST_WORD, check_text, check_texts
from ebbtide.govern.namespaces import TEMPLATE, check_pattern
from ebbtide.rank.profile import MAXIMUM_LIMIT
from ebbtide.types.base import Given
from ebbtide.types.caller import Grant

if TYPE_CHECKING:
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = [
    "EffectiveField",
    "EffectivePolicy",
    "Policy",
    "Stored",
    "effective",
    "grant_of",
    "stored_policies",
]

PLACEHOLDERS = {"user_id": "user", "chat_id": "chat", "session_id": "session"}
PATHS = ("read", "tool_read", "write", "allowed_write")
WILD = ("read", "tool_read")
DEFAULTS: Mapping[str, Any] = {
    "read": (),
    "tool_read": (),
    "write": None,
    "allowed_write": (),
    "top_k": 5,
    "min_score": None,
    "relative_cutoff": None,
    "profile": None,
    "allow_write": False,
    "allow_tool_write": False,
    "allow_tool_delete": False,
}
INHERIT = "inherit"

Source = Literal["task", "agent", "default"]
Patterns = Sequence[str]


class Policy(Given):
    """What an agent may read and write, or where a task of it differs.

    A field that is left out, empty or "inherit" falls back: a task's to the agent's, the agent's to the default.
    In a namespace `${user_id}`, `${chat_id}` and `${session_id}` are filled in at run time, each into one segment.

    Attributes:
        read: patterns of what enters the context by itself; `*` stands for any remainder.
        tool_read: patterns of what the agent can search on request. The two lists are never merged.
        write: the namespace it writes to unless it names one.
        allowed_write: the further namespaces it may write to.
        top_k: results of a recall, 1 to 200; 5 unless set.
        min_score: the least relevance of a hit, 0 or more; the profile's unless set.
        relative_cutoff: the share of the best relevance that a hit must reach, 0 to 1; the profile's unless set.
        profile: the name of the ranking; the caller's choice unless set.
        allow_write: whether the agent writes at all of itself.
        allow_tool_write, allow_tool_delete: whether its tools may write, and forget.

    Raises:
        InvalidInput: a field is not acceptable; the error names it.
    """

    read: Patterns | None = None
    tool_read: Patterns | None = None
    write: str | None = None
    allowed_write: Patterns | None = None
    top_k: Annotated[int, Field(strict=True, ge=1, le=MAXIMUM_LIMIT)] | None = None
    min_score: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    relative_cutoff: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    profile: str | None = None
    allow_write: StrictBool | None = None
    allow_tool_write: StrictBool | None = None
    allow_tool_delete: StrictBool | None = None

    @classmethod
    def default(cls) -> Policy:
        """An agent's user's own memory: it reads all of that and adds to it, but its tools forget nothing."""
        own = "vector.agent.${user_id}"
        return cls(
            read=(f"{own}.*",),
            tool_read=(f"{own}.*",),
            write=f"{own}.memory",
            allowed_write=(f"{own}.memory", f"{own}.howto"),
            allow_write=True,
            allow_tool_write=True,
            allow_tool_delete=False,
        )

    @field_validator("read", "tool_read", "allowed_write", mode="before")
    @classmethod
    def _check_patterns(cls, value: Any, info: ValidationInfo) -> Any:
        field = str(info.field_name)
        return tuple(_checked_path(pattern, field) for pattern in check_texts(value, field)) or None

    @field_validator("write", mode="before")
    @classmethod
    def _check_write(cls, value: Any) -> Any:
        return None if value is None else _checked_path(check_text(value, "write", LONGEST_WORD).strip(), "write")

    @field_validator("profile", mode="before")
    @classmethod
    def _check_profile(cls, value: Any) -> Any:
        return None if value is None else check_text(value, "profile", LONGEST_WORD)

    # Pydantic runs the validators of this mode backwards: this one, declared last, comes before the others.
    @field_validator("*", mode="before")
    @classmethod
    def _inherit(cls, value: Any) -> Any:
        given: object = value.strip() if isinstance(value, str) else value
        return None if given in ("", INHERIT, [], (), set()) else value

    @classmethod
    def remedy_for(cls, field: str) -> str:
        return f"Correct {field}, or leave it out to inherit it."


class EffectiveField(BaseModel):
    """A field's value, which policy it comes from, and for namespaces what its templates become.

    A namespace whose placeholder has no value is left out of `filled`: it can be neither read nor written.
    """

    model_config = ConfigDict(frozen=True)

    value: Any
    source: Source
    filled: Any = None


class EffectivePolicy(BaseModel):
    """What holds for an agent and a task; `exists` is false where neither has a policy, and nothing is allowed."""

    model_config = ConfigDict(frozen=True)

    agent: str
    task: str | None
    exists: bool
    read: EffectiveField
    tool_read: EffectiveField
    write: EffectiveField
    allowed_write: EffectiveField
    top_k: EffectiveField
    min_score: EffectiveField
    relative_cutoff: EffectiveField
    profile: EffectiveField
    allow_write: EffectiveField
    allow_tool_write: EffectiveField
    allow_tool_delete: EffectiveField


def _checked_path(pattern: str, field: str) -> str:
    return check_pattern(pattern, field, templates=frozenset(PLACEHOLDERS), wildcards=field in WILD)


@dataclass(frozen=True, slots=True)
class Stored:
    """The fields that an agent's policy and its task's set, None where there is no such policy, as of one revision."""

    agent: Mapping[str, Any] | None
    task: Mapping[str, Any] | None
    revision: UUID | None

    @property
    def exists(self) -> bool:
        """Whether there is a policy at all."""
        return self.agent is not None or self.task is not None

    def resolved(self) -> dict[str, tuple[Any, Source]]:
        """Each field's value and where it comes from: the task's policy, the agent's below it, or the default."""
        layers: tuple[tuple[Source, Mapping[str, Any]], ...] = (
            ("task", self.task or {}),
            ("agent", self.agent or {}),
            ("default", DEFAULTS),
        )
        return {
            field: next((_frozen(layer[field]), source) for source, layer in layers if field in layer)
            for field in DEFAULTS
        }


def _frozen(value: Any) -> Any:
    return tuple(cast("list[str]", value)) if isinstance(value, list) else value


def fill(pattern: str, caller: Caller) -> str | None:
    """The pattern with the caller's values in place of its placeholders; None where one of them has no value.

    The values are single segments already: `check_caller` lets no other into a caller.
    """
    values = {name: getattr(caller, of) for name, of in PLACEHOLDERS.items()}
    if _lacking(pattern, caller) is not None:
        return None
    return TEMPLATE.sub(lambda found: values[found[1]], pattern)


def _lacking(pattern: str, caller: Caller) -> str | None:
    names = (found[1] for found in TEMPLATE.finditer(pattern))
    return next((name for name in names if getattr(caller, PLACEHOLDERS[name]) is None), None)


def _filled(patterns: Iterable[str], caller: Caller) -> tuple[str, ...]:
    made = (fill(pattern, caller) for pattern in patterns)
    return tuple(pattern for pattern in made if pattern is not None)


def grant_of(stored: Stored, caller: Caller) -> Grant:
    """What stored policies grant a caller."""
    resolved = stored.resolved()
    values: dict[str, Any] = {field: value for field, (value, _) in resolved.items()}
    for field in ("read", "tool_read", "allowed_write"):
        values[field] = _filled(values[field], caller)
    write: str | None = values["write"]
    if write is not None:
        values |= {"write": fill(write, caller), "lacking": _lacking(write, caller)}
    if resolved["top_k"][1] == "default":
        values["top_k"] = None
    return Grant(**values, revision=stored.revision)


async def stored_policies(transaction: Transaction, tenant: str, agent: str, task: str | None) -> Stored:
    """The policies of an agent and a task as they are stored."""
    row = await transaction.one("govern.policies", tenant=tenant, agent=agent, task=task)
    return Stored(*row)


def effective(agent: str, stored: Stored, caller: Caller) -> EffectivePolicy:
    """What stored policies come to for a caller: each field's value, its source, and what its templates become."""
    fields = {
        field: EffectiveField(value=value, source=source, filled=_shown(field, value, caller))
        for field, (value, source) in stored.resolved().items()
    }
    return EffectivePolicy(agent=agent, task=caller.task, exists=stored.exists, **fields)


def _shown(field: str, value: Any, caller: Caller) -> Any:
    if field not in PATHS or value is None:
        return None
    return fill(value, caller) if field == "write" else _filled(value, caller)
