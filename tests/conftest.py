"""Fixtures: a real store for each test, its clock, its owner, and a store with real vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from ebbtide import AsyncEbbtide, Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.models.fake import FakeEmbedder
from ebbtide.settings import Settings
from tests import stores

Opener = Callable[..., Ebbtide]


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        stores.reserve_folder()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        stores.remove_folder()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The DSN of the server that the run's databases are on."""
    with stores.running_server() as dsn:
        yield dsn


@pytest.fixture(scope="session")
def template(server: str) -> str:
    """The name of the database that stores are cloned from."""
    return stores.prepared_template(server)


@pytest.fixture
def dsn(server: str, template: str) -> Iterator[str]:
    """An empty store of this test's own, for vectors of `FakeEmbedder(384)`."""
    with stores.fresh_database(server, template) as name:
        yield name


@pytest.fixture
def empty_dsn(server: str) -> Iterator[str]:
    """A database that is no store yet."""
    with stores.fresh_database(server) as name:
        yield name


@pytest.fixture
def clock() -> FixedClock:
    """9 o'clock on Monday, 2 March 2026, UTC, until it is advanced."""
    return FixedClock(stores.START)


@pytest.fixture
def embedder() -> FakeEmbedder:
    """Vectors that are near where texts share words."""
    return FakeEmbedder(stores.DIMENSION)


@pytest.fixture
def settings() -> Settings:
    """No worker in this process, and no memory of scopes between calls."""
    return stores.SETTINGS


@pytest.fixture
def open_store(dsn: str, clock: FixedClock, settings: Settings, embedder: FakeEmbedder) -> Iterator[Opener]:
    """Opens further handles on the test's store, with its clock and embedder unless told otherwise; closes them."""
    with ExitStack() as stack:

        def opened(location: str = dsn, **changed: Any) -> Ebbtide:
            given: dict[str, Any] = {"clock": clock, "settings": settings, "embedder": embedder, **changed}
            return stack.enter_context(Ebbtide.open(location, **given))

        yield opened


@pytest.fixture
def memory(open_store: Opener) -> Ebbtide:
    """A blocking handle on the test's store."""
    return open_store()


@pytest.fixture
async def async_memory(
    dsn: str, clock: FixedClock, settings: Settings, embedder: FakeEmbedder
) -> AsyncIterator[AsyncEbbtide]:
    """An asynchronous handle on the test's store."""
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as handle:
        yield handle


@pytest.fixture
def owner(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """The owner of the test's store, at the tenant `default`: what no handle can do, and what no handle shows."""
    with stores.connected(dsn) as connection:
        connection.execute("SET search_path = ebbtide, public; SET ebbtide.tenant = 'default'")
        yield connection


@pytest.fixture
def application(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A bare connection in the role that every handle's transactions take."""
    with stores.connected(dsn) as connection:
        connection.execute("SET search_path = ebbtide, public; SET ROLE ebbtide_app")
        yield connection


@pytest.fixture(scope="module")
def real_memory(server: str) -> Iterator[Ebbtide]:
    """A store with real vectors for a module; take a tenant of your own with `real_memory.scoped(tenant=…)`."""
    with (
        stores.fresh_database(server) as name,
        Ebbtide.open(name, embedder="local", settings=stores.SETTINGS, clock=FixedClock(stores.START)) as handle,
    ):
        yield handle
