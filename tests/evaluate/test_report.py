"""The report: its JSON to the last key, and tables that fit a terminal."""

from __future__ import annotations

import io
import json

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from ebbtide.errors import InvalidInput
from ebbtide.evaluate.metrics import QuestionResult
from ebbtide.evaluate.report import as_json, plain_text, summarize, tables

TIDE = summarize(
    "tide",
    [
        QuestionResult("temporal", ("a", "b"), ("a", "c", "b"), latency_ms=3.2),
        QuestionResult("update", ("z",), ("y", "z"), latency_ms=5.0),
        QuestionResult("none", (), ("a",), latency_ms=9.0, measurable=False),
    ],
    rows_per_second=812.44,
)
OTHER = summarize(
    "[other]",
    [
        QuestionResult("temporal", ("a", "b"), ("c", "b"), latency_ms=2.0),
        QuestionResult("update", ("z",), ("y", "z"), latency_ms=2.0),
    ],
    rows_per_second=9812.0,
)


def test_the_json_has_exactly_the_promised_keys() -> None:
    assert json.loads(json.dumps(as_json([TIDE]))) == snapshot(
        [
            {
                "profile": "tide",
                "questions": 2,
                "recall_at": {"5": 1.0, "10": 1.0, "20": 1.0},
                "hit_at": {"10": 1.0},
                "mrr": 0.75,
                "ndcg_at_10": 0.7753,
                "by_category": {
                    "temporal": {
                        "questions": 1,
                        "recall_at": {"5": 1.0, "10": 1.0, "20": 1.0},
                        "hit_at": {"10": 1.0},
                        "mrr": 1.0,
                        "ndcg_at_10": 0.9197,
                    },
                    "update": {
                        "questions": 1,
                        "recall_at": {"5": 1.0, "10": 1.0, "20": 1.0},
                        "hit_at": {"10": 1.0},
                        "mrr": 0.5,
                        "ndcg_at_10": 0.6309,
                    },
                },
                "latency_ms": {"p50": 5.0, "p95": 8.6},
                "rows_per_second": 812.4,
            }
        ]
    )


def test_profiles_come_in_the_order_in_which_they_were_run() -> None:
    assert [entry["profile"] for entry in as_json([OTHER, TIDE])] == ["[other]", "tide"]


def test_plain_text_is_aligned_and_uncoloured() -> None:
    assert plain_text([TIDE, OTHER]) == snapshot("""\
Overall
profile  questions  recall@5  recall@10  recall@20  hit@10    MRR  nDCG@10
tide             2     1.000      1.000      1.000   1.000  0.750    0.775
[other]          2     0.750      0.750      0.750   1.000  0.500    0.509

Speed
profile  p50 ms  p95 ms  rows/s
tide        5.0     8.6     812
[other]     2.0     2.0   9,812

recall@10 by category
category  questions   tide  [other]
temporal          1  1.000    0.500
update            1  1.000    1.000

nDCG@10 by category
category  questions   tide  [other]
temporal          1  0.920    0.387
update            1  0.631    0.631
""")


def drawn(width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="standard")
    console.print(*tables([TIDE, OTHER]))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_tables_fit_a_narrow_terminal() -> None:
    assert "…" not in drawn(80)


def test_the_best_value_stands_out_and_equal_ones_do_not() -> None:
    tide = next(line for line in drawn(120).splitlines() if line.strip().startswith("tide"))
    # The recalls, MRR and nDCG differ; hit@10 is the same for both.
    assert tide.count("\x1b[1;32m") == 5


def test_a_profile_name_is_text_and_never_markup() -> None:
    assert "[other]" in drawn(120)


def test_a_run_without_measurable_questions_has_no_report() -> None:
    with pytest.raises(InvalidInput, match="No question can be measured"):
        summarize("tide", [QuestionResult("none", (), (), latency_ms=1, measurable=False)], rows_per_second=1)
