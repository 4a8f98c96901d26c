-- Routing by types of entities: what the words of queries matched, and the entities that a search is restricted to.

-- name: counts
-- What some words matched in recalls of the agent, as asked by the user and by nobody in particular; the longer ago, the less of it.
SELECT r.term, r.entity_type, sum(r.matches * 0.5 ^ (greatest(extract(epoch FROM %(now)s - r.matched_at), 0) / %(half_life)s::float8))::float8
FROM route_statistic r
WHERE r.tenant_id = %(tenant)s AND r.agent_id = %(agent)s AND r.user_id = ANY(%(users)s::text[]) AND r.term = ANY(%(terms)s::text[])
GROUP BY r.term, r.entity_type;

-- name: entities
-- The entities of some types that readable memories mention, with those: first what most mention, of equals what is mentioned last.
SELECT e.id, array_agg(m.id)
FROM entity e JOIN mention x ON x.tenant_id = %(tenant)s AND x.entity_id = e.id
JOIN memory m ON m.id = x.memory_id
WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s AND e.type = ANY(%(types)s::text[]) AND e.merged_into IS NULL AND {{readable}}
GROUP BY e.id ORDER BY count(*) DESC, max(m.created_at) DESC, e.id LIMIT %(most_entities)s::integer;

-- name: mentions
-- Whether a memory mentions one of some entities.
SELECT EXISTS (SELECT FROM mention x WHERE x.tenant_id = %(tenant)s AND x.memory_id = %(id)s AND x.entity_id = ANY(%(entities)s::uuid[]));

-- name: learn
-- Adds to what the words of queries matched: of each type, the share of a recall's hits that mention one.
WITH asked AS MATERIALIZED (
    SELECT row_number() OVER () AS number, a.agent_id, a.user_id, a.at, a.terms, a.ids
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS a(agent_id text, user_id text, at timestamptz, terms text[], ids uuid[])),
matched AS (
    SELECT asked.number, e.type, count(DISTINCT x.memory_id)::float8 / cardinality(asked.ids) AS share
    FROM asked CROSS JOIN unnest(asked.ids) AS hit(id)
    JOIN mention x ON x.tenant_id = %(tenant)s AND x.memory_id = hit.id
    JOIN entity e ON e.tenant_id = %(tenant)s AND e.id = x.entity_id AND e.agent_id = asked.agent_id
    GROUP BY asked.number, e.type, cardinality(asked.ids)),
learnt AS (
    SELECT asked.agent_id, asked.user_id, term.word AS term, matched.type, sum(matched.share) AS matches, max(asked.at) AS at
    FROM asked JOIN matched ON matched.number = asked.number CROSS JOIN unnest(asked.terms) AS term(word)
    GROUP BY asked.agent_id, asked.user_id, term.word, matched.type)
INSERT INTO route_statistic AS r (tenant_id, agent_id, user_id, term, entity_type, matches, matched_at)
SELECT %(tenant)s, l.agent_id, l.user_id, l.term, l.type, l.matches, l.at FROM learnt l ORDER BY 2, 3, 4, 5
ON CONFLICT (tenant_id, agent_id, user_id, term, entity_type) DO UPDATE
SET matches = excluded.matches
        + r.matches * 0.5 ^ (greatest(extract(epoch FROM excluded.matched_at - r.matched_at), 0) / %(half_life)s::float8),
    matched_at = greatest(r.matched_at, excluded.matched_at);
