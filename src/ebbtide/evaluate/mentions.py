"""Whom and what the items of a data set mention, by the rules that read names and relations from plain text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ebbtide.types.graph import Named, Related
from ebbtide.write.extract.rules import extract

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ebbtide.evaluate.scope import Item
    from ebbtide.types.extraction import Findings, Name
    from ebbtide.types.graph import EntityType

__all__ = ["mentions_of"]

UNTOLD: EntityType = "TOPIC"


def mentions_of(items: Sequence[Item]) -> Mapping[str, Mapping[str, Any]]:
    """By its id what a draft of each item says of entities: `entities`, and `relation` where its text states one.

    A name has one type throughout: the one that most of the texts tell, or else `TOPIC`. Who speaks is mentioned too.
    """
    read = {item.id: extract(item.text, speaker=item.speaker, observed_at=item.observed_at) for item in items}
    types = _types(read.values(), {item.speaker for item in items if item.speaker})
    return {item.id: _said(read[item.id], item.speaker, types) for item in items}


def _types(read: Iterable[Findings], speakers: set[str]) -> Mapping[str, EntityType]:
    told: dict[str, Counter[EntityType]] = {}
    for extraction in read:
        for name in extraction.names:
            if name.type is not None:
                told.setdefault(name.text, Counter())[name.type] += 1
    types: dict[str, EntityType] = dict.fromkeys(speakers, "PERSON")
    for name, counts in told.items():
        types.setdefault(name, max(sorted(counts), key=lambda type_: counts[type_]))
    return types


def _said(extraction: Findings, speaker: str | None, types: Mapping[str, EntityType]) -> Mapping[str, Any]:
    texts = {name.text for name in extraction.names} | ({speaker} if speaker else set[str]())
    said: dict[str, Any] = {"entities": tuple(_named(text, types) for text in sorted(texts))}
    for fact in extraction.facts:
        if fact.subject is not None and fact.object_name is not None:
            said["relation"] = Related(
                subject=_named(fact.subject.text, types, fact.subject),
                predicate=fact.predicate,
                object=_named(fact.object_name.text, types, fact.object_name),
            )
            break
    return said


def _named(text: str, types: Mapping[str, EntityType], name: Name | None = None) -> Named:
    return Named(name=text, type=types.get(text) or (name.type if name is not None else None) or UNTOLD)
