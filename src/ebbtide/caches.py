"""What one engine remembers between calls: shapes of scopes, scores of a reranker, accesses not yet written down."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from ebbtide.types.recall import Intent

__all__ = [
    "Access",
    "AccessBuffer",
    "GovernanceCache",
    "IntentCache",
    "OutgrownTenants",
    "Read",
    "ReadBuffer",
    "Readings",
    "RerankCache",
    "ScopeCache",
    "ScopeShape",
    "StemCache",
    "VectorCache",
    "WordSample",
]

MOST_SCOPES = 1_000
MOST_TENANTS = 1_000
MOST_LAID_DOWN = 1_000
MOST_STEMS = 50_000
SAMPLE_SECONDS = 300.0
ASK_AGAIN_SECONDS = 60.0
MOST_INTENTS = 1_000
INTENT_SECONDS = 300.0
MOST_RERANKED = 500
MOST_VECTORS = 500
VECTOR_SECONDS = 300.0
MOST_SCORES = 500
RERANK_LIFE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class WordSample:
    """In how many of `sampled` memories each word occurs, and when that was seen."""

    counts: Mapping[str, int]
    sampled: int
    scope_rows: int
    seen_at: float

    def share(self, word: str) -> float:
        """The share of memories that hold the word, in [0, 1]; 0 for one that the sample lacks."""
        return self.counts.get(word, 0) / max(self.sampled, 1)

    def fits(self, rows: int) -> bool:
        """Whether it still describes the scope: at most a tenth of its rows came or went, and not long ago."""
        return abs(rows - self.scope_rows) * 10 <= self.scope_rows and time.monotonic() - self.seen_at < SAMPLE_SECONDS


@dataclass(frozen=True, slots=True)
class ScopeShape:
    """What a scope holds: its live rows, its agent's speakers, how common its words are, whether it has an index.

    `linked` says whether the agent knows any entities.
    """

    rows: int
    speakers: tuple[str, ...]
    sample: WordSample
    indexed: bool = False
    linked: bool = False


class ScopeCache:
    """Shapes of scopes, each for a few seconds, out of date as soon as this engine writes to their tenant."""

    def __init__(self) -> None:
        self._shapes: OrderedDict[tuple[str, Hashable], tuple[float, ScopeShape]] = OrderedDict()

    def get(self, tenant: str, scope: Hashable) -> ScopeShape | None:
        """The shape of a scope, unless it is out of date."""
        found = self._shapes.get((tenant, scope))
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def last_sample(self, tenant: str, scope: Hashable) -> WordSample | None:
        """The words of a scope as they were last seen; few writes change how common a word is."""
        found = self._shapes.get((tenant, scope))
        return found[1].sample if found is not None else None

    def put(self, tenant: str, scope: Hashable, shape: ScopeShape, *, seconds: float) -> None:
        """Remember a shape for so long; the oldest one makes room."""
        self._shapes[tenant, scope] = (time.monotonic() + seconds, shape)
        self._shapes.move_to_end((tenant, scope))
        while len(self._shapes) > MOST_SCOPES:
            self._shapes.popitem(last=False)

    def forget(self, tenant: str) -> None:
        """Put the shapes of a tenant that changed out of date; an indexed scope's, which few writes change, may age."""
        for key, (_, shape) in list(self._shapes.items()):
            if key[0] == tenant and not shape.indexed:
                self._shapes[key] = (0.0, shape)

    def clear(self) -> None:
        """Drop every shape, as when an index was built."""
        self._shapes.clear()


class StemCache:
    """What the store's dictionaries make of single words; it never changes while a store is open."""

    def __init__(self) -> None:
        self._stems: dict[str, tuple[str, ...]] = {}

    def unknown(self, words: Iterable[str]) -> list[str]:
        """Those of the words that nobody asked about yet."""
        return [word for word in words if word not in self._stems]

    def learn(self, stems: Mapping[str, Iterable[str]]) -> None:
        """Remember what became of some words; what is known makes room where it is too much."""
        if len(self._stems) + len(stems) > MOST_STEMS:
            self._stems.clear()
        self._stems.update((word, tuple(found)) for word, found in stems.items())

    def of(self, words: Iterable[str]) -> set[str]:
        """The stems of words that are all known; a word too common to be searched has none."""
        return {stem for word in words for stem in self._stems[word]}


@dataclass(slots=True)
class Access:
    """How often a memory came back since the last flush, and when it last did."""

    count: int
    last: datetime


@dataclass(slots=True)
class AccessBuffer:
    """Accesses by tenant and memory, a tenant's taken out as a whole when they are written."""

    _accesses: dict[str, dict[UUID, Access]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, tenant: str, ids: tuple[UUID, ...], moment: datetime) -> None:
        """Count one access of each memory."""
        with self._lock:
            counts = self._accesses.setdefault(tenant, {})
            for id_ in ids:
                known = counts.setdefault(id_, Access(0, moment))
                known.count += 1
                known.last = max(known.last, moment)

    def tenants(self) -> set[str]:
        """The tenants of which something was counted."""
        with self._lock:
            return set(self._accesses)

    def take(self, tenant: str) -> dict[UUID, Access]:
        """Everything counted of a tenant so far; counting starts anew."""
        with self._lock:
            return self._accesses.pop(tenant, {})

    def put_back(self, tenant: str, taken: Mapping[UUID, Access]) -> None:
        """Add what was taken and could not be written to what was counted meanwhile."""
        with self._lock:
            counts = self._accesses.setdefault(tenant, {})
            for id_, access in taken.items():
                known = counts.setdefault(id_, Access(0, access.last))
                known.count += access.count
                known.last = max(known.last, access.last)


Readings = Callable[[], tuple[bytes, Sequence[Sequence[float] | None]]]


@dataclass(frozen=True, slots=True)
class Read:
    """One read: who, when, by which verb, under which profile, and which memories came back with which relevance.

    `profile` and `relevance` are None and empty where nothing was ranked. `id` is that of the log's entry, None where
    there is none, and `readings` works out what is to be learnt from it, when it is written down: the signature of the
    profile, and what it weighed of each memory, None for one that it did not rank.
    `terms` are the words of the query of which is learnt what the hits mention; none where nothing is.
    """

    agent: str
    user: str | None
    at: datetime
    verb: str
    ids: tuple[UUID, ...]
    profile: str | None = None
    relevance: tuple[float, ...] = ()
    id: UUID | None = None
    readings: Readings | None = None
    terms: tuple[str, ...] = ()


@dataclass(slots=True)
class ReadBuffer:
    """Reads by tenant, a tenant's taken out as a whole when they are written down."""

    _reads: dict[str, list[Read]] = field(default_factory=dict[str, list[Read]])
    _lock: Lock = field(default_factory=Lock)
    _writing: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def writing(self, tenant: str) -> asyncio.Lock:
        """Held while a tenant's reads are written down."""
        return self._writing.setdefault(tenant, asyncio.Lock())

    def add(self, tenant: str, read: Read) -> None:
        """Note a read."""
        with self._lock:
            self._reads.setdefault(tenant, []).append(read)

    def tenants(self) -> set[str]:
        """The tenants of which something was noted."""
        with self._lock:
            return set(self._reads)

    def take(self, tenant: str) -> list[Read]:
        """Everything noted of a tenant so far, in order."""
        with self._lock:
            return self._reads.pop(tenant, [])

    def put_back(self, tenant: str, taken: Sequence[Read]) -> None:
        """Put what was taken and could not be written before what was noted meanwhile."""
        with self._lock:
            self._reads[tenant] = [*taken, *self._reads.get(tenant, ())]


@dataclass(slots=True)
class OutgrownTenants:
    """Tenants with a scope too large for exact search, each told of once a minute, since many recalls notice."""

    _waiting: set[str] = field(default_factory=set[str])
    _told: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, tenant: str) -> None:
        """Note that a recall met such a scope."""
        if time.monotonic() >= self._told.get(tenant, 0.0):
            self._waiting.add(tenant)

    def take(self) -> list[str]:
        """The tenants noted since the last call, by name."""
        taken, self._waiting = sorted(self._waiting), set()
        self._told.update(dict.fromkeys(taken, time.monotonic() + ASK_AGAIN_SECONDS))
        return taken


class IntentCache:
    """What a model took queries to want, each for five minutes; the oldest one makes room."""

    def __init__(self) -> None:
        self._intents: OrderedDict[tuple[str, str], tuple[float, Intent]] = OrderedDict()

    def get(self, tenant: str, query: str) -> Intent | None:
        """The intent of a tenant's query, unless it was never asked for or is out of date."""
        found = self._intents.get((tenant, query))
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def put(self, tenant: str, query: str, intent: Intent) -> None:
        """Remember an answer."""
        self._intents[tenant, query] = (time.monotonic() + INTENT_SECONDS, intent)
        self._intents.move_to_end((tenant, query))
        while len(self._intents) > MOST_INTENTS:
            self._intents.popitem(last=False)

    def forget(self, tenant: str) -> None:
        """Drop what a tenant asked."""
        for key in [key for key in self._intents if key[0] == tenant]:
            del self._intents[key]


class GovernanceCache:
    """What tenants have laid down, each as of one revision; what was known at another is dropped."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, tuple[UUID | None, dict[Hashable, Any]]] = OrderedDict()

    def get(self, tenant: str, revision: UUID | None, key: Hashable) -> Any:
        """What is known under the key at this revision, or None."""
        known = self._tenants.get(tenant)
        return known[1].get(key) if known is not None and known[0] == revision else None

    def latest(self, tenant: str, key: Hashable) -> Any:
        """What is known under the key at the revision seen last, or None; the store may have moved on."""
        known = self._tenants.get(tenant)
        return known[1].get(key) if known is not None else None

    def put(self, tenant: str, revision: UUID | None, key: Hashable, value: Any) -> None:
        """Remember a value that was read at this revision; the tenant unused longest makes room."""
        known = self._tenants.get(tenant)
        if known is None or known[0] != revision or len(known[1]) >= MOST_LAID_DOWN:
            known = (revision, dict[Hashable, Any]())
        known[1][key] = value
        self._tenants[tenant] = known
        self._tenants.move_to_end(tenant)
        while len(self._tenants) > MOST_TENANTS:
            self._tenants.popitem(last=False)

    def forget(self, tenant: str) -> None:
        """Drop what is known of a tenant."""
        self._tenants.pop(tenant, None)


Scores = dict[tuple[UUID, int], float]


class RerankCache:
    """A reranker's scores for the memories of a user's query, by id and revision, for 60 s from the first of them.

    A memory that was revised has another revision and is asked about anew. Of the query only its hash is kept.
    Source: Eryx 5.
    """

    def __init__(self) -> None:
        self._queries: OrderedDict[tuple[str, str | None, bytes], tuple[datetime, Scores]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._queries)

    def of(self, tenant: str, user: str | None, query: str, now: datetime) -> Scores:
        """The scores known for a query, which may be added to; the query unused longest makes room for a new one."""
        key = (tenant, user, hashlib.sha256(query.encode()).digest())
        known = self._queries.get(key)
        if known is None or not known[0] <= now < known[0] + RERANK_LIFE or len(known[1]) >= MOST_SCORES:
            known = self._queries[key] = (now, Scores())
        self._queries.move_to_end(key)
        while len(self._queries) > MOST_RERANKED:
            self._queries.popitem(last=False)
        return known[1]

    def forget(self, tenant: str) -> None:
        """Drop what is known of a tenant, as when something of it was forgotten."""
        for key in [key for key in self._queries if key[0] == tenant]:
            self._queries.pop(key)[1].clear()


class VectorCache:
    """The vectors of queries that tenants asked in the last five minutes: a context or an explanation follows a recall.

    Of a query only its hash is kept. Tenants do not share them: how fast an answer comes would tell what others ask.
    """

    def __init__(self) -> None:
        self._vectors: OrderedDict[tuple[str, bytes], tuple[float, Any]] = OrderedDict()

    def get(self, tenant: str, text: str) -> Any:
        """The vector of a text as the driver sends it, None where it is not known or out of date."""
        found = self._vectors.get(_text_key(tenant, text))
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def put(self, tenant: str, text: str, vector: Any) -> None:
        """Remember a vector; the oldest one makes room."""
        key = _text_key(tenant, text)
        self._vectors[key] = (time.monotonic() + VECTOR_SECONDS, vector)
        self._vectors.move_to_end(key)
        while len(self._vectors) > MOST_VECTORS:
            self._vectors.popitem(last=False)

    def clear(self) -> None:
        """Drop every vector."""
        self._vectors.clear()


def _text_key(tenant: str, text: str) -> tuple[str, bytes]:
    return tenant, hashlib.sha256(text.encode()).digest()
