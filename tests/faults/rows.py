"""What no row of a store may ever be, whatever was killed while it was written."""

from __future__ import annotations

from typing import LiteralString

NEVER: dict[str, LiteralString] = {
    "a forgotten memory is a source, or was made from one": """
        SELECT o.tenant_id, o.memory_id FROM ebbtide.memory_origin o
        JOIN ebbtide.memory m ON m.tenant_id = o.tenant_id AND m.id IN (o.memory_id, o.source_id)
        WHERE m.status = 'tombstoned'""",
    "a summary or a page tells of nothing": """
        SELECT m.tenant_id, m.id, m.kind FROM ebbtide.memory m
        WHERE m.kind IN ('entity', 'episode') AND m.status <> 'tombstoned' AND NOT EXISTS (
            SELECT FROM ebbtide.memory_origin o WHERE o.tenant_id = m.tenant_id AND o.memory_id = m.id AND o.whole)""",
    "a page is no entity's": """
        SELECT m.tenant_id, m.id FROM ebbtide.memory m
        WHERE m.kind = 'entity' AND m.status <> 'tombstoned' AND m.maturity <> 'invalidated' AND NOT EXISTS (
            SELECT FROM ebbtide.entity e WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id)""",
    "an extracted fact rests on nothing": """
        SELECT m.tenant_id, m.id FROM ebbtide.memory m
        WHERE m.metadata ? 'extractor' AND m.status <> 'tombstoned' AND NOT EXISTS (
            SELECT FROM ebbtide.memory_origin o WHERE o.tenant_id = m.tenant_id AND o.memory_id = m.id)""",
    "a derived relation lacks a premise": """
        SELECT r.tenant_id, r.id FROM ebbtide.relation r WHERE r.derived AND 2 <> (
            SELECT count(*) FROM ebbtide.derivation d WHERE d.tenant_id = r.tenant_id AND d.relation_id = r.id)""",
    "nothing speaks of an entity": """
        SELECT e.tenant_id, e.id, e.name FROM ebbtide.entity e
        WHERE e.merged_into IS NULL AND NOT EXISTS (
            SELECT FROM ebbtide.mention n WHERE n.tenant_id = e.tenant_id AND n.entity_id = e.id)""",
    "nobody uses a name": """
        SELECT a.tenant_id, a.alias FROM ebbtide.entity_alias a
        WHERE NOT a.added AND NOT a.removed AND NOT EXISTS (
            SELECT FROM ebbtide.alias_source s WHERE s.tenant_id = a.tenant_id AND s.alias_id = a.id)""",
    "what a forgotten memory was to others is left": """
        SELECT m.tenant_id, m.id FROM ebbtide.memory m WHERE m.status = 'tombstoned' AND (
            EXISTS (SELECT FROM ebbtide.mention t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.alias_source t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.turn t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.passage t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.strength t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.recall_hit t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.memory_version t WHERE t.tenant_id = m.tenant_id AND t.id = m.id)
            OR EXISTS (SELECT FROM ebbtide.entity e WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id)
            OR EXISTS (SELECT FROM ebbtide.memory_link t
                       WHERE t.tenant_id = m.tenant_id AND m.id IN (t.memory_id, t.other_id)))""",
    "a branch goes on from one that is not there": """
        SELECT b.tenant_id, b.name FROM ebbtide.branch b WHERE b.parent <> 'main' AND NOT EXISTS (
            SELECT FROM ebbtide.branch p WHERE p.tenant_id = b.tenant_id AND p.agent_id = b.agent_id
                                           AND p.chat_id = b.chat_id AND p.name = b.parent)""",
    "a turn is on a branch that is not there": """
        SELECT t.tenant_id, t.branch FROM ebbtide.turn t WHERE t.branch <> 'main' AND NOT EXISTS (
            SELECT FROM ebbtide.branch b WHERE b.tenant_id = t.tenant_id AND b.agent_id = t.agent_id
                                           AND b.chat_id = t.chat_id AND b.name = t.branch)""",
    "a document is without passages, or a passage without its document": """
        SELECT d.tenant_id, d.path FROM ebbtide.document d WHERE NOT EXISTS (
            SELECT FROM ebbtide.memory m WHERE m.tenant_id = d.tenant_id AND m.source = d.id::text)
        UNION ALL
        SELECT m.tenant_id, m.source FROM ebbtide.memory m
        WHERE m.kind = 'chunk' AND m.status <> 'tombstoned' AND NOT EXISTS (
            SELECT FROM ebbtide.document d WHERE d.tenant_id = m.tenant_id AND d.id::text = m.source)""",
    "a hit is of no recall": """
        SELECT h.tenant_id, h.recall_id FROM ebbtide.recall_hit h WHERE NOT EXISTS (
            SELECT FROM ebbtide.recall_log l WHERE l.tenant_id = h.tenant_id AND l.id = h.recall_id)""",
    "a found update replaced nothing": """
        SELECT l.tenant_id, l.memory_id FROM ebbtide.memory_link l
        JOIN ebbtide.memory m ON m.tenant_id = l.tenant_id AND m.id = l.other_id
        WHERE l.kind = 'update' AND m.superseded_by IS DISTINCT FROM l.memory_id""",
}
