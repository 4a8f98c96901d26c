"""The candidates of a recall: both arms, in one statement on one snapshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ebbtide.db.arrays import plain_array, text_array
from ebbtide.rank.candidates import Candidates, ListwiseInputs, Source
from ebbtide.read.question import term_query
from ebbtide.read.words import Terms

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.read.search import Search

__all__ = ["LISTWISE_COLUMNS", "WIDTH", "Found", "build", "find", "parameters_of", "rarity_of", "words_of"]

# ts_rank of a term that occurs once, as a plain D-weighted lexeme: .1 · 6/π². Divided by it, once counts as 1.
RANK_OF_ONE = 0.1 * 6 / math.pi**2

# By the way the scope is searched, and whether the law is listwise.
STATEMENTS = {
    ("exact", True): "recall.exact",
    ("exact", False): "recall.exact_weighed",
    ("indexed", True): "recall.indexed",
    ("indexed", False): "recall.indexed_weighed",
    ("worded", True): "recall.worded",
    ("worded", False): "recall.worded_weighed",
}
LISTWISE_COLUMNS, WEIGHED_COLUMNS = 13, 11
WIDTH = LISTWISE_COLUMNS + WEIGHED_COLUMNS
MARKS, SUPERSEDED_BY = 3, 5

# The bits of a row's marks: which arm found it, as the code of its source, and what holds of it.
FOUND_BY, SUPERSEDED, SPEAKS, ASKS, REPEATS, OUTDATED = 3, 4, 8, 16, 32, 64

# In a large scope the best rows of each arm bring the turns around them along.
ADJACENT_TURNS = 20

FOUND_BY_VECTOR = frozenset({Source.VECTOR, Source.BOTH})


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, and for each the words' score.

    `ranks` are their ranks for the query and for each of its parts, from 1, shape (queries, n), 0 for a candidate that
    one did not find; None for a query of one part.
    """

    candidates: Candidates
    lexical: NDArray[np.float64]
    ranks: NDArray[np.int64] | None = None


async def find(transaction: Transaction, search: Search, keywords: Terms | None = None) -> Found:
    """The rows either arm finds, with what the profile's law reads of each, and what superseded some of them.

    `keywords` are the words of which each row's share is told, where they are not the ones that are searched.
    """
    scope, route, tide = search.scope, search.route, search.profile.tide
    lends = tide is not None and tide.lend_superseded_score
    rarity = rarity_of(words_of(search), route)
    parameters = parameters_of(
        search, rarity=rarity, keywords=keywords, with_superseded=scope.include_superseded or lends
    )
    ending = "_whole" if scope.whole else scope.suffix
    rows = await transaction.all(STATEMENTS[route.way, tide is not None] + ending, **parameters)
    if route.way == "indexed" and sum(row[MARKS] & FOUND_BY in FOUND_BY_VECTOR for row in rows) < parameters["rows"]:
        # A narrow filter can end the walk through the index before it has found enough; only an exact search is sure.
        rows = await transaction.all(STATEMENTS["exact", tide is not None] + ending, **parameters)
    if lends:
        rows = [*rows, *await missing_successors(transaction, scope, rows, parameters)]
    return build(rows, search, math.fsum(rarity))


def words_of(search: Search) -> Terms:
    """The words that the profile searches by."""
    return search.terms if search.profile.full_text.search != "off" else Terms(())


def parameters_of(
    search: Search, *, rarity: Sequence[float], keywords: Terms | None = None, with_superseded: bool
) -> dict[str, Any]:
    """The values of every placeholder in the statements that find and measure candidates.

    `rarity` is that of the words that the profile searches by.
    """
    profile, route, settings, question = search.profile, search.route, search.settings, search.question
    tide, searched = profile.tide, words_of(search)
    budget = () if route.way == "exact" else affordable(searched, route, settings.lexical_budget_rows)
    return {
        **search.scope.parameters(with_superseded=with_superseded),
        "terms": text_array(searched.queries),
        "any_term": searched.any,
        "keywords": (searched if keywords is None else keywords).queries,
        "idfs": plain_array(rarity),
        "budget_terms": " | ".join(budget),
        "vector": search.vector,
        "context_weight": 0.0 if tide is None else tide.context_weight,
        "rows": max(settings.candidate_rows, profile.limit),
        "adjacent": ADJACENT_TURNS if tide is not None else 0,
        "speaker": question.named[0] if len(question.named) == 1 else None,
        "question": question.asked.strip(),
        "ruled": bool(search.rules),
        "weighs_decay": profile.weighs_decay,
        "timed": question.window is not None,
    }


async def missing_successors(
    transaction: Transaction, scope: Scope, rows: Sequence[Sequence[Any]], parameters: Mapping[str, Any]
) -> Sequence[Sequence[Any]]:
    """The successors of superseded candidates that no arm found: their old wording matched, the new one does not."""
    superseded = [row for row in rows if row[SUPERSEDED_BY] is not None]
    if not superseded:
        return ()
    known = {row[0] for row in rows}
    lost = [row[0] for row in superseded if row[SUPERSEDED_BY] not in known]
    if not lost:
        return ()
    found = await transaction.all("recall.successors" + scope.suffix, **parameters, ids=lost, known=list(known))
    return [row[:LISTWISE_COLUMNS] for row in found]


def affordable(terms: Terms, route: Route, budget: int) -> list[str]:
    """The queries of the rarest words, until together they find about `budget` rows; at least one."""
    chosen: list[str] = []
    spent = 0.0
    for word in sorted(terms.words, key=route.sample.share):
        spent += route.sample.share(word) * route.rows
        if chosen and spent > budget:
            break
        chosen.append(term_query(word))
    return chosen


def rarity_of(terms: Terms, route: Route) -> list[float]:
    """How rare each word is in the scope: its idf, in the order of the words."""
    return [idf(route.rows, route.sample.share(word) * route.rows) for word in terms.words]


def idf(rows: float, found: float) -> float:
    """`ln(1 + (N - n + .5) / (n + .5))`: the rarity of a word that n of N rows hold (BM25's)."""
    return math.log(1 + (max(rows, found) - found + 0.5) / (found + 0.5))


def build(rows: Sequence[Sequence[Any]], search: Search, lexical_maximum: float) -> Found:
    """Candidates from the rows of one statement."""
    question, rules = search.question, search.rules
    columns = list(zip(*rows, strict=True)) if rows else [()] * WIDTH
    (ids, similarity, context, marked, lexical, successors, chats, sequence, created, observed, dated, namespaces,
     hashes) = columns[:LISTWISE_COLUMNS]  # fmt: skip
    scores = np.array([score or 0.0 for score in lexical]) / RANK_OF_ONE
    marks = np.array(marked, dtype=np.int64)
    source = marks & FOUND_BY
    created_at, observed_at = np.array(created, dtype=np.float64), np.array(observed, dtype=np.float64)
    cosine = np.array(similarity, dtype=np.float64)
    listwise = ListwiseInputs(
        lexical=scores,
        lexical_maximum=lexical_maximum,
        dense_similarity=cosine,
        context_similarity=np.array(context, dtype=np.float64),
        chats=chats,
        sequence=np.array(sequence, dtype=np.float64),
        speaker_matches=marks & SPEAKS != 0 if len(question.named) == 1 else None,
        is_question=marks & ASKS != 0,
        repeats_query=marks & REPEATS != 0,
        asks_for_latest=question.latest,
        successor_index=positions_of(successors, ids),
    )
    bonuses = {namespace: rules.on(namespace).bonus for namespace in set(namespaces)} if rules else {}
    candidates = Candidates.build(
        ids,
        similarity=np.clip(cosine, 0.0, 1.0),
        source=source,
        created_at=created_at,
        observed_at=observed_at,
        bonuses=[bonuses[namespace] for namespace in namespaces] if rules else None,
        content_hash=hashes,
        superseded=marks & SUPERSEDED != 0,
        outdated=marks & OUTDATED != 0,
        days_after_asked=None
        if question.window is None
        else question.window.days_after(np.array(dated, dtype=np.float64), created_at),
        listwise=listwise,
        **(weighed_columns(columns, source) if len(columns) > LISTWISE_COLUMNS else {}),
    )
    return Found(candidates, scores)


def positions_of(wanted: Sequence[Any], ids: Sequence[Any]) -> NDArray[np.int64] | None:
    """Where each wanted id stands among the ids, -1 for nowhere; None where nothing is wanted."""
    if all(id_ is None for id_ in wanted):
        return None
    position = {id_: place for place, id_ in enumerate(ids)}
    return np.array([-1 if id_ is None else position.get(id_, -1) for id_ in wanted], dtype=np.int64)


def weighed_columns(columns: Sequence[Sequence[Any]], source: NDArray[np.int64]) -> Mapping[str, Any]:
    """What only the weighing laws read."""
    importance, confidence, updated, valid_from, mentioned, labels, cover, keywords, usefulness, accesses, effective = (
        columns[LISTWISE_COLUMNS:] or [()] * WEIGHED_COLUMNS
    )
    return {
        "importance": np.array(importance, dtype=np.float64),
        "confidence": np.array(confidence, dtype=np.float64),
        "updated_at": np.array(updated, dtype=np.float64),
        "valid_from": np.array(valid_from, dtype=np.float64),
        "last_mentioned_at": np.array(mentioned, dtype=np.float64),
        "labels": labels,
        "usefulness": np.array(usefulness, dtype=np.float64),
        "access_count": np.array(accesses, dtype=np.float64),
        "text_rank": np.where(
            (source == Source.FULL_TEXT) | (source == Source.BOTH), np.array(cover, dtype=np.float64), np.nan
        ),
        "keyword_share": np.array(keywords, dtype=np.float64),
        # The statement leaves it out where no factor reads it.
        "effective_confidence": None if effective and effective[0] is None else np.array(effective, dtype=np.float64),
    }
