"""How the server goes about a statement, made ready as the engine does it, and a store of thousands to see it on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString, cast
from uuid import UUID

import psycopg
from psycopg import sql

from ebbtide.db.statements import compiled
from tests.stores import START, connected, fresh_database

MEMORIES, ENTITIES = 12_000, 20_000

# Each memory mentions three entities and says what holds between two of them; each entity has two names of two words.
FILL = """
CREATE FUNCTION pg_temp.made(number integer, kind text) RETURNS uuid IMMUTABLE LANGUAGE sql AS
$$SELECT (lpad(to_hex(ascii(kind)), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid$$;
INSERT INTO memory (tenant_id, id, agent_id, namespace, status, maturity, search, kind, content_hash, created_at,
                    content, importance, confidence, revision, updated_at, current_since, chat_id, sequence)
SELECT 'default', pg_temp.made(n, 'm'), 'default', 'v.n' || n % 40, 'active', 'unconfirmed',
       to_tsvector('simple', 'w' || n), CASE WHEN n % 50 = 0 THEN 'entity' ELSE 'fact' END, sha256(n::text::bytea),
       {now}, 'w' || n, 0.5,
       (n % 100) / 100.0, 1, {now}, {now}, 'c' || n % 200, n FROM generate_series(1, {memories}) n;
INSERT INTO turn (tenant_id, agent_id, chat_id, branch, place, memory_id)
SELECT 'default', 'default', 'c' || n % 200, 'main', n, pg_temp.made(n, 'm') FROM generate_series(1, {memories}) n;
INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, memory_id, page_namespace, created_at, updated_at)
SELECT 'default', pg_temp.made(n, 'e'), 'default', 'PERSON', 'name e' || n, sha256(('name e' || n)::bytea),
       CASE WHEN n % 100 = 0 THEN pg_temp.made(n / 2, 'm') END, CASE WHEN n % 100 = 0 THEN 'v.n1' END, {now}, {now}
FROM generate_series(1, {entities}) n;
INSERT INTO entity_alias (tenant_id, id, agent_id, entity_id, alias, folded, alias_hash, given, created_at)
SELECT 'default', pg_temp.made(n * 2 + s, 'a'), 'default', pg_temp.made(n, 'e'), p || n, p || n,
       sha256((p || n)::bytea), true, {now}
FROM generate_series(1, {entities}) n, (VALUES (0, 'name e'), (1, 'also b')) AS v(s, p);
INSERT INTO entity_word (tenant_id, agent_id, rest, entity_id, alias_id)
SELECT 'default', 'default', rest, entity_id, id
FROM entity_alias, LATERAL (VALUES (folded), (substr(folded, 6))) r(rest);
INSERT INTO entity_key (tenant_id, agent_id, key, size, alias_id)
SELECT 'default', 'default', hashtextextended(rest, 0) & 9223372036854775807, 2, alias_id FROM entity_word;
INSERT INTO mention (tenant_id, memory_id, entity_id)
SELECT 'default', pg_temp.made(n, 'm'), pg_temp.made((n * 2 + s * 811) % {entities} + 1, 'e')
FROM generate_series(1, {memories}) n, generate_series(0, 2) s;
INSERT INTO alias_source (tenant_id, memory_id, alias_id)
SELECT 'default', x.memory_id, a.id FROM mention x JOIN entity_alias a ON a.entity_id = x.entity_id;
INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, created_at)
SELECT 'default', pg_temp.made(n, 'r'), 'default', pg_temp.made((n * 2) % {entities} + 1, 'e'),
       CASE WHEN n % 2 = 0 THEN 'part_of' ELSE 'works_at' END, pg_temp.made((n * 2 + 811) % {entities} + 1, 'e'),
       pg_temp.made(n, 'm'), {now} FROM generate_series(1, {memories}) n;
INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, other_memory_id, derived,
                      created_at)
SELECT 'default', pg_temp.made(n, 'd'), 'default', pg_temp.made(n, 'e'), 'part_of', pg_temp.made(n + 1, 'e'),
       pg_temp.made(n, 'm'), pg_temp.made(n + 1, 'm'), true, {now} FROM generate_series(1, {memories} - 1) n;
INSERT INTO derivation (tenant_id, relation_id, premise_id)
SELECT 'default', pg_temp.made(n, 'd'), pg_temp.made(n + s, 'r')
FROM generate_series(1, {memories} - 1) n, generate_series(0, 1) s;
INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at)
SELECT 'default', pg_temp.made(n, 'm'), pg_temp.made(n - 1, 'm'), true, {now}
FROM generate_series(50, {memories}, 50) n;
INSERT INTO entity_change (tenant_id, id, agent_id, operation, entity_id, counterpart_id, created_at)
SELECT 'default', pg_temp.made(n, 'c'), 'default', 'split', pg_temp.made(n, 'e'), pg_temp.made(n + 1, 'e'), {now}
FROM generate_series(1, {memories}) n;
INSERT INTO entity_change_item (tenant_id, change_id, kind, item_id)
SELECT 'default', pg_temp.made(n, 'c'), 'alias', pg_temp.made(n * 2, 'a') FROM generate_series(1, {memories}) n;
"""


def prepared(name: str, values: dict[str, Any], options: str = "FORMAT JSON") -> tuple[bytes, sql.Composed]:
    """A statement to prepare once for all values, as the engine does, and the EXPLAIN of executing it; JSON."""
    made = compiled(name)
    given = [values[value].to_text() if hasattr(values[value], "to_text") else values[value] for value in made.names]
    literals = sql.SQL(", ").join(map(sql.Literal, given))
    explain = sql.SQL("EXPLAIN ({}) EXECUTE planned({})").format(sql.SQL(cast("LiteralString", options)), literals)
    return b"PREPARE planned AS " + made.query, explain


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan and all below it."""
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def made(number: int, kind: str) -> UUID:
    """The id of a row that was filled in."""
    return UUID(f"{ord(kind):08x}-0000-7000-8000-{number:012x}")


@contextmanager
def filled(server: str, template: str) -> Generator[str]:
    """A store of one tenant with thousands of memories and entities, as the planner knows one."""
    with fresh_database(server, template) as dsn, connected(dsn) as connection:
        connection.execute("SET search_path = ebbtide, public")
        literals = {"now": START, "memories": MEMORIES, "entities": ENTITIES}
        connection.execute(sql.SQL(FILL).format(**{name: sql.Literal(value) for name, value in literals.items()}))
        connection.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(map(sql.Identifier, _leaves(connection)))))
        yield dsn


def _leaves(connection: psycopg.Connection[Any]) -> list[str]:
    """The tables that hold rows themselves: autovacuum never looks at a partitioned table as a whole."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ebbtide'").fetchall()
    return [name for (name,) in rows if name != "memory"]
