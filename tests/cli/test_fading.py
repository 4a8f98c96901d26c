"""forgetting enable, disable, show, plan and run, as JSON and for people."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from ebbtide import Ebbtide
from ebbtide.cli.fading import chart, fate, show_curve, show_plan
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


@pytest.fixture
def clocked(ebbtide: Run, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program by the test's clock."""
    monkeypatch.setattr("ebbtide.opening.SystemClock", lambda: clock)
    return ebbtide


def test_what_faded_is_planned_and_then_done(clocked: Run, memory: Ebbtide, clock: FixedClock) -> None:
    told = memory.remember("The ferry leaves at nine.").memory
    memory.recall("ferry")
    memory.close()
    clock.advance(366 * DAY)
    planned = clocked("forgetting", "plan", "--limit", 5, "--json").json
    assert (planned.pop("at"), len(planned.pop("memories"))) == ("2027-03-04T03:37:00Z", 1)
    assert planned == {"enabled": False, "decaying": 1, "soft_deletions": 1, "held": 0}
    clocked("forgetting", "enable")
    assert clocked("forgetting", "run", "--json").json == {"decayed": 1, "soft_deleted": 1}
    assert clocked("get", told.id, "--json").json["status"] == "deleted"
    assert clocked("forgetting", "run").out == "done  0 curves decayed, 0 memories faded\n"


def test_a_plan_names_what_fades_and_says_what_it_leaves_out(clocked: Run, memory: Ebbtide, clock: FixedClock) -> None:
    told = [memory.remember(f"Pier {number} is new.").memory.id for number in range(3)]
    clock.advance(200 * DAY)
    assert clocked("forgetting", "plan", "--limit", 2).out.splitlines() == [
        f"{told[0]}  fact  worth too little",
        "    0.000 after 201 days  vector.global.memory",
        f"{told[1]}  fact  worth too little",
        "    0.000 after 201 days  vector.global.memory",
        "and 1 more, which --limit names up to 1,000 in all",
        "By 2026-09-19 03:37 UTC, if nothing is used before: 3 memories faded, 0 more under a legal hold, 0 curves to "
        "decay.",
        "Forgetting is off: nothing is deleted until `ebbtide forgetting enable`.",
    ]
    assert "more, which" not in clocked("forgetting", "plan").out


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("days", [0, 20, 364, 400])
def test_nothing_is_cut_off_on_a_terminal(memory: Ebbtide, clock: FixedClock, width: int, days: int) -> None:
    memory.forgetting.enable()
    id_ = memory.remember("x", namespace="vector.agent.ana.projects.harbour").memory.id
    clock.advance(days * DAY)
    plan, curve = memory.forgetting.plan(), memory.forgetting.show(id_)
    memory.forgetting.run()
    screen = StringIO()
    console = Console(file=screen, width=width, force_terminal=True, color_system=None)
    show_plan(console, plan)
    for shown in (curve, memory.forgetting.show(id_)):
        show_curve(console, shown)
    assert "…" not in screen.getvalue()
    assert f"unused for {days}.0 days" in screen.getvalue()
    assert max(map(len, screen.getvalue().splitlines())) <= width


def test_the_curve_is_drawn_and_given_as_json(ebbtide: Run) -> None:
    id_ = ebbtide("remember", "The ferry leaves at nine.", "--json").json["memory"]["id"]
    shown = ebbtide("forgetting", "show", id_).out.splitlines()
    assert shown[0].startswith(" 1.0 │")
    assert shown[7].startswith(" 0.0 │")
    assert "▲ now" in shown[8]
    assert any(line.startswith("effective confidence 0.700 = 0.70 × 1.000") for line in shown)
    assert "0 accesses, unused for 0.0 days" in shown
    assert shown[-1].endswith("were forgetting on.")
    curve = ebbtide("forgetting", "show", id_, "--json").json
    assert (curve["id"], curve["half_life"], curve["spared_by"]) == (id_, 30.0, None)
    assert {"at", "days", "recall_probability", "effective_confidence"} == set(curve["points"][0])


@pytest.mark.parametrize(("days", "present"), [(0, 0), (20, 16), (200, 30)])
def test_a_chart_has_a_column_for_every_stretch_of_time(
    memory: Ebbtide, clock: FixedClock, days: int, present: int
) -> None:
    id_ = memory.remember("x", confidence=1.0).memory.id
    clock.advance(days * DAY)
    curve = memory.forgetting.show(id_)
    assert len({point.at for point in curve.points}) == len(curve.points) == (61 if days else 31)
    rows = chart(curve, 61)
    blocks = ["".join(piece[0] for piece in row[1:]) for row in rows]
    assert {len(row) for row in blocks} == {61}
    assert all(row[0] == "█" for row in blocks)
    assert blocks[0][-1] == " "
    styles = [piece[1] for piece in rows[0][1:]]
    assert styles == ["cyan"] * present + ["bold yellow"] + ["dim"] * (60 - present)


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


@pytest.mark.parametrize(
    ("enabled", "end"), [(True, "deletes it softly."), (False, "would delete it softly, were forgetting on.")]
)
@pytest.mark.parametrize(("days", "night"), [(180, "2026-08-30"), (181, "2026-08-31"), (500, "2027-07-16")])
def test_what_faded_goes_in_the_coming_night(
    memory: Ebbtide, clock: FixedClock, days: int, night: str, enabled: bool, end: str
) -> None:
    if enabled:
        memory.forgetting.enable()
    id_ = memory.remember("x").memory.id
    clock.advance(days * DAY)
    assert fate(memory.forgetting.show(id_)) == f"Unless it is used before, the night of {night} {end}"


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
