"""Walls: between tenants by the database itself, between agents and users by every verb."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError, InvalidInput, NotFound
from tests.stores import connected

Owner = psycopg.Connection[Any]

NO_NAMES = ["", "*", "a b", "a\nb", "\0", "\ud800", "\u200b", "x" * 5000, 5]
NO_SEGMENTS = [*NO_NAMES, "a.b", "%", "${chat_id}", "a*", "$x", "{x}", "a\u2028b", "a\u00a0b"]


def tenant_tables(owner: Owner) -> list[str]:
    rows = owner.execute(
        """SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
           WHERE c.relnamespace = 'ebbtide'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"""
    )
    return sorted(row[0] for row in rows)


def test_every_table_with_a_tenant_forces_its_policy(owner: Owner) -> None:
    rows = owner.execute(
        """SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
           WHERE c.relnamespace = 'ebbtide'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
             AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
                 SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polwithcheck IS NOT NULL))"""
    ).fetchall()
    assert rows == []
    assert {"memory", "memory_version", "strength", "audit", "profile", "namespace_rule"} <= set(tenant_tables(owner))


def test_the_role_of_every_transaction_has_no_way_around(owner: Owner, memory: Ebbtide) -> None:
    row = owner.execute(
        """SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb
           FROM pg_roles WHERE rolname = 'ebbtide_app'"""
    ).fetchone()
    assert row == (False,) * 5
    owned = owner.execute(
        """SELECT relname FROM pg_class WHERE relnamespace = 'ebbtide'::regnamespace
           AND relowner = 'ebbtide_app'::regrole"""
    ).fetchall()
    assert owned == []
    memory.remember("x")
    sessions = owner.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ebbtide'").fetchone()
    assert sessions is not None
    assert sessions[0] >= 1


def test_partitions_cannot_be_read_past_the_policy(application: Owner, memory: Ebbtide) -> None:
    memory.remember("x")
    application.execute("SET ebbtide.tenant = 'other'")
    for number in range(8):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(f"memory_{number}")))


def test_another_tenants_rows_do_not_exist(owner: Owner, application: Owner, memory: Ebbtide) -> None:
    old = memory.remember("x", idempotency_key="k", tags=["t"]).memory
    memory.remember("y", supersedes=old.id)
    memory.profiles.save({"name": "mine", "law": "sum", "factors": [{"factor": "similarity", "weight": 1}]})
    tables = tenant_tables(owner)
    for tenant in ("other", "", "default ", "Default"):
        application.execute(sql.SQL("SET ebbtide.tenant = {}").format(sql.Literal(tenant)))
        for table in tables:
            count = application.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
            assert count == (0,), (tenant, table)
        assert application.execute("UPDATE memory SET content = 'z'").rowcount == 0
        assert application.execute("DELETE FROM memory_version").rowcount == 0
    application.execute("SET ebbtide.tenant = 'default'")
    assert application.execute("SELECT count(*) FROM memory").fetchone() == (2,)


def test_a_transaction_without_a_tenant_is_refused(dsn: str, owner: Owner, application: Owner) -> None:
    for table in tenant_tables(owner):
        with pytest.raises(psycopg.errors.UndefinedObject, match=r"ebbtide\.tenant"):
            application.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))


def test_the_view_of_words_shows_the_tenant_of_the_transaction_alone(application: Owner, memory: Ebbtide) -> None:
    count = "SELECT count(*), min(tenant_id) FROM searched_memory"
    with pytest.raises(psycopg.errors.UndefinedObject, match=r"ebbtide\.tenant"):
        application.execute(count)
    memory.remember("x")
    memory.remember("y")
    memory.scoped(tenant="b").remember("z")
    with pytest.raises(psycopg.errors.UndefinedObject, match=r"ebbtide\.tenant"):
        application.execute(count)
    for tenant, rows in (("default", 2), ("b", 1), ("other", 0), ("", 0), ("default ", 0), ("Default", 0)):
        application.execute(sql.SQL("SET ebbtide.tenant = {}").format(sql.Literal(tenant)))
        assert application.execute(count).fetchone() == (rows, tenant if rows else None)
        named = application.execute("SELECT count(*) FROM searched_memory WHERE tenant_id = 'default'").fetchone()
        assert named == (2 if tenant == "default" else 0,)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO searched_memory (tenant_id, id) VALUES ('default', gen_random_uuid())",
        "UPDATE searched_memory SET namespace = 'z'",
        "UPDATE searched_memory SET tenant_id = 'other'",
        "DELETE FROM searched_memory",
        "SELECT id FROM searched_memory FOR UPDATE",
        "DROP VIEW searched_memory",
        "ALTER VIEW searched_memory OWNER TO ebbtide_app",
        "CREATE OR REPLACE VIEW searched_memory AS SELECT * FROM memory",
    ],
)
def test_nothing_is_written_through_the_view_of_words(application: Owner, memory: Ebbtide, statement: Any) -> None:
    memory.remember("x")
    application.execute("SET ebbtide.tenant = 'default'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(statement)


def test_nobody_becomes_the_role_that_reads_past_the_policy(owner: Owner, dsn: str, memory: Ebbtide) -> None:
    memory.remember("secret 4711")
    login = sql.Identifier(f"ebbtide_test_{uuid4().hex[:12]}")
    owner.execute(sql.SQL("CREATE ROLE {} LOGIN IN ROLE ebbtide_app").format(login))
    try:
        with connected(dsn) as session:
            session.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(login))
            for role in ("RESET ROLE", "SET ROLE ebbtide_app"):
                session.execute(role.encode())
                for attempt in ("SET ROLE ebbtide_reader", "GRANT ebbtide_reader TO CURRENT_USER"):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        session.execute(attempt.encode())
    finally:
        owner.execute(sql.SQL("DROP ROLE {}").format(login))
    able = owner.execute(
        """SELECT rolname FROM pg_roles WHERE NOT rolsuper AND rolname <> 'ebbtide_reader'
           AND pg_has_role(oid, 'ebbtide_reader', 'MEMBER')"""
    ).fetchall()
    assert able == []


def test_the_role_that_reads_past_the_policy_reads_no_contents(owner: Owner, memory: Ebbtide) -> None:
    row = owner.execute(
        """SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb
           FROM pg_roles WHERE rolname = 'ebbtide_reader'"""
    ).fetchone()
    assert row == (False,) * 5
    granted = owner.execute(
        """SELECT table_name, column_name, privilege_type FROM information_schema.column_privileges
           WHERE grantee = 'ebbtide_reader' AND table_schema = 'ebbtide' AND table_name <> 'searched_memory'"""
    ).fetchall()
    assert {(table, privilege) for table, _, privilege in granted} == {("memory", "SELECT")}
    hidden = {"content", "content_hash", "embedding", "context_embedding", "personal_data"}
    assert not hidden & {column for _, column, _ in granted}
    assert owner.execute("SELECT has_schema_privilege('ebbtide_reader', 'ebbtide', 'USAGE, CREATE')").fetchone() == (
        False,
    )


def test_a_row_cannot_be_written_for_another_tenant(application: Owner, memory: Ebbtide) -> None:
    memory.remember("x")
    application.execute("SET ebbtide.tenant = 'default'")
    statements = (
        "INSERT INTO profile (tenant_id, name, body, updated_at) VALUES ('other', 'p', '{}', '2026-01-01Z')",
        "INSERT INTO tenant (tenant_id, created_at) VALUES ('other', '2026-01-01Z')",
        "UPDATE memory SET tenant_id = 'other'",
    )
    for statement in statements:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET action = 'read'",
        "DELETE FROM audit",
        "UPDATE store SET model_name = 'x'",
        "DELETE FROM store",
        "TRUNCATE memory",
        "DROP TABLE memory",
        "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE ebbtide.mine (x integer)",
        "SELECT * FROM procrastinate_jobs",
        "DELETE FROM procrastinate_jobs",
    ],
)
def test_the_role_can_do_nothing_that_no_verb_does(application: Owner, memory: Ebbtide, statement: Any) -> None:
    memory.remember("x")
    application.execute("SET ebbtide.tenant = 'default'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(statement)


def verbs_on(handle: Ebbtide, id_: Any) -> list[Any]:
    return [
        lambda: handle.get(id_),
        lambda: handle.history(id_),
        lambda: handle.explain("secret", id_),
        lambda: handle.revise(id_, "z"),
        lambda: handle.forget(id_, 1),
        lambda: handle.remember("z", supersedes=id_),
        lambda: handle.browse(after=id_),
    ]


def test_anothers_memory_is_as_one_that_never_was(memory: Ebbtide) -> None:
    id_ = memory.remember("secret 4711", metadata={"k": "4711"}).memory.id
    never = uuid4()
    for handle in (memory.scoped(tenant="b"), memory.scoped(agent="b"), memory.scoped(tenant="b", agent="b", user="u")):
        for of_another, of_none in zip(verbs_on(handle, id_), verbs_on(handle, never), strict=True):
            with pytest.raises(NotFound) as foreign:
                of_another()
            with pytest.raises(NotFound) as absent:
                of_none()
            shown = str(foreign.value.to_dict())
            assert shown.replace(str(id_), "") == str(absent.value.to_dict()).replace(str(never), "")
            assert "4711" not in shown
        answer = handle.recall("secret 4711", trace=True)
        assert len(answer) == 0
        assert answer.trace is not None
        assert (answer.trace.candidates, answer.trace.scope_rows) == ((), 0)
        assert handle.browse() == []
        assert handle.context("secret 4711").text == ""
    assert memory.get(id_).content == "secret 4711"
    assert memory.get(id_).revision == 1


def test_a_conversation_of_another_agent_lends_nothing(memory: Ebbtide, owner: Owner) -> None:
    one, two = (memory.scoped(agent=agent, chat="c1") for agent in ("one", "two"))
    one.remember("about oranges", kind="message", seq=0)
    after = two.remember("Yes!", kind="message", seq=1).memory
    row = owner.execute("SELECT context_embedding IS NULL FROM memory WHERE id = %s", [after.id]).fetchone()
    assert row == (True,)
    answer = two.recall("oranges", trace=True)
    assert answer.trace is not None
    assert [candidate.id for candidate in answer.trace.candidates] == [after.id]


def test_names_of_another_agents_speakers_are_unknown(memory: Ebbtide) -> None:
    memory.scoped(agent="one", chat="c").remember("hello", speaker="Wilhelmina", seq=0)
    two = memory.scoped(agent="two")
    two.remember("Wilhelmina Street is closed")
    answer = two.recall("Wilhelmina")
    assert answer[0].similarity is not None
    assert answer[0].similarity > 0.3


def test_a_user_does_not_hear_other_users_unless_they_are_named(memory: Ebbtide) -> None:
    ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
    ana.remember("likes oranges, says Ana")
    ana.remember("likes pears, says Ana", namespace="vector.user.ana.memory")
    bob.remember("likes plums, says Bob")
    bob.remember("likes figs, says Bob", namespace="vector.user.bob.notes")
    bob.remember("likes kiwis, says the team", namespace="vector.team.memory")
    memory.remember("likes dates, says nobody", namespace="vector.agent.anastasia.memory")
    heard = {hit.content for hit in ana.recall("Who likes what?", limit=50)}
    own = {"likes oranges, says Ana", "likes pears, says Ana", "likes kiwis, says the team"}
    assert heard == own
    assert {found.content for found in ana.browse()} == own
    assert "Bob" not in ana.context("Who likes what?", limit=50).text
    assert len(memory.recall("Who likes what?", limit=50)) == 6
    named = ana.recall("Who likes what?", namespaces=["vector.agent.bob.*"])
    assert {hit.content for hit in named} == {"likes plums, says Bob"}
    bobs = bob.browse()[-1].id
    assert ana.explain("Who likes what?", bobs).rule == "namespace" or bobs in {found.id for found in ana.browse()}


@pytest.mark.parametrize("field", ["tenant", "agent", "task"])
def test_a_name_that_could_stand_for_several_is_refused(memory: Ebbtide, field: str) -> None:
    for value in NO_NAMES:
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(**{field: value})
        assert caught.value.field == field
    if field != "task":
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(**{field: None})
        assert caught.value.field == field


@pytest.mark.parametrize("field", ["user", "chat", "session"])
def test_a_name_that_is_no_single_segment_is_refused(memory: Ebbtide, field: str) -> None:
    for value in NO_SEGMENTS:
        with pytest.raises(InvalidInput) as caught:
            memory.scoped(**{field: value})
        assert (caught.value.field, bool(caught.value.remedy)) == (field, True)
        assert len(caught.value.message) < 200


def test_names_are_checked_before_anything_is_opened() -> None:
    for field, value in (("user", "*"), ("agent", ""), ("tenant", " "), ("timezone", "Mars/Olympus")):
        arguments: dict[str, Any] = {field: value}
        with pytest.raises(InvalidInput) as caught:
            Ebbtide.open("postgresql://nowhere.invalid/x", embedder=None, **arguments)
        assert caught.value.field == field


def test_a_tenants_name_is_only_a_name(memory: Ebbtide) -> None:
    names = ["o'brien", 'quo"te', "semi;colon--", "back\\slash", "$$", "日本", "a" * 200, "%", "x_y"]
    for name in names:
        memory.scoped(tenant=name, agent=name).remember(f"of {name}")
    for name in names:
        assert [found.content for found in memory.scoped(tenant=name, agent=name).browse()] == [f"of {name}"]


def test_saved_profiles_are_a_tenants_own(memory: Ebbtide) -> None:
    memory.profiles.save({"name": "mine", "law": "sum", "factors": [{"factor": "similarity", "weight": 1}]})
    other = memory.scoped(tenant="b")
    assert "mine" not in [profile.name for profile in other.profiles.list()]
    with pytest.raises(NotFound):
        other.profiles.get("mine")
    with pytest.raises(EbbtideError):
        other.recall("x", profile="mine")
