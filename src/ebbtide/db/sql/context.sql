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
-- The paths of documents by their ids.
SELECT d.id, d.path FROM document d
WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.id = ANY(%(ids)s::uuid[]);
