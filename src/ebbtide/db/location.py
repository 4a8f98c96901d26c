"""Where a store is: a folder, or a server by its DSN."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput
from ebbtide.text import shown

__all__ = ["address_of", "check_location", "is_dsn"]

LONGEST = 4_000
SCHEME = re.compile(r"^\s*([A-Za-z][A-Za-z0-9+.-]*)://")
KEYWORD = re.compile(r"^\s*[A-Za-z_]+\s*=")
REMEDY = "Give a folder, or a DSN such as postgresql://user@host:5432/database."


def is_dsn(location: str) -> bool:
    """Whether a location is a server's DSN rather than a folder: a URL, or `keyword=value` pairs."""
    return SCHEME.match(location) is not None or (KEYWORD.match(location) is not None and not _is_there(location))


def _is_there(folder: str) -> bool:
    try:
        return Path(folder).exists()
    except (OSError, ValueError):
        return False


def check_location(location: Any) -> str:
    """The location itself, if a store could be there.

    Raises:
        InvalidInput: it is no text, is empty, or is neither a folder nor a DSN of PostgreSQL.
    """
    if not isinstance(location, str | Path):
        raise InvalidInput(f"The location is {shown(location)}.", field="location", remedy=REMEDY)
    text = str(location)
    if isinstance(location, Path) and KEYWORD.match(text) is not None:
        text = f"./{text}"
    if not text.strip() or "\0" in text:
        raise InvalidInput("The location is empty, or holds a NUL.", field="location", remedy=REMEDY)
    if is_dsn(text):
        return _check_dsn(check_text(text, "location", LONGEST))
    try:
        os.fsencode(Path(text).expanduser())
    except (ValueError, RuntimeError):
        raise InvalidInput(f"{shown(text)} is no path of a folder.", field="location", remedy=REMEDY) from None
    return text


def _check_dsn(dsn: str) -> str:
    # What is wrong with it is not quoted: it may hold a password.
    scheme = SCHEME.match(dsn)
    if scheme is not None and scheme[1] not in ("postgresql", "postgres"):
        raise InvalidInput(f"A store cannot be reached by {scheme[1][:20]}://.", field="location", remedy=REMEDY)
    try:
        conninfo_to_dict(dsn)
    except ProgrammingError:
        raise InvalidInput(
            "The location is not a DSN of PostgreSQL.",
            field="location",
            remedy=f"{REMEDY} A folder with an equals sign in its name is written ./name=x.",
        ) from None
    return dsn


def address_of(dsn: str) -> str:
    """Host and port of a DSN as an error may show them: never the user, never the password."""
    given = conninfo_to_dict(dsn)
    hosts = str(given.get("host") or given.get("hostaddr") or os.environ.get("PGHOST") or "localhost").split(",")
    ports = str(given.get("port") or os.environ.get("PGPORT") or 5432).split(",")
    return ", ".join(f"{host}:{ports[place % len(ports)] or 5432}" for place, host in enumerate(hosts))
