-- Documents: what is known of files whose passages are remembered.

-- name: try_lock
-- Lets one writer at a time make the passages of a document; answers whether it is this one.
SELECT pg_try_advisory_xact_lock(hashtextextended(
    'ebbtide.document:' || array_to_json(ARRAY[%(tenant)s::text, %(agent)s::text, %(namespace)s::text, %(path)s::text])::text, 0));

-- name: find
-- The document of an agent at a path of a namespace.
SELECT d.id, d.content_hash, d.options_hash
FROM document d
WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.namespace = %(namespace)s AND d.path = %(path)s;

-- name: open
-- Takes a document over: until it is closed again its passages are not those of one version.
UPDATE document d SET claim = %(claim)s, content_hash = NULL
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s RETURNING d.id;

-- name: create
-- Begins a document, in the transaction that stores its first passages.
INSERT INTO document (tenant_id, id, agent_id, namespace, path, content_hash, created_at, updated_at, media, is_file, claim)
VALUES (%(tenant)s, %(id)s, %(agent)s, %(namespace)s, %(path)s, NULL, %(now)s, %(now)s, %(media)s, %(is_file)s, %(claim)s)
ON CONFLICT DO NOTHING RETURNING id;

-- name: claimed
-- Whether a document is still its writer's: it is not, once somebody forgot it.
SELECT d.id FROM document d
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s AND d.claim = %(claim)s FOR SHARE;

-- name: chunks
-- The passages that are remembered of a document, at any stage of their lives.
SELECT m.id, m.content_hash
FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.source = %(source)s AND m.status <> 'tombstoned'
ORDER BY m.id;

-- name: place
-- Says where passages stand now. What is being forgotten is waited for, and has no place.
INSERT INTO passage AS p (tenant_id, memory_id, document_id, position, first, last)
SELECT %(tenant)s, m.id, %(id)s::uuid, r.position, r.first, r.last
FROM unnest(%(ids)s::uuid[], %(positions)s::integer[], %(firsts)s::integer[], %(lasts)s::integer[]) AS r(id, position, first, last)
JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = r.id
WHERE m.status <> 'tombstoned' AND EXISTS (SELECT FROM document d WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s::uuid)
ORDER BY m.id FOR SHARE OF m
ON CONFLICT (tenant_id, memory_id) DO UPDATE SET position = excluded.position, first = excluded.first, last = excluded.last
WHERE (p.position, p.first, p.last) IS DISTINCT FROM (excluded.position, excluded.first, excluded.last);

-- name: unplace
-- What is kept although it is in the document no more stands nowhere in it.
DELETE FROM passage p WHERE p.tenant_id = %(tenant)s AND p.document_id = %(id)s AND p.memory_id = ANY(%(ids)s::uuid[]);

-- fragment: described
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(id uuid, kind text, tags text[], labels text[], metadata jsonb, observed_at timestamptz,
                                              personal_data text[], search_text text)
WHERE m.tenant_id = %(tenant)s AND m.id = r.id AND m.status <> 'tombstoned'
  AND (m.kind, m.tags, m.labels, m.metadata, m.observed_at) IS DISTINCT FROM (r.kind, r.tags, r.labels, r.metadata, r.observed_at)

-- name: described_otherwise
-- The passages whose kind, tags, labels, title or date are not what their document gives them now.
SELECT m.id FROM memory m, LATERAL (SELECT 1 {{described}}) AS differs ORDER BY m.id FOR NO KEY UPDATE OF m;

-- name: describe
-- Gives passages the kind, tags, labels, title and date of their document.
UPDATE memory m
SET kind = r.kind, tags = r.tags, labels = r.labels, metadata = r.metadata, observed_at = r.observed_at,
    personal_data = r.personal_data, search = to_tsvector(%(configuration)s::regconfig, r.search_text),
    revision = m.revision + 1, updated_at = %(now)s, current_since = greatest(%(now)s, m.current_since)
{{described}};

-- name: close
-- The passages of a document are those of this version; where some had to be kept, it has no hash and is read again next time.
UPDATE document d
SET content_hash = %(content_hash)s, options_hash = %(options_hash)s, title = %(title)s, media = %(media)s, is_file = %(is_file)s,
    claim = NULL, updated_at = %(now)s
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s AND d.claim = %(claim)s RETURNING d.id;

-- fragment: document_columns
d.id, d.namespace, d.path, d.title, d.media, d.content_hash IS NOT NULL AS complete, d.created_at, d.updated_at,
(SELECT count(*) FROM memory m WHERE m.tenant_id = %(tenant)s AND m.agent_id = d.agent_id AND m.source = d.id::text)::integer AS passages

-- name: list
-- The next documents of an agent in some namespaces, in the order of namespace and path.
SELECT {{document_columns}} FROM document d
WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s
  AND (d.namespace, d.path) > (%(after_namespace)s::text, %(after_path)s::text)
  AND EXISTS (SELECT FROM (VALUES (d.namespace)) AS m(namespace) WHERE {{named}})
ORDER BY d.namespace, d.path LIMIT %(limit)s::integer;

-- name: files_in
-- The documents of an agent that came from the files of a folder, by the namespaces and the paths that these have.
SELECT {{document_columns}} FROM document d
WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.is_file AND starts_with(d.path, %(prefix)s::text)
  AND (d.namespace = %(namespace)s::text OR starts_with(d.namespace, %(namespace)s::text || '.'))
ORDER BY d.namespace, d.path;

-- name: known
-- Whether an agent has a document at a path, or below it.
SELECT EXISTS (SELECT FROM document d WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.is_file
    AND (d.path = %(path)s::text OR starts_with(d.path, %(path)s::text || '/'))
    AND (d.namespace = %(namespace)s::text OR starts_with(d.namespace, %(namespace)s::text || '.')));

-- name: by_id
-- One document of an agent.
SELECT {{document_columns}} FROM document d WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.id = %(id)s;

-- name: by_path
-- The documents of an agent at a path, one for each namespace at most.
SELECT {{document_columns}} FROM document d WHERE d.tenant_id = %(tenant)s AND d.agent_id = %(agent)s AND d.path = %(path)s
ORDER BY d.namespace;

-- name: passages
-- The next passages of a document in their order; those that have no place in it any more come last.
SELECT m.id, p.position, p.first, p.last
FROM memory m
LEFT JOIN passage p ON p.tenant_id = m.tenant_id AND p.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.source = %(source)s AND m.status <> 'tombstoned'
  AND (%(after)s::uuid IS NULL
       OR (coalesce(p.position, 2147483647), m.id) > (coalesce(%(after_position)s::integer, 2147483647), %(after)s::uuid))
ORDER BY p.position NULLS LAST, m.id LIMIT %(limit)s::integer;

-- name: position
-- Where in a document one of its passages stands.
SELECT p.position
FROM memory m
LEFT JOIN passage p ON p.tenant_id = m.tenant_id AND p.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.source = %(source)s AND m.id = %(id)s AND m.status <> 'tombstoned';
