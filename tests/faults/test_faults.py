"""Whatever is killed: no acknowledged deed is lost, none is half done, no forgotten memory is back."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.harness import Harness

TRIALS = int(os.environ.get("EBBTIDE_FAULT_TRIALS", "12"))
SEED = int(os.environ.get("EBBTIDE_FAULT_SEED", "1"))


TELL_EVERY = 25


@pytest.mark.timeout(120 + TRIALS * 20)
def test_every_acknowledged_deed_outlives_any_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness = Harness(tmp_path, SEED)
    faults: Counter[str] = Counter()
    started = time.monotonic()

    def tell() -> None:
        deeds = sum((ledger.deeds for ledger in harness.ledgers.values()), Counter[str]())
        seconds = time.monotonic() - started
        with capsys.disabled():
            sys.stdout.write(
                f"\nfaults: {faults.total():,} of {TRIALS:,} trials in {seconds:.0f} s, seed {SEED} ({dict(faults)}), "
                f"{deeds.total():,} acknowledged deeds ({dict(sorted(deeds.items()))})\n"
            )
            sys.stdout.flush()

    try:
        for number in range(TRIALS):
            faults[harness.trial(number)] += 1
            if faults.total() % TELL_EVERY == 0:
                tell()
        harness.check_again()
    finally:
        harness.close()
    tell()
