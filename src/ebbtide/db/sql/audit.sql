-- The audit: what was done and by whom, and the chain of seals that proves it unchanged.

-- fragment: audit_digest
sha256(convert_to(jsonb_build_array(a.tenant_id, a.id, extract(epoch FROM a.at)::text, a.agent_id, a.user_id, a.action, a.memory_id,
                                    a.detail)::text, 'UTF8'))

-- fragment: seal_digest
sha256(s.previous_digest || convert_to(jsonb_build_array(s.number, s.after_number, s.last_number, s.row_count,
                                                         extract(epoch FROM s.sealed_at)::text)::text, 'UTF8') || s.row_digests)

-- name: write
-- One row a memory written, changed or forgotten, in the transaction that did it, which a sealer waits for.
WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.audit:' || %(tenant)s::text, 0)))
INSERT INTO audit (tenant_id, id, at, agent_id, user_id, action, memory_id, detail, digest)
SELECT a.tenant_id, a.id, a.at, a.agent_id, a.user_id, a.action, a.memory_id, a.detail, {{audit_digest}}
FROM fence, (
    SELECT %(tenant)s::text AS tenant_id, r.id, %(now)s::timestamptz AS at, %(agent)s::text AS agent_id, %(user)s::text AS user_id,
           %(action)s::text AS action, r.memory_id, r.detail
    FROM unnest(%(audit_ids)s::uuid[], %(ids)s::uuid[], %(details)s::jsonb[]) AS r(id, memory_id, detail)) a;

-- name: write_reads
-- One row a read, which names the memories that came back and nothing of what they say.
WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.audit:' || %(tenant)s::text, 0)))
INSERT INTO audit (tenant_id, id, at, agent_id, user_id, action, memory_id, detail, digest)
SELECT a.tenant_id, a.id, a.at, a.agent_id, a.user_id, a.action, a.memory_id, a.detail, {{audit_digest}}
FROM fence, (
    SELECT %(tenant)s::text AS tenant_id, r.id, r.at, r.agent_id, r.user_id, 'read'::text AS action, NULL::uuid AS memory_id, r.detail
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(id uuid, at timestamptz, agent_id text, user_id text, detail jsonb)) a;

-- name: write_recalls
-- When something was asked, by whom and under which profile.
INSERT INTO recall_log (tenant_id, id, agent_id, user_id, profile, signature, created_at)
SELECT %(tenant)s, r.id, r.agent_id, r.user_id, r.profile, decode(r.signature, 'hex'), r.at
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(id uuid, at timestamptz, agent_id text, user_id text, profile text, signature text);

-- name: write_hits
-- Which memories came back, except those that were forgotten since. Readings come as the text of an array, since arrays of
-- arrays have to be of one length.
INSERT INTO recall_hit (tenant_id, memory_id, recall_id, place, relevance, readings)
SELECT %(tenant)s, h.memory_id, h.recall_id, h.place, h.relevance, h.readings::real[]
FROM unnest(%(recall_ids)s::uuid[], %(ids)s::uuid[], %(places)s::integer[], %(relevances)s::float8[], %(readings)s::text[])
     AS h(recall_id, memory_id, place, relevance, readings)
WHERE NOT EXISTS (SELECT FROM tombstone t WHERE t.tenant_id = %(tenant)s AND t.id = h.memory_id);

-- name: lock
-- Waits for those who are writing audit rows, so that every number given so far is there or never will be.
SELECT pg_advisory_xact_lock(hashtextextended('ebbtide.audit:' || %(tenant)s::text, 0));

-- name: try_lock
-- The same without waiting, if nobody is writing.
SELECT pg_try_advisory_xact_lock(hashtextextended('ebbtide.audit:' || %(tenant)s::text, 0));

-- name: last_seal
-- The end of the chain.
SELECT s.number, s.last_number, s.digest FROM audit_seal s WHERE s.tenant_id = %(tenant)s ORDER BY s.number DESC LIMIT 1;

-- name: seal
-- Seals the next rows: a digest over theirs, and over the seal before.
WITH sealed AS (
    SELECT a.number, {{audit_digest}} AS digest FROM audit a
    WHERE a.tenant_id = %(tenant)s AND a.number > %(after_number)s::bigint ORDER BY a.number LIMIT %(limit)s::integer),
s AS (
    SELECT %(number)s::bigint AS number, %(after_number)s::bigint AS after_number, max(sealed.number) AS last_number,
           count(*)::integer AS row_count, %(previous_digest)s::bytea AS previous_digest, %(now)s::timestamptz AS sealed_at,
           string_agg(sealed.digest, ''::bytea ORDER BY sealed.number) AS row_digests
    FROM sealed HAVING count(*) > 0)
INSERT INTO audit_seal (tenant_id, number, after_number, last_number, row_count, previous_digest, digest, sealed_at)
SELECT %(tenant)s, s.number, s.after_number, s.last_number, s.row_count, s.previous_digest, {{seal_digest}}, s.sealed_at FROM s
RETURNING last_number, digest, row_count;

-- name: seals
-- Every seal in order, with how many rows it covers now and the digest that they give.
SELECT s.number, s.after_number, s.last_number, s.row_count, s.previous_digest, s.digest, s.present, {{seal_digest}} AS recomputed
FROM (
    SELECT t.*, coalesce(found.present, 0) AS present, coalesce(found.row_digests, '') AS row_digests
    FROM audit_seal t CROSS JOIN LATERAL (
        SELECT count(*) AS present, string_agg({{audit_digest}}, ''::bytea ORDER BY a.number) AS row_digests FROM audit a
        WHERE a.tenant_id = %(tenant)s AND a.number > t.after_number AND a.number <= t.last_number) found
    WHERE t.tenant_id = %(tenant)s) s
ORDER BY s.number;

-- name: unlike
-- Rows that do not say what their own digests say: edited, or not written by the engine.
SELECT a.number, a.id FROM audit a
WHERE a.tenant_id = %(tenant)s AND a.digest IS DISTINCT FROM {{audit_digest}}
ORDER BY a.number LIMIT %(limit)s::integer;

-- name: count
-- How many rows there are, and how many of them wait for a seal.
SELECT count(*), count(*) FILTER (WHERE a.number > %(sealed)s::bigint) FROM audit a WHERE a.tenant_id = %(tenant)s;

-- name: entries
-- Rows that fit, the newest first.
SELECT a.number, a.id, a.at, a.agent_id AS agent, a.user_id AS "user", a.action, a.memory_id, a.detail
FROM audit a
WHERE a.tenant_id = %(tenant)s AND (%(action)s::text IS NULL OR a.action = %(action)s::text)
  AND (%(agent)s::text IS NULL OR a.agent_id = %(agent)s::text) AND (%(user)s::text IS NULL OR a.user_id = %(user)s::text)
  AND (%(memory)s::uuid IS NULL OR a.memory_id = %(memory)s::uuid)
  AND (%(since)s::timestamptz IS NULL OR a.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR a.at < %(until)s::timestamptz)
  AND (%(before)s::bigint IS NULL OR a.number < %(before)s::bigint)
ORDER BY a.number DESC LIMIT %(limit)s::integer;

-- name: page
-- The next rows in order, each with its digest.
SELECT a.number, a.id, a.at, a.agent_id AS agent, a.user_id AS "user", a.action, a.memory_id, a.detail, encode(a.digest, 'hex') AS digest
FROM audit a WHERE a.tenant_id = %(tenant)s AND a.number > %(after)s::bigint ORDER BY a.number LIMIT %(limit)s::integer;

-- name: seal_page
-- Every seal in order, as an export has it.
SELECT s.number, s.after_number, s.last_number, s.row_count, s.sealed_at, encode(s.previous_digest, 'hex') AS previous_digest,
       encode(s.digest, 'hex') AS digest
FROM audit_seal s WHERE s.tenant_id = %(tenant)s ORDER BY s.number;
