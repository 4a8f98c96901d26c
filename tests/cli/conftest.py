"""The command line as a function: arguments and standard input in, exit code and both outputs back."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ebbtide.cli import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of the program did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """Runs the program in an empty folder, where no store is configured."""
    monkeypatch.delenv("EBBTIDE_STORE", raising=False)
    monkeypatch.chdir(tmp_path_factory.mktemp("folder"))
    monkeypatch.setenv("EBBTIDE_EMBEDDER", "fake")

    def program(*arguments: object, stdin: str | bytes = "") -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return program


@pytest.fixture
def ebbtide(run: Run, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program on this test's own store."""
    monkeypatch.setenv("EBBTIDE_STORE", dsn)
    return run
