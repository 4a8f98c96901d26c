"""Opening and closing a store: its server, its schema, its model, and the work done in the background meanwhile."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anyio import to_thread
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from ebbtide.background import end
from ebbtide.clock import SystemClock
from ebbtide.db.database import Database
from ebbtide.db.migrate import prepare
from ebbtide.engine import Engine
from ebbtide.errors import EbbtideError, InvalidInput
from ebbtide.govern.audit import seal_written
from ebbtide.jobs import run_worker
from ebbtide.jobs.index import enqueue_outgrown
from ebbtide.models import create_embedder
from ebbtide.models.classifier import create_classifier
from ebbtide.read.reinforce import flush
from ebbtide.settings import Settings

if TYPE_CHECKING:
    from ebbtide.clock import Clock
    from ebbtide.models.protocols import Embedder, ModelIdentity

__all__ = ["Store", "is_dsn"]

log = logging.getLogger("ebbtide")

WORKER_DELAY_SECONDS = 1.0
# A worker has a second for the jobs it runs; after twice that the request to end was lost.
PATIENCE_SECONDS = 2.0


def is_dsn(location: str) -> bool:
    """Whether a location is a server's DSN rather than a folder."""
    if urlsplit(location).scheme in ("postgresql", "postgres"):
        return True
    try:
        return "=" in location and not Path(location).exists() and bool(conninfo_to_dict(location))
    except ProgrammingError:
        return False


class Store:
    """A store between its opening and its closing."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | str | None = "",
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings or Settings.from_environment()
        self.location = str(location) if location is not None else self.settings.store
        if not self.location.strip() or "\0" in self.location:
            raise InvalidInput(
                "The location is empty.", field="location", remedy="Give a folder or a postgresql:// DSN."
            )
        self.clock = clock or SystemClock()
        spec = self.settings.embedder if embedder == "" else embedder
        # An embedder that the caller brought may serve other stores too, and stays the caller's to close.
        self._owns_embedder = isinstance(spec, str)
        self.embedder = self._create(spec) if isinstance(spec, str) else spec
        self.classifier = create_classifier(
            self.settings.classifier,
            api_key=self.settings.classifier_api_key,
            timeout_seconds=self.settings.classifier_timeout_seconds,
        )
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

    async def open(self, *, migrate: bool = True) -> Engine:
        """Start the server where it is ours, check or make the schema, and begin the background work.

        Raises:
            InvalidInput: the store was closed.
        """
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
        if self.classifier is not None:
            self._exits.push_async_callback(self.classifier.close)
        engine = Engine(database, facts, self.embedder, self.settings, self.clock, classifier=self.classifier)
        self._begin_background(engine)
        self._engine = engine
        return engine

    async def _start_server(self) -> str:
        from ebbtide.db.embedded import EmbeddedServer

        folder = await to_thread.run_sync(lambda: Path(self.location).expanduser().absolute())
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


async def _flush_for_ever(engine: Engine) -> None:
    while True:
        await asyncio.sleep(engine.settings.flush_seconds)
        try:
            await flush(engine)
        except EbbtideError as error:
            log.warning("accesses and reads were not written and are lost: %s", error)
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
