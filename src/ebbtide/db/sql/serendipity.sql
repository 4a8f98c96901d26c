-- Serendipity: memories of other topics, and how far a user cares for them.

-- fragment: moment_of_mention
('x' || left(replace(x.memory_id::text, '-', ''), 15))::bit(60)::bigint FROM mention x WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id

-- name: arm
-- What is known of how a user takes to memories of other topics; nothing where nobody has said.
SELECT a.alpha, a.beta FROM serendipity_arm a WHERE a.tenant_id = %(tenant)s AND a.user_id = %(user)s;

-- name: engage
-- Counts that a user engaged with such a memory, or did not; at the start nothing is known.
INSERT INTO serendipity_arm AS a (tenant_id, user_id, alpha, beta, updated_at)
VALUES (%(tenant)s, %(user)s, 1 + %(engaged)s::integer, 2 - %(engaged)s::integer, %(now)s)
ON CONFLICT (tenant_id, user_id) DO UPDATE
SET alpha = a.alpha + %(engaged)s::integer, beta = a.beta + 1 - %(engaged)s::integer, updated_at = %(now)s
RETURNING a.alpha, a.beta;

-- name: others
-- The readable memories that are held most confidently of entities that a conversation does not speak of: neither its hits nor the
-- last turns of its chat. Of equals, those that were left alone longest. Each with the name of its entity that it uses itself. However
-- much an agent knows, so many of its entities are looked at, from a place in the order of their hashes that chance names, and so
-- many memories of each, by lot from its next `window` ones in the order of their ids, from a place between the first and the last
-- that chance names too: the first 60 bits of an id are its moment.
WITH spoken AS MATERIALIZED (
    SELECT unnest(%(ids)s::uuid[]) AS memory_id
    UNION
    (SELECT t.memory_id FROM turn t
     WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s AND t.chat_id = %(chat)s ORDER BY t.place DESC LIMIT %(turns)s)),
known AS MATERIALIZED (
    SELECT x.entity_id FROM mention x WHERE x.tenant_id = %(tenant)s AND x.memory_id = ANY(ARRAY(SELECT spoken.memory_id FROM spoken))
    UNION
    SELECT p.id FROM entity p WHERE p.tenant_id = %(tenant)s AND p.memory_id = ANY(ARRAY(SELECT spoken.memory_id FROM spoken))),
sample AS MATERIALIZED (
    (SELECT e.id, e.name_hash FROM entity e
     WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.name_hash >= %(start)s::bytea AND e.merged_into IS NULL
     ORDER BY e.name_hash, e.id LIMIT %(entities)s::integer)
    UNION ALL
    (SELECT e.id, e.name_hash FROM entity e
     WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.name_hash < %(start)s::bytea AND e.merged_into IS NULL
     ORDER BY e.name_hash, e.id LIMIT %(entities)s::integer)
    LIMIT %(entities)s::integer)
SELECT e.id, (SELECT a.alias FROM alias_source u JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.id = u.alias_id
              WHERE u.tenant_id = %(tenant)s AND u.memory_id = m.id AND a.entity_id = e.id AND NOT a.removed
              ORDER BY a.alias_hash <> e.name_hash, a.id LIMIT 1), {{memory_row}}
FROM sample e
CROSS JOIN LATERAL (
    SELECT rpad(lpad(to_hex(b.first + floor(%(share)s::float8 * (b.last - b.first + 1))::bigint), 15, '0'), 32, '0')::uuid AS place
    FROM (SELECT (SELECT {{moment_of_mention}} ORDER BY x.memory_id LIMIT 1) AS first,
                 (SELECT {{moment_of_mention}} ORDER BY x.memory_id DESC LIMIT 1) AS last) b) b
CROSS JOIN LATERAL (
    SELECT w.memory_id FROM (
        (SELECT x.memory_id FROM mention x WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id AND x.memory_id >= b.place
         ORDER BY x.memory_id LIMIT %(window)s::integer)
        UNION ALL
        (SELECT x.memory_id FROM mention x WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id AND x.memory_id < b.place
         ORDER BY x.memory_id LIMIT %(window)s::integer)
        LIMIT %(window)s::integer) w
    ORDER BY uuid_hash_extended(w.memory_id, %(lot)s::bigint), w.memory_id LIMIT %(mentions)s::integer) x
CROSS JOIN LATERAL (SELECT m.* FROM memory m WHERE m.id = x.memory_id AND {{readable}} LIMIT 1) m
LEFT JOIN LATERAL (SELECT s.* FROM strength s WHERE s.tenant_id = %(tenant)s AND s.memory_id = m.id LIMIT 1) s ON true
WHERE m.kind = ANY(%(told)s::text[]) AND m.confidence >= %(least)s::float8
  AND m.id NOT IN (SELECT spoken.memory_id FROM spoken)
  AND NOT EXISTS (SELECT FROM mention k WHERE k.tenant_id = %(tenant)s AND k.memory_id = m.id
                                          AND k.entity_id IN (SELECT known.entity_id FROM known) OFFSET 0)
ORDER BY m.confidence DESC, coalesce(s.last_accessed_at, m.created_at), m.id, e.id LIMIT %(limit)s;
