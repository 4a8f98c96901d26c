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
-- Memories that somebody said too rest on nothing any more; answers with what they rested on.
DELETE FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.source_id;

-- fragment: merged
-- Whether what superseded a memory says just that: made of it and others, or nearly its words. Such a one holds as long as that does.
(EXISTS (SELECT FROM memory_origin w WHERE w.tenant_id = %(tenant)s AND w.memory_id = m.superseded_by AND w.source_id = m.id AND w.whole)
 OR EXISTS (SELECT FROM memory_link l WHERE l.tenant_id = %(tenant)s AND l.memory_id = m.id AND l.other_id = m.superseded_by
            AND l.kind = 'near_duplicate')
 OR EXISTS (SELECT FROM memory_link l WHERE l.tenant_id = %(tenant)s AND l.memory_id = m.superseded_by AND l.other_id = m.id
            AND l.kind = 'near_duplicate'))

-- name: lock_told
-- Locks what memories were extracted from, and so were those that were merged into them; and the sources that are given.
WITH RECURSIVE line AS (
    SELECT u.id FROM unnest(%(ids)s::uuid[]) AS u(id)
    UNION
    SELECT m.id FROM line JOIN memory m ON m.tenant_id = %(tenant)s AND m.superseded_by = line.id
    WHERE m.tenant_id = %(tenant)s AND {{merged}})
SELECT s.id FROM memory s
WHERE s.tenant_id = %(tenant)s AND s.status <> 'tombstoned' AND s.id = ANY(%(sources)s::uuid[] || ARRAY(
    SELECT o.source_id FROM memory_origin o
    WHERE o.tenant_id = %(tenant)s AND o.memory_id = ANY(ARRAY(SELECT line.id FROM line)) AND NOT o.whole))
ORDER BY s.id FOR NO KEY UPDATE;

-- name: mark_outdated
-- Says of each source since when none of its facts holds any more, where that is not what it says. One that was wrong never held.
WITH RECURSIVE told AS (
    SELECT o.source_id, m.id, m.superseded_by, m.maturity, m.invalidated_at, m.maturity <> 'invalidated' AND {{merged}} AS lives_on
    FROM memory_origin o JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = o.memory_id
    WHERE o.tenant_id = %(tenant)s AND o.source_id = ANY(%(sources)s::uuid[]) AND NOT o.whole AND m.status <> 'tombstoned'
    UNION
    SELECT told.source_id, m.id, m.superseded_by, m.maturity, m.invalidated_at, m.maturity <> 'invalidated' AND {{merged}}
    FROM told JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = told.superseded_by
    WHERE told.lives_on AND m.status <> 'tombstoned'),
ends AS (
    SELECT told.source_id, CASE WHEN told.maturity = 'invalidated' THEN '-infinity'::timestamptz
                                WHEN told.superseded_by IS NOT NULL THEN coalesce(told.invalidated_at, '-infinity')
                                ELSE told.invalidated_at END AS ended
    FROM told WHERE NOT told.lives_on),
sources AS (
    SELECT u.id, (SELECT CASE WHEN bool_and(ends.ended IS NOT NULL) THEN max(ends.ended) END FROM ends WHERE ends.source_id = u.id) AS outdated_at
    FROM unnest(%(sources)s::uuid[]) AS u(id))
UPDATE memory s SET outdated_at = sources.outdated_at
FROM sources WHERE s.tenant_id = %(tenant)s AND s.id = sources.id AND s.outdated_at IS DISTINCT FROM sources.outdated_at;

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
