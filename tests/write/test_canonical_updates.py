"""The first changes that anybody tells a memory, with the local model: what replaces, and what never does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.write.frames import change_between
from tests.write.canonical_pairs import KEPT, REPLACED

LEAST_REPLACED = 0.9
MOST_DISPUTED = 4


def told(memory: Ebbtide, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """What became of the newer of each pair, and what a recall by the older one finds afterwards, each pair apart."""
    for place in (0, 1):
        drafts: list[dict[str, Any]] = [
            {"content": pair[place], "namespace": f"pair/{number}"} for number, pair in enumerate(pairs)
        ]
        written = memory.remember_many(drafts)
    found = [memory.recall(pair[0], namespaces=[f"pair/{number}"]) for number, pair in enumerate(pairs)]
    return [(one.outcome, [hit.content for hit in hits]) for one, hits in zip(written, found, strict=True)]


def test_what_is_said_to_be_so_now_replaces_what_was(real_memory: Ebbtide) -> None:
    answers = told(real_memory.scoped(tenant="canonical"), REPLACED)
    replaced = [pair for pair, (outcome, _) in zip(REPLACED, answers, strict=True) if outcome == "superseded"]
    assert len(replaced) >= LEAST_REPLACED * len(REPLACED)
    for (_, newer), (outcome, hits) in zip(REPLACED, answers, strict=True):
        assert outcome != "superseded" or hits == [newer]


def test_another_subject_or_property_and_what_may_be_replace_nothing(real_memory: Ebbtide) -> None:
    outcomes = Counter(outcome for outcome, _ in told(real_memory.scoped(tenant="kept"), KEPT))
    assert outcomes["superseded"] == 0
    assert outcomes["conflict"] <= MOST_DISPUTED


def test_what_changed_is_found_among_much_that_is_known_of_one_subject(real_memory: Ebbtide) -> None:
    memory = real_memory.scoped(tenant="much")
    first: dict[str, str] = {}
    for older, newer in (pair for pair in REPLACED if pair[0].startswith(("I ", "My "))):
        if not any(older.split()[:3] == known.split()[:3] for known in first):
            first[older] = newer
    memory.remember_many([{"content": older} for older in first])
    outcomes = {
        older: (one.outcome, [memory.get(id_).content for id_ in one.related])
        for older, newer in first.items()
        for one in [memory.remember(newer)]
    }
    wrong = {older: one for older, one in outcomes.items() if one[0] == "superseded" and one[1] != [older]}
    assert not wrong
    assert len(first) >= 12
    assert sum(outcome == "superseded" for outcome, _ in outcomes.values()) >= LEAST_REPLACED * len(first) - 2


@pytest.mark.parametrize(
    ("older", "newer", "change"),
    [
        ("I live in Oslo.", "I live in Bergen now.", "same"),
        ("I live in Oslo.", "I relocated to Bergen.", "same"),
        ("The budget is 400 euros.", "The budget was raised to 550 euros.", "same"),
        ("I use Vim.", "I use Emacs now.", "alike"),
        ("I use Vim.", "Ada uses Emacs now.", None),
        ("I live in Oslo.", "I live in Bergen now, but I will be back.", None),
        ("I live in Oslo with Tom.", "I live in Bergen with Ann now.", None),
    ],
)
def test_statements_of_one_frame_say_the_same_property(older: str, newer: str, change: str | None) -> None:
    # However far apart their vectors lie, save where only nearness tells.
    assert change_between(older, newer, 0.0 if change == "same" else 0.6) == change


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My doctor is Ann.", "My doctor is nice now."),
        ("My dentist is Kim.", "My dentist is closed now."),
        ("My city is Oslo.", "My city is noisy now."),
        ("Two friends live in Oslo.", "Two friends live in Rome now."),
        ("Half the team works in Oslo.", "Half the team works in Rome now."),
    ],
)
def test_neither_a_remark_nor_what_some_do_takes_the_place_of_another(older: str, newer: str) -> None:
    assert change_between(older, newer, 0.6) is None
