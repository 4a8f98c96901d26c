-- The forgetting curve: what a recall makes firmer and every day weaker, what fades by it, and what comes back to life.
--
-- The formulas are those of rank/curve.py. Their exponents are cut off where the result no longer changes, since PostgreSQL calls a
-- power that is too small an error.

-- fragment: nights
greatest(floor(date_part('epoch', %(now)s::timestamptz - coalesce(s.decayed_at, m.created_at)) / 86400), 0)

-- fragment: last_used_at
greatest(m.updated_at, s.last_accessed_at, s.imported_at)

-- fragment: idle_days
greatest(date_part('epoch', %(now)s::timestamptz - {{last_used_at}}) / 86400, 0)

-- fragment: weaker
power(0.995::float8, least({{nights}}, 10000))

-- fragment: half_life_now
least(greatest(coalesce(s.half_life, 30) * {{weaker}}, 7), 365)

-- fragment: difficulty_now
least(greatest(coalesce(s.difficulty, 2.5) * {{weaker}}, 1), 4)

-- fragment: stability_now
least(greatest(coalesce(s.stability, 1) * {{weaker}}, 0.5), 2)

-- fragment: effective_confidence
CASE WHEN m.confidence > 1e-9 THEN m.confidence * least(1, {{stability_now}}
    * power(2::float8, -least(power({{idle_days}} / {{half_life_now}}, {{difficulty_now}}), 500))) ELSE 0::float8 END

-- fragment: reinforced
least(least(greatest(p.half_life * power(0.995::float8, least(p.nights, 10000)), 7), 365) * power(1.5::float8, least(p.accesses, 20)), 365),
greatest(least(greatest(p.difficulty * power(0.995::float8, least(p.nights, 10000)), 1), 4) - 0.1::float8 * p.accesses, 1),
least(least(greatest(p.stability * power(0.995::float8, least(p.nights, 10000)), 0.5), 2) + 0.1::float8 * p.accesses, 2),
p.started + p.nights * interval '1 day'

-- name: reinforce
-- Adds the accesses that were counted since the last time: each curve first decays to the last whole day before its last access,
-- then the accesses reinforce it. Where a row is there already, it is that of the moment it is locked, so that two who write at
-- once lose nothing.
INSERT INTO strength AS s (tenant_id, memory_id, access_count, last_accessed_at, half_life, difficulty, stability, decayed_at)
SELECT %(tenant)s, p.id, p.accesses, p.moment, {{reinforced}}
FROM (SELECT a.id, a.accesses, a.moment, 30::float8 AS half_life, 2.5::float8 AS difficulty, 1::float8 AS stability, m.created_at AS started,
             greatest(floor(date_part('epoch', a.moment - m.created_at) / 86400), 0) AS nights
      FROM unnest(%(ids)s::uuid[], %(counts)s::integer[], %(moments)s::timestamptz[]) AS a(id, accesses, moment)
      JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = a.id AND m.status <> 'tombstoned') p
ORDER BY p.id
ON CONFLICT (tenant_id, memory_id) DO UPDATE
SET access_count = least(s.access_count::bigint + excluded.access_count, 2147483647)::integer,
    last_accessed_at = greatest(s.last_accessed_at, excluded.last_accessed_at),
    (half_life, difficulty, stability, decayed_at) = (
        SELECT {{reinforced}}
        FROM (SELECT s.half_life, s.difficulty, s.stability, excluded.access_count AS accesses, b.started,
                     greatest(floor(date_part('epoch', excluded.last_accessed_at - b.started) / 86400), 0) AS nights
              FROM (SELECT coalesce(s.decayed_at, (SELECT m.created_at FROM memory m WHERE m.tenant_id = %(tenant)s AND m.id = s.memory_id))
                           AS started) b) p);

-- name: decay
-- Writes down what whole days took from the curves of the next memories, but those that are just being written: how many were looked at,
-- how many changed, and the last one.
WITH due AS (
    SELECT s.memory_id, s.decayed_at FROM strength s
    WHERE s.tenant_id = %(tenant)s AND s.memory_id > %(after)s::uuid
      AND (s.decayed_at IS NULL OR s.decayed_at <= %(now)s::timestamptz - interval '1 day')
    ORDER BY s.memory_id LIMIT %(limit)s::integer FOR NO KEY UPDATE SKIP LOCKED),
decayed AS (
    UPDATE strength s
    SET half_life = {{half_life_now}}, difficulty = {{difficulty_now}}, stability = {{stability_now}},
        decayed_at = coalesce(s.decayed_at, m.created_at) + {{nights}} * interval '1 day'
    FROM due LEFT JOIN LATERAL (
        SELECT m.created_at FROM memory m
        WHERE m.tenant_id = %(tenant)s AND m.id = due.memory_id AND due.decayed_at IS NULL) m ON true
    WHERE s.tenant_id = %(tenant)s AND s.memory_id = due.memory_id AND {{nights}} > 0
    RETURNING s.memory_id)
SELECT (SELECT count(*) FROM due), (SELECT count(*) FROM decayed), (SELECT due.memory_id FROM due ORDER BY due.memory_id DESC LIMIT 1);

-- name: undecayed
-- How many curves have whole days to lose.
SELECT count(*) FROM strength s
LEFT JOIN memory m ON s.decayed_at IS NULL AND m.tenant_id = %(tenant)s AND m.id = s.memory_id
WHERE s.tenant_id = %(tenant)s AND coalesce(s.decayed_at, m.created_at) <= %(now)s::timestamptz - interval '1 day';

-- fragment: fades
m.tenant_id = %(tenant)s AND m.status = 'active' AND m.maturity = 'unconfirmed' AND m.superseded_by IS NULL AND m.importance < %(important)s::float8
AND m.kind = ANY(%(kinds)s::text[]) AND m.updated_at < %(now)s::timestamptz - make_interval(secs => 86400 * least(%(idle_days)s::float8, %(longest_days)s::float8))
AND (({{idle_days}} > %(idle_days)s::float8 AND {{effective_confidence}} < %(confidence)s::float8) OR {{idle_days}} > %(longest_days)s::float8)

-- name: fading
-- The next memories that have faded: idle, and worth too little or idle for too long. No hold is looked at here.
SELECT m.id, m.agent_id AS agent, m.namespace, m.kind, m.revision, m.maturity, {{idle_days}} AS idle_days,
       {{effective_confidence}} AS effective_confidence
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.id > %(after)s::uuid AND {{fades}}
ORDER BY m.id LIMIT %(limit)s::integer;

-- name: fading_among
-- Locks those of certain memories that have faded still, in the order of their ids.
SELECT m.id, m.revision, m.maturity, {{idle_days}} AS idle_days, {{effective_confidence}} AS effective_confidence
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.id = ANY(%(ids)s::uuid[]) AND {{fades}}
ORDER BY m.id FOR NO KEY UPDATE OF m;

-- name: soft_delete
-- Takes memories, locked before, out of every search. When they were used last stays as it was.
UPDATE memory m
SET status = 'deleted', deleted_at = %(now)s, revision = m.revision + 1, current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]) AND m.status = 'active';

-- name: curve
-- The curve of one memory as it is stored, and what it depends on.
SELECT m.created_at, {{last_used_at}} AS last_used_at, coalesce(s.half_life, 30) AS half_life, coalesce(s.difficulty, 2.5) AS difficulty,
       coalesce(s.stability, 1) AS stability, coalesce(s.decayed_at, m.created_at) AS decayed_at, m.deleted_at
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s;

-- fragment: resurrectable
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND {{named}} AND m.status = 'deleted' AND m.maturity <> 'superseded'
AND m.superseded_by IS NULL AND {{in_force}} AND {{filtered}}
AND NOT EXISTS (SELECT FROM memory twin
                WHERE twin.tenant_id = %(tenant)s AND twin.agent_id = m.agent_id AND twin.namespace = m.namespace
                  AND twin.content_hash = m.content_hash AND twin.status = 'active' AND twin.superseded_by IS NULL)

-- name: remembered
-- What was deleted softly in a scope and holds a word of the query, the most telling first, each text once; nothing where enough of
-- the live hits hold one.
WITH {{asked}},
matching AS (
    SELECT DISTINCT ON (m.namespace, m.content_hash) m.id, {{score}} AS score
    FROM memory m
    WHERE {{resurrectable}} AND m.search @@ %(any_term)s::tsquery
      AND (SELECT count(*) FROM memory hit WHERE hit.tenant_id = %(tenant)s AND hit.id = ANY(%(hits)s::uuid[])
           AND hit.search @@ %(any_term)s::tsquery) < %(enough)s::integer
    ORDER BY m.namespace, m.content_hash, m.deleted_at DESC, m.id)
SELECT matching.id FROM matching ORDER BY matching.score DESC, matching.id LIMIT %(limit)s::integer;

-- name: lock_remembered
-- Locks those of certain memories that may come back to life still, in the order of their ids.
SELECT m.id, m.revision FROM memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND {{resurrectable}} ORDER BY m.id FOR NO KEY UPDATE OF m;

-- name: resurrect
-- Brings memories, locked before, back to life; that counts as a use.
UPDATE memory m
SET status = 'active', deleted_at = NULL, revision = m.revision + 1, updated_at = %(now)s, current_since = greatest(%(now)s, m.current_since)
WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[]);
