-- The read path. Every statement reads one tenant and one agent; the caller's scope arrives as parameters.

-- fragment: named
(%(everything)s OR m.namespace = ANY(%(exact)s::text[]) OR m.namespace ^@ ANY(%(prefixes)s::text[])
 OR m.namespace ~ ANY(%(expressions)s::text[]))
AND (cardinality(%(foreign)s::text[]) = 0 OR NOT m.namespace ^@ ANY(%(foreign)s::text[]) OR m.namespace ^@ ANY(%(own)s::text[]))

-- fragment: filtered
(%(unfiltered)s OR (
    (%(kinds)s::text[] IS NULL OR m.kind = ANY(%(kinds)s::text[]))
    AND (%(labels)s::text[] IS NULL OR m.labels && %(labels)s::text[])
    AND (%(tags_any)s::text[] IS NULL OR m.tags && %(tags_any)s::text[])
    AND (%(tags_all)s::text[] IS NULL OR m.tags @> %(tags_all)s::text[])
    AND (%(tags_none)s::text[] IS NULL OR NOT m.tags && %(tags_none)s::text[])
    AND (%(tags_exact)s::text[] IS NULL OR (m.tags @> %(tags_exact)s::text[] AND m.tags <@ %(tags_exact)s::text[]))
    AND (%(of_time)s::tstzmultirange IS NULL OR %(of_time)s::tstzmultirange @> coalesce(m.observed_at, m.valid_from, m.created_at))
    AND (%(apart)s::uuid[] IS NULL OR m.id <> ALL(%(apart)s::uuid[]))
    AND (%(mentioning)s::uuid[] IS NULL OR m.id = ANY(%(mentioning)s::uuid[]))
    AND (%(metadata_path)s::jsonpath IS NULL OR jsonb_path_match(
        jsonb_build_object('metadata', m.metadata, 'field', jsonb_build_object(
            'importance', m.importance, 'confidence', m.confidence, 'speaker', m.speaker, 'subject', m.subject,
            'predicate', m.predicate, 'user', m.user_id, 'task', m.task_id, 'chat', m.chat_id, 'session', m.session_id,
            'seq', m.sequence, 'source', m.source, 'maturity', m.maturity, 'revision', m.revision,
            'created_at', extract(epoch FROM m.created_at), 'updated_at', extract(epoch FROM m.updated_at),
            'observed_at', extract(epoch FROM m.observed_at), 'valid_from', extract(epoch FROM m.valid_from),
            'invalidated_at', extract(epoch FROM m.invalidated_at), 'expires_at', extract(epoch FROM m.expires_at),
            'last_mentioned_at', extract(epoch FROM m.last_mentioned_at))),
        %(metadata_path)s::jsonpath, %(metadata_values)s::jsonb, true) IS TRUE)))

-- fragment: live
m.status = 'active' AND {{in_force}}

-- fragment: in_force
m.maturity <> 'invalidated' AND (m.expires_at IS NULL OR m.expires_at > %(now)s) AND (m.valid_from IS NULL OR m.valid_from <= %(valid_at)s)
AND CASE WHEN m.superseded_by IS NULL THEN m.invalidated_at IS NULL OR m.invalidated_at > %(valid_at)s
         ELSE %(with_superseded)s OR m.invalidated_at > %(valid_at)s END

-- fragment: readable
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND {{named}} AND {{live}} AND {{filtered}}

-- fragment: narrowed
AND {{named}} AND {{filtered}}

-- fragment: searched
m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND {{live}} {{narrowing}}

-- fragment: present
memory m

-- fragment: past
-- What memories were extracted from is outdated in the present alone.
(SELECT tenant_id, id, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content, content_hash, asks, search,
        embedding, context_embedding, labels, tags, metadata, source, subject, predicate, importance, confidence, status, maturity,
        confirmed_at, revision, superseded_by, created_at, updated_at, last_mentioned_at, observed_at, valid_from, invalidated_at,
        expires_at, false AS embedding_pending, tokens, counted_by, NULL::timestamptz AS outdated_at
 FROM memory
 WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s AND current_since <= %(as_of)s AND status <> 'tombstoned'
 UNION ALL
 SELECT tenant_id, id, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, content, content_hash, asks, search,
        embedding, context_embedding, labels, tags, metadata, source, subject, predicate, importance, confidence, status, maturity,
        confirmed_at, revision, superseded_by, created_at, updated_at, last_mentioned_at, observed_at, valid_from, invalidated_at,
        expires_at, false, tokens, counted_by, NULL
 FROM memory_version
 WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s AND current_since <= %(as_of)s AND current_until > %(as_of)s) m

-- fragment: asked
asked AS MATERIALIZED (
    SELECT q.query, q.idf FROM unnest(%(terms)s::tsquery[], %(idfs)s::float8[]) WITH ORDINALITY AS q(query, idf, place) WHERE q.place > 8)

-- fragment: score
-- The first eight terms one by one, since a subquery over them costs more in each row than what it works out.
CASE WHEN m.search @@ %(any_term)s::tsquery THEN
    CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[1]) THEN (SELECT (%(idfs)s::float8[])[1]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[1])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[2]) THEN (SELECT (%(idfs)s::float8[])[2]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[2])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[3]) THEN (SELECT (%(idfs)s::float8[])[3]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[3])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[4]) THEN (SELECT (%(idfs)s::float8[])[4]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[4])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[5]) THEN (SELECT (%(idfs)s::float8[])[5]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[5])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[6]) THEN (SELECT (%(idfs)s::float8[])[6]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[6])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[7]) THEN (SELECT (%(idfs)s::float8[])[7]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[7])) ELSE 0 END
  + CASE WHEN m.search @@ (SELECT (%(terms)s::tsquery[])[8]) THEN (SELECT (%(idfs)s::float8[])[8]) * ts_rank(m.search, (SELECT (%(terms)s::tsquery[])[8])) ELSE 0 END
  + CASE WHEN (SELECT cardinality(%(terms)s::tsquery[]) > 8)
         THEN coalesce((SELECT sum(asked.idf * ts_rank(m.search, asked.query)) FROM asked WHERE m.search @@ asked.query), 0) ELSE 0 END
END

-- fragment: nearness
pool.distance + %(context_weight)s::float8 * coalesce(pool.context_distance, pool.distance)

-- fragment: exact_arms
pool AS MATERIALIZED (
    SELECT m.id, m.embedding <=> %(vector)s::halfvec AS distance, m.context_embedding <=> %(vector)s::halfvec AS context_distance,
           {{score}} AS score
    FROM {{source}}
    WHERE {{searched}}),
-- Where each arm ends. What lies before the end is found by a comparison; two sorted lists would have to be joined to the pool again.
near_end AS MATERIALIZED (
    SELECT {{nearness}} AS nearness, pool.id FROM pool WHERE pool.distance IS NOT NULL ORDER BY 1, 2 OFFSET %(rows)s - 1 LIMIT 1),
word_end AS MATERIALIZED (
    SELECT -pool.score AS score, pool.id FROM pool WHERE pool.score IS NOT NULL ORDER BY 1, 2 OFFSET %(rows)s - 1 LIMIT 1),
found AS (
    SELECT pool.id, pool.distance, pool.context_distance, pool.score,
           pool.distance IS NOT NULL AND ({{nearness}}, pool.id) <= (SELECT nearness, id FROM near_end) IS NOT FALSE AS by_vector,
           pool.score IS NOT NULL AND (-pool.score, pool.id) <= (SELECT score, id FROM word_end) IS NOT FALSE AS by_words
    FROM pool)

-- fragment: near_by_index
near AS MATERIALIZED (
    SELECT m.id FROM memory m
    WHERE {{searched}}
    ORDER BY m.embedding <=> %(vector)s::halfvec LIMIT %(rows)s)

-- fragment: near_nothing
near AS (SELECT NULL::uuid AS id WHERE false)

-- fragment: word_arms
lexical AS MATERIALIZED (
    SELECT m.id, {{score}} AS score
    FROM searched_memory m
    WHERE {{searched}} AND m.search @@ %(budget_terms)s::tsquery
    ORDER BY score DESC, m.id LIMIT %(rows)s),
-- The positions are computed before the join: int4mi is not leakproof, and would keep the index on turns from being used.
beside AS (
    SELECT DISTINCT m.chat_id, m.sequence + o.distance AS sequence
    FROM memory m CROSS JOIN unnest(ARRAY[-1, 1, 2]) AS o(distance)
    WHERE m.tenant_id = %(tenant)s AND m.chat_id IS NOT NULL AND %(adjacent)s > 0 AND m.id = ANY(ARRAY(
        (SELECT id FROM near LIMIT %(adjacent)s) UNION ALL (SELECT id FROM lexical LIMIT %(adjacent)s)))),
found AS (
    SELECT arm.id, bool_or(arm.by_vector) AS by_vector, bool_or(arm.by_words) AS by_words
    FROM (SELECT id, true AS by_vector, false AS by_words FROM near
          UNION ALL SELECT id, false, true FROM lexical
          UNION ALL SELECT m.id, false, false FROM beside JOIN memory m ON m.chat_id = beside.chat_id AND m.sequence = beside.sequence
                    WHERE {{searched}}) arm
    GROUP BY arm.id)

-- fragment: found_by
CASE WHEN found.by_vector THEN CASE WHEN found.by_words THEN 2 ELSE 0 END WHEN found.by_words THEN 1 ELSE 3 END

-- fragment: row_marks
-- What holds of a row or does not, as bits of one number: a column costs more than what it says.
+ CASE WHEN m.superseded_by IS NOT NULL AND m.invalidated_at > %(valid_at)s IS NOT TRUE THEN 4 ELSE 0 END
+ CASE WHEN m.outdated_at <= %(valid_at)s THEN 64 ELSE 0 END + CASE WHEN m.speaker = %(speaker)s::text THEN 8 ELSE 0 END
+ CASE WHEN NOT m.asks THEN 0 WHEN lower(m.content) = lower(%(question)s) THEN 48 ELSE 16 END

-- fragment: row_columns
m.superseded_by, m.chat_id, m.sequence, date_part('epoch', m.created_at) AS created_at,
date_part('epoch', m.observed_at) AS observed_at, CASE WHEN %(timed)s THEN date_part('epoch', coalesce(m.observed_at, m.valid_from)) END AS dated,
CASE WHEN %(ruled)s THEN m.namespace END AS namespace,
-- Passages of different documents have different hashes although they are the same text.
CASE WHEN m.kind IN ('chunk', 'note') THEN sha256(convert_to(m.content, 'UTF8')) ELSE m.content_hash END AS content_hash

-- fragment: weight_columns
m.importance, m.confidence, date_part('epoch', m.updated_at) AS updated_at, date_part('epoch', m.valid_from) AS valid_from,
date_part('epoch', m.last_mentioned_at) AS last_mentioned_at, m.labels,
CASE WHEN m.search @@ %(any_term)s::tsquery THEN ts_rank_cd(m.search, %(any_term)s::tsquery)::float8 END AS cover,
(SELECT count(*) FROM unnest(%(keywords)s::tsquery[]) AS k(query) WHERE m.search @@ k.query)::float8
    / greatest(cardinality(%(keywords)s::tsquery[]), 1) AS keyword_share

-- fragment: strength_columns
((coalesce(s.positive, 0) + 1.0) / (coalesce(s.positive, 0) + 2.0 + coalesce(s.negative, 0)))::float8 AS usefulness,
coalesce(s.access_count, 0) AS access_count,
CASE WHEN %(weighs_decay)s THEN {{effective_confidence}} END AS effective_confidence

-- fragment: measured
(1 - (m.embedding <=> %(vector)s::halfvec))::float8 AS similarity, (1 - (m.context_embedding <=> %(vector)s::halfvec))::float8 AS context_similarity

-- name: words
-- The distinct words of a text, stemmed as the store's memories are.
SELECT tsvector_to_array(to_tsvector(%(configuration)s::regconfig, %(text)s));

-- name: stems
-- What becomes of each of some words; nothing for one too common to be searched.
SELECT w.word, tsvector_to_array(to_tsvector(%(configuration)s::regconfig, w.word)) FROM unnest(%(words)s::text[]) AS w(word);

-- name: shape
-- How many live memories a scope holds, who speaks in the agent's conversations, and whether any entity is known.
WITH RECURSIVE speakers AS (
    (SELECT m.speaker, 1 AS depth FROM memory m
     WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.speaker IS NOT NULL ORDER BY m.speaker LIMIT 1)
    UNION ALL
    SELECT following.speaker, speakers.depth + 1 FROM speakers
    CROSS JOIN LATERAL (
        SELECT m.speaker FROM memory m
        WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.speaker > speakers.speaker ORDER BY m.speaker LIMIT 1) following
    WHERE speakers.depth < 500)
SELECT (SELECT count(*) FROM memory m
        WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND m.superseded_by IS NULL AND {{named}}),
       (SELECT array_agg(speaker) FROM speakers),
       EXISTS (SELECT FROM entity e WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s);

-- name: has_index
-- Whether the vectors of a tenant's partition have an index that may be used.
SELECT EXISTS (
    SELECT FROM pg_inherits p JOIN pg_index i ON i.indrelid = p.inhrelid JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE p.inhparent = 'memory'::regclass AND i.indisvalid AND a.amname = 'hnsw'
      AND satisfies_hash_partition('memory'::regclass, 8, right(p.inhrelid::regclass::text, 1)::integer, %(tenant)s::text));

-- name: partition
-- The partition a tenant's memories lie in.
SELECT p.relid::regclass::text FROM pg_partition_tree('memory') p
WHERE p.isleaf AND satisfies_hash_partition('memory'::regclass, 8, right(p.relid::regclass::text, 1)::integer, %(tenant)s::text);

-- name: word_counts
-- In how many of a scope's memories each word occurs.
SELECT array_agg(w.lexeme), array_agg(w.count) FROM (
    SELECT lexeme, count(*) AS count
    FROM memory m CROSS JOIN unnest(tsvector_to_array(m.search)) AS lexeme
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND {{named}}
    GROUP BY lexeme) w;

-- name: word_sample
-- The same over the newest memories of a larger scope, and how many those are.
WITH sampled AS MATERIALIZED (
    SELECT m.search FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.status = 'active' AND {{named}}
    ORDER BY m.created_at DESC LIMIT %(sampled)s)
SELECT array_agg(w.lexeme), array_agg(w.count), (SELECT count(*) FROM sampled)
FROM (SELECT lexeme, count(*) AS count FROM sampled CROSS JOIN unnest(tsvector_to_array(sampled.search)) AS lexeme GROUP BY lexeme) w;

-- name: exact
-- Candidates of a scope that is searched exactly, in one pass over its rows, with what the listwise law reads of each.
WITH {{asked}}, {{exact_arms}}
SELECT m.id, (1 - found.distance)::float8, (1 - found.context_distance)::float8, {{found_by}} {{row_marks}}, found.score, {{row_columns}}
FROM found JOIN {{source}} ON m.id = found.id
WHERE m.tenant_id = %(tenant)s AND (found.by_vector OR found.by_words);

-- name: exact_weighed
-- The same with everything the other laws weigh.
WITH {{asked}}, {{exact_arms}}
SELECT m.id, (1 - found.distance)::float8, (1 - found.context_distance)::float8, {{found_by}} {{row_marks}}, found.score, {{row_columns}},
       {{weight_columns}}, {{strength_columns}}
FROM found JOIN {{source}} ON m.id = found.id
LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = found.id
WHERE m.tenant_id = %(tenant)s AND (found.by_vector OR found.by_words);

-- name: indexed
-- Candidates of a scope too large to search exactly: vectors by their index, words by a budget of rows.
WITH {{asked}}, {{near_by_index}}, {{word_arms}}
SELECT m.id, {{measured}}, {{found_by}} {{row_marks}}, CASE WHEN found.by_words THEN {{score}} END AS score, {{row_columns}}
FROM found JOIN memory m ON m.id = found.id
WHERE m.tenant_id = %(tenant)s;

-- name: indexed_weighed
-- The same with everything the other laws weigh.
WITH {{asked}}, {{near_by_index}}, {{word_arms}}
SELECT m.id, {{measured}}, {{found_by}} {{row_marks}}, CASE WHEN found.by_words THEN {{score}} END AS score, {{row_columns}},
       {{weight_columns}}, {{strength_columns}}
FROM found JOIN memory m ON m.id = found.id
LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = found.id
WHERE m.tenant_id = %(tenant)s;

-- name: worded
-- Candidates of a large scope for a query without a vector: words alone, by the same budget.
WITH {{asked}}, {{near_nothing}}, {{word_arms}}
SELECT m.id, {{measured}}, {{found_by}} {{row_marks}}, CASE WHEN found.by_words THEN {{score}} END AS score, {{row_columns}}
FROM found JOIN memory m ON m.id = found.id
WHERE m.tenant_id = %(tenant)s;

-- name: worded_weighed
-- The same with everything the other laws weigh.
WITH {{asked}}, {{near_nothing}}, {{word_arms}}
SELECT m.id, {{measured}}, {{found_by}} {{row_marks}}, CASE WHEN found.by_words THEN {{score}} END AS score, {{row_columns}},
       {{weight_columns}}, {{strength_columns}}
FROM found JOIN memory m ON m.id = found.id
LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = found.id
WHERE m.tenant_id = %(tenant)s;

-- name: successors
-- What superseded some candidates, along whole chains, where no arm found it by itself.
WITH RECURSIVE {{asked}}, chain AS (
    SELECT m.id, m.superseded_by, 1 AS depth FROM {{source}}
    WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s::uuid[])
    UNION
    SELECT m.id, m.superseded_by, chain.depth + 1 FROM chain JOIN {{source}} ON m.id = chain.superseded_by
    WHERE m.tenant_id = %(tenant)s AND chain.depth < 100)
SELECT m.id, {{measured}}, 3 {{row_marks}}, {{score}} AS score, {{row_columns}}, {{weight_columns}}, {{strength_columns}}
FROM {{source}} LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE {{readable}} AND m.id = ANY(ARRAY(SELECT id FROM chain)) AND NOT m.id = ANY(%(known)s::uuid[]);

-- name: rows
-- The memories of the final hits, whole, their tokens by the store's counter, the revision of what the tenant laid down, and whether
-- an unsettled conflict may be about any of them.
SELECT {{memory_row}}, CASE WHEN m.counted_by = %(counter)s THEN m.tokens END,
       (SELECT t.governance FROM tenant t WHERE t.tenant_id = %(tenant)s),
       (SELECT EXISTS (SELECT FROM conflict c WHERE c.tenant_id = %(tenant)s AND c.agent_id = %(agent)s AND c.resolution IS NULL
                       AND (c.older_id = ANY(%(ids)s::uuid[]) OR c.newer_id = ANY(%(ids)s::uuid[]))))
-- The ids once more, since without them the whole tenant's strengths may be read for a few rows.
FROM {{source}} LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id AND s.memory_id = ANY(%(ids)s::uuid[])
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = ANY(%(ids)s::uuid[]);

-- name: browse
-- Memories of a scope without a query, newest first.
SELECT {{memory_row}}
FROM {{source}} LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE {{readable}} AND (m.created_at, m.id) < (%(before_created)s::timestamptz, %(before_id)s::uuid)
ORDER BY m.created_at DESC, m.id DESC LIMIT %(limit)s;

-- name: judge
-- One memory measured against a query: which condition of the scope it fails, how near it is, which words it holds.
SELECT m.status, m.maturity, m.superseded_by, m.expires_at, m.observed_at, m.valid_from, m.created_at, m.invalidated_at, m.namespace, {{named}} AS named, {{filtered}} AS filtered,
       (1 - (m.embedding <=> %(vector)s::halfvec))::float8 AS similarity, m.embedding IS NOT NULL AS has_vector,
       (SELECT count(*) FROM unnest(%(terms)s::tsquery[]) AS t(query) WHERE m.search @@ t.query)::integer AS words
FROM {{source}}
WHERE m.tenant_id = %(tenant)s AND m.agent_id = %(agent)s AND m.id = %(id)s AND m.status <> 'tombstoned';
