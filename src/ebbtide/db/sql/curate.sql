-- Curation: near duplicates that become one, and derived rows that are repaired.

-- name: near_duplicates
-- The pairs of live near duplicates of a scope, or of some memories of it, that are of one user, kind and subject, and that both hold from
-- the same moment on. No turn of a conversation is among them.
SELECT l.memory_id, l.other_id
FROM memory_link l
JOIN memory m ON m.id = l.memory_id
JOIN memory o ON o.tenant_id = %(tenant)s AND o.id = l.other_id
WHERE l.tenant_id = %(tenant)s AND l.kind = 'near_duplicate' AND {{readable}} AND m.superseded_by IS NULL
  AND o.agent_id = m.agent_id AND o.namespace = m.namespace AND o.kind = m.kind AND o.status = 'active'
  AND o.superseded_by IS NULL AND o.maturity <> 'invalidated' AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
  AND (o.invalidated_at IS NULL OR o.invalidated_at > %(now)s) AND m.sequence IS NULL AND o.sequence IS NULL
  AND m.kind NOT IN ('chunk', 'entity', 'relation')
  AND (m.user_id, m.speaker, m.subject, m.predicate, m.valid_from, m.invalidated_at)
      IS NOT DISTINCT FROM (o.user_id, o.speaker, o.subject, o.predicate, o.valid_from, o.invalidated_at)
  AND NOT EXISTS (SELECT FROM memory_origin g WHERE g.tenant_id = %(tenant)s AND g.memory_id IN (m.id, o.id) AND g.whole)
  AND NOT EXISTS (SELECT FROM turn t WHERE t.tenant_id = %(tenant)s AND t.memory_id IN (m.id, o.id))
  AND (%(among)s::uuid[] IS NULL OR (l.memory_id = ANY(%(among)s::uuid[]) AND l.other_id = ANY(%(among)s::uuid[])))
ORDER BY l.memory_id, l.other_id;

-- name: gather
-- Gives memories what those that they take the place of had: tags, labels, metadata, weight, and the longest life.
UPDATE memory m
SET tags = g.tags, labels = g.labels, metadata = g.metadata || m.metadata, importance = g.importance, confidence = g.confidence,
    personal_data = ARRAY(SELECT DISTINCT unnest(m.personal_data || g.personal_data) ORDER BY 1),
    created_at = g.created_at, last_mentioned_at = g.last_mentioned_at, updated_at = %(now)s, revision = m.revision + 1,
    current_since = greatest(%(now)s, m.current_since)
FROM (
    SELECT k.kept_id AS id,
           ARRAY(SELECT DISTINCT t FROM memory s CROSS JOIN unnest(s.tags) AS t
                 WHERE s.tenant_id = %(tenant)s AND s.id = ANY(array_agg(o.id)) ORDER BY t) AS tags,
           ARRAY(SELECT DISTINCT t FROM memory s CROSS JOIN unnest(s.labels) AS t
                 WHERE s.tenant_id = %(tenant)s AND s.id = ANY(array_agg(o.id)) ORDER BY t) AS labels,
           ARRAY(SELECT DISTINCT t FROM memory s CROSS JOIN unnest(s.personal_data) AS t
                 WHERE s.tenant_id = %(tenant)s AND s.id = ANY(array_agg(o.id)) ORDER BY t) AS personal_data,
           coalesce((SELECT jsonb_object_agg(e.key, e.value ORDER BY s.id DESC) FROM memory s CROSS JOIN jsonb_each(s.metadata) AS e(key, value)
                     WHERE s.tenant_id = %(tenant)s AND s.id = ANY(array_agg(o.id))), '{}') AS metadata,
           max(o.importance) AS importance, max(o.confidence) AS confidence, min(o.created_at) AS created_at,
           max(coalesce(o.last_mentioned_at, o.created_at)) AS last_mentioned_at
    FROM (SELECT c.kept_id, c.other_id FROM unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
          UNION SELECT c.kept_id, c.kept_id FROM unnest(%(kept_ids)s::uuid[]) AS c(kept_id)) k
    JOIN memory o ON o.tenant_id = %(tenant)s AND o.id = k.other_id
    GROUP BY k.kept_id) g
WHERE m.tenant_id = %(tenant)s AND m.id = g.id;

-- name: gather_mentions
-- Lets memories mention what those that they take the place of did, by the same names.
WITH names AS (
    INSERT INTO alias_source (tenant_id, memory_id, alias_id)
    SELECT %(tenant)s, c.kept_id, u.alias_id
    FROM unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
    JOIN alias_source u ON u.tenant_id = %(tenant)s AND u.memory_id = c.other_id
    ON CONFLICT DO NOTHING)
INSERT INTO mention (tenant_id, memory_id, entity_id)
SELECT %(tenant)s, c.kept_id, n.entity_id
FROM unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
JOIN mention n ON n.tenant_id = %(tenant)s AND n.memory_id = c.other_id
ON CONFLICT DO NOTHING;

-- name: relations_said
-- What holds between entities as memories say it, each with the one that takes the place of that.
SELECT DISTINCT c.kept_id, r.subject_id, r.predicate, r.object_id
FROM unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
JOIN relation r ON r.tenant_id = %(tenant)s AND r.memory_id = c.other_id AND NOT r.derived
ORDER BY c.kept_id, r.subject_id, r.predicate, r.object_id;

-- name: gather_origins
-- Lets memories that were made from others go on as long as any source of those that they take the place of.
INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at)
SELECT %(tenant)s, c.kept_id, g.source_id, false, %(now)s
FROM unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
JOIN memory_origin g ON g.tenant_id = %(tenant)s AND g.memory_id = c.other_id
WHERE EXISTS (SELECT FROM memory_origin k WHERE k.tenant_id = %(tenant)s AND k.memory_id = c.kept_id)
ON CONFLICT DO NOTHING;

-- name: stand_alone
-- Memories that take the place of one that was made from nothing are said for themselves; answers with what they rested on.
DELETE FROM memory_origin t
USING unnest(%(kept_ids)s::uuid[], %(other_ids)s::uuid[]) AS c(kept_id, other_id)
WHERE t.tenant_id = %(tenant)s AND t.memory_id = c.kept_id
  AND NOT EXISTS (SELECT FROM memory_origin g WHERE g.tenant_id = %(tenant)s AND g.memory_id = c.other_id)
RETURNING t.source_id;

-- name: agents
-- The agents that have near duplicates.
SELECT DISTINCT m.agent_id FROM memory_link l JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = l.memory_id
WHERE l.tenant_id = %(tenant)s AND l.kind = 'near_duplicate' AND m.status = 'active' AND m.superseded_by IS NULL
ORDER BY m.agent_id;

-- name: mark_pending
-- Marks memories that have no vector, so that they are embedded; answers with how many wait in all.
WITH marked AS (
    UPDATE memory m SET embedding_pending = true
    WHERE m.tenant_id = %(tenant)s AND m.embedding IS NULL AND NOT m.embedding_pending AND m.status <> 'tombstoned' RETURNING 1)
SELECT (SELECT count(*) FROM marked) + (
    SELECT count(*) FROM memory m WHERE m.tenant_id = %(tenant)s AND m.embedding_pending AND m.status <> 'tombstoned');

-- name: without_vectors
-- How many memories have no vector.
SELECT count(*) FROM memory m WHERE m.tenant_id = %(tenant)s AND m.embedding IS NULL AND m.status <> 'tombstoned';

-- name: uncounted
-- The next memories whose tokens nobody counted, or another counter.
SELECT m.id, m.content FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.status <> 'tombstoned' AND m.id > %(after)s::uuid
  AND (m.tokens IS NULL OR m.counted_by IS DISTINCT FROM %(counter)s::text)
ORDER BY m.id LIMIT %(limit)s::integer;

-- name: set_tokens
-- Stores counts of tokens, where the content is still the one that was counted.
UPDATE memory m SET tokens = c.tokens, counted_by = %(counter)s::text
FROM unnest(%(ids)s::uuid[], %(contents)s::text[], %(counts)s::integer[]) AS c(id, content, tokens)
WHERE m.tenant_id = %(tenant)s AND m.id = c.id AND m.content = c.content AND m.status <> 'tombstoned';

-- name: turns
-- The next live turns of conversations with their vectors, and that of the turn before.
SELECT m.id, m.embedding, m.context_embedding, (
    SELECT p.embedding FROM memory p
    WHERE p.tenant_id = %(tenant)s AND p.agent_id = m.agent_id AND p.chat_id = m.chat_id AND p.sequence < m.sequence
      AND p.embedding IS NOT NULL AND p.status = 'active'
    ORDER BY p.sequence DESC, p.id DESC LIMIT 1) AS previous
FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.chat_id IS NOT NULL AND m.sequence IS NOT NULL AND m.embedding IS NOT NULL
  AND m.status = 'active' AND m.id > %(after)s::uuid
ORDER BY m.id LIMIT %(limit)s::integer;

-- name: drop_underived
-- Removes derived relations that lost one of the two that they follow from.
WITH gone AS (
    DELETE FROM relation r WHERE r.tenant_id = %(tenant)s AND r.derived AND (
        SELECT count(*) FROM derivation d WHERE d.tenant_id = %(tenant)s AND d.relation_id = r.id) < 2
    RETURNING 1)
SELECT count(*) FROM gone;

-- name: drop_update_links
-- Removes notes of found updates whose memory was not replaced by that one after all.
WITH gone AS (
    DELETE FROM memory_link l USING memory m
    WHERE l.tenant_id = %(tenant)s AND l.kind = 'update' AND m.tenant_id = %(tenant)s AND m.id = l.other_id
      AND m.superseded_by IS DISTINCT FROM l.memory_id
    RETURNING 1)
SELECT count(*) FROM gone;

-- name: drop_leftovers
-- Removes what names forgotten memories and ought to have gone with them.
WITH buried AS (SELECT m.id FROM memory m WHERE m.tenant_id = %(tenant)s AND m.status = 'tombstoned'),
links AS (DELETE FROM memory_link t USING buried b WHERE t.tenant_id = %(tenant)s AND b.id IN (t.memory_id, t.other_id) RETURNING 1),
mentions AS (DELETE FROM mention t USING buried b WHERE t.tenant_id = %(tenant)s AND t.memory_id = b.id RETURNING 1),
relations AS (DELETE FROM relation t USING buried b WHERE t.tenant_id = %(tenant)s AND t.memory_id = b.id RETURNING 1),
strengths AS (DELETE FROM strength t USING buried b WHERE t.tenant_id = %(tenant)s AND t.memory_id = b.id RETURNING 1),
versions AS (DELETE FROM memory_version t USING buried b WHERE t.tenant_id = %(tenant)s AND t.id = b.id RETURNING 1)
SELECT (SELECT count(*) FROM links) + (SELECT count(*) FROM mentions) + (SELECT count(*) FROM relations)
     + (SELECT count(*) FROM strengths) + (SELECT count(*) FROM versions);
