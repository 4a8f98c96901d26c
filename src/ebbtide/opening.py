"""Opening and closing a store: its server, its schema, its model, and the work done in the background meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ebbtide.background import end
from ebbtide.clock import SystemClock
from ebbtide.db.database import Database
from ebbtide.db.launcher_cluster import refuse_file
from ebbtide.db.launcher_supervisor import DATA_DIRECTORY
from ebbtide.db.location import check_location, is_dsn
from ebbtide.db.migrate import prepare
from ebbtide.engine import Engine
from ebbtide.errors import EbbtideError, InvalidInput, NotFound, StoreUnavailable
from ebbtide.govern.audit import seal_written
from ebbtide.jobs import run_worker
from ebbtide.jobs.index import enqueue_outgrown
from ebbtide.models import create_embedder
from ebbtide.models.classifier import create_classifier
from ebbtide.models.consolidator import create_consolidator
from ebbtide.models.extractor import create_extractor
from ebbtide.models.intents import create_intent_model
from ebbtide.models.rerank import create_reranker
from ebbtide.models.summariser import create_summariser
from ebbtide.models.tokens import create_counter
from ebbtide.read.reinforce import flush
from ebbtide.settings import Settings
from ebbtide.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ebbtide.clock import Clock
    from ebbtide.models.protocols import Embedder, ModelIdentity, Reranker

__all__ = ["Store"]

log = logging.getLogger("ebbtide")

WORKER_DELAY_SECONDS = 1.0
# A worker has a second for the jobs it runs; after twice that the request to end was lost.
PATIENCE_SECONDS = 2.0


class Store:
    """A store between its opening and its closing. One that must be there already is not made in an empty folder."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | str | None = "",
        reranker: Reranker | str | None = "",
        clock: Clock | None = None,
        tokenizer: Callable[[str], int] | None = None,
        must_exist: bool = False,
    ) -> None:
        self.settings = Settings.from_environment() if settings is None else check_settings(settings)
        self.location = check_location(self.settings.store if location is None else location)
        self._must_exist = must_exist
        self._process = os.getpid()
        self.clock = SystemClock() if clock is None else check_clock(clock)
        spec = self.settings.embedder if isinstance(embedder, str) and not embedder else embedder
        # An embedder that the caller brought may serve other stores too, and stays the caller's to close.
        self._owns_embedder = isinstance(spec, str)
        self.embedder = self._create(spec) if isinstance(spec, str) else check_embedder(spec)
        self.classifier = create_classifier(
            self.settings.classifier,
            api_key=self.settings.classifier_api_key,
            timeout_seconds=self.settings.classifier_timeout_seconds,
        )
        self.intent_model = create_intent_model(
            self.settings.intent_model,
            api_key=self.settings.intent_model_api_key,
            timeout_seconds=self.settings.intent_model_timeout_seconds,
        )
        self.extractor = create_extractor(
            self.settings.extractor,
            api_key=self.settings.extractor_api_key,
            timeout_seconds=self.settings.extractor_timeout_seconds,
        )
        self.summariser = create_summariser(
            self.settings.summariser,
            api_key=self.settings.summariser_api_key,
            timeout_seconds=self.settings.summariser_timeout_seconds,
        )
        self.consolidator = create_consolidator(
            self.settings.consolidator,
            api_key=self.settings.consolidator_api_key,
            timeout_seconds=self.settings.consolidator_timeout_seconds,
        )
        self._tokenizer = None if tokenizer is None else create_counter(None, None, tokenizer)
        judge = self.settings.reranker if isinstance(reranker, str) and not reranker else reranker
        self._owns_reranker = isinstance(judge, str)
        self.reranker = self._create_reranker(judge) if isinstance(judge, str) else check_reranker(judge)
        self.closed = False
        self._exits = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._engine: Engine | None = None

    def _create(self, spec: str) -> Embedder | None:
        settings = self.settings
        return create_embedder(
            spec,
            api_key=settings.embedder_api_key,
            threads=settings.embedder_threads,
            timeout_seconds=settings.embedder_timeout_seconds,
        )

    def _create_reranker(self, spec: str) -> Reranker | None:
        settings = self.settings
        return create_reranker(spec, api_key=settings.reranker_api_key, threads=settings.reranker_threads)

    @property
    def embedded(self) -> bool:
        """Whether the store runs its own PostgreSQL in a folder."""
        return not is_dsn(self.location)

    @property
    def engine(self) -> Engine:
        """The engine of the opened store.

        Raises:
            InvalidInput: the store is not open.
        """
        if self._engine is None:
            raise InvalidInput(
                "The store is not open.",
                field="location",
                remedy="Use the handle inside its `with` block, or before close().",
            )
        return self._engine

    def require(self) -> None:
        """Refuse a folder that holds no store; what a server holds is seen on opening.

        Raises:
            NotFound: there is none.
            StoreUnsuitable: it is a file.
            StoreUnavailable: the folder cannot be looked into.
        """
        if not self.embedded:
            return
        folder = Path(self.location).expanduser()
        try:
            refuse_file(folder)
            found = (folder / DATA_DIRECTORY).exists()
        except OSError as error:
            raise StoreUnavailable(
                f"The store at {self.location} cannot be reached: {error.strerror}.",
                field="location",
                remedy="Check the permissions of that folder and of those above it.",
            ) from error
        if not found:
            raise NotFound(
                f"There is no store at {self.location}.",
                field="location",
                remedy="Check the folder, or make a store there with `ebbtide remember`.",
            )

    async def open(self, *, migrate: bool = True) -> Engine:
        """Start the server where it is ours, check or make the schema, and begin the background work.

        Raises:
            InvalidInput: the store was closed, or this process was forked from the one that opened it.
            NotFound: it must exist and does not.
        """
        if os.getpid() != self._process:
            raise InvalidInput(
                "The handle was opened before this process was forked from another.",
                field="location",
                remedy="Open the store anew in each process.",
            )
        async with self._opening:
            if self.closed:
                raise InvalidInput("The handle is closed.", field="location", remedy="Open the store again.")
            if self._engine is not None:
                return self._engine
            try:
                return await self._open(migrate=migrate)
            except BaseException:
                await self._exits.aclose()
                raise

    async def _open(self, *, migrate: bool) -> Engine:
        dsn = await self._start_server() if self.embedded else self.location
        if self._owns_embedder and self.embedder is not None:
            self._exits.push_async_callback(self.embedder.close)
        identity = await self._identify()
        facts = await prepare(dsn, self.settings, identity, now=self.clock.now(), migrate=migrate)
        database = Database(dsn, self.settings, role=facts.role)
        await database.open()
        self._exits.push_async_callback(database.close)
        for model in (self.classifier, self.intent_model, self.extractor, self.summariser, self.consolidator):
            if model is not None:
                self._exits.push_async_callback(model.close)
        if self._owns_reranker and self.reranker is not None:
            self._exits.push_async_callback(self.reranker.close)
        counter = self._tokenizer or create_counter(self.embedder, identity and identity.name)
        engine = Engine(
            database, facts, self.embedder, self.settings, self.clock, classifier=self.classifier,
            intent_model=self.intent_model, extractor=self.extractor, summariser=self.summariser,
            consolidator=self.consolidator, reranker=self.reranker, counter=counter,
            chance=Random(self.settings.chance_seed),
        )  # fmt: skip
        self._begin_background(engine)
        self._engine = engine
        return engine

    async def _start_server(self) -> str:
        from ebbtide.db.embedded import EmbeddedServer

        folder = await to_thread.run_sync(lambda: Path(self.location).expanduser().absolute())
        if self._must_exist:
            await to_thread.run_sync(self.require)
        server = EmbeddedServer(folder, startup_timeout_seconds=self.settings.connect_timeout_seconds)
        dsn = await to_thread.run_sync(server.start)
        self._exits.push_async_callback(to_thread.run_sync, server.stop)
        return dsn

    async def _identify(self) -> ModelIdentity | None:
        if self.embedder is None:
            return None
        probe: Any = getattr(self.embedder, "probe", None)
        return await probe() if probe is not None else self.embedder.identity

    def _begin_background(self, engine: Engine) -> None:
        background = [asyncio.create_task(_flush_for_ever(engine), name="ebbtide-flush")]
        wanted = engine.settings.in_process_worker
        if self.embedded if wanted is None else wanted:
            background.append(asyncio.create_task(_work_for_ever(engine), name="ebbtide-work"))

        async def drain() -> None:
            await end(*background, patience_seconds=PATIENCE_SECONDS)
            await flush(engine)
            await enqueue_outgrown(engine)
            await _seal(engine, wait=True)

        self._exits.push_async_callback(drain)

    async def close(self) -> None:
        """Write down what is still in memory, and leave; the last to leave an embedded store stops its server."""
        self._engine = None
        self.closed = True
        await self._exits.aclose()


def check_settings(settings: Any) -> Settings:
    """The settings themselves, if they are."""
    if not isinstance(settings, Settings):
        raise InvalidInput(
            f"{shown(settings)} is no Settings.",
            field="settings",
            remedy="Give a Settings, or None for those of the environment.",
        )
    return settings


def check_clock(clock: Any) -> Clock:
    """The clock itself, if it is one."""
    if isinstance(clock, type) or not callable(getattr(clock, "now", None)):
        raise InvalidInput(
            f"{shown(clock)} is no clock.", field="clock", remedy="Give an object with a method now(), or None."
        )
    return clock


def check_embedder(embedder: Any) -> Any:
    """The embedder itself, None for none, if it is one."""
    if embedder is not None and not callable(getattr(embedder, "embed", None)):
        raise InvalidInput(
            f"{shown(embedder)} is no embedder.",
            field="embedder",
            remedy="Give an Embedder, None, or a text such as local or http://localhost:11434/v1#all-minilm.",
        )
    return embedder


def check_reranker(reranker: Any) -> Any:
    """The reranker itself, None for none, if it is one."""
    if reranker is not None and not callable(getattr(reranker, "rerank", None)):
        raise InvalidInput(
            f"{shown(reranker)} is no reranker.",
            field="reranker",
            remedy="Give a Reranker, None, or a text such as https://api.cohere.com#rerank-v3.5.",
        )
    return reranker


async def _flush_for_ever(engine: Engine) -> None:
    while True:
        await asyncio.sleep(engine.settings.flush_seconds)
        # What went wrong is in the log already.
        with suppress(EbbtideError):
            await flush(engine)
        await _seal(engine)
        try:
            await enqueue_outgrown(engine)
        except EbbtideError as error:
            log.warning("an index was not asked for; a later recall asks again: %s", error)


async def _seal(engine: Engine, *, wait: bool = False) -> None:
    try:
        await seal_written(engine, wait=wait)
    except EbbtideError as error:
        log.warning("the audit was not sealed; a later write or the night does: %s", error)


async def _work_for_ever(engine: Engine) -> None:
    # A program that opens the store for one call only is done before the worker costs it anything.
    await asyncio.sleep(WORKER_DELAY_SECONDS)
    await run_worker(engine)
