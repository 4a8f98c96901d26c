"""Odd values at the doors of the graph, of conversations, files and curation: a clear error, or nothing amiss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError, InvalidInput
from tests.graph.test_entities import company, person, says

ODD: list[Any] = [
    None, " ", "a\0b", "\ud800", "\u202e", "\x1b[31m", "\u2028", "x" * 200_000, "a.b." * 10_000, -1, 10**30,
    float("nan"), True, b"bytes", {"a": 1}, [None], ["\ud800"], [[]], object(), set[str](), float, ["x"] * 20_000,
]  # fmt: skip

Door = Callable[[Ebbtide, Any], Any]

DOORS: dict[str, Door] = {
    "types": lambda memory, odd: memory.entities.list(types=odd),
    "text": lambda memory, odd: memory.entities.list(text=odd),
    "after": lambda memory, odd: memory.entities.list(after=odd),
    "entity": lambda memory, odd: memory.entities.get(odd),
    "hops": lambda memory, odd: memory.entities.neighbourhood("Anna", hops=odd),
    "other": lambda memory, odd: memory.entities.merge("Anna", odd),
    "memories": lambda memory, odd: memory.entities.split("Anna", memories=odd),
    "aliases": lambda memory, odd: memory.entities.split("Anna", aliases=odd),
    "alias": lambda memory, odd: memory.entities.add_alias("Anna", odd),
    "change_id": lambda memory, odd: memory.entities.undo(odd),
    "predicate": lambda memory, odd: memory.relations.list(predicate=odd),
    "max_hops": lambda memory, odd: memory.relations.path("Anna", "Acme", max_hops=odd),
    "entities": lambda memory, odd: memory.remember("x y", entities=[{"name": odd, "type": odd, "aliases": odd}]),
    "relation": lambda memory, odd: memory.remember("x y", relation=odd),
    "role": lambda memory, odd: memory.episodes.add("x y", role=odd),
    "key": lambda memory, odd: memory.episodes.add("x y", idempotency_key=odd),
    "at": lambda memory, odd: memory.episodes.fork(at=odd),
    "branch": lambda memory, odd: memory.episodes.transcript(branch=odd),
    "said": lambda memory, odd: memory.extract(odd, write=False),
    "speaker": lambda memory, odd: memory.extract("I live in Rome", speaker=odd, write=False),
    "where": lambda memory, odd: memory.extract("Anna lives in Rome.", namespace=odd),
    "ids": lambda memory, odd: memory.extract(ids=odd),
    "file": lambda memory, odd: memory.ingest(text=odd),
    "name": lambda memory, odd: memory.ingest(text="a b", name=odd),
    "place": lambda memory, odd: memory.ingest(text="a b", namespace=odd),
    "title": lambda memory, odd: memory.ingest(text="a b", title=odd),
    "tokens": lambda memory, odd: memory.ingest(text="a b", max_tokens=odd),
    "document": lambda memory, odd: memory.documents.get(odd),
    "token": lambda memory, odd: memory.consolidate(dry_run=False, token=odd),
}


def raised_by(door: Door, memory: Ebbtide, odd: Any) -> EbbtideError | None:
    try:
        door(memory, odd)
    except EbbtideError as error:
        return error
    return None


@pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
def test_an_odd_value_is_refused_by_its_name_or_does_no_harm(memory: Ebbtide, door: Door) -> None:
    chat = memory.scoped(chat="c")
    says(chat, "Anna works at Acme", person("Anna"), "works at", company("Acme"))
    for odd in ODD:
        error = raised_by(door, chat, odd)
        if error is not None:
            assert error.remedy, odd
            assert not isinstance(error, InvalidInput) or error.field, odd
            assert str(error).encode()
            assert len(str(error)) < 2_000


def test_an_export_leads_only_where_it_may(memory: Ebbtide, tmp_path: Path) -> None:
    for odd in (*ODD[2:4], *ODD[9:18], *ODD[19:]):
        with pytest.raises(InvalidInput) as caught:
            memory.export_markdown(odd)
        assert caught.value.field == "folder"
    assert list(tmp_path.iterdir()) == []
