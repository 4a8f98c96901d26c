-- Entities and relations: what memories speak of, and what they say holds between those.

-- name: lock
-- One writer at a time to the entities of an agent, so that no name becomes two of them; nothing is forgotten meanwhile.
SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.graph:' || %(tenant)s::text, 0)),
       pg_advisory_xact_lock(hashtextextended('ebbtide.graph:' || %(tenant)s::text || ':' || %(agent)s::text, 0));

-- name: candidates
-- The entities that names may mean, by a hash or by the key of a similar name; with their given names, and those that were asked for.
-- Arrays of ids, and not joins: a plan made while the tables are small would read a whole tenant, and goes on being used.
WITH similar_names AS (
    SELECT found.alias_id FROM unnest(%(keys)s::bigint[], %(sizes)s::smallint[]) AS k(key, size)
    CROSS JOIN LATERAL (
        SELECT n.alias_id FROM entity_key n
        WHERE n.tenant_id = %(tenant)s AND n.agent_id = %(agent)s AND n.key = k.key AND n.size <= k.size
        ORDER BY n.size, n.alias_id LIMIT %(limit)s::integer) found),
near AS MATERIALIZED (
    SELECT a.entity_id FROM entity_alias a
    WHERE a.tenant_id = %(tenant)s AND a.agent_id = %(agent)s AND a.alias_hash = ANY(%(hashes)s::bytea[])
    UNION
    SELECT a.entity_id FROM entity_alias a
    WHERE a.tenant_id = %(tenant)s AND a.id = ANY(ARRAY(SELECT alias_id FROM similar_names)))
SELECT e.id, e.type, e.name, a.id, a.alias, a.alias_hash, a.given, a.removed
FROM entity e JOIN entity_alias a ON a.entity_id = e.id
WHERE e.tenant_id = %(tenant)s AND e.id = ANY(ARRAY(SELECT entity_id FROM near)) AND e.merged_into IS NULL
  AND a.tenant_id = %(tenant)s AND a.entity_id = ANY(ARRAY(SELECT entity_id FROM near))
  AND (a.given OR a.alias_hash = ANY(%(hashes)s::bytea[]));

-- name: insert_entities
-- Stores entities.
INSERT INTO entity (tenant_id, id, agent_id, type, name, name_hash, created_at, updated_at)
SELECT %(tenant)s, e.id, %(agent)s, e.type, e.name, e.name_hash, %(now)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(names)s::text[], %(hashes)s::bytea[]) AS e(id, type, name, name_hash);

-- name: insert_aliases
-- Stores names of entities, and how each goes on from its words.
WITH words AS (
    INSERT INTO entity_word (tenant_id, agent_id, rest, entity_id, alias_id)
    SELECT %(tenant)s, %(agent)s, w.rest, w.entity_id, w.alias_id
    FROM unnest(%(rests)s::text[], %(word_entities)s::uuid[], %(word_aliases)s::uuid[]) AS w(rest, entity_id, alias_id))
INSERT INTO entity_alias (tenant_id, id, agent_id, entity_id, alias, folded, alias_hash, given, added, created_at)
SELECT %(tenant)s, a.id, %(agent)s, a.entity_id, a.alias, a.folded, a.alias_hash, a.given, %(added)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(entities)s::uuid[], %(aliases)s::text[], %(folded)s::text[], %(hashes)s::bytea[], %(given)s::boolean[])
     AS a(id, entity_id, alias, folded, alias_hash, given);

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

-- name: spoken_of
-- Which entities a memory mentions, and by which names.
SELECT n.entity_id, a.id, a.alias
FROM mention n
LEFT JOIN (alias_source s JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.id = s.alias_id)
  ON s.tenant_id = %(tenant)s AND s.memory_id = n.memory_id AND a.entity_id = n.entity_id
WHERE n.tenant_id = %(tenant)s AND n.memory_id = %(memory)s
ORDER BY n.entity_id, a.id;

-- name: unsay
-- A memory says no more what it said to hold, with what followed from that, and mentions some entities and uses some names no more;
-- answers with how many relations went.
WITH RECURSIVE resting AS (
    SELECT r.id FROM relation r WHERE r.tenant_id = %(tenant)s AND r.memory_id = %(memory)s AND NOT r.derived
    UNION
    SELECT d.relation_id FROM resting JOIN derivation d ON d.tenant_id = %(tenant)s AND d.premise_id = resting.id),
gone AS (DELETE FROM relation t WHERE t.tenant_id = %(tenant)s AND t.id IN (SELECT resting.id FROM resting) RETURNING t.id),
mentions AS (DELETE FROM mention t WHERE t.tenant_id = %(tenant)s AND t.memory_id = %(memory)s AND t.entity_id = ANY(%(entities)s::uuid[])),
names AS (DELETE FROM alias_source t WHERE t.tenant_id = %(tenant)s AND t.memory_id = %(memory)s AND t.alias_id = ANY(%(aliases)s::uuid[]))
SELECT count(*) FROM gone;

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
-- The entities of these very names, with the hash of the name of each, those whose own it is first.
WITH named AS MATERIALIZED (
    SELECT DISTINCT a.entity_id, a.alias_hash FROM entity_alias a
    WHERE a.tenant_id = %(tenant)s AND a.agent_id = %(agent)s AND a.alias_hash = ANY(%(hashes)s::bytea[]) AND NOT a.removed)
SELECT named.alias_hash, e.id, e.type, e.name, e.name_hash = named.alias_hash
FROM entity e JOIN named ON named.entity_id = e.id
WHERE e.tenant_id = %(tenant)s AND e.id = ANY(ARRAY(SELECT entity_id FROM named)) AND e.merged_into IS NULL
ORDER BY e.name_hash <> named.alias_hash, e.id;

-- name: lock_entities
-- The entities of these ids, whatever became of them, and what each was merged into.
SELECT e.id, e.type, e.name, e.name_hash, e.merged_into FROM entity e
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.id = ANY(%(ids)s::uuid[]);

-- name: aliases_of
-- All names of an entity, removed ones too.
SELECT a.id, a.alias, a.alias_hash, a.given, a.added, a.removed FROM entity_alias a
WHERE a.tenant_id = %(tenant)s AND a.entity_id = %(entity)s ORDER BY a.id;

-- name: move_mentions
-- Memories that mention one entity mention another instead, save those that mention that already. Without ids it is all of them.
UPDATE mention n SET entity_id = %(target)s
WHERE n.tenant_id = %(tenant)s AND n.entity_id = %(origin)s AND (%(every)s::boolean OR n.memory_id = ANY(%(ids)s::uuid[]))
  AND NOT EXISTS (SELECT FROM mention o WHERE o.tenant_id = %(tenant)s AND o.memory_id = n.memory_id AND o.entity_id = %(target)s)
RETURNING n.memory_id;

-- name: move_aliases
-- Names of one entity become another's.
WITH moved AS (
    UPDATE entity_alias a SET entity_id = %(target)s
    WHERE a.tenant_id = %(tenant)s AND a.entity_id = %(origin)s AND (%(every)s::boolean OR a.id = ANY(%(ids)s::uuid[]))
    RETURNING a.id),
words AS (
    UPDATE entity_word w SET entity_id = %(target)s
    WHERE w.tenant_id = %(tenant)s AND w.alias_id = ANY(ARRAY(SELECT moved.id FROM moved)))
SELECT moved.id FROM moved;

-- name: move_subjects
-- What memories say of one entity they say of another.
UPDATE relation r SET subject_id = %(target)s
WHERE r.tenant_id = %(tenant)s AND r.subject_id = %(origin)s AND (%(every)s::boolean OR r.id = ANY(%(ids)s::uuid[])) RETURNING r.id;

-- name: move_objects
-- What memories say leads to one entity leads to another.
UPDATE relation r SET object_id = %(target)s
WHERE r.tenant_id = %(tenant)s AND r.object_id = %(origin)s AND (%(every)s::boolean OR r.id = ANY(%(ids)s::uuid[])) RETURNING r.id;

-- name: relations_said_by
-- What some memories say of an entity.
SELECT r.id FROM relation r
WHERE r.tenant_id = %(tenant)s AND NOT r.derived AND r.memory_id = ANY(%(memories)s::uuid[])
  AND (r.subject_id = %(entity)s OR r.object_id = %(entity)s);

-- name: set_merged
-- An entity proved to be another, or none after all.
UPDATE entity e SET merged_into = %(target)s::uuid WHERE e.tenant_id = %(tenant)s AND e.id = %(entity)s;

-- name: users_of_names
-- Which memories use some names of an entity and no others of it; without names, none.
SELECT DISTINCT s.memory_id FROM alias_source s
WHERE s.tenant_id = %(tenant)s AND s.alias_id = ANY(%(aliases)s::uuid[])
  AND NOT EXISTS (SELECT FROM alias_source o JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.id = o.alias_id
                  WHERE o.tenant_id = %(tenant)s AND o.memory_id = s.memory_id AND a.entity_id = %(entity)s
                    AND a.id <> ALL(%(aliases)s::uuid[]));

-- name: names_used_by
-- Which names of an entity some memories use and no others do, except names that a person added.
SELECT a.id FROM entity_alias a
WHERE a.tenant_id = %(tenant)s AND a.entity_id = %(entity)s AND NOT a.added
  AND EXISTS (SELECT FROM alias_source s WHERE s.tenant_id = %(tenant)s AND s.alias_id = a.id)
  AND NOT EXISTS (SELECT FROM alias_source s WHERE s.tenant_id = %(tenant)s AND s.alias_id = a.id AND s.memory_id <> ALL(%(memories)s::uuid[]));

-- name: mentioning
-- Which memories mention an entity.
SELECT n.memory_id FROM mention n WHERE n.tenant_id = %(tenant)s AND n.entity_id = %(entity)s;

-- name: set_alias
-- What a name of an entity is.
UPDATE entity_alias a SET given = %(given)s, added = %(added)s, removed = %(removed)s WHERE a.tenant_id = %(tenant)s AND a.id = %(alias)s;

-- name: set_removed
-- Takes names from an entity, or gives them back.
UPDATE entity_alias a SET removed = %(removed)s WHERE a.tenant_id = %(tenant)s AND a.id = ANY(%(aliases)s::uuid[]);

-- name: drop_alias
-- Takes a name from an entity for good.
DELETE FROM entity_alias a WHERE a.tenant_id = %(tenant)s AND a.id = %(alias)s;

-- name: drop_unused_alias
-- Takes a name from an entity for good that nobody added and no memory uses.
DELETE FROM entity_alias a WHERE a.tenant_id = %(tenant)s AND a.id = %(alias)s AND NOT a.added AND NOT a.removed
  AND NOT EXISTS (SELECT FROM alias_source s WHERE s.tenant_id = %(tenant)s AND s.alias_id = a.id);

-- name: drop_entity
-- Takes an entity away, with its names.
DELETE FROM entity e WHERE e.tenant_id = %(tenant)s AND e.id = %(entity)s;

-- name: note_change
-- Notes what is done to an entity, and which rows it moves.
WITH noted AS (
    INSERT INTO entity_change (tenant_id, id, agent_id, operation, entity_id, counterpart_id, before, created_at)
    VALUES (%(tenant)s, %(id)s, %(agent)s, %(operation)s, %(entity)s, %(counterpart)s, %(before)s::jsonb, %(now)s) RETURNING id)
INSERT INTO entity_change_item (tenant_id, change_id, kind, item_id)
SELECT %(tenant)s, noted.id, i.kind, i.item_id FROM noted CROSS JOIN unnest(%(kinds)s::text[], %(items)s::uuid[]) AS i(kind, item_id);

-- name: change
-- A change that was not undone, with the rows it moved.
SELECT c.id, c.operation, c.entity_id, c.counterpart_id, c.before, c.created_at, c.undone_at,
       array(SELECT i.kind || ' ' || i.item_id::text FROM entity_change_item i WHERE i.tenant_id = %(tenant)s AND i.change_id = c.id)
FROM entity_change c WHERE c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.id = %(id)s;

-- name: later_change
-- The last change after one that has to do with the same entities and was not undone.
SELECT c.id
FROM (SELECT o.id, o.undone_at FROM entity_change o WHERE o.tenant_id = %(tenant)s AND o.entity_id = ANY(%(entities)s::uuid[])
      UNION
      SELECT o.id, o.undone_at FROM entity_change o WHERE o.tenant_id = %(tenant)s AND o.counterpart_id = ANY(%(entities)s::uuid[])) c
WHERE c.id > %(id)s AND c.undone_at IS NULL
ORDER BY c.id DESC LIMIT 1;

-- name: set_undone
-- Notes that a change was undone; the rows it moved are where they were.
WITH items AS (DELETE FROM entity_change_item i WHERE i.tenant_id = %(tenant)s AND i.change_id = %(id)s)
UPDATE entity_change c SET undone_at = %(now)s WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s;

-- fragment: done
SELECT c.id, c.operation, c.entity_id AS entity, c.counterpart_id AS counterpart, c.created_at, c.undone_at

-- name: changes
-- What was done to entities by hand, the newest first.
{{done}}
FROM entity_change c WHERE c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.id < %(after)s::uuid
ORDER BY c.id DESC LIMIT %(limit)s::integer;

-- name: changes_named
-- What was done to entities by hand, by the ids of the changes.
{{done}}
FROM entity_change c WHERE c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.id = ANY(%(ids)s::uuid[]);

-- name: changes_of
-- What was done by hand that has to do with an entity, the newest first.
{{done}}
FROM (SELECT o.* FROM entity_change o WHERE o.tenant_id = %(tenant)s AND o.entity_id = %(entity)s
      UNION
      SELECT o.* FROM entity_change o WHERE o.tenant_id = %(tenant)s AND o.counterpart_id = %(entity)s) c
WHERE c.agent_id = %(agent)s AND c.id < %(after)s::uuid
ORDER BY c.id DESC LIMIT %(limit)s::integer;

-- fragment: premise
f.tenant_id = %(tenant)s AND NOT f.derived AND s.tenant_id = %(tenant)s AND NOT s.derived
AND f.predicate = rule.first AND s.predicate = rule.second AND s.subject_id = f.object_id AND f.subject_id <> s.object_id
AND f.subject_id <> f.object_id AND s.subject_id <> s.object_id

-- name: consequences
-- What follows from relations that were said and others, by the rules: the premises of each, and what they are together.
SELECT f.id, s.id, f.subject_id, rule.conclusion, s.object_id, f.memory_id, s.memory_id, greatest(f.created_at, s.created_at)
FROM unnest(%(first)s::text[], %(second)s::text[], %(conclusions)s::text[]) AS rule(first, second, conclusion), relation f, relation s
WHERE {{premise}} AND f.id = ANY(%(ids)s::uuid[])
UNION
SELECT f.id, s.id, f.subject_id, rule.conclusion, s.object_id, f.memory_id, s.memory_id, greatest(f.created_at, s.created_at)
FROM unnest(%(first)s::text[], %(second)s::text[], %(conclusions)s::text[]) AS rule(first, second, conclusion), relation f, relation s
WHERE {{premise}} AND s.id = ANY(%(ids)s::uuid[])
ORDER BY 8 DESC, 1, 2 LIMIT %(limit)s::integer;

-- name: insert_derived
-- Stores what follows, with what it follows from; what is known is left alone.
WITH stored AS (
    INSERT INTO relation (tenant_id, id, agent_id, subject_id, predicate, object_id, memory_id, other_memory_id, derived, created_at)
    SELECT %(tenant)s, d.id, %(agent)s, d.subject_id, d.predicate, d.object_id, d.memory_id, d.other_memory_id, true, d.created_at
    FROM unnest(%(ids)s::uuid[], %(subjects)s::uuid[], %(predicates)s::text[], %(objects)s::uuid[], %(memories)s::uuid[],
                %(others)s::uuid[], %(created)s::timestamptz[])
         AS d(id, subject_id, predicate, object_id, memory_id, other_memory_id, created_at)
    ON CONFLICT DO NOTHING RETURNING id)
INSERT INTO derivation (tenant_id, relation_id, premise_id)
SELECT %(tenant)s, d.id, p.id
FROM unnest(%(ids)s::uuid[], %(first)s::uuid[], %(second)s::uuid[]) AS d(id, first, second)
JOIN stored ON stored.id = d.id CROSS JOIN LATERAL (VALUES (d.first), (d.second)) AS p(id);

-- name: drop_derived
-- Takes away what was derived of what was said of entities.
DELETE FROM relation r USING derivation d, relation p
WHERE r.tenant_id = %(tenant)s AND r.derived AND d.tenant_id = %(tenant)s AND d.relation_id = r.id AND p.tenant_id = %(tenant)s AND p.id = d.premise_id
  AND (p.subject_id = ANY(%(entities)s::uuid[]) OR p.object_id = ANY(%(entities)s::uuid[]));

-- name: said_of
-- What was said of entities.
SELECT r.id FROM relation r WHERE r.tenant_id = %(tenant)s AND NOT r.derived AND r.subject_id = ANY(%(entities)s::uuid[])
UNION
SELECT r.id FROM relation r WHERE r.tenant_id = %(tenant)s AND NOT r.derived AND r.object_id = ANY(%(entities)s::uuid[]);

-- Here and below, OFFSET and LIMIT have a plan ask it of one entity or memory after the other, and never read all of them beforehand.

-- fragment: mentioned
EXISTS (SELECT FROM mention x CROSS JOIN LATERAL (SELECT FROM {{source}} WHERE m.id = x.memory_id AND {{readable}} LIMIT 1) seen
        WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id OFFSET 0)

-- fragment: listed
e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.merged_into IS NULL AND e.id > %(after)s::uuid
AND (%(types)s::text[] IS NULL OR e.type = ANY(%(types)s::text[])) AND {{mentioned}}

-- name: entities
-- The next entities of a scope in the order of their ids: those that readable memories mention, by type.
SELECT e.id FROM entity e WHERE {{listed}} ORDER BY e.id LIMIT %(limit)s::integer;

-- fragment: called
EXISTS (SELECT FROM entity_alias a WHERE a.tenant_id = %(tenant)s AND a.entity_id = e.id AND NOT a.removed
                                     AND position(' ' || %(text)s::text IN ' ' || a.folded) > 0 OFFSET 0)

-- name: entities_called
-- Those of a scope of whose names a word begins in some way: looked up by that where few have such a name, and where many have, one
-- entity after the other, until there are enough.
WITH hits AS MATERIALIZED (
    SELECT w.entity_id FROM entity_word w
    WHERE w.tenant_id = %(tenant)s AND w.agent_id = %(agent)s AND w.rest >= %(first)s::text AND w.rest < %(beyond)s::text
      AND w.entity_id > %(after)s::uuid
    LIMIT %(most)s::integer + 1)
(SELECT found.id FROM (SELECT DISTINCT h.entity_id AS id FROM hits h ORDER BY 1) named
 CROSS JOIN LATERAL (SELECT e.id FROM entity e WHERE e.id = named.id AND {{listed}} AND {{called}} LIMIT 1) found
 WHERE (SELECT count(*) FROM hits) <= %(most)s::integer
 ORDER BY named.id LIMIT %(limit)s::integer)
UNION ALL
(SELECT e.id FROM entity e
 WHERE (SELECT count(*) FROM hits) > %(most)s::integer AND {{listed}} AND {{called}}
 ORDER BY e.id LIMIT %(limit)s::integer);

-- name: portraits
-- What is readable of entities: their pages, how many facts with which average confidence, where, and by which names; those that a person
-- added too.
SELECT e.id, e.type, e.name, e.name_hash, CASE WHEN %(owner)s::boolean OR EXISTS (
           SELECT FROM {{source}} WHERE m.id = e.memory_id AND {{readable}}) THEN e.memory_id END, e.created_at, f.facts, f.confidence, f.namespaces, n.names, n.hashes, n.namespaces
FROM entity e
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE m.kind <> 'entity') AS facts, avg(m.confidence) FILTER (WHERE m.kind <> 'entity') AS confidence,
           array_agg(DISTINCT m.namespace) AS namespaces
    FROM mention x CROSS JOIN LATERAL (SELECT m.* FROM {{source}} WHERE m.id = x.memory_id AND {{readable}} LIMIT 1) m
    WHERE x.tenant_id = %(tenant)s AND x.entity_id = e.id) f
CROSS JOIN LATERAL (
    SELECT array_agg(u.alias ORDER BY u.id, u.namespace) AS names, array_agg(u.alias_hash ORDER BY u.id, u.namespace) AS hashes,
           array_agg(u.namespace ORDER BY u.id, u.namespace) AS namespaces
    FROM (SELECT DISTINCT a.id, a.alias, a.alias_hash, m.namespace
          FROM entity_alias a JOIN alias_source s ON s.tenant_id = %(tenant)s AND s.alias_id = a.id
          CROSS JOIN LATERAL (SELECT m.* FROM {{source}} WHERE m.id = s.memory_id AND {{readable}} LIMIT 1) m
          WHERE a.tenant_id = %(tenant)s AND a.entity_id = e.id AND NOT a.removed
          UNION
          SELECT a.id, a.alias, a.alias_hash, NULL FROM entity_alias a
          WHERE a.tenant_id = %(tenant)s AND a.entity_id = e.id AND NOT a.removed AND (a.added OR %(owner)s::boolean)) u) n
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.merged_into IS NULL AND e.id = ANY(%(ids)s::uuid[])
  AND (f.namespaces IS NOT NULL OR %(owner)s::boolean);

-- name: facts
-- What the readable memories say that mention an entity, its page apart, the newest first.
SELECT {{memory_row}}
FROM mention x JOIN {{source}} ON m.id = x.memory_id LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE x.tenant_id = %(tenant)s AND x.entity_id = %(entity)s AND m.kind <> 'entity' AND {{readable}}
ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s::integer;

-- fragment: holding
CROSS JOIN LATERAL (SELECT FROM {{source}} WHERE m.id = r.memory_id AND {{readable}} LIMIT 1) said
WHERE r.tenant_id = %(tenant)s AND r.agent_id = %(agent)s AND r.subject_id <> r.object_id AND r.created_at <= %(now)s
  AND (r.other_memory_id IS NULL OR EXISTS (SELECT FROM {{source}} WHERE m.id = r.other_memory_id AND {{readable}} OFFSET 0))

-- fragment: related
SELECT r.id, r.subject_id, r.predicate, r.object_id, r.derived, r.memory_id, r.other_memory_id

-- fragment: next_related
r.id > %(after)s::uuid AND (%(predicate)s::text IS NULL OR r.predicate = %(predicate)s) AND (%(derived)s::boolean OR NOT r.derived)

-- name: relations
-- What holds between entities, as far as all the memories that say it are readable.
{{related}}
FROM relation r {{holding}} AND {{next_related}}
ORDER BY r.id LIMIT %(limit)s::integer;

-- name: relations_of
-- What holds between an entity and others, as far as all the memories that say it are readable.
{{related}}
FROM (SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.subject_id = %(entity)s
      UNION
      SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.object_id = %(entity)s) r
{{holding}} AND {{next_related}}
ORDER BY r.id LIMIT %(limit)s::integer;

-- name: around
-- What was said to hold between certain entities and others, as far as the memories are readable; the oldest first.
{{related}}
FROM (SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.subject_id = ANY(%(entities)s::uuid[])
      UNION
      SELECT o.* FROM relation o WHERE o.tenant_id = %(tenant)s AND o.object_id = ANY(%(entities)s::uuid[])) r
{{holding}} AND NOT r.derived
ORDER BY r.id LIMIT %(limit)s::integer;

-- name: premises
-- What relations follow from.
SELECT d.relation_id, d.premise_id FROM derivation d WHERE d.tenant_id = %(tenant)s AND d.relation_id = ANY(%(ids)s::uuid[])
ORDER BY d.relation_id, d.premise_id;

-- name: sayings
-- Memories that say what holds, as they were at the moment asked about.
SELECT m.id, m.namespace, m.content, m.subject, m.predicate, m.speaker, m.labels, m.tags, m.metadata, m.confidence, m.valid_from, m.invalidated_at
FROM {{source}} WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]);

-- name: export_names
-- Which entities memories mention by which names, the own name of each first.
SELECT s.memory_id, e.id, e.type, a.alias, a.given, a.alias_hash = e.name_hash
FROM alias_source s JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.id = s.alias_id
JOIN mention n ON n.tenant_id = %(tenant)s AND n.memory_id = s.memory_id AND n.entity_id = a.entity_id
JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = a.entity_id AND e.merged_into IS NULL
WHERE s.tenant_id = %(tenant)s AND s.memory_id = ANY(%(ids)s::uuid[])
ORDER BY s.memory_id, e.id, a.alias_hash <> e.name_hash, a.id;

-- name: export_by_hand
-- The names of entities that a person added, and those that one took from them.
SELECT a.entity_id, a.alias, a.removed FROM entity_alias a
WHERE a.tenant_id = %(tenant)s AND a.entity_id = ANY(%(entities)s::uuid[]) AND (a.added OR a.removed)
ORDER BY a.entity_id, a.id;

-- name: export_relations
-- What memories say holds.
SELECT r.memory_id, r.subject_id, r.predicate, r.object_id FROM relation r
WHERE r.tenant_id = %(tenant)s AND r.memory_id = ANY(%(ids)s::uuid[]) AND NOT r.derived AND r.subject_id <> r.object_id
ORDER BY r.memory_id, r.id;

-- name: import_entities
-- Which ids of entities are in use, and for what, where it is the agent's.
SELECT e.id, CASE WHEN e.agent_id = %(agent)s THEN e.type END, e.name, e.merged_into FROM entity e
WHERE e.tenant_id = %(tenant)s AND e.id = ANY(%(ids)s::uuid[]);

-- name: want_page
-- An entity shall have a page in a namespace.
UPDATE entity e SET page_namespace = %(namespace)s
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.id = %(entity)s AND e.merged_into IS NULL;

-- name: set_page
-- Which memory is the page of an entity.
UPDATE entity e SET memory_id = %(memory)s
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.id = %(entity)s
  AND EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = %(memory)s AND m.status <> 'tombstoned')
RETURNING e.id;

-- name: page
-- The page of an entity, where it shall be, and what the entity was merged into.
SELECT e.memory_id, e.page_namespace, e.merged_into FROM entity e
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.id = %(entity)s;

-- name: pages_made_from
-- The pages that were ever made from some memories, locked.
SELECT m.id FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.kind = 'entity' AND m.status <> 'tombstoned'
  AND m.id = ANY(ARRAY(SELECT g.memory_id FROM memory_origin g
                       WHERE g.tenant_id = %(tenant)s AND g.source_id = ANY(%(ids)s::uuid[]) AND g.whole))
  AND EXISTS (SELECT FROM entity e WHERE e.tenant_id = %(tenant)s AND e.memory_id = m.id)
ORDER BY m.id FOR NO KEY UPDATE;

-- name: hide_pages
-- Pages hold no longer.
UPDATE memory m
SET maturity = 'invalidated', invalidated_at = coalesce(m.invalidated_at, %(now)s), revision = m.revision + 1, updated_at = %(now)s,
    current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]);

-- name: paged
-- The next entities of a tenant that shall have a page, with their agents.
SELECT e.id, e.agent_id FROM entity e
WHERE e.tenant_id = %(tenant)s AND e.page_namespace IS NOT NULL AND e.id > %(after)s::uuid
ORDER BY e.id LIMIT %(limit)s::integer;
