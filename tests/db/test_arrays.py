"""Arrays as text: the server reads just what was written."""

from __future__ import annotations

from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql

from ebbtide.db.arrays import plain_array, text_array
from tests.stores import connected

TEXTS = st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
AWKWARD = [
    "",
    " ",
    "NULL",
    "null",
    '"',
    "\\",
    '\\"',
    "{",
    "}",
    ",",
    "{a,b}",
    "'",
    "a\nb",
    "\t",
    "é",
    "汇率",
    "🙂",
    "$1",
    "%s",
]


@pytest.fixture(scope="module")
def connection(server: str) -> Any:
    with connected(server) as opened:
        yield opened


def read_back(connection: psycopg.Connection[Any], array: str, kind: LiteralString) -> Any:
    query = sql.SQL("SELECT {}::" + kind).format(sql.Literal(array))
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_awkward_texts_come_back_as_they_are(connection: psycopg.Connection[Any]) -> None:
    assert read_back(connection, text_array(AWKWARD), "text[]") == AWKWARD
    assert read_back(connection, text_array([]), "text[]") == []


@settings(deadline=None)
@given(texts=TEXTS)
def test_any_texts_come_back_as_they_are(connection: psycopg.Connection[Any], texts: list[str]) -> None:
    assert read_back(connection, text_array(texts), "text[]") == texts


@settings(deadline=None)
@given(numbers=st.lists(st.floats(allow_nan=False)), ids=st.lists(st.uuids()))
def test_numbers_and_ids_come_back_to_the_last_digit(
    connection: psycopg.Connection[Any], numbers: list[float], ids: list[UUID]
) -> None:
    assert read_back(connection, plain_array(numbers), "float8[]") == numbers
    assert read_back(connection, plain_array(ids), "uuid[]") == ids
