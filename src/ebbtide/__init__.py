"""Ebbtide: a memory engine for AI agents, on PostgreSQL."""

from __future__ import annotations

from ebbtide.blocking import Ebbtide
from ebbtide.errors import EbbtideError
from ebbtide.evidence import (
    AuditCheck,
    AuditEntry,
    Candidate,
    Erasure,
    Forgetting,
    Hold,
    Receipt,
    ReceiptCheck,
)
from ebbtide.govern.policies import EffectivePolicy, Policy
from ebbtide.handle import AsyncEbbtide
from ebbtide.rank.fusion import reciprocal_rank_fusion
from ebbtide.rank.profile import Profile
from ebbtide.rank.relevance import Relevance, relevance
from ebbtide.read.where import Filter, where
from ebbtide.settings import Settings
from ebbtide.types import (
    ContextBlock,
    Dispute,
    Draft,
    Explanation,
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
    "AuditCheck",
    "AuditEntry",
    "Candidate",
    "ContextBlock",
    "Dispute",
    "Draft",
    "Ebbtide",
    "EbbtideError",
    "EffectivePolicy",
    "Erasure",
    "Explanation",
    "Filter",
    "Forgetting",
    "Hit",
    "Hold",
    "Imported",
    "Job",
    "Memory",
    "Policy",
    "Profile",
    "Recall",
    "Receipt",
    "ReceiptCheck",
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
