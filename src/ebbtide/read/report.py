"""What a search tells: its hits, and on request the trace of every candidate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ebbtide.rank.candidates import Source
from ebbtide.rank.explain import contributions
from ebbtide.rank.gates import drops
from ebbtide.rank.score import full_text_hits, reported_similarity
from ebbtide.types.base import trusted
from ebbtide.types.recall import Drop, Hit, Trace, TraceCandidate

if TYPE_CHECKING:
    from ebbtide.read.searched import Searched
    from ebbtide.types.recall import Routing

__all__ = ["contributions_of", "hits_of", "is_outdated", "rerank_of", "routing_of", "source_of", "trace_of"]

SourceName = Literal["vector", "full_text", "both", "graph"]
SOURCES: dict[int, SourceName] = {
    Source.VECTOR: "vector",
    Source.FULL_TEXT: "full_text",
    Source.BOTH: "both",
    Source.GRAPH: "graph",
}


def source_of(searched: Searched, place: int) -> SourceName:
    """Which arm found a candidate; under Ibex's contract that is the one whose measure its similarity reports."""
    name = SOURCES[int(searched.found.candidates.source[place])]
    if name != "both" or not searched.profile.full_text.reports_rank:
        return name
    return "full_text" if full_text_hits(searched.profile, searched.found.candidates)[place] else "vector"


def contributions_of(searched: Searched, place: int) -> dict[str, float]:
    """What a candidate's relevance is made of, by name; the parts sum to it."""
    return contributions(searched.scored, place)


def rerank_of(searched: Searched, place: int) -> float | None:
    """The reranker's score of a candidate, None where it was not reranked."""
    return None if searched.rerank_scores is None else _known(searched.rerank_scores[place])


def is_outdated(searched: Searched, place: int) -> bool:
    """Whether no fact that was read in a candidate holds any more."""
    outdated = searched.found.candidates.outdated
    return outdated is not None and bool(outdated[place])


def hits_of(searched: Searched) -> tuple[Hit, ...]:
    """The hits, best first."""
    candidates, selection, scored = searched.found.candidates, searched.selection, searched.scored
    kept = selection.kept
    # As lists, because reading numpy's numbers one by one costs ten times as much.
    similarity = reported_similarity(searched.profile, candidates, kept).tolist()
    relevance, parts = scored.values[kept].tolist(), scored.contributions[kept].tolist()
    hits: list[Hit] = []
    for rank, place in enumerate(kept.tolist()):
        memory = searched.memories[cast("Any", candidates.ids[place])]
        hits.append(
            trusted(
                Hit,
                id=memory.id,
                content=memory.content,
                namespace=memory.namespace,
                kind=memory.kind,
                similarity=_known(similarity[rank]),
                relevance=relevance[rank],
                source=source_of(searched, place),
                contributions=dict(zip(scored.names, parts[rank], strict=True)),
                duplicates=tuple(candidates.ids[other] for other in selection.duplicates.get(place, ())),
                disputed=memory.id in searched.chosen.disputed,
                outdated=is_outdated(searched, place),
                rerank=rerank_of(searched, place),
                memory=memory,
            )
        )
    return tuple(hits)


def dispute_notes(searched: Searched) -> tuple[str, ...]:
    """A note on each hit that an open conflict is about."""
    return tuple(f"{id_} is disputed: see conflicts.list" for id_ in sorted(searched.chosen.disputed))


def trace_of(searched: Searched) -> Trace:
    """Every candidate with what each stage made of it, and every drop with its rule."""
    candidates = searched.found.candidates
    order = np.argsort(-searched.scored.values, kind="stable").tolist()
    return Trace(
        query=searched.question.text,
        asked=searched.question.asked,
        words=searched.terms.words,
        profile=searched.profile.name,
        intent=searched.purpose.intent,
        intent_confidence=searched.purpose.confidence,
        intent_by=searched.purpose.by,
        route=searched.route.way,
        scope_rows=searched.route.rows,
        queries=(searched.question.asked, *parts) if (parts := searched.question.parts) else (),
        candidates=tuple(
            TraceCandidate(
                id=cast("Any", candidates.ids[place]),
                source=source_of(searched, place),
                similarity=_known(candidates.similarity[place]),
                lexical=float(searched.found.lexical[place]),
                relevance=float(searched.scored.values[place]),
                contributions=contributions_of(searched, place),
                ranks=ranks_of(searched, place),
                rerank=rerank_of(searched, place),
            )
            for place in order
        ),
        drops=tuple(
            Drop(
                id=cast("Any", drop.id),
                stage=drop.stage,
                rule=drop.rule,
                value=drop.value,
                threshold=str(drop.duplicate_of) if drop.duplicate_of is not None else drop.threshold,
            )
            for drop in drops(candidates, searched.selection)
        ),
        notes=(*searched.notes, *dispute_notes(searched)),
        resurrected=searched.resurrected,
        asked_time=() if (window := searched.question.window) is None else tuple(span.told() for span in window.spans),
        time_filter=searched.time_filter,
        routing=routing_of(searched),
        milliseconds=dict(searched.milliseconds),
    )


def routing_of(searched: Searched) -> Routing | None:
    """What routing by types did, None where the profile has none of it."""
    return None if searched.routed is None else searched.routed.told()


def ranks_of(searched: Searched, place: int) -> tuple[int | None, ...]:
    """A candidate's rank for the query and each of its parts, None where one did not find it; nothing for one query."""
    ranks = searched.found.ranks
    return () if ranks is None else tuple(rank or None for rank in ranks[:, place].tolist())


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)
