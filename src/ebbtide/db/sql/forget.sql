-- Forgetting: what goes with a memory, what is left of it, what may not go, and the proof.

-- name: lock
-- One forgetting at a time in a tenant: receipts form a chain, and a hold that is being placed is waited for. So is whoever writes
-- what memories mention: an entity that nothing mentions any more goes.
SELECT pg_advisory_xact_lock(hashtextextended('ebbtide.forget:' || %(tenant)s::text, 0)),
       pg_advisory_xact_lock(hashtextextended('ebbtide.graph:' || %(tenant)s::text, 0));

-- name: lock_shared
-- Waits for a forgetting under way, so that nothing is written down of what is going.
SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.forget:' || %(tenant)s::text, 0));

-- name: doomed
-- Locks memories in the order of their ids; those that are forgotten already are left out.
SELECT m.id, m.agent_id AS agent, m.namespace, m.user_id AS "user", m.chat_id AS chat, m.sequence, m.session_id AS session, m.revision,
       m.content_hash, m.superseded_by, m.source
FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned'
ORDER BY m.id FOR NO KEY UPDATE;

-- fragment: meant
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND {{named}} AND {{filtered}} AND m.status <> 'tombstoned'

-- name: matching
-- The memories of a scope at any stage of their lives, forgotten ones excepted.
SELECT m.id, m.revision, m.namespace FROM memory m WHERE {{meant}} ORDER BY m.id;

-- name: matching_among
-- Those of certain memories that are in a scope. A test for NULL in one statement would keep both from their indexes.
SELECT m.id, m.revision, m.namespace FROM memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND {{meant}} ORDER BY m.id;

-- fragment: users
m.tenant_id = %(tenant)s
AND (m.user_id = %(user)s::text OR m.namespace = ANY(%(exact)s::text[]) OR m.namespace ^@ ANY(%(prefixes)s::text[]))

-- name: of_user
-- Every memory of a user, whichever agent's: said on the user's behalf, or in the user's own namespaces. Tombstones too.
SELECT m.id FROM memory m WHERE {{users}} ORDER BY m.id;

-- name: of_user_among
-- Those of certain memories that are a user's.
SELECT m.id FROM memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND {{users}} ORDER BY m.id;

-- name: of_tenant
-- Every memory of a tenant, tombstones too.
SELECT m.id FROM memory m WHERE m.tenant_id = %(tenant)s ORDER BY m.id;

-- name: excerpts
-- What memories are, and how what they say begins.
SELECT m.id, m.revision, m.namespace, m.kind, left(m.content, %(characters)s::integer) AS excerpt
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) ORDER BY m.id;

-- name: relink
-- Points what a memory that went had replaced, and earlier images of that, at what replaced it in turn. Where nothing did, and
-- another memory says the same, it is put away: only one statement of a text may be current.
WITH earlier AS (
    UPDATE memory_version v SET superseded_by = h.heir
    FROM unnest(%(gone)s::uuid[], %(heirs)s::uuid[]) AS h(gone, heir)
    WHERE v.tenant_id = %(tenant)s AND v.superseded_by = h.gone),
orphan AS (
    SELECT m.id, h.heir, row_number() OVER (PARTITION BY m.agent_id, m.namespace, m.content_hash, m.status, h.heir ORDER BY m.id DESC) AS place
    FROM memory m JOIN unnest(%(gone)s::uuid[], %(heirs)s::uuid[]) AS h(gone, heir) ON m.superseded_by = h.gone
    WHERE m.tenant_id = %(tenant)s)
UPDATE memory m
SET superseded_by = o.heir,
    status = CASE WHEN o.heir IS NULL AND m.status = 'active' AND (o.place > 1 OR EXISTS (
                      SELECT FROM memory twin
                      WHERE twin.tenant_id = %(tenant)s AND twin.agent_id = m.agent_id AND twin.namespace = m.namespace
                        AND twin.content_hash = m.content_hash AND twin.status = 'active' AND twin.superseded_by IS NULL))
                  THEN 'archived' ELSE m.status END
FROM orphan o WHERE m.tenant_id = %(tenant)s AND m.id = o.id
RETURNING m.id, m.status;

-- name: left_over
-- What stays of the sources that one text took the place of, where that text goes since another of its sources does.
SELECT s.id FROM memory_origin t JOIN memory s ON s.tenant_id = %(tenant)s AND s.id = t.source_id
WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) AND t.whole AND s.superseded_by = t.memory_id
  AND s.id <> ALL(%(ids)s::uuid[]) AND s.status <> 'tombstoned'
  AND EXISTS (SELECT FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = t.memory_id AND o.source_id = ANY(%(ids)s::uuid[]))
ORDER BY s.id FOR NO KEY UPDATE OF s;

-- name: revive
-- Lets memories hold again as they did before they were superseded, where nothing takes their place any more.
UPDATE memory m
SET maturity = v.maturity, confirmed_at = v.confirmed_at, invalidated_at = v.invalidated_at, revision = m.revision + 1,
    updated_at = %(now)s, current_since = greatest(%(now)s, m.current_since)
FROM (SELECT DISTINCT ON (e.id) e.id, e.maturity, e.confirmed_at, e.invalidated_at FROM memory_version e
      WHERE e.tenant_id = %(tenant)s AND e.id = ANY(%(ids)s::uuid[]) AND e.maturity <> 'superseded'
      ORDER BY e.id, e.revision DESC) v
WHERE m.tenant_id = %(tenant)s AND m.id = v.id AND m.superseded_by IS NULL AND m.maturity = 'superseded';

-- fragment: marks
CROSS JOIN LATERAL (
    SELECT 'tag' AS kind, t AS key, 'null'::jsonb AS value FROM unnest(s.tags) AS t
    UNION ALL SELECT 'label', t, 'null' FROM unnest(s.labels) AS t
    UNION ALL SELECT 'metadata', e.key, e.value FROM jsonb_each(s.metadata) AS e) k

-- fragment: at_first
CROSS JOIN LATERAL (SELECT v.tags, v.labels, v.metadata FROM memory_version v
                    WHERE v.tenant_id = %(tenant)s AND v.id = o.id ORDER BY v.revision LIMIT 1) s

-- fragment: without_lost
SET tags = ARRAY(SELECT t FROM unnest(m.tags) WITH ORDINALITY AS u(t, place)
                 WHERE (m.id, 'tag', t) NOT IN (SELECT lost.id, lost.kind, lost.key FROM lost) ORDER BY place),
    labels = ARRAY(SELECT t FROM unnest(m.labels) WITH ORDINALITY AS u(t, place)
                   WHERE (m.id, 'label', t) NOT IN (SELECT lost.id, lost.kind, lost.key FROM lost) ORDER BY place),
    metadata = m.metadata - ARRAY(SELECT lost.key FROM lost WHERE lost.id = m.id AND lost.kind = 'metadata' AND lost.value = m.metadata -> lost.key)
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(ARRAY(SELECT lost.id FROM lost))

-- name: take_back
-- Where memories that go were merged into others, those lose the marks that they have from nobody else: what they had at first stays,
-- and what others bring that were merged into them. A merge keeps an image of both sides that ends at the same moment.
WITH RECURSIVE line AS (
    SELECT g.id AS gone, g.id, g.superseded_by AS heir FROM memory g WHERE g.tenant_id = %(tenant)s AND g.id = ANY(%(ids)s::uuid[])
    UNION
    SELECT line.gone, m.id, m.superseded_by
    FROM line CROSS JOIN LATERAL (
        SELECT m.id, m.superseded_by FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = line.heir LIMIT 1) m
    WHERE EXISTS (SELECT FROM memory_version a JOIN memory_version b ON b.tenant_id = %(tenant)s AND b.id = line.heir
                  WHERE a.tenant_id = %(tenant)s AND a.id = line.id AND a.superseded_by IS NULL AND b.current_until = a.current_until)),
heir AS (SELECT line.id, line.gone FROM line WHERE line.id <> ALL(%(ids)s::uuid[])),
lost AS (
    SELECT heir.id, k.kind, k.key, k.value
    FROM heir JOIN memory s ON s.tenant_id = %(tenant)s AND s.id = heir.gone AND s.id = ANY(%(ids)s::uuid[]) {{marks}}
    EXCEPT SELECT o.id, k.kind, k.key, k.value FROM heir o {{at_first}} {{marks}}
    EXCEPT SELECT line.heir, k.kind, k.key, k.value FROM heir o JOIN line ON line.id = o.id {{at_first}} {{marks}}
    EXCEPT SELECT s.superseded_by, k.kind, k.key, k.value
           FROM memory s {{marks}}
           WHERE s.tenant_id = %(tenant)s AND s.superseded_by = ANY(ARRAY(SELECT heir.id FROM heir)) AND s.id NOT IN (SELECT line.id FROM line)),
images AS (
    UPDATE memory_version m
    {{without_lost}})
UPDATE memory m
{{without_lost}};

-- name: clean
-- Everything that was made from memories goes with them; answers with how much went from where, by memory, and with the entities
-- that were mentioned and the names that were used. A relation goes with those that it was derived from.
WITH RECURSIVE resting AS (
    SELECT r.id, r.memory_id FROM relation r WHERE r.tenant_id = %(tenant)s AND r.memory_id = ANY(%(ids)s::uuid[])
    UNION
    SELECT r.id, r.other_memory_id FROM relation r WHERE r.tenant_id = %(tenant)s AND r.other_memory_id = ANY(%(ids)s::uuid[])
    UNION
    SELECT d.relation_id, resting.memory_id FROM resting JOIN derivation d ON d.tenant_id = %(tenant)s AND d.premise_id = resting.id),
relations AS (DELETE FROM relation t WHERE t.tenant_id = %(tenant)s AND t.id IN (SELECT resting.id FROM resting) RETURNING t.id),
mentions AS (DELETE FROM mention t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id, t.entity_id),
usages AS (DELETE FROM alias_source t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id, t.alias_id),
changes AS (DELETE FROM entity_change_item t WHERE t.tenant_id = %(tenant)s AND t.item_id = ANY(%(ids)s::uuid[]) RETURNING t.item_id AS id),
versions AS (DELETE FROM memory_version t WHERE t.tenant_id = %(tenant)s AND t.id = ANY(%(ids)s::uuid[]) RETURNING t.id),
answers AS (DELETE FROM idempotency t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
strengths AS (DELETE FROM strength t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
recalls AS (DELETE FROM recall_hit t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
older AS (DELETE FROM conflict t WHERE t.tenant_id = %(tenant)s AND t.older_id = ANY(%(ids)s::uuid[]) RETURNING t.older_id AS id),
newer AS (DELETE FROM conflict t WHERE t.tenant_id = %(tenant)s AND t.newer_id = ANY(%(ids)s::uuid[]) AND t.older_id <> ALL(%(ids)s::uuid[])
          RETURNING t.newer_id AS id),
links AS (DELETE FROM memory_link t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
linked AS (DELETE FROM memory_link t WHERE t.tenant_id = %(tenant)s AND t.other_id = ANY(%(ids)s::uuid[]) AND t.memory_id <> ALL(%(ids)s::uuid[])
           RETURNING t.other_id AS id),
made AS (DELETE FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
sources AS (DELETE FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND t.source_id = ANY(%(ids)s::uuid[]) AND t.memory_id <> ALL(%(ids)s::uuid[])
            RETURNING t.source_id AS id),
passages AS (DELETE FROM passage t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[]) RETURNING t.memory_id AS id),
pages AS (UPDATE entity t SET memory_id = NULL FROM entity o
          WHERE t.tenant_id = %(tenant)s AND o.tenant_id = %(tenant)s AND o.id = t.id AND o.memory_id = ANY(%(ids)s::uuid[])
          RETURNING o.memory_id AS id)
SELECT place, id, count(*)::integer, NULL::uuid[]
FROM (SELECT 'versions' AS place, id FROM versions UNION ALL SELECT 'idempotency answers', id FROM answers
      UNION ALL SELECT 'strength', id FROM strengths UNION ALL SELECT 'recall log', id FROM recalls
      UNION ALL SELECT 'conflicts', id FROM older UNION ALL SELECT 'conflicts', id FROM newer
      UNION ALL SELECT 'near duplicates', id FROM links UNION ALL SELECT 'near duplicates', id FROM linked
      UNION ALL SELECT 'origins', id FROM made UNION ALL SELECT 'origins', id FROM sources
      UNION ALL SELECT 'passages', id FROM passages UNION ALL SELECT 'entity pages', id FROM pages
      UNION ALL SELECT 'entity changes', id FROM changes
      UNION ALL SELECT DISTINCT ON (resting.id) 'relations', resting.memory_id FROM relations JOIN resting ON resting.id = relations.id) gone
GROUP BY place, id
UNION ALL
SELECT 'mentions', id, count(*)::integer, array_agg(entity_id) FROM mentions GROUP BY id
UNION ALL
SELECT 'names', id, count(*)::integer, array_agg(alias_id) FROM usages GROUP BY id;

-- name: drop_names
-- Of the names that were used, those that no memory uses any more; those that a person added stay as long as their entity does.
-- Answers with whose they were: since a split, that need not be what their memory mentions.
DELETE FROM entity_alias a
WHERE a.tenant_id = %(tenant)s AND a.id = ANY(%(aliases)s::uuid[]) AND NOT (a.added AND NOT a.removed)
  AND NOT EXISTS (SELECT FROM alias_source s WHERE s.tenant_id = %(tenant)s AND s.alias_id = a.id)
RETURNING a.entity_id, a.id;

-- fragment: family
-- The entities themselves, what they were merged into, and what was merged into those.
line AS (
    SELECT e.id, e.merged_into FROM entity e WHERE e.tenant_id = %(tenant)s AND e.id = ANY(%(entities)s::uuid[])
    UNION
    SELECT e.id, e.merged_into FROM line JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = line.merged_into),
family AS (
    SELECT line.id AS root, line.id FROM line WHERE line.merged_into IS NULL
    UNION
    SELECT family.root, e.id FROM family JOIN entity e ON e.tenant_id = %(tenant)s AND e.merged_into = family.id)

-- name: rename_entities
-- Entities whose names went get the oldest one that is left of theirs.
WITH RECURSIVE {{family}}
UPDATE entity e SET name = a.alias, name_hash = a.alias_hash
FROM family CROSS JOIN LATERAL (
    SELECT a.alias, a.alias_hash FROM entity_alias a
    WHERE a.tenant_id = %(tenant)s AND a.entity_id = family.id AND NOT a.removed ORDER BY a.given DESC, a.id LIMIT 1) a
WHERE e.tenant_id = %(tenant)s AND e.id = family.id
  AND NOT EXISTS (SELECT FROM family kin JOIN entity_alias o ON o.tenant_id = %(tenant)s AND o.entity_id = kin.id
                  WHERE kin.root = family.root AND o.alias_hash = e.name_hash);

-- name: clean_turns
-- Memories that were turns of conversations are none any more.
DELETE FROM turn t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])
RETURNING t.memory_id, t.agent_id, t.chat_id, t.branch;

-- name: drop_branches
-- Of branches that lost a turn, those that have none left and that no other goes on from; answers with what they went on from.
DELETE FROM branch b USING unnest(%(agents)s::text[], %(chats)s::text[], %(names)s::text[]) AS o(agent_id, chat_id, name)
WHERE b.tenant_id = %(tenant)s AND b.agent_id = o.agent_id AND b.chat_id = o.chat_id AND b.name = o.name
  AND NOT EXISTS (SELECT FROM turn t WHERE t.tenant_id = %(tenant)s AND t.agent_id = b.agent_id AND t.chat_id = b.chat_id AND t.branch = b.name)
  AND NOT EXISTS (SELECT FROM branch c WHERE c.tenant_id = %(tenant)s AND c.agent_id = b.agent_id AND c.chat_id = b.chat_id AND c.parent = b.name)
RETURNING b.agent_id, b.chat_id, b.parent;

-- name: drop_entities
-- Entities that nothing speaks of any more go, with all that was merged into them; so does what is left without a name.
WITH RECURSIVE {{family}},
spoken AS (
    SELECT family.root FROM family
    WHERE EXISTS (SELECT FROM mention n WHERE n.tenant_id = %(tenant)s AND n.entity_id = family.id)
       OR EXISTS (SELECT FROM relation r WHERE r.tenant_id = %(tenant)s AND r.subject_id = family.id)
       OR EXISTS (SELECT FROM relation r WHERE r.tenant_id = %(tenant)s AND r.object_id = family.id)),
named AS (
    SELECT family.id FROM family JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = family.id
    WHERE EXISTS (SELECT FROM family kin JOIN entity_alias a ON a.tenant_id = %(tenant)s AND a.entity_id = kin.id
                  WHERE kin.root = family.root AND a.alias_hash = e.name_hash))
DELETE FROM entity e USING family
WHERE e.tenant_id = %(tenant)s AND e.id = family.id
  AND (family.root NOT IN (SELECT spoken.root FROM spoken) OR family.id NOT IN (SELECT named.id FROM named))
RETURNING e.id;

-- name: drop_documents
-- Of some documents, those of which no passage is left.
DELETE FROM document d
WHERE d.tenant_id = %(tenant)s AND d.id = ANY(%(documents)s::uuid[])
  AND NOT EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.source = d.id::text)
RETURNING d.id;

-- name: retitle_documents
-- Documents whose title none of their passages says any more are called by their paths.
UPDATE document d SET title = regexp_replace(d.path, '^.*/|(?<=[^/])\.[^./]*$', '', 'g')
WHERE d.tenant_id = %(tenant)s AND d.id = ANY(%(documents)s::uuid[])
  AND NOT EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.source = d.id::text
                                         AND (m.metadata ->> 'title' = d.title OR m.metadata ->> 'breadcrumb' = d.title
                                              OR m.metadata ->> 'breadcrumb' ^@ (d.title || ' > ')));

-- fragment: stones
stones AS (
    INSERT INTO tombstone (tenant_id, id, revision, deleted_at)
    SELECT %(tenant)s, m.id, m.revision + 1, %(now)s FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned'
    ON CONFLICT DO NOTHING)

-- name: bury
-- Leaves tombstones for ever, and of memories their place and revision, and nothing of what they said.
WITH {{stones}}
UPDATE memory m
SET status = 'tombstoned', revision = m.revision + 1, deleted_at = %(now)s, updated_at = %(now)s, content = '',
    content_hash = '', search = '', embedding = NULL, context_embedding = NULL, embedding_pending = false, labels = '{}', tags = '{}',
    metadata = '{}', source = NULL, subject = NULL, predicate = NULL, speaker = NULL, personal_data = '{}', superseded_by = NULL,
    tokens = NULL, counted_by = NULL, outdated_at = NULL,
    current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status <> 'tombstoned';

-- name: remove
-- Leaves tombstones for ever, and nothing of memories in their own table.
WITH {{stones}}
DELETE FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]);

-- name: fence_sessions
-- Raises the revisions of sessions, so that work which started before is turned away.
INSERT INTO session AS s (tenant_id, agent_id, session_id, user_id, revision, created_at)
SELECT %(tenant)s, f.agent, f.session, f.person, 1 + coalesce((SELECT t.session_revision FROM tenant t WHERE t.tenant_id = %(tenant)s), 1),
       %(now)s
FROM unnest(%(agents)s::text[], %(sessions)s::text[], %(users)s::text[]) AS f(agent, session, person)
ORDER BY f.agent, f.session
ON CONFLICT (tenant_id, agent_id, session_id) DO UPDATE SET revision = s.revision + 1;

-- name: session_revision
-- The revision of an agent's session; where nothing of it was forgotten, that of all such sessions of the tenant.
SELECT coalesce(
    (SELECT s.revision FROM session s WHERE s.tenant_id = %(tenant)s AND s.agent_id = %(agent)s AND s.session_id = %(session)s),
    (SELECT t.session_revision FROM tenant t WHERE t.tenant_id = %(tenant)s), 1);

-- name: turns_after
-- The turns of conversations that come right after one that went, with their own vectors and those now before them. Several
-- memories may share a place; each of them is a turn.
WITH following AS MATERIALIZED (
    SELECT DISTINCT g.agent_id, g.chat_id, n.sequence
    FROM unnest(%(agents)s::text[], %(chats)s::text[], %(sequences)s::integer[]) AS g(agent_id, chat_id, sequence)
    CROSS JOIN LATERAL (
        SELECT n.sequence FROM memory n
        WHERE n.tenant_id = %(tenant)s AND n.agent_id = g.agent_id AND n.chat_id = g.chat_id AND n.sequence > g.sequence
          AND n.embedding IS NOT NULL AND n.status = 'active'
        ORDER BY n.sequence LIMIT 1) n)
SELECT n.id, n.embedding, p.embedding
FROM following f
CROSS JOIN LATERAL (
    SELECT n.id, n.embedding FROM memory n
    WHERE n.tenant_id = %(tenant)s AND n.agent_id = f.agent_id AND n.chat_id = f.chat_id AND n.sequence = f.sequence
      AND n.embedding IS NOT NULL AND n.status = 'active' OFFSET 0) n
LEFT JOIN LATERAL (
    SELECT b.embedding FROM memory b
    WHERE b.tenant_id = %(tenant)s AND b.agent_id = f.agent_id AND b.chat_id = f.chat_id AND b.sequence < f.sequence
      AND b.embedding IS NOT NULL AND b.status = 'active'
    ORDER BY b.sequence DESC, b.id DESC LIMIT 1) p ON true;

-- name: clear_past_context
-- Earlier images of later turns, and later turns that are put away, may have been made with one that went: what they mean in
-- its light goes too. That is all after the first one that went of a conversation, each looked at once.
WITH gone AS (
    SELECT g.agent_id, g.chat_id, min(g.sequence) AS sequence
    FROM unnest(%(agents)s::text[], %(chats)s::text[], %(sequences)s::integer[]) AS g(agent_id, chat_id, sequence)
    GROUP BY g.agent_id, g.chat_id),
images AS (
    UPDATE memory_version v SET context_embedding = NULL FROM gone
    WHERE v.tenant_id = %(tenant)s AND v.agent_id = gone.agent_id AND v.chat_id = gone.chat_id AND v.sequence > gone.sequence
      AND v.context_embedding IS NOT NULL)
UPDATE memory m SET context_embedding = NULL FROM gone
WHERE m.tenant_id = %(tenant)s AND m.agent_id = gone.agent_id AND m.chat_id = gone.chat_id AND m.sequence > gone.sequence
  AND m.status <> 'active' AND m.context_embedding IS NOT NULL;

-- name: last_receipt
-- The end of the chain of receipts.
SELECT r.number, r.digest FROM receipt r WHERE r.tenant_id = %(tenant)s ORDER BY r.number DESC LIMIT 1;

-- name: keep_receipts
-- Adds links to the chain.
INSERT INTO receipt (tenant_id, id, number, memory_id, body, previous_digest, digest, created_at)
SELECT %(tenant)s, r.id, r.number, r.memory_id, r.body, r.previous_digest, r.digest, %(now)s
FROM unnest(%(receipt_ids)s::uuid[], %(numbers)s::bigint[], %(ids)s::uuid[], %(bodies)s::text[], %(previous_digests)s::bytea[],
            %(digests)s::bytea[]) AS r(id, number, memory_id, body, previous_digest, digest);

-- name: numbered
-- The memories that links of the chain speak of.
SELECT r.memory_id FROM receipt r
WHERE r.tenant_id = %(tenant)s AND r.number BETWEEN %(first)s::bigint AND %(last)s::bigint AND r.memory_id IS NOT NULL;

-- name: receipts
-- Links of the chain, the newest first.
SELECT r.number, r.body, r.previous_digest, r.digest FROM receipt r
WHERE r.tenant_id = %(tenant)s AND r.number < %(before)s::bigint
ORDER BY r.number DESC LIMIT %(limit)s::integer;

-- name: receipts_by
-- The links of one id, or about one memory.
SELECT r.number, r.body, r.previous_digest, r.digest FROM receipt r
WHERE r.tenant_id = %(tenant)s AND r.id = %(id)s::uuid
UNION ALL
SELECT r.number, r.body, r.previous_digest, r.digest FROM receipt r
WHERE r.tenant_id = %(tenant)s AND r.memory_id = %(id)s::uuid AND r.id <> %(id)s::uuid;

-- name: broken_receipts
-- Links that do not follow from the one before, or whose digests are not those of their bodies.
SELECT c.number, c.id FROM (
    SELECT r.*, lag(r.digest, 1, decode(repeat('00', 32), 'hex')) OVER chain AS before, lag(r.number, 1, 0::bigint) OVER chain AS number_before
    FROM receipt r WHERE r.tenant_id = %(tenant)s WINDOW chain AS (ORDER BY r.number)) c
WHERE c.digest IS DISTINCT FROM sha256(c.previous_digest || convert_to(c.body, 'UTF8')) OR c.previous_digest <> c.before
   OR c.number <> c.number_before + 1
ORDER BY c.number LIMIT %(limit)s::integer;

-- name: traces
-- What the store still has of forgotten memories, by place; all but the tombstones has to be 0.
SELECT
    (SELECT count(*) FROM tombstone t WHERE t.tenant_id = %(tenant)s AND t.id = ANY(%(ids)s::uuid[])) AS tombstones,
    (SELECT count(*) FROM memory t WHERE t.tenant_id = %(tenant)s AND t.id = ANY(%(ids)s::uuid[]) AND NOT (
        t.status = 'tombstoned' AND t.content = '' AND t.content_hash = '' AND t.search = '' AND t.embedding IS NULL
        AND t.context_embedding IS NULL AND NOT t.embedding_pending AND t.labels = '{}' AND t.tags = '{}' AND t.metadata = '{}'
        AND num_nonnulls(t.source, t.subject, t.predicate, t.speaker, t.superseded_by, t.tokens, t.outdated_at) = 0 AND t.personal_data = '{}')) AS memory,
    (SELECT count(*) FROM memory t WHERE t.tenant_id = %(tenant)s AND t.superseded_by = ANY(%(ids)s::uuid[])) AS links,
    (SELECT count(*) FROM memory_version t WHERE t.tenant_id = %(tenant)s AND (t.id = ANY(%(ids)s::uuid[]) OR t.superseded_by = ANY(%(ids)s::uuid[]))) AS versions,
    (SELECT count(*) FROM idempotency t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS idempotency_answers,
    (SELECT count(*) FROM strength t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS strength,
    (SELECT count(*) FROM recall_hit t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS recall_log,
    (SELECT count(*) FROM conflict t WHERE t.tenant_id = %(tenant)s AND (t.older_id = ANY(%(ids)s::uuid[]) OR t.newer_id = ANY(%(ids)s::uuid[]))) AS conflicts,
    (SELECT count(*) FROM memory_link t WHERE t.tenant_id = %(tenant)s AND (t.memory_id = ANY(%(ids)s::uuid[]) OR t.other_id = ANY(%(ids)s::uuid[])))
        AS near_duplicates,
    (SELECT count(*) FROM memory_origin t WHERE t.tenant_id = %(tenant)s AND (t.memory_id = ANY(%(ids)s::uuid[]) OR t.source_id = ANY(%(ids)s::uuid[])))
        AS origins,
    (SELECT count(*) FROM passage t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS passages,
    (SELECT count(*) FROM mention t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS mentions,
    (SELECT count(*) FROM alias_source t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS names,
    (SELECT count(*) FROM entity_change_item t WHERE t.tenant_id = %(tenant)s AND t.item_id = ANY(%(ids)s::uuid[])) AS entity_changes,
    (SELECT count(*) FROM relation t WHERE t.tenant_id = %(tenant)s AND (t.memory_id = ANY(%(ids)s::uuid[]) OR t.other_memory_id = ANY(%(ids)s::uuid[])))
        AS relations,
    (SELECT count(*) FROM entity t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS entity_pages,
    (SELECT count(*) FROM turn t WHERE t.tenant_id = %(tenant)s AND t.memory_id = ANY(%(ids)s::uuid[])) AS turns;

-- name: audited
-- Which rows of the audit are there.
SELECT a.id FROM audit a WHERE a.tenant_id = %(tenant)s AND a.id = ANY(%(ids)s::uuid[]);

-- name: place_hold
-- Begins a hold.
INSERT INTO legal_hold (tenant_id, id, reason, filter, placed_at) VALUES (%(tenant)s, %(id)s, %(reason)s, %(covers)s::jsonb, %(now)s);

-- name: holds
-- Holds, the newest first; those that last, unless the released ones are asked for too.
SELECT h.id, h.reason, h.filter AS covers, h.placed_at, h.released_at FROM legal_hold h
WHERE h.tenant_id = %(tenant)s AND (%(released)s::boolean OR h.released_at IS NULL)
ORDER BY h.placed_at DESC, h.id DESC;

-- name: release_hold
-- Ends a hold that lasts.
UPDATE legal_hold h SET released_at = %(now)s WHERE h.tenant_id = %(tenant)s AND h.id = %(id)s AND h.released_at IS NULL
RETURNING h.id, h.reason, h.filter AS covers, h.placed_at, h.released_at;

-- name: clean_user
-- What the store learned about a user apart from memories; sessions stay as fences that name nobody. Branches that were begun in the
-- user's own namespaces go, unless something is left that was said on them, or on what goes on from them. Nor is the page of an entity
-- that others speak of too wanted there any more.
WITH RECURSIVE kept AS (
    SELECT b.agent_id, b.chat_id, b.name FROM branch b
    WHERE b.tenant_id = %(tenant)s AND (
        NOT (b.namespace = ANY(%(exact)s::text[]) OR b.namespace ^@ ANY(%(prefixes)s::text[]))
        OR EXISTS (SELECT FROM turn t WHERE t.tenant_id = %(tenant)s AND t.agent_id = b.agent_id AND t.chat_id = b.chat_id AND t.branch = b.name))
    UNION
    SELECT b.agent_id, b.chat_id, b.parent FROM kept k
    JOIN branch b ON b.tenant_id = %(tenant)s AND b.agent_id = k.agent_id AND b.chat_id = k.chat_id AND b.name = k.name),
branches AS (DELETE FROM branch b WHERE b.tenant_id = %(tenant)s AND NOT EXISTS (
    SELECT FROM kept k WHERE k.agent_id = b.agent_id AND k.chat_id = b.chat_id AND k.name = b.name) RETURNING 1),
recalls AS (DELETE FROM recall_log t WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s::text RETURNING t.id),
hits AS (DELETE FROM recall_hit t USING recalls WHERE t.tenant_id = %(tenant)s AND t.recall_id = recalls.id RETURNING 1),
arms AS (DELETE FROM serendipity_arm t WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s::text RETURNING 1),
routes AS (DELETE FROM route_statistic t WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s::text RETURNING 1),
pages AS (UPDATE entity e SET page_namespace = NULL
          WHERE e.tenant_id = %(tenant)s AND (e.page_namespace = ANY(%(exact)s::text[]) OR e.page_namespace ^@ ANY(%(prefixes)s::text[]))),
sessions AS (UPDATE session t SET user_id = NULL, revision = t.revision + 1 WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s::text
             RETURNING 1)
SELECT (SELECT count(*) FROM recalls) AS recalls, (SELECT count(*) FROM hits) AS recall_log, (SELECT count(*) FROM arms) AS serendipity,
       (SELECT count(*) FROM routes) AS routing, (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM branches) AS branches;

-- name: clean_tenant
-- Everything of a tenant but tombstones, receipts, the audit and the tenant's name. Sessions without a name fence late work as
-- those with one did: their revision is above all there were.
WITH keys AS (DELETE FROM api_key t WHERE t.tenant_id = %(tenant)s RETURNING 1),
policies AS (DELETE FROM policy t WHERE t.tenant_id = %(tenant)s RETURNING 1),
rules AS (DELETE FROM namespace_rule t WHERE t.tenant_id = %(tenant)s RETURNING 1),
profiles AS (DELETE FROM profile t WHERE t.tenant_id = %(tenant)s RETURNING 1),
derivations AS (DELETE FROM derivation t WHERE t.tenant_id = %(tenant)s RETURNING 1),
relations AS (DELETE FROM relation t WHERE t.tenant_id = %(tenant)s RETURNING 1),
changes AS (DELETE FROM entity_change t WHERE t.tenant_id = %(tenant)s RETURNING 1),
items AS (DELETE FROM entity_change_item t WHERE t.tenant_id = %(tenant)s RETURNING 1),
keys_of_names AS (DELETE FROM entity_key t WHERE t.tenant_id = %(tenant)s RETURNING 1),
words_of_names AS (DELETE FROM entity_word t WHERE t.tenant_id = %(tenant)s RETURNING 1),
sources AS (DELETE FROM alias_source t WHERE t.tenant_id = %(tenant)s RETURNING 1),
aliases AS (DELETE FROM entity_alias t WHERE t.tenant_id = %(tenant)s RETURNING 1),
mentions AS (DELETE FROM mention t WHERE t.tenant_id = %(tenant)s RETURNING 1),
entities AS (DELETE FROM entity t WHERE t.tenant_id = %(tenant)s RETURNING 1),
sessions AS (DELETE FROM session t WHERE t.tenant_id = %(tenant)s RETURNING t.revision),
turns AS (DELETE FROM turn t WHERE t.tenant_id = %(tenant)s RETURNING 1),
passages AS (DELETE FROM passage t WHERE t.tenant_id = %(tenant)s RETURNING 1),
branches AS (DELETE FROM branch t WHERE t.tenant_id = %(tenant)s RETURNING 1),
documents AS (DELETE FROM document t WHERE t.tenant_id = %(tenant)s RETURNING 1),
holds AS (DELETE FROM legal_hold t WHERE t.tenant_id = %(tenant)s RETURNING 1),
answers AS (DELETE FROM idempotency t WHERE t.tenant_id = %(tenant)s RETURNING 1),
recalls AS (DELETE FROM recall_log t WHERE t.tenant_id = %(tenant)s RETURNING 1),
hits AS (DELETE FROM recall_hit t WHERE t.tenant_id = %(tenant)s RETURNING 1),
arms AS (DELETE FROM serendipity_arm t WHERE t.tenant_id = %(tenant)s RETURNING 1),
routes AS (DELETE FROM route_statistic t WHERE t.tenant_id = %(tenant)s RETURNING 1),
settings AS (UPDATE tenant t SET settings = '{}', governance = NULL,
                                 session_revision = 1 + greatest(t.session_revision, (SELECT max(revision) FROM sessions))
             WHERE t.tenant_id = %(tenant)s RETURNING 1)
SELECT (SELECT count(*) FROM keys) AS keys, (SELECT count(*) FROM policies) AS policies, (SELECT count(*) FROM rules) AS rules,
       (SELECT count(*) FROM profiles) AS profiles, (SELECT count(*) FROM entities) AS entities, (SELECT count(*) FROM sessions) AS sessions,
       (SELECT count(*) FROM turns) AS turns, (SELECT count(*) FROM branches) AS branches,
       (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM holds) AS holds,
       (SELECT count(*) FROM answers) AS idempotency_answers, (SELECT count(*) FROM recalls) AS recalls,
       (SELECT count(*) FROM hits) AS recall_log, (SELECT count(*) FROM arms) AS serendipity,
       (SELECT count(*) FROM routes) AS routing;

-- name: purgeable
-- Tombstones that have lain longer than the grace period.
SELECT m.id FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.status = 'tombstoned' AND m.deleted_at < %(before)s
ORDER BY m.id LIMIT %(limit)s::integer;

-- name: namespaces
-- Every namespace of a tenant that holds a memory.
SELECT DISTINCT m.namespace FROM memory m WHERE m.tenant_id = %(tenant)s AND m.status <> 'tombstoned';

-- name: outlived
-- The next memories of a namespace that were stored before a moment, except those that a hold spares.
SELECT m.id FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.namespace = %(namespace)s AND m.created_at < %(before)s AND m.status <> 'tombstoned'
  AND m.id <> ALL(%(spared)s::uuid[])
ORDER BY m.id LIMIT %(limit)s::integer;
