"""Fixtures of the tests of jobs."""

from __future__ import annotations

import pytest

from tests.jobs.support import (
    ScriptedEmbedder,
)


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder()
