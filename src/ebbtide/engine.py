"""The engine: everything a path needs, passed first to each of them; there are no globals."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebbtide.clock import Clock
    from ebbtide.db.database import Database
    from ebbtide.db.migrate import StoreFacts
    from ebbtide.models.classifier import Classifier
    from ebbtide.models.consolidator import Consolidator
    from ebbtide.models.extractor import Extractor
    from ebbtide.models.intents import IntentModel
    from ebbtide.models.protocols import Embedder, Reranker
    from ebbtide.models.summariser import Summariser
    from ebbtide.settings import Settings

from ebbtide.caches import (
    AccessBuffer,
    GovernanceCache,
    IntentCache,
    OutgrownTenants,
    ReadBuffer,
    RerankCache,
    ScopeCache,
    StemCache,
    VectorCache,
)
from ebbtide.models.breaker import CircuitBreaker
from ebbtide.models.tokens import TokenCounter, create_counter

__all__ = ["Engine"]


@dataclass(frozen=True, slots=True)
class Engine:
    """One opened store with the model, the settings and the clock it is used with.

    `tenants` are those the store is known to know; `outgrown` are those with a scope too large for exact search.
    `counter` counts tokens.
    `chance` is what is left to chance, repeatable where it has a seed.
    `breaker` leaves a reranker alone that fails, `reranks` are its scores. Who reads a document holds `ingesting`.
    """

    database: Database
    facts: StoreFacts
    embedder: Embedder | None
    settings: Settings
    clock: Clock
    scopes: ScopeCache = field(default_factory=ScopeCache)
    stems: StemCache = field(default_factory=StemCache)
    vectors: VectorCache = field(default_factory=VectorCache)
    accesses: AccessBuffer = field(default_factory=AccessBuffer)
    reads: ReadBuffer = field(default_factory=ReadBuffer)
    outgrown: OutgrownTenants = field(default_factory=OutgrownTenants)
    governance: GovernanceCache = field(default_factory=GovernanceCache)
    classifier: Classifier | None = None
    intent_model: IntentModel | None = None
    extractor: Extractor | None = None
    summariser: Summariser | None = None
    consolidator: Consolidator | None = None
    intents: IntentCache = field(default_factory=IntentCache)
    reranker: Reranker | None = None
    reranks: RerankCache = field(default_factory=RerankCache)
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    chance: Random = field(default_factory=Random)
    tenants: set[str] = field(default_factory=set[str])
    ingesting: asyncio.Lock = field(default_factory=asyncio.Lock)
    counter: TokenCounter = field(default_factory=lambda: create_counter(None, None))

    @property
    def dimension(self) -> int | None:
        """Dimensions of the store's vectors; None while no model is recorded."""
        return self.facts.model_dimension
