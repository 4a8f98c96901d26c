"""Ebbtide: a memory engine for AI agents, on PostgreSQL."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebbtide.blocking import Ebbtide
    from ebbtide.blocks import ContextBlock, Engagement, Omission
    from ebbtide.conversation import Branch, Chat, Episode, Turn
    from ebbtide.curated import Consolidation, MarkdownExport, Merge, Reconciliation
    from ebbtide.errors import EbbtideError
    from ebbtide.evidence import (
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
    from ebbtide.findings import Extracted, Extraction, Found, Mentioned, Rejected
    from ebbtide.govern.policies import EffectivePolicy, Policy
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.ingested import Document, Ingested, IngestedFile, Passage
    from ebbtide.knowledge import (
        Entity,
        EntityChange,
        EntityPage,
        GraphPath,
        Named,
        Neighbourhood,
        Related,
        Relation,
    )
    from ebbtide.rank.curve import recall_probability
    from ebbtide.rank.fusion import reciprocal_rank_fusion
    from ebbtide.rank.profile import Profile
    from ebbtide.rank.relevance import Relevance, relevance
    from ebbtide.rank.tuned import Tuned, TuneScores
    from ebbtide.read.decompose import decompose
    from ebbtide.read.intent import Classification, classify
    from ebbtide.read.where import Filter, where
    from ebbtide.routed import Routing
    from ebbtide.settings import Settings
    from ebbtide.types import (
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
    from ebbtide.values import Page

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
    "AuditCheck": "ebbtide.evidence",
    "AuditEntry": "ebbtide.evidence",
    "Branch": "ebbtide.conversation",
    "Candidate": "ebbtide.evidence",
    "Chat": "ebbtide.conversation",
    "Classification": "ebbtide.read.intent",
    "Consolidation": "ebbtide.curated",
    "ContextBlock": "ebbtide.blocks",
    "Dispute": "ebbtide.types",
    "Document": "ebbtide.ingested",
    "Draft": "ebbtide.types",
    "Ebbtide": "ebbtide.blocking",
    "EbbtideError": "ebbtide.errors",
    "EffectivePolicy": "ebbtide.govern.policies",
    "Engagement": "ebbtide.blocks",
    "Entity": "ebbtide.knowledge",
    "EntityChange": "ebbtide.knowledge",
    "EntityPage": "ebbtide.knowledge",
    "Episode": "ebbtide.conversation",
    "Erasure": "ebbtide.evidence",
    "Explanation": "ebbtide.types",
    "Extracted": "ebbtide.findings",
    "Extraction": "ebbtide.findings",
    "Filter": "ebbtide.read.where",
    "Forgetting": "ebbtide.evidence",
    "Found": "ebbtide.findings",
    "GraphPath": "ebbtide.knowledge",
    "Hit": "ebbtide.types",
    "Hold": "ebbtide.evidence",
    "Imported": "ebbtide.types",
    "Ingested": "ebbtide.ingested",
    "IngestedFile": "ebbtide.ingested",
    "Job": "ebbtide.types",
    "MarkdownExport": "ebbtide.curated",
    "Memory": "ebbtide.types",
    "Mentioned": "ebbtide.findings",
    "Merge": "ebbtide.curated",
    "Named": "ebbtide.knowledge",
    "Neighbourhood": "ebbtide.knowledge",
    "Omission": "ebbtide.blocks",
    "Page": "ebbtide.values",
    "Passage": "ebbtide.ingested",
    "Policy": "ebbtide.govern.policies",
    "Profile": "ebbtide.rank.profile",
    "Provenance": "ebbtide.evidence",
    "Recall": "ebbtide.types",
    "Receipt": "ebbtide.evidence",
    "ReceiptCheck": "ebbtide.evidence",
    "Reconciliation": "ebbtide.curated",
    "Rejected": "ebbtide.findings",
    "Related": "ebbtide.knowledge",
    "Relation": "ebbtide.knowledge",
    "Relevance": "ebbtide.rank.relevance",
    "Remembered": "ebbtide.types",
    "Routing": "ebbtide.routed",
    "Rule": "ebbtide.types",
    "RulePreview": "ebbtide.types",
    "RuledHit": "ebbtide.types",
    "Settings": "ebbtide.settings",
    "TagFilter": "ebbtide.types",
    "Trace": "ebbtide.types",
    "TuneScores": "ebbtide.rank.tuned",
    "Tuned": "ebbtide.rank.tuned",
    "Turn": "ebbtide.conversation",
    "Version": "ebbtide.types",
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
