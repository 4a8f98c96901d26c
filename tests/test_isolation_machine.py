"""Nothing crosses: two tenants, two agents, two users and every verb, against a model of who may see what."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as machine_settings
from hypothesis.stateful import run_state_machine_as_test

from ebbtide.clock import FixedClock
from tests.conftest import Opener
from tests.isolation.machine import Isolation
from tests.test_isolation import tenant_tables

STEPS = int(os.environ.get("EBBTIDE_ISOLATION_STEPS", "400"))
STEPS_A_LIFE = 50


@pytest.mark.timeout(120 + STEPS // 5)
def test_nothing_crosses_whatever_is_called(
    open_store: Opener,
    clock: FixedClock,
    owner: psycopg.Connection[Any],
    application: psycopg.Connection[Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = {"store": open_store(), "clock": clock, "owner": owner, "application": application, "steps": 0}
    machine: Any = type("Machine", (Isolation,), {**parts, "tables": tenant_tables(owner)})
    started = time.monotonic()
    while machine.steps < STEPS:
        lives = max(1, min(50, (STEPS - machine.steps) // STEPS_A_LIFE))
        run_state_machine_as_test(
            machine,
            settings=machine_settings(
                max_examples=lives,
                stateful_step_count=STEPS_A_LIFE,
                deadline=None,
                database=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
                phases=[Phase.generate],
            ),
        )
    seconds = time.monotonic() - started
    with capsys.disabled():
        sys.stdout.write(
            f"\nisolation: {machine.steps:,} steps in {seconds:.0f} s, {machine.steps / seconds:.0f} a second\n"
        )
