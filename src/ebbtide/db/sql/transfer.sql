-- Export and import: memories with everything the store has of them.

-- fragment: image
m.content, m.namespace, m.kind, m.user_id AS "user", m.task_id AS task, m.chat_id AS chat, m.session_id AS session, m.sequence AS seq,
m.speaker, m.labels, m.tags, m.metadata, m.source, m.subject, m.predicate, m.personal_data, m.importance, m.confidence, m.status,
m.maturity, m.confirmed_at, m.revision, m.superseded_by, m.created_at, m.updated_at, m.last_mentioned_at, m.observed_at, m.valid_from,
m.invalidated_at, m.expires_at, m.deleted_at, m.current_since, m.embedding AS vector, m.context_embedding AS context_vector

-- name: export
-- The next memories of a scope in the order of their ids: superseded, expired and archived ones too, forgotten ones never.
SELECT m.id, m.agent_id AS agent, {{image}}, coalesce(s.access_count, 0) AS access_count, s.last_accessed_at,
       coalesce(s.stability, 1.0) AS stability, coalesce(s.difficulty, 2.5) AS difficulty, coalesce(s.half_life, 30.0) AS half_life,
       s.decayed_at, coalesce(s.positive, 0) AS positive, coalesce(s.negative, 0) AS negative
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND {{named}} AND {{filtered}} AND m.status <> 'tombstoned'
  AND m.id > %(after)s::uuid
ORDER BY m.id LIMIT %(limit)s::integer;

-- name: export_versions
-- The earlier images of memories, oldest first.
SELECT m.id, {{image}}, m.current_until
FROM memory_version m WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[])
ORDER BY m.id, m.revision;

-- name: export_conflicts
-- The conflicts of which memories are the newer side, open and settled.
SELECT c.newer_id AS newer, c.id, c.older_id AS older, c.reason, c.resolution, c.created_at, c.resolved_at
FROM conflict c WHERE c.tenant_id = %(tenant)s AND c.newer_id = ANY(%(ids)s::uuid[])
ORDER BY c.newer_id, c.id;

-- name: export_links
-- The memories that some nearly repeat.
SELECT l.memory_id AS newer, l.other_id AS older, l.created_at
FROM memory_link l WHERE l.tenant_id = %(tenant)s AND l.memory_id = ANY(%(ids)s::uuid[]) AND l.kind = 'near_duplicate'
ORDER BY l.memory_id, l.other_id;

-- fragment: tied
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status <> 'tombstoned'
AND o.tenant_id = %(tenant)s AND o.agent_id = %(agent)s AND o.status <> 'tombstoned' AND o.namespace = m.namespace

-- name: insert_conflicts
-- Stores conflicts whose sides are there, and waits where one is being forgotten.
INSERT INTO conflict (tenant_id, id, agent_id, older_id, newer_id, reason, resolution, created_at, resolved_at)
SELECT %(tenant)s, c.id, %(agent)s, o.id, m.id, c.reason, c.resolution, c.created_at, c.resolved_at
FROM unnest(%(ids)s::uuid[], %(older)s::uuid[], %(newer)s::uuid[], %(reasons)s::text[], %(resolutions)s::text[],
            %(created)s::timestamptz[], %(resolved)s::timestamptz[])
     AS c(id, older_id, newer_id, reason, resolution, created_at, resolved_at)
JOIN memory m ON m.id = c.newer_id JOIN memory o ON o.id = c.older_id
WHERE {{tied}}
ORDER BY o.id FOR SHARE OF m, o
ON CONFLICT DO NOTHING;

-- name: insert_links
-- Stores links of near duplicates of which both are there, and waits where one is being forgotten.
INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, created_at)
SELECT %(tenant)s, m.id, o.id, 'near_duplicate', l.created_at
FROM unnest(%(newer)s::uuid[], %(older)s::uuid[], %(created)s::timestamptz[]) AS l(newer_id, older_id, created_at)
JOIN memory m ON m.id = l.newer_id JOIN memory o ON o.id = l.older_id
WHERE {{tied}}
ORDER BY o.id FOR SHARE OF m, o
ON CONFLICT DO NOTHING;

-- name: export_origins
-- What memories were made from.
SELECT t.memory_id AS newer, t.source_id AS source, t.whole, t.created_at
FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])
ORDER BY t.memory_id, t.source_id;

-- name: insert_origins
-- Says what memories were made from where both are there, and waits where one is being forgotten.
INSERT INTO memory_origin (tenant_id, memory_id, source_id, whole, created_at)
SELECT %(tenant)s, m.id, o.id, r.whole, r.created_at
FROM unnest(%(memories)s::uuid[], %(sources)s::uuid[], %(wholes)s::boolean[], %(created)s::timestamptz[])
     AS r(memory_id, source_id, whole, created_at)
JOIN memory m ON m.id = r.memory_id JOIN memory o ON o.id = r.source_id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status <> 'tombstoned'
  AND o.tenant_id = %(tenant)s AND o.agent_id = %(agent)s AND o.status <> 'tombstoned' AND o.id <> m.id
ORDER BY o.id FOR SHARE OF m, o
ON CONFLICT DO NOTHING;

-- name: export_turns
-- Where memories are turns, and whether that is what the memory says itself: in its own chat, on the first branch, at its own place.
SELECT t.memory_id, t.chat_id, t.branch, t.place,
       t.branch = 'main' AND t.chat_id IS NOT DISTINCT FROM m.chat_id AND t.place IS NOT DISTINCT FROM m.sequence
FROM turn t JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = t.memory_id
WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])
ORDER BY t.memory_id, t.chat_id, t.branch;

-- name: export_branches
-- The branches of chats beside the first of each, in the order in which they were begun, each with where its turns lie.
SELECT b.chat_id AS chat, b.name, b.parent, b.forked_after, b.namespace, b.created_at, ARRAY(
    SELECT DISTINCT m.namespace FROM turn t JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = t.memory_id
    WHERE t.tenant_id = %(tenant)s AND t.agent_id = b.agent_id AND t.chat_id = b.chat_id AND t.branch = b.name) AS places
FROM branch b WHERE b.tenant_id = %(tenant)s AND b.agent_id = %(agent)s AND b.chat_id = ANY(%(chats)s::text[])
ORDER BY b.chat_id, b.created_at, b.name;

-- name: insert_branches
-- Begins branches where they are not there.
INSERT INTO branch (tenant_id, agent_id, chat_id, name, parent, forked_after, namespace, created_at)
SELECT %(tenant)s, %(agent)s, b.chat_id, b.name, b.parent, b.forked_after, b.namespace, coalesce(b.created_at, %(now)s)
FROM unnest(%(chats)s::text[], %(names)s::text[], %(parents)s::text[], %(forks)s::bigint[], %(namespaces)s::text[],
            %(created)s::timestamptz[]) AS b(chat_id, name, parent, forked_after, namespace, created_at)
ON CONFLICT DO NOTHING;

-- name: insert_turns
-- Makes memories that were just stored turns at certain places.
INSERT INTO turn (tenant_id, agent_id, chat_id, branch, place, memory_id)
SELECT %(tenant)s, %(agent)s, t.chat_id, t.branch, t.place, t.memory_id
FROM unnest(%(ids)s::uuid[], %(chats)s::text[], %(branches)s::text[], %(places)s::bigint[]) AS t(memory_id, chat_id, branch, place)
ON CONFLICT DO NOTHING;

-- name: export_places
-- Where memories stand in their documents, and what is known of those.
SELECT p.memory_id AS newer, d.path, d.title, d.media, d.is_file, d.created_at, p.position, p.first, p.last
FROM passage p JOIN document d ON d.tenant_id = %(tenant)s AND d.id = p.document_id
WHERE p.tenant_id = %(tenant)s AND p.memory_id = ANY(%(ids)s::uuid[])
ORDER BY p.memory_id;

-- fragment: placed
jsonb_to_recordset(%(rows)s::jsonb) AS r(memory uuid, id uuid, namespace text, path text, title text, media text, is_file boolean,
                                         created_at timestamptz, position integer, first integer, last integer)

-- name: insert_documents
-- Begins the documents of passages where nothing has their ids or paths. Whether they are whole only an ingest can tell.
INSERT INTO document (tenant_id, id, agent_id, namespace, path, title, media, is_file, created_at, updated_at)
SELECT DISTINCT ON (r.id) %(tenant)s, r.id, %(agent)s, r.namespace, r.path, r.title, r.media, r.is_file, r.created_at, %(now)s
FROM {{placed}} ORDER BY r.id
ON CONFLICT DO NOTHING;

-- name: insert_places
-- Says where passages stand whose documents are there.
INSERT INTO passage (tenant_id, memory_id, document_id, position, first, last)
SELECT %(tenant)s, m.id, d.id, r.position, r.first, r.last
FROM {{placed}}
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = r.memory
JOIN document d ON d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.id = r.id
WHERE m.namespace = d.namespace AND m.source = d.id::text
ON CONFLICT DO NOTHING;

-- name: taken
-- Which ids the tenant has in use: for whom, whether forgotten, and what each says.
SELECT m.id, m.agent_id = %(agent)s AS same_agent, m.status = 'tombstoned' AS tombstoned, m.content_hash
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT t.id, true, true, '' FROM tombstone t
WHERE t.tenant_id = %(tenant)s AND t.id = ANY(%(ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = t.id);

-- name: successors
-- What replaced the memories asked for, what replaced that, and so on to the ends, each once; and whether they are the agent's.
WITH RECURSIVE chain AS (
    SELECT m.id, m.superseded_by, m.agent_id
    FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[])
    UNION
    SELECT m.id, m.superseded_by, m.agent_id
    FROM chain JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = chain.superseded_by
    WHERE m.tenant_id = %(tenant)s
)
SELECT id, superseded_by, agent_id = %(agent)s AS same_agent FROM chain;

-- name: buried_successors
-- Which of the memories asked for were forgotten; the others cannot be before this transaction ends.
WITH there AS (SELECT m.id, m.status FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) ORDER BY m.id FOR SHARE)
SELECT there.id FROM there WHERE there.status = 'tombstoned'
UNION
SELECT t.id FROM tombstone t WHERE t.tenant_id = %(tenant)s AND t.id = ANY(%(ids)s::uuid[]);

-- name: insert_versions
-- Stores earlier images of memories that were just inserted.
INSERT INTO memory_version ({{version_columns}}, current_until)
SELECT %(tenant)s, r.id, r.revision, r.agent_id, r.namespace, r.user_id, r.task_id, r.chat_id, r.session_id, r.sequence, r.speaker, r.kind,
       r.content, decode(r.content_hash, 'hex'), to_tsvector(%(configuration)s::regconfig, r.search_text), r.embedding,
       r.context_embedding, r.labels, r.tags, r.metadata, r.source, r.subject, r.predicate, r.personal_data, r.tokens, r.counted_by,
       r.importance, r.confidence, r.status, r.maturity, r.confirmed_at, r.superseded_by, r.created_at, r.updated_at, r.last_mentioned_at, r.observed_at,
       r.valid_from, r.invalidated_at, r.expires_at, r.deleted_at, r.current_since, r.current_until
FROM ROWS FROM (
         jsonb_to_recordset(%(rows)s::jsonb) AS (
             id uuid, revision integer, agent_id text, namespace text, user_id text, task_id text, chat_id text, session_id text,
             sequence integer, speaker text, kind text, content text, content_hash text, search_text text, labels text[], tags text[],
             metadata jsonb, source text, subject text, predicate text, personal_data text[], tokens integer, counted_by text,
             importance double precision, confidence double precision, status text, maturity text, confirmed_at timestamptz, superseded_by uuid,
             created_at timestamptz, updated_at timestamptz, last_mentioned_at timestamptz, observed_at timestamptz,
             valid_from timestamptz, invalidated_at timestamptz, expires_at timestamptz, deleted_at timestamptz,
             current_since timestamptz, current_until timestamptz),
         unnest(%(embeddings)s::halfvec[]),
         unnest(%(context_embeddings)s::halfvec[])
     ) AS r(id, revision, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content, content_hash,
            search_text, labels, tags, metadata, source, subject, predicate, personal_data, tokens, counted_by, importance, confidence,
            status, maturity, confirmed_at, superseded_by, created_at, updated_at, last_mentioned_at, observed_at, valid_from, invalidated_at, expires_at,
            deleted_at, current_since, current_until, embedding, context_embedding);

-- name: insert_strength
-- How firmly the memories that were just inserted are held. They are idle from the import on.
INSERT INTO strength (tenant_id, memory_id, access_count, last_accessed_at, stability, difficulty, half_life, decayed_at, imported_at, positive,
                      negative)
SELECT %(tenant)s, r.id, r.access_count, r.last_accessed_at, r.stability, r.difficulty, r.half_life, r.decayed_at, %(now)s, r.positive,
       r.negative
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(
    id uuid, access_count integer, last_accessed_at timestamptz, stability double precision, difficulty double precision,
    half_life double precision, decayed_at timestamptz, positive integer, negative integer);

-- name: relink
-- Points what was superseded by a memory that proved a duplicate at the memory that says the same.
UPDATE memory m SET superseded_by = d.existing_id
FROM unnest(%(ids)s::uuid[], %(existing_ids)s::uuid[]) AS d(id, existing_id)
WHERE m.tenant_id = %(tenant)s AND m.superseded_by = d.id
RETURNING m.id;
