-- What a memory goes through after it was written: doubt and trust, its weight, what its use was worth.

-- name: change
-- Gives one memory, locked before, its new state. What is active is not deleted.
UPDATE memory m
SET status = %(status)s, maturity = %(maturity)s, confirmed_at = %(confirmed_at)s, invalidated_at = %(invalidated_at)s,
    expires_at = %(expires_at)s, superseded_by = %(superseded_by)s, importance = %(importance)s,
    deleted_at = CASE WHEN %(status)s = 'active' THEN NULL ELSE m.deleted_at END, revision = m.revision + 1,
    updated_at = %(now)s, current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s;

-- name: live_successor
-- The memory that stands in the place of a superseded one: not forgotten, put away, run out or found to be wrong.
SELECT m.id FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.id = %(id)s AND m.status = 'active' AND m.maturity <> 'invalidated'
  AND (m.expires_at IS NULL OR m.expires_at > %(now)s);

-- name: feedback
-- Counts one judgement of how useful a memory was when it came back, or takes one back that was changed.
INSERT INTO strength AS s (tenant_id, memory_id, positive, negative)
VALUES (%(tenant)s, %(id)s, greatest(%(positive)s::integer, 0), greatest(%(negative)s::integer, 0))
ON CONFLICT (tenant_id, memory_id) DO UPDATE
SET positive = least(greatest(s.positive::bigint + %(positive)s::integer, 0), 2147483647)::integer,
    negative = least(greatest(s.negative::bigint + %(negative)s::integer, 0), 2147483647)::integer;

-- name: rate
-- Rates a hit of a recall that the caller made, and answers with its rating before; nothing where there is no such hit.
WITH before AS (
    SELECT h.rating FROM recall_hit h JOIN recall_log r ON r.tenant_id = %(tenant)s AND r.id = h.recall_id
    WHERE h.tenant_id = %(tenant)s AND h.recall_id = %(recall)s AND h.memory_id = %(id)s
      AND r.agent_id = %(agent)s AND r.user_id IS NOT DISTINCT FROM %(user)s::text
    FOR UPDATE OF h)
UPDATE recall_hit h
SET rating = %(rating)s, rated_at = CASE WHEN before.rating = %(rating)s THEN h.rated_at ELSE %(now)s END
FROM before
WHERE h.tenant_id = %(tenant)s AND h.recall_id = %(recall)s AND h.memory_id = %(id)s
RETURNING before.rating;

-- name: judged
-- Hits that were rated useful or not, of recalls whose profiles had one signature, the newest recalls first.
SELECT r.id, r.agent_id AS agent, r.user_id AS "user", h.memory_id AS memory, h.rating = 'positive' AS useful, h.place, h.readings
FROM recall_hit h JOIN recall_log r ON r.tenant_id = %(tenant)s AND r.id = h.recall_id
WHERE h.tenant_id = %(tenant)s AND h.rating IN ('positive', 'negative') AND h.readings IS NOT NULL AND r.signature = %(signature)s
ORDER BY r.created_at DESC, r.id, h.place LIMIT %(limit)s::integer;

-- name: repeated
-- The memories of some namespaces that say what a context block said, current ones first.
SELECT {{memory_row}}
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status <> 'tombstoned' AND m.namespace = ANY(%(namespaces)s::text[])
  AND (m.content_hash = ANY(%(hashes)s::bytea[]) OR m.content = ANY(%(bodies)s::text[]))
ORDER BY m.superseded_by IS NOT NULL, m.status <> 'active', m.id;

-- name: refresh
-- Lets memories that expire go on for a while after they came back. No image is kept: at no moment before did it say otherwise.
UPDATE memory m SET expires_at = a.moment + make_interval(secs => %(seconds)s::float8)
FROM unnest(%(ids)s::uuid[], %(moments)s::timestamptz[]) AS a(id, moment)
WHERE m.tenant_id = %(tenant)s AND m.id = a.id AND m.status = 'active' AND m.expires_at > a.moment
  AND m.expires_at < a.moment + make_interval(secs => %(seconds)s::float8);
