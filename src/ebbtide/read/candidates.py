"""The candidates of a recall: both arms, in one statement on one snapshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ebbtide.rank.candidates import Candidates, ListwiseInputs, Source
from ebbtide.read.question import term_query
from ebbtide.text import words_text

if TYPE_CHECKING:
    from uuid import UUID

    from ebbtide.caches import WordSample
    from ebbtide.db.database import Transaction
    from ebbtide.govern.rules import RuleBook
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.route import Route
    from ebbtide.read.scope import Scope
    from ebbtide.settings import Settings

__all__ = ["Found", "Terms", "find", "read_prelude"]

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
LISTWISE_COLUMNS = 16
BY_VECTOR, SUPERSEDED_BY = 3, 6

# In a large scope the best rows of each arm bring the turns around them along.
ADJACENT_TURNS = 20

SOURCES = {
    (True, True): Source.BOTH,
    (True, False): Source.VECTOR,
    (False, True): Source.FULL_TEXT,
    (False, False): Source.GRAPH,
}


@dataclass(frozen=True, slots=True)
class Terms:
    """The words a query is searched by, and the query of each."""

    words: tuple[str, ...]

    @property
    def queries(self) -> list[str]:
        """One tsquery a word, as text."""
        return [term_query(word) for word in self.words]

    @property
    def any(self) -> str:
        """The tsquery that any of the words satisfies; empty for no words."""
        return " | ".join(self.queries)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, and for each the namespace and the words' score."""

    candidates: Candidates
    namespaces: tuple[str, ...]
    lexical: NDArray[np.float64]


async def read_prelude(
    transaction: Transaction, tenant: str, question: Question, configuration: str
) -> tuple[Terms, UUID | None]:
    """The query's words, stemmed as the store's memories are, and the revision of what the tenant laid down."""
    words, revision = await transaction.one(
        "recall.prelude", tenant=tenant, configuration=configuration, text=words_text(question.asked, asking=True)
    )
    return Terms(tuple(words)), revision


async def find(
    transaction: Transaction,
    scope: Scope,
    profile: Profile,
    question: Question,
    terms: Terms,
    vector: Any,
    route: Route,
    settings: Settings,
    rules: RuleBook,
) -> Found:
    """The rows either arm finds, with what the profile's law reads of each, and what superseded some of them."""
    tide = profile.tide
    lends = tide is not None and tide.lend_superseded_score
    searched = terms if profile.full_text.search != "off" else Terms(())
    rarity = [idf(route.rows, route.sample.share(word) * route.rows) for word in searched.words]
    most = max(settings.candidate_rows, profile.limit)
    parameters = {
        **scope.parameters(with_superseded=scope.include_superseded or lends),
        "terms": searched.queries,
        "any_term": searched.any,
        "idfs": rarity,
        "budget_terms": " | ".join(affordable(searched, route.sample, route.rows, settings.lexical_budget_rows)),
        "vector": vector,
        "context_weight": 0.0 if tide is None else tide.context_weight,
        "rows": most,
        "adjacent": ADJACENT_TURNS if tide is not None else 0,
    }
    rows = await transaction.all(STATEMENTS[route.way, tide is not None] + scope.suffix, **parameters)
    if route.way == "indexed" and sum(row[BY_VECTOR] for row in rows) < most:
        # A narrow filter can end the walk through the index before it has found enough; only an exact search is sure.
        rows = await transaction.all(STATEMENTS["exact", tide is not None], **parameters)
    if lends:
        rows = [*rows, *await missing_successors(transaction, scope, rows, parameters)]
    return build(rows, question, rules, sum(rarity))


async def missing_successors(
    transaction: Transaction, scope: Scope, rows: Sequence[Sequence[Any]], parameters: Mapping[str, Any]
) -> Sequence[Sequence[Any]]:
    """The successors of superseded candidates that no arm found: their old wording matched, the new one does not."""
    known = {row[0] for row in rows}
    superseded = [row[0] for row in rows if row[SUPERSEDED_BY] is not None and row[SUPERSEDED_BY] not in known]
    if not superseded:
        return ()
    found = await transaction.all("recall.successors" + scope.suffix, **parameters, ids=superseded, known=list(known))
    return [row[:LISTWISE_COLUMNS] for row in found]


def affordable(terms: Terms, sample: WordSample, rows: int, budget: int) -> list[str]:
    """The queries of the rarest words, until together they find about `budget` rows; at least one."""
    chosen: list[str] = []
    spent = 0.0
    for word in sorted(terms.words, key=sample.share):
        spent += sample.share(word) * rows
        if chosen and spent > budget:
            break
        chosen.append(term_query(word))
    return chosen


def idf(rows: float, found: float) -> float:
    """`ln(1 + (N - n + .5) / (n + .5))`: the rarity of a word that n of N rows hold (BM25's)."""
    return math.log(1 + (max(rows, found) - found + 0.5) / (found + 0.5))


def build(rows: Sequence[Sequence[Any]], question: Question, rules: RuleBook, lexical_maximum: float) -> Found:
    """Candidates from the rows of one statement."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * (LISTWISE_COLUMNS + 10)
    (ids, similarity, context, by_vector, by_words, lexical, successors, superseded, chats, sequence, speakers,
     is_question, created, observed, namespaces, hashes) = columns[:LISTWISE_COLUMNS]  # fmt: skip
    scores = np.array([score or 0.0 for score in lexical]) / RANK_OF_ONE
    observed_at = np.array(observed, dtype=np.float64)
    cosine = np.array(similarity, dtype=np.float64)
    listwise = ListwiseInputs(
        lexical=scores,
        lexical_maximum=lexical_maximum,
        dense_similarity=cosine,
        context_similarity=np.array(context, dtype=np.float64),
        chats=chats,
        sequence=np.array(sequence, dtype=np.float64),
        speaker_matches=np.array([speaker == question.named[0] for speaker in speakers])
        if len(question.named) == 1
        else None,
        is_question=np.array(is_question, dtype=np.bool_),
        asked_time_matches=None if question.window is None else question.window.mask(observed_at),
        asks_for_latest=question.latest,
        successor_index=positions_of(successors, ids),
    )
    bonuses = {namespace: rules.on(namespace).bonus for namespace in set(namespaces)} if rules else {}
    candidates = Candidates.build(
        ids,
        similarity=np.clip(cosine, 0.0, 1.0),
        source=np.array([SOURCES[pair] for pair in zip(by_vector, by_words, strict=True)], dtype=np.int64),
        created_at=np.array(created, dtype=np.float64),
        observed_at=observed_at,
        bonuses=[bonuses[namespace] for namespace in namespaces] if rules else None,
        content_hash=hashes,
        superseded=np.array(superseded, dtype=np.bool_),
        listwise=listwise,
        **(weighed_columns(columns, by_words) if len(columns) > LISTWISE_COLUMNS else {}),
    )
    return Found(candidates, namespaces, scores)


def positions_of(wanted: Sequence[Any], ids: Sequence[Any]) -> NDArray[np.int64] | None:
    """Where each wanted id stands among the ids, -1 for nowhere; None where nothing is wanted."""
    if all(id_ is None for id_ in wanted):
        return None
    position = {id_: place for place, id_ in enumerate(ids)}
    return np.array([-1 if id_ is None else position.get(id_, -1) for id_ in wanted], dtype=np.int64)


def weighed_columns(columns: Sequence[Sequence[Any]], found_by_words: Sequence[bool]) -> Mapping[str, Any]:
    """What only the weighing laws read."""
    importance, confidence, updated, valid_from, mentioned, labels, cover, keywords, usefulness, accesses = (
        columns[LISTWISE_COLUMNS:] or [()] * 10
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
        "text_rank": np.where(np.array(found_by_words, dtype=np.bool_), np.array(cover, dtype=np.float64), np.nan),
        "keyword_share": np.array(keywords, dtype=np.float64),
    }
