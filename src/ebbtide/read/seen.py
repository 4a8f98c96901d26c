"""Memories as their caller may see them: personal data by the rules, and no ids of what lies out of reach."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ebbtide.govern.access import is_readable
from ebbtide.govern.personal import holds_personal_data, kinds_of, redact, redactions
from ebbtide.govern.rules import rules_in
from ebbtide.read.personal import shown

if TYPE_CHECKING:
    from uuid import UUID

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory, Version

__all__ = ["hidden_among", "listed", "records_seen", "seen", "versions_seen", "without_hidden"]


async def seen(engine: Engine, transaction: Transaction, caller: Caller, memories: Sequence[Memory]) -> list[Memory]:
    """What a caller that asks by ids is shown: the owner as it is stored, a policed one as the rules let it be seen."""
    if caller.access is None:
        return list(memories)
    return await listed(engine, transaction, caller, memories)


async def listed(engine: Engine, transaction: Transaction, caller: Caller, memories: Sequence[Memory]) -> list[Memory]:
    """What anybody is shown who lists a scope: redacted or left out as the rules on the namespaces say."""
    rules = await rules_in(engine, transaction, caller.tenant)
    kept = memories
    if rules.screens:
        kept = [made for one in memories if (made := shown(one, None, rules)) is not None]
    return await without_hidden(transaction, caller, kept)


async def without_hidden(transaction: Transaction, caller: Caller, memories: Iterable[Memory]) -> list[Memory]:
    """The memories without the ids of successors that the caller cannot read: those are as if they were not there."""
    ordered = list(memories)
    hidden = await hidden_among(transaction, caller, [one.superseded_by for one in ordered])
    if not hidden:
        return ordered
    return [one.model_copy(update={"superseded_by": None}) if one.superseded_by in hidden else one for one in ordered]


async def hidden_among(transaction: Transaction, caller: Caller, ids: Iterable[UUID | None]) -> set[UUID]:
    """Those of some memories that a policed caller cannot read, or that are not there; the owner reads them all."""
    asked = {id_ for id_ in ids if id_ is not None}
    if caller.access is None or not asked:
        return set()
    rows = await transaction.all("memory.places", tenant=caller.tenant, agent=caller.agent, ids=list(asked))
    return asked - {id_ for id_, namespace in rows if is_readable(caller, namespace)}


def versions_seen(versions: Sequence[Version], mode: str | None, hidden: set[UUID]) -> list[Version]:
    """The images of a memory as a policed caller may see them, by what the rules on its namespace say."""
    kept: list[Version] = []
    for one in versions:
        if mode in ("drop", "quarantine") and holds_personal_data(one.content):
            continue
        content = redact(one.content) if mode == "redact" else one.content
        successor = None if one.superseded_by in hidden else one.superseded_by
        kept.append(one.model_copy(update={"content": content, "superseded_by": successor}))
    return kept


def records_seen(
    records: Iterable[Mapping[str, Any]], rules: RuleBook, hidden: Collection[UUID]
) -> list[dict[str, Any]]:
    """Records of an export as a policed caller may see them; those that the rules withhold are left out."""
    names = {str(id_) for id_ in hidden}
    kept: list[dict[str, Any]] = []
    for record in records:
        image = _image_seen(record, rules, names)
        if image is not None:
            versions = (_image_seen(version, rules, names) for version in record["versions"])
            image["versions"] = [version for version in versions if version is not None]
            if "origins" in image:
                image["origins"] = [origin for origin in image["origins"] if origin["source"] not in names]
            if "entities" in image:
                image["entities"] = [_without_removed(one) for one in image["entities"]]
            kept.append(image)
    return kept


def _without_removed(entity: Mapping[str, Any]) -> dict[str, Any]:
    """An entity of a record without the names that a person took from it."""
    gone = set(entity.get("removed", ()))
    lists = {key: [name for name in entity[key] if name not in gone] for key in ("aliases", "learnt") if key in entity}
    return {key: value for key, value in entity.items() if key != "removed"} | lists


def _image_seen(image: Mapping[str, Any], rules: RuleBook, hidden: Collection[str]) -> dict[str, Any] | None:
    values = dict(image)
    if values["superseded_by"] in hidden:
        values["superseded_by"] = None
    if not rules.screens:
        return values
    # Of the turn before there is a part in it, and that may be withheld.
    values["context_vector"] = None
    mode = rules.on(values["namespace"]).personal_data
    if mode not in (None, "allow"):
        values |= _names_kept(values)
        # The path of a file is its name, which cannot be kept in part.
        if any(holds_personal_data(values.get("document", {}).get(name, "")) for name in ("path", "title")):
            del values["document"]
    said: Any = SimpleNamespace(**values)
    if mode in (None, "allow") or not kinds_of(said):
        return values
    if mode != "redact":
        return None
    made = redactions(said)
    lists = {name: list(made[name]) for name in ("labels", "tags")}
    # The values could be read out of a vector of the text as it is.
    return {**values, **made, **lists, "personal_data": [], "vector": None}


def _names_kept(image: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says of entities without names that hold personal data, nor what was said of those."""
    kept: list[dict[str, Any]] = []
    for one in image.get("entities", ()):
        if not holds_personal_data(one["name"]):
            lists = {
                key: [name for name in one[key] if not holds_personal_data(name)]
                for key in ("aliases", "learnt", "added")
                if key in one
            }
            kept.append({**one, **lists})
    ids = {one["id"] for one in kept}
    relations = [one for one in image.get("relations", ()) if {one["subject"], one["object"]} <= ids]
    made: dict[str, Any] = {}
    if "entities" in image:
        made["entities"] = kept
    if "relations" in image:
        made["relations"] = relations
    return made
