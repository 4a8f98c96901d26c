-- Entities and relations: what memories speak of, and what they say holds between those.

-- name: lock
-- One writer at a time to the entities of an agent, so that no name becomes two of them; nothing is forgotten meanwhile.
SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.graph:' || %(tenant)s::text, 0)),
       pg_advisory_xact_lock(hashtextextended('ebbtide.graph:' || %(tenant)s::text || ':' || %(agent)s::text, 0));

-- name: candidates
-- The entities that names may mean, by a hash or by the key of a similar name; with their given names, and those that were asked for.
WITH near AS (
    SELECT a.entity_id FROM unnest(%(hashes)s::bytea[]) AS h(hash)
    JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.agent_id = %(agent)s AND a.alias_hash = h.hash
    UNION
    SELECT a.entity_id FROM unnest(%(keys)s::bigint[], %(sizes)s::smallint[]) AS k(key, size)
    CROSS JOIN LATERAL (
        SELECT n.alias_id FROM entity_key n
        WHERE n.tenant_id = %(tenant)s AND n.agent_id = %(agent)s AND n.key = k.key AND n.size <= k.size
        ORDER BY n.size, n.alias_id LIMIT %(limit)s::integer) found
    JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.id = found.alias_id)
SELECT e.id, e.type, e.name, a.id, a.alias, a.alias_hash, a.given, a.removed
FROM near JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = near.entity_id AND e.merged_into IS NULL
JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.entity_id = e.id
WHERE a.given OR a.alias_hash = ANY(%(hashes)s::bytea[]);

-- name: insert_entities
-- Stores entities.
INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, created_at, updated_at)
SELECT %(tenant)s, e.id, %(agent)s, e.type, e.name, e.name_hash, %(now)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(names)s::text[], %(hashes)s::bytea[]) AS e(id, type, name, name_hash);

-- name: insert_aliases
-- Stores names of entities.
INSERT INTO entity_alias (tenant_id, id, agent_id, entity_id, alias, alias_hash, given, added, created_at)
SELECT %(tenant)s, a.id, %(agent)s, a.entity_id, a.alias, a.alias_hash, a.given, %(added)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(entities)s::uuid[], %(aliases)s::text[], %(hashes)s::bytea[], %(given)s::boolean[])
     AS a(id, entity_id, alias, alias_hash, given);

-- name: give_aliases
-- Names that were learnt are now given.
UPDATE entity_alias a SET given = true WHERE a.tenant_id = %(tenant)s AND a.id = ANY(%(ids)s::uuid[]);

-- name: insert_keys
-- Stores the keys under which similar names find an alias.
INSERT INTO entity_key (tenant_id, agent_id, key, size, alias_id)
SELECT %(tenant)s, %(agent)s, k.key, k.size, k.alias_id
FROM unnest(%(keys)s::bigint[], %(sizes)s::smallint[], %(aliases)s::uuid[]) AS k(key, size, alias_id)
ON CONFLICT DO NOTHING;

-- name: insert_mentions
-- Stores which memories mention which entities, and by which names; what is known is left alone.
WITH sources AS (
    INSERT INTO alias_source (tenant_id, memory_id, alias_id)
    SELECT %(tenant)s, s.memory_id, s.alias_id FROM unnest(%(source_memories)s::uuid[], %(aliases)s::uuid[]) AS s(memory_id, alias_id)
    ON CONFLICT DO NOTHING)
INSERT INTO mention (tenant_id, memory_id, entity_id)
SELECT %(tenant)s, n.memory_id, n.entity_id FROM unnest(%(memories)s::uuid[], %(entities)s::uuid[]) AS n(memory_id, entity_id)
ON CONFLICT DO NOTHING;

-- name: insert_relations
-- Stores what memories say holds between entities, and answers with what is new; what one says already is left alone.
INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, created_at)
SELECT %(tenant)s, n.id, %(agent)s, n.subject_id, n.predicate, n.object_id, n.memory_id, %(now)s
FROM unnest(%(ids)s::uuid[], %(subjects)s::uuid[], %(predicates)s::text[], %(objects)s::uuid[], %(memories)s::uuid[])
     AS n(id, subject_id, predicate, object_id, memory_id)
WHERE NOT EXISTS (SELECT FROM relation r WHERE r.tenant_id = %(tenant)s AND r.memory_id = n.memory_id AND r.subject_id = n.subject_id
                                           AND r.predicate = n.predicate AND r.object_id = n.object_id AND NOT r.derived)
RETURNING id;

-- name: find
-- The entities of these very names, each with the place of the name, those whose own it is first.
SELECT (h.place - 1)::integer, e.id, e.type, e.name, e.name_hash = h.hash
FROM unnest(%(hashes)s::bytea[]) WITH ORDINALITY AS h(hash, place)
JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.agent_id = %(agent)s AND a.alias_hash = h.hash AND NOT a.removed
JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = a.entity_id AND e.merged_into IS NULL
ORDER BY h.place, e.name_hash <> h.hash, e.id;
