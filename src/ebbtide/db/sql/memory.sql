-- Memories read whole, by id or by place.

-- fragment: memory_row
m.id, m.content, m.namespace, m.kind, m.agent_id, m.user_id, m.task_id, m.chat_id, m.session_id, m.sequence, m.speaker, m.labels, m.tags,
nullif(m.metadata, '{}') AS metadata, m.source, m.subject, m.predicate, m.importance, m.confidence,
(coalesce(s.positive, 0) + 1.0::float8) / (coalesce(s.positive, 0) + 2.0::float8 + coalesce(s.negative, 0)) AS usefulness,
m.status, m.maturity, m.confirmed_at, m.revision, m.superseded_by, m.created_at, m.updated_at, m.last_mentioned_at, m.observed_at,
m.valid_from, m.invalidated_at, m.expires_at, coalesce(s.access_count, 0) AS access_count, s.last_accessed_at, m.embedding_pending

-- name: by_ids
-- Memories of one agent by their ids, whatever their status, except forgotten ones.
SELECT {{memory_row}}
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id AND s.memory_id = ANY(%(ids)s::uuid[])
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned';

-- name: places
-- In which namespaces memories of an agent lie.
SELECT m.id, m.namespace FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned';

-- name: history
-- Every image of a memory, oldest first, with the interval in which it was current.
SELECT v.revision, v.content, v.status, v.maturity, v.superseded_by, v.current_since AS since, v.current_until AS until
FROM memory_version v WHERE v.tenant_id = %(tenant)s AND v.agent_id = %(agent)s AND v.id = %(id)s
UNION ALL
SELECT m.revision, m.content, m.status, m.maturity, m.superseded_by, m.current_since, NULL
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s AND m.status <> 'tombstoned'
ORDER BY revision;

-- name: for_update
-- Locks one memory and answers with what a writer checks before it changes it.
SELECT m.revision, m.status, m.current_since, m.chat_id, m.sequence, m.speaker, m.observed_at, m.session_id, m.namespace
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s
FOR NO KEY UPDATE;

-- name: revise
-- Gives a memory new content; everything derived from the old content changes with it. What was confirmed is what it said before.
UPDATE memory m
SET maturity = CASE WHEN %(restored)s OR m.maturity = 'confirmed' AND m.content_hash <> %(content_hash)s THEN 'unconfirmed' ELSE m.maturity END,
    invalidated_at = CASE WHEN NOT %(restored)s THEN m.invalidated_at END, confirmed_at = CASE WHEN m.content_hash = %(content_hash)s THEN m.confirmed_at END, content = %(content)s, content_hash = %(content_hash)s, search = to_tsvector(%(configuration)s::regconfig, %(search_text)s),
    embedding = %(embedding)s::halfvec, context_embedding = %(context_embedding)s::halfvec, embedding_pending = %(pending)s,
    importance = coalesce(%(importance)s, m.importance), confidence = coalesce(%(confidence)s, m.confidence),
    kind = coalesce(%(kind)s, m.kind), labels = coalesce(%(labels)s::text[], m.labels), tags = coalesce(%(tags)s::text[], m.tags),
    metadata = coalesce(%(metadata)s::jsonb, m.metadata), observed_at = %(observed_at)s, personal_data = %(personal_data)s::text[],
    tokens = %(tokens)s, counted_by = %(counted_by)s, revision = m.revision + 1, updated_at = %(now)s,
    current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s;

-- name: following_turns
-- The turns right after a revised one, whose context vectors were made with it, and the turn that is now before them.
SELECT n.id, n.embedding, p.embedding
FROM memory n
LEFT JOIN LATERAL (
    SELECT b.embedding FROM memory b
    WHERE b.tenant_id = %(tenant)s AND b.agent_id = %(agent)s AND b.chat_id = %(chat)s AND b.sequence < n.sequence
      AND b.embedding IS NOT NULL AND b.status = 'active'
    ORDER BY b.sequence DESC, b.id DESC LIMIT 1) p ON true
WHERE n.tenant_id = %(tenant)s AND n.agent_id = %(agent)s AND n.chat_id = %(chat)s AND n.embedding IS NOT NULL AND n.status = 'active'
  AND n.sequence = (
    SELECT f.sequence FROM memory f
    WHERE f.tenant_id = %(tenant)s AND f.agent_id = %(agent)s AND f.chat_id = %(chat)s AND f.sequence > %(sequence)s
      AND f.embedding IS NOT NULL AND f.status = 'active'
    ORDER BY f.sequence LIMIT 1);

-- name: turns_around
-- The turns that some memories are, where they are live, and those right after them, with the turn that is now before each.
WITH moved AS MATERIALIZED (
    SELECT DISTINCT m.agent_id, m.chat_id, m.sequence FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) AND m.chat_id IS NOT NULL AND m.sequence IS NOT NULL)
SELECT n.id, n.embedding, p.embedding
FROM (SELECT g.agent_id, g.chat_id, g.sequence FROM moved g
      UNION
      SELECT g.agent_id, g.chat_id, f.sequence FROM moved g CROSS JOIN LATERAL (
          SELECT f.sequence FROM memory f
          WHERE f.tenant_id = %(tenant)s AND f.agent_id = g.agent_id AND f.chat_id = g.chat_id AND f.sequence > g.sequence
            AND f.embedding IS NOT NULL AND f.status = 'active'
          ORDER BY f.sequence LIMIT 1) f) a
JOIN memory n ON n.agent_id = a.agent_id AND n.chat_id = a.chat_id AND n.sequence = a.sequence
LEFT JOIN LATERAL (
    SELECT b.embedding FROM memory b
    WHERE b.tenant_id = %(tenant)s AND b.agent_id = n.agent_id AND b.chat_id = n.chat_id AND b.sequence < n.sequence
      AND b.embedding IS NOT NULL AND b.status = 'active'
    ORDER BY b.sequence DESC, b.id DESC LIMIT 1) p ON true
WHERE n.tenant_id = %(tenant)s AND n.embedding IS NOT NULL AND n.status = 'active';
