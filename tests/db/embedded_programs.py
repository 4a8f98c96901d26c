"""Other programs that open an embedded server's folder, and what can be seen of the server from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from ebbtide.db import launcher_supervisor
from ebbtide.db.embedded import find_binaries

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

SOURCES = Path(launcher_supervisor.__file__).parents[2]
PATIENCE_SECONDS = 20.0

PROGRAM = """
import sys
from pathlib import Path
from ebbtide.db.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]), binaries=Path(sys.argv[2]))
sys.stdout.write(server.start() + "\\n")
sys.stdout.flush()
sys.stdin.readline()
"""


@contextmanager
def directory(path: Path) -> Generator[int]:
    descriptor = launcher_supervisor.open_directory(os.fspath(path))
    yield descriptor
    os.close(descriptor)


def query(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement)  # pyright: ignore[reportCallIssue, reportArgumentType]
        return cursor.fetchall() if cursor.description else []


def runs(folder: Path) -> bool:
    with directory(folder / "data") as data:
        return launcher_supervisor.server_runs(data)


def postmaster(folder: Path) -> int:
    with directory(folder / "data") as data:
        found = launcher_supervisor.read_postmaster(data)
    assert found
    return found.pid


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Program:
    """Another program that has the folder open until it is told to end, or killed."""

    def __init__(self, folder: Path, *, binaries: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, folder, binaries or find_binaries()],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([os.fspath(SOURCES), *sys.path])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def dsn(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.communicate("end\n", timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE_SECONDS)
