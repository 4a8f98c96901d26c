"""Outputs whose readers have gone: the program ends quietly, and what it does is done whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ENVIRONMENT = {"EBBTIDE_EMBEDDER": "fake"}


@pytest.fixture
def unread() -> Generator[int]:
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def program(dsn: str, *arguments: str, **streams: int | str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT, "EBBTIDE_STORE": dsn}
    command = [sys.executable, "-m", "ebbtide", *arguments]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(command, env=environment, text=True, check=False, **given)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["recall", "--help"], ["export"], ["browse"], ["browse", "--json"], ["recall", "ferry"],
        ["context", "ferry"], ["audit", "export"], ["get", "not-an-id", "--json"], ["doctor"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_answer_that_nobody_reads_ends_quietly(ebbtide: Run, dsn: str, unread: int, arguments: list[str]) -> None:
    assert ebbtide("remember", "The ferry leaves at seven").code == 0
    done = program(dsn, *arguments, stdout=unread)
    assert (done.returncode, "Traceback" in done.stderr, "Exception" in done.stderr) == (141, False, False)


def test_what_was_asked_is_done_though_nobody_reads_the_answer(ebbtide: Run, dsn: str, unread: int) -> None:
    assert program(dsn, "remember", "The ferry leaves at seven", stdout=unread).returncode == 141
    assert "The ferry leaves at seven" in ebbtide("browse").out


def test_work_goes_on_though_nobody_reads_its_progress(ebbtide: Run, dsn: str, unread: int, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(f'{{"content": "Ferry {number} leaves"}}\n' for number in range(2_500)))
    done = program(dsn, "import", str(lines), stderr=unread)
    assert (done.returncode, done.stdout) == (0, "2,500 imported, 2,500 reembedded\n")
    error = program(dsn, "get", "not-an-id", stderr=unread)
    assert (error.returncode, error.stdout) == (2, "")


def test_an_export_to_a_file_is_whole_though_nobody_reads_its_progress(
    ebbtide: Run, dsn: str, unread: int, tmp_path: Path
) -> None:
    assert ebbtide("remember", "The ferry leaves at seven").code == 0
    target = tmp_path / "all.jsonl"
    assert program(dsn, "export", str(target), stdout=unread, stderr=unread).returncode == 141
    assert "The ferry leaves at seven" in target.read_text()


def closed(dsn: str, arguments: str, streams: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT, "EBBTIDE_STORE": dsn}
    command = f"{sys.executable} -m ebbtide {arguments} {streams}"
    return subprocess.run(command, shell=True, env=environment, text=True, check=False, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "code"), [("import", 0), ("remember -", 2), ("remember", 2), ("extract -", 0), ("ingest -", 0)]
)
def test_a_closed_standard_input_is_an_empty_one(ebbtide: Run, dsn: str, arguments: str, code: int) -> None:
    assert ebbtide("browse").code == 0
    done = closed(dsn, arguments, "<&-")
    assert (done.returncode, "unforeseen" in done.stderr, "Traceback" in done.stderr) == (code, False, False)


def test_what_is_asked_is_done_without_any_output(ebbtide: Run, dsn: str) -> None:
    assert closed(dsn, "remember 'The ferry leaves at seven'", ">&- 2>&-").returncode == 0
    assert "The ferry leaves at seven" in ebbtide("browse").out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", ["--help", "browse", "browse --json", "export", "get no-id --json"])
def test_a_full_disk_is_told_as_one(ebbtide: Run, dsn: str, arguments: str) -> None:
    assert ebbtide("remember", "The ferry leaves at seven").code == 0
    done = closed(dsn, arguments, ">/dev/full")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "The operating system refused: No space left on device." in done.stderr
    assert "Make room" in done.stderr
