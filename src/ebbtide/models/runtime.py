"""ONNX Runtime: a model on this machine, on one processor core a run, telling nobody of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ebbtide.errors import ModelUnavailable

__all__ = ["Port", "Session", "open_session"]


class Port(Protocol):
    """One input of a model: its name, and its type such as `tensor(int64)`."""

    name: str
    type: str


class Session(Protocol):
    """What is used of an ONNX Runtime session: named arrays in, arrays out."""

    def get_inputs(self) -> Sequence[Port]:
        """What the model takes."""
        ...

    def run(self, output_names: None, input_feed: Mapping[str, NDArray[np.integer]]) -> Sequence[NDArray[np.float32]]:
        """The model's outputs, all of them where no names are given. Safe from several threads at once."""
        ...


def open_session(model: Callable[[], bytes | str], *, remedy: str) -> Session:
    """A model ready to run, from its bytes or the path of its file.

    Raises `ModelUnavailable` with the remedy where the runtime is not installed, and what the runtime raises.
    """
    try:
        # Imported without its types: the package leaves most of them unknown.
        # The runtime reports its use to its maker unless told otherwise before it is loaded.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as exc:
        raise ModelUnavailable("The package `onnxruntime` is not installed.", remedy=remedy) from exc
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model(), options, providers=["CPUExecutionProvider"])
