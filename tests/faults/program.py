"""The program that is killed: it writes for one tenant after another until its input ends."""

from __future__ import annotations

import os
import select
import sys
import time

from ebbtide import Ebbtide
from ebbtide.errors import StoreError
from tests.faults.deeds import Deeds
from tests.faults.writer import EMBEDDER, SETTINGS

PREPARED = 14
"""Deeds that a tenant has seen before it may be killed."""


def wanted(waiting: bool) -> str | None:
    """The next line of the input, where there is one."""
    if waiting or select.select([sys.stdin], [], [], 0)[0]:
        return sys.stdin.readline().strip()
    return None


def await_store(memory: Ebbtide) -> None:
    """Go on once the store answers: the connections of before a fault fail once, and are replaced."""
    for _ in range(10):
        try:
            memory.browse(limit=1)
            return
        except StoreError:
            time.sleep(0.1)


def main(folder: str, notes: str) -> None:
    """Write until the input ends.

    Each line of the input names a tenant to write for from then on, or says `stop`. A note is one line of JSON; the
    system has it at once, so that it outlives the program.
    """
    descriptor = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with Ebbtide.open(folder, embedder=EMBEDDER, settings=SETTINGS) as memory:
        writer: Deeds | None = None
        while True:
            line = wanted(waiting=writer is None)
            if line == "":
                return
            if line == "stop":
                if writer is not None:
                    writer.note(stops=True)
                writer = None
            elif line is not None:
                writer = Deeds(memory, descriptor, line)
                await_store(writer.memory)
            if writer is not None:
                try:
                    writer.act()
                    if writer.done == PREPARED:
                        writer.note(ready=True)
                except StoreError as error:
                    writer.note(failed=error.code)
                    writer.note(stops=True)
                    writer = None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
