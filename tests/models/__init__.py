"""Tests of the embedding models."""

from __future__ import annotations
