"""What a merged memory lent to the one that took its place goes with it, and nothing else does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from tests.forget.support import holding


def remember(memory: Ebbtide, content: str, *marks: str) -> UUID:
    marked: dict[str, Any] = {
        "tags": marks,
        "labels": [f"{mark}-label" for mark in marks],
        "metadata": dict.fromkeys(marks, "kept"),
    }
    return memory.remember(content, namespace="vector.x", **marked).memory.id


def merge(memory: Ebbtide) -> UUID:
    """Merge what can be; answers with what stays."""
    seen = memory.consolidate()
    (made,) = memory.consolidate(dry_run=False, token=seen.token).merges
    assert made.kept is not None
    return made.kept


def forget(memory: Ebbtide, id_: UUID) -> None:
    receipt = memory.forget(id_, memory.get(id_).revision)
    check = memory.verify_receipt(receipt.receipt_id)
    assert check.valid, check.problems


def marks_of(memory: Ebbtide, id_: UUID) -> tuple[set[str], set[str], set[str]]:
    one = memory.get(id_)
    return set(one.tags), {label.removesuffix("-label") for label in one.labels}, set(one.metadata)


def test_marks_go_with_the_memory_that_brought_them(memory: Ebbtide, owner: Any) -> None:
    first = remember(memory, "The office is in Hamburg near the harbour", "cow", "both")
    gone = remember(memory, "The office is near the harbour in Hamburg", "zebra", "both")
    assert merge(memory) == first
    assert marks_of(memory, first) == ({"cow", "both", "zebra"},) * 3
    forget(memory, gone)
    assert marks_of(memory, first) == ({"cow", "both"},) * 3
    assert holding(owner, "zebra") == set()


def test_marks_that_two_brought_go_with_the_second(memory: Ebbtide, owner: Any, clock: FixedClock) -> None:
    first = remember(memory, "The office is in Hamburg near the harbour", "cow")
    one = remember(memory, "The office is near the harbour in Hamburg", "zebra")
    assert merge(memory) == first
    clock.advance(timedelta(minutes=1))
    other = remember(memory, "Near the harbour is the office in Hamburg", "zebra")
    assert merge(memory) == first
    forget(memory, one)
    assert marks_of(memory, first) == ({"cow", "zebra"},) * 3
    forget(memory, other)
    assert marks_of(memory, first) == ({"cow"},) * 3
    assert holding(owner, "zebra") == set()


def test_marks_go_all_the_way_that_merges_took_them(memory: Ebbtide, owner: Any, clock: FixedClock) -> None:
    kept = remember(memory, "The office is in Hamburg near the harbour", "cow")
    gone = remember(memory, "The office is near the harbour in Hamburg", "zebra")
    assert merge(memory) == kept
    clock.advance(timedelta(minutes=1))
    last = remember(memory, "The office is in Hamburg near the harbour, by the way", "horse")
    memory.confirm(last)
    assert merge(memory) == last
    forget(memory, gone)
    assert marks_of(memory, last) == ({"cow", "horse"},) * 3
    assert marks_of(memory, kept) == ({"cow"},) * 3
    assert holding(owner, "zebra") == set()


def test_a_memory_that_was_replaced_and_not_merged_lent_nothing(memory: Ebbtide, clock: FixedClock) -> None:
    old = remember(memory, "The office is in Hamburg", "zebra")
    new = memory.supersede(old, "The office is in Bremen", namespace="vector.x").memory
    clock.advance(timedelta(minutes=1))
    memory.revise(new.id, "The office is in Bremen now", tags=["zebra"])
    forget(memory, old)
    assert memory.get(new.id).tags == ("zebra",)
