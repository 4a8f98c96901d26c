"""The shares of a context block: the numbers of its source, and in proportion where there is a budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.read.shares import TOTAL_TOKENS, WINDOWS, Part, part_of, shares_of
from ebbtide.types.context import SECTIONS
from ebbtide.types.recall import INTENTS, Intent

PARTS: tuple[Part, ...] = ("selected", "memory", "project", "files")


@pytest.mark.parametrize(
    ("intent", "tokens", "first"),
    [
        ("decision", 2_000, ("facts", "relations", "episodes", "chunks")),
        ("exploratory", 3_000, ("facts", "relations", "chunks", "serendipity")),
        ("temporal", 2_000, ("episodes", "facts", "relations", "chunks")),
        ("factual", 1_500, ("facts", "relations", "chunks", "notes")),
        ("comparative", 3_000, ("facts", "relations", "chunks", "notes")),
        ("relationship", 1_500, ("relations", "facts", "episodes", "chunks")),
    ],
)
def test_the_window_of_each_intent(intent: Intent, tokens: int, first: tuple[str, ...]) -> None:
    assert (WINDOWS[intent].memory_tokens, WINDOWS[intent].first) == (tokens, first)


def test_every_intent_has_a_window_with_every_section_once() -> None:
    assert set(WINDOWS) == set(INTENTS)
    for window in WINDOWS.values():
        assert sorted(window.order) == sorted(SECTIONS)
        assert (window.order[0], window.order[-1]) == ("selected", "project")


def test_the_defaults_of_all_parts() -> None:
    shares = shares_of(WINDOWS["factual"], PARTS, None)
    assert (shares.whole, shares.strict) == (16_000, True)
    assert shares.parts == {"selected": 1_500, "memory": 1_500, "project": 3_000, "files": 4_000}


def test_a_block_of_one_part_is_no_larger_than_that() -> None:
    assert shares_of(WINDOWS["decision"], ["memory"], None).whole == 2_000
    assert shares_of(WINDOWS["decision"], ["files"], None).whole == 4_000


def test_a_budget_is_shared_in_proportion() -> None:
    shares = shares_of(WINDOWS["factual"], PARTS, 1_000)
    assert shares.parts == {"selected": 150, "memory": 150, "project": 300, "files": 400}
    assert shares_of(WINDOWS["factual"], ["memory"], 1_000).parts == {"memory": 1_000}


@given(st.sampled_from(INTENTS), st.sets(st.sampled_from(PARTS), min_size=1), st.none() | st.integers(0, 10**12))
def test_shares_never_pass_the_whole(intent: Intent, present: set[Part], budget: int | None) -> None:
    shares = shares_of(WINDOWS[intent], present, budget)
    assert sum(shares.parts.values()) <= shares.whole
    assert shares.whole <= TOTAL_TOKENS if budget is None else shares.whole == budget
    assert set(shares.parts) == present


def test_sections_draw_on_their_part() -> None:
    assert [part_of(section) for section in SECTIONS] == [
        "selected", "memory", "memory", "memory", "memory", "files", "memory", "project",
    ]  # fmt: skip
