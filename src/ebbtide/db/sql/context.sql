-- What a context block shows beside the hits of a search.

-- name: mentions
-- Which entities memories mention, or are the pages of, each with the average confidence of what is readable of it.
SELECT l.memory_id, e.id, e.name, e.type, coalesce((
           SELECT avg(m.confidence) FROM mention x JOIN {{source}} ON m.id = x.memory_id
           WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id AND m.kind <> 'entity' AND {{readable}}), 0.0)
FROM (SELECT x.memory_id, x.entity_id FROM mention x WHERE x.tenant_id = %(tenant)s AND x.memory_id = ANY(%(ids)s::uuid[])
      UNION
      SELECT p.memory_id, p.id FROM entity p WHERE p.tenant_id = %(tenant)s AND p.memory_id = ANY(%(ids)s::uuid[])) l
JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = l.entity_id
WHERE e.agent_id = %(agent)s AND e.merged_into IS NULL AND e.created_at <= %(now)s
ORDER BY l.memory_id, e.id;

-- name: relations
-- What holds between entities and others, as far as the memories that say it are readable, and what these say.
SELECT r.id, r.memory_id, a.id, a.name, r.predicate, b.id, b.name,
       m.namespace, m.content, m.subject, m.predicate, m.speaker, m.labels, m.tags, m.metadata
FROM relation r
JOIN entity a ON a.tenant_id = %(tenant)s AND a.id = r.subject_id
JOIN entity b ON b.tenant_id = %(tenant)s AND b.id = r.object_id
JOIN {{source}} ON m.id = r.memory_id
WHERE r.tenant_id = %(tenant)s AND r.agent_id = %(agent)s
  AND (r.subject_id = ANY(%(entities)s::uuid[]) OR r.object_id = ANY(%(entities)s::uuid[]) OR r.memory_id = ANY(%(ids)s::uuid[]))
  AND r.created_at <= %(now)s AND NOT r.derived AND {{readable}}
ORDER BY r.id LIMIT %(limit)s::integer;

-- name: documents
-- The documents that memories are passages of, and where in them these stand.
SELECT m.id, d.namespace, d.path, d.media, p.first, p.last
FROM memory m
JOIN document d ON d.tenant_id = m.tenant_id AND d.agent_id = m.agent_id AND d.id = ANY(%(documents)s::uuid[]) AND d.id::text = m.source
LEFT JOIN passage p ON p.tenant_id = m.tenant_id AND p.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]);
