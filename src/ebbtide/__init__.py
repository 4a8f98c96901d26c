"""Ebbtide: a memory engine for AI agents, on PostgreSQL."""

from __future__ import annotations

from ebbtide.blocking import Ebbtide
from ebbtide.errors import EbbtideError
from ebbtide.handle import AsyncEbbtide
from ebbtide.rank.fusion import reciprocal_rank_fusion
from ebbtide.rank.profile import Profile
from ebbtide.rank.relevance import Relevance, relevance
from ebbtide.read.where import Filter, where
from ebbtide.settings import Settings
from ebbtide.types import (
    ContextBlock,
    Draft,
    Explanation,
    Forgotten,
    Hit,
    Imported,
    Job,
    Memory,
    Recall,
    Remembered,
    Rule,
    RuledHit,
    RulePreview,
    TagFilter,
    Trace,
    Version,
)

__all__ = [
    "AsyncEbbtide",
    "ContextBlock",
    "Draft",
    "Ebbtide",
    "EbbtideError",
    "Explanation",
    "Filter",
    "Forgotten",
    "Hit",
    "Imported",
    "Job",
    "Memory",
    "Profile",
    "Recall",
    "Relevance",
    "Remembered",
    "Rule",
    "RulePreview",
    "RuledHit",
    "Settings",
    "TagFilter",
    "Trace",
    "Version",
    "reciprocal_rank_fusion",
    "relevance",
    "where",
]
