"""How the server goes about a statement: made ready as the engine does it, and read node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString, cast

from psycopg import sql

from ebbtide.db.statements import compiled


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
