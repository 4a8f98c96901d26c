"""profiles, jobs, doctor, migrate and eval, as JSON and for people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ebbtide.rank.strategies import BUILT_IN
from tests.cli.conftest import Run
from tests.tidy.tree import ROOT


def test_profiles_are_listed_shown_and_saved(ebbtide: Run, tmp_path: Path) -> None:
    assert [one["name"] for one in ebbtide("profiles", "list", "--json").json] == list(BUILT_IN)
    mine = ebbtide("profiles", "get", "agentium", "--json").json | {"name": "mine"}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(mine), encoding="utf-8")
    saved = ebbtide("profiles", "save", file, "--json")
    assert (saved.code, saved.json["name"]) == (0, "mine")
    assert ebbtide("profiles", "get", "mine", "--json").json == mine
    assert "mine" in ebbtide("profiles", "list").out
    assert ebbtide("profiles", "save", "--json", stdin=json.dumps(mine | {"law": "none"})).json["error"]["code"] == (
        "invalid_profile"
    )


def test_a_shown_profile_can_be_saved(ebbtide: Run) -> None:
    shown = ebbtide("profiles", "get", "ontheia").out
    assert ebbtide("profiles", "save", stdin=shown.replace('"ontheia"', '"own"')).out == "saved  own\n"


def test_a_profile_that_is_no_object(ebbtide: Run) -> None:
    ran = ebbtide("profiles", "save", "--json", stdin="[1]")
    assert (ran.code, ran.json["error"]["code"]) == (2, "invalid_profile")


def test_jobs_are_listed_retried_and_cancelled(ebbtide: Run) -> None:
    assert ebbtide("jobs", "list", "--status", "failed", "--json").json["items"] == []
    for command in ("retry", "cancel"):
        ran = ebbtide("jobs", command, 999_999, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (1, "not_found")


def test_the_doctor_finds_a_sound_store_sound(ebbtide: Run) -> None:
    ran = ebbtide("doctor", "--json")
    assert ran.code == 0
    assert {check["verdict"] for check in ran.json} == {"ok"}, ran.out
    assert all(set(check) == {"name", "verdict", "found", "remedy"} for check in ran.json)
    assert ebbtide("doctor").out.startswith("ok   python")


def test_the_doctor_tries_the_reranker(ebbtide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for spec, verdict, found in (("fake", "ok", "fake, "), ("http://127.0.0.1:1#m", "fail", "cannot be reached")):
        monkeypatch.setenv("EBBTIDE_RERANKER", spec)
        ran = ebbtide("doctor", "--json")
        [check] = [check for check in ran.json if check["name"] == "reranker"]
        assert (ran.code, check["verdict"]) == (verdict == "fail", verdict)
        assert found in check["found"]
        assert verdict == "ok" or check["remedy"]
    monkeypatch.setenv("EBBTIDE_RERANKER", "/nowhere")
    assert ebbtide("doctor", "--json").json["error"]["field"] == "reranker"


def test_the_doctor_says_what_is_amiss(run: Run) -> None:
    ran = run("doctor", "--store", "postgresql://nobody@127.0.0.1:1/none", "--embedder", "none", "--json")
    assert ran.code == 1
    verdicts = {check["name"]: check["verdict"] for check in ran.json}
    assert verdicts == {"python": "ok", "embedder": "warn", "reranker": "ok", "store": "fail"}
    assert all(check["remedy"] for check in ran.json if check["verdict"] != "ok")


def test_migrate_makes_a_database_into_a_store(run: Run, empty_dsn: str) -> None:
    assert run("migrate", "--store", empty_dsn, "--json").json == {"schema_version": 1}
    assert run("migrate", "--store", empty_dsn).out == "up to date  schema version 1\n"
    assert run("browse", "--store", empty_dsn, "--json").json["items"] == []


def test_eval_measures_the_documented_example(ebbtide: Run, dsn: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    example = re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert example is not None
    file = tmp_path / "shop.json"
    file.write_text(example[1], encoding="utf-8")
    ran = ebbtide("eval", file, "--profile", "tide", "--profile", "vector", "--store", dsn, "--json")
    assert ran.code == 0, ran.out
    assert [report["profile"] for report in ran.json] == ["tide", "vector"]
    assert set(ran.json[0]) >= {"questions", "recall_at", "hit_at", "mrr", "ndcg_at_10", "by_category", "latency_ms"}
    assert "recall@10" in ebbtide("eval", file, "--merged", "--store", dsn).out
