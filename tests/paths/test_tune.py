"""Tuning from feedback: what is learnt, what is refused, whose judgements count, and under which name it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from ebbtide import AsyncEbbtide, Profile, Tuned
from ebbtide.errors import Forbidden, InvalidInput, NotTuned
from ebbtide.paths.tune import MOST_OF_A_USER, judged_of, order_of_judged
from ebbtide.rank.fit import fit
from ebbtide.rank.knobs import knobs_of
from ebbtide.rank.parts import Importance, Similarity
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.replay import signature_of

MINE = Profile(name="mine", law="sum", factors=(Similarity(weight=0.9), Importance(weight=0.1)), limit=6)
WORDS = ["ferry", "harbour", "lamp", "kettle", "orange", "letter", "bridge", "garden"]

Judge = Callable[[Any], str]


def by_importance(hit: Any) -> str:
    return "positive" if hit.memory.importance > 0.5 else "negative"


def by_chance(seed: int) -> Judge:
    random = np.random.default_rng(seed)
    return lambda _hit: "positive" if random.random() < 0.5 else "negative"


async def fill(memory: AsyncEbbtide, count: int = 60) -> None:
    """Memories of which nothing but the importance says whether they are of use."""
    random = np.random.default_rng(3)
    drafts = [
        {"content": f"{' '.join(random.choice(WORDS, 4))} {number}", "importance": float(random.choice([0.1, 0.9]))}
        for number in range(count)
    ]
    await memory.remember_many(drafts)


async def judge(memory: AsyncEbbtide, judge_: Judge, recalls: int, profile: Any = MINE) -> list[UUID]:
    """Ask so often, and judge all that comes back; answers with the ids of the recalls."""
    random = np.random.default_rng(11)
    asked: list[UUID] = []
    for _ in range(recalls):
        answer = await memory.recall(" ".join(random.choice(WORDS, 3)), profile=profile)
        assert answer.recall_id is not None
        asked.append(answer.recall_id)
        for hit in answer:
            await memory.feedback(hit.id, judge_(hit), recall=answer.recall_id)  # type: ignore[arg-type]
    return asked


async def test_feedback_makes_a_better_profile(async_memory: AsyncEbbtide, owner: Any) -> None:
    await fill(async_memory)
    await judge(async_memory, by_importance, 45)
    told: list[tuple[str, int, int]] = []
    tuned = await async_memory.profiles.tune(MINE, dry_run=True, progress=lambda *step: told.append(step))
    assert (tuned.better, tuned.saved, tuned.source, tuned.folds) == (True, None, "feedback", 5)
    assert tuned.gain_low > 0
    assert tuned.tuned_held_out.ndcg_at_10 > 0.97 > tuned.baseline_held_out.ndcg_at_10
    assert tuned.weights_after["importance"] > tuned.weights_before["importance"] == 0.1
    assert sum(tuned.weights_after.values()) == pytest.approx(1)
    assert told[-1] == ("fit", 6, 6)
    assert owner.execute("SELECT count(*) FROM profile").fetchone() == (0,)
    # The same judgements and the same seed give the same answer, also to two at once, each under a name of its own.
    one, two = await asyncio.gather(*(async_memory.profiles.tune(MINE) for _ in range(2)))
    assert {one.saved, two.saved} == {"mine-tuned", "mine-tuned-2"}
    assert one.weights_after == two.weights_after == tuned.weights_after
    kept = await async_memory.profiles.get("mine-tuned")
    assert kept == (one if one.saved == "mine-tuned" else two).profile
    assert kept.provenance is not None
    assert (kept.provenance.tuned_from, kept.provenance.source, kept.provenance.queries) == (
        "mine", "feedback", tuned.queries,
    )  # fmt: skip
    assert kept.provenance.ndcg_after == tuned.tuned_held_out.ndcg_at_10
    first = await async_memory.recall("ferry lamp", profile="mine-tuned", limit=1)
    assert first[0].memory.importance == 0.9
    # What was judged under one profile serves every other that differs in weights alone; and the best stay as they are.
    with pytest.raises(NotTuned) as refused:
        await async_memory.profiles.tune("mine-tuned", save="again")
    assert isinstance(refused.value.tuned, Tuned)
    again = await async_memory.profiles.tune(MINE, save="mine", seed=3)
    assert (again.saved, (await async_memory.profiles.get("mine")).provenance.seed) == ("mine", 3)


async def test_noise_teaches_nothing(async_memory: AsyncEbbtide, owner: Any) -> None:
    await fill(async_memory)
    await judge(async_memory, by_chance(7), 40)
    with pytest.raises(NotTuned) as refused:
        await async_memory.profiles.tune(MINE)
    assert refused.value.tuned.queries >= 30  # type: ignore[attr-defined]
    assert refused.value.to_dict()["error"]["code"] == "not_tuned"
    assert "no more than noise" in str(refused.value)
    with pytest.raises(NotTuned):
        await async_memory.profiles.keep(refused.value.tuned)  # type: ignore[arg-type]
    assert owner.execute("SELECT count(*) FROM profile").fetchone() == (0,)
    assert not (await async_memory.profiles.tune(MINE, dry_run=True)).better


async def test_too_little_is_refused_with_what_is_missing(async_memory: AsyncEbbtide) -> None:
    await fill(async_memory, 12)
    with pytest.raises(NotTuned, match=r"There are 0 judged recalls .* and 30 are needed"):
        await async_memory.profiles.tune("tide")
    await judge(async_memory, lambda _hit: "positive", 3)
    with pytest.raises(NotTuned, match=r"All \d+ judgements under mine are positive"):
        await async_memory.profiles.tune(MINE)
    await judge(async_memory, by_importance, 4)
    with pytest.raises(NotTuned, match=r"Rate hits of 2[0-9] more recalls under mine"):
        await async_memory.profiles.tune(MINE)


async def test_a_forgotten_memory_is_learnt_from_no_more(async_memory: AsyncEbbtide, owner: Any) -> None:
    await fill(async_memory, 6)
    await judge(async_memory, by_importance, 2)
    judged = "SELECT count(*) FROM recall_hit WHERE rating IS NOT NULL"
    assert owner.execute(judged).fetchone() == (12,)
    for memory in await async_memory.browse():
        await async_memory.forget(memory.id, memory.revision)
    assert owner.execute(judged).fetchone() == (0,)
    with pytest.raises(NotTuned, match="There are 0"):
        await async_memory.profiles.tune(MINE)


@pytest.mark.parametrize(
    ("field", "how"),
    [
        ("profile", {"profile": "unheard-of"}),
        ("profile", {"profile": Profile(name="one", law="sum", factors=(Similarity(weight=1),))}),
        ("save", {"save": "tide"}),
        ("save", {"save": ""}),
        ("save", {"save": " mine"}),
        ("save", {"save": "x" * 65}),
        ("dry_run", {"dry_run": "yes"}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": 0.5}),
    ],
)
async def test_what_cannot_be_done_is_named(async_memory: AsyncEbbtide, field: str, how: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        await async_memory.profiles.tune(**dict[str, Any]({"profile": "ibex", **how}))
    assert refused.value.field == field
    with pytest.raises(InvalidInput) as refused:
        await async_memory.profiles.keep("ibex")  # type: ignore[arg-type]
    assert refused.value.field == "tuned"


async def test_tuning_is_for_administrators(async_memory: AsyncEbbtide) -> None:
    agent = async_memory.as_agent("default", ["memory:read", "memory:write"])
    with pytest.raises(Forbidden):
        await agent.profiles.tune("ibex")
    with pytest.raises(NotTuned):
        await async_memory.as_agent("default", ["memory:admin"]).profiles.tune("ibex")


def recalled(user: str | None, hits: list[tuple[list[float], bool]]) -> list[Any]:
    recall = uuid4()
    return [
        SimpleNamespace(
            id=recall, agent="default", user=user, memory=uuid4(), useful=useful, place=place, readings=readings
        )
        for place, (readings, useful) in enumerate(hits)
    ]


def many(user: str | None, recalls: int, *, wanted: int) -> list[Any]:
    """Rated recalls of a user to whom what matters is one of the two readings."""
    random = np.random.default_rng(recalls + wanted)
    rows: list[Any] = []
    for _ in range(recalls):
        readings = random.uniform(0, 1, (6, 2))
        useful = readings[:, wanted] > np.median(readings[:, wanted])
        rows += recalled(user, list(zip(readings.tolist(), useful.tolist(), strict=True)))
    return rows


def test_a_user_who_judges_without_end_cannot_outvote_the_others() -> None:
    knobs = knobs_of(MINE, replays=True)
    honest = [row for number in range(6) for row in many(f"user-{number}", 20, wanted=1)]
    flood = many("mallory", 1_000, wanted=0)
    judged = judged_of(MINE, knobs, [*flood, *honest])
    assert len([voter for voter in judged.voters if voter[1] == "mallory"]) == MOST_OF_A_USER
    assert len(judged.voters) == 120 + MOST_OF_A_USER
    even = Profile(name="even", law="sum", factors=(Similarity(weight=0.5), Importance(weight=0.5)))

    def objective(values: Any) -> Any:
        return order_of_judged(even, knobs, judged, values)

    assert fit(knobs_of(even), objective, judged.voters).values[1] >= 0.5
    # Where nobody else judges, all of a user's count, but what is said again does not.
    assert len(judged_of(MINE, knobs, flood).voters) == 1_000
    one = recalled("ana", [([0.1, 0.9], True), ([0.9, 0.1], False)])
    again = [SimpleNamespace(**{**vars(row), "id": number}) for number in range(500) for row in one]
    with pytest.raises(NotTuned, match="There is 1 judged recall with"):
        judged_of(MINE, knobs, again)


def test_only_hits_that_were_judged_within_one_recall_are_compared() -> None:
    knobs = knobs_of(MINE, replays=True)
    rows = [row for number in range(30) for row in recalled(f"u{number}", [([0.2, 0.9], True), ([0.8, 0.1], False)])]
    # One recall has nothing but good hits, another nothing but bad ones: they are not set against each other.
    apart = [*recalled("x", [([0.9, 0.9], False)]), *recalled("y", [([0.1, 0.1], True)])]
    judged = judged_of(MINE, knobs, [*rows, *apart])
    assert len(judged.voters) == 30
    assert order_of_judged(MINE, knobs, judged, np.array([1.0, 0.0]))[:, 2].tolist() == [0.5] * 30
    assert order_of_judged(MINE, knobs, judged, np.array([0.0, 1.0]))[:, 2].tolist() == [1.0] * 30
    # Hits of one worth keep the order in which they came back.
    ties = [row for number in range(30) for row in recalled(f"u{number}", [([0.5, 0.5], False), ([0.5, 0.5], True)])]
    assert order_of_judged(MINE, knobs, judged_of(MINE, knobs, ties), knobs.start)[:, 2].tolist() == [0.5] * 30


def test_a_recall_that_hid_what_the_weights_need_is_left_out() -> None:
    knobs = knobs_of(MINE, replays=True)
    rows = [row for number in range(30) for row in recalled(f"u{number}", [([0.2, 0.9], True), ([0.8, 0.1], False)])]
    hidden = recalled("z", [([0.2, float("nan")], True), ([0.8, float("nan")], False)])
    assert len(judged_of(MINE, knobs, [*rows, *hidden]).voters) == 30


@pytest.mark.parametrize("name", ["tide", "ontheia", "ibex"])
async def test_recalls_under_every_law_can_be_learnt_from(async_memory: AsyncEbbtide, name: str, owner: Any) -> None:
    await fill(async_memory, 12)
    gates = {**PRESETS[name].gates.model_dump(), "min_similarity": 0, "min_score": 0, "relative_cutoff": 0}
    profile = {**PRESETS[name].model_dump(), "name": "open", "gates": gates, "limit": 6}
    await judge(async_memory, by_importance, 2, profile)
    engine = await async_memory.engine()
    base = PRESETS[name]
    async with engine.database.transaction("default", snapshot=True) as transaction:
        rows = await transaction.named("lifecycle.judged", tenant="default", signature=signature_of(base), limit=99)
    assert len(rows) >= 8
    knobs = knobs_of(base, replays=True)
    repeated = [SimpleNamespace(**{**row._asdict(), "user": f"u{n}"}) for n in range(30) for row in rows]
    renamed = [SimpleNamespace(**{**vars(row), "id": (row.id, row.user)}) for row in repeated]
    judged = judged_of(base, knobs, renamed)
    measures = order_of_judged(base, knobs, judged, knobs.start)
    assert np.isfinite(measures).all()
    assert len(measures) >= 30
