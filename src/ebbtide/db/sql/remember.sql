-- The write path.

-- fragment: memory_columns
tenant_id, id, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content, content_hash,
search, embedding, context_embedding, embedding_pending, labels, tags, metadata, source, subject, predicate, personal_data,
tokens, counted_by, importance, confidence, status, maturity, confirmed_at, revision, superseded_by, created_at, updated_at,
last_mentioned_at, observed_at, valid_from, invalidated_at, expires_at, deleted_at, current_since

-- fragment: version_columns
tenant_id, id, revision, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content,
content_hash, search, embedding, context_embedding, labels, tags, metadata, source, subject, predicate, personal_data,
tokens, counted_by, importance, confidence, status, maturity, confirmed_at, superseded_by, created_at, updated_at, last_mentioned_at,
observed_at, valid_from, invalidated_at, expires_at, deleted_at, current_since

-- name: insert
-- Stores a batch in the order given and answers with the ids that were new; the others are exact duplicates of live rows.
INSERT INTO memory ({{memory_columns}})
SELECT %(tenant)s, r.id, r.agent_id, r.namespace, r.user_id, r.task_id, r.chat_id, r.session_id, r.sequence, r.speaker, r.kind, r.content,
       decode(r.content_hash, 'hex'), to_tsvector(%(configuration)s::regconfig, r.search_text), r.embedding, r.context_embedding,
       r.embedding_pending, r.labels, r.tags, r.metadata, r.source, r.subject, r.predicate, r.personal_data, r.tokens, r.counted_by,
       r.importance, r.confidence, r.status, r.maturity, r.confirmed_at, r.revision, r.superseded_by, r.created_at, r.updated_at, r.last_mentioned_at,
       r.observed_at, r.valid_from, r.invalidated_at, r.expires_at, r.deleted_at, r.current_since
FROM ROWS FROM (
         jsonb_to_recordset(%(rows)s::jsonb) AS (
             id uuid, agent_id text, namespace text, user_id text, task_id text, chat_id text, session_id text, sequence integer, speaker text,
             kind text, content text, content_hash text, search_text text, embedding_pending boolean, labels text[], tags text[],
             metadata jsonb, source text, subject text, predicate text, personal_data text[], tokens integer, counted_by text,
             importance double precision, confidence double precision, status text, maturity text, confirmed_at timestamptz, revision integer,
             superseded_by uuid, created_at timestamptz, updated_at timestamptz, last_mentioned_at timestamptz,
             observed_at timestamptz, valid_from timestamptz, invalidated_at timestamptz, expires_at timestamptz,
             deleted_at timestamptz, current_since timestamptz),
         unnest(%(embeddings)s::halfvec[]),
         unnest(%(context_embeddings)s::halfvec[])
     ) AS r(id, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content, content_hash, search_text,
            embedding_pending, labels, tags, metadata, source, subject, predicate, personal_data, tokens, counted_by, importance,
            confidence, status, maturity, confirmed_at, revision, superseded_by, created_at, updated_at, last_mentioned_at, observed_at, valid_from, invalidated_at,
            expires_at, deleted_at, current_since, embedding, context_embedding)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: find_duplicates
-- The live memories that already say what a batch says, and whether each has run out in the meantime.
SELECT m.id, m.agent_id, m.namespace, m.content_hash,
       (m.expires_at <= %(now)s OR m.invalidated_at <= %(now)s) IS TRUE AS ended
FROM memory m
JOIN unnest(%(namespaces)s::text[], %(hashes)s::bytea[]) AS h(namespace, content_hash)
  ON m.namespace = h.namespace AND m.content_hash = h.content_hash
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND m.superseded_by IS NULL;

-- name: read_before
-- What was read at the same place of the same text before, and was replaced since by what still stands: to read it again is no news.
SELECT DISTINCT ON (h.place) h.place, m.id
FROM unnest(%(places)s::integer[], %(namespaces)s::text[], %(subjects)s::text[], %(hashes)s::bytea[], %(spans)s::jsonb[],
            %(moments)s::timestamptz[]) AS h(place, namespace, subject, content_hash, span, observed_at)
JOIN memory m ON m.namespace = h.namespace AND m.subject = h.subject AND m.content_hash = h.content_hash
JOIN memory s ON s.id = m.superseded_by
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND m.metadata -> 'span' = h.span
  AND m.observed_at IS NOT DISTINCT FROM h.observed_at AND s.tenant_id = %(tenant)s AND s.status = 'active'
  AND NOT EXISTS (
      SELECT FROM memory l
      WHERE l.tenant_id = %(tenant)s AND l.agent_id = %(agent)s AND l.namespace = h.namespace
        AND l.content_hash = h.content_hash AND l.status = 'active' AND l.superseded_by IS NULL)
ORDER BY h.place, m.id DESC;

-- name: archive_ended
-- Moves expired or invalidated memories out of the way of the same words said anew.
UPDATE memory SET status = 'archived', revision = revision + 1, updated_at = %(now)s, current_since = greatest(%(now)s, current_since)
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[]) AND status = 'active'
  AND (expires_at <= %(now)s OR invalidated_at <= %(now)s);

-- name: lock
-- Locks memories, and what they were made from, in the order of their ids, so that two writers wait for each other in one direction only.
SELECT id FROM memory
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[] || ARRAY(
    SELECT o.source_id FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = ANY(%(ids)s::uuid[]) AND NOT o.whole))
ORDER BY id FOR NO KEY UPDATE;

-- name: mention
-- A memory that was said again: it is fresh, but not new.
UPDATE memory SET updated_at = %(now)s, last_mentioned_at = %(now)s
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[]);

-- name: heads
-- For each memory that is to be superseded, the end of its chain of successors, where the agent may see it; a forgotten one ends it.
WITH RECURSIVE chain AS (
    SELECT m.id AS asked, m.id, m.superseded_by, 1 AS depth
    FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned'
    UNION ALL
    SELECT chain.asked, m.id, m.superseded_by, chain.depth + 1
    FROM chain CROSS JOIN LATERAL (
        SELECT m.id, m.superseded_by FROM memory m
        WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = chain.superseded_by AND m.status <> 'tombstoned' LIMIT 1) m
    WHERE chain.depth < 1000
)
SELECT DISTINCT ON (chain.asked) chain.asked, chain.id, m.importance, m.valid_from, m.observed_at, m.current_since,
       m.namespace
FROM chain CROSS JOIN LATERAL (SELECT * FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = chain.id LIMIT 1) m
ORDER BY chain.asked, chain.depth DESC;

-- name: keep_version
-- Keeps the image of memories that are about to change, current until now.
INSERT INTO memory_version ({{version_columns}}, current_until)
SELECT {{version_columns}}, greatest(%(now)s, current_since) FROM memory WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[]);

-- name: supersede
-- Links memories to what replaced them; validity ends where the new one starts, if it did not end before. What was wrong stays wrong.
UPDATE memory m
SET superseded_by = s.new_id, maturity = CASE m.maturity WHEN 'invalidated' THEN m.maturity ELSE 'superseded' END,
    revision = m.revision + 1, updated_at = %(now)s, current_since = greatest(%(now)s, m.current_since),
    invalidated_at = least(m.invalidated_at, greatest(m.valid_from, s.starts_at))
FROM unnest(%(old_ids)s::uuid[], %(new_ids)s::uuid[], %(starts)s::timestamptz[]) AS s(old_id, new_id, starts_at)
WHERE m.tenant_id = %(tenant)s AND m.id = s.old_id AND m.status <> 'tombstoned'
  AND m.superseded_by IS NULL
RETURNING m.id;

-- name: idempotent_answers
-- The first answers given to these keys.
SELECT key, body_hash, memory_id, outcome, warnings FROM idempotency
WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s AND key = ANY(%(keys)s::text[]);

-- name: keep_answer
-- Remembers the answer to a key; another transaction may have been first.
INSERT INTO idempotency (tenant_id, agent_id, key, body_hash, memory_id, outcome, warnings, created_at)
VALUES (%(tenant)s, %(agent)s, %(key)s, %(body_hash)s, %(memory_id)s, %(outcome)s, %(warnings)s, %(now)s)
ON CONFLICT DO NOTHING RETURNING key;

-- name: neighbours
-- For turns of conversations, the nearest stored turn before each and after each.
SELECT t.place, p.sequence, p.embedding, n.id, n.sequence, n.embedding
FROM unnest(%(places)s::integer[], %(chats)s::text[], %(sequences)s::integer[]) AS t(place, chat_id, sequence)
LEFT JOIN LATERAL (
    SELECT m.sequence, m.embedding FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.chat_id = t.chat_id AND m.sequence < t.sequence
      AND m.embedding IS NOT NULL AND m.status = 'active'
    ORDER BY m.sequence DESC, m.id DESC LIMIT 1) p ON true
LEFT JOIN LATERAL (
    SELECT m.id, m.sequence, m.embedding FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.chat_id = t.chat_id AND m.sequence > t.sequence
      AND m.embedding IS NOT NULL AND m.status = 'active'
    ORDER BY m.sequence LIMIT 1) n ON true
WHERE p.sequence IS NOT NULL OR n.id IS NOT NULL;

-- name: set_context
-- Sees turns in the light of a turn that was stored after them but said before.
UPDATE memory m SET context_embedding = c.context_embedding
FROM unnest(%(ids)s::uuid[], %(context_embeddings)s::halfvec[]) AS c(id, context_embedding)
WHERE m.tenant_id = %(tenant)s AND m.id = c.id AND m.status = 'active' AND m.embedding IS NOT NULL;
