"""Tuning on a labelled data set: by the laws and gates of a recall, by whole scopes, and without leaving traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ebbtide.errors import InvalidInput, NotTuned
from ebbtide.evaluate.run import evaluate
from ebbtide.evaluate.scope import EvaluationScope, Item, Question
from ebbtide.evaluate.tune import tune_on
from ebbtide.models.fake import FakeEmbedder
from ebbtide.rank.parts import Confidence, Gates, Importance, Similarity
from ebbtide.rank.profile import Profile
from ebbtide.settings import Settings

WORDS = ["ferry", "harbour", "lamp", "kettle", "orange", "letter", "bridge", "garden", "winter", "candle"]

NEARNESS = Profile(
    name="nearness", law="sum", factors=(Similarity(weight=1.0), Importance(weight=0.0)), gates=Gates(min_score=0.01)
)


def scope(name: str, questions: int, *, seed: int, by_chance: bool = False) -> EvaluationScope:
    """Pairs of memories on two words each, and a question on each pair that the more important one of it answers."""
    random = np.random.default_rng(seed)
    items: list[Item] = []
    asked: list[Question] = []
    for number in range(questions):
        words = " ".join(random.choice(WORDS, 3, replace=False))
        weights = random.permutation([0.1, 0.9]).tolist()
        for side, weight in zip("ab", weights, strict=True):
            text = f"{words} {side} {random.choice(WORDS)} {number}"
            items.append(
                Item(id=f"{number}{side}", text=text, kind="fact", namespace="vector.global.memory", importance=weight)
            )
        right = "ab"[int(random.integers(2))] if by_chance else "ab"[weights.index(0.9)]
        asked.append(Question(id=str(number), text=words, evidence=(f"{number}{right}",), type="any", scope=name))
    asked.append(Question(id="none", text="Who won?", evidence=(), type="none", scope=name))
    return EvaluationScope(name=name, description="", items=tuple(items), questions=tuple(asked))


def scopes(*, by_chance: bool = False) -> list[EvaluationScope]:
    return [scope(f"s{number}", 12, seed=number, by_chance=by_chance) for number in range(3)]


@pytest.fixture
def tuned(dsn: str, settings: Settings) -> Any:
    async def run(given: list[EvaluationScope], profile: Profile = NEARNESS, **options: Any) -> Any:
        return await tune_on(given, profile, store=dsn, embedder=FakeEmbedder(), settings=settings, **options)

    return run


async def test_what_the_answers_share_is_found(tuned: Any, dsn: str, settings: Settings) -> None:
    told: list[tuple[str, int, int]] = []
    found = await tuned(scopes(), source="pairs", progress=lambda *step: told.append(step))
    assert (found.better, found.queries, found.folds, found.source) == (True, 36, 3, "pairs")
    assert found.tuned_held_out.mrr > 0.9 > 0.75 > found.baseline_held_out.mrr
    assert found.weights_before == {"semantic": 1.0, "importance": 0.0}
    assert 0 < found.weights_after["importance"] < 1
    assert found.profile.gates == NEARNESS.gates
    assert {step for step, _, _ in told} == {"remember", "search", "fit"}
    assert told[-1] == ("fit", 4, 4)
    # What the search for weights measures is what an evaluation of that profile does.
    embedder = FakeEmbedder()
    before, after = await evaluate(scopes(), [NEARNESS, found.profile], store=dsn, embedder=embedder, settings=settings)
    assert before.overall.ndcg_at_10 == pytest.approx(found.baseline_held_out.ndcg_at_10, abs=1e-3)
    assert after.overall.ndcg_at_10 == pytest.approx(found.tuned_train.ndcg_at_10, abs=0.03)


async def test_where_chance_decides_nothing_is_found(tuned: Any) -> None:
    found = await tuned(scopes(by_chance=True))
    assert not found.better
    assert found.gain_low <= 0


async def test_too_few_questions_and_none_at_all_are_refused(tuned: Any) -> None:
    with pytest.raises(NotTuned, match=r"There are 24 questions with evidence .* Write 6 more"):
        await tuned(scopes()[:2])
    with pytest.raises(InvalidInput) as refused:
        await tuned([])
    assert refused.value.field == "scopes"
    with pytest.raises(InvalidInput) as refused:
        await tuned(scopes(), replace_factors(NEARNESS))
    assert refused.value.field == "profile"


def replace_factors(profile: Profile) -> Profile:
    return profile.model_copy(update={"factors": profile.factors[:1]})


async def test_memories_of_one_text_are_one_answer(tuned: Any) -> None:
    given = scopes()
    first = given[0]
    double = replace(first.items[0], id="twin", namespace="vector.global.other")
    question = replace(first.questions[0], evidence=(first.items[0].id, "twin"))
    given[0] = replace(first, items=(*first.items, double), questions=(question, *first.questions[1:]))
    found = await tuned(given)
    assert found.baseline_held_out.recall_at_10 == 1.0


async def test_weights_that_only_lift_everything_past_a_gate_are_no_better(tuned: Any) -> None:
    factors = (Confidence(weight=0.1),)
    lifting = Profile(name="lifting", law="boost", base="similarity", factors=factors, gates=Gates(min_score=0.9))
    found = await tuned(scopes(), lifting)
    assert (found.better, found.gain) == (False, 0.0)
    assert found.weights_after == found.weights_before
