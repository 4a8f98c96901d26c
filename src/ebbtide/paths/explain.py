"""Why a memory did, or did not, come back for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from ebbtide.govern.access import READ, check_visible, requires
from ebbtide.identifiers import parse_id
from ebbtide.paths.manage import missing, note_read
from ebbtide.rank.gates import drops
from ebbtide.read.report import contributions_of, is_outdated, rerank_of, routing_of
from ebbtide.read.routing import is_left_out
from ebbtide.read.scope import ASKED, check_known
from ebbtide.read.seen import hidden_among
from ebbtide.recall import Searched, search
from ebbtide.types.recall import Explanation

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.read.scope import Scope
    from ebbtide.types.caller import Caller

__all__ = ["explain"]

REASONS = {
    "include_superseded": "It was superseded by a newer memory and gave way to it.",
    "min_similarity": "Its similarity {value} is below the floor of {threshold}.",
    "min_confidence": "Its confidence {value} is below the floor of {threshold}.",
    "relevance_floor": "Its relevance before scoring, {value}, is below the floor of {threshold}.",
    "min_score": "Its relevance {value} is below the minimum of {threshold}.",
    "relative_cutoff": "Its relevance {value} is below {threshold}, the profile's share of the best one.",
    "personal_data": "It holds personal data, which the profile or the rule on its namespace does not return.",
    "full_text_fallback": "It was found by full text alone, and the vector search filled the limit without it.",
    "identical_content": "It says the same as the more relevant {threshold} and was folded into it.",
    "limit": "It ranks {value}, beyond the limit of {threshold}.",
    "namespace": "Its namespace {value} is not among those that were read.",
    "status": "Its status is {value}; only active memories are searched.",
    "wrong": "It was found to be wrong.",
    "expired": "It expired at {value}.",
    "superseded": "It was superseded by {value}.",
    "update_found": "It was superseded by {value}, which was found to be its news with a confidence of {threshold}.",
    "not_yet_valid": "It is true only from {value} on.",
    "invalidated": "It has not been true since {value}.",
    "asked_time": "It is of {value}, and the query asks about {threshold}.",
    "routing": "It mentions no {threshold} that the search was restricted to, by what the query seems to be about.",
    "filter": "A filter on kind, labels, tags or where leaves it out, or the profile's list of kinds.",
    "unknown_then": "It was not known yet at {threshold}.",
    "not_a_candidate": "Neither search found it: its similarity is {value}, the farthest candidate's was {threshold}.",
    "beyond_candidates": "It holds {value} of the query's words, but {threshold} others come first in each search.",
    "no_vector": "It has no vector yet, and holds no word of the query.",
    "no_word": "It holds no word of the query, and there was no vector to compare its own with.",
}

OUTDATED = "Of the facts that were read in it none holds any more, so it counts less."


@requires(READ, search=True)
async def explain(engine: Engine, caller: Caller, query: str, memory_id: UUID | str, **asked: Any) -> Explanation:
    """Why the memory does, or does not, come back for the query under the same arguments that recall takes.

    Raises:
        NotFound: the agent has no such memory, or it was forgotten.
    """
    check_known(asked, ASKED)
    id_ = parse_id(memory_id, "memory_id")
    searched = await search(engine, caller, query, **asked)
    note_read(engine, caller, "explain", (id_,))
    place = next((place for place, candidate in enumerate(searched.found.candidates.ids) if candidate == id_), None)
    if place is None:
        absence = await explain_absence(engine, caller, searched, id_)
        return absence.model_copy(update={"routing": routing_of(searched)})
    outdated = f" {OUTDATED}" if is_outdated(searched, place) else ""
    kept = searched.selection.kept.tolist()
    similarity = searched.found.candidates.similarity[place]
    facts: dict[str, Any] = {
        "similarity": None if np.isnan(similarity) else float(similarity),
        "relevance": float(searched.scored.values[place]),
        "contributions": contributions_of(searched, place),
        "rerank": rerank_of(searched, place),
        "routing": routing_of(searched),
    }
    if place in kept:
        rank = kept.index(place) + 1
        return Explanation(
            memory_id=id_,
            returned=True,
            rank=rank,
            stage="returned",
            rule="returned",
            reason=f"It came back, at rank {rank}.{outdated}",
            **facts,
        )
    drop = next(drop for drop in drops(searched.found.candidates, searched.selection) if drop.id == id_)
    ranked = searched.selection.ranked.tolist()
    rule, value, threshold = drop.rule, drop.value, drop.duplicate_of or drop.threshold
    if rule == "include_superseded" and (update := await _found_update(engine, caller, id_)):
        rule, value, threshold = "update_found", *update
    return Explanation(
        memory_id=id_,
        returned=False,
        rank=ranked.index(place) + 1 if place in ranked else None,
        stage=drop.stage,
        rule=rule,
        value=value,
        threshold=str(threshold) if isinstance(threshold, UUID) else threshold,
        reason=f"{reason(rule, value, threshold)}{outdated}",
        **facts,
    )


def reason(rule: str, value: Any, threshold: Any) -> str:
    """The sentence that tells a rule's decision."""
    return REASONS[rule].format(value=_short(value), threshold=_short(threshold))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


async def explain_absence(engine: Engine, caller: Caller, searched: Searched, id_: UUID) -> Explanation:
    """Why a memory was no candidate: the first condition of the scope that it fails, or how far off it was."""
    scope = searched.scope
    values = {**scope.parameters(), "id": id_, "vector": searched.vector, "terms": searched.terms.queries}
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named("recall.judge" + scope.suffix, **values)
        then = bool(rows)
        if not rows and scope.as_of is not None:
            rows = await transaction.named("recall.judge", **values)
        hidden, left_out = set[UUID](), False
        if rows:
            check_visible(caller, rows[0].namespace, missing(id_))
            hidden = await hidden_among(transaction, caller, [rows[0].superseded_by])
            left_out = await is_left_out(transaction, searched, id_)
            if not then:
                return _absent(id_, "scope", "unknown_then", None, _iso(scope.as_of), None)
    if not rows:
        raise missing(id_)
    row = rows[0]
    now = scope.as_of or scope.now
    successor = "another memory" if hidden else str(row.superseded_by)
    failed = next((check for check in _conditions(row, now, scope, successor) if check[0]), None)
    if failed is not None:
        _, rule, value, threshold = failed
        if rule == "superseded" and (update := await _found_update(engine, caller, id_)):
            rule, value, threshold = "update_found", *update
        return _absent(id_, "scope", rule, value, threshold, row.similarity)
    window, moment = searched.question.window, row.observed_at or row.valid_from or row.created_at
    if searched.time_filter == "applied" and window is not None and not window.holds(moment):
        return _absent(id_, "time", "asked_time", _iso(moment), str(window), row.similarity)
    if searched.routed is not None and left_out:
        return _absent(id_, "routing", "routing", None, " or ".join(searched.routed.types), row.similarity)
    if row.words:
        rows = engine.settings.candidate_rows
        return _absent(id_, "candidates", "beyond_candidates", row.words, rows, row.similarity)
    if not row.has_vector:
        return _absent(id_, "candidates", "no_vector", None, None, None)
    if row.similarity is None:
        return _absent(id_, "candidates", "no_word", None, None, None)
    found = searched.found.candidates.similarity
    farthest = float(np.nanmin(found)) if len(found) and not np.isnan(found).all() else None
    return _absent(id_, "candidates", "not_a_candidate", row.similarity, farthest, row.similarity)


async def _found_update(engine: Engine, caller: Caller, id_: UUID) -> tuple[str, float] | None:
    """What a memory was found to be replaced by, and how sure that was; None where it was given or told by dates."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        found = await transaction.one("conflict.found_update", tenant=caller.tenant, id=id_)
        if found is None:
            return None
        hidden = await hidden_among(transaction, caller, [found[0]])
    return "another memory" if hidden else str(found[0]), found[1]


def _conditions(row: Any, now: Any, scope: Scope, successor: str) -> list[tuple[bool, str, Any, Any]]:
    """What a scope demands, in its statement's order: whether the memory fails, the rule, its value, the threshold."""
    valid_at = scope.valid_at
    ended = row.invalidated_at is not None and row.invalidated_at <= valid_at
    lives_on = row.invalidated_at is not None and not ended
    outlived = row.superseded_by is not None and not (scope.include_superseded or lives_on)
    return [
        (not row.named, "namespace", row.namespace, None),
        (row.status != "active", "status", row.status, "active"),
        (row.maturity == "invalidated", "wrong", row.maturity, None),
        (row.expires_at is not None and row.expires_at <= now, "expired", _iso(row.expires_at), _iso(now)),
        (
            row.valid_from is not None and row.valid_from > valid_at,
            "not_yet_valid",
            _iso(row.valid_from),
            _iso(valid_at),
        ),
        (outlived, "superseded", successor, None),
        (
            row.superseded_by is None and ended,
            "invalidated",
            _iso(row.invalidated_at),
            _iso(valid_at),
        ),
        (not row.filtered, "filter", None, None),
    ]


def _iso(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat()


def _absent(id_: UUID, stage: str, rule: str, value: Any, threshold: Any, similarity: float | None) -> Explanation:
    return Explanation(
        memory_id=id_,
        returned=False,
        stage=stage,
        rule=rule,
        value=value,
        threshold=threshold,
        similarity=similarity,
        reason=reason(rule, value, threshold),
    )
