-- Conversations as trees: a turn is a memory at a place on a branch, and a branch shares the past of the one it went on from.

-- fragment: of_chat
t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s AND t.chat_id = %(chat)s

-- fragment: lineage
-- A branch and those it goes back to, each with the last place that is shared.
lineage(branch, upto) AS (
    SELECT %(branch)s::text, 9223372036854775807
    UNION ALL
    SELECT b.parent, least(l.upto, b.forked_after)
    FROM lineage l JOIN branch b ON b.name = l.branch
    WHERE b.tenant_id = %(tenant)s AND b.agent_id = %(agent)s AND b.chat_id = %(chat)s)

-- fragment: told
-- The turns of a branch: its own, and the past that it shares.
told AS MATERIALIZED (
    SELECT t.memory_id, t.branch, t.place FROM turn t JOIN lineage l ON t.branch = l.branch AND t.place <= l.upto WHERE {{of_chat}})

-- name: lock_chats
-- One writer at a time finds the next places of chats, in an order that lets no two wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended(
    'ebbtide.chat:' || array_to_json(ARRAY[%(tenant)s::text, %(agent)s::text, c.chat])::text, 0))
FROM unnest(%(chats)s::text[]) AS c(chat);

-- name: note_turns
-- Memories become turns at the end of a branch, or at the places that they name; what is a turn of it already stays where it is.
INSERT INTO turn (tenant_id, agent_id, chat_id, branch, place, memory_id)
SELECT %(tenant)s, %(agent)s, n.chat_id, %(branch)s,
       coalesce(n.sequence, l.last + row_number() OVER (PARTITION BY n.chat_id, n.sequence IS NULL ORDER BY n.ordinality)), n.memory_id
FROM unnest(%(ids)s::uuid[], %(chats)s::text[], %(sequences)s::integer[]) WITH ORDINALITY AS n(memory_id, chat_id, sequence, ordinality)
JOIN LATERAL (
    SELECT greatest(max(t.place), (SELECT max(b.forked_after) FROM branch b
                                   WHERE b.tenant_id = %(tenant)s AND b.agent_id = %(agent)s AND b.chat_id = n.chat_id), -1) AS last FROM turn t
    WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s AND t.chat_id = n.chat_id) l ON true
ON CONFLICT DO NOTHING;

-- name: branch_namespaces
-- The branches of a chat beside the first, in the order in which they were begun, each with where that was and where its turns lie.
SELECT t.name, t.namespace || ARRAY(
    SELECT DISTINCT m.namespace FROM turn o JOIN memory m ON m.tenant_id = %(tenant)s AND m.id = o.memory_id
    WHERE o.tenant_id = %(tenant)s AND o.agent_id = t.agent_id AND o.chat_id = t.chat_id AND o.branch = t.name)
FROM branch t WHERE {{of_chat}} ORDER BY t.created_at, t.name;

-- name: begun
-- Where a branch of a chat was begun; nothing of the first one.
SELECT t.namespace FROM branch t WHERE {{of_chat}} AND t.name = %(branch)s;

-- name: last_place
-- The last place of a chat, -1 where nothing was said, and never before one after which a branch began: the turn that was there may be
-- forgotten, and what is said now is not of that branch's past.
SELECT greatest((SELECT max(t.place) FROM turn t WHERE {{of_chat}}), max(t.forked_after), -1) FROM branch t WHERE {{of_chat}};

-- name: last_readable
-- Of each of some places, each on its branch, the last one up to there that holds a turn of it that may be read, -1 where none does.
SELECT coalesce((
    WITH RECURSIVE lineage(branch, upto) AS (
        SELECT p.branch, p.place
        UNION ALL
        SELECT b.parent, least(l.upto, b.forked_after)
        FROM lineage l JOIN branch b ON b.name = l.branch
        WHERE b.tenant_id = %(tenant)s AND b.agent_id = %(agent)s AND b.chat_id = %(chat)s)
    SELECT max(t.place) FROM turn t JOIN lineage l ON t.branch = l.branch AND t.place <= l.upto
    JOIN memory m ON m.id = t.memory_id
    WHERE {{of_chat}} AND {{readable}}), -1)
FROM unnest(%(branches)s::text[], %(places)s::bigint[]) WITH ORDINALITY AS p(branch, place, number) ORDER BY p.number;

-- name: last_told
-- The last place of a branch, -1 where nothing was said on it.
WITH RECURSIVE {{lineage}}, {{told}}
SELECT coalesce(max(told.place), -1) FROM told;

-- name: turn_at
-- On which branch and at which place a memory is a turn that a branch has, its own first; without a branch the one said last.
WITH RECURSIVE {{lineage}}
SELECT t.branch, t.place
FROM turn t LEFT JOIN lineage l ON l.branch = t.branch AND t.place <= l.upto
WHERE {{of_chat}} AND t.memory_id = %(id)s AND (NOT %(within)s::boolean OR l.branch IS NOT NULL)
ORDER BY t.place DESC LIMIT 1;

-- name: newest
-- The turn that may be read and was said last on a branch, or without a branch in the whole chat.
WITH RECURSIVE {{lineage}}
SELECT m.id, m.content
FROM turn t LEFT JOIN lineage l ON l.branch = t.branch AND t.place <= l.upto
JOIN memory m ON m.id = t.memory_id
WHERE {{of_chat}} AND (NOT %(within)s::boolean OR l.branch IS NOT NULL) AND {{readable}}
ORDER BY t.place DESC, m.id DESC LIMIT 1;

-- name: fork
-- Begins a branch.
INSERT INTO branch (tenant_id, agent_id, chat_id, name, parent, forked_after, namespace, created_at)
VALUES (%(tenant)s, %(agent)s, %(chat)s, %(name)s, %(parent)s, %(forked_after)s, %(namespace)s, %(now)s)
ON CONFLICT DO NOTHING RETURNING name;

-- name: transcript
-- The turns of a branch that may be read, the last so many, in their order.
WITH RECURSIVE {{lineage}}, {{told}}
SELECT * FROM (
    SELECT told.branch, told.place, {{memory_row}}
    FROM told JOIN memory m ON m.id = told.memory_id
    LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
    WHERE {{readable}}
    ORDER BY told.place DESC, m.id DESC LIMIT %(limit)s) last
ORDER BY last.place, last.id;

-- name: branches
-- The branches of a chat, with how many turns each has of its own that may be read, and when the last of them was written.
SELECT o.name, o.parent, o.forked_after, o.namespace, count(m.id)::integer AS turns, max(m.created_at) AS last_at, o.created_at
FROM (SELECT t.name, t.parent, t.forked_after, t.namespace, t.created_at FROM branch t WHERE {{of_chat}}
      UNION ALL SELECT %(first)s, NULL, NULL, NULL, NULL) o
LEFT JOIN turn t ON {{of_chat}} AND t.branch = o.name
LEFT JOIN memory m ON m.id = t.memory_id AND {{readable}}
GROUP BY o.name, o.parent, o.forked_after, o.namespace, o.created_at
ORDER BY o.created_at NULLS FIRST, o.name;

-- name: chats
-- The chats in which something was said that may be read, the last one first.
SELECT t.chat_id AS chat, count(DISTINCT t.branch)::integer AS branches, count(DISTINCT m.id)::integer AS turns, max(m.created_at) AS last_at
FROM turn t JOIN memory m ON m.id = t.memory_id
WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s AND {{readable}}
GROUP BY t.chat_id
HAVING %(after)s::text IS NULL OR max(m.created_at) < %(before)s::timestamptz
    OR (max(m.created_at) = %(before)s::timestamptz AND t.chat_id > %(after)s::text)
ORDER BY last_at DESC, t.chat_id LIMIT %(limit)s;

-- name: last_said
-- When something was last said in a chat that may be read.
SELECT max(m.created_at) FROM turn t JOIN memory m ON m.id = t.memory_id WHERE {{of_chat}} AND {{readable}};

-- name: summary
-- What a branch's summary in a namespace can go on from: its own there, else one of the branches it goes back to that tells nothing else.
WITH RECURSIVE {{lineage}}, {{told}}
SELECT ARRAY(SELECT o.source_id FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = m.id) AS sources,
       {{memory_row}}
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE {{readable}} AND m.chat_id = %(chat)s AND m.kind = 'episode' AND m.namespace = %(namespace)s
  AND EXISTS (SELECT FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = m.id AND o.whole)
  AND NOT EXISTS (SELECT FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = m.id
                                                AND o.source_id NOT IN (SELECT told.memory_id FROM told))
ORDER BY m.metadata ->> 'branch' IS NOT DISTINCT FROM %(title)s DESC, m.updated_at DESC, m.id LIMIT 1;

-- name: lock_summary
-- Lets one writer at a time begin the summary of a branch.
SELECT pg_advisory_xact_lock(hashtextextended(
    'ebbtide.summary:' || array_to_json(ARRAY[%(tenant)s::text, %(agent)s::text, %(chat)s::text, %(branch)s::text])::text, 0));

-- name: other_summary
-- A summary of a branch's own in a namespace that may be read, besides the memories named.
SELECT m.id FROM memory m
WHERE {{readable}} AND m.namespace = %(namespace)s AND m.chat_id = %(chat)s AND m.kind = 'episode' AND m.metadata ->> 'branch' = %(title)s
  AND m.id <> ALL(%(ids)s::uuid[])
  AND EXISTS (SELECT FROM memory_origin o WHERE o.tenant_id = %(tenant)s AND o.memory_id = m.id AND o.whole)
LIMIT 1;

-- name: apart
-- What a branch does not share of its chat: the turns of other futures, and what was made from them alone, or from all of them.
WITH RECURSIVE {{lineage}}, {{told}},
other AS MATERIALIZED (
    SELECT t.memory_id FROM turn t
    WHERE {{of_chat}} AND t.memory_id NOT IN (SELECT told.memory_id FROM told)
      AND NOT EXISTS (SELECT FROM turn e WHERE e.tenant_id = %(tenant)s AND e.memory_id = t.memory_id AND e.chat_id <> t.chat_id))
SELECT other.memory_id FROM other
UNION
SELECT o.memory_id FROM memory_origin o
WHERE o.tenant_id = %(tenant)s AND o.source_id IN (SELECT other.memory_id FROM other)
  AND (o.whole OR NOT EXISTS (SELECT FROM memory_origin k WHERE k.tenant_id = %(tenant)s AND k.memory_id = o.memory_id
                                                            AND k.source_id NOT IN (SELECT other.memory_id FROM other)));

-- name: due
-- The branches of a tenant with at least so many turns in a namespace that no summary of theirs tells of, each with that namespace and with
-- who said the last of them.
SELECT t.agent_id, t.chat_id, t.branch, m.namespace, (array_agg(m.user_id ORDER BY t.place DESC))[1]
FROM turn t JOIN memory m ON m.id = t.memory_id AND m.tenant_id = %(tenant)s AND m.status = 'active'
WHERE t.tenant_id = %(tenant)s AND NOT EXISTS (
    SELECT FROM memory_origin o JOIN memory e ON e.tenant_id = %(tenant)s AND e.id = o.memory_id
    WHERE o.tenant_id = %(tenant)s AND o.source_id = t.memory_id AND o.whole AND e.kind = 'episode' AND e.status = 'active'
      AND e.chat_id = t.chat_id AND e.metadata ->> 'branch' = split_part(t.branch, '.', 1))
GROUP BY t.agent_id, t.chat_id, t.branch, m.namespace HAVING count(*) >= %(least)s
ORDER BY t.agent_id, t.chat_id, t.branch, m.namespace;
