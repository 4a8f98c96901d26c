"""The evaluation as a whole: a data set is remembered, asked and measured, without leaving traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbtide.errors import InvalidInput, ModelUnavailable
from ebbtide.evaluate.run import evaluate
from ebbtide.evaluate.scope import EvaluationScope, Item, Question
from ebbtide.models.fake import FakeEmbedder, FakeReranker
from ebbtide.rank.profile import Profile
from ebbtide.settings import Settings

DAY = datetime(2025, 6, 1, tzinfo=UTC)


def item(id_: str, text: str, **fields: Any) -> Item:
    return Item(id=id_, text=text, kind="fact", namespace="vector.global.memory", observed_at=DAY, **fields)


GARDEN = EvaluationScope(
    name="garden",
    description="",
    items=(
        item("g1", "The leeks grow in the north bed"),
        item("g2", "The beans grow in the south bed"),
        item("g3", "The leeks grow in the greenhouse now", supersedes="g1"),
        item("g4", "Compost arrives on Mondays", chat="week 1", sequence=0, speaker="Ada"),
        item("g5", "And straw arrives on Fridays", chat="week 1", sequence=1, speaker="Ben"),
    ),
    questions=(
        Question(id="1", text="Where do the leeks grow?", evidence=("g3",), type="update", scope="garden"),
        Question(id="2", text="When does straw arrive?", evidence=("g5",), type="keyword", scope="garden"),
        Question(id="3", text="Who won?", evidence=(), type="none", scope="garden"),
    ),
)
KITCHEN = EvaluationScope(
    name="kitchen",
    description="",
    items=(item("k1", "The beans soak in the blue bowl"), item("k2", "The beans grow in the south bed")),
    questions=(
        Question(id="1", text="Where do beans soak?", evidence=("k1",), type="keyword", scope="kitchen"),
        Question(id="2", text="Where do the beans grow?", evidence=("k2",), type="keyword", scope="kitchen"),
    ),
)


@pytest.fixture
def measured(dsn: str, settings: Settings) -> Any:
    async def run(*scopes: EvaluationScope, profiles: Any = ("tide",), **options: Any) -> Any:
        embedder = FakeEmbedder()
        return await evaluate(scopes, profiles, store=dsn, embedder=embedder, settings=settings, **options)

    return run


async def test_every_profile_and_baseline_is_measured(measured: Any, owner: Any) -> None:
    names = ["tide", "ontheia", "vector", "fulltext", "rrf"]
    own = Profile(name="mine", law="sum", factors=({"factor": "similarity", "weight": 1.0},))  # type: ignore[arg-type]
    told: list[tuple[str, int, int]] = []
    reports = await measured(GARDEN, KITCHEN, profiles=[*names, own], progress=lambda *stage: told.append(stage))
    assert [report.profile for report in reports] == [*names, "mine"]
    tide = reports[0]
    assert tide.overall.questions == 4
    assert tide.overall.recall_at[5] == 1.0
    assert tide.by_category["update"].mrr == 1.0
    assert tide.latency_p50_ms > 0
    assert tide.rows_per_second > 0
    assert ("remember", 7, 7) in told
    assert ("mine", 5, 5) in told


async def test_a_ranking_is_measured_with_its_parts_on_and_off(measured: Any) -> None:
    names = ["auto", "auto-decompose-time_filter", "eryx-decompose", "vector+decompose"]
    reports = await measured(GARDEN, KITCHEN, profiles=names)
    assert [report.profile for report in reports] == names
    assert all(report.overall.questions == 4 for report in reports)
    for name in ("auto-charm", "eryx-", "+decompose", "-rerank", "nobody+rerank"):
        with pytest.raises(InvalidInput) as refusal:
            await measured(GARDEN, profiles=[name])
        assert refusal.value.field == "profile"


async def test_one_text_in_two_scopes_is_evidence_for_both(measured: Any) -> None:
    (report,) = await measured(GARDEN, KITCHEN, merged=True)
    assert report.overall.questions == 4
    assert report.overall.recall_at[5] == 1.0


async def test_asking_leaves_no_accesses(measured: Any, owner: Any) -> None:
    await measured(GARDEN)
    tenant = owner.execute("SELECT tenant_id FROM tenant WHERE tenant_id LIKE 'evaluation-%'").fetchone()[0]
    owner.execute("SELECT set_config('ebbtide.tenant', %s, false)", [tenant])
    assert owner.execute("SELECT count(*) FROM memory").fetchone()[0] == 5
    assert owner.execute("SELECT count(*) FROM strength").fetchone()[0] == 0


async def test_full_text_alone_returns_only_what_holds_a_word(measured: Any) -> None:
    question = replace(GARDEN.questions[1], text="Xylophone straw?")
    vector, full_text = await measured(replace(GARDEN, questions=(question,)), profiles=["vector", "fulltext"])
    assert vector.overall.recall_at[20] == full_text.overall.mrr == 1.0


async def test_a_successor_before_its_predecessor_is_refused(measured: Any) -> None:
    backwards = replace(GARDEN, items=tuple(reversed(GARDEN.items)))
    with pytest.raises(InvalidInput, match="comes after it"):
        await measured(backwards)


@pytest.mark.parametrize(("scopes", "profiles"), [((), ["tide"]), ((GARDEN,), [])])
async def test_nothing_to_measure_is_refused(measured: Any, scopes: Any, profiles: Any) -> None:
    with pytest.raises(InvalidInput, match="scopes and profiles"):
        await measured(*scopes, profiles=profiles)


async def test_an_unknown_profile_is_refused(measured: Any) -> None:
    with pytest.raises(InvalidInput, match="no profile"):
        await measured(GARDEN, profiles=["unheard-of"])


async def test_without_a_store_nothing_is_left(settings: Settings) -> None:
    (report,) = await evaluate([GARDEN], ["tide"], embedder=FakeEmbedder(), settings=settings)
    assert report.overall.recall_at[5] == 1.0


class Contrary:
    """A reranker that prefers what does not answer, or fails."""

    name = "contrary"

    def __init__(self, *, fails: bool = False) -> None:
        self.asked = 0
        self.fails = fails

    async def rerank(self, query: str, documents: Sequence[str]) -> Any:
        self.asked += 1
        if self.fails:
            raise ModelUnavailable("It is down.")
        return 1 - await FakeReranker().rerank(query, documents)

    async def close(self) -> None:
        pass


async def test_a_profile_is_measured_with_its_reranker(measured: Any) -> None:
    reranker = Contrary()
    (plain,) = await measured(GARDEN, profiles=["tide"], reranker=reranker)
    assert reranker.asked == 0
    (worse,) = await measured(GARDEN, profiles=["tide+rerank"], reranker=reranker)
    assert reranker.asked == len(GARDEN.questions)
    assert worse.overall.mrr < plain.overall.mrr


async def test_no_figures_are_given_where_the_reranker_fails(measured: Any) -> None:
    with pytest.raises(ModelUnavailable, match="not reranked: It is down"):
        await measured(GARDEN, profiles=["tide+rerank"], reranker=Contrary(fails=True))
    with pytest.raises(InvalidInput, match="no reranker"):
        await measured(GARDEN, profiles=["tide+rerank"])
