"""forgetting enable, disable, show, plan and run, as JSON and for people."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.cli.fading import chart, fate
from ebbtide.clock import FixedClock
from tests.cli.conftest import Run

DAY = timedelta(days=1)


def test_forgetting_is_switched_on_and_off(ebbtide: Run) -> None:
    ebbtide("remember", "The ferry leaves at nine.")
    assert ebbtide("forgetting", "plan", "--json").json["enabled"] is False
    assert "Forgetting is off" in ebbtide("forgetting", "plan").out
    assert ebbtide("forgetting", "enable", "--json").json == {"enabled": True}
    assert ebbtide("forgetting", "plan", "--json").json["enabled"] is True
    assert "Forgetting is off" not in ebbtide("forgetting", "plan").out
    assert ebbtide("forgetting", "disable").out == "off  nothing fades\n"
    assert ebbtide("forgetting", "plan", "--json").json["enabled"] is False


def test_what_faded_is_planned_and_then_done(ebbtide: Run, memory: Ebbtide, clock: FixedClock) -> None:
    told = memory.remember("The ferry leaves at nine.").memory
    memory.recall("ferry")
    memory.close()
    # The program's clock is the system's, which is far ahead of the test's or will be.
    planned = ebbtide("forgetting", "plan", "--limit", 5, "--json").json
    assert set(planned) == {"at", "enabled", "decaying", "soft_deletions", "held", "memories"}
    ebbtide("forgetting", "enable")
    done = ebbtide("forgetting", "run", "--json").json
    assert done == {"decayed": planned["decaying"], "soft_deleted": planned["soft_deletions"]}
    status = ebbtide("get", told.id, "--json").json["status"]
    assert status == ("deleted" if planned["soft_deletions"] else "active")
    assert ebbtide("forgetting", "run").out == "done  0 curves decayed, 0 memories faded\n"


def test_the_curve_is_drawn_and_given_as_json(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "The ferry leaves at nine.", "--json").json["memory"]["id"]
    shown = ebbtide("forgetting", "show", id_).out.splitlines()
    assert shown[0].startswith(" 1.0 │")
    assert shown[7].startswith(" 0.0 │")
    assert "▲ now" in shown[8]
    assert any(line.startswith("effective confidence 0.700 = 0.70 × 1.000") for line in shown)
    assert shown[-1].endswith("were forgetting on.")
    curve = ebbtide("forgetting", "show", id_, "--json").json
    assert (curve["id"], curve["half_life"], curve["spared_by"]) == (id_, 30.0, None)
    assert {"at", "days", "recall_probability", "effective_confidence"} == set(curve["points"][0])


def test_a_curve_has_as_many_blocks_as_it_is_high(memory: Ebbtide, clock: FixedClock) -> None:
    id_ = memory.remember("x", confidence=1.0).memory.id
    clock.advance(20 * DAY)
    rows = chart(memory.forgetting.show(id_))
    blocks = ["".join(piece[0] for piece in row[1:]) for row in rows]
    assert {len(row) for row in blocks} == {61}
    assert all(row[0] == "█" for row in blocks)
    assert blocks[0][-1] == " "
    styles = [piece[1] for piece in rows[0][1:]]
    assert (styles[0], styles[30], styles[-1]) == ("cyan", "bold yellow", "dim")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Unused, it will have faded on 2026-08-30, were forgetting on."),
        ({"kind": "preference"}, "It never fades. Memories of its kind do not fade."),
        ({"importance": 0.9}, "It never fades. It matters too much."),
    ],
)
def test_what_becomes_of_a_memory_is_said_in_a_sentence(memory: Ebbtide, fields: dict[str, Any], sentence: str) -> None:
    assert fate(memory.forgetting.show(memory.remember("x", **fields).memory.id)) == sentence


def test_what_faded_says_how_it_comes_back(memory: Ebbtide, clock: FixedClock) -> None:
    memory.forgetting.enable()
    id_ = memory.remember("x").memory.id
    clock.advance(366 * DAY)
    assert memory.forgetting.run().soft_deleted == 1
    assert fate(memory.forgetting.show(id_)).startswith("It has faded; a recall of its words brings it back")


def test_an_unknown_memory_is_an_error(ebbtide: Run) -> None:
    ran = ebbtide("forgetting", "show", "00000000-0000-0000-0000-000000000000", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "not_found")
    assert ebbtide("forgetting", "show", "nothing").code == 2
    assert ebbtide("forgetting", "plan", "--limit", -1).code == 2
