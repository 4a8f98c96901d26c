"""The listwise law of `tide`: dense and lexical evidence over the whole list, then general rules about it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ebbtide.rank.candidates import Booleans, Candidates, Floats, Integers, ListwiseInputs
from ebbtide.rank.factors import asked_time_share
from ebbtide.rank.links import lift
from ebbtide.rank.parts import LexicalNeighbours, TideParameters

__all__ = ["latest_multiplier", "lend_scores", "neighbour_lexical", "scale_to_range", "score_listwise"]

NAMES = (
    "dense",
    "lexical",
    "neighbours",
    "named_speaker",
    "question",
    "asked_time",
    "latest",
    "namespace",
    "supersession",
)

REPEATED_QUESTION, OUTDATED, GRAPH = "repeated_question", "outdated", "graph"
STEPS_OF_SOME = (REPEATED_QUESTION, OUTDATED, GRAPH)
"""The columns that only some lists have, behind those of `NAMES`."""

# Further apart than any two positions in one conversation, so that its ends never touch the next one's.
POSITIONS_PER_CHAT = 2**40


# Where the message stands that hands something on, as seen from the one that takes it: before, after, two before.
OFFSETS = np.array([[-1], [1], [-2]])
OFFSET_ROWS = np.arange(len(OFFSETS))[:, np.newaxis]


def score_listwise(parameters: TideParameters, candidates: Candidates) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Values (n,), contributions (n, 9) that sum to them, and the names of the columns; more where a message is the
    query itself, where one is outdated, and after a walk.

    `S = w_d · scaled(q·v + c · q·context) + w_l · min(L' / Σ idf, cap)`, then times the boosts that apply, each
    credited with what it adds; then a successor takes the score of what it superseded, where that is higher; what is
    outdated falls behind; and what the graph links to the query or to the best hits is lifted towards these.
    Inputs that are absent leave their step without effect. Source: measured on LoCoMo and Mixed.
    """
    count = len(candidates)
    inputs = candidates.listwise or ListwiseInputs(lexical=np.zeros(count), lexical_maximum=0.0)
    nearness, repeats = _dense(parameters, candidates, inputs), _some(inputs.repeats_query)
    if repeats is not None:
        # As near as nothing else is, the query itself would make all others look far.
        nearness = np.where(repeats, np.nan, nearness)
    dense = parameters.dense_weight * scale_to_range(nearness)
    own, smoothed = _lexical(parameters, inputs)
    values = dense + smoothed
    columns, nothing = [dense, own, smoothed - own], np.zeros(count)
    for multiplier in _multipliers(parameters, candidates, inputs):
        columns.append(nothing if multiplier is None else values * (multiplier - 1.0))
        values = values if multiplier is None else values + columns[-1]
    more: dict[str, Floats] = {}
    if repeats is not None:
        more[REPEATED_QUESTION] = np.where(repeats, values * (parameters.repeated_question_penalty - 1.0), 0.0)
        values = values + more[REPEATED_QUESTION]
    settled = _supersede(parameters, values, candidates.superseded, inputs.successor_index)
    columns.append(nothing if settled is values else settled - values)
    if (outdated := _some(candidates.outdated)) is not None:
        more[OUTDATED] = np.where(outdated, settled * (parameters.outdated_penalty - 1.0), 0.0)
        settled = settled + more[OUTDATED]
    if candidates.linked is not None:
        lifted = lift(settled, candidates.linked, weight=parameters.graph_weight, place=parameters.graph_place)
        more[GRAPH], settled = lifted - settled, lifted
    return settled, np.array([*columns, *more.values()]).T, (*NAMES, *more)


def scale_to_range(values: Floats) -> Floats:
    """`(x - min) / (max - min)` in [0, 1]; NaN, a row without a vector, becomes 0.

    Where all values are equal, as with a single candidate, each is the best there is and becomes 1.
    """
    known = ~np.isnan(values)
    if not known.all():
        scaled = np.zeros(len(values))
        scaled[known] = scale_to_range(values[known])
        return scaled
    if not len(values) or (highest := values.max()) == (lowest := values.min()):
        return np.ones(len(values))
    return (values - lowest) / (highest - lowest)


def _some(flags: Booleans | None) -> Booleans | None:
    """The flags, None where none is set."""
    return flags if flags is not None and flags.any() else None


def _dense(parameters: TideParameters, candidates: Candidates, inputs: ListwiseInputs) -> Floats:
    dense = candidates.similarity if inputs.dense_similarity is None else inputs.dense_similarity
    context = inputs.context_similarity
    # With nothing before it, a memory is its own context.
    context = dense if context is None else np.where(np.isnan(context), dense, context)
    return dense + parameters.context_weight * context


def _lexical(parameters: TideParameters, inputs: ListwiseInputs) -> tuple[Floats, Floats]:
    """The weighted lexical score of each row alone, and with its neighbours'. Zero for a query without terms."""
    if inputs.lexical_maximum <= 0:
        return np.zeros(len(inputs.lexical)), np.zeros(len(inputs.lexical))
    smoothed = inputs.lexical
    if inputs.chats is not None and inputs.sequence is not None:
        smoothed = smoothed + neighbour_lexical(
            inputs.lexical, inputs.chats, inputs.sequence, parameters.neighbours, inputs.is_question
        )
    own, smoothed = (
        parameters.lexical_weight * np.minimum(raw / inputs.lexical_maximum, parameters.lexical_cap)
        for raw in (inputs.lexical, smoothed)
    )
    return own, smoothed


def neighbour_lexical(
    lexical: Floats,
    chats: Sequence[Hashable],
    sequence: Floats,
    weights: LexicalNeighbours,
    is_question: Booleans | None = None,
) -> Floats:
    """What each row takes over from the messages before and after it in its conversation, ≥ 0, shape (n,).

    `previous · L(s-1) + next · L(s+1) + two_before · L(s-2)`, where L is 0 for a message that is no candidate, and
    `previous` grows by `answered_question` where the message before asks. Where two candidates claim one position (a
    message and a fact drawn from it), the stronger one speaks for it, and it asks where one of them does.
    """
    total = np.zeros(len(lexical))
    codes: dict[Hashable, int] = {key: code for code, key in enumerate(dict.fromkeys(chats))}
    if None in codes:
        codes[None] = -1
    chat = np.array([codes[key] for key in chats], dtype=np.int64)
    placed = np.flatnonzero((chat >= 0) & ~np.isnan(sequence))
    if not placed.size:
        return total
    keys = chat[placed] * POSITIONS_PER_CHAT + sequence[placed].astype(np.int64)
    order = keys.argsort(kind="stable")
    positions, strongest = keys[order], lexical[placed][order]
    asking = np.zeros(len(keys), dtype=np.bool_) if is_question is None else is_question[placed][order]
    differs = positions[1:] != positions[:-1]
    if not differs.all():
        starts = np.flatnonzero(np.concatenate(([True], differs)))
        positions = positions[starts]
        strongest, asking = np.maximum.reduceat(strongest, starts), np.logical_or.reduceat(asking, starts)
    handed = np.array(
        [
            (weights.previous + weights.answered_question * asking) * strongest,
            weights.next * strongest,
            weights.two_before * strongest,
        ]
    )
    sought = keys + OFFSETS
    nearest = np.minimum(positions.searchsorted(sought), len(positions) - 1)
    total[placed] = np.where(positions[nearest] == sought, handed[OFFSET_ROWS, nearest], 0.0).sum(axis=0)
    return total


def latest_multiplier(observed_at: Floats, created_at: Floats, boost: float) -> Floats:
    """`1 + boost · rank`, where rank goes from 0 for the oldest candidate to 1 for the newest, shape (n,).

    A memory's age counts from its observation, else from its creation.
    """
    moments = np.where(np.isnan(observed_at), created_at, observed_at)
    rank = np.argsort(np.argsort(moments, kind="stable"), kind="stable")
    return 1.0 + boost * rank / max(len(moments) - 1, 1)


def _multipliers(
    parameters: TideParameters, candidates: Candidates, inputs: ListwiseInputs
) -> tuple[Floats | None, ...]:
    """The factor of each boost, None for one that changes nothing."""
    speaks, asks, after = inputs.speaker_matches, inputs.is_question, candidates.days_after_asked
    asked = latest = None
    if after is not None:
        share = asked_time_share(after, parameters.asked_time_fade_days)
        asked = 1.0 + (parameters.asked_time_boost - 1.0) * share
    if inputs.asks_for_latest and parameters.latest_boost > 0:
        latest = latest_multiplier(candidates.observed_at, candidates.created_at, parameters.latest_boost)
    return (
        None if speaks is None else np.where(speaks, parameters.named_speaker_boost, 1.0),
        None if asks is None else np.where(asks, parameters.question_penalty, 1.0),
        asked,
        latest,
        1.0 + candidates.bonuses if parameters.namespace_bonuses and candidates.bonuses.any() else None,
    )


def _supersede(
    parameters: TideParameters, values: Floats, superseded: Booleans | None, successor_index: Integers | None
) -> Floats:
    if successor_index is not None and parameters.lend_superseded_score:
        values = lend_scores(values, successor_index)
    if superseded is None or not superseded.any():
        return values
    return np.where(superseded, values * parameters.superseded_penalty, values)


def lend_scores(values: Floats, successor_index: Integers) -> Floats:
    """Each successor's `max(own, what it superseded)`, along whole chains, shape (n,).

    `successor_index[i]` is the position of the candidate that superseded i, -1 for none.
    """
    lenders = np.flatnonzero(successor_index >= 0)
    borrowers = successor_index[lenders]
    lent = values.copy()
    # A round passes scores on by one link; values only ever rise to one that is in the list, so it ends.
    while np.any(lent[lenders] > lent[borrowers]):
        np.maximum.at(lent, borrowers, lent[lenders])
    return lent
