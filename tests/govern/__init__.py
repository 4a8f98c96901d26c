"""Governance: namespaces, personal data, profiles."""

from __future__ import annotations
