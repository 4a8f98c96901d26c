"""Nothing crosses: two tenants, two agents, two users and every verb, against a model of who may see what."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ebbtide.clock import FixedClock
from tests.conftest import Opener
from tests.isolation.chance import live
from tests.isolation.machine import Isolation
from tests.test_isolation import tenant_tables

STEPS = int(os.environ.get("EBBTIDE_ISOLATION_STEPS", "300"))
SEED = int(os.environ.get("EBBTIDE_ISOLATION_SEED", "1"))
STEPS_A_LIFE = 100
TELL_EVERY = 1_000


@pytest.mark.timeout(120 + STEPS // 5)
def test_nothing_crosses_whatever_is_called(
    open_store: Opener,
    clock: FixedClock,
    owner: psycopg.Connection[Any],
    application: psycopg.Connection[Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, tables = open_store(), tenant_tables(owner)
    started, done, told = time.monotonic(), 0, 0

    def tell() -> None:
        seconds = time.monotonic() - started
        with capsys.disabled():
            sys.stdout.write(f"\nisolation: {done:,} of {STEPS:,} steps in {seconds:.0f} s, seed {SEED}\n")
            sys.stdout.flush()

    for life in range(-(-STEPS // STEPS_A_LIFE)):
        live(Isolation(store, clock, owner, application, tables, tmp_path), SEED * 100_000 + life, STEPS_A_LIFE)
        done += STEPS_A_LIFE
        if done // TELL_EVERY > told:
            told = done // TELL_EVERY
            tell()
    tell()
