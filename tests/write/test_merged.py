"""Whether one text says what several say: what no rearranging of words changes, and what any loss does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.write.merged import what_is_amiss

WORDS = (
    "calm",
    "harbour",
    "window",
    "garden",
    "yellow",
    "paper",
    "music",
    "river",
    "stone",
    "basket",
    "lemon",
    "carpet",
)
wordings = st.lists(st.sampled_from(WORDS), min_size=2, max_size=8, unique=True)


@given(wordings, wordings, st.integers(1, 9_999))
def test_all_words_of_both_with_their_number_stand_for_both(one: list[str], other: list[str], number: int) -> None:
    sources = [f"The {' '.join(one)} of {number}", f"The {' '.join(other)} of {number}"]
    merged = f"The {' '.join(dict.fromkeys([*one, *other]))} of {number}"
    assert what_is_amiss(merged, sources) is None
    assert what_is_amiss(merged.replace(str(number), str(number + 1)), sources) is not None
    assert what_is_amiss(f"Not {merged}", sources) is not None
    assert what_is_amiss(f"{merged} in Oslo", sources) is not None


@given(wordings, st.data())
def test_of_fewer_than_six_words_none_may_go(words: list[str], data: st.DataObject) -> None:
    lost = data.draw(st.sampled_from(words))
    left = [word for word in words if word != lost]
    amiss = what_is_amiss(f"The {' '.join(left)}", [f"The {' '.join(words)}"])
    assert (amiss is None) == (len(words) >= 6)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The calm garden", None),
        ("The calm garden " * 3, "longer"),
        ("The wild garden", "leaves out"),
        ("The calm yellow garden", "no source says"),
        ("Der calm garden und das", "language"),
    ],
)
def test_the_reason_says_what_is_amiss(text: str, reason: str | None) -> None:
    amiss = what_is_amiss(text, ["The calm garden", "Calm the garden"])
    assert amiss is None if reason is None else reason in str(amiss)
