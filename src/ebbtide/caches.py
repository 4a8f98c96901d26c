"""What one engine remembers between calls: the shapes of scopes it searched, and accesses not yet written down."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from uuid import UUID

__all__ = ["Access", "AccessBuffer", "OutgrownTenants", "ScopeCache", "ScopeShape", "WordSample"]

MOST_SCOPES = 1_000
ASK_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WordSample:
    """In how many of `sampled` memories each word occurs."""

    counts: Mapping[str, int]
    sampled: int

    def share(self, word: str) -> float:
        """The share of memories that hold the word, in (0, 1]; one that the sample lacks is rarer than any in it."""
        return max(self.counts.get(word, 0), 0.5) / max(self.sampled, 1)


@dataclass(frozen=True, slots=True)
class ScopeShape:
    """What a scope holds: its live rows, its agent's speakers, and, where it is large, how to search it."""

    rows: int
    speakers: tuple[str, ...]
    indexed: bool = False
    sample: WordSample | None = None


class ScopeCache:
    """Shapes of scopes, each for a few seconds, dropped when this engine writes to their tenant."""

    def __init__(self) -> None:
        self._shapes: OrderedDict[tuple[str, Hashable], tuple[float, ScopeShape]] = OrderedDict()

    def get(self, tenant: str, scope: Hashable) -> ScopeShape | None:
        """The shape of a scope, unless it is too old."""
        found = self._shapes.get((tenant, scope))
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def put(self, tenant: str, scope: Hashable, shape: ScopeShape, *, seconds: float) -> None:
        """Remember a shape for so long; the oldest one makes room."""
        self._shapes[tenant, scope] = (time.monotonic() + seconds, shape)
        self._shapes.move_to_end((tenant, scope))
        while len(self._shapes) > MOST_SCOPES:
            self._shapes.popitem(last=False)

    def forget(self, tenant: str) -> None:
        """Drop the shapes of a tenant that changed; a large scope's, which few writes change, may grow old."""
        for key in [key for key, (_, shape) in self._shapes.items() if key[0] == tenant and shape.sample is None]:
            del self._shapes[key]

    def clear(self) -> None:
        """Drop every shape, as when an index was built."""
        self._shapes.clear()


@dataclass(slots=True)
class Access:
    """How often a memory came back since the last flush, and when it last did."""

    count: int
    last: datetime


@dataclass(slots=True)
class AccessBuffer:
    """Accesses by tenant and memory, taken out as a whole when they are written."""

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

    def take(self) -> dict[str, dict[UUID, Access]]:
        """Everything counted so far; counting starts anew."""
        with self._lock:
            taken, self._accesses = self._accesses, {}
        return taken


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
