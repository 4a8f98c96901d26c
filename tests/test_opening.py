"""Opening: a location, an embedder or a setting that cannot be is refused before anything is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide, Settings
from ebbtide.db.location import address_of, check_location
from ebbtide.errors import EbbtideError, InvalidInput, StoreUnavailable
from ebbtide.opening import Store

SECRET = "s3cret"

NO_LOCATIONS: dict[str, Any] = {
    "bracket": f"postgresql://u:{SECRET}@[::1",
    "percent": f"postgresql://u:{SECRET}%zz@h/x",
    "space": f"postgresql://u:{SECRET}@a b/x",
    "parameter": f"postgresql://u:{SECRET}@h/x?nope=1",
    "quote": f"host=h password='{SECRET}",
    "surrogate": "\ud800",
    "surrogate in a DSN": "postgresql://h/\ud800",
    "nobody's home": "~nobody-of-that-name/x",
    "web": "http://example.com",
    "other database": "mysql://h/x",
    "pair": "a=b",
    "number": 5,
    "bytes": b"x",
    "empty": " ",
    "nul": "x\0y",
    "nul in a DSN": "postgresql://h/\0",
}


@pytest.mark.parametrize("name", NO_LOCATIONS)
def test_what_is_no_location_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        Ebbtide.open(NO_LOCATIONS[name], embedder=None)
    assert caught.value.field == "location"
    assert caught.value.remedy
    assert SECRET not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("location", ["./a=b", Path("a=b"), "~/x", "postgresql:///x", "host=h port=1", "postgres://h"])
def test_what_is_a_location_is_taken(location: str | Path) -> None:
    taken = check_location(location)
    assert taken.endswith(str(location))
    assert Store(location, embedder=None).embedded == (str(location)[0] in "./a~")


@pytest.mark.parametrize("embedder", [5, object(), ["local"], b"local", True])
def test_what_is_no_embedder_is_refused(embedder: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ebbtide.open(tmp_path / "store", embedder=embedder)
    assert caught.value.field == "embedder"


@pytest.mark.parametrize("value", ["inf", "nan", "1e12", "-1", "soon"])
@pytest.mark.parametrize(
    "name",
    ["statement_timeout_seconds", "connect_timeout_seconds", "scope_cache_seconds", "embedder_timeout_seconds"],
)
def test_a_time_without_end_is_no_setting(name: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings.from_environment({f"EBBTIDE_{name.upper()}": value})
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("dsn", "address"),
    [
        (f"postgresql://u:{SECRET}@127.0.0.1:6543/x", "127.0.0.1:6543"),
        (f"host=db.example password={SECRET}", "db.example:5432"),
        ("postgresql://a,b:1/x", "a:5432, b:1"),
        ("postgresql:///x?host=/run/db", "/run/db:5432"),
        ("postgresql:///x", "localhost:5432"),
    ],
)
def test_an_address_is_host_and_port(dsn: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    assert address_of(dsn) == address


@pytest.mark.parametrize("port", ["1", "99999999", "-5"])
def test_a_server_that_does_not_answer_is_named(port: str) -> None:
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port} does not answer") as caught:
        Ebbtide.open(f"postgresql://u:{SECRET}@127.0.0.1:{port}/x", embedder=None)
    assert SECRET not in str(caught.value)


def test_a_server_that_refuses_is_told_apart(dsn: str) -> None:
    with pytest.raises(StoreUnavailable, match="refuses the connection") as caught:
        Ebbtide.open(dsn.replace("dbname=", "dbname=no_such_"), embedder=None)
    assert caught.value.field == "location"


def test_an_unknown_language_is_refused(empty_dsn: str) -> None:
    settings = Settings.from_environment({}, text_search_configuration="klingon")
    with pytest.raises(InvalidInput, match="klingon") as caught:
        Ebbtide.open(empty_dsn, settings=settings, embedder=None)
    assert caught.value.field == "text_search_configuration"
    Ebbtide.open(empty_dsn, embedder=None).close()


async def test_a_store_that_must_exist_is_not_made(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", embedder=None, must_exist=True)
    with pytest.raises(EbbtideError, match="There is no store at") as caught:
        await store.open()
    assert (caught.value.code, caught.value.field) == ("not_found", "location")
    assert not (tmp_path / "store").exists()


async def test_a_store_of_another_process_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store", embedder=None)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InvalidInput, match="forked"):
        await store.open()
