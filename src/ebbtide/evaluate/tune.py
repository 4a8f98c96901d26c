"""Tuning a profile on a labelled data set: candidates are gathered once, and scored again under many weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from anyio import to_thread

from ebbtide.checks import check_whole
from ebbtide.clock import SystemClock
from ebbtide.errors import InvalidInput
from ebbtide.evaluate.run import DEPTH, Loaded, Progress, remembered
from ebbtide.paths.tune import HIGHEST_SEED
from ebbtide.rank.candidates import Candidates, Floats
from ebbtide.rank.fit import FEWEST, fit, measure
from ebbtide.rank.gates import select
from ebbtide.rank.knobs import Knobs, knobs_of, with_values
from ebbtide.rank.profile import Profile, narrow
from ebbtide.rank.score import score
from ebbtide.rank.tuned import Tuned, check_tunable, make_tuned, too_few
from ebbtide.recall import search

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.evaluate.scope import EvaluationScope, Question
    from ebbtide.models.protocols import Embedder
    from ebbtide.settings import Settings

__all__ = ["tune_on"]

LEAST_WEIGHT = 1e-9


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's candidates, from when it is asked in seconds since 1970 UTC, which of its candidates answer it, by
    place, how many answers there are, and of which scope it is.

    Of the answers those alone that pass the gates of the profile it starts from: weights that lift all relevance would
    open a gate, and seem better for that.
    """

    candidates: Candidates
    now: float
    answers: frozenset[int]
    total: int
    withheld: tuple[int, ...]
    scope: str


async def tune_on(
    scopes: Sequence[EvaluationScope],
    profile: Profile,
    *,
    source: str = "a data set",
    seed: int = 0,
    embedder: Embedder | str | None = "local",
    store: str | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Fit a profile's weights to the questions of labelled scopes, in a throwaway store as `evaluate` does.

    Each question is searched once under the profile; what it found is scored, gated and ordered anew for each trial of
    weights. So what is found stays as the profile found it, and gates and limits stay too: an answer that they kept
    back counts as not found, whatever the weights. Weights are fitted to one
    part of the questions and judged on the part held out, five times over; from three scopes on, by whole scopes.
    `source` is what the tuned profile's provenance calls the data set. `store` is where the scopes are remembered
    instead, as in `evaluate`.

    Raises:
        NotTuned: there are fewer than 30 questions that can be measured.
        InvalidInput: there is no scope, or the profile has nothing to tune.
    """
    check_whole(seed, "seed", 0, HIGHEST_SEED)
    knobs = knobs_of(profile)
    check_tunable(knobs, profile)
    measurable = sum(question.measurable for scope in scopes for question in scope.questions)
    if not scopes:
        raise InvalidInput("Tuning needs scopes.", field="scopes", remedy="Give at least one.")
    if measurable < FEWEST:
        raise too_few(
            measurable,
            "question",
            "with evidence",
            f"Write {FEWEST - measurable} more question{'s' if FEWEST - measurable > 1 else ''}.",
        )
    opened = remembered(scopes, embedder=embedder, reranker=None, store=store, settings=settings, progress=progress)
    async with opened as (engine, loaded, _):
        asked = await _gather(engine, loaded, profile, measurable, progress)
    objective = partial(order_of, profile, knobs, asked)
    groups = [one.scope for one in asked]
    found = await to_thread.run_sync(partial(fit, knobs, objective, groups, seed=seed, tell=progress))
    return make_tuned(profile, knobs, found, source=source, queries=len(asked), seed=seed, at=SystemClock().now())


async def _gather(
    engine: Engine, loaded: Sequence[Loaded], profile: Profile, total: int, progress: Progress | None
) -> list[Asked]:
    """The candidates of each question that can be measured."""
    wide = weighing_all(profile)
    asked: list[Asked] = []
    for one in loaded:
        for question in one.scope.questions:
            if question.measurable:
                asked.append(await _ask(engine, one, question, wide))
                if progress is not None:
                    progress("search", len(asked), total)
    return asked


def weighing_all(profile: Profile) -> Profile:
    """The profile with a little weight on every factor, so that a search reads what a weight of 0 would leave out."""
    factors: tuple[Any, ...] = tuple(
        factor.model_copy(update={"weight": max(weight, LEAST_WEIGHT)})
        for factor, weight in zip(profile.factors, profile.normalised_weights, strict=True)
    )
    return profile.model_copy(update={"factors": factors})


async def _ask(engine: Engine, one: Loaded, question: Question, profile: Profile) -> Asked:
    limit = min(DEPTH, profile.max_limit)
    searched = await search(
        engine, one.handle.caller, question.text, profile=profile, limit=limit, asked_at=question.asked_at, rerank=False
    )
    candidates = searched.found.candidates
    wanted = {one.memories[item] for item in question.evidence}
    # What says the same is folded into one hit, and so is one answer.
    hashes = candidates.content_hash or tuple(range(len(candidates)))
    contents = {hashes[place] for place, id_ in enumerate(candidates.ids) if id_ in wanted}
    ranked: list[int] = searched.selection.ranked.tolist()
    passed = {hashes[place] for place in ranked}
    found = sum(id_ in wanted for id_ in candidates.ids)
    return Asked(
        candidates=candidates,
        now=(searched.scope.as_of or searched.scope.now).timestamp(),
        answers=frozenset(place for place, content in enumerate(hashes) if content in contents & passed),
        total=len(contents) + len(wanted) - found,
        withheld=searched.chosen.withheld,
        scope=question.scope,
    )


def order_of(profile: Profile, knobs: Knobs, asked: Sequence[Asked], values: Floats) -> Floats:
    """The measures of each question under these values, shape (q, 3), by the law and the gates of a recall."""
    trial = with_values(profile, knobs, values)
    trial = narrow(trial, limit=min(DEPTH, trial.max_limit))
    queries: list[int] = []
    ranks: list[int] = []
    for number, one in enumerate(asked):
        scored = score(trial, one.candidates, now=one.now)
        kept: list[int] = select(trial, one.candidates, scored, withheld=one.withheld).kept.tolist()
        for rank, place in enumerate(kept, start=1):
            if place in one.answers:
                queries.append(number)
                ranks.append(rank)
    totals = np.array([one.total for one in asked], dtype=np.int64)
    return measure(np.array(queries, dtype=np.int64), np.array(ranks, dtype=np.int64), totals)
