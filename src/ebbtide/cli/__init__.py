"""The command line, `ebbtide`: a thin face over the handle, for people and for scripts."""

from __future__ import annotations

from ebbtide.cli.app import main

__all__ = ["main"]
