"""Ebbtide: a memory engine for AI agents, on PostgreSQL."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebbtide.blocking import Ebbtide
    from ebbtide.errors import EbbtideError
    from ebbtide.govern.policies import EffectivePolicy, Policy
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.rank.curve import recall_probability
    from ebbtide.rank.fusion import reciprocal_rank_fusion
    from ebbtide.rank.profile import Profile
    from ebbtide.rank.relevance import Relevance, relevance
    from ebbtide.rank.tuned import Tuned, TuneScores
    from ebbtide.read.decompose import decompose
    from ebbtide.read.intent import Classification, classify
    from ebbtide.read.where import Filter, where
    from ebbtide.settings import Settings
    from ebbtide.types.base import Page
    from ebbtide.types.context import ContextBlock, Engagement, Omission
    from ebbtide.types.curation import Consolidation, MarkdownExport, Merge, Reconciliation
    from ebbtide.types.documents import Document, Ingested, IngestedFile, Passage
    from ebbtide.types.episodes import Branch, Chat, Episode, Turn
    from ebbtide.types.evidence import (
        AuditCheck,
        AuditEntry,
        Candidate,
        Erasure,
        Forgetting,
        Hold,
        Provenance,
        Receipt,
        ReceiptCheck,
    )
    from ebbtide.types.extraction import Extracted, Extraction, Found, Mentioned, Rejected
    from ebbtide.types.graph import Entity, EntityChange, EntityPage, GraphPath, Named, Neighbourhood, Related, Relation
    from ebbtide.types.jobs import Job
    from ebbtide.types.memory import Dispute, Draft, Imported, Memory, Remembered, Version
    from ebbtide.types.recall import Explanation, Hit, Recall, Routing, TagFilter, Trace
    from ebbtide.types.rules import Rule, RuledHit, RulePreview

__all__ = [
    "AsyncEbbtide",
    "AuditCheck",
    "AuditEntry",
    "Branch",
    "Candidate",
    "Chat",
    "Classification",
    "Consolidation",
    "ContextBlock",
    "Dispute",
    "Document",
    "Draft",
    "Ebbtide",
    "EbbtideError",
    "EffectivePolicy",
    "Engagement",
    "Entity",
    "EntityChange",
    "EntityPage",
    "Episode",
    "Erasure",
    "Explanation",
    "Extracted",
    "Extraction",
    "Filter",
    "Forgetting",
    "Found",
    "GraphPath",
    "Hit",
    "Hold",
    "Imported",
    "Ingested",
    "IngestedFile",
    "Job",
    "MarkdownExport",
    "Memory",
    "Mentioned",
    "Merge",
    "Named",
    "Neighbourhood",
    "Omission",
    "Page",
    "Passage",
    "Policy",
    "Profile",
    "Provenance",
    "Recall",
    "Receipt",
    "ReceiptCheck",
    "Reconciliation",
    "Rejected",
    "Related",
    "Relation",
    "Relevance",
    "Remembered",
    "Routing",
    "Rule",
    "RulePreview",
    "RuledHit",
    "Settings",
    "TagFilter",
    "Trace",
    "TuneScores",
    "Tuned",
    "Turn",
    "Version",
    "classify",
    "decompose",
    "recall_probability",
    "reciprocal_rank_fusion",
    "relevance",
    "where",
]

# Where each public name lives. It is fetched when it is first asked for: importing the package alone costs nothing.
_HOMES = {
    "AsyncEbbtide": "ebbtide.handle",
    "AuditCheck": "ebbtide.types.evidence",
    "AuditEntry": "ebbtide.types.evidence",
    "Branch": "ebbtide.types.episodes",
    "Candidate": "ebbtide.types.evidence",
    "Chat": "ebbtide.types.episodes",
    "Classification": "ebbtide.read.intent",
    "Consolidation": "ebbtide.types.curation",
    "ContextBlock": "ebbtide.types.context",
    "Dispute": "ebbtide.types.memory",
    "Document": "ebbtide.types.documents",
    "Draft": "ebbtide.types.memory",
    "Ebbtide": "ebbtide.blocking",
    "EbbtideError": "ebbtide.errors",
    "EffectivePolicy": "ebbtide.govern.policies",
    "Engagement": "ebbtide.types.context",
    "Entity": "ebbtide.types.graph",
    "EntityChange": "ebbtide.types.graph",
    "EntityPage": "ebbtide.types.graph",
    "Episode": "ebbtide.types.episodes",
    "Erasure": "ebbtide.types.evidence",
    "Explanation": "ebbtide.types.recall",
    "Extracted": "ebbtide.types.extraction",
    "Extraction": "ebbtide.types.extraction",
    "Filter": "ebbtide.read.where",
    "Forgetting": "ebbtide.types.evidence",
    "Found": "ebbtide.types.extraction",
    "GraphPath": "ebbtide.types.graph",
    "Hit": "ebbtide.types.recall",
    "Hold": "ebbtide.types.evidence",
    "Imported": "ebbtide.types.memory",
    "Ingested": "ebbtide.types.documents",
    "IngestedFile": "ebbtide.types.documents",
    "Job": "ebbtide.types.jobs",
    "MarkdownExport": "ebbtide.types.curation",
    "Memory": "ebbtide.types.memory",
    "Mentioned": "ebbtide.types.extraction",
    "Merge": "ebbtide.types.curation",
    "Named": "ebbtide.types.graph",
    "Neighbourhood": "ebbtide.types.graph",
    "Omission": "ebbtide.types.context",
    "Page": "ebbtide.types.base",
    "Passage": "ebbtide.types.documents",
    "Policy": "ebbtide.govern.policies",
    "Profile": "ebbtide.rank.profile",
    "Provenance": "ebbtide.types.evidence",
    "Recall": "ebbtide.types.recall",
    "Receipt": "ebbtide.types.evidence",
    "ReceiptCheck": "ebbtide.types.evidence",
    "Reconciliation": "ebbtide.types.curation",
    "Rejected": "ebbtide.types.extraction",
    "Related": "ebbtide.types.graph",
    "Relation": "ebbtide.types.graph",
    "Relevance": "ebbtide.rank.relevance",
    "Remembered": "ebbtide.types.memory",
    "Routing": "ebbtide.types.recall",
    "Rule": "ebbtide.types.rules",
    "RulePreview": "ebbtide.types.rules",
    "RuledHit": "ebbtide.types.rules",
    "Settings": "ebbtide.settings",
    "TagFilter": "ebbtide.types.recall",
    "Trace": "ebbtide.types.recall",
    "TuneScores": "ebbtide.rank.tuned",
    "Tuned": "ebbtide.rank.tuned",
    "Turn": "ebbtide.types.episodes",
    "Version": "ebbtide.types.memory",
    "classify": "ebbtide.read.intent",
    "decompose": "ebbtide.read.decompose",
    "recall_probability": "ebbtide.rank.curve",
    "reciprocal_rank_fusion": "ebbtide.rank.fusion",
    "relevance": "ebbtide.rank.relevance",
    "where": "ebbtide.read.where",
}


def __getattr__(name: str) -> object:
    """A public name, from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
