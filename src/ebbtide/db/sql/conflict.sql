-- What new statements have to do with those that are remembered already, and what is disputed.

-- fragment: standing
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND m.superseded_by IS NULL
AND m.maturity <> 'invalidated' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
AND (m.invalidated_at IS NULL OR m.invalidated_at > %(now)s)

-- name: scope_rows
-- How many memories a namespace holds, counted up to a limit, since counting more would change nothing.
SELECT count(*) FROM (
    SELECT FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.namespace = %(namespace)s AND m.status = 'active'
      AND m.superseded_by IS NULL
    LIMIT %(most)s) counted;

-- name: vectors
-- A page of a namespace's vectors, in the order of their ids: the ids, and the vectors as the server sends them, one after the other.
SELECT array_agg(v.id), string_agg(halfvec_send(v.embedding), ''::bytea) FROM (
    SELECT m.id, m.embedding FROM memory m
    WHERE {{standing}} AND m.namespace = %(namespace)s AND m.embedding IS NOT NULL AND (%(after)s::uuid IS NULL OR m.id > %(after)s::uuid)
    ORDER BY m.id LIMIT %(rows)s) v;

-- name: nearest
-- The nearest memories of a namespace to each of some vectors, by comparing all; only the few that are near enough are sorted.
SELECT v.place, n.id, n.similarity
FROM unnest(%(places)s::integer[], %(vectors)s::halfvec[], %(least)s::float8[]) AS v(place, vector, least)
CROSS JOIN LATERAL (
    SELECT m.id, 1 - (m.embedding <=> v.vector) AS similarity FROM memory m
    WHERE {{standing}} AND m.namespace = %(namespace)s AND m.embedding IS NOT NULL AND 1 - (m.embedding <=> v.vector) > v.least
    ORDER BY similarity DESC LIMIT %(rows)s) n;

-- name: nearest_indexed
-- The same by the vector index, where a namespace is too large for that.
SELECT v.place, n.id, n.similarity
FROM unnest(%(places)s::integer[], %(vectors)s::halfvec[], %(least)s::float8[]) AS v(place, vector, least)
CROSS JOIN LATERAL (
    SELECT m.id, (1 - (m.embedding <=> v.vector))::float8 AS similarity FROM memory m
    WHERE {{standing}} AND m.namespace = %(namespace)s
    ORDER BY m.embedding <=> v.vector LIMIT %(rows)s) n
WHERE n.similarity > v.least;

-- name: statements
-- What some memories say, and what decides between two that say different things. A passage of a document is no single statement, nor is
-- the page of an entity.
SELECT m.id, m.content, m.subject, m.predicate, m.valid_from, m.invalidated_at, m.importance, m.kind, m.user_id, m.speaker,
       m.observed_at, m.maturity = 'confirmed' AS confirmed, m.chat_id IS NOT NULL AND m.sequence IS NOT NULL AS turn,
       (SELECT o.source_id FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = m.id
        ORDER BY o.source_id DESC LIMIT 1) AS told_by
FROM memory m WHERE {{standing}} AND m.id = ANY(%(ids)s::uuid[]) AND m.kind <> 'entity'
  AND NOT EXISTS (SELECT FROM passage p WHERE p.tenant_id = %(tenant)s AND p.memory_id = m.id);

-- name: objects
-- The names, as they are compared, of what some memories relate their subjects to.
SELECT r.memory_id, array_agg(a.folded)
FROM relation r JOIN entity_alias a ON a.entity_id = r.object_id
WHERE r.tenant_id = %(tenant)s AND r.memory_id = ANY(%(ids)s::uuid[]) AND NOT r.derived
  AND a.tenant_id = %(tenant)s AND NOT a.removed
GROUP BY r.memory_id;

-- name: same_subject
-- The newest memories that speak of the same property of the same subject as each of some drafts. A join, and not a look-up
-- for each draft: while statistics are young, a look-up may go by the wrong index, and then reads a whole scope each time.
SELECT s.place, s.id, s.content, s.subject, s.predicate, s.valid_from, s.invalidated_at, s.importance, s.kind, s.user_id,
       s.speaker, s.observed_at
FROM (
    SELECT d.place, m.id, m.content, m.subject, m.predicate, m.valid_from, m.invalidated_at, m.importance, m.kind, m.user_id,
           m.speaker, m.observed_at,
           row_number() OVER (PARTITION BY d.place ORDER BY m.id DESC) AS rank
    FROM unnest(%(places)s::integer[], %(namespaces)s::text[], %(subjects)s::text[], %(predicates)s::text[])
         AS d(place, namespace, subject, predicate)
    JOIN memory m ON m.namespace = d.namespace AND m.subject = d.subject
    WHERE {{standing}} AND m.predicate IS NOT DISTINCT FROM d.predicate) s
WHERE s.rank <= %(rows)s
ORDER BY s.place, s.id;

-- name: lock_properties
-- One writer at a time states properties of subjects in a namespace, so that no two contradict each other unseen.
SELECT count(pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), 'ebbtide.properties', %(tenant)s::text, %(agent)s::text, n.namespace), 0)))
FROM (SELECT namespace FROM unnest(%(namespaces)s::text[]) AS u(namespace) ORDER BY namespace) n;

-- name: link
-- Links memories to those that they nearly repeat, where these are still there; one that is being forgotten is waited for.
INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, created_at)
SELECT %(tenant)s, l.memory_id, l.other_id, 'near_duplicate', %(now)s
FROM unnest(%(ids)s::uuid[], %(others)s::uuid[]) AS l(memory_id, other_id)
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = l.other_id AND m.status = 'active'
ORDER BY m.id FOR SHARE OF m
ON CONFLICT DO NOTHING;

-- name: link_updates
-- Notes which memories were found to replace others, and how sure that was.
INSERT INTO memory_link (tenant_id, memory_id, other_id, kind, confidence, created_at)
SELECT %(tenant)s, m.superseded_by, m.id, 'update', l.confidence, %(now)s
FROM unnest(%(ids)s::uuid[], %(others)s::uuid[], %(confidences)s::float8[]) AS l(memory_id, other_id, confidence)
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = l.other_id AND m.superseded_by = l.memory_id
ON CONFLICT DO NOTHING;

-- name: found_update
-- What a memory was found to be replaced by, and how sure that was, where it was neither given nor told by dates.
SELECT l.memory_id, l.confidence
FROM memory_link l JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = l.other_id AND m.superseded_by = l.memory_id
WHERE l.tenant_id = %(tenant)s AND l.other_id = %(id)s AND l.kind = 'update';

-- name: unlink_update
-- Forgets that a memory was found to be replaced.
DELETE FROM memory_link l WHERE l.tenant_id = %(tenant)s AND l.other_id = %(old_id)s AND l.kind = 'update';

-- name: add
-- Notes which memories contradict each other, where both still hold; one that is being forgotten is waited for.
INSERT INTO conflict (tenant_id, id, agent_id, older_id, newer_id, reason, created_at)
SELECT %(tenant)s, c.id, %(agent)s, c.older_id, c.newer_id, c.reason, %(now)s
FROM unnest(%(ids)s::uuid[], %(older)s::uuid[], %(newer)s::uuid[], %(reasons)s::text[]) AS c(id, older_id, newer_id, reason)
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = c.older_id AND m.status = 'active' AND m.superseded_by IS NULL
ORDER BY m.id FOR SHARE OF m;

-- fragment: open
c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.resolution IS NULL
AND o.tenant_id = %(tenant)s AND o.status = 'active' AND o.superseded_by IS NULL
AND n.tenant_id = %(tenant)s AND n.status = 'active' AND n.superseded_by IS NULL

-- name: list
-- The conflicts of an agent that are open: both memories still hold. Newest first.
SELECT c.id, c.older_id, c.newer_id, c.reason, c.created_at
FROM conflict c JOIN memory o ON o.id = c.older_id JOIN memory n ON n.id = c.newer_id
WHERE {{open}}
  AND (%(after)s::uuid IS NULL OR (c.created_at, c.id) < (%(before)s::timestamptz, %(after)s::uuid))
ORDER BY c.created_at DESC, c.id DESC LIMIT %(limit)s;

-- name: noted
-- When a conflict was noted.
SELECT c.created_at FROM conflict c WHERE c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.id = %(id)s;

-- name: disputed
-- Which of some memories an open conflict is about.
SELECT DISTINCT d.id
FROM conflict c JOIN memory o ON o.id = c.older_id JOIN memory n ON n.id = c.newer_id CROSS JOIN unnest(ARRAY[c.older_id, c.newer_id]) AS d(id)
WHERE {{open}} AND d.id = ANY(%(ids)s::uuid[]);

-- name: sides
-- The sides of a conflict, where it is still open.
SELECT c.older_id, c.newer_id FROM conflict c JOIN memory o ON o.id = c.older_id JOIN memory n ON n.id = c.newer_id
WHERE {{open}} AND c.id = %(id)s;

-- name: resolve
-- Notes how a conflict was settled, unless another writer did so first.
UPDATE conflict c SET resolution = %(resolution)s, resolved_at = %(now)s
WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s AND c.resolution IS NULL
RETURNING c.id;
