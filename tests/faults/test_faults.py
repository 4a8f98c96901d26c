"""Whatever is killed: no acknowledged deed is lost, none is half done, no forgotten memory is back."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.harness import Harness

TRIALS = int(os.environ.get("EBBTIDE_FAULT_TRIALS", "50"))
SEED = int(os.environ.get("EBBTIDE_FAULT_SEED", "1"))


@pytest.mark.timeout(120 + TRIALS * 5)
def test_every_acknowledged_deed_outlives_any_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness = Harness(tmp_path, SEED)
    faults: Counter[str] = Counter()
    started = time.monotonic()
    try:
        for number in range(TRIALS):
            faults[harness.trial(number)] += 1
        harness.check_again()
    finally:
        harness.close()
    seconds = time.monotonic() - started
    acknowledged = sum(ledger.acknowledged for ledger in harness.ledgers.values())
    with capsys.disabled():
        sys.stdout.write(
            f"\nfaults: {TRIALS:,} trials in {seconds:.0f} s ({dict(faults)}), {acknowledged:,} acknowledged deeds\n"
        )
