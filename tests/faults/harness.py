"""Faults: a program, its server, one of the server's processes or the connections end in the middle of a deed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from ebbtide import Ebbtide
from ebbtide.db.embedded import EmbeddedServer
from ebbtide.doctor import examine
from ebbtide.errors import StoreError
from ebbtide.opening import Store
from ebbtide.types.caller import Caller
from tests.db.embedded_programs import SOURCES, eventually, parent, postmaster
from tests.faults import program
from tests.faults.ledger import Ledger
from tests.faults.rows import NEVER
from tests.faults.writer import EMBEDDER, SETTINGS

FAULTS = ("program", "server", "backend", "connection")
PATIENCE_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 0.25

OURS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'ebbtide' AND pid <> pg_backend_pid() ORDER BY 1"
DROPPED = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'ebbtide' AND pid <> pg_backend_pid()"""


class Harness:
    """One store in a folder, the program that writes to it, and the faults that befall both."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder / "store"
        self.notes = folder / "notes"
        self.notes.touch()
        self.errors = (folder / "errors").open("w+")
        self.random = Random(seed)
        self.server = EmbeddedServer(self.folder)
        self.dsn = self.server.start()
        self.program = self.start_program()
        self.read_to = 0
        self.ledgers: dict[str, Ledger] = {}

    def close(self) -> None:
        """End what was started."""
        self.program.kill()
        self.program.communicate()
        self.server.stop()
        self.errors.close()

    def said_last(self) -> str:
        """The end of what the program said of itself."""
        self.errors.seek(0)
        return self.errors.read()[-2_000:]

    def trial(self, number: int) -> str:
        """One fault in the middle of a tenant's writing, and what is there afterwards; answers with the fault."""
        tenant = f"t{number}"
        fault = self.random.choice(FAULTS)
        self.tell(tenant)
        notes = self.until(lambda noted: any("ready" in note or "stops" in note for note in noted))
        time.sleep(self.random.uniform(0, LONGEST_WAIT_SECONDS))
        getattr(self, f"kill_{fault}")()
        if fault != "program":
            self.tell("stop")
            notes = self.until(lambda noted: any("stops" in note for note in noted), notes)
        self.dsn = self.server.start()
        notes += self.new_notes()
        self.ledgers[tenant] = Ledger.of(note for note in notes if note["tenant"] == tenant)
        with self.reopened() as memory:
            self.ledgers[tenant].check(memory.scoped(tenant=tenant))
        self.check_rows()
        return fault

    def check_rows(self) -> None:
        """Nothing is half-written, or left of what is gone, in any table."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for sentence, statement in NEVER.items():
                found = connection.execute(statement).fetchall()
                assert not found, f"{sentence}: {found[:5]}"

    def check_again(self) -> None:
        """Nothing of the earlier trials was lost by a later fault."""
        with self.reopened() as memory:
            for tenant, ledger in self.ledgers.items():
                ledger.check(memory.scoped(tenant=tenant))
        found = asyncio.run(examine(Store(self.dsn, settings=SETTINGS, embedder=EMBEDDER), Caller("t0", "default")))
        assert not [one for one in found if one.verdict == "fail"], found

    def reopened(self) -> Ebbtide:
        """The store, opened anew; a server that has just lost a backend may first have to recover."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return Ebbtide.open(self.dsn, embedder=EMBEDDER, settings=SETTINGS)
            except StoreError:
                assert time.monotonic() < deadline, "the store does not open again"
                self.dsn = self.server.start()

    def start_program(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, program.__file__, self.folder, self.notes],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([os.fspath(SOURCES), *sys.path])},
            stdin=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def tell(self, line: str) -> None:
        assert self.program.stdin
        self.program.stdin.write(f"{line}\n")
        self.program.stdin.flush()

    def new_notes(self) -> list[dict[str, Any]]:
        """The lines that were noted since the last look, as far as they are whole."""
        with self.notes.open("rb") as lines:
            lines.seek(self.read_to)
            text = lines.read()
        whole = text[: text.rfind(b"\n") + 1]
        self.read_to += len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def until(
        self, enough: Callable[[list[dict[str, Any]]], bool], before: list[dict[str, Any]] | None = None
    ) -> list[dict[str, Any]]:
        """The notes `before` and what is noted after them, once that is enough."""
        noted = list(before or ())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not enough(noted):
            assert time.monotonic() < deadline, "the program notes nothing any more"
            assert self.program.poll() is None, f"the program ended by itself: {self.said_last()}"
            time.sleep(0.002)
            noted += self.new_notes()
        return noted

    def kill_program(self) -> None:
        self.program.kill()
        self.program.communicate()
        # The next one starts while what this one left is looked at.
        self.program = self.start_program()

    def kill_server(self) -> None:
        kill(postmaster(self.folder))
        self.dsn = self.server.start()

    def kill_backend(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            pids = [row[0] for row in connection.execute(OURS)]
        ours = [pid for pid in pids if parent(pid) == postmaster(self.folder)]
        if ours:
            victim = self.random.choice(ours)
            kill(victim)
            # Once the server knows, it ends all other sessions and recovers.
            assert eventually(lambda: not Path(f"/proc/{victim}").exists())

    def kill_connection(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(DROPPED)


def kill(process: int) -> None:
    """Kill a process of the server and wait until it has ended: dying, it could still pass for a running one."""
    os.kill(process, signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{process}/exe").exists())
