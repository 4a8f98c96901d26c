-- What the graph brings to a recall. It goes through readable memories alone: what says that a name means an entity, what mentions it,
-- and what says a relation.

-- fragment: used_readably
(a.added OR EXISTS (SELECT FROM alias_source o JOIN {{source}} ON m.id = o.memory_id
                    WHERE o.tenant_id = %(tenant)s AND o.alias_id = a.id AND {{readable}}))

-- name: reach
-- The memories that mention what the query names, what the best hits mention, or what readable relations lead to from there, with what the
-- laws read of them; and of each of those entities its place, whether the query names it, along how many relations it was reached, and how many mention it.
WITH RECURSIVE {{asked}}, named AS MATERIALIZED (
    SELECT DISTINCT e.id
    FROM entity_alias a JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = a.entity_id AND e.merged_into IS NULL
    WHERE a.tenant_id = %(tenant)s AND a.agent_id = %(agent)s AND a.alias_hash = ANY(%(names)s::bytea[]) AND NOT a.removed
      AND e.agent_id = %(agent)s AND {{used_readably}}
    ORDER BY e.id LIMIT %(most_entities)s::integer),
mentioned AS (
    SELECT DISTINCT e.id
    FROM mention x JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = x.entity_id
    WHERE x.tenant_id = %(tenant)s AND x.memory_id = ANY(%(seeds)s::uuid[]) AND e.agent_id = %(agent)s
    ORDER BY e.id LIMIT %(most_entities)s::integer),
walked AS (
    SELECT id, 0 AS hops FROM (SELECT id FROM named UNION SELECT id FROM mentioned) start
    UNION
    SELECT other.id, walked.hops + 1 FROM walked CROSS JOIN LATERAL (
        SELECT CASE WHEN r.subject_id = walked.id THEN r.object_id ELSE r.subject_id END AS id
        FROM relation r JOIN {{source}} ON m.id = r.memory_id
        WHERE r.tenant_id = %(tenant)s AND r.agent_id = %(agent)s AND (r.subject_id = walked.id OR r.object_id = walked.id)
          AND r.created_at <= %(now)s AND {{readable}}
          AND (r.other_memory_id IS NULL OR EXISTS (SELECT FROM {{source}} WHERE m.id = r.other_memory_id AND {{readable}}))
        ORDER BY r.id LIMIT %(most_relations)s::integer) other
    WHERE walked.hops < %(hops)s::integer),
mentions AS (
    SELECT w.id, w.hops, w.id IN (SELECT id FROM named) AS named, memories.ids
    FROM (SELECT id, min(hops) AS hops FROM walked GROUP BY id) w CROSS JOIN LATERAL (
        SELECT array_agg(readable_of_it.memory_id) AS ids FROM (
            SELECT x.memory_id FROM mention x JOIN {{source}} ON m.id = x.memory_id
            WHERE x.tenant_id = %(tenant)s AND x.entity_id = w.id AND {{readable}}
            LIMIT %(most_rows)s::integer + 1) readable_of_it) memories
    WHERE memories.ids IS NOT NULL),
-- The rarest entities first, each whole: how many mention one is part of what a mention is worth.
within AS (
    SELECT *, row_number() OVER rarest - 1 AS place, sum(cardinality(ids)) OVER rarest AS rows_so_far
    FROM mentions WINDOW rarest AS (ORDER BY cardinality(ids), id ROWS UNBOUNDED PRECEDING)),
-- One that the query names, and too many mention, brings nothing along, and is a link of what was found anyway.
pairs AS (
    SELECT each.id, within.place, within.named, within.hops, cardinality(within.ids) AS counted
    FROM within CROSS JOIN unnest(within.ids) AS each(id)
    WHERE within.rows_so_far <= %(most_rows)s::integer
    UNION ALL
    SELECT x.memory_id, within.place, true, within.hops, cardinality(within.ids)
    FROM within JOIN mention x ON x.tenant_id = %(tenant)s AND x.entity_id = within.id AND x.memory_id = ANY(%(found)s::uuid[])
    WHERE within.named AND within.rows_so_far > %(most_rows)s::integer),
links AS (
    SELECT id, array_agg(place::integer) AS places, array_agg(named) AS named, array_agg(hops) AS hops, array_agg(counted) AS counted
    FROM pairs GROUP BY id)
SELECT m.id, {{measured}}, 3 {{row_marks}}, {{score}} AS score, {{row_columns}}, {{weight_columns}}, {{strength_columns}},
       links.places, links.named, links.hops, links.counted
FROM links JOIN {{source}} ON m.id = links.id
LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = links.id
WHERE m.tenant_id = %(tenant)s
ORDER BY m.id;
