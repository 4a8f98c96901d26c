"""Reranking: a model reads the query with each of the best candidates, and they are ordered by what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import numpy as np

from ebbtide.checks import check_flag
from ebbtide.errors import InvalidInput, ModelError, ModelUnavailable
from ebbtide.models.rerank import ask
from ebbtide.rank.gates import select
from ebbtide.rank.rerank import reranked
from ebbtide.read.searched import Chosen
from ebbtide.text import embedding_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ebbtide.engine import Engine
    from ebbtide.rank.gates import Selection
    from ebbtide.rank.profile import Profile
    from ebbtide.rank.score import Scored
    from ebbtide.read.candidates import Found
    from ebbtide.read.question import Question
    from ebbtide.read.scope import Scope
    from ebbtide.types.memory import Memory

__all__ = ["NOT_RERANKED", "Ordered", "depth_of", "reorder"]

NOT_RERANKED = "not reranked"
"""How the note begins that says why there is no new order."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """What is returned in which order, and the reranker's scores by candidate, NaN where there is none; None for none.

    `notes` say why there are none where there should be some.
    """

    scored: Scored
    chosen: Chosen
    scores: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()


def depth_of(engine: Engine, profile: Profile, wanted: Any) -> int:
    """How many of the candidates that passed may come back once they are reranked; 0 where nothing is reranked.

    A recall is reranked as it asks, else where its profile says so and there is a reranker.

    Raises:
        InvalidInput: it asks for a reranker and there is none, or for neither yes nor no.
    """
    asked_for = profile.rerank if wanted is None else check_flag(wanted, "rerank")
    if wanted and engine.reranker is None:
        raise InvalidInput(
            "There is no reranker to rerank with.",
            field="rerank",
            remedy="Set EBBTIDE_RERANKER, give `reranker` when opening the store, or leave `rerank` out.",
        )
    if not asked_for or engine.reranker is None:
        return 0
    # Where the law runs on the scores, its boosts can raise any row above any other.
    return 2**31 if profile.base == "fused" else max(engine.settings.rerank_rows, profile.limit)


async def reorder(
    engine: Engine, scope: Scope, profile: Profile, question: Question, found: Found, before: Ordered
) -> Ordered:
    """The best of what passed the gates, at most `rerank_rows` of them, ordered by how well they answer the query.

    The model is asked outside of any transaction, and reads each memory as the recall may show it: redacted where that
    is the rule, and never what is withheld. Where it gives no good answer in time, the order stays and a note says why.
    """
    scored, chosen = before.scored, before.chosen
    rows = chosen.selection.ranked[: engine.settings.rerank_rows]
    memories = [chosen.memories[cast("UUID", found.candidates.ids[place])] for place in rows.tolist()]
    try:
        scores = await scores_of(engine, scope, question.asked, memories)
    except ModelError as error:
        return Ordered(scored, narrowed(found, chosen, chosen.selection), notes=(f"{NOT_RERANKED}: {error.message}",))
    order = reranked(
        profile, found.candidates, scored, chosen.selection.ranked, chosen.selection.folded_into, scores,
        now=(scope.as_of or scope.now).timestamp(),
    )  # fmt: skip
    selection = select(
        profile,
        found.candidates,
        scored,
        withheld=chosen.withheld,
        include_superseded=scope.include_superseded,
        reranked=order,
    )
    return Ordered(order.scored, narrowed(found, chosen, selection), order.scores)


def narrowed(found: Found, chosen: Chosen, selection: Selection) -> Chosen:
    """What of the memories that were read ahead is returned by this selection."""
    ids = [cast("UUID", found.candidates.ids[place]) for place in selection.kept.tolist()]
    memories = {id_: chosen.memories[id_] for id_ in ids}
    return replace(chosen, selection=selection, memories=memories, disputed=chosen.disputed.intersection(ids))


async def scores_of(engine: Engine, scope: Scope, query: str, memories: Sequence[Memory]) -> NDArray[np.float64]:
    """How relevant each memory is, in [0, 1], shape (memories,): as it was said a moment ago, else asked now.

    Raises:
        ModelError: the reranker gave no good answer in time, or failed so often that it is not asked.
    """
    caller = scope.caller
    cache = engine.reranks.of(caller.tenant, caller.user, query, scope.now)
    # Copied, since what is cached may be forgotten while the reranker is asked.
    known = dict(cache)
    missing = [memory for memory in memories if (memory.id, memory.revision) not in known]
    if missing:
        documents = [embedding_text(memory.content, memory.speaker) for memory in missing]
        scores = (await asked(engine, query, documents)).tolist()
        fresh = {(memory.id, memory.revision): score for memory, score in zip(missing, scores, strict=True)}
        cache.update(fresh)
        known.update(fresh)
    return np.array([known[memory.id, memory.revision] for memory in memories], dtype=np.float64)


async def asked(engine: Engine, query: str, documents: Sequence[str]) -> NDArray[np.float64]:
    """The reranker's answer, unless it is left alone for having failed several times in a row."""
    reranker, breaker = engine.reranker, engine.breaker
    if reranker is None or not breaker.admits(engine.clock.now()):
        pause = breaker.opens_at(engine.clock.now())
        until = "it was tried again" if pause is None else f"{pause:%H:%M:%S} UTC"
        raise ModelUnavailable(f"The reranker failed several times in a row and is not asked until {until}.")
    try:
        scores = await ask(reranker, query, documents, timeout_seconds=engine.settings.reranker_timeout_seconds)
    except ModelError:
        breaker.failed(engine.clock.now())
        raise
    except BaseException:
        breaker.abandoned()
        raise
    breaker.succeeded()
    return scores
