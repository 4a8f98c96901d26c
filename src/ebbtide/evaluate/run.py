"""Running an evaluation: remember a data set, ask its questions, measure what comes back."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from ebbtide.clock import FixedClock, SystemClock
from ebbtide.errors import InvalidInput
from ebbtide.evaluate.baselines import Ranker, ranker_of
from ebbtide.evaluate.mentions import mentions_of
from ebbtide.evaluate.metrics import RECALL_DEPTHS, QuestionResult
from ebbtide.evaluate.report import Report, summarize
from ebbtide.evaluate.scope import EvaluationScope, Item, Question, merge
from ebbtide.handle import AsyncEbbtide
from ebbtide.types.memory import Draft

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.models.protocols import Embedder, Reranker
    from ebbtide.rank.profile import Profile
    from ebbtide.settings import Settings
    from ebbtide.types.recall import Hit

__all__ = ["Loaded", "Progress", "evaluate", "remembered", "result_of"]

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is of it."""

DEPTH = max(RECALL_DEPTHS)
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """A scope in the store: the handle of its agent, and the memory that each item became."""

    scope: EvaluationScope
    handle: AsyncEbbtide
    memories: dict[str, UUID]


async def evaluate(
    scopes: Sequence[EvaluationScope],
    profiles: Sequence[str | Profile],
    *,
    merged: bool = False,
    embedder: Embedder | str | None = "local",
    reranker: Reranker | str | None = "",
    store: str | None = None,
    progress: Progress | None = None,
    settings: Settings | None = None,
    names: bool = False,
) -> list[Report]:
    """Remember the scopes, ask every question with every profile, and report on each profile, in their order.

    Each scope belongs to an agent of its own; `merged` gives all of them to one. A profile is a built-in one's name, a
    `Profile`, `auto`, or a baseline: `vector` and `fulltext` are one arm alone, `rrf` is both fused by rank; see
    `ranker_of`. Questions ask for 20 hits. A latency is the wall time of one recall in milliseconds, the embedding of
    its question included; the rows a second include the embedding of the rows. The store's clock stands at the latest
    time that the data names, so that the same data gives the same figures on any day. Nothing is counted as an access.

    With `names`, rules read from each text whom and what it mentions, so that there is a graph to walk.
    `embedder` and `reranker` are what `open` takes.
    `store` is a folder or a DSN; the memories then stay there, in a tenant of their own. Otherwise the store is an
    embedded one that is gone afterwards.

    Raises:
        InvalidInput: there is no scope, profile or measurable question, or no profile of a name.
        ModelUnavailable: the reranker failed.
    """
    if not scopes or not profiles:
        raise InvalidInput(
            "An evaluation needs scopes and profiles.",
            field="scopes" if profiles else "profiles",
            remedy="Give at least one of each.",
        )
    rankers = [ranker_of(profile) for profile in profiles]
    asked = [merge(scopes)] if merged else list(scopes)
    tell = progress or _tell_nobody
    opened = remembered(
        asked, embedder=embedder, reranker=reranker, store=store, settings=settings, progress=tell, names=names
    )
    async with opened as (engine, loaded, rows_per_second):
        return [
            summarize(name, await _ask_all(engine, loaded, name, ranker, tell), rows_per_second)
            for name, ranker in rankers
        ]


@asynccontextmanager
async def remembered(
    scopes: Sequence[EvaluationScope],
    *,
    embedder: Embedder | str | None = "local",
    reranker: Reranker | str | None = "",
    store: str | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    names: bool = False,
) -> AsyncGenerator[tuple[Engine, list[Loaded], float]]:
    """An engine on a store that the scopes were remembered in, each scope there, and how many rows that were a second.

    The arguments are those of `evaluate`.
    """
    with ExitStack() as stack:
        location = store or stack.enter_context(TemporaryDirectory(prefix="ebbtide-evaluation-"))
        async with AsyncEbbtide.open(
            location, tenant=f"evaluation-{uuid4().hex}", embedder=embedder, reranker=reranker,
            settings=settings, clock=_clock(scopes),
        ) as handle:  # fmt: skip
            started = time.perf_counter()
            loaded = await _remember(handle, scopes, progress or _tell_nobody, names=names)
            rows = sum(len(scope.items) for scope in scopes)
            yield await handle.engine(), loaded, rows / (time.perf_counter() - started)


def _tell_nobody(stage: str, done: int, total: int) -> None:
    """What is told where nobody listens."""


def _clock(scopes: Sequence[EvaluationScope]) -> FixedClock:
    """A clock at the latest moment the data names; at the present where it names none."""
    moments: list[datetime | None] = [
        *(moment for scope in scopes for item in scope.items for moment in (item.observed_at, item.valid_from)),
        *(question.asked_at for scope in scopes for question in scope.questions),
    ]
    return FixedClock(max((moment for moment in moments if moment), default=SystemClock().now()))


async def _remember(
    handle: AsyncEbbtide, scopes: Sequence[EvaluationScope], tell: Progress, *, names: bool
) -> list[Loaded]:
    total = sum(len(scope.items) for scope in scopes)
    done = 0
    loaded: list[Loaded] = []
    for number, scope in enumerate(scopes):
        agent = handle.scoped(agent=f"scope-{number}")
        memories: dict[str, UUID] = {}
        mentions: Mapping[str, Mapping[str, Any]] = mentions_of(scope.items) if names else {}
        for batch in _batches(scope.items):
            drafts = [_draft(item, memories).model_copy(update=dict(mentions.get(item.id, {}))) for item in batch]
            answers = await agent.scoped(chat=_chat(batch[0].chat)).remember_many(drafts)
            pairs = zip(batch, answers, strict=True)
            memories.update((item.id, answer.memory.id) for item, answer in pairs if answer.memory is not None)
            done += len(batch)
            tell("remember", done, total)
        loaded.append(Loaded(scope, agent, memories))
    return loaded


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items that go into one call: of one chat, and none that supersedes another of them, whose id is not known yet."""
    batch: list[Item] = []
    for item in items:
        waiting = any(item.supersedes == other.id for other in batch)
        if batch and (waiting or item.chat != batch[0].chat or len(batch) == BATCH):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _chat(name: str | None) -> str | None:
    """A data set's name of a chat as one segment of a namespace, which is what the store takes."""
    return None if name is None else "".join(character if character.isalnum() else "_" for character in name)


def _draft(item: Item, memories: dict[str, UUID]) -> Draft:
    """The draft of an item. Its successor must come later in the file: otherwise there is nothing yet to supersede.

    Raises:
        InvalidInput: an item supersedes one that comes after it.
    """
    if item.supersedes is not None and item.supersedes not in memories:
        raise InvalidInput(
            f"The memory {item.id!r} supersedes {item.supersedes!r}, which comes after it.",
            field="supersedes",
            remedy="Put a memory behind the one it supersedes.",
        )
    return Draft(
        content=item.text,
        namespace=item.namespace,
        kind=item.kind,
        labels=item.labels,
        importance=item.importance,
        confidence=item.confidence,
        subject=item.subject,
        predicate=item.predicate,
        observed_at=item.observed_at,
        valid_from=item.valid_from,
        expires_at=item.expires_at,
        supersedes=None if item.supersedes is None else memories[item.supersedes],
        tags=item.tags,
        metadata=dict(item.metadata),
        speaker=item.speaker,
        seq=item.sequence,
    )


async def _ask_all(
    engine: Engine, loaded: Sequence[Loaded], name: str, ranker: Ranker, tell: Progress
) -> list[QuestionResult]:
    total = sum(len(one.scope.questions) for one in loaded)
    results: list[QuestionResult] = []
    # Each profile embeds the questions for itself, or all but the first would look faster than they are.
    engine.vectors.clear()
    for one in loaded:
        for question in one.scope.questions:
            started = time.perf_counter()
            hits = await ranker(engine, one.handle.caller, question.text, DEPTH, question.asked_at)
            latency_ms = (time.perf_counter() - started) * 1000
            results.append(result_of(question, hits, one.memories, latency_ms))
            tell(name, len(results), total)
    return results


def result_of(question: Question, hits: Sequence[Hit], memories: dict[str, UUID], latency_ms: float) -> QuestionResult:
    """Evidence counts as found where a hit says the same: items of one text became one memory, or one hit."""
    shown_as = {duplicate: hit.id for hit in hits for duplicate in hit.duplicates}
    wanted = [memories[item] for item in question.evidence]
    return QuestionResult(
        category=question.type,
        evidence=tuple(dict.fromkeys(str(shown_as.get(id_, id_)) for id_ in wanted)),
        ranked=tuple(str(hit.id) for hit in hits),
        latency_ms=latency_ms,
        measurable=question.measurable,
    )
