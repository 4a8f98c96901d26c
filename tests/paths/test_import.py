"""Import: records that cannot be, each refused by its line and field, or made good."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput

CLOCKS = (
    "confirmed_at", "created_at", "updated_at", "last_mentioned_at", "observed_at", "valid_from", "invalidated_at",
    "expires_at", "deleted_at", "current_since", "last_accessed_at", "decayed_at",
)  # fmt: skip
BEFORE_ALL, AFTER_ALL = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"


@pytest.mark.parametrize("name", CLOCKS)
@pytest.mark.parametrize("moment", [BEFORE_ALL, AFTER_ALL])
def test_a_clock_outside_of_time_is_refused(memory: Ebbtide, name: str, moment: str) -> None:
    with pytest.raises(InvalidInput, match="Line 2: ") as caught:
        memory.import_records([{"content": "x"}, {"content": "y", name: moment}])
    assert caught.value.field == name
    assert memory.browse() == []


@pytest.mark.parametrize("name", CLOCKS)
@pytest.mark.parametrize("moment", ["2026", "1700000000", 1_700_000_000, 2026.5, True, "", "20260101T000000Z"])
def test_a_clock_that_would_be_a_guess_is_refused(memory: Ebbtide, name: str, moment: Any) -> None:
    with pytest.raises(InvalidInput, match="Line 1: ") as caught:
        memory.import_records([{"content": "y", name: moment}])
    assert caught.value.field == name


def test_a_clock_of_a_version_is_checked(memory: Ebbtide) -> None:
    version = {"content": "x", "revision": 1, "current_until": AFTER_ALL}
    with pytest.raises(InvalidInput, match="Line 1: ") as caught:
        memory.import_records([{"content": "y", "revision": 2, "versions": [version]}])
    assert caught.value.field == "versions[0].current_until"


def test_the_first_and_the_last_year_are_kept_and_read(memory: Ebbtide) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    memory.import_records([{"content": f"tea {at.year}", "created_at": at.isoformat()} for at in (first, last)])
    assert {one.created_at for one in memory.browse()} == {first, last}
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        assert "tea" in memory.scoped(timezone=zone).context("tea").text


def test_a_successor_of_another_agent_is_refused(memory: Ebbtide) -> None:
    theirs = memory.scoped(agent="other").remember("The code is 4711.").memory
    assert theirs is not None
    with pytest.raises(InvalidInput, match="Line 2: superseded_by is no memory of this agent") as caught:
        memory.import_records([{"content": "x"}, {"content": "y", "superseded_by": str(theirs.id)}])
    assert caught.value.field == "superseded_by"
    version = {"content": "y", "current_until": "2026-01-01T00:00:00Z", "superseded_by": str(theirs.id)}
    with pytest.raises(InvalidInput, match="Line 1: superseded_by is no memory of this agent"):
        memory.import_records([{"content": "y", "revision": 2, "versions": [version]}])
    assert memory.browse() == []


@pytest.mark.parametrize("length", [2, 3, 700])
def test_a_circle_within_a_file_is_refused(memory: Ebbtide, length: int) -> None:
    ids = [str(uuid4()) for _ in range(length)]
    records = [
        {"content": f"x{place}", "id": id_, "superseded_by": ids[(place + 1) % length]} for place, id_ in enumerate(ids)
    ]
    with pytest.raises(InvalidInput, match="Line 2: superseded_by leads back"):
        memory.import_records([{"content": "apart"}, *records])
    assert memory.browse() == []
    assert memory.import_records(records[1:]).imported == length - 1


def test_a_circle_with_the_store_is_refused(memory: Ebbtide) -> None:
    first, second, third = (str(uuid4()) for _ in range(3))
    memory.import_records([{"content": "x", "id": first, "superseded_by": second}])
    memory.import_records([{"content": "y", "id": second, "superseded_by": third}])
    with pytest.raises(InvalidInput, match="Line 1: superseded_by leads back"):
        memory.import_records([{"content": "z", "id": third, "superseded_by": first}])
    assert memory.import_records([{"content": "z", "id": third}]).imported == 1


@pytest.mark.parametrize("records", [None, 5, "text", {"content": "x"}])
def test_what_is_no_list_of_records_is_refused(memory: Ebbtide, records: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.import_records(records)
    assert caught.value.field == "records"


NO_RECORDS: dict[str, Any] = {
    "number": 5,
    "none": None,
    "list": ["x"],
    "huge": 10**5_000,
    "open": "{",
    "bytes": b"\xff",
    "array": "[]",
    "surrogate": "\ud800",
    "infinite": '{"content": 1e999}',
}


@pytest.mark.parametrize("line", NO_RECORDS)
def test_what_is_no_record_is_refused_by_its_line(memory: Ebbtide, line: str) -> None:
    with pytest.raises(InvalidInput, match="Line 2") as caught:
        memory.import_records([{"content": "x"}, NO_RECORDS[line]])
    assert caught.value.field in ("line 2", "content")
    assert memory.browse() == []


def test_a_vector_of_another_dimension_is_made_anew(memory: Ebbtide) -> None:
    memory.remember("The harbour channel is 77.")
    (record,) = memory.export_records()
    memory.forget(record["id"], 1)
    imported = memory.import_records([record | {"id": str(uuid4()), "vector": record["vector"][:7]}])
    assert (imported.imported, imported.reembedded) == (1, 1)
    assert next(iter(memory.export_records()))["vector"] == record["vector"]


def test_no_vector_is_counted_for_what_was_there_already(memory: Ebbtide) -> None:
    memory.remember("The harbour channel is 77.")
    told = memory.import_records([{"content": "The harbour channel is 77."}, {"content": "The pier is closed."}])
    assert (told.imported, told.duplicates, told.reembedded) == (1, 1, 1)
