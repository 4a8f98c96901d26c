"""Batches of similar length, and running several at once."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import ModelInvalid
from ebbtide.models.batches import batches_of_similar_length, run_batches


@given(lengths=st.lists(st.integers(1, 300)), budget=st.integers(1, 600))
def test_every_index_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = batches_of_similar_length(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget
    ordered = [lengths[index] for batch in batches for index in batch]
    assert ordered == sorted(lengths)


@pytest.mark.parametrize("lanes", [1, 3])
async def test_no_more_run_at_once_than_there_are_lanes(lanes: int) -> None:
    running, most, done = 0, 0, []

    async def work(batch: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.001)
        running -= 1
        done.append(batch)

    await run_batches(range(10), work, lanes)
    assert sorted(done) == list(range(10))
    assert most == lanes


@pytest.mark.parametrize("lanes", [1, 3])
async def test_an_error_is_raised_as_itself_with_its_cause(lanes: int) -> None:
    async def work(batch: int) -> None:
        await anyio.sleep(0.001)
        if batch == 1:
            raise ModelInvalid("wrong") from ValueError("why")

    with pytest.raises(ModelInvalid, match="wrong") as caught:
        await run_batches(range(10), work, lanes)
    assert isinstance(caught.value.__cause__, ValueError)
