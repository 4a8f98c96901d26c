-- What memories were made from: said as they are written, and followed as their sources are forgotten.

-- name: read_sources
-- The revisions of memories that are there to make others from.
SELECT m.id, m.revision FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned';

-- name: write
-- Says what memories were made from. A memory that stood for itself before goes on to, unless it is one of the new.
INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at)
SELECT %(tenant)s, o.memory_id, o.source_id, o.whole, %(now)s
FROM unnest(%(memories)s::uuid[], %(sources)s::uuid[], %(wholes)s::boolean[]) AS o(memory_id, source_id, whole)
WHERE o.memory_id <> o.source_id
  AND (o.memory_id = ANY(%(new)s::uuid[])
       OR EXISTS (SELECT FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.memory_id = o.memory_id))
ON CONFLICT DO NOTHING;

-- name: stand_alone
-- Memories that somebody said too rest on nothing any more.
DELETE FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]);

-- name: resting
-- The memories that go with others: whole ones made from any of the last to be found, and those made from nothing that stays. Each
-- comes with one of the last found that it was made from.
SELECT DISTINCT ON (t.memory_id) t.memory_id, t.source_id
FROM memory_origin t JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = t.memory_id
WHERE t.tenant_id = %(tenant)s AND t.source_id = ANY(%(last)s::uuid[]) AND t.memory_id <> ALL(%(going)s::uuid[]) AND m.status <> 'tombstoned'
  AND (t.whole OR NOT EXISTS (
           SELECT FROM memory_origin o
           WHERE o.tenant_id = %(tenant)s AND o.memory_id = t.memory_id AND o.source_id <> ALL(%(going)s::uuid[])))
ORDER BY t.memory_id, t.source_id;

-- name: of
-- What memories were made from, and what was made from them, as far as the caller's agent has it.
SELECT t.memory_id, t.source_id, t.whole
FROM memory_origin t
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = t.memory_id AND m.agent_id = %(agent)s
JOIN memory s ON s.tenant_id = %(tenant)s AND s.id = t.source_id AND s.agent_id = %(agent)s
WHERE t.tenant_id = %(tenant)s AND (t.memory_id = %(id)s::uuid OR t.source_id = %(id)s::uuid)
ORDER BY t.memory_id, t.source_id;
