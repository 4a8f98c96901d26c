"""How programs end: unclosed, by an error, after a fork, after their server; quickly, quietly, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide import Ebbtide

OPENED = """
import os, signal, sys
from pathlib import Path
from ebbtide import Ebbtide
from ebbtide.errors import EbbtideError
memory = Ebbtide.open(sys.argv[1], embedder="fake")
memory.remember("The harbour channel is 77.")
"""

# Newer Pythons warn of any fork beside threads, and the store has some.
FORKED = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    for handle in (memory, memory.scoped(agent="another")):
        try:
            handle.browse()
        except EbbtideError as error:
            print(error.remedy, flush=True)
    memory.close()
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(memory.browse()))
"""

SERVER_KILLED = """
import time
time.sleep(float(sys.argv[2]))
os.kill(int(Path(sys.argv[1], "data", "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
time.sleep(float(sys.argv[2]))
"""


def ran(program: str, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OPENED + program, str(folder), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_an_unclosed_handle_is_closed_at_the_end(tmp_path: Path) -> None:
    ended = ran("", tmp_path / "store")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    with Ebbtide.open(tmp_path / "store", embedder="fake") as memory:
        assert len(memory.browse()) == 1


def test_an_error_is_shown_alone(tmp_path: Path) -> None:
    ended = ran("memory.get('x')", tmp_path / "store")
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.rstrip().endswith("made within a minute begin alike.")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told_and_leaves_the_store_alone(tmp_path: Path) -> None:
    ended = ran(FORKED, tmp_path / "store")
    assert ended.stdout.splitlines() == ["Open the store anew in each process."] * 2 + ["7 1"]
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("seconds", [0, 2])
def test_a_server_that_is_gone_makes_little_noise(tmp_path: Path, seconds: int) -> None:
    """Within the first second no worker runs yet; later one does, and loses its connections too."""
    ended = ran(SERVER_KILLED, tmp_path / "store", seconds)
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) < 50
