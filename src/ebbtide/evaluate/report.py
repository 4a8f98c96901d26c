"""The report of an evaluation: as JSON, as tables for a terminal, and as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.evaluate.metrics import Figures, QuestionResult, figures, figures_by_category, percentile

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Report", "as_json", "plain_text", "summarize", "tables"]


@dataclass(frozen=True, slots=True)
class Report:
    """One profile's figures: overall and by category, the latencies in milliseconds, the rows written a second."""

    profile: str
    overall: Figures
    by_category: dict[str, Figures]
    latency_p50_ms: float
    latency_p95_ms: float
    rows_per_second: float


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table before it is drawn: a title, the headings, the rows of cells, and which cells are a column's best."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    value: Callable[[Report], float]
    digits: int = 3
    prefer: Callable[[Sequence[float]], float] | None = max


QUALITY = (
    _Column("questions", lambda report: report.overall.questions, digits=0, prefer=None),
    _Column("recall@5", lambda report: report.overall.recall_at[5]),
    _Column("recall@10", lambda report: report.overall.recall_at[10]),
    _Column("recall@20", lambda report: report.overall.recall_at[20]),
    _Column("hit@10", lambda report: report.overall.hit_at[10]),
    _Column("MRR", lambda report: report.overall.mrr),
    _Column("nDCG@10", lambda report: report.overall.ndcg_at_10),
)
SPEED = (
    _Column("p50 ms", lambda report: report.latency_p50_ms, digits=1, prefer=min),
    _Column("p95 ms", lambda report: report.latency_p95_ms, digits=1, prefer=min),
    _Column("rows/s", lambda report: report.rows_per_second, digits=0, prefer=None),
)
CATEGORY_MEASURES: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("recall@10 by category", lambda shown: shown.recall_at[10]),
    ("nDCG@10 by category", lambda shown: shown.ndcg_at_10),
)


def summarize(profile: str, results: Sequence[QuestionResult], rows_per_second: float) -> Report:
    """The report of one profile. Latencies count every question, the figures the measurable ones.

    Raises `InvalidInput` when no question can be measured.
    """
    latencies = [result.latency_ms for result in results]
    return Report(
        profile=profile,
        overall=figures(results),
        by_category=figures_by_category(results),
        latency_p50_ms=percentile(latencies, 0.50),
        latency_p95_ms=percentile(latencies, 0.95),
        rows_per_second=rows_per_second,
    )


def as_json(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """The reports as JSON values, one object a profile; the depths are strings, since JSON has no other keys."""
    return [
        {
            "profile": report.profile,
            **_figures_as_json(report.overall),
            "by_category": {name: _figures_as_json(shown) for name, shown in report.by_category.items()},
            "latency_ms": {"p50": round(report.latency_p50_ms, 3), "p95": round(report.latency_p95_ms, 3)},
            "rows_per_second": round(report.rows_per_second, 1),
        }
        for report in reports
    ]


def tables(reports: Sequence[Report]) -> list[Table]:
    """Reports on the same questions side by side as rich tables, overall and by category, the best values in bold."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    drawn: list[Table] = []
    for grid in _grids(reports):
        table = Table(title=grid.title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", padding=(0, 1, 0, 0))
        for position, heading in enumerate(grid.headings):
            table.add_column(heading, justify="right" if position else "left", no_wrap=True)
        for row, cells in enumerate(grid.rows):
            styles = ("bold green" if (row, position) in grid.best else "" for position in range(len(cells)))
            table.add_row(*map(Text, cells, styles))
        drawn.append(table)
    return drawn


def plain_text(reports: Sequence[Report]) -> str:
    """The same tables as aligned text without colour, for a file or a pipe; ends with a line break."""
    return "\n".join(_aligned(grid) for grid in _grids(reports))


def _figures_as_json(shown: Figures) -> dict[str, Any]:
    return {
        "questions": shown.questions,
        "recall_at": {str(depth): round(value, 4) for depth, value in shown.recall_at.items()},
        "hit_at": {str(depth): round(value, 4) for depth, value in shown.hit_at.items()},
        "mrr": round(shown.mrr, 4),
        "ndcg_at_10": round(shown.ndcg_at_10, 4),
    }


def _grids(reports: Sequence[Report]) -> list[_Grid]:
    return [
        _by_profile("Overall", QUALITY, reports),
        _by_profile("Speed", SPEED, reports),
        *(_by_category(title, measure, reports) for title, measure in CATEGORY_MEASURES),
    ]


def _by_profile(title: str, columns: Sequence[_Column], reports: Sequence[Report]) -> _Grid:
    rows = [
        (report.profile, *(f"{column.value(report):,.{column.digits}f}" for column in columns)) for report in reports
    ]
    best = {
        (row, position)
        for position, column in enumerate(columns, start=1)
        if column.prefer
        for row in _winners(column.prefer, [column.value(report) for report in reports])
    }
    return _Grid(title, ("profile", *(column.heading for column in columns)), tuple(rows), frozenset(best))


def _by_category(title: str, measure: Callable[[Figures], float], reports: Sequence[Report]) -> _Grid:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for row, category in enumerate(sorted({name for report in reports for name in report.by_category})):
        shown = [report.by_category[category] for report in reports]
        values = [measure(one) for one in shown]
        rows.append((category, str(shown[0].questions), *(f"{value:.3f}" for value in values)))
        best |= {(row, position + 2) for position in _winners(max, values)}
    headings = ("category", "questions", *(report.profile for report in reports))
    return _Grid(title, headings, tuple(rows), frozenset(best))


def _winners(prefer: Callable[[Sequence[float]], float], values: Sequence[float]) -> list[int]:
    """The positions of the best value; none when all are equal, for then nobody has won."""
    if len(set(values)) < 2:
        return []
    wanted = prefer(values)
    return [position for position, value in enumerate(values) if value == wanted]


def _aligned(grid: _Grid) -> str:
    lines = [grid.headings, *grid.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join([grid.title, *(_aligned_line(line, widths) for line in lines), ""])


def _aligned_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([cells[0].ljust(len(first)), *others])
