"""The read path: from a query to hits, one line a step."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.caches import Read
from ebbtide.checks import check_flag, check_vector
from ebbtide.db.arrays import plain_array
from ebbtide.db.vectors import as_halfvec
from ebbtide.govern.access import READ, check_revision, narrow_within, profile_within, requires
from ebbtide.govern.profiles import resolve_profile
from ebbtide.govern.rules import revision_in, rules_at, rules_last_seen
from ebbtide.identifiers import new_id
from ebbtide.rank.gates import select
from ebbtide.rank.profile import Profile
from ebbtide.rank.score import Scored, score
from ebbtide.read.branch import on_branch
from ebbtide.read.fuse import find_each, in_parts
from ebbtide.read.intent import check_intent, kinds_of, read_intent
from ebbtide.read.narrowing import narrowest
from ebbtide.read.personal import shown
from ebbtide.read.question import Question, read_question
from ebbtide.read.readings import readings_of
from ebbtide.read.report import hits_of, trace_of
from ebbtide.read.rerank import Ordered, depth_of, reorder
from ebbtide.read.resurrect import faded_in, resurrect
from ebbtide.read.route import Route, plan_route, shape_of
from ebbtide.read.routing import learnt_from
from ebbtide.read.scope import ASKED, Scope, check_known, make_scope
from ebbtide.read.search import Search
from ebbtide.read.searched import Chosen, Searched
from ebbtide.read.seen import without_hidden
from ebbtide.read.words import read_words
from ebbtide.types.base import trusted
from ebbtide.types.recall import Recall
from ebbtide.write.context import refresh_around
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.candidates import Found
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Kind, Memory
    from ebbtide.types.recall import Intent
    from ebbtide.types.rules import Rule

__all__ = ["Searched", "note_access", "recall", "search", "search_and_revive"]


@dataclass(slots=True)
class Stopwatch:
    """How long each step took, in milliseconds of wall time."""

    started: float = field(default_factory=time.perf_counter)
    steps: dict[str, float] = field(default_factory=dict[str, float])

    def lap(self, step: str) -> None:
        """Add the time since the last lap to the step's; it may be taken several times."""
        now = time.perf_counter()
        self.steps[step] = round(self.steps.get(step, 0.0) + (now - self.started) * 1000, 3)
        self.started = now


@requires(READ, search=True)
async def recall(engine: Engine, caller: Caller, query: str, *, trace: bool = False, **asked: Any) -> Recall:
    """The memories worth most for a query, best first. See `AsyncEbbtide.recall`."""
    check_known(asked, ASKED)
    check_flag(trace, "trace")
    searched = await search_and_revive(engine, caller, query, **asked)
    hits = hits_of(searched)
    recall_id = note_access(engine, searched, {hit.id: hit.relevance for hit in hits})
    return trusted(
        Recall,
        hits=hits,
        nothing_relevant=searched.selection.nothing_relevant,
        intent=searched.purpose.intent,
        trace=trace_of(searched) if trace else None,
        warnings=searched.notes,
        recall_id=recall_id,
    )


def note_access(engine: Engine, searched: Searched, returned: Mapping[UUID, float]) -> UUID | None:
    """Note what a search returns as read and accessed, by its relevance; a look into the past holds nothing firmer.

    Answers with the id of the log's entry, None where none is kept.
    """
    caller, now, ids = searched.scope.caller, searched.scope.now, tuple(returned)
    if searched.scope.as_of is None:
        engine.accesses.add(caller.tenant, ids, now)
    relevance, settings = tuple(returned.values()), engine.settings
    recall_id = new_id(now) if settings.recall_log_days else None
    terms = learnt_from(searched) if recall_id else ()
    readings = readings_of(searched, ids) if recall_id and settings.judgement_days else None
    engine.reads.add(
        caller.tenant,
        Read(
            caller.agent, caller.user, now, "recall", ids, searched.profile.name, relevance, recall_id, readings, terms
        ),
    )
    return recall_id


async def search_and_revive(engine: Engine, caller: Caller, query: str, **asked: Any) -> Searched:
    """As `search`; where little that lives answers, what faded comes back to life first and takes part."""
    watch = Stopwatch()
    searched = await search(engine, caller, query, watch=watch, reviving=True, **asked)
    revived = await resurrect(engine, searched, refresh_around)
    if revived is None:
        return searched
    watch.lap("resurrect")
    return replace(await search(engine, caller, query, watch=watch, **asked), resurrected=revived)


async def search(
    engine: Engine,
    caller: Caller,
    query: str,
    *,
    profile: str | Profile | None = None,
    intent: str | None = None,
    limit: int | None = None,
    min_score: float | None = None,
    min_similarity: float | None = None,
    vector: Any = None,
    rerank: bool | None = None,
    asked_at: datetime | None = None,
    trial: Rule | None = None,
    reviving: bool = False,
    watch: Stopwatch | None = None,
    kinds_beside: Mapping[Intent, Sequence[Kind]] = MappingProxyType({}),
    without: Collection[UUID] = (),
    **narrowed: Any,
) -> Searched:
    """Search, score and select, as seen from `asked_at`, or from now; `reviving` also looks for what faded.
    A `trial` is a rule that counts although it is not saved, `watch` runs already, a strategy also looks for
    `kinds_beside`, and `without` is as if it were not there. Raises `InvalidInput` for an argument, and `ModelError`.
    """
    watch, scope = watch or Stopwatch(), make_scope(caller, engine.clock.now(), **narrowed)
    named, advice = profile_within(caller, profile, check_intent(intent))
    shape = await shape_of(engine, scope)
    question = understand(engine, scope, query, shape.speakers, asked_at)
    purpose = await read_intent(engine, caller.tenant, question, intent, ranks=named is None)
    resolved = await resolve_profile(engine, caller, purpose.strategy if named is None else named)
    ranking = narrow_within(caller, resolved, limit=limit, min_score=min_score, min_similarity=min_similarity)
    depth = depth_of(engine, ranking, rerank)
    scope, question = scope.within(kinds_of(purpose, ranking, kinds_beside)), in_parts(question, ranking)
    watch.lap("understand")
    directions, notes = await directions_of(engine, caller.tenant, ranking, question, vector)
    watch.lap("embed")
    route = plan_route(engine, scope, shape, has_vector=directions[0] is not None)
    settings = index_settings(engine, route)
    async with engine.database.transaction(caller.tenant, snapshot=True, settings=settings) as transaction:
        scope, terms = await on_branch(transaction, scope, without), await read_words(engine, transaction, question)
        rules = await rules_last_seen(engine, transaction, caller.tenant)
        sought = Search(scope, ranking, question, terms, directions, route, rules, engine.settings)
        way = await narrowest(transaction, sought)
        while True:
            sought = replace(sought, scope=way.within, rules=rules if trial is None else rules.with_rule(trial))
            found = await find_each(engine, transaction, sought)
            watch.lap("candidates")
            scored = score(ranking, found.candidates, now=sought.moment)
            chosen = await choose(transaction, sought, found, scored, engine.counter.name, depth)
            watch.lap("rank")
            if chosen.revision != rules.revision:
                # They changed since they were last seen. To ask before instead would cost every recall a round trip.
                rules = await rules_at(engine, transaction, caller.tenant, chosen.revision)
            elif (wider := way.wider(chosen.selection, ranking)) is None:
                break
            else:
                way = wider
        faded = await faded_in(engine, transaction, replace(sought, scope=scope), found, chosen) if reviving else ()
    if faded:
        watch.lap("resurrect")
    check_revision(caller, chosen.revision)
    ordered = Ordered(scored, chosen)
    if depth:
        ordered = await reorder(engine, scope, ranking, question, found, ordered)
        watch.lap("rerank")
    return Searched(
        scope, ranking, question, purpose, terms, route, directions, found, ordered.scored, ordered.chosen,
        sought.rules, (*advice, *purpose.notes, *notes, *ordered.notes), watch.steps, faded,
        rerank_scores=ordered.scores, time_filter=way.time_filter, routed=way.routed,
    )  # fmt: skip


def understand(
    engine: Engine, scope: Scope, query: str, speakers: Sequence[str], asked_at: datetime | None
) -> Question:
    """What a query asks, seen from `asked_at`, or else from the moment the scope is of."""
    return read_question(
        query, speakers, longest=engine.settings.max_query_characters, timezone=scope.caller.timezone,
        asked_characters=engine.settings.asked_query_characters, asked_at=asked_at or scope.as_of or scope.now,
    )  # fmt: skip


async def directions_of(
    engine: Engine, tenant: str, profile: Profile, question: Question, vector: Any
) -> tuple[Sequence[Any], tuple[str, ...]]:
    """The vectors of the question and of its parts as the driver sends them, and what the caller should know of that.

    What was not asked for lately is made in one batch. A vector that is given is the question's own; None stands for
    one that cannot be made.
    """
    given = [] if vector is None else [as_halfvec(check_vector(vector, engine.dimension, "vector"))]
    strip = profile.tide is not None and profile.tide.strip_names
    texts = [question.dense if strip else question.asked, *question.parts][len(given) :]
    if engine.embedder is None:
        notes = () if given else ("no embedder is configured: found by full text alone",)
        return [*given, *[None] * len(texts)], notes
    known = {text: engine.vectors.get(tenant, text) for text in texts}
    unknown = [text for text in known if known[text] is None]
    for text, made in zip(unknown, await engine.embedder.embed(unknown) if unknown else (), strict=True):
        known[text] = as_halfvec(made)
        engine.vectors.put(tenant, text, known[text])
    return [*given, *(known[text] for text in texts)], ()


def index_settings(engine: Engine, route: Route) -> Mapping[str, str | int]:
    """How the vector index is searched: so wide, going on until the scope's filter is satisfied, and always.

    Only a plan made for the tenant at hand knows its partition, and so that the order by distance is the index's.
    """
    if route.way != "indexed":
        return {}
    return {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": engine.settings.hnsw_ef_search,
        "hnsw.max_scan_tuples": engine.settings.hnsw_scan_rows,
        "plan_cache_mode": "force_custom_plan",
        "enable_seqscan": "off",
        "enable_sort": "off",
    }


async def choose(
    transaction: Transaction, search: Search, found: Found, scored: Scored, counter: str, depth: int = 0
) -> Chosen:
    """The final selection and its memories; where one is withheld for its personal data, the next candidates refill.

    With a `depth`, the memories of so many that passed the gates are read, and those of their duplicates.
    """
    withheld: list[int] = []
    seen: dict[UUID, Memory | None] = {}
    counted: dict[UUID, int] = {}
    revision: UUID | None = None
    loaded, unsettled = False, False
    scope, profile = search.scope, search.profile
    of_whom: dict[str, Any] = {"tenant": scope.caller.tenant, "agent": scope.caller.agent}
    while True:
        selection = select(
            profile, found.candidates, scored, withheld=withheld, include_superseded=scope.include_superseded
        )
        places = selection.reach(depth) if depth else selection.kept.tolist()
        ids: list[UUID] = [cast("UUID", found.candidates.ids[place]) for place in places]
        missing = [id_ for id_ in ids if id_ not in seen]
        if missing:
            rows = await transaction.all(
                "recall.rows" + scope.suffix, **of_whom, ids=plain_array(missing), as_of=scope.as_of, counter=counter
            )
            revision = rows[0][-2]
            unsettled = unsettled or rows[0][-1]
            for *row, tokens, _, _ in rows:
                memory = memory_of(row)
                seen[memory.id] = made = shown(memory, profile, search.rules)
                if tokens is not None and made is memory:
                    counted[memory.id] = tokens
            loaded = True
        holding = [place for place, id_ in zip(places, ids, strict=True) if seen[id_] is None]
        if not holding:
            break
        withheld += holding
    if not loaded:
        revision = await revision_in(transaction, scope.caller.tenant)
    disputed = await transaction.all("conflict.disputed", **of_whom, ids=ids) if unsettled else ()
    returned = [memory for memory in seen.values() if memory is not None]
    memories = {one.id: one for one in await without_hidden(transaction, scope.caller, returned)}
    return Chosen(selection, memories, frozenset(row[0] for row in disputed), counted, revision, tuple(withheld))
