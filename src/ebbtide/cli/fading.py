"""The commands of forgetting by itself: switch it on, look at a curve, look ahead, run the night now."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import given_only, step_by_step, with_store
from ebbtide.cli.output import counted, line, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.output import Output, Piece
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.evidence import Curve, FadingPlan, FadingRun

__all__ = ["forgetting"]

PAST, FUTURE, NOW = "cyan", "dim", "bold yellow"
CHART_ROWS = 8
MARGIN = 6
WIDEST_CHART = 61
BLOCKS = " ▁▂▃▄▅▆▇█"
SPARED = {
    "confirmed": "It was confirmed.",
    "superseded": "It was superseded.",
    "invalidated": "It was found to be wrong.",
    "importance": "It matters too much.",
    "kind": "Memories of its kind do not fade.",
    "hold": "A legal hold covers it.",
}


@group(short_help="What fades: enable, disable, show, plan, run.")
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
    columns = min(WIDEST_CHART, console.width - MARGIN)
    for row in chart(curve, columns):
        line(console, *row)
    first, last = curve.points[0].at, curve.points[-1].at
    line(console, f"{'':{MARGIN + present(curve, columns)}}", ("▲ now", NOW))
    ends = f"{first:%Y-%m-%d}".ljust(columns - 10) + f"{last:%Y-%m-%d}"
    line(console, (f"{'':{MARGIN}}{ends}", "dim"))
    line(
        console,
        "effective confidence ", (f"{curve.effective_confidence:.3f}", "bold"),
        f" = {curve.confidence:.2f} × {curve.recall_probability:.3f}",
    )  # fmt: skip
    held = f"half-life {curve.half_life:.1f} days, difficulty {curve.difficulty:.2f}, stability {curve.stability:.2f}"
    paragraph(console, (held, "dim"))
    accesses = counted(curve.access_count, "access", "accesses")
    paragraph(console, (f"{accesses}, unused for {curve.idle_days:,.1f} days", "dim"))
    paragraph(console, fate(curve))


def chart(curve: Curve, columns: int) -> list[list[Piece]]:
    """The curve as rows of blocks, the highest first: what was, now, and what will be if nobody uses it."""
    import numpy as np

    begin, end = curve.points[0].at.timestamp(), curve.points[-1].at.timestamp()
    heights = np.interp(
        np.linspace(begin, end, columns),
        [point.at.timestamp() for point in curve.points],
        [point.effective_confidence for point in curve.points],
    ).tolist()
    now = present(curve, columns)
    styles = [PAST] * now + [NOW] + [FUTURE] * (columns - now - 1)
    rows: list[list[Piece]] = []
    for row in reversed(range(CHART_ROWS)):
        label = {CHART_ROWS - 1: "1.0", CHART_ROWS // 2 - 1: "0.5", 0: "0.0"}.get(row, "")
        blocks = [(block(height, row), style) for height, style in zip(heights, styles, strict=True)]
        rows.append([(f"{label:>4} │", "dim"), *blocks])
    return rows


def present(curve: Curve, columns: int) -> int:
    """The column of a chart in which now is."""
    begin, end = curve.points[0].at, curve.points[-1].at
    return round((curve.now - begin) / (end - begin) * (columns - 1))


def block(height: float, row: int) -> str:
    """How much of a row of the chart lies below the curve where it is so high, in [0, 1]."""
    eighths = round(height * CHART_ROWS * (len(BLOCKS) - 1)) - row * (len(BLOCKS) - 1)
    return BLOCKS[min(max(eighths, 0), len(BLOCKS) - 1)]


def fate(curve: Curve) -> str:
    """What becomes of the memory if nobody uses it."""
    if curve.status == "deleted":
        return "It has faded; a recall of its words brings it back, and so does restore."
    if curve.soft_delete_at is None:
        return f"It never fades. {SPARED.get(curve.spared_by or '', f'It is {curve.spared_by}.')}"
    if curve.soft_delete_at - curve.now <= timedelta(days=1):
        deletes = "deletes it softly." if curve.enabled else "would delete it softly, were forgetting on."
        return f"Unless it is used before, the night of {curve.soft_delete_at:%Y-%m-%d} {deletes}"
    when = f"Unused, it will have faded on {curve.soft_delete_at:%Y-%m-%d}"
    return f"{when}." if curve.enabled else f"{when}, were forgetting on."


@forgetting.command("plan")
@click.option("--limit", type=int, metavar="N", help="How many memories to name at most.")
@with_store
async def plan(memory: AsyncEbbtide, out: Output, limit: int | None) -> None:
    """Say what the coming night changes if nothing is used before, and which memories have faded by then."""
    found = await memory.forgetting.plan(**given_only({"limit": limit}))
    out.answer(found, lambda console: show_plan(console, found))


def show_plan(console: Console, found: FadingPlan) -> None:
    """Two lines for each memory that will have faded, as far as they are named, and the counts."""
    for one in found.memories:
        reason = "idle too long" if one.reason == "idle" else "worth too little"
        line(console, (f"{one.id}", "bold"), f"  {one.kind}  {reason}")
        figures = f"    {one.effective_confidence:.3f} after {one.idle_days:,.0f} days  "
        line(console, (figures, "dim"), (one.namespace, "cyan"))
    if unnamed := found.soft_deletions - len(found.memories):
        paragraph(console, (f"and {unnamed:,} more, which --limit names up to 1,000 in all", "dim"))
    faded = counted(found.soft_deletions, "memory")
    decaying = counted(found.decaying, "curve", "curves")
    paragraph(
        console,
        f"By {found.at:%Y-%m-%d %H:%M} UTC, if nothing is used before: {faded} faded, {found.held:,} more under a "
        f"legal hold, {decaying} to decay.",
    )
    if not found.enabled:
        paragraph(console, ("Forgetting is off: nothing is deleted until `ebbtide forgetting enable`.", "yellow"))


@forgetting.command("run")
@with_store
@step_by_step
async def run(memory: AsyncEbbtide, out: Output) -> None:
    """Do now what the night does: let curves decay, and delete softly what has faded where forgetting is on."""
    done = await memory.forgetting.run()
    out.answer(done, lambda console: show_run(console, done))


def show_run(console: Console, done: FadingRun) -> None:
    """The two counts."""
    line(
        console,
        ("done", "bold green"),
        f"  {counted(done.decayed, 'curve')} decayed, {counted(done.soft_deleted, 'memory')} faded",
    )
