"""The steps of a write."""

from __future__ import annotations
