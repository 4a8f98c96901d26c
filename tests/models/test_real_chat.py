"""What a real chat model makes of plain texts, where one is given: its answers are taken, and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ebbtide.models.chat import ChatModel
from ebbtide.models.extractor import HttpExtractor
from ebbtide.models.summariser import HttpSummariser
from tests.conftest import Opener
from tests.models.local_chat import serving
from tests.paths.test_merging import NORTH
from tests.stores import SETTINGS

pytestmark = [
    pytest.mark.skipif("EBBTIDE_TEST_CHAT_MODEL" not in os.environ, reason="no chat model is given"),
    pytest.mark.timeout(3_600),
]

PATIENCE_SECONDS = 600
TEXT = "Ann works at Acme. She lives in Oslo."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(os.environ["EBBTIDE_TEST_CHAT_MODEL"]) as address:
        yield address


async def test_it_finds_a_fact_in_a_plain_text(url: str) -> None:
    one = HttpExtractor(ChatModel(url, "local", timeout_seconds=PATIENCE_SECONDS))
    found = await one.extract(TEXT, speaker=None, observed_at=None)
    await one.close()

    assert found.facts
    for fact in found.facts:
        assert fact.object in TEXT[fact.start : fact.end]


async def test_it_summarises_a_talk(url: str) -> None:
    one = HttpSummariser(ChatModel(url, "local", timeout_seconds=PATIENCE_SECONDS))
    made = await one.summarise("", "Ann: I start at Acme on Monday.\nBob: Will you move?\nAnn: Yes, to Oslo.", 40)
    await one.close()

    assert "Ann" in made.summary


def test_it_makes_one_text_of_two_or_leaves_both(url: str, open_store: Opener) -> None:
    changed = {"consolidator": f"{url}#local", "consolidator_timeout_seconds": 600.0}
    memory = open_store(settings=SETTINGS.model_copy(update=changed))
    texts = ("The gate code is 4711.", "The gate code at the back door is 4711.")
    for text in texts:
        memory.remember(text, vector=NORTH)
    planned = memory.consolidate(by="model")
    assert all(one.text is not None for one in planned.unmerged)
    memory.consolidate(by="model", dry_run=False, token=planned.token)
    left = {one.content for one in memory.browse()}

    assert left == set(texts) or (planned.count == 1 and len(left) == 1 and "4711" in left.pop())
