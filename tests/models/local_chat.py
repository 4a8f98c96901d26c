"""A real chat model on this machine, served by xllamacpp for the tests that ask for one."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = ["serving"]

CONTEXT_TOKENS = 8_192


@contextmanager
def serving(path: str) -> Generator[str]:
    """The URL of a server of the GGUF model at `path`, for as long as the block lasts."""
    llama: Any = import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    # With as many threads as cores it waits for whatever else runs, and takes many times as long.
    parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
    parameters.port = 0
    server = llama.Server(parameters)
    yield server.listening_address
