"""A store whose making was killed, program or server, is made anew by the next who opens it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ebbtide import Ebbtide

TRIALS = max(2, int(os.environ.get("EBBTIDE_FAULT_TRIALS", "12")) // 12)
LONGEST_SECONDS = 1.5
PROGRAM = "import sys; from ebbtide import Ebbtide; Ebbtide.open(sys.argv[1], embedder='fake').close()"


def postmaster_of(folder: Path) -> int | None:
    """The server's process, where it got as far as writing it down."""
    with suppress(OSError, ValueError, IndexError):
        return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    return None


@pytest.mark.timeout(60 + TRIALS * 10)
@pytest.mark.parametrize("victim", ["program", "server"])
def test_a_store_killed_in_the_making_is_made_by_the_next(tmp_path: Path, victim: str) -> None:
    moments = random.Random(7)
    for number in range(TRIALS):
        folder = tmp_path / f"store-{number}"
        program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.2, LONGEST_SECONDS))
        killed = program.pid if victim == "program" else postmaster_of(folder)
        if killed is not None:
            with suppress(ProcessLookupError):
                os.kill(killed, signal.SIGKILL)
        program.wait(timeout=60)
        with Ebbtide.open(folder, embedder="fake") as memory:
            memory.remember("The ferry leaves at seven.")
            assert [hit.content for hit in memory.recall("ferry")] == ["The ferry leaves at seven."]
