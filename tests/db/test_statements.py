"""Every named statement is one that PostgreSQL understands, for exactly the values it names, within its tenant."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus

from ebbtide.db.statements import compiled, statements
from tests.tidy.sql_rules import tenant_tables, without_tenant
from tests.tidy.tree import STATEMENTS

# These hold the names of an index and a partition, put in as identifiers.
TEMPLATES = {name for name, body in statements().items() if "{index}" in body}
PREPARED = sorted(set(statements()) - TEMPLATES)


@pytest.mark.parametrize("file", sorted({name.partition(".")[0] for name in statements()}))
def test_every_statement_is_understood_by_the_server(owner: psycopg.Connection[Any], file: str) -> None:
    for name in PREPARED:
        if not name.startswith(f"{file}."):
            continue
        made = compiled(name)
        result = owner.pgconn.prepare(name.encode(), made.query)
        assert result.status == ExecStatus.COMMAND_OK, f"{name}: {result.error_message.decode()}"
        described = owner.pgconn.describe_prepared(name.encode())
        assert described.nparams == len(made.names), name


def test_no_statement_is_empty_or_holds_a_placeholder_of_its_own() -> None:
    for name, body in statements().items():
        assert body.strip(), name
        assert "{{" not in body, name
        assert "$1" not in body.replace("$policies$", ""), name


def test_only_index_statements_are_templates() -> None:
    assert {"jobs.create_vector_index", "jobs.drop_vector_index"} == TEMPLATES


def test_every_statement_on_memories_says_which_tenant() -> None:
    tables = tenant_tables((STATEMENTS / "schema.sql").read_text(encoding="utf-8"))
    for name, body in statements().items():
        assert not without_tenant(name, body, tables)


def test_a_past_reading_touches_memory_through_its_versions_alone() -> None:
    past = [body for name, body in statements().items() if name.endswith("_past")]
    assert past
    assert all("memory_version" in body and "current_until > " in body for body in past)


def test_what_nothing_narrows_is_searched_without_conditions_that_always_hold() -> None:
    narrowed = {name for name in statements() if name.endswith("_whole")}
    assert narrowed == {
        f"recall.{way}{law}_whole" for way in ("exact", "indexed", "worded") for law in ("", "_weighed")
    }
    for name in narrowed:
        kept = set(compiled(name).names)
        left = set(compiled(name.removesuffix("_whole")).names) - kept
        assert left >= {"everything", "foreign", "unfiltered", "kinds", "tags_none", "metadata_path"}, name
        assert kept >= {"tenant", "agent", "now", "valid_at"}, name
