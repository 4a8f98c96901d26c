"""The steps of a recall."""

from __future__ import annotations
