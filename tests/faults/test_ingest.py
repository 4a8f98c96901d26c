"""A program that ingests is killed at any moment: the next ingest completes what it began, with one set of passages."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from ebbtide import Ebbtide
from tests.db.embedded_programs import SOURCES
from tests.stores import SETTINGS

PROGRAM = """
import sys
from ebbtide import Ebbtide, Settings
settings = Settings.from_environment({}, in_process_worker=False, max_batch_drafts=5)
with Ebbtide.open(sys.argv[1], embedder="fake:384", settings=settings) as memory:
    print("ready", flush=True)
    memory.ingest(sys.argv[2], name="book.md")
    print("done", flush=True)
"""
SECTIONS = 60


def book(chance: Random) -> str:
    """Another edition of sections, each edition with some of its own."""
    return "\n\n".join(f"# h{number}\n\ntext {number} {chance.randrange(3)}" for number in range(SECTIONS))


def test_a_killed_ingest_is_completed_by_the_next(dsn: str, tmp_path: Path) -> None:
    chance = Random(11)
    file = tmp_path / "book.md"
    interrupted = 0
    for _ in range(4):
        file.write_text(book(chance))
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, dsn, str(file)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([os.fspath(SOURCES), *sys.path])},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout
        assert program.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.02, 0.5))
        program.kill()
        interrupted += "done" not in program.communicate()[0]
        with Ebbtide.open(dsn, embedder="fake:384", settings=SETTINGS) as memory:
            memory.ingest(file, name="book.md")
            (document,) = memory.documents.list()
            contents = [one.content for one in memory.documents.get(document.id, limit=1_000).contents]
            assert document.complete
            assert contents == [part.removeprefix("# ") for part in file.read_text().split("\n\n# ")]
            assert len(memory.browse(limit=200)) == SECTIONS
    assert interrupted
