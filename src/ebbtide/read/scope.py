"""The scope of a read: who asks, where, for which memories and as of when; the parameters of every statement."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from ebbtide.arguments import meant
from ebbtide.checks import check_flag, check_moment, check_texts, check_timezone, check_word, written_json
from ebbtide.db.arrays import text_array
from ebbtide.errors import InvalidInput
from ebbtide.govern.namespaces import NamespaceScope, read_scope
from ebbtide.read.filters import CompiledFilter, compile_filter
from ebbtide.read.where import Filter
from ebbtide.text import shown
from ebbtide.types.caller import Caller
from ebbtide.types.memory import KINDS
from ebbtide.types.recall import TagFilter

__all__ = ["ASKED", "NARROWED", "SCOPED", "Scope", "check_known", "make_scope"]

NARROWED = frozenset({"namespaces", "kinds", "labels", "tags", "where"})
"""The public arguments that say which memories."""

SCOPED = NARROWED | {"as_of", "valid_at", "include_superseded"}
"""The public arguments of everything that reads."""

ASKED = SCOPED | {"profile", "intent", "limit", "min_score", "min_similarity", "vector", "rerank", "timezone"}
"""The public arguments of everything that searches."""


def _tag_lists(tags: TagFilter) -> dict[str, list[str] | None]:
    return {f"tags_{name}": None if value is None else list(value) for name, value in tags}


EVERYTHING = NamespaceScope(everything=True)
MOMENTS = frozenset({"now", "valid_at", "as_of", "with_superseded"})
ANY_TAGS = TagFilter()
ANY_LISTS = _tag_lists(ANY_TAGS)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a read may see.

    `as_of` is system time, None for the present; `valid_at` is when it must have been true. `of_time` are the stretches
    of time it must be of, None for any: a memory is of the moment it was observed, else of the one since when it is
    true, else of when it was written. `apart` are memories of other branches of the caller's chat; None for none.
    `mentioning` are the memories that mention what a search is narrowed to, None for any.
    """

    caller: Caller
    namespaces: NamespaceScope
    kinds: tuple[str, ...] | None
    labels: tuple[str, ...] | None
    tags: TagFilter
    where: CompiledFilter | None
    now: datetime
    valid_at: datetime
    as_of: datetime | None
    include_superseded: bool
    of_time: tuple[tuple[datetime | None, datetime | None], ...] | None = None
    apart: tuple[UUID, ...] | None = None
    mentioning: tuple[UUID, ...] | None = None

    @property
    def unfiltered(self) -> bool:
        """Whether nothing but the namespace narrows the scope."""
        fields = (self.kinds, self.labels, self.where, self.of_time, self.apart, self.mentioning)
        return all(value is None for value in fields) and self.tags == ANY_TAGS

    @property
    def whole(self) -> bool:
        """Whether it is everything that the agent's memories say at present: nothing narrows it at all."""
        return self.as_of is None and self.namespaces == EVERYTHING and self.unfiltered

    @property
    def key(self) -> Hashable:
        """What two reads of the same namespaces share."""
        return (self.caller.agent, self.namespaces)

    @property
    def suffix(self) -> str:
        """The ending of the statements that read the store as it was."""
        return "" if self.as_of is None else "_past"

    def within(self, kinds: tuple[str, ...] | None) -> Scope:
        """The scope with these kinds where it names none itself."""
        return self if kinds is None or self.kinds is not None else replace(self, kinds=kinds)

    def parameters(self, *, with_superseded: bool | None = None) -> dict[str, Any]:
        """The values of every placeholder in the fragment `readable`."""
        tags = ANY_LISTS if self.tags is ANY_TAGS else _tag_lists(self.tags)
        values: dict[str, Any] = {
            **self.names(),
            "unfiltered": self.unfiltered,
            "kinds": None if self.kinds is None else list(self.kinds),
            "labels": None if self.labels is None else list(self.labels),
            **tags,
            "of_time": None if self.of_time is None else _ranges(self.of_time),
            "apart": None if self.apart is None else list(self.apart),
            "mentioning": None if self.mentioning is None else list(self.mentioning),
            "metadata_path": None if self.where is None else self.where.path,
            "metadata_values": None if self.where is None else json.dumps(self.where.values),
            "now": self.now if self.as_of is None else self.as_of,
            "valid_at": self.valid_at,
            "with_superseded": self.include_superseded if with_superseded is None else with_superseded,
        }
        return values if self.as_of is None else {**values, "as_of": self.as_of}

    def narrowing(self) -> dict[str, Any]:
        """Whose memories are meant, and which of them, whenever that is asked."""
        return {name: value for name, value in self.parameters().items() if name not in MOMENTS}

    def names(self) -> dict[str, Any]:
        """The values of the placeholders that say whose memories, and in which namespaces."""
        return {
            "tenant": self.caller.tenant,
            "agent": self.caller.agent,
            "everything": self.namespaces.everything,
            "exact": text_array(self.namespaces.exact),
            "prefixes": text_array(self.namespaces.prefixes),
            "expressions": text_array(self.namespaces.expressions),
            "foreign": text_array(self.namespaces.foreign),
            "own": text_array(self.namespaces.own),
        }


def _ranges(stretches: Sequence[tuple[datetime | None, datetime | None]]) -> str:
    """Stretches of time as a multirange; None is an open end."""
    ends = [["" if moment is None else moment.isoformat() for moment in stretch] for stretch in stretches]
    return "{" + ",".join(f"[{start},{end})" for start, end in ends) + "}"


def check_known(given: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse an argument that the caller's verb does not have; those of the steps below are not the caller's to give.

    Raises:
        InvalidInput: naming the argument, and those there are.
    """
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InvalidInput(
            f"There is no argument {shown(unknown)}.",
            field=unknown,
            remedy=f"{meant(unknown, known)}Use {', '.join(sorted(known))}.",
        )


def make_scope(
    caller: Caller,
    now: datetime,
    *,
    namespaces: Sequence[str] | str | None = None,
    kinds: Sequence[str] | str | None = None,
    labels: Sequence[str] | str | None = None,
    tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
    where: Filter | Mapping[str, Any] | None = None,
    as_of: Any = None,
    valid_at: Any = None,
    include_superseded: bool = False,
    timezone: str | None = None,
) -> Scope:
    """The scope that a read's arguments describe. A moment read `as_of` is also when things must have been true.

    Raises:
        InvalidInput: an argument is malformed; the error names it.
    """
    if timezone is not None:
        caller = replace(caller, timezone=check_timezone(timezone))
    past = check_moment(as_of, "as_of", caller.timezone)
    true_at = check_moment(valid_at, "valid_at", caller.timezone)
    return Scope(
        caller=caller,
        namespaces=read_scope(namespaces, caller),
        kinds=_kinds(kinds),
        labels=check_texts(labels, "labels") or None,
        tags=_tags(tags),
        where=compile_filter(where, timezone=caller.timezone),
        now=now,
        valid_at=true_at or past or now,
        as_of=past,
        include_superseded=check_flag(include_superseded, "include_superseded"),
    )


def _kinds(kinds: Sequence[str] | str | None) -> tuple[str, ...] | None:
    listed = check_texts(kinds, "kinds") or None
    for kind in listed or ():
        check_word(kind, "kinds", KINDS, "a kind of memory")
    return listed


def _tags(tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None) -> TagFilter:
    """A list means all of them; an object may say any, all, none and exact."""
    if isinstance(tags, str):
        tags = written_json(tags, dict) or tags
    if tags is None:
        return ANY_TAGS
    if isinstance(tags, TagFilter):
        # Whoever made it checked types at most; what it holds has to be text that can be stored.
        tags = {name: value for name, value in tags if value is not None}
    if not isinstance(tags, Mapping):
        return TagFilter(all=check_texts(tags, "tags") or None)
    if not tags.keys() <= TagFilter.model_fields.keys():
        raise InvalidInput(
            "tags has an unknown entry.",
            field="tags",
            remedy='Use {"any": […], "all": […], "none": […], "exact": […]}.',
        )
    lists = {name: check_texts(value, f"tags.{name}") for name, value in tags.items()}
    # All of no tags, or none of no tags, is what every memory has: no filter.
    return TagFilter(**{name: v for name, v in lists.items() if v or name not in ("all", "none")})
