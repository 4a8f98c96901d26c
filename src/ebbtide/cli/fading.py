"""The commands of forgetting by itself: switch it on, look at a curve, look ahead, run the night now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ebbtide.cli.options import given_only, with_store
from ebbtide.cli.output import line, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output, Piece
    from ebbtide.evidence import Curve, CurvePoint, FadingPlan, FadingRun
    from ebbtide.handle import AsyncEbbtide

__all__ = ["forgetting"]

PAST, FUTURE, NOW = "cyan", "dim", "bold yellow"
CHART_ROWS = 8
BLOCKS = " ▁▂▃▄▅▆▇█"
SPARED = {
    "confirmed": "It was confirmed.",
    "superseded": "It was superseded.",
    "invalidated": "It was found to be wrong.",
    "importance": "It matters too much.",
    "kind": "Memories of its kind do not fade.",
    "hold": "A legal hold covers it.",
}


@click.group(short_help="What fades: enable, disable, show, plan, run.")
def forgetting() -> None:
    """Forgetting by itself: what nobody uses fades, and comes back when it is asked for."""


@forgetting.command("enable")
@with_store
async def enable(memory: AsyncEbbtide, out: Output) -> None:
    """Let the tenant's memories fade, from the next night on. See first what `plan` says."""
    await memory.forgetting.enable()
    out.answer({"enabled": True}, lambda console: line(console, ("on", "bold green"), "  what nobody uses fades"))


@forgetting.command("disable")
@with_store
async def disable(memory: AsyncEbbtide, out: Output) -> None:
    """Let nothing fade any more, nor come back by itself."""
    await memory.forgetting.disable()
    out.answer({"enabled": False}, lambda console: line(console, ("off", "bold green"), "  nothing fades"))


@forgetting.command("show")
@click.argument("memory_id", metavar="ID")
@with_store
async def show(memory: AsyncEbbtide, out: Output, memory_id: str) -> None:
    """Draw the forgetting curve of the memory ID, past and future."""
    curve = await memory.forgetting.show(memory_id)
    out.answer(curve, lambda console: show_curve(console, curve))


def show_curve(console: Console, curve: Curve) -> None:
    """The effective confidence over time, the numbers behind it, and when the memory will have faded."""
    for row in chart(curve):
        line(console, *row)
    first, last = curve.points[0], curve.points[-1]
    width = len(curve.points)
    present = sum(point.at < curve.now for point in curve.points)
    line(console, f"{'':>6}{'':{present}}", ("▲ now", NOW))
    ends = f"{first.at:%Y-%m-%d}{last.at:%Y-%m-%d}"
    gap = max(1, width - len(ends))
    line(console, (f"{'':>6}{first.at:%Y-%m-%d}{'':{gap}}{last.at:%Y-%m-%d}", "dim"))
    line(
        console,
        "effective confidence ", (f"{curve.effective_confidence:.3f}", "bold"),
        f" = {curve.confidence:.2f} × {curve.recall_probability:.3f}",
    )  # fmt: skip
    line(
        console,
        (f"half-life {curve.half_life:.1f} days, difficulty {curve.difficulty:.2f}, stability {curve.stability:.2f}; "
         f"{curve.access_count:,} accesses, unused for {curve.idle_days:.1f} days", "dim"),
    )  # fmt: skip
    paragraph(console, fate(curve))


def chart(curve: Curve) -> list[list[Piece]]:
    """The curve as rows of blocks, the highest first: what was, now, and what will be if nobody uses it."""
    rows: list[list[Piece]] = []
    for row in reversed(range(CHART_ROWS)):
        label = {CHART_ROWS - 1: "1.0", CHART_ROWS // 2 - 1: "0.5", 0: "0.0"}.get(row, "")
        pieces: list[Piece] = [(f"{label:>4} │", "dim")]
        pieces += [(block(point, row), style_of(point, curve)) for point in curve.points]
        rows.append(pieces)
    return rows


def block(point: CurvePoint, row: int) -> str:
    """How much of a row of the chart lies below the curve at a point."""
    eighths = round(point.effective_confidence * CHART_ROWS * (len(BLOCKS) - 1)) - row * (len(BLOCKS) - 1)
    return BLOCKS[min(max(eighths, 0), len(BLOCKS) - 1)]


def style_of(point: CurvePoint, curve: Curve) -> str:
    """How a point is drawn: as what was, now, or what will be."""
    return NOW if point.at == curve.now else PAST if point.at < curve.now else FUTURE


def fate(curve: Curve) -> str:
    """What becomes of the memory if nobody uses it."""
    if curve.status == "deleted":
        return "It has faded; a recall of its words brings it back, and so does restore."
    if curve.soft_delete_at is None:
        return f"It never fades. {SPARED.get(curve.spared_by or '', f'It is {curve.spared_by}.')}"
    when = f"Unused, it will have faded on {curve.soft_delete_at:%Y-%m-%d}"
    return f"{when}." if curve.enabled else f"{when}, were forgetting on."


@forgetting.command("plan")
@click.option("--limit", type=int, metavar="N", help="How many memories to name at most.")
@with_store
async def plan(memory: AsyncEbbtide, out: Output, limit: int | None) -> None:
    """Say what a nightly run would change now, and which memories have faded. Nothing is changed."""
    found = await memory.forgetting.plan(**given_only({"limit": limit}))
    out.answer(found, lambda console: show_plan(console, found))


def show_plan(console: Console, found: FadingPlan) -> None:
    """A line for each memory that has faded, and the counts."""
    for one in found.memories:
        reason = "idle too long" if one.reason == "idle" else "worth too little"
        line(
            console,
            (f"{one.id}  ", "dim"), (one.namespace, "cyan"), f"  {one.kind}  {reason}: ",
            f"{one.effective_confidence:.3f} after {one.idle_days:,.0f} days",
        )  # fmt: skip
    faded = counted(found.soft_deletions, "memory has", "memories have")
    decaying = counted(found.decaying, "curve", "curves")
    paragraph(console, f"{faded} faded, {found.held:,} more under a legal hold; {decaying} to decay.")
    if not found.enabled:
        paragraph(console, ("Forgetting is off: nothing is deleted until `ebbtide forgetting enable`.", "yellow"))


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


@forgetting.command("run")
@with_store
async def run(memory: AsyncEbbtide, out: Output) -> None:
    """Do now what the night does: let curves decay, and delete softly what has faded where forgetting is on."""
    done = await memory.forgetting.run()
    out.answer(done, lambda console: show_run(console, done))


def show_run(console: Console, done: FadingRun) -> None:
    """The two counts."""
    line(console, ("done", "bold green"), f"  {done.decayed:,} curves decayed, {done.soft_deleted:,} memories faded")
