"""The two roles of a store, by what its user may do: what comes of each, what never does, what is made good later."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import namedtuple_row

from ebbtide import Ebbtide
from ebbtide.clock import FixedClock
from ebbtide.db.embedded import find_binaries
from ebbtide.db.migrate import StoreFacts, prepare
from ebbtide.db.statements import statement
from ebbtide.doctor import Check, examine
from ebbtide.errors import StoreUnsuitable
from ebbtide.models.fake import FakeEmbedder
from ebbtide.opening import Store
from ebbtide.types.caller import Caller
from tests.stores import DIMENSION, SETTINGS, START, connected, database_of, fresh_database, separate_server

LOGINS = ("plain", "other")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A server of this module's own, since roles are those of a whole server."""
    with separate_server(*LOGINS) as dsn:
        yield dsn


@pytest.fixture
def server(cluster: str) -> Iterator[str]:
    """That server without any store or role of one."""
    yield cluster
    with connected(cluster) as connection:
        for name in (*LOGINS, "ebbtide_app", "ebbtide_reader"):
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def make_role(server: str, name: str, options: str) -> None:
    with connected(server) as connection:
        connection.execute(f"CREATE ROLE {name} NOSUPERUSER {options}".encode())


def opened(dsn: str) -> StoreFacts:
    """What opening a store does to it, and what it is then."""
    return asyncio.run(prepare(dsn, SETTINGS, FakeEmbedder(DIMENSION).identity, now=START))


def facts(dsn: str) -> Any:
    """What the user of a DSN finds a store to be, without doing anything about it."""
    with psycopg.connect(dsn, autocommit=True, row_factory=namedtuple_row) as connection:
        connection.execute("SET search_path = ebbtide, public")
        return connection.execute(statement("migrate.store")).fetchone()


def handle_on(dsn: str) -> Ebbtide:
    return Ebbtide.open(dsn, settings=SETTINGS, clock=FixedClock(START), embedder=FakeEmbedder(DIMENSION))


def check(dsn: str, name: str) -> Check:
    """One finding of the doctor."""
    store = Store(dsn, settings=SETTINGS, clock=FixedClock(START), embedder=FakeEmbedder(DIMENSION))
    found = asyncio.run(examine(store, Caller(tenant="default", agent="default")))
    return next(one for one in found if one.name == name)


def assert_walled(dsn: str) -> None:
    """Two tenants, each of whom sees its own alone, as the owner and in every recall."""
    with handle_on(dsn) as memory:
        other = memory.scoped(tenant="other")
        memory.remember("ferry of one")
        other.remember("ferry of another")
        assert [hit.content for hit in memory.recall("ferry")] == ["ferry of one"]
        assert [hit.content for hit in other.recall("ferry")] == ["ferry of another"]
    with connected(dsn) as connection:
        connection.execute("SET search_path = ebbtide, public")
        for table in ("memory", "searched_memory"):
            query = sql.SQL("SELECT array_agg(tenant_id) FROM {}").format(sql.Identifier(table))
            for tenant, seen in (("other", ["other"]), ("nobody", None), ("", None)):
                connection.execute(sql.SQL("SET ebbtide.tenant = {}").format(sql.Literal(tenant)))
                assert connection.execute(query).fetchone() == (seen,), (table, tenant)


def assert_nobody_is_the_reader(dsn: str) -> None:
    """No role but a superuser has the reader's rights, or can take them."""
    with connected(dsn) as connection:
        found = connection.execute(
            """SELECT rolname FROM pg_roles u WHERE NOT u.rolsuper AND u.rolname <> 'ebbtide_reader'
               AND (pg_has_role(u.oid, 'ebbtide_reader', 'USAGE') OR pg_has_role(u.oid, 'ebbtide_reader', 'SET'))"""
        )
        assert found.fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SET ROLE ebbtide_reader")
        free = connection.execute("SELECT has_schema_privilege('ebbtide_reader', 'ebbtide', 'CREATE')")
        assert free.fetchone() == (False,)


@pytest.mark.parametrize("options", ["", "NOINHERIT"])
def test_a_user_that_makes_roles_gets_both_and_is_neither_reader(server: str, options: str) -> None:
    make_role(server, "plain", f"LOGIN NOBYPASSRLS CREATEROLE {options}")
    with database_of(server, "plain") as dsn:
        assert opened(dsn).role == "ebbtide_app"
        assert facts(dsn).words_indexed
        assert_nobody_is_the_reader(dsn)
        assert_walled(dsn)
        assert check(dsn, "full text").verdict == "ok"
        assert check(dsn, "isolation").verdict == "ok"


def test_a_server_that_grants_what_a_maker_makes_leaves_no_reader_either(server: str) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS CREATEROLE")
    with database_of(server, "plain") as dsn:
        generous = make_conninfo(dsn, options="-c createrole_self_grant=set,inherit")
        assert opened(generous).role == "ebbtide_app"
        assert facts(dsn).words_indexed
        assert_nobody_is_the_reader(dsn)


def test_a_second_store_of_the_same_user_has_both_too(server: str) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS CREATEROLE")
    with database_of(server, "plain") as one, database_of(server, "plain") as two:
        for dsn in (one, two):
            assert opened(dsn).role == "ebbtide_app"
            assert facts(dsn).words_indexed
            assert_walled(dsn)
        assert_nobody_is_the_reader(two)


@pytest.mark.parametrize("known", [False, True])
async def test_stores_made_at_the_same_time_all_have_both(server: str, known: bool) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS CREATEROLE")
    identity = FakeEmbedder(DIMENSION).identity
    with ExitStack() as stack:
        if known:
            earlier = stack.enter_context(database_of(server, "plain"))
            await prepare(earlier, SETTINGS, identity, now=START)
        stores = [stack.enter_context(database_of(server, "plain")) for _ in range(3)]
        made = await asyncio.gather(*(prepare(dsn, SETTINGS, identity, now=START) for dsn in [*stores, *stores]))
        assert {one.role for one in made} == {"ebbtide_app"}
        assert all(facts(dsn).words_indexed for dsn in stores)


def test_roles_that_another_user_made_are_left_to_a_superuser(server: str) -> None:
    for name in LOGINS:
        make_role(server, name, "LOGIN NOBYPASSRLS CREATEROLE")
    with database_of(server, "plain") as theirs, database_of(server, "other") as dsn:
        opened(theirs)
        assert opened(dsn).role is None
        assert not facts(dsn).words_indexed
        assert_walled(dsn)
        assert check(dsn, "isolation").verdict == "ok"
        found = check(dsn, "full text")
        assert found.verdict == "warn"
        assert "`ebbtide migrate`" in (found.remedy or "")
        assert "CREATEROLE" not in (found.remedy or "")
        opened(make_conninfo(dsn, user="ebbtide"))
        assert facts(dsn).words_indexed
        assert opened(dsn).role == "ebbtide_app"
        assert check(dsn, "full text").verdict == "ok"
        assert_nobody_is_the_reader(dsn)


def test_a_user_that_makes_no_roles_has_a_store_all_the_same(server: str) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS NOCREATEROLE")
    with database_of(server, "plain") as dsn:
        assert opened(dsn).role is None
        assert_walled(dsn)
        found = check(dsn, "full text")
        assert found.verdict == "warn"
        assert 'ALTER ROLE "plain" CREATEROLE' in (found.remedy or "")
        with connected(server) as connection:
            connection.execute("ALTER ROLE plain CREATEROLE")
        assert opened(dsn).role == "ebbtide_app"
        assert facts(dsn).words_indexed
        assert_nobody_is_the_reader(dsn)


def test_a_user_that_administers_a_prepared_reader_hands_the_view_over(server: str) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS NOCREATEROLE")
    make_role(server, "ebbtide_reader", "NOLOGIN NOBYPASSRLS")
    with connected(server) as connection:
        connection.execute("GRANT ebbtide_reader TO plain WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
    with database_of(server, "plain") as dsn:
        assert opened(dsn).role is None
        assert facts(dsn).words_indexed
        assert_walled(dsn)
        assert_nobody_is_the_reader(dsn)


def test_a_user_that_bypasses_policies_needs_the_role_that_does_not(server: str) -> None:
    make_role(server, "plain", "LOGIN BYPASSRLS NOCREATEROLE")
    with database_of(server, "plain") as dsn:
        with pytest.raises(StoreUnsuitable, match="bypasses row-level security"):
            opened(dsn)
        with connected(dsn) as connection:
            assert connection.execute("SELECT to_regnamespace('ebbtide')").fetchone() == (None,)
        with connected(server) as connection:
            connection.execute("ALTER ROLE plain CREATEROLE")
        assert opened(dsn).role == "ebbtide_app"
        assert facts(dsn).words_indexed
        with connected(server) as connection:
            connection.execute("REVOKE ebbtide_app FROM plain GRANTED BY plain; ALTER ROLE plain NOCREATEROLE")
            connection.execute("REVOKE ebbtide_app FROM plain")
        with pytest.raises(StoreUnsuitable, match="bypasses row-level security"):
            opened(dsn)


@pytest.mark.parametrize("somebody", ["CREATE ROLE ebbtide_reader LOGIN", "CREATE ROLE ebbtide_reader ROLE other"])
def test_a_role_of_the_readers_name_that_somebody_can_be_is_left_alone(server: str, somebody: str) -> None:
    make_role(server, "other", "LOGIN")
    with fresh_database(server) as dsn:
        with connected(server) as connection:
            connection.execute(somebody.encode())
        assert opened(dsn).role == "ebbtide_app"
        with connected(dsn) as connection:
            granted = connection.execute(
                "SELECT has_any_column_privilege('ebbtide_reader', 'ebbtide.memory', 'SELECT')"
            )
            assert granted.fetchone() == (False,)
            policy = connection.execute("SELECT count(*) FROM pg_policies WHERE policyname = 'reader_searches'")
            assert policy.fetchone() == (0,)


def test_the_doctor_finds_a_role_of_transactions_that_reads_past_the_policy(server: str) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS CREATEROLE")
    with database_of(server, "plain") as dsn:
        opened(dsn)
        assert check(dsn, "isolation").verdict == "ok"
        with connected(server) as connection:
            connection.execute("GRANT ebbtide_reader TO ebbtide_app")
        assert check(dsn, "isolation").verdict == "fail"


def run(program: str, *arguments: str, given: bytes | None = None) -> bytes:
    """What one of PostgreSQL's programs prints; what it complains of is the test's to find."""
    command = [str(find_binaries() / program), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120).stdout


@pytest.mark.parametrize("owner", ["plain", "ebbtide"])
@pytest.mark.parametrize("options", [(), ("--no-owner", "--no-acl")])
def test_a_store_restored_on_a_fresh_server_is_made_good_when_it_is_opened(
    server: str, owner: str, options: tuple[str, ...]
) -> None:
    make_role(server, "plain", "LOGIN NOBYPASSRLS CREATEROLE")
    with database_of(server, "plain") as dsn:
        with handle_on(make_conninfo(dsn, user=owner)) as memory:
            memory.remember("ferry at nine")
        dump = run("pg_dump", "--format=custom", "--dbname", make_conninfo(dsn, user="ebbtide"))
    with connected(server) as connection:
        connection.execute("DROP ROLE ebbtide_app; DROP ROLE ebbtide_reader")
    with database_of(server, "plain") as dsn:
        as_owner = make_conninfo(dsn, user=owner)
        run("pg_restore", *options, "--dbname", as_owner, given=dump)
        assert opened(as_owner).role == "ebbtide_app"
        assert facts(as_owner).words_indexed
        with handle_on(as_owner) as memory:
            assert [hit.content for hit in memory.recall("ferry")] == ["ferry at nine"]
            assert len(memory.scoped(tenant="other").recall("ferry")) == 0
            memory.remember("ferry at ten")
        assert check(as_owner, "full text").verdict == "ok"
        assert check(as_owner, "isolation").verdict == "ok"
