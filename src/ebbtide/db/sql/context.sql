-- What a context block shows beside the hits of a search.

-- name: mentions
-- Which entities memories mention, or are the pages of, as far as they were known at a moment.
SELECT l.memory_id, e.id
FROM (SELECT x.memory_id, x.entity_id FROM mention x WHERE x.tenant_id = %(tenant)s AND x.memory_id = ANY(%(ids)s::uuid[])
      UNION
      SELECT p.memory_id, p.id FROM entity p WHERE p.tenant_id = %(tenant)s AND p.memory_id = ANY(%(ids)s::uuid[])) l
JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = l.entity_id
WHERE e.merged_into IS NULL AND e.created_at <= %(before)s
ORDER BY l.memory_id, e.id;

-- name: relations
-- What holds between entities and others, or is said by memories, as far as all that say it are readable; derived ones last.
{{related}}
FROM (SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.subject_id = ANY(%(entities)s::uuid[])
      UNION
      SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.object_id = ANY(%(entities)s::uuid[])
      UNION
      SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.memory_id = ANY(%(ids)s::uuid[])) r
{{holding}}
ORDER BY r.derived, r.id LIMIT %(limit)s::integer;

-- name: documents
-- The documents that memories are passages of, and where in them these stand.
SELECT m.id, d.namespace, d.path, d.media, p.first, p.last
FROM memory m
JOIN document d ON d.tenant_id = m.tenant_id AND d.agent_id = m.agent_id AND d.id = ANY(%(documents)s::uuid[]) AND d.id::text = m.source
LEFT JOIN passage p ON p.tenant_id = m.tenant_id AND p.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]);
