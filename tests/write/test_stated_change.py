"""A change that a statement on a named subject tells itself, where no dates are known."""

from __future__ import annotations

from typing import Any

import pytest

from ebbtide import Ebbtide
from tests.write.test_update import memory

__all__ = ["memory"]

LIVES: dict[str, Any] = {"subject": "Ann", "predicate": "lives_in"}


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ({}, {"content": "Ann moved to Oslo."}, "superseded"),
        ({}, {"content": "Ann lives in Oslo."}, "conflict"),
        ({}, {"content": "Ann moved to Oslo.", "valid_from": "2025-01-01"}, "superseded"),
        ({"valid_from": "2025-01-01"}, {"content": "Ann moved to Oslo.", "valid_from": "2025-01-01"}, "conflict"),
    ],
)
def test_a_stated_change_decides_where_a_date_is_not_known(
    memory: Ebbtide, old: dict[str, Any], new: dict[str, Any], outcome: str
) -> None:
    first = memory.remember("Ann lives in Berlin.", **LIVES, **old).memory
    answer = memory.remember(**new, **LIVES)
    assert answer.outcome == outcome
    assert answer.related == (first.id,)


def test_an_extracted_move_replaces_where_somebody_lived(memory: Ebbtide) -> None:
    memory.extract("Ann lives in Berlin.")
    (fact,) = memory.extract("Ann moved to Oslo.").facts
    assert fact.outcome == "superseded"
